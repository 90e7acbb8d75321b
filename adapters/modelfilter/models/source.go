package models

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"winnow/assistant/llm"
)

// Fetcher asks one endpoint for its models. *openai.Client implements it.
type Fetcher interface {
	Models(ctx context.Context) ([]llm.ModelInfo, error)
}

// Target is an endpoint for which to create a Fetcher. The ids that the Fetcher returns
// start with Name and a slash.
type Target struct {
	Name     string            // prefix of the ids
	Provider string            // the provider to which the key belongs; "" for the proxy
	BaseURL  string            // the only address to which the key may be sent
	Key      string            // bearer token; "" sends none
	Headers  map[string]string // additional headers; one may contain the key instead

	secret   string // the key, in whichever form it is sent
	idPrefix string
	pageSize int
}

// Format omits the keys for every verb.
func (t Target) Format(s fmt.State, _ rune) {
	_, _ = fmt.Fprintf(s, "%s at %s", t.Name, hostOf(t.BaseURL))
}

// Proxy is the proxy's own endpoint, whose BaseURL ends before /models.
type Proxy struct {
	BaseURL  string
	Key      string // value of PROXY_API_KEY; "" sends no key
	Withheld error  // why the key must not be sent to BaseURL; if set, nothing is sent there
}

// Format omits the key.
func (p Proxy) Format(s fmt.State, _ rune) { _, _ = fmt.Fprintf(s, "proxy at %s", hostOf(p.BaseURL)) }

// Value is a variable of the environment or of a .env file.
type Value struct {
	Name string // name of the variable
	Text string
	// From is "" for the user's own environment, otherwise a name of the place for
	// messages. Places written by the same person have the same name.
	From string
	// Expanded reports that part of the text, such as ${HOME}, comes from the environment.
	Expanded bool
}

// Format omits the text, which may be a key.
func (v Value) Format(s fmt.State, _ rune) { _, _ = fmt.Fprintf(s, "a value of %s", placeName(v.From)) }

const (
	// proxyTarget is the name of the proxy's target. No provider can have this name,
	// because PROXY_API_KEY belongs to the proxy.
	proxyTarget = "proxy"
	// maxKeys is how many numbered keys of a provider are tried.
	maxKeys = 20
)

// isVariablePrefix reports whether a provider's name can be the start of a variable's name.
func isVariablePrefix(provider string) bool {
	return provider != "" && strings.Trim(provider, "abcdefghijklmnopqrstuvwxyz0123456789_.-") == ""
}

// fetch asks the provider, or the proxy if the provider cannot be asked. If the provider
// fails, the proxy is asked only if there is no stored list, or if that also came from the
// proxy.
func (l *Lists) fetch(ctx context.Context, provider string) (fetched, error) {
	if err := ctx.Err(); err != nil {
		return fetched{}, err
	}
	f, err := l.fromProvider(ctx, provider)
	unknown := errors.Is(err, errNoSource)
	if err == nil || ctx.Err() != nil || l.opts.Proxy == nil || !unknown && l.hasOwnList(provider) {
		return f, err
	}
	f, proxyErr := l.fromProxy(ctx, provider)
	switch {
	case unknown:
		return f, proxyErr
	case proxyErr != nil:
		return fetched{}, fmt.Errorf("%w; %w", err, proxyErr)
	}
	f.note = err
	return f, nil
}

// hasOwnList reports whether the stored list of a provider came from the provider itself.
func (l *Lists) hasOwnList(provider string) bool {
	e := l.entry(provider)
	l.mu.Lock()
	defer l.mu.Unlock()
	return e.record != nil && e.record.Source != SourceProxy
}

// fromProvider asks a provider. The error wraps errNoSource if it cannot be asked, because
// it has no address, or no key for a compiled-in address.
func (l *Lists) fromProvider(ctx context.Context, provider string) (fetched, error) {
	t, err := l.target(provider)
	if err != nil {
		return fetched{}, t.failed(err)
	}
	f, err := l.ask(ctx, t)
	f.source = SourceLive
	f.partial = t.pageSize > 0 && len(f.models)+f.dropped >= t.pageSize
	return f, err
}

