package pane

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"winnow/tui/style"
	"winnow/tui/tuitest"
)

func TestFrameIsExactAtAllSizes(t *testing.T) {
	st := style.New(style.Options{Dark: true, Unicode: true})
	f := Frame{Styles: &st, Focused: true, Titles: []string{"Rules", "漢字", "Changes ●12"}}
	blank := func(w, h int) []string {
		lines := make([]string, h)
		for i := range lines {
			lines[i] = strings.Repeat(" ", w)
		}
		return lines
	}
	for f.Open = range f.Titles {
		for w := range 40 {
			for h := range 6 {
				lines, places := f.Draw(w, h, blank)
				if h > 0 {
					tuitest.Exact(t, strings.Join(lines, "\n"), w, h)
				}
				if w < minWidth || h < minHeight {
					continue
				}
				top := ansi.Strip(lines[0])
				open := places[f.Open]
				if got := ansi.Cut(top, open[0], open[1]); open[0] == 0 || !strings.HasPrefix(f.title(f.Open), got) || got == "" {
					t.Errorf("%d×%d: the open tab %q stands at %v: %q", w, h, f.Titles[f.Open], open, top)
				}
			}
		}
	}
}

// The focus is told by a line, not only by its colour: under the open title, or above a
// pane that is below another one.
func TestTheHeadTellsTheFocus(t *testing.T) {
	st := style.New(style.Options{Unicode: true, Profile: style.NoColor})
	blank := func(w, h int) []string { return make([]string, h) }
	for _, c := range []struct {
		focused, below bool
		want           string
	}{
		{false, false, "  One  ›Two   |              "},
		{true, false, "  One  ›Two   |       ────   "},
		{false, true, "──────────────|  One  ›Two   "},
		{true, true, "━━━━━━━━━━━━━━|  One  ›Two   "},
	} {
		f := Frame{Styles: &st, Focused: c.focused, Below: c.below, Titles: []string{"One", "Two"}, Open: 1}
		lines, _ := f.Draw(14, 4, blank)
		head := ansi.Strip(lines[0]) + "|" + ansi.Strip(lines[1])
		if strings.TrimRight(head, " ") != strings.TrimRight(c.want, " ") {
			t.Errorf("focused %v, below %v: the head is %q, want %q", c.focused, c.below, head, c.want)
		}
	}
}

func TestTitlesThatDoNotFitLeaveTheOpenOne(t *testing.T) {
	st := style.New(style.Options{Dark: true, Unicode: true})
	f := Frame{Styles: &st, Titles: []string{"Rules", "Models", "Changes"}, Open: 1}
	inside := func(w, h int) []string { return make([]string, h) }
	for w, want := range map[int]string{40: "  Rules  ›Models   Changes ", 20: " ›Models  "} {
		lines, places := f.Draw(w, 3, inside)
		if top := ansi.Strip(lines[0]); !strings.HasPrefix(top, want) {
			t.Errorf("at %d cells the top line is %q, want %q", w, top, want)
		}
		if w == 20 && (places[0] != [2]int{} || places[2] != [2]int{}) {
			t.Errorf("what is not drawn stands at %v", places)
		}
	}
}
