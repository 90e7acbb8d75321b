package models

import (
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
	// The proxy's part of the list does not replace it.
	r.proxy = &Proxy{BaseURL: proxyBase}
	l = r.lists()
	is(t, "set by the proxy", l.Accept(t.Context(), answer(proxyBase, "acme/a"), []string{"acme"}), nil)
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
