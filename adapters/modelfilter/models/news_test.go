package models

import (
	"fmt"
	"slices"
	"testing"

	"winnow/assistant/llm"
)

func priced(name string, out float64, status llm.Status) model {
	m := model{Name: name}
	m.Facts.PriceOut, m.Status = llm.PriceOf(out), status
	return m
}

func TestNewsSinceTheLastLook(t *testing.T) {
	r := &record{Provider: "acme"}
	list := func(models ...model) { r.apply(fetched{models: sortUnique(models), base: "x"}) }
	list(priced("a", 5, llm.StatusActive), priced("b", 5, ""), model{Name: "c"}, model{Name: "gone"})
	if got := r.news(""); got != nil {
		t.Fatalf("news of the first list: %v", got)
	}
	list(priced("a", 7, llm.StatusActive), priced("b", 5, llm.StatusDeprecated), priced("c", 1, ""), priced("d", 9, llm.StatusDeprecated))
	text := func() string {
		out := []string{}
		for _, c := range r.news("") {
			out = append(out, fmt.Sprintf("{%s %s {%v} {%v}}", c.ID, c.Kind, c.PriceIn, c.PriceOut))
		}
		return fmt.Sprint(out)
	}
	want := "[{acme/d new {} {}} {acme/gone vanished {} {}} {acme/b deprecated {} {}} {acme/a repriced {} {5.00}}]"
	if got := text(); got != want {
		t.Errorf("news are %s, want %s", got, want)
	}
	r.look(names(r.Models))
	if got := r.news(""); got != nil {
		t.Errorf("news once seen: %v", got)
	}
	list(priced("a", 7, llm.StatusActive))
	if got := r.news(""); len(got) != 3 {
		t.Errorf("three models vanished: %v", got)
	}
}

// What came after the list that the user saw stays new.
func TestSeenIsWhatWasShown(t *testing.T) {
	r := withAcme(t)
	r.has(acmeBase, "a", "b")
	one := r.lists()
	must(t, one, "acme")
	r.has(acmeBase, "b", "c")
	two := r.lists()
	must(t, two, "acme")
	kinds := func(l *Lists) (out []string) {
		for _, c := range l.News("acme") {
			out = append(out, c.ID+" "+string(c.Kind))
		}
		return out
	}
	if err := one.MarkSeen("acme"); err != nil { // it has not heard of c
		t.Fatal(err)
	}
	is(t, "news", kinds(r.lists()), []string{"acme/c new"})
	if err := two.MarkSeen("acme"); err != nil {
		t.Fatal(err)
	}
	is(t, "news once seen", kinds(r.lists()), nil)
	if got := r.lists().News("nowhere"); !slices.Equal(got, nil) {
		t.Errorf("news of nowhere: %v", got)
	}
}
