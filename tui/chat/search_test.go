package chat

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"winnow/assistant"
	"winnow/assistant/safetext"
	"winnow/tui/markdown"
)

// current returns the text on the screen that is drawn as the current hit, from line to
// line.
func current(v *View, w, h int) (all []string) {
	begin, _, _ := strings.Cut(v.rc.st.Chat.CurrentHit.Render("x"), "x")
	for _, row := range v.View(w, h) {
		for _, after := range strings.Split(row, begin)[1:] {
			text, _, _ := strings.Cut(after, "\x1b")
			all = append(all, text)
		}
	}
	return all
}

// A search stops at each hit, whatever part it is in and however many are in a line, marks it
// and counts the hits of the message.
func TestSearchStopsAtEachHit(t *testing.T) {
	p := pair(2, "a Needle of mine", "needles and needle, needle\n\n| a | b |\n|---|---|\n| x | the needle |\n\n"+
		strings.Repeat("nothing\n\n", 60)+"- some words until the next line begins after a needle ends\n\n"+strings.Repeat("nothing\n\n", 60))
	p.Reasoning = safetext.Text(strings.Repeat("thought\n", 40) + "is it a needle?\n" + strings.Repeat("thought\n", 40))
	p.ToolCalls = []assistant.ToolCall{{Name: "f", Arguments: json.RawMessage(`{}`), Result: &assistant.ToolResult{Message: "done\nneedle"}}}
	v := view()
	show(v, pair(1, "q", "a"), p, pair(3, "q", "a"))
	const w, h = 60, 16
	v.View(w, h)
	v.Search("NEEDLE")
	var got []string
	for range 9 {
		hit, ok := v.NextFound(markdown.Forward, nil)
		got = append(got, fmt.Sprint(hit, ok, current(v, w, h)))
	}
	want := []string{
		"{1 8 1 1} true [Needle]", "{2 8 1 1} true [needle]", "{3 8 1 1} true [needle]", "{4 8 1 1} true [needle]", "{5 8 1 1} true [needle]",
		"{6 8 1 1} true [needle]", "{7 8 1 1} true [needle]", "{8 8 1 1} true [needle]", "{1 8 1 1} true [Needle]",
	}
	if !slices.Equal(got, want) {
		t.Errorf("forward:\n%s", strings.Join(got, "\n"))
	}
	got = nil
	for range 8 {
		hit, ok := v.NextFound(markdown.Backward, nil)
		got = append(got, fmt.Sprint(hit, ok, current(v, w, h)))
	}
	slices.Reverse(got)
	if !slices.Equal(got, want[:8]) {
		t.Errorf("back:\n%s", strings.Join(got, "\n"))
	}
}

// A hit that is broken at the end of a line is one hit, marked in both lines, without the
// indent between them.
func TestAHitGoesOnInTheNextLine(t *testing.T) {
	for name, p := range map[string]assistant.Pair{
		"answer":    pair(1, "q", "- "+strings.Repeat("x ", 20)+"one needle here, and one needle there"),
		"message":   pair(1, strings.Repeat("x ", 15)+"one needle here, and one needle there", "a"),
		"reasoning": {Seq: 1, State: assistant.PairComplete, UserText: "q", AssistantText: "a", Reasoning: safetext.Text(strings.Repeat("x ", 20) + "one needle here, and one needle there")},
		"raw":       pair(1, "q", strings.Repeat("x ", 20)+"one needle here, and one needle there"),
	} {
		broken := 0
		for w := 30; w < 60; w++ {
			v := view()
			show(v, p)
			if name == "raw" {
				v.SetRaw()
			}
			v.View(w, 20)
			v.Search("one needle")
			for n := range 2 {
				hit, _ := v.NextFound(markdown.Forward, nil)
				marked := current(v, w, 20)
				if hit.Nth != n+1 || hit.Of != 2 || strings.Join(strings.Fields(strings.Join(marked, " ")), " ") != "one needle" {
					t.Errorf("%s, %d wide: %+v marks %q:\n%s", name, w, hit, marked, plain(v.View(w, 20)))
				}
				broken += len(marked) - 1
			}
		}
		if broken == 0 {
			t.Errorf("%s: no width broke a hit", name)
		}
	}
}

