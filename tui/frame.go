package tui

import (
	"cmp"
	"fmt"
	"image"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"winnow/assistant"
	"winnow/tui/keymap"
	"winnow/tui/overlay"
	"winnow/tui/style"
)

// View draws the frame, unless it is unchanged.
func (m *Model) View() tea.View {
	if !m.same {
		m.frame, m.drawn = m.draw(), true
	}
	return m.frame
}

func (m *Model) draw() tea.View {
	v := tea.NewView("")
	v.AltScreen = true
	v.ReportFocus = true
	doing := m.doing()
	v.WindowTitle, v.ProgressBar, v.ProgramStatus = doing.Title(), doing.Progress(), doing.Status()
	if m.opts.Mouse {
		v.MouseMode = tea.MouseModeCellMotion
	}
	switch {
	case m.width == 0:
		return v
	case m.layout.Small:
		text := style.Truncate("terminal too small", m.width, "")
		v.Content = lipgloss.Place(m.width, m.height, lipgloss.Center, lipgloss.Center, text)
		return v
	}
	v.Content = m.compose()
	m.widths.EndFrame()
	if !m.opts.Style.Unicode {
		v.Content, v.WindowTitle = style.ASCII(v.Content), style.ASCII(v.WindowTitle)
	}
	v.Cursor = m.cursor()
	return v
}

// base draws the frame without overlays and lists.
func (m *Model) base() string {
	var b strings.Builder
	b.Grow(len(m.frame.Content))
	b.WriteString(m.bar.Draw(m.header(), m.width, m.styles.Header.Bar))
	for _, row := range m.middle() {
		b.WriteByte('\n')
		for _, part := range row {
			b.WriteString(part)
		}
	}
	for _, line := range append(m.inputLines(), m.bar.Draw(m.footer(), m.width, m.styles.Footer.Bar)) {
		b.WriteByte('\n')
		b.WriteString(line)
	}
	return b.String()
}

// compose draws the frame, and above it the overlay, the completions, or the lines above the
// filter line.
func (m *Model) compose() string {
	base := m.base()
	var list []string
	foot := m.layout.Input.Min.Y
	switch {
	case m.overlay.Open():
		if o, ok := m.overlay.Find(overlay.HUD); ok {
			o.(*overlay.Text).SetLines(m.numbers()) // the numbers may have changed
		}
		box, x, y := m.overlay.View(m.width, m.height, m.styles)
		return m.above(m.behind(base), box, x, y)
	case m.input.completing():
		list = overlay.List(m.input.list.Entries, m.input.list.At, min(maxCompletions, foot-headerLines-overlay.ListFrame), m.width, m.styles)
	case m.mode == keymap.Command:
		foot = m.layout.Footer.Min.Y
		list = m.command.View(m.width, foot-headerLines, m.parts.topic(), m.now(), m.styles)
	}
	if len(list) == 0 {
		return base
	}
	return m.above(base, strings.Join(list, "\n"), 0, foot-len(list))
}

// behind returns a frame as it is drawn behind an overlay: in one muted colour, except the
// footer.
func (m *Model) behind(base string) string {
	rows := strings.Split(base, "\n")
	dimmed := make([]string, len(rows))
	for i, row := range rows {
		if i == len(rows)-footerLines { // the footer shows the keys of the overlay in normal colours
			dimmed[i] = row
			break
		}
		dimmed[i] = m.styles.Overlay.Behind.Render(style.Strip(row))
	}
	return strings.Join(dimmed, "\n")
}

// above draws a box over a frame; x and y are the cell of its top left corner. Half a wide
// character at an edge of the box becomes a space.
func (m *Model) above(base, box string, x, y int) string {
	rows := strings.Split(base, "\n")
	w := lipgloss.Width(box)
	rest := m.width - x - w // cells to the right of the box
	for i, line := range strings.Split(box, "\n") {
		at := y + i
		if at < 0 || at >= len(rows) {
			continue
		}
		right := style.TruncateLeft(rows[at], x+w, "")
		if style.Width(right) > rest {
			right = style.TruncateLeft(rows[at], x+w+1, "")
		}
		rows[at] = style.Fit(style.Cut(rows[at], 0, x), x, "") + style.Fit(line, w, "") + strings.Repeat(" ", max(0, rest-style.Width(right))) + right
	}
	return strings.Join(rows, "\n")
}

