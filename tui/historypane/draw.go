package historypane

import (
	"slices"
	"strconv"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"winnow/assistant"
	"winnow/assistant/safetext"
	"winnow/checkpoint"
	"winnow/tui/pane"
	"winnow/tui/textwidth"
)

// maxName is how much of a name is looked at: no line is that long.
const maxName = 400

// shown makes a text of anybody's safe for one line.
func shown(text string) string { return safetext.Line(text, maxName) }

// Lines implements pane.Pane: the border with the titles of the tabs, the rows
// that are seen, and the foot.
func (p *Pane) Lines(w, h int) []string {
	p.take()
	var lines []string
	lines, p.places = pane.Frame{Styles: &p.st, Focused: p.focus, Titles: p.titles(), Open: int(p.tab)}.Draw(w, h, p.inside)
	return lines
}

// titles are the tabs as they are named in the border.
func (p *Pane) titles() []string {
	out := slices.Clone(tabNames[:])
	if n := len(p.data.changes); n > 0 {
		out[tabChanges] += " " + strconv.Itoa(n)
	}
	return out
}

// inside is the list and the foot: h lines of w cells.
func (p *Pane) inside(w, h int) []string {
	foot := p.foot(w)
	if h-len(foot) < len(foot) { // the list comes first
		foot = nil
	}
	v := &p.views[p.tab]
	v.scroll(h - len(foot))
	lines := make([]string, 0, h)
	for i := v.top; i < min(v.top+v.seen, len(v.rows)); i++ {
		lines = append(lines, p.drawRow(v.rows[i], i == v.cursor, w))
	}
	for len(lines) < v.seen {
		lines = append(lines, strings.Repeat(" ", w))
	}
	return append(lines, foot...)
}

// drawRow draws a row: a sign for the cursor, the name, and a number at the end.
func (p *Pane) drawRow(r row, on bool, w int) string {
	st := p.st.Rules
	name, number, style := p.texts(r)
	lead := "  "
	if on && r.selectable() {
		lead = p.st.Icons.Selected + " "
	}
	if on && p.focus {
		style = st.Selected
	}
	room := w - ansi.StringWidth(lead) - 1
	if number != "" {
		room -= ansi.StringWidth(number) + 1
	}
	if room < 1 {
		return strings.Repeat(" ", w)
	}
	name = textwidth.Truncate(name, room, p.st.Icons.Ellipsis)
	gap := strings.Repeat(" ", max(0, w-1-ansi.StringWidth(lead)-ansi.StringWidth(name)-ansi.StringWidth(number)))
	return st.Title.Render(lead) + style.Render(name) + gap + st.Count.Render(number) + " "
}

// texts are what a row says, and how the first of it looks.
func (p *Pane) texts(r row) (name, number string, style lipgloss.Style) {
	st, icons, d := p.st.Rules, p.st.Icons, &p.data
	switch r.kind {
	case rowAll:
		return "all pairs", p.number(d.pairs), st.Text
	case rowLoose:
		return p.here("") + "no topic", p.number(d.loose), st.Muted
	case rowTopic:
		t := d.topics[r.at]
		deep, last := depth(t.Path)
		return strings.Repeat("  ", deep) + p.here(t.Path) + shown(last), p.number(t.All), st.Text
	case rowFilter:
		f := d.filters[r.at]
		return "@" + shown(f.Name) + "  " + shown(f.Line), "", st.Text
	case rowChange:
		c := d.changes[r.at]
		if c.Undone {
			return shown(c.Description), "undone", st.Dead
		}
		return shown(c.Description), c.Time.Local().Format("15:04"), st.Text
	case rowTool:
		tool := d.changes[r.at].Tools[r.tool]
		sign, style := icons.ToolOK, st.Muted
		if !tool.OK {
			sign, style = icons.ToolBad, st.Warn
		}
		return "  " + sign + " " + shown(effect(tool)), "", style
	case rowText:
	}
	return r.text, "", st.Muted
}

// here is the sign of the topic that new messages go to.
func (p *Pane) here(path string) string {
	if p.session.Topic() == path {
		return p.st.Icons.Pending + " "
	}
	return ""
}

// number is a number of pairs, once they are counted.
func (p *Pane) number(n int) string {
	if !p.data.counted {
		return p.st.Icons.Ellipsis
	}
	return strconv.Itoa(n)
}

// foot says what is to be said of the row under the cursor, and the sums.
func (p *Pane) foot(w int) []string {
	st := p.st.Rules
	about := [2]string{p.about(), p.sums()}
	lines := []string{p.st.Border.Idle.Render(strings.Repeat(p.st.Icons.Rule, w))}
	for i, text := range about {
		text = textwidth.Truncate(" "+text, w, p.st.Icons.Ellipsis)
		style := st.Text
		if i > 0 {
			style = st.Muted
		}
		lines = append(lines, style.Render(text)+strings.Repeat(" ", max(0, w-ansi.StringWidth(text))))
	}
	return lines
}

// about is what is to be said of the row under the cursor.
func (p *Pane) about() string {
	r, ok := p.views[p.tab].row()
	if !ok {
		return ""
	}
	d := &p.data
	switch r.kind {
	case rowAll:
		return "enter shows the pairs of all sessions"
	case rowLoose:
		return "enter shows the pairs without a topic"
	case rowTopic:
		t := d.topics[r.at]
		text := shown(t.Path)
		if d.counted {
			text += ": " + own(t.Pairs, t.All)
		}
		return text
	case rowFilter:
		return shown(d.filters[r.at].Line)
	case rowChange:
		c := d.changes[r.at]
		who := "the assistant"
		if c.Kind == checkpoint.KindEdit {
			who = "you"
		}
		return who + ", " + c.Time.Local().Format("2006-01-02 15:04:05")
	case rowText, rowTool:
	}
	return ""
}

// sums are the numbers of the whole history.
func (p *Pane) sums() string {
	d := &p.data
	switch {
	case p.tab == tabChanges:
		return "ctrl+g goes back to before a change"
	case !d.counted:
		return "counting the pairs" + p.st.Icons.Ellipsis
	}
	return assistant.Counted(d.pairs, "pair") + ", " + assistant.Counted(len(d.topics), "topic") + ", " + assistant.Counted(len(d.filters), "filter")
}
