package tui

import (
	"image"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"winnow/tui/overlay"
	"winnow/tui/pane"
	"winnow/tui/style"
	"winnow/tui/textwidth"
)

// View composes the frame of what the parts draw. While a paste is gathered
// nothing changes that could be seen.
func (m *Model) View() tea.View {
	if !m.burst.holds() {
		m.shown = m.draw()
	}
	return m.shown
}

func (m *Model) draw() tea.View {
	v := tea.NewView("")
	v.AltScreen = true
	v.ReportFocus = true
	v.WindowTitle = m.title()
	if m.mouse {
		v.MouseMode = tea.MouseModeCellMotion
	}
	switch {
	case m.width == 0:
		return v
	case m.at.small:
		v.Content = m.tooSmall()
		return v
	}
	v.Content = m.compose()
	if !m.styleOpts.Unicode {
		v.Content, v.WindowTitle = style.ASCII(v.Content), style.ASCII(v.WindowTitle)
	}
	v.Cursor = m.cursor()
	return v
}

// compose draws the parts where the layout put them, and the overlay above.
func (m *Model) compose() string {
	rows := make([]string, 0, m.height)
	rows = append(rows, m.header(m.width))
	rows = append(rows, m.middle()...)
	rows = append(rows, m.inputLines()...)
	rows = append(rows, m.footer(m.width))
	base := strings.Join(rows, "\n")
	if !m.overlay.Open() {
		return m.withLists(base)
	}
	if o, ok := m.overlay.Find(overlay.HUD); ok {
		o.(*overlay.Text).SetLines(m.hudLines()) // its numbers are those of now
	}
	box, x, y := m.overlay.View(m.width, m.height, m.styles)
	canvas := lipgloss.NewCompositor(lipgloss.NewLayer(base), lipgloss.NewLayer(box).X(x).Y(y).Z(1))
	return filled(canvas.Render(), m.width, m.height)
}

// withLists lays what belongs to the text that is being written on the lines
// above it: the list of files above the input, what the filter line may hold
// above the footer.
func (m *Model) withLists(base string) string {
	var box []string
	foot := 0
	switch {
	case m.completing():
		foot = m.at.input.Min.Y
		box = m.fileLines(m.width, foot-headerLines)
	case m.mode == modeCommand:
		foot = m.at.footer.Min.Y
		box = m.commandRows(m.width, foot-headerLines)
	}
	if len(box) == 0 {
		return base
	}
	canvas := lipgloss.NewCompositor(lipgloss.NewLayer(base), lipgloss.NewLayer(strings.Join(box, "\n")).Y(foot-len(box)).Z(1))
	return filled(canvas.Render(), m.width, m.height)
}

// filled makes h lines of w cells again of what a canvas drew: it leaves out
// the space at the ends.
func filled(frame string, w, h int) string {
	lines := strings.Split(frame, "\n")
	out := make([]string, h)
	for i := range out {
		if i < len(lines) {
			out[i] = lines[i]
		}
		out[i] += strings.Repeat(" ", max(0, w-ansi.StringWidth(out[i])))
	}
	return strings.Join(out, "\n")
}

// middle is chat and pane, side by side where there is room.
func (m *Model) middle() []string {
	var chatRows, paneRows []string
	h := m.at.chat.Dy()
	if w := m.at.chat.Dx(); w > 0 {
		chatRows = m.chatBox(w, h)
	}
	if w := m.at.pane.Dx(); w > 0 {
		paneRows = m.pane.Lines(w, h)
	}
	out := make([]string, h)
	for i := range out {
		if chatRows != nil {
			out[i] += chatRows[i]
		}
		if paneRows != nil {
			out[i] += paneRows[i]
		}
	}
	return out
}