// What is not the text of the conversation is no hit: times and bars.
func TestOnlyTheTextIsSearched(t *testing.T) {
	p := pair(1, "twelve", "> it is 12:30")
	v := view()
	show(v, p)
	frame := plain(v.View(60, 12))
	v.Search("12:30")
	hit, ok := v.NextFound(markdown.Forward, nil)
	if !ok || hit.Of != 1 || strings.Count(frame, "12:30") != 2 {
		t.Errorf("%+v of\n%s", hit, frame)
	}
	v.Search("│")
	if _, ok := v.NextFound(markdown.Forward, nil); ok {
		t.Error("a bar is found")
	}
}

// A search in several messages says which of them it is in, and where in it.
func TestSearchSaysInWhichMessage(t *testing.T) {
	v := view()
	show(v, pair(1, "needle", "needle needle"), pair(2, "q", "a"), pair(3, "q", "needle"))
	v.View(60, 12)
	v.Top()
	v.Search("needle")
	var got []Hit
	for range 5 {
		hit, _ := v.NextFound(markdown.Forward, nil)
		got = append(got, hit)
	}
	if want := []Hit{{1, 3, 1, 2}, {2, 3, 1, 2}, {3, 3, 1, 2}, {1, 1, 2, 2}, {1, 3, 1, 2}}; !slices.Equal(got, want) {
		t.Errorf("hits = %v, want %v", got, want)
	}
	if hit, _ := v.NextFound(markdown.Backward, nil); hit != (Hit{1, 1, 2, 2}) {
		t.Errorf("back: %v", hit)
	}
}

// A pair that is not laid out yet has no number; once it is, it is said, once.
func TestAHitBecomesKnown(t *testing.T) {
	v := view()
	show(v, pair(1, "q", strings.Repeat("some words\n\n", 20_000)+"a needle"), pair(2, "q", "a"))
	v.View(60, 12)
	v.Search("needle")
	if hit, ok := v.NextFound(markdown.Forward, nil); !ok || hit.Nth != 0 {
		t.Fatalf("before it is laid out: %+v, %v", hit, ok)
	}
	var said []Hit
	for more := true; more; {
		more = v.LayOut()
		v.View(60, 12)
		if hit, ok := v.LateHit(); ok {
			said = append(said, hit)
		}
	}
	if !slices.Equal(said, []Hit{{1, 1, 1, 1}}) || len(current(v, 60, 12)) != 1 {
		t.Errorf("settled = %v, marked %q", said, current(v, 60, 12))
	}
}

// More hits than one wants to count are not counted.
func TestHitsAreCountedUpToALimit(t *testing.T) {
	for _, raw := range []bool{true, false} {
		v := view()
		show(v, pair(1, "q", strings.Repeat("needle ", 3*MostHits)))
		if raw {
			v.SetRaw()
		}
		for more := true; more; {
			v.View(60, 12)
			more = v.LayOut()
		}
		v.Search("needle")
		if hit, ok := v.NextFound(markdown.Forward, nil); !ok || hit.Nth != 1 || hit.Of != MostHits {
			t.Errorf("raw %v: the first hit is %+v", raw, hit)
		}
		v.NextFound(markdown.Backward, nil)
		if hit, ok := v.NextFound(markdown.Backward, nil); !ok || hit.Nth != MostHits {
			t.Errorf("raw %v: one of the last hits is %+v", raw, hit)
		}
	}
}

// Marking hits changes no text of a row.
func TestMarkingHitsKeepsTheText(t *testing.T) {
	for i, text := range hostile {
		v := view()
		p := everything(1, text)
		p.Topic = text
		show(v, p)
		for _, w := range []int{9, 30, 80} {
			v.Search("")
			before := v.View(w, 40)
			for _, needle := range []string{"e", " ", "a b", "漢", "日本", text} {
				v.Search(needle)
				for y, row := range v.View(w, 40) {
					if got, want := ansi.Strip(row), ansi.Strip(before[y]); got != want {
						t.Errorf("text %d, %d wide, searching %.20q: row %d is %q, want %q", i, w, needle, y, got, want)
					}
				}
			}
		}
	}
}
