package models

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"winnow/assistant/llm"
	"winnow/assistant/safetext"
)

// List is what is known about one provider's models.
type List struct {
	Provider string
	IDs      []string  // "provider/name", sorted, without duplicates
	Source   string    // source of the IDs that are not in Others: "live", "proxy", "cache" or "catalogue"
	At       time.Time // when the list was fetched; zero for the catalogue
	New      []string  // the IDs that are not in the baseline, sorted
	Partial  bool      // there may be more models, because the source is incomplete
	Err      string    // why the list is not up to date or was not saved, in one safe line; otherwise ""
	// Others maps IDs whose source differs from Source to their source.
	Others map[string]string

	own bool // the provider's own list is known
}

// SourceOf returns the source of a model of the list.
func (l List) SourceOf(id string) string { return cmp.Or(l.Others[id], l.Source) }

// Listed reports whether the provider lists a model or, if the provider's own list is unknown,
// whether the proxy does.
func (l List) Listed(id string) bool {
	source, other := l.Others[id]
	return l.Source != SourceCatalogue && (!other || !l.own && source != SourceCatalogue)
}

// Sources counts the models by source, in the order of the constants.
func (l List) Sources() (out []SourceCount) {
	counts := map[string]int{l.Source: len(l.IDs) - len(l.Others)}
	for _, source := range l.Others {
		counts[source]++
	}
	for _, source := range []string{SourceLive, SourceProxy, SourceCache, SourceCatalogue} {
		if counts[source] > 0 {
			out = append(out, SourceCount{source, counts[source]})
		}
	}
	return out
}

// SourceCount is the number of models with a source.
type SourceCount struct {
	Source string
	Models int
}

// Options configures New. The zero value works, but knows only the catalogue.
type Options struct {
	// Dir is the folder of the stored lists, created if necessary; "" stores them only in
	// memory.
	Dir string
	// NewFetcher returns the client of an endpoint, which must send the target's key only
	// to the target's origin. If it is nil, the network is never used.
	NewFetcher func(Target) (Fetcher, error)
	// Proxy is the proxy's endpoint; nil if there is no proxy.
	Proxy *Proxy
	// Env looks up a variable in the user's environment and .env file. If both contain it, Env
	// returns the value that takes precedence. It may be called from any goroutine. nil means no
	// variables.
	Env func(name string) (Value, bool)
	// Confirmed reports whether the user confirmed an address for a key; nil means never.
	Confirmed func(key Value, base string) bool

	Now func() time.Time // nil means time.Now
	Log *slog.Logger     // nil means no log
}

// Lists stores the lists of all providers. Create it with New.
type Lists struct {
	opts    Options
	disk    disk
	mu      sync.Mutex // guards entries and their fields, except fetching
	entries map[string]*entry
	// writing orders updates, which may wait for the disk; it is locked before mu.
	writing sync.Mutex
}

// entry is the stored list of a provider.
type entry struct {
	once      sync.Once     // reads the record from the disk
	fetching  chan struct{} // contains a value during a fetch
	completed int           // number of fetches in this run
	list      List          // result of the last fetch
	err       error

	record  *record  // nil if nothing was ever fetched
	live    bool     // the record's models were fetched in this run
	served  []string // names in the proxy's last response of this run, sorted
	unsaved bool     // the record on disk is out of date
	diskErr string   // disk error, returned with the list
}

// New returns Lists that know the catalogue and the lists in Options.Dir. It
// does no I/O.
func New(opts Options) *Lists {
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	return &Lists{opts: opts, disk: disk(opts.Dir), entries: map[string]*entry{}}
}

// Cached returns what is known about a provider without using the network: the list fetched
// in this run, the stored one, or the catalogue's. If there is none, ok is false and the
// List is empty. The first call for a provider reads the disk.
func (l *Lists) Cached(provider string) (list List, ok bool) {
	provider = providerName(provider)
	e := l.entry(provider)
	l.mu.Lock()
	defer l.mu.Unlock()
	list = l.list(provider, e)
	return list, len(list.IDs) > 0
}