// middle returns the parts of each row: chat, pane and HUD, side by side if there is room.
func (m *Model) middle() [][]string {
	out := make([][]string, m.layout.Input.Min.Y-m.layout.Header.Max.Y)
	put := func(part image.Rectangle, draw func(w, h int) []string) {
		if !part.Empty() {
			for i, row := range draw(part.Dx(), part.Dy()) {
				at := part.Min.Y - m.layout.Header.Max.Y + i
				out[at] = append(out[at], row)
			}
		}
	}
	put(m.layout.Chat, func(w, h int) []string {
		return m.conv.View(w, h, m.scene(w))
	})
	put(m.layout.Divider, m.divider)
	put(m.layout.Pane, func(w, h int) []string {
		if m.ready {
			return m.pane.Lines(w, h)
		}
		return blankLines(w, h) // there is no window yet
	})
	put(m.layout.HUD, func(w, h int) []string { return m.hud.Lines(w, h, m.conv.boundary.Counter, m.draftCost()) })
	return out
}

// divider returns the line between the chat and its neighbour on the right; the thick part
// of the line is the scroll bar of the chat.
func (m *Model) divider(_, h int) []string {
	line := slices.Repeat([]string{m.styles.Border.Idle.Render(m.styles.Border.Shape.Left)}, h)
	if m.conv.chat.Len() == 0 {
		return line
	}
	if from, to, ok := m.conv.chat.ScrollBar(h - chatHead); ok {
		thumb := m.styles.Border.Idle.Render(m.styles.Border.FocusedShape.Left)
		for i := from; i < to; i++ {
			line[i+chatHead] = thumb
		}
	}
	return line
}

func blankLines(w, h int) []string { return slices.Repeat([]string{strings.Repeat(" ", w)}, h) }

// scene returns what the conversation shows in addition to its pairs, w cells wide.
func (m *Model) scene(w int) *scene {
	s := &scene{
		wording: m.wording(), filter: m.parts.filterLine(), folder: string(oneLine(m.about.Folder)), numbered: m.numbersOf() == ofAnswer, regions: "the conversation and the rules",
		loading: m.loading, running: m.turn.running, alone: m.layout.Divider.Empty(), below: m.below(w),
	}
	if !m.loading && m.conv.welcomes(s.filter) {
		s.welcome = m.welcome()
	}
	switch {
	case m.plainChat():
		s.regions = "the conversation"
	case !m.parts.saves():
		s.regions = "the conversation and the pane"
	}
	return s
}

// below returns the lines below the pairs, which leave the same right margin as the pairs.
// A line that is not needed is "".
func (m *Model) below(w int) []string {
	const margin = 2
	lines := []string{m.statusLine(w - margin), m.queuedCard(w - margin), m.cancelledCard(w - margin)}
	for i, line := range lines {
		if line != "" {
			lines[i] = m.widths.Fit(line, w, "")
		}
	}
	return lines
}

// filterName returns a filter line for display; an empty line selects all messages.
func filterName(line string) string { return cmp.Or(line, "all messages") }

// sendLabel returns the send button. If the mouse is on, it is drawn at the right end of the
// line above the box.
func (m *Model) sendLabel() string {
	return "[" + strings.TrimSpace(m.key(keymap.Send)+" send") + "] "
}

// inputLines returns the box, and above it a line with the estimate of the draft.
func (m *Model) inputLines() []string {
	w, h := m.layout.Input.Dx(), m.layout.Input.Dy()-inputFrame
	note := m.estimate()
	if about := m.boxNote(w - m.widths.Width(note)); about != "" {
		note = about + note
	}
	if m.opts.Mouse {
		note += m.sendLabel()
	}
	shape := m.styles.Border.Shape
	rule := []rune(strings.Repeat(shape.Top, max(0, w-m.widths.Width(note))))
	if x := m.layout.Divider.Min.X; !m.layout.Divider.Empty() && x < len(rule) {
		rule[x] = []rune(shape.MiddleBottom)[0]
	}
	rows := []string{m.ruled(rule) + m.styles.Input.Estimate.Render(note)}
	body := append(strings.Split(m.input.draft.View(h), "\n"), make([]string, h)...)
	for _, line := range body[:h] {
		rows = append(rows, m.widths.Fit(line, w, ""))
	}
	return rows
}

