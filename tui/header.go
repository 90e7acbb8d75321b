package tui

import (
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

// bars draws the header and the footer, and finds what a click on them does.
type bars struct{ *Model }

// headerPart is a part of the header, with what a click on it does.
type headerPart struct {
	text string
	do   func(*Model) tea.Cmd // nil: nothing
}

// modelLeast is how many cells of a model's name tell which it is.
const modelLeast = 12

// header shows window, provider, model, checkpoints, context, and whether the
// window is unsaved or locked. Before the session is there only the name is known.
func (m bars) header() string {
	bar := m.styles.Header.Bar
	if !m.ready {
		return fill(m.styles.Header.Name.Render(" winnow"), m.width, bar)
	}
	left, right := m.headerParts()
	room := max(0, m.width-partsWidth(right))
	line := textwidth.Truncate(left, room, m.styles.Icons.Ellipsis)
	line += bar.Render(strings.Repeat(" ", max(0, room-ansi.StringWidth(line))))
	for _, p := range right {
		line += p.text
	}
	return textwidth.Truncate(line, m.width, "")
}

// headerAt is what a click on a column of the header does; nil is nothing.
func (m bars) headerAt(x int) func(*Model) tea.Cmd {
	if !m.ready {
		return nil
	}
	_, right := m.headerParts()
	at := m.width - partsWidth(right)
	for _, p := range right {
		w := ansi.StringWidth(p.text)
		if x >= at && x < at+w {
			return p.do
		}
		at += w
	}
	return nil
}

func partsWidth(parts []headerPart) (sum int) {
	for _, p := range parts {
		sum += ansi.StringWidth(p.text)
	}
	return sum
}

// headerParts fits the header into the screen. The names of window and provider
// give way before the model, the checkpoints before both; what is unsaved is the
// last to go.
func (m bars) headerParts() (left string, right []headerPart) {
	status := m.pane.Status()
	full := m.headerModel(m.width)
	for names := 2; names >= 0; names-- {
		left = m.styles.Header.Name.Render(" winnow")
		for _, part := range []string{status.Title, status.Subtitle}[2-names:] {
			if part != "" {
				left += m.styles.Header.Text.Render(" · " + safetext.Visible(part))
			}
		}
		for _, checkpoints := range []bool{true, false} {
			right = m.headerRight(full, checkpoints)
			over := partsWidth(right) + 1 + ansi.StringWidth(left) - m.width
			if over <= 0 {
				return left, right
			}
			if w := ansi.StringWidth(full) - over; w >= modelLeast {
				return left, m.headerRight(m.headerModel(w), checkpoints)
			}
		}
	}
	for right = right[2:]; len(right) > 2 && ansi.StringWidth(left)+partsWidth(right) > m.width; {
		right = right[2:] // a part and the gap behind it
	}
	return left, right
}

// headerModel is the model in at most w cells.
func (m bars) headerModel(w int) string {
	ic := m.styles.Icons
	frame := ansi.StringWidth(ic.Model) + ansi.StringWidth(ic.Menu) + 2
	name := safetext.Visible(orElse(m.session.Model(), "no model"))
	return m.styles.Header.Model.Render(ic.Model + " " + textwidth.Truncate(name, max(0, w-frame), ic.Ellipsis) + " " + ic.Menu)
}

// headerRight is the right side, with gaps between the parts.
func (m bars) headerRight(model string, checkpoints bool) (right []headerPart) {
	st, ic := m.styles.Header, m.styles.Icons
	add := func(text string, do func(*Model) tea.Cmd) {
		if len(right) > 0 {
			right = append(right, headerPart{text: st.Bar.Render("  ")})
		}
		right = append(right, headerPart{text, do})
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
	add(counter.Render(orElse(m.conv.boundary.counter, "0/0")), (*Model).openHUD)
	if m.mouse {
		add(st.Text.Render("[new session]"), (*Model).newSession)
	}
	switch {
	case m.turn.running:
		add(st.Lock.Render(ic.Lock+" working"), nil)
	case m.plainChat():
	case m.pane.Status().Unsaved:
		add(st.Unsaved.Render(ic.Unsaved+" unsaved"), (*Model).save)
	default:
		add(st.Saved.Render(ic.Saved+" saved"), nil)
	}
	return append(right, headerPart{text: st.Bar.Render(" ")})
}

// footer shows the mode, and the keys that work now, or the notice, or the line
// that is being written.
func (m bars) footer(w int) string {
	f := m.styles.Footer
	left := f.Mode.Render(" " + m.mode.String() + " ")
	room := w - ansi.StringWidth(left)
	if m.overlay.Open() {
		return fill(left+f.Bar.Render(" ")+f.Text.Render(m.overlay.Hints()), w, f.Bar)
	}
	if t, label := m.activeLine(); t != nil {
		return fill(left+m.drawLine(t, label, room), w, f.Bar)
	}
	if m.notice.text == "" {
		line := left
		for _, h := range m.hints(room) {
			line += h.drawn
		}
		return fill(line, w, f.Bar)
	}
	tone := f.Notice
	if m.notice.bad {
		tone = f.Bad
	}
	room = max(0, room-2)
	text := safetext.Visible(m.notice.text)
	if ansi.StringWidth(text) > room {
		more := m.styles.Icons.Ellipsis + m.hint(" %s reads on", "notices")
		text = textwidth.Truncate(text, max(0, room-ansi.StringWidth(more)), "") + more
	}
	return fill(left+f.Bar.Render(" ")+tone.Render(textwidth.Truncate(text, room, "")), w, f.Bar)
}

// fill makes w cells of a line with the background of a style.
func fill(line string, w int, st lipgloss.Style) string {
	line = textwidth.Truncate(line, w, "…")
	return line + st.Render(strings.Repeat(" ", max(0, w-ansi.StringWidth(line))))
}

// footerHint is a key with what it does, by a click as well.
type footerHint struct {
	pane.Hint
	drawn string
	do    func(*Model) tea.Cmd // nil: nothing
}

// hints are the keys that work now, the most useful first: those of a text line of
// the pane, else those of the mode.
func (m bars) hints(w int) (hints []footerHint) {
	if h, ok := m.pane.(pane.Hinter); ok && m.mode == modePane {
		for _, hint := range h.Hints() {
			hints = append(hints, footerHint{Hint: hint})
		}
	}
	if len(hints) == 0 {
		actions := m.keys.inMode(m.mode)
		slices.SortStableFunc(actions, func(a, b *action) int { return a.footer - b.footer })
		for _, a := range actions {
			if a.footer != 0 && (a.name != "save" || !m.turn.running && m.pane.Status().Unsaved) {
				hints = append(hints, footerHint{Hint: pane.Hint{Key: m.shownKeys(m.mode, a)[0], Text: m.hintText(a)}, do: a.do})
			}
		}
	}
	return m.fitHints(hints, w)
}

// fitHints draws hints in w cells. Where they do not all fit, the first ones stay,
// and the last, which is the way to all others.
func (s *shared) fitHints(hints []footerHint, w int) []footerHint {
	f, sum := s.styles.Footer, 0
	for i := range hints {
		h := &hints[i]
		h.drawn = f.Bar.Render(" ") + f.Key.Render(h.Key) + f.Text.Render(" "+h.Text)
		if i > 0 {
			h.drawn = f.Text.Render(" ·") + h.drawn
		}
		sum += ansi.StringWidth(h.drawn)
	}
	for len(hints) > 0 && sum > w {
		at := min(max(1, len(hints)-2), len(hints)-1)
		sum -= ansi.StringWidth(hints[at].drawn)
		hints = slices.Delete(hints, at, at+1)
	}
	return hints
}

// hintAt is what a click on a column of the footer does; nil is nothing.
func (m bars) hintAt(x int) func(*Model) tea.Cmd {
	if t, _ := m.activeLine(); t != nil || m.overlay.Open() || m.notice.text != "" {
		return nil
	}
	mode := ansi.StringWidth(m.mode.String()) + 2
	x -= mode
	for _, h := range m.hints(m.width - mode) {
		w := ansi.StringWidth(h.drawn)
		if x < w {
			return h.do
		}
		x -= w
	}
	return nil
}

// hintText is an action in a word or two, as it works now.
func (m bars) hintText(a *action) string {
	switch a.name {
	case "send":
		return map[bool]string{true: "queue", false: "send"}[m.turn.running]
	case "next-region":
		if m.input.completing() {
			return "take"
		}
		return strings.ToLower(m.neighbour(1).String())
	case "escape":
		switch {
		case m.input.completing():
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
	return orElse(a.hint, a.help)
}

// activeLine is the text line in the footer that has the focus; nil is none.
func (m bars) activeLine() (*textLine, string) {
	switch {
	case m.mode == modeCommand:
		return &m.command.line, " : "
	case m.mode == modeView && m.conv.search.active:
		return &m.conv.search, " / "
	}
	return nil, ""
}

// drawLine draws a text line in w cells.
func (m bars) drawLine(t *textLine, label string, w int) string {
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
