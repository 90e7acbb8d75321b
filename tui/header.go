package tui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"winnow/assistant/safetext"
	"winnow/checkpoint"
	"winnow/tui/pane"
	"winnow/tui/textwidth"
)

// bars draws the header and the footer.
type bars struct{ *Model }

// segment is a part of a bar, with what a click on it does.
type segment struct {
	text string
	do   func(*Model) tea.Cmd // nil: nothing
}

// cells is the width of segments together.
func (s *shared) cells(parts ...segment) (sum int) {
	for _, p := range parts {
		sum += s.widths.Width(p.text)
	}
	return sum
}

// onSegment handles a click on a column of a bar.
func (m *Model) onSegment(parts []segment, x int) tea.Cmd {
	for _, p := range parts {
		if w := m.cells(p); x >= 0 && x < w && p.do != nil {
			return p.do(m)
		}
		x -= m.cells(p)
	}
	return nil
}

// drawBar draws a bar of w cells; rest styles the cells after the segments.
func (s *shared) drawBar(parts []segment, w int, rest lipgloss.Style) string {
	line, used := "", s.cells(parts...)
	for _, p := range parts {
		line += p.text
	}
	if used > w {
		line = s.widths.Truncate(line, w, "…")
		used = s.widths.Width(line)
	}
	return line + rest.Render(strings.Repeat(" ", max(0, w-used)))
}

// minModel is how many cells the model has before provider and window give way.
const minModel = 12

// header shows window, provider, model, checkpoints, context, and whether the window is unsaved or
// locked; before the session is open, the name alone. Where there is no room, the checkpoints give
// way first, then the names of provider and window; the unsaved mark goes last.
func (m bars) header() []segment {
	st := m.styles.Header
	if !m.ready {
		return []segment{{text: st.Name.Render(" winnow")}}
	}
	status, model := m.pane.Status(), m.headerModel(m.width)
	var left segment
	var right []segment
	over := 1
	for try := 0; try < 6 && over > 0; try++ {
		left.text = st.Name.Render(" winnow")
		for _, name := range []string{status.Title, status.Subtitle}[try/2:] {
			if name != "" {
				left.text += st.Text.Render(" · " + safetext.Visible(name))
			}
		}
		checkpoints := try%2 == 0
		right = m.headerRight(model, checkpoints)
		over = m.cells(right...) + 1 + m.cells(left) - m.width
		if w := m.widths.Width(model) - over; over > 0 && w >= minModel {
			right, over = m.headerRight(m.headerModel(w), checkpoints), 0
		}
	}
	for over > 0 && len(right) > 2 {
		over -= m.cells(right[:2]...) // a part and its gap
		right = right[2:]
	}
	gap := segment{text: st.Bar.Render(strings.Repeat(" ", max(0, m.width-m.cells(left)-m.cells(right...))))}
	return append([]segment{left, gap}, right...)
}

// headerModel is the model in at most w cells.
func (m bars) headerModel(w int) string {
	ic := m.styles.Icons
	frame := m.widths.Width(ic.Model) + m.widths.Width(ic.Menu) + 2
	name := safetext.Visible(cmp.Or(m.session.Model(), "no model"))
	return m.styles.Header.Model.Render(ic.Model + " " + m.widths.Truncate(name, max(0, w-frame), ic.Ellipsis) + " " + ic.Menu)
}

// headerRight is the right side of the header, with a gap after each part.
func (m bars) headerRight(model string, checkpoints bool) (right []segment) {
	st, ic := m.styles.Header, m.styles.Icons
	add := func(text string, do func(*Model) tea.Cmd) {
		if len(right) > 0 {
			right = append(right, segment{text: st.Bar.Render("  ")})
		}
		right = append(right, segment{text, do})
	}
	add(model, onPickers((*pickers).openModels))
	inEffect := slices.DeleteFunc(m.session.Checkpoints(), func(c checkpoint.Checkpoint) bool { return c.Undone })
	if n := len(inEffect); n > 0 && checkpoints {
		add(st.Text.Render(fmt.Sprintf("%s %d %s", ic.Checkpoint, n, ic.Menu)), onPickers((*pickers).openCheckpoints))
	}
	counter := st.Count
	if m.conv.boundary.near {
		counter = st.Unsaved // a warning as well
	}
	add(counter.Render(cmp.Or(m.conv.boundary.counter, "0/0")), (*Model).openHUD)
	if m.opts.Mouse {
		add(st.Text.Render("[new session]"), (*Model).newSession)
	}
	switch {
	case m.turn.running:
		add(st.Lock.Render(ic.Lock+" working"), nil)
	case m.session.Journal().Locked() != nil:
		add(st.Lock.Render(ic.Lock+" read only"), nil)
	case m.plainChat():
	case m.pane.Status().Unsaved:
		add(st.Unsaved.Render(ic.Unsaved+" unsaved"), (*Model).save)
	default:
		add(st.Saved.Render(ic.Saved+" saved"), nil)
	}
	return append(right, segment{text: st.Bar.Render(" ")})
}

