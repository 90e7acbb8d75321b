package models

import (
	"errors"
	"strings"
	"testing"
)

const proxyBase = "http://127.0.0.1:8000/v1"

func withProxy(t *testing.T, ids ...string) *rig {
	t.Helper()
	r := newRig(t)
	r.proxy = &Proxy{BaseURL: proxyBase, Key: secretOf("proxy")}
	r.has(proxyBase, ids...)
	return r
}

func TestListFromTheProxy(t *testing.T) {
	r := withProxy(t, "acme/b", "acme/a", "openai/gpt", "Acme/C", "acme/", "loose", "acme2/x", "acme/b", "acme/\x1b[2J")
	l := r.lists()
	list := must(t, l, "acme")
	is(t, "IDs", list.IDs, full("acme", "C", "a", "b"))
	if info, ok := l.Info("acme/a"); !ok || info.Source != SourceProxy {
		t.Errorf("the facts are from %q", info.Source)
	}
	if list.Source != SourceProxy || !list.Partial || list.Err != "" {
		t.Errorf("%+v", list)
	}
	if got := r.asked()[0]; got.Key != secretOf("proxy") || got.Provider != "" {
		t.Errorf("asked %v", got)
	}
}

// The proxy leaves out what its rules hide, so a model that it does not list
// is not gone.
func TestTheProxysListOnlyAdds(t *testing.T) {
	r := withProxy(t, "acme/a", "acme/hidden", "acme/c")
	must(t, r.lists(), "acme")
	r.has(proxyBase, "acme/a", "acme/d")
	list := must(t, r.lists(), "acme")
	is(t, "IDs", list.IDs, full("acme", "a", "c", "d", "hidden"))
	is(t, "New", list.New, full("acme", "d"))
}

func TestTheProxysShortListRemovesNothing(t *testing.T) {
	r := withProxy(t, full("acme", many(20)...)...)
	must(t, r.lists(), "acme")
	r.has(proxyBase, "acme/z")
	is(t, "IDs", must(t, r.lists(), "acme").IDs, full("acme", append(many(20), "z")...))
}

// From the provider itself comes the whole list, which is no news either.
func TestFromTheProxyToTheProvider(t *testing.T) {
	r := withProxy(t, "acme/a", "acme/gone")
	must(t, r.lists(), "acme")
	r.setenv("ACME_API_BASE", acmeBase, "")
	r.has(acmeBase, "a", "b", "c")
	list := must(t, r.lists(), "acme")
	is(t, "IDs", list.IDs, full("acme", "a", "b", "c"))
	is(t, "New", list.New, nil)
	if list.Source != SourceLive || list.Partial {
		t.Errorf("%+v", list)
	}
}

// A list that came from the proxy is refreshed from the proxy when the provider
// itself cannot be asked.
func TestRefreshOfAListFromTheProxy(t *testing.T) {
	r := withProxy(t, "acme/a")
	r.setenv("ACME_API_BASE", acmeBase, "")
	r.fails(acmeBase, errors.New("connection refused"))
	l := r.lists()
	must(t, l, "acme")
	r.has(proxyBase, "acme/a", "acme/b", "acme/c")
	list := must(t, l, "acme")
	is(t, "IDs", list.IDs, full("acme", "a", "b", "c"))
	if list.Source != SourceProxy {
		t.Errorf("source %s, want %s", list.Source, SourceProxy)
	}
}

func TestProxyInPlaceOfAFailedProvider(t *testing.T) {
	r := withProxy(t, "acme/a")
	r.setenv("ACME_API_BASE", acmeBase, "")
	r.fails(acmeBase, errors.New("connection refused"))
	l := r.lists()
	list := must(t, l, "acme")
	is(t, "IDs", list.IDs, full("acme", "a"))
	contains(t, list.Err, "connection refused")
	if list.Source != SourceProxy {
		t.Errorf("from %s", list.Source)
	}
	r.has(acmeBase, "a", "b")
	must(t, l, "acme")
	r.fails(acmeBase, errors.New("connection refused"))
	before := len(r.asked())
	if list, err := l.Models(t.Context(), "acme"); err == nil || list.Source != SourceCache || len(list.IDs) != 2 {
		t.Errorf("with the provider's own list stored: %+v, %v", list, err)
	}
	if n := len(r.asked()) - before; n != 1 {
		t.Errorf("%d requests, want the provider's alone", n)
	}
}

