package tui

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"winnow/checkpoint"
	"winnow/tui/pane"
	"winnow/tui/textwidth"
)

// headerPart is a part of the header, with what a click on it does.
type headerPart struct {
	text string
	do   func(*Model) tea.Cmd // nil: nothing
}

// header says where one is: window, provider, model, checkpoints, context,
// what is unsaved, and that the window is locked.
func (m *Model) header(w int) string {
	left, right, room := m.headerParts(w)
	st := m.styles.Header.Bar
	line := left + st.Render(strings.Repeat(" ", max(0, room-ansi.StringWidth(left))))
	for _, p := range right {
		line += p.text
	}
	return textwidth.Truncate(line, w, "")
}

// headerAt is what a click on a column of the header does; nil is nothing.
func (m *Model) headerAt(x int) func(*Model) tea.Cmd {
	_, right, at := m.headerParts(m.width)
	for _, p := range right {
		if x >= at && x < at+ansi.StringWidth(p.text) {
			return p.do
		}
		at += ansi.StringWidth(p.text)
	}
	return nil
}

// headerParts fits the parts into w cells; room is where the right side begins.
// The names of program and window give way before the model, the checkpoints
// before both; what is unsaved is the last to go.
func (m *Model) headerParts(w int) (left string, right []headerPart, room int) {
	right = m.headerRight()
	for _, names := range []int{2, 1, 0} {
		left = m.headerLeft(names)
		for _, drop := range []int{0, 1} { // the checkpoints stand behind the model
			if fits := m.headerFit(w-ansi.StringWidth(left)-1, right, drop); fits != nil {
				return left, fits, w - partsWidth(fits)
			}
		}
	}
	fits := m.spaced(right[1:]) // the counter and what is unsaved
	for n := len(right) - 1; n > 1 && ansi.StringWidth(left)+partsWidth(fits) > w; n-- {
		fits = m.spaced(right[len(right)-n+1:])
	}
	room = max(0, w-partsWidth(fits))
	return textwidth.Truncate(left, room, m.styles.Icons.Ellipsis), fits, room
}

// modelLeast is how much of a model's name says which it is.
const modelLeast = 12

// headerFit fits the right side into w cells, with the model's name shortened if
// need be, and without so many parts behind it; nil when that is not enough.
func (m *Model) headerFit(w int, right []headerPart, drop int) []headerPart {
	if len(right) < 4 && drop > 0 {
		return nil // there are no checkpoints
	}
	right = append(right[:1:1], right[1+drop:]...)
	model := ansi.StringWidth(right[0].text)
	if over := partsWidth(m.spaced(right)) - w; over > 0 {
		if model-over < min(model, modelLeast) {
			return nil
		}
		right[0].text = m.headerModel(model - over)
	}
	return m.spaced(right)
}

// spaced are the parts with the gaps between and behind them.
func (m *Model) spaced(parts []headerPart) []headerPart {
	var out []headerPart
	for i, p := range parts {
		if i > 0 {
			out = append(out, headerPart{text: m.styles.Header.Bar.Render("  ")})
		}
		out = append(out, p)
	}
	return append(out, headerPart{text: m.styles.Header.Bar.Render(" ")})
}

func partsWidth(parts []headerPart) int {
	sum := 0
	for _, p := range parts {
		sum += ansi.StringWidth(p.text)
	}
	return sum
}

// headerLeft is the name of the program with so many of those of the window and
// what it shows, the last first.
func (m *Model) headerLeft(names int) string {
	h, s := m.styles.Header, m.pane.Status()
	left := h.Name.Render(" winnow")
	parts := []string{s.Title, s.Subtitle}
	for _, part := range parts[len(parts)-names:] {
		if part != "" {
			left += h.Text.Render(" · " + oneLine(part))
		}
	}
	return left
}

// headerModel is the model in at most w cells.
func (m *Model) headerModel(w int) string {
	ic := m.styles.Icons
	model := m.session.Model()
	if model == "" {
		model = "no model"
	}
	frame := ansi.StringWidth(ic.Model) + ansi.StringWidth(ic.Menu) + 2
	return m.styles.Header.Model.Render(ic.Model + " " + textwidth.Truncate(oneLine(model), max(0, w-frame), ic.Ellipsis) + " " + ic.Menu)
}

func (m *Model) headerRight() []headerPart {
	h, ic := m.styles.Header, m.styles.Icons
	right := []headerPart{{m.headerModel(m.width), (*Model).openModels}}
	if n := inEffect(m.session.Checkpoints()); n > 0 {
		right = append(right, headerPart{h.Text.Render(fmt.Sprintf("%s %d %s", ic.Checkpoint, n, ic.Menu)), (*Model).openCheckpoints})
	}
	counter := h.Count
	if m.near {
		counter = h.Unsaved // a warning as well
	}
	right = append(right, headerPart{counter.Render(m.counterText()), (*Model).toggleHUD})
	switch {
	case m.turn.running:
		right = append(right, headerPart{text: h.Lock.Render(ic.Lock + " working")})
	case m.plainChat():
	case m.pane.Status().Unsaved:
		right = append(right, headerPart{h.Unsaved.Render(ic.Unsaved + " unsaved"), (*Model).save})
	default:
		right = append(right, headerPart{text: h.Saved.Render(ic.Saved + " saved")})
	}
	return right
}

// inEffect counts the checkpoints that were not undone.
func inEffect(all []checkpoint.Checkpoint) int {
	n := 0
	for _, c := range all {
		if !c.Undone {
			n++
		}
	}
	return n
}

func (m *Model) counterText() string {
	if m.counter == "" {
		return "0/0"
	}
	return m.counter
}

