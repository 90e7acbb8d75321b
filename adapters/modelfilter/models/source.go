package models

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"strings"

	"winnow/assistant"
)

// Fetcher asks one endpoint which models it serves. A *openai.Client is one.
type Fetcher interface {
	Models(ctx context.Context) ([]assistant.ModelInfo, error)
}

// Target is an endpoint that a Fetcher is wanted for. The ids that the Fetcher
// returns begin with Name and a slash.
type Target struct {
	Name     string            // prefix of the ids
	Provider string            // whose key it is; "" for the proxy
	BaseURL  string            // the only place the key may go to
	Key      string            // bearer token; "" sends none
	Headers  map[string]string // sent besides; one may carry the key instead

	secret   string // the key, wherever it is carried
	idPrefix string
	page     int
}

// Proxy is the proxy's own endpoint, whose BaseURL ends before /models.
type Proxy struct {
	BaseURL string
	Key     string // PROXY_API_KEY; "" sends none
}

// Value is a variable of the environment or of a .env file.
type Value struct {
	Text string
	// From is "" for the user's own environment, else a name of the place for
	// messages. Places that the same person writes have the same name.
	From string
}

const (
	// proxyTarget is the name of the proxy's target. No provider can have it:
	// PROXY_API_KEY is the proxy's.
	proxyTarget = "proxy"
	// maxKeys is how many numbered keys of a provider are looked for.
	maxKeys = 20
)

// variableName reports whether a provider's name can begin a variable's.
func variableName(provider string) bool {
	return provider != "" && strings.Trim(provider, "abcdefghijklmnopqrstuvwxyz0123456789_.-") == ""
}

// String leaves out the keys.
func (t Target) String() string { return t.Name + " at " + hostOf(t.BaseURL) }

// GoString leaves out the keys.
func (t Target) GoString() string { return t.String() }

// String leaves out the key.
func (p Proxy) String() string { return proxyTarget + " at " + hostOf(p.BaseURL) }

// GoString leaves out the key.
func (p Proxy) GoString() string { return p.String() }

// String leaves out the text, which may be a key.
func (v Value) String() string { return "a value of " + place(v.From) }

// GoString leaves out the text.
func (v Value) GoString() string { return v.String() }

func (p *Proxy) target() Target {
	return Target{Name: proxyTarget, BaseURL: strings.TrimSpace(p.BaseURL), Key: p.Key, secret: p.Key}
}

// own returns the provider's own endpoint with its key. ok is false when it
// cannot be asked: no address, or no key for an address that is compiled in.
func (l *Lists) own(provider string) (t Target, ok bool, err error) {
	if provider == proxyTarget || !variableName(provider) {
		return Target{}, false, nil
	}
	key, hasKey := l.key(provider)
	base, override := l.variable(provider, "_API_BASE")
	known, fixed := endpointOf(provider)
	t = Target{Name: provider, Provider: provider, BaseURL: base.Text, Key: key.Text, secret: key.Text}
	switch {
	case override:
		if hasKey && base.From != "" && base.From != key.From && !sameOrigin(base.Text, known.base) && !l.trusts(provider, base.Text) {
			return t, false, t.failed(&UntrustedError{provider, bare(base.Text), key.From, base.From})
		}
		return t, true, nil
	case !hasKey || !fixed:
		return Target{}, false, nil
	}
	t.BaseURL, t.idPrefix, t.page = known.base, known.idPrefix, known.page
	if known.keyHeader != "" {
		t.Headers = maps.Clone(known.header)
		t.Headers[known.keyHeader], t.Key = key.Text, ""
	}
	return t, true, nil
}

// sameOrigin reports whether two addresses have scheme, host and port in common.
func sameOrigin(a, b string) bool {
	u, errA := url.Parse(a)
	v, errB := url.Parse(b)
	return errA == nil && errB == nil && u.Host != "" && u.Scheme == v.Scheme && u.Host == v.Host
}

func (l *Lists) trusts(provider, base string) bool {
	return l.opts.Trust != nil && l.opts.Trust(provider, bare(base))
}

// key finds the first key of a provider: <P>_API_KEY, then <P>_API_KEY_1 and on.
func (l *Lists) key(provider string) (Value, bool) {
	if v, ok := l.variable(provider, "_API_KEY"); ok {
		return v, true
	}
	for n := 1; n <= maxKeys; n++ {
		if v, ok := l.variable(provider, fmt.Sprintf("_API_KEY_%d", n)); ok {
			return v, true
		}
	}
	return Value{}, false
}

// variable reads <P><suffix>; one that is empty is not there.
func (l *Lists) variable(provider, suffix string) (Value, bool) {
	if l.opts.Env == nil {
		return Value{}, false
	}
	v, ok := l.opts.Env(strings.ToUpper(provider) + suffix)
	v.Text = strings.TrimSpace(v.Text)
	return v, ok && v.Text != ""
}

// fetch asks t and returns what of its list is usable.
func (l *Lists) fetch(ctx context.Context, t Target) (list []model, dropped int, err error) {
	if l.opts.Lister == nil {
		return nil, 0, t.failed(ErrNoSource)
	}
	from, err := l.opts.Lister(t)
	if err != nil {
		return nil, 0, t.failed(err)
	}
	infos, err := from.Models(ctx)
	if err == nil {
		// A fetcher that noticed too late is no reason to go on.
		err = ctx.Err()
	}
	if err != nil {
		return nil, 0, t.failed(err)
	}
	switch {
	case len(infos) == 0:
		return nil, 0, t.failed(ErrEmpty)
	case len(infos) > maxModels:
		return nil, 0, t.failed(ErrTooLong)
	}
	if list, dropped = clean(infos, t.Name+"/", t.idPrefix); len(list) == 0 {
		return nil, dropped, t.failed(ErrUnusable)
	}
	if dropped > 0 {
		l.log.Warn("models left out", "provider", t.Name, "entries", dropped)
	}
	return list, dropped, nil
}
