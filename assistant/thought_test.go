package assistant_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/safetext"
)

// TestThoughtsKeepTheirPlaces: each block of thinking is kept with where it was
// thought, and a retry goes on counting.
func TestThoughtsKeepTheirPlaces(t *testing.T) {
	r, now := clocked(t, at.NewScript(
		at.Answer{at.Think("  first"), at.Say(" I add. "), at.Think("second"), at.Say("Now."), addWord("two")},
		at.Answer{at.Think("third "), at.Cut{}},
		at.Answer{at.Think("fourth"), at.Say("Done.")},
	))
	*now = now.Add(time.Second)
	r.send("add")
	want := "0:first 7:second 23:third"
	if got := placesOf(r.last()); got != want {
		t.Errorf("of a cut turn: %s, want %s (%q)", got, want, r.last().AssistantText)
	}
	r.checked(at.Events(t, r.begin(assistant.Prompt{Retry: r.last().Seq})))
	p := r.last()
	// Nothing was said between the third and the fourth: they are one block.
	if got, want := placesOf(p), "0:first 7:second 23:third\n\nfourth"; got != want {
		t.Errorf("after a retry: %s, want %s (%q)", got, want, p.AssistantText)
	}
	if strings.Join(strings.Fields(string(p.Reasoning)), " ") != "first second third fourth" {
		t.Errorf("the whole thinking is %q", p.Reasoning)
	}
}

// TestOneThoughtNeedsNoPlace: a pair of a turn that only thought first is
// stored as it ever was.
func TestOneThoughtNeedsNoPlace(t *testing.T) {
	r := newRig(t, at.NewScript(at.Answer{at.Think("hm"), at.Say("yes")}))
	r.send("well?")
	if p := r.last(); p.Thoughts != nil || placesOf(p) != "0:hm" {
		t.Errorf("%v, %s", p.Thoughts, placesOf(p))
	}
}

func placesOf(p assistant.Pair) string {
	var out []string
	for _, b := range assistant.PairThoughts(&p) {
		out = append(out, fmt.Sprintf("%d:%s", b.Place, b.Text))
	}
	return strings.Join(out, " ")
}

// Whatever the places say, no text is lost and none comes twice.
func FuzzPairThoughts(f *testing.F) {
	f.Add("one two", "answer [[tool:0]]", 0, 0, 4, 7)
	f.Add("größe", "ü", 0, 1, 3, -1)
	f.Fuzz(func(t *testing.T, reasoning, text string, from, place, from2, place2 int) {
		blocks := assistant.PairThoughts(&assistant.Pair{
			Reasoning: safetext.Text(reasoning), AssistantText: safetext.Text(text), Thoughts: []assistant.Thought{{From: from, Place: place}, {From: from2, Place: place2}},
		})
		var all strings.Builder
		last := 0
		for _, b := range blocks {
			all.WriteString(string(b.Text))
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
