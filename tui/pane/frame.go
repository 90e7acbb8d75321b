package pane

import (
	"strings"

	"winnow/tui/style"
)

// Minimum size of a pane; a smaller pane shows nothing.
const (
	minWidth  = 4
	minHeight = 3
)

// headLines is the number of lines above the inside of a Frame: the titles, followed by an
// empty line or, if the pane has the focus, a line below the open title.
const headLines = 2

// Frame is the head of a pane with the titles of its tabs, and the margins at its sides.
// Styles must be set; otherwise the zero value is a pane without tabs and focus.
type Frame struct {
	Styles  *style.Styles
	Focused bool
	Titles  []string // titles of the tabs; safe to show
	Open    int      // index of the open tab
	Below   bool     // the pane is below another part of the screen, separated by a line
}

// title returns the title of a tab as the head shows it, with a mark if the tab is open.
func (f Frame) title(i int) string {
	lead := " "
	if i == f.Open {
		lead = f.Styles.Icons.Selected
	}
	return lead + f.Titles[i] + " "
}

// Draw draws h lines of w cells: the head, and below it the lines that inside returns for the
// inner size. titles are the cells [from, to) of each title in the line of titles; both are 0
// for a title that is not shown.
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
	top := f.top(w, titles)
	if f.Below {
		lines = append(lines, f.edge(w), top)
	} else {
		lines = append(lines, top, f.underline(w, titles))
	}
	for _, l := range inside(w-2, h-headLines) {
		lines = append(lines, " "+l+" ")
	}
	return lines, titles
}

// edge returns the line above a pane that has Below set; the line is thicker if the pane
// has the focus.
func (f Frame) edge(w int) string {
	if f.Focused {
		return f.Styles.Border.Focused.Render(strings.Repeat(f.Styles.Border.FocusedShape.Top, w))
	}
	return f.Styles.Border.Idle.Render(strings.Repeat(f.Styles.Border.Shape.Top, w))
}

// underline returns the line below the titles: it underlines the open one if the pane has the
// focus, and is empty otherwise.
func (f Frame) underline(w int, titles [][2]int) string {
	if !f.Focused || f.Open >= len(titles) {
		return strings.Repeat(" ", w)
	}
	from, to := titles[f.Open][0], titles[f.Open][1]-1
	line := strings.Repeat(f.Styles.Icons.Line, max(0, to-from))
	return strings.Repeat(" ", from) + f.Styles.Border.Focused.Render(line) + strings.Repeat(" ", max(0, w-from-len([]rune(line))))
}

// top returns the line of titles, and stores in titles where each is. If they do not all fit,
// only the open tab's title is shown.
func (f Frame) top(w int, titles [][2]int) string {
	from, to := 0, len(f.Titles)
	width := to - 1
	for i := range f.Titles {
		width += style.Width(f.title(i))
	}
	if width > w-2 {
		from, to = f.Open, f.Open+1
	}
	var b strings.Builder
	b.WriteString(" ")
	x := 1
	for i := from; i < to; i++ {
		if i > from {
			b.WriteString(" ")
			x++
		}
		tab := f.Styles.Rules.Tab
		if i == f.Open {
			tab = f.Styles.Rules.TabOpen
		}
		title := style.Truncate(f.title(i), max(0, w-1-x), "")
		b.WriteString(tab.Render(title))
		titles[i] = [2]int{x, x + style.Width(title)}
		x += style.Width(title)
	}
	b.WriteString(strings.Repeat(" ", max(0, w-x)))
	return b.String()
}
