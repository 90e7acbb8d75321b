package rules

import (
	"strings"

	"winnow/tui/pane"
)

// frame is the last frame with what it was drawn for: as long as nothing
// changes, streaming beside the pane costs it nothing.
type frame struct {
	w, h    int
	version int64
	inbox   int64 // version of what commands brought
	lines   []string
	titles  [][2]int // where the titles stand in the top line: from, to
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

func (p *Pane) draw(w, h int) (lines []string) {
	lines, p.frame.titles = pane.Frame{Styles: &p.st, Focused: p.focus, Titles: p.titles(), Open: int(p.tab)}.Draw(w, h, p.inside)
	return lines
}

// titles are the tabs as they are named in the border.
func (p *Pane) titles() []string {
	out := make([]string, tabCount)
	for t, name := range tabNames {
		out[t] = name.title
	}
	if n := len(p.data.diff); n > 0 {
		out[tabChanges] += " " + p.st.Icons.Unsaved + decimal(n)
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