// target returns a provider's own endpoint with its key.
func (l *Lists) target(provider string) (Target, error) {
	t := Target{Name: provider, Provider: provider}
	if provider == proxyTarget || !isVariablePrefix(provider) {
		return t, errNoSource
	}
	key, hasKey := l.key(provider)
	base, override := l.variable(provider, "_API_BASE")
	known, fixed := endpointOf(provider)
	if override {
		t.BaseURL, t.Key, t.secret = base.Text, key.Text, key.Text
		confirmed := sameOrigin(base.Text, known.base) || l.opts.Confirmed != nil && l.opts.Confirmed(key, base.Text)
		if err := CheckKey(KeyUse{Key: key, Base: base, Confirmed: confirmed}); err != nil {
			return Target{Provider: provider}, err // the address may contain a secret
		}
		return t, nil
	}
	if !hasKey || !fixed {
		return t, errNoSource
	}
	t.BaseURL, t.Key, t.secret, t.idPrefix, t.pageSize = known.base, key.Text, key.Text, known.idPrefix, known.pageSize
	if known.keyHeader != "" {
		t.Headers = maps.Clone(known.header)
		t.Headers[known.keyHeader], t.Key = key.Text, ""
	}
	return t, nil
}

// KeyUse is a key with the address that it would be sent to.
type KeyUse struct {
	Key, Base Value
	Confirmed bool // the user confirmed the address for the key
}

// CheckKey returns an error if the key must not be sent to the address. It may be sent if
// both come from the same place and the key expands no environment variable, if the address
// comes from the user's own environment, or if the user confirmed it. Even without a key,
// CheckKey returns an error for an address that would send part of the environment to
// another machine.
func CheckKey(use KeyUse) error {
	key, base := use.Key, use.Base
	at, err := url.Parse(base.Text)
	const expanded = "%s of %s contains an environment variable: replace it with its value"
	switch {
	case base.From == "":
	case base.Expanded && (err != nil || !llm.Loopback(at.Hostname())):
		return fmt.Errorf(expanded, base.Name, placeName(base.From))
	case key.Text == "" || use.Confirmed || key.From == base.From && !key.Expanded:
	case key.Expanded:
		return fmt.Errorf("%s is not sent to %s, because "+expanded, key.Name, hostOf(base.Text), key.Name, placeName(key.From))
	default:
		return fmt.Errorf("%s of %s is not sent to %s, which %s sets: to allow it, connect that address with the key env:%s",
			key.Name, placeName(key.From), hostOf(base.Text), placeName(base.From), key.Name)
	}
	return nil
}

// sameOrigin reports whether two addresses have the same scheme, host and port.
func sameOrigin(a, b string) bool {
	u, errA := url.Parse(a)
	v, errB := url.Parse(b)
	return errA == nil && errB == nil && u.Host != "" && llm.SameOrigin(u, v)
}

// key returns the first key of a provider: <P>_API_KEY, <P>_API_KEY_1 and so on.
func (l *Lists) key(provider string) (Value, bool) {
	v, ok := l.variable(provider, "_API_KEY")
	for n := 1; n <= maxKeys && !ok; n++ {
		v, ok = l.variable(provider, fmt.Sprintf("_API_KEY_%d", n))
	}
	return v, ok
}

// variable reads <P><suffix>; an empty variable counts as missing.
func (l *Lists) variable(provider, suffix string) (Value, bool) {
	if l.opts.Env == nil {
		return Value{}, false
	}
	v, ok := l.opts.Env(strings.ToUpper(provider) + suffix)
	v.Text = strings.TrimSpace(v.Text)
	return v, ok && v.Text != ""
}

// ask fetches the usable models in a target's list.
func (l *Lists) ask(ctx context.Context, t Target) (fetched, error) {
	if l.opts.NewFetcher == nil {
		return fetched{}, t.failed(errNoSource)
	}
	fetcher, err := l.opts.NewFetcher(t)
	var infos []llm.ModelInfo
	if err == nil {
		infos, err = fetcher.Models(ctx)
	}
	if err == nil {
		err = ctx.Err() // the fetcher may return a list after ctx has ended
	}
	f := fetched{base: withoutSecrets(t.BaseURL), at: l.opts.Now()}
	switch {
	case err != nil:
	case len(infos) == 0:
		err = errEmpty
	case len(infos) > maxModels:
		err = errTooLong
	default:
		if f.models, f.dropped = modelsOf(infos, t); len(f.models) == 0 {
			err = errUnusable
		}
	}
	if err != nil {
		return fetched{}, t.failed(err)
	}
	if f.dropped > 0 {
		l.opts.Log.Warn("models left out", "provider", t.Name, "entries", f.dropped)
	}
	return f, nil
}

// fromProxy fetches the models of a provider that the proxy serves.
func (l *Lists) fromProxy(ctx context.Context, provider string) (fetched, error) {
	served, err := l.Served(ctx)
	if err != nil {
		return fetched{}, err
	}
	f := served.fetched
	f.models, f.dropped, f.source, f.partial = served.ofProvider(provider), 0, SourceProxy, true
	if len(f.models) == 0 {
		return fetched{}, Target{Provider: provider, BaseURL: l.opts.Proxy.BaseURL}.failed(errEmpty)
	}
	return f, nil
}

