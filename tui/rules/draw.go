package rules

import (
	"strings"

	"winnow/tui/cells"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

// frame is the last frame with what it was drawn for: as long as nothing
// changes, streaming beside the pane costs it nothing.
type frame struct {
	w, h    int
	version int64
	inbox   int64 // version of what commands brought
	lines   []string
	titles  [tabCount][2]int // where the titles stand in the top line: from, to
}

// Lines implements pane.Pane: the border with the titles of the tabs, the rows
// that are seen, and the foot.
func (p *Pane) Lines(w, h int) []string {
	w, h = max(w, 0), max(h, 0)
	inbox := p.inbox.drawn()
	if f := &p.frame; f.lines == nil || f.w != w || f.h != h || f.version != p.version || f.inbox != inbox {
		p.frame = frame{w: w, h: h, version: p.version, inbox: inbox}
		p.frame.lines = p.draw(w, h)
	}
	return append([]string(nil), p.frame.lines...)
}

// A pane below this has no room for a border.
const (
	minWidth  = 4
	minHeight = 3
)

func (p *Pane) draw(w, h int) []string {
	if w < minWidth || h < minHeight {
		lines := make([]string, h)
		for i := range lines {
			lines[i] = strings.Repeat(" ", w)
		}
		return lines
	}
	shape, st := p.st.Border.Shape, p.st.Border.Idle
	if p.focus {
		shape, st = p.st.Border.FocusedShape, p.st.Border.Focused
	}
	lines := make([]string, 0, h)
	lines = append(lines, p.top(w, shape, st))
	left, right := st.Render(shape.Left), st.Render(shape.Right)
	for _, l := range p.inside(w-2, h-2) {
		lines = append(lines, left+l+right)
	}
	return append(lines, st.Render(shape.BottomLeft+strings.Repeat(shape.Bottom, w-2)+shape.BottomRight))
}

// top is the upper border with the titles. Where they do not all fit, the open
// one stands alone with its number.
func (p *Pane) top(w int, shape lipgloss.Border, st lipgloss.Style) string {
	r := p.st.Rules
	titles, from, to := p.titles(), 0, int(tabCount)
	wide := len(titles) - 1
	for _, t := range titles {
		wide += ansi.StringWidth(t)
	}
	if wide > w-2 {
		from, to = int(p.tab), int(p.tab)+1
	}
	var b strings.Builder
	b.WriteString(st.Render(shape.TopLeft))
	at := 1
	for i := from; i < to; i++ {
		if i > from {
			b.WriteString(st.Render(p.st.Icons.Column))
			at++
		}
		style := r.Tab
		if tab(i) == p.tab {
			style = r.TabOpen
		}
		title := cells.Truncate(titles[i], max(0, w-1-at), "")
		b.WriteString(dry(style).on(title))
		p.frame.titles[i] = [2]int{at, at + ansi.StringWidth(title)}
		at += ansi.StringWidth(title)
	}
	b.WriteString(st.Render(strings.Repeat(shape.Top, max(0, w-1-at)) + shape.TopRight))
	return b.String()
}

// titles are the tabs as they are named in the border, the open one with a sign.
func (p *Pane) titles() [tabCount]string {
	var out [tabCount]string
	for t, name := range tabNames {
		lead := " "
		if tab(t) == p.tab {
			lead = p.st.Icons.Selected
		}
		out[t] = lead + name.title + " "
	}
	if n := len(p.data.diff); n > 0 {
		out[tabChanges] += p.st.Icons.Unsaved + decimal(n) + " "
	}
	return out
}

// inside is the list and the foot: h lines of w cells.
func (p *Pane) inside(w, h int) []string {
	foot := p.foot(w, h)
	rows := h - len(foot)
	v := &p.views[p.tab]
	v.scroll(rows)
	lines := make([]string, 0, h)
	for i := v.top; i < min(v.top+rows, len(v.rows)); i++ {
		lines = append(lines, p.drawRow(v.rows[i], i == v.cursor, w))
	}
	for len(lines) < rows {
		lines = append(lines, strings.Repeat(" ", w))
	}
	return append(lines, foot...)
}
