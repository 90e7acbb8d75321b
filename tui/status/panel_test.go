package status

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"winnow/assistant"
	"winnow/assistant/budget"
	"winnow/assistant/safetext"
	"winnow/tui/style"
)

// newPanel is an open panel of n pairs of 100 tokens, of which the last included ones
// are sent.
func newPanel(height, n, included int) *ContextPanel {
	st := style.New(style.Options{Unicode: true, Profile: style.NoColor})
	p := &ContextPanel{}
	p.SetStyles(&st)
	refs := make([]assistant.Ref, n)
	for i := range refs {
		refs[i] = assistant.Ref{Seq: int64(i + 1), Cost: 100, Contributes: true}
	}
	p.Resize(height, true)
	p.Show(refs, budget.Boundary{First: n - included, X: included, Y: n, ML: 8000, SYS: 300, Known: true})
	load(p)
	return p
}

// load gives a panel the pairs that it misses.
func load(p *ContextPanel) (n int) {
	missing := p.Missing()
	for _, seq := range missing {
		p.Load(assistant.Pair{Seq: seq, UserText: safetext.Text(fmt.Sprintf("question %d\nin detail", seq))})
	}
	return len(missing)
}

// draw draws a panel of w cells.
func draw(t *testing.T, p *ContextPanel, w int, draft assistant.DraftCost) string {
	t.Helper()
	lines := p.Lines(w, p.height, "1/2", draft)
	if len(lines) != p.height {
		t.Errorf("%d lines of %d", len(lines), p.height)
	}
	for i, line := range lines {
		lines[i] = ansi.Strip(line)
		if ansi.StringWidth(line) != w {
			t.Errorf("line %d has %d cells of %d: %q", i, ansi.StringWidth(line), w, line)
		}
	}
	return strings.Join(lines, "\n")
}

func TestAPanelSaysWhyAPairIsNotSent(t *testing.T) {
	p := newPanel(20, 8, 6)
	p.refs[7].Contributes, p.refs[6].Contributes = false, false
	p.Load(assistant.Pair{Seq: 7, UserText: "a failure", State: assistant.PairError})
	p.SetRunning(8, "the newest\x1b[31m")
	p.SetLast(&assistant.LastSend{LeftOut: []assistant.LeftOut{{Seq: 4}}})
	p.SetHidden(12)
	p.Load(assistant.Pair{Seq: 6, UserText: "starred", Star: 2})
	got := draw(t, p, 70, assistant.DraftCost{AUT: 7, Total: 907, Left: 70, OverReserve: true, Trims: 1})
	want := []string{
		" ~907 of 8000 tokens · 70 left", "your draft", "1 old message will not fit", "~300  system prompt and tools",
		"the newest", "being answered", "a failure", "failed: nothing to send", "★★ starred", "question 5",
		"question 4", "left out of the last request", "question 3", "will not fit",
		"question 2", "before the boundary", "question 1", "before the boundary", "12 other messages: hidden by the filter",
	}
	rest := got
	for _, text := range want {
		i := strings.Index(rest, text)
		if i < 0 {
			t.Fatalf("%q is not there, or not in its place:\n%s", text, got)
		}
		rest = rest[i+len(text):]
	}
	if strings.Contains(got, "in detail") || strings.Count(got, "question 5") != 1 {
		t.Errorf("more than the first line:\n%s", got)
	}
}

// A panel of one line inside has the sums alone; any width has whole lines.
func TestAPanelOfAnySize(t *testing.T) {
	for _, height := range []int{3, 4, 6, 9, 10, 11, 30} {
		for w := 20; w < 130; w += 9 {
			p := newPanel(height, 30, 20)
			p.SetHidden(3)
			got := draw(t, p, w, assistant.DraftCost{AUT: 12, Total: 2412, Left: 4000})
			if w >= 38 && (!strings.Contains(got, "~2412 of 8000") || !strings.Contains(got, "draft")) {
				t.Errorf("%d×%d: the sums are missing in\n%s", w, height, got)
			}
		}
	}
}

