package chat

import (
	"fmt"
	"strings"
	"testing"

	"winnow/assistant"
	"winnow/assistant/safetext"
)

// numbered is a long answer whose lines can be told apart.
func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d\n\n", i)
	}
	return b.String()
}

// top returns the first row of the screen with text.
func top(v *View) string {
	for _, l := range strings.Split(plain(v.View(60, 12)), "\n") {
		if l = strings.TrimSpace(strings.TrimLeft(l, "▌ ")); l != "" {
			return l
		}
	}
	return ""
}

// K leads to the start of the answer that is being read, and only then to the one before.
func TestPrevPairGoesToTheStartOfALongAnswerFirst(t *testing.T) {
	v := view()
	show(v, pair(1, "earlier", "short"), pair(2, "question", numbered(40)))
	v.View(60, 12)
	v.Bottom()
	v.View(60, 12)
	v.PrevPair()
	v.View(60, 12)
	if p, _ := v.Focused(); p.Seq != 2 || v.focus != 0 {
		t.Fatalf("K in a long answer focuses part %d of message %d, want the start of 2", v.focus, p.Seq)
	}
	v.PrevPair()
	if p, _ := v.Focused(); p.Seq != 1 {
		t.Errorf("K at its start focuses message %d, want 1", p.Seq)
	}
}

// A cancelled turn, whose pair has the focus and disappears, does not scroll up to the start
// of the answer before it.
func TestTheViewStaysAtItsEndWhenTheNewestPairDisappears(t *testing.T) {
	v := view()
	show(v, pair(1, "question", numbered(40)), pair(2, "cancelled", "short"))
	v.View(60, 12)
	v.Bottom()
	v.View(60, 12)
	v.Remove(2)
	v.SetRefs([]assistant.Ref{{Seq: 1}}, 0)
	v.View(60, 12)
	if p, _ := v.Focused(); !v.AtEnd() || p.Seq != 1 {
		t.Errorf("at the end: %v, focused: %d; the screen starts with %q", v.AtEnd(), p.Seq, top(v))
	}
}

// Opening and closing all does not move what is being read.
func TestToggleAllKeepsTheTextBeingRead(t *testing.T) {
	thought := pair(1, "earlier", "short")
	thought.Reasoning = safetext.Text(numbered(9))
	v := view()
	show(v, thought, pair(2, "question", numbered(40)))
	v.View(60, 12)
	v.Bottom()
	before := top(v)
	if !strings.HasPrefix(before, "line ") {
		t.Fatalf("the screen starts with %q", before)
	}
	for range 2 {
		if !v.ToggleAll() {
			t.Fatal("nothing opens or closes")
		}
		if got := top(v); got != before {
			t.Errorf("the screen starts with %q, want %q as before", got, before)
		}
	}
}

func TestWhatDoesNotFoldSaysSo(t *testing.T) {
	v := view()
	show(v, pair(1, "question", "plain text"))
	v.View(60, 12)
	v.Bottom()
	if v.Folds() || v.ToggleFold() || v.ToggleAll() {
		t.Error("a plain text folds")
	}
	thought := pair(1, "question", "text")
	thought.Reasoning = "because"
	v.Load([]assistant.Pair{thought})
	if !v.Folds() || !v.ToggleFold() || !v.ToggleAll() {
		t.Error("reasoning does not fold")
	}
}

// After scrolling away from the focus, j and k go on in what is on the screen, a line at a time.
func TestAStepStaysOnTheScreen(t *testing.T) {
	for _, n := range []int{1, -1} {
		v := view()
		show(v, pair(1, "earlier", "short"), pair(2, "question", numbered(80)), pair(3, "newer", "short"))
		v.View(60, 12)
		v.Show(map[int]int64{1: 1, -1: 3}[n], false)
		v.View(60, 12)
		v.Page(3 * n)
		before := top(v)
		v.step(n)
		after := top(v)
		p, _ := v.Focused()
		var from, to int
		_, _ = fmt.Sscanf(before, "line %d", &from)
		_, _ = fmt.Sscanf(after, "line %d", &to)
		if moved := (to - from) * n; p.Seq != 2 || from == 0 || moved < 0 || moved > 1 {
			t.Errorf("a step by %d after scrolling from %q focuses message %d and leads to %q", n, before, p.Seq, after)
		}
	}
}
