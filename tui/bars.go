package tui

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
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
	return ansi.Truncate(line, w, "")
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

// headerParts fits the parts into w cells: what stands further left on the
// right side gives way first, so that the state of the rules is the last to go.
// room is where the right side begins.
func (m *Model) headerParts(w int) (left string, right []headerPart, room int) {
	left, right = m.headerLeft(), m.headerRight()
	gap := m.styles.Header.Bar.Render("  ")
	width := func() int {
		sum := 1 // the last cell stays free
		for i, p := range right {
			sum += ansi.StringWidth(p.text) + min(i, 1)*ansi.StringWidth(gap)
		}
		return sum
	}
	for len(right) > 1 && ansi.StringWidth(left)+width()+1 > w {
		right = right[1:]
	}
	room = max(0, w-width())
	spaced := make([]headerPart, 0, 2*len(right))
	for i, p := range right {
		if i > 0 {
			spaced = append(spaced, headerPart{text: gap})
		}
		spaced = append(spaced, p)
	}
	spaced = append(spaced, headerPart{text: m.styles.Header.Bar.Render(" ")})
	return ansi.Truncate(left, room, m.styles.Icons.Ellipsis), spaced, room
}

func (m *Model) headerLeft() string {
	h, s := m.styles.Header, m.pane.Status()
	left := h.Name.Render(" winnow")
	for _, part := range []string{s.Title, s.Subtitle} {
		if part != "" {
			left += h.Text.Render(" · " + oneLine(part))
		}
	}
	return left
}

func (m *Model) headerRight() []headerPart {
	h, ic := m.styles.Header, m.styles.Icons
	model := m.session.Model()
	if model == "" {
		model = "no model"
	}
	right := []headerPart{{h.Model.Render(ic.Model + " " + oneLine(model) + " " + ic.Menu), (*Model).openModels}}
	if n := len(m.session.Checkpoints()); n > 0 {
		right = append(right, headerPart{h.Text.Render(fmt.Sprintf("%s %d %s", ic.Checkpoint, n, ic.Menu)), (*Model).openCheckpoints})
	}
	right = append(right, headerPart{h.Count.Render(m.counterText()), (*Model).toggleHUD})
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
		return pad(left+f.Bar.Render(" ")+tone.Render(ansi.Truncate(m.notice.text, room, "…")), w, f.Bar)
	}
	return pad(left+m.keyHints(w-ansi.StringWidth(left)), w, f.Bar)
}

// keyHints are the keys that work now, the most useful first.
func (m *Model) keyHints(w int) string {
	f := m.styles.Footer
	actions := m.keys.inMode(m.mode)
	slices.SortStableFunc(actions, func(a, b *action) int { return a.footer - b.footer })
	out := ""
	for _, a := range actions {
		if a.footer == 0 || (a.name == "save" && (m.turn.running || !m.pane.Status().Unsaved)) {
			continue
		}
		part := f.Bar.Render(" ") + f.Key.Render(m.shownKeys(m.mode, a)[0]) + f.Text.Render(" "+m.hintText(a))
		if out != "" {
			part = f.Text.Render(" ·") + part
		}
		if ansi.StringWidth(out)+ansi.StringWidth(part) > w {
			break
		}
		out += part
	}
	return out
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
	case a.name == "escape":
		return "leave"
	case a.name == "enter":
		return "write"
	case a.name == "jump-to-boundary":
		return "boundary"
	case a.name == "fold":
		return "fold"
	case a.name == "next-item":
		return "next"
	case a.name == "apply-filter":
		return "apply"
	case a.name == "next-region":
		return "next pane"
	}
	return a.help
}

// footerLine is the text line that has the focus, drawn in the footer.
func (m *Model) footerLine(w int) (string, bool) {
	f := m.styles.Footer
	t, label := m.activeLine()
	if t == nil {
		return "", false
	}
	hint := oneLine(t.hint)
	tone := f.Notice
	if t.wrong {
		tone = f.Bad
	}
	room := max(8, w-ansi.StringWidth(label)-ansi.StringWidth(hint)-3)
	body, _ := t.view(room)
	line := f.Key.Render(label) + f.Text.Render(body+strings.Repeat(" ", max(0, room-ansi.StringWidth(body))))
	return ansi.Truncate(line+f.Bar.Render(" ")+tone.Render(hint), w, "…"), true
}

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
	room := max(8, m.width-left-ansi.StringWidth(oneLine(t.hint))-3)
	_, at := t.view(room)
	return min(left+at, m.width-1), true
}

// estimate is the size of the draft, near the box; "" for an empty one.
func (m *Model) estimate() string {
	if m.draft.Empty() {
		return ""
	}
	return fmt.Sprintf(" ~%d ", m.session.Settings().Budget.Estimate(m.draft.Text()))
}

// pad fills a line to w cells.
func pad(line string, w int, st lipgloss.Style) string {
	line = ansi.Truncate(line, w, "…")
	return line + st.Render(strings.Repeat(" ", max(0, w-ansi.StringWidth(line))))
}