// footer shows the mode, and the line that is being written, or the notice, or the
// keys that work now.
func (m bars) footer() []segment {
	f := m.styles.Footer
	left := segment{text: f.Mode.Render(" " + m.mode.String() + " ")}
	room := m.width - m.cells(left)
	t, label := m.activeLine()
	switch {
	case m.overlay.Open():
		return []segment{left, {text: f.Bar.Render(" ") + f.Text.Render(m.overlay.Hints())}}
	case t != nil:
		return []segment{left, {text: m.drawLine(t, label, room)}}
	case m.notice.text == "":
		return append([]segment{left}, m.hints(room)...)
	}
	tone := f.Notice
	if m.notice.bad {
		tone = f.Bad
	}
	text := safetext.Visible(m.notice.text)
	if room -= 2; ansi.StringWidth(text) > room {
		more := m.styles.Icons.Ellipsis + m.hint(" %s shows all", "notices")
		text = textwidth.Truncate(text, max(0, room-ansi.StringWidth(more)), "") + more
	}
	return []segment{left, {text: f.Bar.Render(" ") + tone.Render(textwidth.Truncate(text, max(0, room), ""))}}
}

// hints are the keys that work now, the most useful first: those of a text line of
// the pane, else those of the mode. When they do not fit into w cells, the first
// ones stay, and the last, help.
func (m bars) hints(w int) (hints []segment) {
	f := m.styles.Footer
	add := func(h pane.Hint, do func(*Model) tea.Cmd) {
		text := f.Bar.Render(" ") + f.Key.Render(h.Key) + f.Text.Render(" "+h.Text)
		if len(hints) > 0 {
			text = f.Text.Render(" ·") + text
		}
		hints = append(hints, segment{text, do})
	}
	if h, ok := m.pane.(pane.Hinter); ok && m.mode == modePane {
		for _, hint := range h.Hints() {
			add(hint, nil)
		}
	}
	if len(hints) == 0 {
		actions := m.keys.inMode(m.mode)
		slices.SortStableFunc(actions, func(a, b *action) int { return a.footer - b.footer })
		for _, a := range actions {
			if a.footer != 0 && (a.name != "save" || !m.turn.running && m.pane.Status().Unsaved) {
				add(pane.Hint{Key: m.shownKeys(m.mode, a)[0], Text: m.hintText(a)}, a.do)
			}
		}
	}
	for len(hints) > 0 && m.cells(hints...) > w {
		at := min(max(1, len(hints)-2), len(hints)-1)
		hints = slices.Delete(hints, at, at+1)
	}
	return hints
}

// hintText is an action in a word or two, as it works now.
func (m bars) hintText(a *action) string {
	switch completing := m.input.completing(); {
	case a.name == "send" && m.turn.running:
		return "queue"
	case a.name == "send":
		return "send"
	case a.name == "next-region" && completing:
		return "take"
	case a.name == "next-region":
		return strings.ToLower(m.neighbour(1).String())
	case a.name != "escape":
		return cmp.Or(a.hint, a.help)
	case completing:
		return "close"
	case m.turn.running:
		return "cancel"
	case m.mode == modeInput && !m.input.draft.Empty():
		return "clear"
	case m.mode == modeView:
		return "filter"
	}
	return "view"
}

// activeLine is the text line in the footer that has the focus, and its label; nil
// when there is none.
func (m bars) activeLine() (*footerLine, string) {
	switch {
	case m.mode == modeCommand:
		return &m.command.line, " : "
	case m.mode == modeView && m.conv.search.active:
		return &m.conv.search, " / "
	}
	return nil, ""
}

// drawLine draws a text line in w cells.
func (m bars) drawLine(t *footerLine, label string, w int) string {
	f := m.styles.Footer
	room, hint := t.room(label, w)
	body := t.view(room, func(wrong string) string { return f.Bad.Underline(true).Render(wrong) })
	line := f.Key.Render(label) + f.Text.Render(body+strings.Repeat(" ", max(0, room-ansi.StringWidth(body))))
	return textwidth.Truncate(line+f.Bar.Render(" ")+f.Notice.Render(hint), w, "…")
}

// lineCursor is the column of the cursor in the footer.
func (m bars) lineCursor() (int, bool) {
	t, label := m.activeLine()
	if t == nil {
		return 0, false
	}
	left := ansi.StringWidth(m.mode.String()) + 2 + ansi.StringWidth(label)
	room, _ := t.room("", m.width-left)
	_, at := t.Scroll(room)
	return min(left+at, m.width-1), true
}