// entry returns the entry of a provider, read from disk.
func (l *Lists) entry(provider string) *entry {
	l.mu.Lock()
	e := l.entries[provider]
	if e == nil {
		e = &entry{fetching: make(chan struct{}, 1)}
		l.entries[provider] = e
	}
	l.mu.Unlock()
	e.once.Do(func() {
		r, err := l.disk.load(provider)
		l.mu.Lock()
		defer l.mu.Unlock()
		if e.record = r; err != nil {
			l.opts.Log.Warn("stored models not read", "provider", provider, "err", err)
			e.diskErr = string(safetext.Line(err.Error(), maxReason))
		}
	})
	return e
}

// list returns the List of an entry: the union of the provider's own list, of what the
// proxy serves and, unless the provider's list is complete, of the catalogue. The
// caller has locked mu.
func (l *Lists) list(provider string, e *entry) List {
	out := List{Provider: provider, Source: SourceCatalogue, Err: e.diskErr}
	r := e.record
	if r == nil {
		out.add(catalogued(provider), nil)
		return out
	}
	proxy := l.proxyBase()
	out.IDs, out.New = ids(provider, names(r.Models)), ids(provider, r.newNames(proxy))
	out.Partial, out.Source, out.At, out.own = r.Partial, SourceCache, r.At, r.own()
	if e.live {
		out.Source = r.Source
	}
	if out.Source == SourceProxy {
		for _, m := range r.Models {
			out.note(m.Name, e.servedSource(m.Name))
		}
	}
	out.add(names(r.servedBy(proxy)), e.servedSource)
	if r.Partial {
		out.add(catalogued(provider), func(string) string { return SourceCatalogue })
	}
	// If the clock was set back, do not show a time in the future.
	if now := l.opts.Now(); out.At.After(now) {
		out.At = now
	}
	return out
}

// servedSource returns the source of a model that only the proxy has listed.
func (e *entry) servedSource(name string) string {
	if _, ok := slices.BinarySearch(e.served, name); ok {
		return SourceProxy
	}
	return SourceCache
}

// add adds the models that the list does not contain yet. source returns the source of a model; nil
// means the source of the list.
func (l *List) add(names []string, source func(name string) string) {
	sorted := len(l.IDs)
	for _, name := range names {
		id := l.Provider + "/" + name
		if _, ok := slices.BinarySearch(l.IDs[:sorted], id); ok {
			continue
		}
		if l.IDs = append(l.IDs, id); source != nil {
			l.note(name, source(name))
		}
	}
	slices.Sort(l.IDs)
}

// note records the source of a model.
func (l *List) note(name, source string) {
	if source == l.Source {
		return
	}
	if l.Others == nil {
		l.Others = map[string]string{}
	}
	l.Others[l.Provider+"/"+name] = source
}

// catalogued returns the names of a provider's models in the catalogue.
func catalogued(provider string) (out []string) {
	for _, m := range theCatalogue().ofProvider(provider) {
		_, name, _ := strings.Cut(m.ID, "/")
		out = append(out, name)
	}
	return out
}

// proxyBase returns the address of the proxy in its stored form; "" if there is no proxy.
func (l *Lists) proxyBase() string {
	if l.opts.Proxy == nil {
		return ""
	}
	return withoutSecrets(strings.TrimSpace(l.opts.Proxy.BaseURL))
}

// Models requests a provider's models over the network: from the provider if its address and key
// are known, otherwise from the proxy. The List is always the best available. The error explains in
// one safe line why it is not up to date, or is ctx.Err(). Concurrent calls for the same provider
// share one fetch.
func (l *Lists) Models(ctx context.Context, provider string) (List, error) {
	provider = providerName(provider)
	e := l.entry(provider)
	l.mu.Lock()
	before := e.completed
	l.mu.Unlock()
	select {
	case e.fetching <- struct{}{}:
		defer func() { <-e.fetching }()
	case <-ctx.Done():
		return l.stale(provider, ctx.Err()), ctx.Err()
	}
	l.mu.Lock()
	list, err, shared := e.list, e.err, e.completed > before
	l.mu.Unlock()
	// The cancellation of another caller does not concern this one.
	if !shared || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		list, err = l.refresh(ctx, provider)
		l.mu.Lock()
		e.completed, e.list, e.err = e.completed+1, list, err
		l.mu.Unlock()
	}
	list.IDs, list.New = slices.Clone(list.IDs), slices.Clone(list.New)
	return list, err
}