func TestProviderAndProxyFail(t *testing.T) {
	r := withProxy(t)
	r.setenv("OPENAI_API_KEY", secretOf("openai"), "")
	r.fails(proxyBase, errors.New("proxy is\ndown"))
	list, err := r.lists().Models(t.Context(), "openai")
	if err == nil || list.Source != SourceCatalogue || len(list.IDs) == 0 {
		t.Errorf("%+v, %v", list.Source, err)
	}
	contains(t, err.Error(), "no such host")
	contains(t, err.Error(), "the proxy at 127.0.0.1:8000: proxy is down")
	contains(t, list.Err, "down")
}

func TestProxyWithoutTheProvider(t *testing.T) {
	r := withProxy(t, "openai/a")
	list, err := r.lists().Models(t.Context(), "groq")
	if !errors.Is(err, errEmpty) || list.Source != SourceCatalogue || len(list.IDs) == 0 {
		t.Errorf("%+v, %v", list.Source, err)
	}
}

// always expects the same, whatever is served.
func always(expected []string) func(...string) []string {
	return func(...string) []string { return expected }
}

func TestDrift(t *testing.T) {
	r := withProxy(t, "acme/a", "ACME/b", "acme/x", "other/c", "acme/a")
	for name, c := range map[string]struct {
		expected []string
		want     Drift
	}{
		"none":       {full("acme", "x", "b", "a", "a"), Drift{Same: 3}},
		"both":       {full("acme", "a", "new", "zz"), Drift{Missing: full("acme", "new", "zz"), Extra: full("acme", "b", "x"), Same: 1}},
		"all hidden": {nil, Drift{Extra: full("acme", "a", "b", "x")}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := r.lists().CompareServed(t.Context(), "Acme", always(c.expected))
			if err != nil {
				t.Fatal(err)
			}
			is(t, "Missing", got.Missing, c.want.Missing)
			is(t, "Extra", got.Extra, c.want.Extra)
			if got.Same != c.want.Same || got.Any() != (name != "none") {
				t.Errorf("%+v", got)
			}
		})
	}
	known := func(served ...string) []string {
		is(t, "what is served", served, []string{"ACME/b", "acme/a", "acme/x", "other/c"})
		return full("acme", "a", "b", "x")
	}
	if d, err := r.lists().CompareServed(t.Context(), "acme", known); err != nil || d.Any() {
		t.Errorf("expecting what is served: %+v, %v", d, err)
	}
	served, err := r.lists().Served(t.Context())
	is(t, "IDs", served.IDs, []string{"ACME/b", "acme/a", "acme/x", "other/c"})
	if d := served.Compare("none", full("none", "a")); err != nil || len(d.Missing) != 1 || len(d.Extra) != 0 {
		t.Errorf("a provider that the proxy does not serve: %+v, %v", d, err)
	}
}

// A proxy that cannot be asked is an error of its own kind, never a drift.
func TestNoDriftWithoutTheProxy(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*rig)
		want   error
	}{
		"none":    {func(r *rig) { r.proxy = nil }, errNoProxy},
		"down":    {func(r *rig) { r.fails(proxyBase, errRefused) }, errRefused},
		"empty":   {func(r *rig) { r.has(proxyBase) }, errEmpty},
		"rubbish": {func(r *rig) { r.has(proxyBase, "\x1b[2J", "\n") }, errUnusable},
		"endless": {func(r *rig) { r.has(proxyBase, many(maxModels+1)...) }, errTooLong},
	} {
		t.Run(name, func(t *testing.T) {
			r := withProxy(t, "acme/a")
			c.change(r)
			d, err := r.lists().CompareServed(t.Context(), "acme", always(full("acme", "a", "b")))
			if !errors.Is(err, c.want) || !strings.HasPrefix(err.Error(), "the proxy") || d.Any() || d.Same != 0 {
				t.Errorf("%+v, %v", d, err)
			}
		})
	}
}

var errRefused = errors.New("connection refused")