// footer shows the mode, and the keys that work now, or the notice, or the line
// that is being written.
func (m *Model) footer(w int) string {
	f := m.styles.Footer
	left := f.Mode.Render(" " + m.mode.String() + " ")
	if m.overlay.Open() {
		return pad(left+f.Bar.Render(" ")+f.Text.Render(m.overlay.Hints()), w, f.Bar)
	}
	if line, ok := m.footerLine(w - ansi.StringWidth(left)); ok {
		return pad(left+line, w, f.Bar)
	}
	if m.notice.text != "" {
		tone := f.Notice
		if m.notice.warn {
			tone = f.Bad
		}
		room := max(0, w-ansi.StringWidth(left)-2)
		text := m.notice.text
		if ansi.StringWidth(text) > room {
			more := m.styles.Icons.Ellipsis + " f4 reads on"
			text = textwidth.Truncate(text, max(0, room-ansi.StringWidth(more)), "") + more
		}
		return pad(left+f.Bar.Render(" ")+tone.Render(textwidth.Truncate(text, room, "")), w, f.Bar)
	}
	return pad(left+m.keyHints(w-ansi.StringWidth(left)), w, f.Bar)
}

// keyHints are the keys that work now, the most useful first.
func (m *Model) keyHints(w int) string {
	if hints := m.lineHints(); len(hints) > 0 {
		return m.hintLine(hints, w)
	}
	actions := m.keys.inMode(m.mode)
	slices.SortStableFunc(actions, func(a, b *action) int { return a.footer - b.footer })
	hints := make([]pane.Hint, 0, len(actions))
	for _, a := range actions {
		if a.footer == 0 || (a.name == "save" && (m.turn.running || !m.pane.Status().Unsaved)) {
			continue
		}
		hints = append(hints, pane.Hint{Key: m.shownKeys(m.mode, a)[0], Text: m.hintText(a)})
	}
	return m.hintLine(hints, w)
}

// lineHints are the keys of a text line of the pane that has the focus.
func (m *Model) lineHints() []pane.Hint {
	if h, ok := m.pane.(pane.Hinter); ok && m.mode == modePane {
		return h.Hints()
	}
	return nil
}

// hintLine shows as many hints as fit into w cells: the first ones, and the
// last, which is the way to all others.
func (m *Model) hintLine(hints []pane.Hint, w int) string {
	f := m.styles.Footer
	parts, sum := make([]string, len(hints)), 0
	for i, h := range hints {
		parts[i] = f.Bar.Render(" ") + f.Key.Render(h.Key) + f.Text.Render(" "+h.Text)
		if i > 0 {
			parts[i] = f.Text.Render(" ·") + parts[i]
		}
		sum += ansi.StringWidth(parts[i])
	}
	for len(parts) > 1 && sum > w {
		at := max(1, len(parts)-2)
		sum -= ansi.StringWidth(parts[at])
		parts = slices.Delete(parts, at, at+1)
	}
	if sum > w {
		return ""
	}
	return strings.Join(parts, "")
}

// hintText is an action in a word or two, as it works now.
func (m *Model) hintText(a *action) string {
	switch {
	case a.name == "send" && m.turn.running:
		return "queue"
	case a.name == "send":
		return "send"
	case a.name == "escape" && m.completing():
		return "close"
	case a.name == "next-region" && m.completing():
		return "take"
	case a.name == "escape" && m.turn.running:
		return "cancel"
	case a.name == "escape" && m.mode == modeInput && !m.draft.Empty():
		return "clear"
	case a.name == "escape" && m.mode == modeView:
		return "filter"
	case a.name == "escape":
		return "view"
	case a.hint != "":
		return a.hint
	}
	return a.help
}

// footerLine is the text line that has the focus, drawn in the footer. What is
// wrong with the filter line stands above it.
func (m *Model) footerLine(w int) (string, bool) {
	f := m.styles.Footer
	t, label := m.activeLine()
	if t == nil {
		return "", false
	}
	room, hint := m.lineRoom(t, label, w)
	body := t.view(room, func(wrong string) string { return f.Bad.Underline(true).Render(wrong) })
	line := f.Key.Render(label) + f.Text.Render(body+strings.Repeat(" ", max(0, room-ansi.StringWidth(body))))
	return textwidth.Truncate(line+f.Bar.Render(" ")+f.Notice.Render(hint), w, "…"), true
}

// lineRoom divides w cells between the line and the hint behind it: the line
// always has half of them.
func (m *Model) lineRoom(t *textLine, label string, w int) (room int, hint string) {
	if !t.wrong {
		hint = textwidth.Truncate(oneLine(t.hint), max(0, w/2-lineGaps), "…")
	}
	return max(8, w-ansi.StringWidth(label)-ansi.StringWidth(hint)-lineGaps), hint
}

// lineGaps is the space around the hint behind a line.
const lineGaps = 3

// activeLine is the text line in the footer that has the focus.
func (m *Model) activeLine() (*textLine, string) {
	switch {
	case m.mode == modeCommand:
		return &m.line, " : "
	case m.mode == modeView && m.search.active:
		return &m.search, " / "
	}
	return nil, ""
}

// lineCursor is the column of the cursor in the footer.
func (m *Model) lineCursor() (int, bool) {
	t, label := m.activeLine()
	if t == nil {
		return 0, false
	}
	left := ansi.StringWidth(m.mode.String()) + 2 + ansi.StringWidth(label)
	room, _ := m.lineRoom(t, "", m.width-left)
	_, at := t.Scroll(room)
	return min(left+at, m.width-1), true
}

// pad fills a line to w cells.
func pad(line string, w int, st lipgloss.Style) string {
	line = textwidth.Truncate(line, w, "…")
	return line + st.Render(strings.Repeat(" ", max(0, w-ansi.StringWidth(line))))
}