// chatBox is the conversation in its frame.
func (m *Model) chatBox(w, h int) []string {
	b, st := m.styles.Border.Shape, m.styles.Border.Idle
	if m.mode == modeView {
		b, st = m.styles.Border.FocusedShape, m.styles.Border.Focused
	}
	inner := m.chatLines(w-2, h-2)
	title := " chat "
	if f := m.session.Filter(); f != "x" {
		title = " chat · " + oneLine(filterName(f)) + " "
	}
	title = textwidth.Truncate(title, max(0, w-4), m.styles.Icons.Ellipsis)
	rows := make([]string, 0, h)
	rows = append(rows, st.Render(b.TopLeft+b.Top+title+strings.Repeat(b.Top, max(0, w-3-ansi.StringWidth(title)))+b.TopRight))
	left, right := st.Render(b.Left), st.Render(b.Right)
	for _, line := range inner {
		rows = append(rows, left+line+right)
	}
	return append(rows, st.Render(b.BottomLeft+strings.Repeat(b.Bottom, max(0, w-2))+b.BottomRight))
}

// chatLines are the messages, the welcome of an empty conversation, and below
// them what the assistant does and the message that waits.
func (m *Model) chatLines(w, h int) []string {
	m.chat.SetActive(m.mode == modeView)
	var below []string
	for _, line := range []string{m.statusLine(w), m.queuedCard(w)} {
		if line != "" && len(below) < h-1 {
			below = append(below, line)
		}
	}
	h -= len(below)
	if m.chat.Len() == 0 && !m.turn.running {
		return append(m.nothing(w, h), below...)
	}
	return append(m.chat.View(w, h), below...)
}

// statusLine says what happens as long as a turn runs, in one place.
func (m *Model) statusLine(w int) string {
	st := m.styles.Chat
	if !m.turn.running {
		return ""
	}
	spin := m.styles.Icons.Running
	parts := []string{spin[m.frameOfSpinner()%len(spin)]}
	if m.turn.status != "" {
		parts[0] += " " + oneLine(m.turn.status)
	}
	if took := m.now().Sub(m.turn.began); took >= time.Second {
		parts[0] += " " + seconds(took)
	}
	text := strings.Join(append(parts, "esc cancels"), " · ")
	text = textwidth.Truncate(text, max(0, w-2), m.styles.Icons.Ellipsis)
	return "  " + st.Notice.Render(text) + strings.Repeat(" ", max(0, w-2-ansi.StringWidth(text)))
}

// frameOfSpinner advances with the clock: it moves only when frames are drawn.
func (m *Model) frameOfSpinner() int {
	return int(m.now().Sub(m.turn.began) / spinnerFrame)
}

// nothing is what stands where there are no pairs: that they are not there yet,
// that the filter leaves none, or the welcome.
func (m *Model) nothing(w, h int) []string {
	var lines []string
	switch {
	case m.starting:
		lines = []string{"", m.styles.Chat.Time.Render("loading…")}
	case m.welcomes():
		lines = m.welcome(w)
	default:
		lines = m.noMatch(w)
	}
	out := make([]string, h)
	top := max(0, (h-len(lines))/3)
	for i := range out {
		line := ""
		if i >= top && i-top < len(lines) {
			line = textwidth.Truncate("  "+lines[i-top], w, m.styles.Icons.Ellipsis)
		}
		out[i] = line + strings.Repeat(" ", max(0, w-ansi.StringWidth(line)))
	}
	return out
}

// welcomes says whether the conversation is empty, not only the view of it.
func (m *Model) welcomes() bool {
	f := m.session.Filter()
	return m.chat.Len() == 0 && (f == "x" || f == "")
}

