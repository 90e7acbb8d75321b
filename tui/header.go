package tui

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"winnow/assistant/safetext"
	"winnow/checkpoint"
	"winnow/tui/pane"
	"winnow/tui/textwidth"
)

// header says where one is: window, provider, model, checkpoints, context, what
// is unsaved, and that the window is locked. It is made for one frame or click.
type header struct {
	*shared
	counter       string
	near, running bool
	buttons       bool // with the mouse on
}

// headerPart is a part of the header, with what a click on it does.
type headerPart struct {
	text string
	do   func(*Model) tea.Cmd // nil: nothing
}

func (m *Model) header() header {
	return header{m.shared, orElse(m.conv.boundary.counter, "0/0"), m.conv.boundary.near, m.turn.running, m.mouse}
}

// view draws it. Before the session is there only the name is known.
func (h header) view() string {
	bar := h.styles.Header.Bar
	if !h.ready {
		return fill(h.styles.Header.Name.Render(" winnow"), h.width, bar)
	}
	left, right, room := h.parts(h.width)
	line := left + bar.Render(strings.Repeat(" ", max(0, room-ansi.StringWidth(left))))
	for _, p := range right {
		line += p.text
	}
	return textwidth.Truncate(line, h.width, "")
}

// at is what a click on a column does; nil is nothing.
func (h header) at(x int) func(*Model) tea.Cmd {
	if !h.ready {
		return nil
	}
	_, right, at := h.parts(h.width)
	for _, p := range right {
		if x >= at && x < at+ansi.StringWidth(p.text) {
			return p.do
		}
		at += ansi.StringWidth(p.text)
	}
	return nil
}

// parts fits the parts into w cells; room is where the right side begins. The
// names of program and window give way before the model, the checkpoints before
// both; what is unsaved is the last to go.
func (h header) parts(w int) (left string, right []headerPart, room int) {
	right = h.right()
	for _, names := range []int{2, 1, 0} {
		left = h.left(names)
		for _, drop := range []int{0, 1} { // the checkpoints stand behind the model
			if fits := h.fit(w-ansi.StringWidth(left)-1, right, drop); fits != nil {
				return left, fits, w - partsWidth(fits)
			}
		}
	}
	fits := h.spaced(right[1:]) // the counter and what is unsaved
	for n := len(right) - 1; n > 1 && ansi.StringWidth(left)+partsWidth(fits) > w; n-- {
		fits = h.spaced(right[len(right)-n+1:])
	}
	room = max(0, w-partsWidth(fits))
	return textwidth.Truncate(left, room, h.styles.Icons.Ellipsis), fits, room
}

// modelLeast is how much of a model's name says which it is.
const modelLeast = 12

// fit fits the right side into w cells, with the model's name shortened if need
// be, and without so many parts behind it; nil when that is not enough.
func (h header) fit(w int, right []headerPart, drop int) []headerPart {
	if len(right) < 4 && drop > 0 {
		return nil // there are no checkpoints
	}
	right = append(right[:1:1], right[1+drop:]...)
	model := ansi.StringWidth(right[0].text)
	if over := partsWidth(h.spaced(right)) - w; over > 0 {
		if model-over < min(model, modelLeast) {
			return nil
		}
		right[0].text = h.model(model - over)
	}
	return h.spaced(right)
}

// spaced are the parts with the gaps between and behind them.
func (h header) spaced(parts []headerPart) []headerPart {
	var out []headerPart
	for i, p := range parts {
		if i > 0 {
			out = append(out, headerPart{text: h.styles.Header.Bar.Render("  ")})
		}
		out = append(out, p)
	}
	return append(out, headerPart{text: h.styles.Header.Bar.Render(" ")})
}

func partsWidth(parts []headerPart) int {
	sum := 0
	for _, p := range parts {
		sum += ansi.StringWidth(p.text)
	}
	return sum
}

// left is the name of the program with so many of those of the window and what
// it shows, the last first.
func (h header) left(names int) string {
	status := h.pane.Status()
	line := h.styles.Header.Name.Render(" winnow")
	parts := []string{status.Title, status.Subtitle}
	for _, part := range parts[len(parts)-names:] {
		if part != "" {
			line += h.styles.Header.Text.Render(" · " + safetext.Visible(part))
		}
	}
	return line
}

// model is the model in at most w cells.
func (h header) model(w int) string {
	ic := h.styles.Icons
	frame := ansi.StringWidth(ic.Model) + ansi.StringWidth(ic.Menu) + 2
	name := safetext.Visible(orElse(h.session.Model(), "no model"))
	return h.styles.Header.Model.Render(ic.Model + " " + textwidth.Truncate(name, max(0, w-frame), ic.Ellipsis) + " " + ic.Menu)
}

