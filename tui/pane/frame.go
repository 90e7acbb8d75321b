package pane

import (
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"winnow/tui/style"
	"winnow/tui/textwidth"
)

// A smaller pane has no room for a border.
const (
	minWidth  = 4
	minHeight = 3
)

// Frame is the border of a pane with the titles of its tabs. The zero value of
// its fields is a pane without tabs and without focus.
type Frame struct {
	Styles  *style.Styles
	Focused bool
	Titles  []string // of the tabs; safe to show
	Open    int      // index of the open one
}

// title is the title of a tab as the border shows it, the open one marked.
func (f Frame) title(i int) string {
	lead := " "
	if i == f.Open {
		lead = f.Styles.Icons.Selected
	}
	return lead + f.Titles[i] + " "
}

// Draw draws the border around the lines that inside returns for the inner size:
// h lines of w cells. places are the cells of the top line at which each title stands, from
// and to; both are 0 for one that has no room.
func (f Frame) Draw(w, h int, inside func(w, h int) []string) (lines []string, places [][2]int) {
	w, h = max(w, 0), max(h, 0)
	places = make([][2]int, len(f.Titles))
	lines = make([]string, 0, h)
	if w < minWidth || h < minHeight {
		for range h {
			lines = append(lines, strings.Repeat(" ", w))
		}
		return lines, places
	}
	shape, st := f.Styles.Border.Shape, f.Styles.Border.Idle
	if f.Focused {
		shape, st = f.Styles.Border.FocusedShape, f.Styles.Border.Focused
	}
	lines = append(lines, f.top(w, shape, st, places))
	left, right := st.Render(shape.Left), st.Render(shape.Right)
	for _, l := range inside(w-2, h-2) {
		lines = append(lines, left+l+right)
	}
	return append(lines, st.Render(shape.BottomLeft+strings.Repeat(shape.Bottom, w-2)+shape.BottomRight)), places
}

// top is the upper border with the titles. Where they do not all fit, the open
// one stands alone.
func (f Frame) top(w int, shape lipgloss.Border, st lipgloss.Style, places [][2]int) string {
	from, to := 0, len(f.Titles)
	wide := to - 1
	for i := range f.Titles {
		wide += ansi.StringWidth(f.title(i))
	}
	if wide > w-2 {
		from, to = f.Open, f.Open+1
	}
	var b strings.Builder
	b.WriteString(st.Render(shape.TopLeft))
	at := 1
	for i := from; i < to; i++ {
		if i > from {
			b.WriteString(st.Render(f.Styles.Icons.Column))
			at++
		}
		look := f.Styles.Rules.Tab
		if i == f.Open {
			look = f.Styles.Rules.TabOpen
		}
		title := textwidth.Truncate(f.title(i), max(0, w-1-at), "")
		if title != "" { // Render would leave the spaces of an underlined title out
			open, shut, _ := strings.Cut(look.Render("x"), "x")
			b.WriteString(open + title + shut)
		}
		places[i] = [2]int{at, at + ansi.StringWidth(title)}
		at += ansi.StringWidth(title)
	}
	b.WriteString(st.Render(strings.Repeat(shape.Top, max(0, w-1-at)) + shape.TopRight))
	return b.String()
}
