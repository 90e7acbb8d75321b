package tui

import (
	"cmp"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"winnow/assistant/safetext"
	"winnow/tui/connectcard"
	"winnow/tui/keymap"
	"winnow/tui/overlay"
	"winnow/tui/pane"
	"winnow/tui/status"
	"winnow/tui/style"
)

// header returns the parts of the header: the title, the window, the provider, the model, the
// checkpoints, the context, and whether the window is unsaved or locked. Before the session
// is open, it returns only the program's name.
func (m *Model) header() []status.BarPart {
	if !m.ready {
		return m.bar.Header(status.Header{}, m.width)
	}
	window, others := m.pane.Status(), m.parts.others()
	at := m.conv.boundary.Boundary
	h := status.Header{
		Ready: true, Title: m.about.Title, Window: window.Title, Provider: window.Subtitle, Model: m.parts.modelID(), Checkpoints: m.parts.Checkpoints.Changes(m.parts.shownSession()),
		Counter: m.conv.boundary.Counter, NearLimit: at.NearLimit(), Share: status.Share(at), Others: others.CountText(), Mouse: m.opts.Mouse,
		Saved: m.wasUnsaved && !m.plainChat(), Unsaved: window.Unsaved,
	}
	if h.Counter == "0/0" && m.conv.welcomes(m.parts.filterLine()) {
		h.Counter = "" // there is nothing to count yet
	}
	if m.plainChat() {
		h.Unsaved = 0
	}
	if connectcard.Useful(m.opts.Connect, h.Model) {
		h.Share = "" // built-in rules have no context that fills up
	}
	switch {
	case m.turn.running:
		h.Locked = "working"
	case others.Holder != "":
		h.Locked = others.Badge(m.width)
	case m.parts.readOnly() != nil:
		h.Locked = "read only"
	}
	return m.bar.Header(h, m.width)
}

// footer returns the mode, followed by the first of these: the keys of the overlay, the text
// line, the question about enter, the notice, the countdown to sending a message again, the
// keys that work now.
func (m *Model) footer() []status.BarPart {
	f := m.styles.Footer
	left := status.BarPart{Text: f.Mode.Render(" " + m.mode.String() + " ")}
	room := m.width - m.widths.Width(left.Text)
	t, label := m.activeLine()
	switch {
	case m.overlay.Open():
		return []status.BarPart{left, {Text: f.Bar.Render(" ") + f.Text.Render(overlay.FitHints(m.overlay.Hints(), room-1))}}
	case t != nil:
		return []status.BarPart{left, {Text: m.drawLine(t, label, room)}}
	case m.enterQuestion.open:
		return []status.BarPart{left, m.enterFooter(room)}
	case m.notice.Text == "" && m.resend != nil && !m.turn.running:
		return []status.BarPart{left, {Text: f.Bar.Render(" ") + f.Bad.Render(m.resend.Line(string(m.hint(" · %s stops", keymap.Escape))))}}
	case m.notice.Text == "":
		return append([]status.BarPart{left}, m.bar.Hints(m.hints(), room)...)
	}
	tone := f.Notice
	if m.notice.Failed {
		tone = f.Bad
	}
	text := status.FitNotice(string(safetext.Visible(m.notice.Text)), room-2, m.styles.Icons.Ellipsis, string(m.hint("%s shows all", keymap.Notices)))
	return []status.BarPart{left, {Text: f.Bar.Render(" ") + tone.Render(text)}}
}

