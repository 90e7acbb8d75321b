package models

import (
	"os"
	"slices"
	"strings"
	"testing"

	"winnow/assistant/llm"
)

// answer is what an endpoint called "there" answered to another part of the program.
func answer(base string, names ...string) Answer {
	a := Answer{Name: "there", BaseURL: base}
	for _, n := range names {
		a.Models = append(a.Models, llm.ModelInfo{ID: "there/" + n, Context: 4000})
	}
	return a
}

func TestAnAnswerOfTheProxyIsUsedForAllItsProviders(t *testing.T) {
	r := withProxy(t)
	l := r.lists()
	got := l.Accept(t.Context(), answer(proxyBase+"/", "acme/b", "acme/a", "openai/gpt", "nobody/x"), []string{"acme", "openai", "empty"})
	is(t, "set", got, []string{"acme", "openai"})
	list, _ := l.Cached("acme")
	is(t, "IDs", list.IDs, full("acme", "a", "b"))
	if list.Source != SourceProxy || !list.Partial || list.At.IsZero() {
		t.Errorf("%+v", list)
	}
	if info, ok := l.Info("acme/a"); !ok || info.Context != 4000 {
		t.Errorf("Info = %+v, %v", info, ok)
	}
	if n := len(r.asked()); n != 0 {
		t.Errorf("%d requests, want none", n)
	}
	// The next run knows it, and what the proxy leaves out later stays.
	l = r.lists()
	l.Accept(t.Context(), answer(proxyBase, "acme/c"), []string{"acme"})
	list, _ = l.Cached("acme")
	is(t, "IDs of the next run", list.IDs, full("acme", "a", "b", "c"))
	is(t, "new", list.New, full("acme", "c"))
}

func TestAnAnswerOfTheProviderItself(t *testing.T) {
	r := withAcme(t)
	l := r.lists()
	is(t, "set", l.Accept(t.Context(), answer(acmeBase, "a", "gone"), []string{"acme"}), []string{"acme"})
	l.Accept(t.Context(), answer(acmeBase, "a", "b"), []string{"acme"})
	list, _ := l.Cached("acme")
	is(t, "IDs", list.IDs, full("acme", "a", "b"))
	if list.Source != SourceLive || list.Partial {
		t.Errorf("%+v", list)
	}
}

// sources are the models of a list with the source of each.
func sources(l List) (out []string) {
	for _, id := range l.IDs {
		out = append(out, id+" "+l.SourceOf(id))
	}
	return out
}

// What is known is the union of the provider's own list, what the proxy serves and, where
// the own list is not known, the catalogue; each model has its source.
func TestTheListIsTheUnionOfAllSources(t *testing.T) {
	r := withAcme(t)
	r.proxy = &Proxy{BaseURL: proxyBase}
	r.has(acmeBase, "a", "b")
	must(t, r.lists(), "acme")
	l := r.lists()
	l.Accept(t.Context(), answer(proxyBase, "acme/b", "acme/alias"), []string{"acme"})
	list, _ := l.Cached("acme")
	is(t, "in the cache and served", sources(list), []string{"acme/a cache", "acme/alias proxy", "acme/b cache"})
	is(t, "new at the first answer", list.New, nil)
	if list.Partial || !list.At.Equal(noon) {
		t.Errorf("%+v: the provider's own list is complete", list)
	}
	if info, ok := l.Info("acme/b"); !ok || info.Source != SourceCache || info.Context != 4000 {
		t.Errorf("%+v, %v, want the proxy's facts of a listed model", info, ok)
	}
	r.has(acmeBase, "a", "c")
	is(t, "after a refresh", sources(must(t, l, "acme")), []string{"acme/a live", "acme/alias proxy", "acme/b proxy", "acme/c live"})
	// The proxy leaves out what its rules hide: what it served stays known.
	l = r.lists()
	l.Accept(t.Context(), answer(proxyBase, "acme/b", "acme/d"), []string{"acme"})
	list, _ = l.Cached("acme")
	is(t, "in the next run", sources(list), []string{"acme/a cache", "acme/alias cache", "acme/b proxy", "acme/c cache", "acme/d proxy"})
	is(t, "new", list.New, full("acme", "c", "d"))
	if got := list.Sources(); len(got) != 2 || got[0] != (SourceCount{SourceProxy, 2}) || got[1] != (SourceCount{SourceCache, 3}) {
		t.Errorf("Sources = %v", got)
	}
	// What one proxy serves is not known at another.
	r.proxy = &Proxy{BaseURL: "http://127.0.0.1:9000/v1"}
	is(t, "at another proxy", first(r.lists().Cached("acme")).IDs, full("acme", "a", "c"))
}

func TestTheProxysListDoesNotShortenTheCatalogue(t *testing.T) {
	r := withProxy(t)
	l := r.lists()
	before, _ := l.Cached("openai")
	l.Accept(t.Context(), answer(proxyBase, "openai/only-here", strings.Replace(before.IDs[0], "there/", "", 1)), []string{"openai"})
	list, _ := l.Cached("openai")
	if len(list.IDs) != len(before.IDs)+1 || list.SourceOf("openai/only-here") != SourceProxy || list.SourceOf(before.IDs[0]) != SourceProxy || list.SourceOf(before.IDs[1]) != SourceCatalogue {
		t.Errorf("%v, want one more than %d", sources(list), len(before.IDs))
	}
	if !slices.IsSorted(list.IDs) || len(list.New) != 0 {
		t.Errorf("IDs %v, new %v", list.IDs, list.New)
	}
	if info, ok := l.Info(before.IDs[1]); !ok || info.Source != SourceCatalogue {
		t.Errorf("%+v, %v", info, ok)
	}
}

// An answer that says nothing else is not written again at each start.
func TestTheSameAnswerIsWrittenOnce(t *testing.T) {
	r := withAcme(t)
	r.proxy = &Proxy{BaseURL: proxyBase}
	r.has(acmeBase, "a")
	must(t, r.lists(), "acme")
	r.lists().Accept(t.Context(), answer(proxyBase, "acme/b"), []string{"acme"})
	path := disk(r.dir).path("acme")
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	l := r.lists()
	l.Accept(t.Context(), answer(proxyBase, "acme/b"), []string{"acme"})
	if after, err := os.Stat(path); err != nil || !os.SameFile(before, after) {
		t.Errorf("the list was written again: %v", err)
	}
	is(t, "IDs", sources(first(l.Cached("acme"))), []string{"acme/a cache", "acme/b proxy"})
}

func TestAnAnswerFromElsewhereIsNotUsed(t *testing.T) {
	r := withAcme(t)
	r.proxy = &Proxy{BaseURL: proxyBase}
	for _, base := range []string{"", "https://other.example/v1", acmeBase + "/beta", strings.Replace(acmeBase, "https", "http", 1), "http://127.0.0.1:8001/v1"} {
		if got := r.lists().Accept(t.Context(), answer(base, "acme/a", "a"), []string{"acme"}); len(got) > 0 {
			t.Errorf("an answer of %q is used for %v", base, got)
		}
	}
	if got := r.lists().Accept(t.Context(), answer(acmeBase, "\x1b[2J", ""), []string{"acme"}); len(got) > 0 {
		t.Errorf("an unusable answer is used for %v", got)
	}
	if list, _ := r.lists().Cached("acme"); slices.ContainsFunc(list.IDs, func(string) bool { return true }) {
		t.Errorf("stored %v", list.IDs)
	}
}
