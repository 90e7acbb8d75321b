package models

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"winnow/assistant"
	"winnow/assistant/safetext"
)

// List is what is known of one provider's models.
type List struct {
	Provider string
	IDs      []string  // "provider/name", sorted, each once
	Source   string    // "live", "proxy", "cache" or "catalogue"
	At       time.Time // when it was fetched; zero for the catalogue
	New      []string  // those of IDs that came since Lists.Seen was last called, sorted
	Partial  bool      // more models may exist: the source leaves some out
	Dropped  int       // entries of this fetch that were unusable and are not in IDs
	Err      string    // why the list is not fresh or was not saved, one safe line; "" when all is well
}

// Options configures New. The zero value works and knows the catalogue only.
type Options struct {
	// Dir is the folder of the stored lists, made when needed; "" stores them in memory only.
	Dir string
	// Lister makes the client of an endpoint. It may send the target's key to
	// the target's origin only. nil: the network is never used.
	Lister func(Target) (Fetcher, error)
	// Proxy is where the proxy serves its models; nil when there is none.
	Proxy *Proxy
	// Env reads a variable of the user's environment and .env file, the
	// winning one where both have it. It is called from any goroutine. nil has none.
	Env func(name string) (Value, bool)
	// Trust reports that the user agrees to send the provider's key to baseURL,
	// which somebody else set. nil agrees to nothing.
	Trust func(provider, baseURL string) bool

	Now func() time.Time // nil means time.Now
	Log *slog.Logger     // nil means no log
}

// Lists stores the lists of all providers. Make it with New.
type Lists struct {
	opts Options
	disk disk
	log  *slog.Logger

	mu    sync.Mutex
	known map[string]*entry
	calls map[string]*call

	// writing orders updates, which may wait for the disk; it is locked before mu.
	writing sync.Mutex
}

// entry is the stored list of a provider. record and live change together under Lists.mu.
type entry struct {
	once    sync.Once // reads the disk
	record  *record   // nil when nothing was ever fetched
	live    bool      // fetched in this run
	unsaved bool      // the disk has an older one
	diskErr string    // an error of the disk, returned with the list
}

// call is a fetch that is under way; others who want the same wait for it.
type call struct {
	done chan struct{}
	list List
	err  error
}

// New returns Lists that know the catalogue and the lists in Options.Dir. It
// does no I/O.
func New(opts Options) *Lists {
	l := &Lists{opts: opts, disk: disk{opts.Dir}, log: opts.Log, known: map[string]*entry{}, calls: map[string]*call{}}
	if l.log == nil {
		l.log = slog.New(slog.DiscardHandler)
	}
	if l.opts.Now == nil {
		l.opts.Now = time.Now
	}
	return l
}

// Cached returns what is known of a provider without asking anybody: the list
// fetched in this run, the stored one, or the catalogue's. ok is false when
// there is none; the List is then empty. The disk is read at the first call.
func (l *Lists) Cached(provider string) (List, bool) {
	provider = providerName(provider)
	list := l.list(provider, l.entry(provider))
	return list, len(list.IDs) > 0
}