// Served lists the models of all providers that the proxy serves at one moment.
type Served struct {
	IDs []string // as written by the proxy, sorted, without duplicates

	fetched fetched
}

// Served asks the proxy for the models it serves.
func (l *Lists) Served(ctx context.Context) (Served, error) {
	p := l.opts.Proxy
	if p == nil {
		return Served{}, Target{}.failed(errNoProxy)
	}
	if p.Withheld != nil {
		return Served{}, Target{}.failed(p.Withheld)
	}
	f, err := l.ask(ctx, Target{Name: proxyTarget, BaseURL: strings.TrimSpace(p.BaseURL), Key: p.Key, secret: p.Key})
	return Served{names(f.models), f}, err
}

// ofProvider returns the models of one provider, ignoring the case of the provider's name.
// Their names do not contain the provider.
func (s Served) ofProvider(provider string) []model {
	var list []model
	for _, m := range s.fetched.models {
		first, name, ok := strings.Cut(m.Name, "/")
		if ok && providerName(first) == provider && usable(name) {
			m.Name = name
			list = append(list, m)
		}
	}
	return sortUnique(list)
}

// Answer is a model list that another part of the program got from an endpoint.
type Answer struct {
	Name    string // prefix of the ids, before a slash
	BaseURL string
	Models  []llm.ModelInfo
	Again   bool // another Lists accepted it in this run, so an existing record is not changed
}

// Accept stores an answer as if the providers had been refreshed. A list from a provider's
// own address is stored as its own list, models from the proxy's address are added, and any
// other answer is ignored. Accept returns the providers whose list was set.
func (l *Lists) Accept(ctx context.Context, a Answer, providers []string) (set []string) {
	same := func(base string) bool { return strings.TrimRight(base, "/") == strings.TrimRight(a.BaseURL, "/") }
	for _, provider := range providers {
		f, from := fetched{at: l.opts.Now()}, Target{Name: a.Name}
		if t, err := l.target(provider); err == nil && same(t.BaseURL) {
			from.idPrefix, f.base, f.source = t.idPrefix, withoutSecrets(t.BaseURL), SourceLive
			f.models, f.dropped = modelsOf(a.Models, from)
			f.partial = t.pageSize > 0 && len(a.Models) >= t.pageSize
		} else if p := l.opts.Proxy; p != nil && same(p.BaseURL) {
			all, _ := modelsOf(a.Models, from)
			f.models, f.source, f.partial, f.base = Served{fetched: fetched{models: all}}.ofProvider(provider), SourceProxy, true, withoutSecrets(p.BaseURL)
		}
		if len(f.models) == 0 || len(a.Models) > maxModels {
			continue
		}
		_ = l.take(ctx, provider, f, a.Again) // the error is logged and also in the List
		set = append(set, provider)
	}
	return set
}

// Drift is the difference between the models of a provider that the proxy serves and the
// models that the rules leave available. Both lists are sorted.
type Drift struct {
	Missing []string `json:"missing"` // left available by the rules, but not served
	Extra   []string `json:"extra"`   // served, but hidden by the rules
	Same    int      `json:"same"`    // served and available
}

// Any reports whether there is a difference.
func (d Drift) Any() bool { return len(d.Missing)+len(d.Extra) > 0 }

// CompareServed asks the proxy which models of a provider it serves, and compares them with the models
// that it should serve. expected returns their full ids: the ids that the rules leave available.
// It is passed all served ids, because only the proxy may know some of them. If the proxy cannot
// be asked, CompareServed returns the error from Served.
func (l *Lists) CompareServed(ctx context.Context, provider string, expected func(served ...string) []string) (Drift, error) {
	served, err := l.Served(ctx)
	if err != nil {
		return Drift{}, err
	}
	return served.Compare(provider, expected(served.IDs...)), nil
}

// Compare compares the served models with the full ids expected for a provider, without
// asking the proxy again.
func (s Served) Compare(provider string, expected []string) Drift {
	provider = providerName(provider)
	have := ids(provider, names(s.ofProvider(provider)))
	want := slices.Compact(slices.Sorted(slices.Values(expected)))
	var d Drift
	for _, id := range want {
		if _, served := slices.BinarySearch(have, id); served {
			d.Same++
		} else {
			d.Missing = append(d.Missing, id)
		}
	}
	for _, id := range have {
		if _, wanted := slices.BinarySearch(want, id); !wanted {
			d.Extra = append(d.Extra, id)
		}
	}
	return d
}