// welcome is what an empty conversation shows: what to ask, and the keys that matter.
func (m *Model) welcome(w int) []string {
	st := m.styles.Chat
	lines := []string{"", st.Welcome.Render("What shall be done?"), ""}
	for i, e := range m.opts.Examples {
		lines = append(lines, st.Number.Render("alt+"+string(rune('1'+i)))+"  "+st.Example.Render(oneLine(e)))
	}
	key := m.firstKey(modeInput, "send", "the send key")
	beside := "conversation and rules"
	switch _, keeps := m.pane.(pane.Saver); {
	case m.plainChat():
		beside = "the conversation"
	case !keeps:
		beside = "conversation and pane"
	}
	hint := key + " sends · tab goes on to " + beside + " · ctrl+p finds every command · f1 helps"
	return append(append(lines, ""), m.quietLines(hint, w)...)
}

// noMatch is what stands in the place of pairs that the filter hides.
func (m *Model) noMatch(w int) []string {
	key := m.firstKey(modeView, "filter", "the palette")
	if m.mode == modeInput {
		key = m.firstKey(modeInput, "escape", "esc") + " and " + key
	}
	lines := []string{""}
	for _, l := range textwidth.Wrap("no pair matches "+oneLine(filterName(m.session.Filter())), w-4) {
		lines = append(lines, m.styles.Chat.Welcome.Render(l))
	}
	return append(append(lines, ""), m.quietLines(key+" changes the filter · an empty filter shows all pairs", w)...)
}

// firstKey is the key of an action that a hint names.
func (m *Model) firstKey(in mode, action, without string) string {
	if keys := m.shownKeys(in, m.keys.named(action)); len(keys) > 0 {
		return keys[0]
	}
	return without
}

// quietLines are a hint in as many lines as it takes.
func (m *Model) quietLines(hint string, w int) []string {
	var out []string
	for _, line := range textwidth.Wrap(hint, w-4) {
		out = append(out, m.styles.Chat.Time.Render(line))
	}
	return out
}

// inputLines are the rule above the box, the box, and the estimate on its right.
func (m *Model) inputLines() []string {
	w, h := m.at.input.Dx(), m.at.input.Dy()-inputFrame
	st := &m.styles
	border := st.Border.Idle
	if m.mode == modeInput {
		border = st.Border.Focused
	}
	note := m.estimate()
	rule := strings.Repeat(st.Border.Shape.Top, max(0, w-ansi.StringWidth(note)))
	rows := []string{border.Render(rule) + st.Input.Estimate.Render(note)}
	body := strings.Split(m.draft.View(h), "\n")
	for i := range h {
		line := ""
		if i < len(body) {
			line = textwidth.Truncate(body[i], w, "")
		}
		rows = append(rows, line+strings.Repeat(" ", max(0, w-ansi.StringWidth(line))))
	}
	return rows
}

// cursor is where the terminal's own cursor belongs.
func (m *Model) cursor() *tea.Cursor {
	if m.overlay.Open() {
		if x, y, ok := m.overlay.Cursor(m.width, m.height); ok {
			return tea.NewCursor(x, y)
		}
		return nil
	}
	switch m.mode {
	case modeInput:
		c := m.draft.Cursor()
		if c == nil {
			return nil
		}
		at := image.Pt(c.X, c.Y).Add(m.at.input.Min).Add(image.Pt(0, inputFrame))
		if !at.In(m.at.input) {
			return nil
		}
		c.X, c.Y = at.X, at.Y
		return c
	case modeCommand, modeView:
		if x, ok := m.lineCursor(); ok {
			return tea.NewCursor(x, m.height-1)
		}
	case modePane:
	}
	return nil
}

func (m *Model) title() string {
	state := "winnow"
	if m.turn.running {
		state = "winnow · working"
	}
	return state
}

// tooSmall fills a screen that cannot show a chat.
func (m *Model) tooSmall() string {
	text := textwidth.Truncate("terminal too small", m.width, "")
	rows := make([]string, m.height)
	for i := range rows {
		line := ""
		if i == m.height/2 {
			line = strings.Repeat(" ", max(0, (m.width-len(text))/2)) + text
		}
		rows[i] = line + strings.Repeat(" ", max(0, m.width-ansi.StringWidth(line)))
	}
	return strings.Join(rows, "\n")
}
