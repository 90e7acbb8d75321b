package thought_test

import (
	"strings"
	"testing"

	"winnow/assistant/thought"
)

// Whatever the places say, no text is lost and none comes twice.
func FuzzSplit(f *testing.F) {
	f.Add("one two", "answer [[tool:0]]", 0, 0, 4, 7)
	f.Add("größe", "ü", 0, 1, 3, -1)
	f.Fuzz(func(t *testing.T, reasoning, text string, from, place, from2, place2 int) {
		blocks := thought.Split(reasoning, text, 0, []thought.Block{{From: from, Place: place}, {From: from2, Place: place2}})
		var all strings.Builder
		last := 0
		for _, b := range blocks {
			all.WriteString(b.Text)
			if b.Place < last || b.Place > len(text) {
				t.Fatalf("places %+v in %d bytes", blocks, len(text))
			}
			last = b.Place
		}
		squeeze := func(s string) string { return strings.Join(strings.Fields(s), "") }
		if squeeze(all.String()) != squeeze(reasoning) {
			t.Fatalf("%q of %q", all.String(), reasoning)
		}
	})
}
