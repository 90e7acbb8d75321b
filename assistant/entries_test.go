package assistant_test

import (
	"fmt"
	"testing"
	"time"

	"winnow/assistant"
)

func TestChangesSinceAMark(t *testing.T) {
	var c assistant.Entries
	if got, next := c.Since(0); got == nil || len(got) != 0 || next != 0 {
		t.Fatalf("the zero value gives %v, %d", got, next)
	}
	change := func(kind string, n int) assistant.Entry {
		return assistant.NewEntry(kind, time.Unix(0, 0), map[string]any{"n": n})
	}
	c.Add(change("rule_added", 1))
	_, mark := c.Since(0)
	c.Continue(change("search_changed", 2))
	c.Continue(change("search_changed", 3))
	c.Add(change("rule_added", 4))
	c.Continue(change("search_changed", 5))
	got, _ := c.Since(mark)
	if said := fmt.Sprint(numbers(got)); said != "[3 4 5]" {
		t.Errorf("after the first change come %s, want [3 4 5]", said)
	}
	got[0]["n"] = 0
	if again, _ := c.Since(mark); again[0]["n"] != 3 {
		t.Error("what was given is what is kept")
	}
	// A search that went on after its mark is told once more, as it is now.
	_, mark = c.Since(0)
	c.Continue(change("search_changed", 6))
	if got, _ := c.Since(mark); fmt.Sprint(numbers(got)) != "[6]" {
		t.Errorf("a search that went on is told as %v", got)
	}
}

func TestChangesForgetTheOldest(t *testing.T) {
	var c assistant.Entries
	for n := range 1000 {
		c.Add(assistant.NewEntry("rule_added", time.Unix(0, 0), map[string]any{"n": n}))
	}
	got, next := c.Since(0)
	if len(got) != assistant.MaxEntries || got[0]["n"] != 800 || got[199]["n"] != 999 || next != 1000 {
		t.Errorf("of 1000 changes %d are kept, from %v to %v, next %d", len(got), got[0]["n"], got[len(got)-1]["n"], next)
	}
}

func numbers(changes []assistant.Entry) []any {
	var list []any
	for _, c := range changes {
		list = append(list, c["n"])
	}
	return list
}