// hints returns the keys that work now, most useful first: the keys with a special meaning in
// the focused pane, the keys of the completion list, or else the keys of the mode.
func (m *Model) hints() (hints []status.KeyHint) {
	if h, ok := m.pane.(pane.Hinter); ok && m.mode == keymap.Pane {
		for _, hint := range h.Hints() {
			hints = append(hints, status.KeyHint{Key: hint.Key, Text: hint.Text})
		}
	}
	switch {
	case len(hints) > 0:
		return hints
	case m.input.completing():
		return m.listHints()
	}
	window, actions, messages := m.pane.Status(), m.keys.In(m.mode), m.conv.chat.Len() > 0
	useful := map[keymap.Action]bool{ // actions not listed here are always useful
		keymap.Save: !m.turn.running && window.Unsaved > 0, keymap.DeleteRule: window.DeleteHint != "",
		keymap.Connect: connectcard.Useful(m.opts.Connect, m.parts.modelID()),
		keymap.Escape:  m.mode != keymap.View || m.turn.running || m.applying != 0, keymap.Filter: m.mode == keymap.View && !m.turn.running,
		keymap.Fold: m.conv.chat.Folds(), keymap.NextItem: messages, keymap.CopyAnswer: messages, keymap.Search: messages, keymap.JumpToBoundary: messages,
	}
	slices.SortStableFunc(actions, func(a, b *keymap.Row) int { return a.Footer - b.Footer })
	for _, a := range actions {
		use, listed := useful[a.Name]
		if a.Footer == 0 || listed && !use {
			continue
		}
		hint := status.KeyHint{Key: m.keys.Key(m.mode, a.Name), Text: m.hintText(a), Action: a.Name}
		same := func(earlier status.KeyHint) bool { return earlier.Text == hint.Text }
		if a.Name == keymap.NextRegion && (slices.ContainsFunc(hints, same) || m.mode == keymap.Input && m.neighbour(1) == keymap.View) { // escape goes to that region too
			hint = status.KeyHint{Key: m.key(keymap.PreviousRegion), Text: regionName(m.neighbour(-1)), Action: keymap.PreviousRegion}
		}
		if hint.Key != "" && !slices.ContainsFunc(hints, same) {
			hints = append(hints, hint)
		}
	}
	return hints
}

// regionName returns the name of a region for the footer.
func regionName(in keymap.Mode) string { return strings.ToLower(in.String()) }

// listHints returns the keys of the completion list above the box.
func (m *Model) listHints() []status.KeyHint {
	enter := m.key(keymap.Newline)
	if m.opts.EnterSends {
		enter = m.key(keymap.Send)
	}
	take, rest := m.key(keymap.NextRegion), []status.KeyHint{{Key: m.key(keymap.Escape), Text: "closes"}}
	switch {
	case m.input.acceptsCommand():
		take = enter
	case m.sendHint() == "run":
		rest = append([]status.KeyHint{{Key: enter, Text: "runs"}}, rest...)
	}
	return append([]status.KeyHint{{Key: take, Text: "accepts"}, {Key: "↑ ↓", Text: "choose"}}, rest...)
}

// hintText describes what an action does now, in a word or two.
func (m *Model) hintText(a *keymap.Row) string {
	_, chooses := m.conv.chat.Choice()
	switch {
	case a.Name == keymap.Send && m.input.editing != 0 && !m.turn.running:
		return "ask again"
	case a.Name == keymap.Send:
		return m.sendHint()
	case a.Name == keymap.NextRegion:
		return regionName(m.neighbour(1))
	case a.Name == keymap.DeleteRule:
		return m.pane.Status().DeleteHint
	case a.Name == keymap.Enter && chooses:
		return "choose"
	case a.Name != keymap.Escape:
		return cmp.Or(a.Hint, a.Help)
	case m.turn.running, m.applying != 0:
		return "cancel"
	case m.mode == keymap.Input && m.input.editing != 0:
		return "leave the edit"
	case m.mode == keymap.Input && !m.input.draft.Empty():
		return "clear"
	case m.searchesPane():
		return "end the search"
	}
	return "view"
}

// activeLine returns the focused text line in the footer and its label; nil if there is
// none.
func (m *Model) activeLine() (*status.InputLine, string) {
	switch {
	case m.mode == keymap.Command:
		return &m.command.line, " : "
	case m.mode == keymap.View && m.conv.search.Active:
		return &m.conv.search, " / "
	}
	return nil, ""
}

// drawLine draws a text line in w cells.
func (m *Model) drawLine(t *status.InputLine, label string, w int) string {
	f := m.styles.Footer
	room, hint := t.Room(label, w)
	body := t.Draw(room, func(wrong string) string { return f.Bad.With(ansi.AttrUnderline).Render(wrong) })
	line := f.Key.Render(label) + f.Text.Render(body+strings.Repeat(" ", max(0, room-style.Width(body))))
	return style.Truncate(line+f.Bar.Render(" ")+f.Notice.Render(hint), w, "…")
}

// lineCursor returns the column of the cursor in the footer; false if no text line has the
// focus.
func (m *Model) lineCursor() (int, bool) {
	t, label := m.activeLine()
	if t == nil {
		return 0, false
	}
	left := style.Width(m.mode.String()) + 2 + style.Width(label)
	room, _ := t.Room("", m.width-left)
	_, at := t.Scroll(room)
	return min(left+at, m.width-1), true
}