// entry returns the entry of a provider, read from disk.
func (l *Lists) entry(provider string) *entry {
	l.mu.Lock()
	e := l.known[provider]
	if e == nil {
		e = &entry{}
		l.known[provider] = e
	}
	l.mu.Unlock()
	e.once.Do(func() {
		r, err := l.disk.load(provider)
		if err != nil {
			l.log.Warn("stored models not read", "provider", provider, "err", err)
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		if e.record = r; err != nil {
			e.diskErr = safetext.Line(err.Error(), maxReason)
		}
	})
	return e
}

// list makes the List of an entry.
func (l *Lists) list(provider string, e *entry) List {
	l.mu.Lock()
	r, live, diskErr := e.record, e.live, e.diskErr
	l.mu.Unlock()
	out := List{Provider: provider, Source: SourceCatalogue, Err: diskErr}
	if r == nil {
		for _, m := range theCatalogue().of(provider) {
			_, name, _ := strings.Cut(m.ID, "/")
			out.IDs = append(out.IDs, provider+"/"+name)
		}
		slices.Sort(out.IDs)
		return out
	}
	out.IDs, out.New = ids(provider, names(r.Models)), ids(provider, r.fresh())
	out.Partial, out.Source, out.At = r.Partial, SourceCache, r.At
	if live {
		out.Source = r.Source
	}
	// A clock that was set back must not show a list from the future.
	if now := l.opts.Now(); out.At.After(now) {
		out.At = now
	}
	return out
}

// ids turns names into full ids in place. They share one piece of memory,
// because a list is used and dropped as a whole.
func ids(provider string, names []string) []string {
	var all strings.Builder
	for _, name := range names {
		all.WriteString(provider)
		all.WriteByte('/')
		all.WriteString(name)
	}
	text := all.String()
	for i, name := range names {
		size := len(provider) + 1 + len(name)
		names[i], text = text[:size], text[size:]
	}
	return names
}

// Models asks the network for a provider's models: the provider itself when its
// address and key are known, else the proxy. The List is always the best there is;
// the error is why it is not fresh: a *FetchError, or that of ctx. Calls for
// the same provider at the same time share one fetch.
func (l *Lists) Models(ctx context.Context, provider string) (List, error) {
	provider = providerName(provider)
	for {
		l.mu.Lock()
		c, running := l.calls[provider]
		if !running {
			c = &call{done: make(chan struct{})}
			l.calls[provider] = c
		}
		l.mu.Unlock()
		if !running {
			l.runCall(ctx, provider, c)
			return c.list.clone(), c.err
		}
		select {
		case <-c.done:
		case <-ctx.Done():
			return l.stale(provider, ctx.Err()), ctx.Err()
		}
		// Another caller's cancellation is not ours.
		if ctx.Err() != nil || !errors.Is(c.err, context.Canceled) && !errors.Is(c.err, context.DeadlineExceeded) {
			return c.list.clone(), c.err
		}
	}
}

// runCall makes the fetch of c. It wakes the callers that wait also when it panics.
func (l *Lists) runCall(ctx context.Context, provider string, c *call) {
	c.err = errors.New("the fetch broke off")
	defer func() {
		l.mu.Lock()
		delete(l.calls, provider)
		l.mu.Unlock()
		close(c.done)
	}()
	c.list, c.err = l.refresh(ctx, provider)
}

func (list List) clone() List {
	list.IDs, list.New = slices.Clone(list.IDs), slices.Clone(list.New)
	return list
}

// stale is the list there is, with the reason why it is not a fresh one. It
// is never called fresh.
func (l *Lists) stale(provider string, why error) List {
	list, _ := l.Cached(provider)
	if list.Source != SourceCatalogue {
		list.Source = SourceCache
	}
	list.Err = safetext.Line(why.Error(), maxReason)
	return list
}

// Seen marks a provider's models as seen: none of them is new any more, also
// after it went away and came back. The error is that of saving it;
// for this run the models are seen in any case. It does nothing before the first fetch.
func (l *Lists) Seen(provider string) error {
	provider = providerName(provider)
	list, _ := l.Cached(provider)
	if list.Source == SourceCatalogue {
		return nil
	}
	seen := map[string]bool{}
	for _, id := range list.IDs {
		seen[strings.TrimPrefix(id, provider+"/")] = true
	}
	_, err := l.update(context.Background(), provider, func(r *record) { r.markSeen(seen) })
	return err
}

// Info returns what is known of a model: from its provider's last fetch, and
// from the catalogue where that is silent. See [Info].
func (l *Lists) Info(id string) (assistant.ModelInfo, bool) {
	info, ok := Info(id)
	provider, name, _ := strings.Cut(id, "/")
	e := l.entry(providerName(provider))
	l.mu.Lock()
	r, live := e.record, e.live
	l.mu.Unlock()
	if r == nil {
		return info, ok
	}
	i, found := slices.BinarySearchFunc(r.Models, model{Name: name}, byName)
	if !found {
		return info, ok
	}
	m := r.Models[i]
	info.ID, info.Source, info.Retrieved = id, SourceCache, r.At
	if live {
		info.Source = SourceLive
	}
	if m.Context > 0 {
		info.Context, info.Known = m.Context, true
	}
	if m.PriceIn > 0 || m.PriceOut > 0 {
		info.PriceIn, info.PriceOut = m.PriceIn, m.PriceOut
	}
	info.Tools, info.NoChat = m.Tools, m.NoChat
	info.Reasons, info.Images = info.Reasons || m.Reasons, m.Images
	return info, true
}