func (h header) right() []headerPart {
	st, ic := h.styles.Header, h.styles.Icons
	right := []headerPart{{h.model(h.width), onPickers((*pickers).openModels)}}
	if n := inEffect(h.session.Checkpoints()); n > 0 {
		right = append(right, headerPart{st.Text.Render(fmt.Sprintf("%s %d %s", ic.Checkpoint, n, ic.Menu)), (*Model).openCheckpoints})
	}
	counter := st.Count
	if h.near {
		counter = st.Unsaved // a warning as well
	}
	right = append(right, headerPart{counter.Render(h.counter), (*Model).openHUD})
	if h.buttons {
		right = append(right, headerPart{st.Text.Render("[new session]"), (*Model).newSession})
	}
	switch {
	case h.running:
		right = append(right, headerPart{text: st.Lock.Render(ic.Lock + " working")})
	case h.plainChat():
	case h.pane.Status().Unsaved:
		right = append(right, headerPart{st.Unsaved.Render(ic.Unsaved + " unsaved"), (*Model).save})
	default:
		right = append(right, headerPart{text: st.Saved.Render(ic.Saved + " saved")})
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

// footer shows the mode, and the keys that work now, or the notice, or the line
// that is being written.
func (m *Model) footer(w int) string {
	f := m.styles.Footer
	left := f.Mode.Render(" " + m.mode.String() + " ")
	room := w - ansi.StringWidth(left)
	if m.overlay.Open() {
		return fill(left+f.Bar.Render(" ")+f.Text.Render(m.overlay.Hints()), w, f.Bar)
	}
	if line, ok := m.footerLine(room); ok {
		return fill(left+line, w, f.Bar)
	}
	if m.notice.text == "" {
		return fill(left+m.keyHints(room), w, f.Bar)
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

// keyHints are the keys that work now, the most useful first.
func (m *Model) keyHints(w int) string {
	hints := m.hints()
	line, _ := m.hintLine(hints, w)
	return line
}

// hints are the keys that work now with what they do: those of a text line of
// the pane that has the focus, else those of the mode.
func (m *Model) hints() []footerHint {
	var hints []footerHint
	if h, ok := m.pane.(pane.Hinter); ok && m.mode == modePane {
		for _, hint := range h.Hints() {
			hints = append(hints, footerHint{Hint: hint})
		}
	}
	if len(hints) > 0 {
		return hints
	}
	actions := m.keys.inMode(m.mode)
	slices.SortStableFunc(actions, func(a, b *action) int { return a.footer - b.footer })
	for _, a := range actions {
		if a.footer == 0 || a.name == "save" && (m.turn.running || !m.pane.Status().Unsaved) {
			continue
		}
		hints = append(hints, footerHint{pane.Hint{Key: m.shownKeys(m.mode, a)[0], Text: m.hintText(a)}, a.do})
	}
	return hints
}

// footerHint is a key with what it does, by a click as well.
type footerHint struct {
	pane.Hint
	do func(*Model) tea.Cmd // nil: nothing
}

// hintLine shows as many hints as fit into w cells: the first ones, and the
// last, which is the way to all others.
func (m *Model) hintLine(hints []footerHint, w int) (line string, shown []footerHint) {
	f := m.styles.Footer
	hints = slices.Clone(hints)
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
		parts, hints = slices.Delete(parts, at, at+1), slices.Delete(hints, at, at+1)
	}
	if sum > w {
		return "", nil
	}
	return strings.Join(parts, ""), hints
}

// hintAt is what a click on a column of the footer does; nil is nothing.
func (m *Model) hintAt(x int) func(*Model) tea.Cmd {
	if _, typing := m.activeLine(); typing != "" || m.overlay.Open() || m.notice.text != "" {
		return nil
	}
	x -= ansi.StringWidth(m.mode.String()) + 2
	_, shown := m.hintLine(m.hints(), m.width-ansi.StringWidth(m.mode.String())-2)
	for i, h := range shown {
		w := ansi.StringWidth(h.Key+h.Text) + 2
		if i > 0 {
			w += 2 // the dot before it
		}
		if x < w {
			return h.do
		}
		x -= w
	}
	return nil
}

// hintText is an action in a word or two, as it works now.
func (m *Model) hintText(a *action) string {
	switch {
	case a.name == "send" && m.turn.running:
		return "queue"
	case a.name == "send":
		return "send"
	case a.name == "escape" && m.input.completing():
		return "close"
	case a.name == "next-region" && m.input.completing():
		return "take"
	case a.name == "next-region":
		return strings.ToLower(m.neighbour(1).String())
	case a.name == "escape" && m.turn.running:
		return "cancel"
	case a.name == "escape" && m.mode == modeInput && !m.input.draft.Empty():
		return "clear"
	case a.name == "escape" && m.mode == modeView:
		return "filter"
	case a.name == "escape":
		return "view"
	}
	return orElse(a.hint, a.help)
}

// footerLine is the text line that has the focus, drawn in the footer. What is
// wrong with the filter line stands above it.
func (m *Model) footerLine(w int) (string, bool) {
	f := m.styles.Footer
	t, label := m.activeLine()
	if t == nil {
		return "", false
	}
	room, hint := t.room(label, w)
	body := t.view(room, func(wrong string) string { return f.Bad.Underline(true).Render(wrong) })
	line := f.Key.Render(label) + f.Text.Render(body+strings.Repeat(" ", max(0, room-ansi.StringWidth(body))))
	return textwidth.Truncate(line+f.Bar.Render(" ")+f.Notice.Render(hint), w, "…"), true
}

// activeLine is the text line in the footer that has the focus.
func (m *Model) activeLine() (*textLine, string) {
	switch {
	case m.mode == modeCommand:
		return &m.command.line, " : "
	case m.mode == modeView && m.conv.search.active:
		return &m.conv.search, " / "
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
	room, _ := t.room("", m.width-left)
	_, at := t.Scroll(room)
	return min(left+at, m.width-1), true
}