// boxNote says what is unusual about sending the draft: the draft replaces or edits an earlier
// message, or a filter other than the default decides which messages are sent with it. It
// returns the longest text that fits w cells; "" if none fits or nothing is unusual.
func (m *Model) boxNote(w int) string {
	var texts []string
	x, line := m.conv.boundary.Boundary.X, m.parts.filterLine()
	switch {
	case m.parts.reAsked() != 0:
		texts = []string{"replaces the failed message"}
	case m.input.editing != 0 && !m.input.draft.Empty():
		texts = []string{"editing an earlier message · sent as a new one", "editing an earlier message", "editing"}
		if n := m.conv.number(m.input.editing); n > 0 {
			texts = []string{fmt.Sprintf("editing message %d · sent as a new one", n), fmt.Sprintf("editing message %d", n), "editing"}
		}
	case x == 0 || line == startFilter:
		return ""
	case line == "":
		texts = []string{assistant.Counted(x, "message") + " from all sessions will be sent with yours", assistant.Counted(x, "message") + " from all sessions", fmt.Sprint("+", x)}
	default:
		texts = []string{assistant.Counted(x, "filtered message") + " will be sent with yours", assistant.Counted(x, "filtered message"), fmt.Sprint("+", x)}
	}
	for _, text := range texts {
		if m.widths.Width(text)+2 <= w {
			return " " + text + " "
		}
	}
	return ""
}

// belowAt is the column of the sign that describes what is below the visible part of the
// chat.
const belowAt = 2

// ruled returns the line above the box, with the sign that describes what is below the
// visible part of the chat.
func (m *Model) ruled(rule []rune) string {
	idle := m.styles.Border.Idle
	text, arrived := m.belowChat()
	w := style.Width(text)
	if text == "" || belowAt+w > len(rule) {
		return idle.Render(string(rule))
	}
	look := m.styles.Chat.Time
	if arrived {
		look = m.styles.Chat.New
	}
	return idle.Render(string(rule[:belowAt])) + look.Render(text) + idle.Render(string(rule[belowAt+w:]))
}

// belowChat describes what is below the visible part of the chat; text is "" if nothing is
// below, or if the chat is hidden or empty. arrived means that some of it is new.
func (m *Model) belowChat() (text string, arrived bool) {
	if m.layout.Chat.Empty() || m.conv.chat.Len() == 0 {
		return "", false
	}
	if text, arrived = m.conv.chat.Below(m.endAction()); text != "" {
		text = " " + text + " "
	}
	return text, arrived
}

// endAction returns the action that moves the chat towards its end with a key that works now, or
// "" if none does: a text line or the pane has the focus.
func (m *Model) endAction() keymap.Action {
	switch {
	case m.mode == keymap.Input: // other keys type text
		return keymap.PageDown
	case m.mode == keymap.View && !m.typingLine():
		return keymap.LastMessage
	}
	return ""
}

// belowSign reports whether a cell is part of the sign that ruled draws.
func (m *Model) belowSign(x, y int) bool {
	text, _ := m.belowChat()
	return y == m.layout.Input.Min.Y && x >= belowAt && x < belowAt+style.Width(text)
}

// sendButton reports whether a cell is part of the send button.
func (m *Model) sendButton(x, y int) bool {
	return m.opts.Mouse && y == m.layout.Input.Min.Y && x >= m.layout.Input.Max.X-m.widths.Width(m.sendLabel())
}

// cursor returns the cursor of the terminal; nil hides it.
func (m *Model) cursor() *tea.Cursor {
	if m.overlay.Open() {
		if x, y, ok := m.overlay.Cursor(m.width, m.height); ok {
			return tea.NewCursor(x, y)
		}
		return nil
	}
	if x, ok := m.lineCursor(); ok {
		return tea.NewCursor(x, m.height-1)
	}
	c := m.input.draft.Cursor()
	if c == nil || m.mode != keymap.Input {
		return nil
	}
	at := image.Pt(c.X, c.Y).Add(m.layout.Input.Min).Add(image.Pt(0, inputFrame))
	c.X, c.Y = at.X, at.Y
	if !at.In(m.layout.Input) {
		return nil
	}
	return c
}