// refresh fetches a list and stores it in memory and on disk.
func (l *Lists) refresh(ctx context.Context, provider string) (List, error) {
	f, err := l.fetch(ctx, provider)
	if err != nil {
		l.opts.Log.Warn("models not fetched", "provider", provider, "err", err)
		return l.stale(provider, err), err
	}
	err = l.take(ctx, provider, f, false)
	e := l.entry(provider)
	l.mu.Lock()
	defer l.mu.Unlock()
	list := l.list(provider, e)
	if why := errors.Join(f.note, err); why != nil {
		list.Err = string(safetext.Line(why.Error(), maxReason))
	}
	return list, nil
}

// take stores a fetched list. If stored is set, or if a proxy's list contains nothing new, it does not
// change an existing record and only notes that the list was fetched in this run. The error is from
// the disk.
func (l *Lists) take(ctx context.Context, provider string, f fetched, stored bool) error {
	replaced := true
	e := l.entry(provider)
	l.mu.Lock()
	r := e.record
	if r != nil && (stored || f.source == SourceProxy && r.own() && r.knows(f)) {
		if e.live = e.live || r.Source == f.source; f.source == SourceProxy {
			e.served = names(f.models)
		}
		l.mu.Unlock()
		return nil
	}
	l.mu.Unlock()
	err := l.update(ctx, provider, func(r *record) {
		replaced = f.source != SourceProxy || !r.own()
		r.apply(f)
	})
	l.mu.Lock()
	defer l.mu.Unlock()
	e.live = e.live || replaced
	if f.source == SourceProxy {
		e.served = names(f.models)
	}
	return err
}

// stale returns the cached list with the reason why it is not up to date. Its Source is SourceCache
// or SourceCatalogue.
func (l *Lists) stale(provider string, why error) List {
	list, _ := l.Cached(provider)
	if list.Source != SourceCatalogue {
		list.Source = SourceCache
	}
	list.Err = string(safetext.Line(why.Error(), maxReason))
	return list
}

// update changes the stored list of a provider. It starts from the list on disk, because
// another process may have written it. The error is from the disk; memory is changed in any
// case.
func (l *Lists) update(ctx context.Context, provider string, change func(*record)) error {
	e := l.entry(provider)
	l.writing.Lock()
	defer l.writing.Unlock()
	l.mu.Lock()
	base, unsaved := record{Provider: provider}, e.unsaved
	if e.record != nil {
		base = *e.record // the slices are replaced, never changed
	}
	l.mu.Unlock()
	r, err := l.disk.update(ctx, base, unsaved, change)
	l.mu.Lock()
	defer l.mu.Unlock()
	e.record, e.unsaved, e.diskErr = r, err != nil, ""
	if err != nil {
		l.opts.Log.Warn("models not saved", "provider", provider, "err", err)
		e.diskErr = string(safetext.Line(err.Error(), maxReason))
	}
	return err
}

// MarkSeen marks a provider's models as seen: they are no longer new, even if they disappear and
// return. If this cannot be saved, MarkSeen returns the error, but the models count as seen in this
// run. It does nothing before the first fetch.
func (l *Lists) MarkSeen(provider string) error {
	provider = providerName(provider)
	list, _ := l.Cached(provider)
	if list.Source == SourceCatalogue {
		return nil
	}
	seen := trimProvider(list.IDs, provider)
	return l.update(context.Background(), provider, func(r *record) { r.look(seen) })
}

// Info returns what is known about the model "provider/name": the facts from the provider's list
// or, if the model is not in it, from the proxy's list, completed from the catalogue. Source is the
// first of these that lists the model. If none does, Info returns false. For other forms of ids,
// see the function [Info].
func (l *Lists) Info(id string) (llm.ModelInfo, bool) {
	info, ok := Info(id)
	provider, name, _ := strings.Cut(id, "/")
	e := l.entry(providerName(provider))
	l.mu.Lock()
	r, source, served := e.record, SourceCache, e.servedSource(name)
	if r != nil && e.live {
		if source = r.Source; source == SourceProxy {
			source = served
		}
	}
	l.mu.Unlock()
	if r == nil {
		return info, ok
	}
	found := false
	for _, from := range []struct {
		models []model
		source string
	}{{r.servedBy(l.proxyBase()), served}, {r.Models, source}} { // the last list that contains the model is its source
		if i, has := slices.BinarySearchFunc(from.models, model{Name: name}, byName); has {
			info = from.models[i].merge(info)
			info.ID, info.Source, info.Retrieved, found = id, from.source, r.At, true
		}
	}
	return info, ok || found
}
