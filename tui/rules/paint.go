package rules

import (
	"strings"

	"charm.land/lipgloss/v2"

	"winnow/tui/style"
)

// ink is a style made ready: what stands before the text and after it. A frame
// has hundreds of pieces in some twenty styles, and rendering each anew took
// most of its time.
type ink struct{ open, shut string }

// dry makes a style ready. Styles of the pane only colour; none has a margin.
func dry(st lipgloss.Style) ink {
	open, shut, _ := strings.Cut(st.Render("x"), "x")
	return ink{open, shut}
}

// on is text in the ink; nothing stays nothing.
func (i ink) on(text string) string {
	if text == "" {
		return ""
	}
	return i.open + text + i.shut
}

// paint is all inks of the pane.
type paint struct {
	Title, Text, Count, Muted, Ignore, Allow, Pending, Shadowed, Dead ink
	Highlight, Selected, BarAvailable, BarHidden, Warn, Add, Remove   ink
	Cursor, Line, Offered                                             ink
	Wheel                                                             []ink
}

func newPaint(st style.Styles) paint {
	r := st.Rules
	p := paint{
		Title: dry(r.Title), Text: dry(r.Text), Count: dry(r.Count), Muted: dry(r.Muted), Ignore: dry(r.Ignore), Allow: dry(r.Allow),
		Pending: dry(r.Pending), Shadowed: dry(r.Shadowed), Dead: dry(r.Dead), Highlight: dry(r.Highlight), Selected: dry(r.Selected),
		BarAvailable: dry(r.BarAvailable), BarHidden: dry(r.BarHidden), Warn: dry(r.Warn), Add: dry(st.Diff.Add), Remove: dry(st.Diff.Remove),
		Cursor: dry(r.Text.Reverse(true)), Line: dry(st.Border.Idle), Offered: dry(r.Selected),
	}
	for _, w := range r.Wheel {
		p.Wheel = append(p.Wheel, dry(w))
	}
	return p
}

// rule is the ink and the place on the wheel of the rule with index i ≥ 0.
func (p *paint) rule(i int) (ink, int) {
	n := i % len(p.Wheel)
	return p.Wheel[n], n
}
