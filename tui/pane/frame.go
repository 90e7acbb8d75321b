package pane

import (
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"winnow/tui/style"
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

// Draw draws the border around the lines that inside returns for the inner size: h
// lines of w cells. titles are the cells [from, to) of each title in the top line; both
// are 0 for one that has no room.
func (f Frame) Draw(w, h int, inside func(w, h int) []string) (lines []string, titles [][2]int) {
	w, h = max(w, 0), max(h, 0)
	titles = make([][2]int, len(f.Titles))
	lines = make([]string, 0, h)
	if w < minWidth || h < minHeight {
		for range h {
			lines = append(lines, strings.Repeat(" ", w))
		}
		return lines, titles
	}
	shape, st := f.Styles.Border.Shape, f.Styles.Border.Idle
	if f.Focused {
		shape, st = f.Styles.Border.FocusedShape, f.Styles.Border.Focused
	}
	lines = append(lines, f.top(w, shape, st, titles))
	left, right := st.Render(shape.Left), st.Render(shape.Right)
	for _, l := range inside(w-2, h-2) {
		lines = append(lines, left+l+right)
	}
	return append(lines, st.Render(shape.BottomLeft+strings.Repeat(shape.Bottom, w-2)+shape.BottomRight)), titles
}

// top is the upper border with the titles. Where they do not all fit, only
// the open one is shown.
func (f Frame) top(w int, shape lipgloss.Border, st lipgloss.Style, titles [][2]int) string {
	from, to := 0, len(f.Titles)
	width := to - 1
	for i := range f.Titles {
		width += ansi.StringWidth(f.title(i))
	}
	if width > w-2 {
		from, to = f.Open, f.Open+1
	}
	var b strings.Builder
	b.WriteString(st.Render(shape.TopLeft))
	x := 1
	for i := from; i < to; i++ {
		if i > from {
			b.WriteString(st.Render(f.Styles.Icons.Column))
			x++
		}
		tab := f.Styles.Rules.Tab
		if i == f.Open {
			tab = f.Styles.Rules.TabOpen
		}
		title := style.Truncate(f.title(i), max(0, w-1-x), "")
		if title != "" { // Render would leave the spaces of an underlined title out
			b.WriteString(CompileStyle(tab).Render(title))
		}
		titles[i] = [2]int{x, x + ansi.StringWidth(title)}
		x += ansi.StringWidth(title)
	}
	b.WriteString(st.Render(strings.Repeat(shape.Top, max(0, w-1-x)) + shape.TopRight))
	return b.String()
}