func TestTheDraftMovesTheSums(t *testing.T) {
	p := newPanel(12, 5, 5)
	for _, c := range []struct {
		draft assistant.DraftCost
		want  string
	}{
		{assistant.DraftCost{AUT: 3, Total: 803, Left: 7197}, "~803 of 8000 tokens · 7197 left"},
		{assistant.DraftCost{AUT: 4, Total: 804, Left: 7196}, "~4  your draft"},
		{assistant.DraftCost{AUT: 9000, Total: 9800, Left: -1800, OverBudget: true}, "1800 too many"},
		{assistant.DraftCost{AUT: 9000, Total: 9800, Left: -1800, OverBudget: true}, "too long for the model"},
		{assistant.DraftCost{AUT: 9, OverQuota: true}, "over the endpoint's limit"},
	} {
		if got := draw(t, p, 60, c.draft); !strings.Contains(got, c.want) {
			t.Errorf("%+v: %q is not in\n%s", c.draft, c.want, got)
		}
	}
}

// The cursor stays at its pair while newer ones arrive; on the newest it stays there.
func TestTheCursorStaysAtItsPair(t *testing.T) {
	p := newPanel(12, 40, 40)
	grow := func() {
		refs := slices.Clone(p.refs)
		p.Show(append(refs, assistant.Ref{Seq: refs[len(refs)-1].Seq + 2}), p.at)
	}
	at := func(want int64) {
		t.Helper()
		if seq, ok := p.Current(); !ok || seq != want {
			t.Errorf("the cursor is at %d, %v; want %d", seq, ok, want)
		}
	}
	grow()
	at(42)
	p.Move(20)
	at(21)
	grow()
	at(21)
	if load(p) == 0 || !strings.Contains(draw(t, p, 60, assistant.DraftCost{}), "question 21") {
		t.Error("the pair with the cursor is not on the screen")
	}
	p.MoveToEnd(true)
	at(1)
	p.Page(-1)
	at(int64(p.cursor.Rows))
	p.MoveToEnd(false)
	at(44)
	p.Click(2 + len(p.fixed()) + 1)
	at(42)
	p.Click(0)
	at(42)
	p.Show(nil, budget.Boundary{})
	if _, ok := p.Current(); ok {
		t.Error("there is a pair in an empty view")
	}
	p.Move(1)
}

// A closed panel asks for nothing; an open one for the pairs on the screen alone, once
// for each time that others may have changed them.
func TestAPanelAsksForWhatItShows(t *testing.T) {
	p := newPanel(12, 10_000, 50)
	if n := load(p); n != 0 {
		t.Errorf("%d pairs are asked for again", n)
	}
	p.Reload()
	if n := load(p); n == 0 || n > 12 {
		t.Errorf("after a change %d pairs are asked for", n)
	}
	p.MoveToEnd(true)
	if n := load(p); n == 0 || n > 12 {
		t.Errorf("at the end %d pairs are asked for", n)
	}
	p.Resize(0, false)
	if n := len(p.Missing()); n != 0 || p.heads != nil {
		t.Errorf("a closed panel asks for %d pairs and holds %d", n, len(p.heads))
	}
	p.Load(assistant.Pair{Seq: 1})
	if p.heads != nil {
		t.Error("a closed panel stores pairs")
	}
}

// On the narrowest screen a text ends with a word, a reason is shortened before the text
// of a pair is, and nothing touches the border.
func TestANarrowPanel(t *testing.T) {
	p := newPanel(8, 2, 2)
	p.Resize(8, false)
	p.Show([]assistant.Ref{{Seq: 1, Cost: 22, Contributes: true}, {Seq: 2}}, budget.Boundary{ML: 1000, Known: true})
	p.Load(assistant.Pair{Seq: 1, UserText: "which of the models are hidden?"}, assistant.Pair{Seq: 2, UserText: "and the others", State: assistant.PairError})
	text := ansi.Strip(strings.Join(p.Lines(40, 8, "1/2", assistant.DraftCost{}), "\n"))
	for _, want := range []string{"and the others      failed ", "which of the models are… ", "~0 of 1000 · draft ~0 · 0 left "} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}
