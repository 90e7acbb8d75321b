package models

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestNewUntilSeen(t *testing.T) {
	r := withAcme(t)
	r.has(acmeBase, "a", "b")
	is(t, "New at the first visit", must(t, r.lists(), "acme").New, nil)
	r.has(acmeBase, "a", "b", "c")
	l := r.lists()
	is(t, "New", must(t, l, "acme").New, full("acme", "c"))
	is(t, "New when asked again", must(t, l, "acme").New, full("acme", "c"))
	is(t, "New in the next run", first(r.lists().Cached("acme")).New, full("acme", "c"))
	if err := l.MarkSeen("ACME"); err != nil {
		t.Fatal(err)
	}
	is(t, "New once seen", first(l.Cached("acme")).New, nil)
	is(t, "New once seen, in the next run", first(r.lists().Cached("acme")).New, nil)
}

func TestReturningModelIsNotNew(t *testing.T) {
	r := withAcme(t)
	r.has(acmeBase, "a", "b")
	must(t, r.lists(), "acme")
	r.has(acmeBase, "a")
	is(t, "IDs", must(t, r.lists(), "acme").IDs, full("acme", "a"))
	r.has(acmeBase, "a", "b", "c")
	is(t, "New", must(t, r.lists(), "acme").New, full("acme", "c"))
	r.has(acmeBase, "a", "b")
	must(t, r.lists(), "acme")
	r.has(acmeBase, "a", "b", "c")
	is(t, "New, gone before it was seen", must(t, r.lists(), "acme").New, full("acme", "c"))
}

func TestAnotherAddressIsNoNews(t *testing.T) {
	r := withAcme(t)
	r.has(acmeBase, many(20)...)
	must(t, r.lists(), "acme")
	r.setenv("ACME_API_BASE", "https://other.example/v1", ".env")
	r.has("https://other.example/v1", "x", "y")
	list := must(t, r.lists(), "acme")
	is(t, "IDs", list.IDs, full("acme", "x", "y"))
	is(t, "New", list.New, nil)
	r.has("https://other.example/v1", "x", "y", "z")
	is(t, "New", must(t, r.lists(), "acme").New, full("acme", "z"))
}

// What one process marks seen is not undone by another that knew less.
func TestSeenOfTwoProcesses(t *testing.T) {
	r := withAcme(t)
	r.has(acmeBase, "a")
	one, two := r.lists(), r.lists()
	must(t, one, "acme")
	must(t, two, "acme")
	r.has(acmeBase, "a", "b")
	must(t, one, "acme")
	if err := one.MarkSeen("acme"); err != nil {
		t.Fatal(err)
	}
	is(t, "New of the other", must(t, two, "acme").New, nil)
	r.has(acmeBase, "a", "b", "c")
	must(t, one, "acme")
	if err := two.MarkSeen("acme"); err != nil {
		t.Fatal(err)
	}
	is(t, "New after the other saw less", first(r.lists().Cached("acme")).New, full("acme", "c"))
}

func TestSeenBeforeTheFirstFetch(t *testing.T) {
	r := withAcme(t)
	l := r.lists()
	for _, p := range []string{"acme", "openai"} {
		if err := l.MarkSeen(p); err != nil {
			t.Error(err)
		}
	}
	if list, ok := l.Cached("acme"); ok {
		t.Errorf("%+v", list)
	}
}

func TestFirstListIsNoNews(t *testing.T) {
	r := &record{Provider: "acme"}
	if r.apply(fetched{models: []model{{Name: "a"}}}); len(r.newNames("")) != 0 {
		t.Errorf("new is %v", r.newNames(""))
	}
}

func TestBaselineIsBounded(t *testing.T) {
	r := &record{Models: []model{{Name: "a"}, {Name: "b"}}, Seen: many(maxSeen)}
	r.markSeen([]string{"a"})
	if !slices.Equal(r.Seen, []string{"a"}) || !slices.Equal(r.newNames(""), []string{"b"}) {
		t.Errorf("%d seen, new %q", len(r.Seen), r.newNames(""))
	}
}

// For any order of lists and visits: new is exactly what was not in the first
// list and at no visit.
func TestNewIsWhatWasNeverSeen(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		alphabet := []string{"a", "b", "c", "d", "e", "f"}
		r := &record{Provider: "acme"}
		known := map[string]bool{}
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			if len(r.Models) > 0 && rapid.Bool().Draw(t, "visit") {
				for _, m := range r.Models {
					known[m.Name] = true
				}
				r.markSeen(names(r.Models))
			} else {
				var list []model
				for _, n := range rapid.SliceOfNDistinct(rapid.SampledFrom(alphabet), 1, 6, rapid.ID).Draw(t, "list") {
					list = append(list, model{Name: n})
					if r.Models == nil {
						known[n] = true
					}
				}
				r.apply(fetched{models: sortUnique(list), base: "x"})
			}
			var want []string
			for _, m := range r.Models {
				if !known[m.Name] {
					want = append(want, m.Name)
				}
			}
			if got := r.newNames(""); !slices.Equal(got, want) {
				t.Fatalf("new is %v, want %v", got, want)
			}
		}
	})
}
