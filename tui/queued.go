package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"winnow/assistant"
	"winnow/assistant/safetext"
	"winnow/tui/overlay"
	"winnow/tui/textwidth"
)

// queue keeps what is in the box until the response is whole; a message that
// waited already is replaced.
func (m *Model) queue(p assistant.Prompt) tea.Cmd {
	if err := m.session.Queue(p); err != nil {
		return m.complain(err)
	}
	var replaced tea.Cmd
	if m.queued != "" { // what it replaces was written, too
		m.draft.AddSent(m.queued)
		replaced = addSent(m.opts.History, m.queued)
	}
	m.queued, m.held = m.draft.Take(), nil
	m.reask = 0
	return tea.Batch(replaced, m.keepDraftNow())
}

// hold keeps the message that waits after a turn that was cancelled or failed:
// it stays as a card, and no turn that ends sends it. It is sent when that is
// what the turn was cancelled for.
func (m *Model) hold() tea.Cmd {
	if m.sendNow {
		return m.startQueued()
	}
	if p, ok := m.session.TakeQueued(); ok {
		m.held = &p
	}
	return nil
}

// waits says whether a message waits, for the end of the turn or for the user.
func (m *Model) waits() bool {
	_, ok := m.session.Queued()
	return ok || m.held != nil
}

// takeQueued takes the message that waits.
func (m *Model) takeQueued() (p assistant.Prompt, text string, ok bool) {
	if p, ok = m.session.TakeQueued(); !ok && m.held != nil {
		p, ok = *m.held, true
	}
	text = m.queued
	m.queued, m.held, m.sendNow = "", nil, false
	return p, text, ok
}

// next starts the message that waits for the end of a turn.
func (m *Model) next() tea.Cmd {
	if _, ok := m.session.Queued(); !ok {
		return nil
	}
	return m.startQueued()
}

// startQueued sends the message that waits. One that cannot be sent goes back
// to the input.
func (m *Model) startQueued() tea.Cmd {
	n := m.turn.n
	p, text, ok := m.takeQueued()
	if !ok {
		return nil
	}
	cmd := m.begin(p, func() string { return text })
	if m.turn.n == n {
		m.giveBack(text)
		m.fitInput()
	}
	return cmd
}

// noQueue says that nothing waits; it reports whether that is so.
func (m *Model) noQueue() bool {
	if m.waits() {
		return false
	}
	m.notice.say("no message is queued")
	return true
}

// editQueued takes the message back into the box. What is in the box comes
// back with undo.
func (m *Model) editQueued() tea.Cmd {
	if m.noQueue() {
		return nil
	}
	_, text, _ := m.takeQueued()
	m.draft.Set(text)
	m.setMode(modeInput)
	m.fitInput()
	return m.draftChanged()
}

// sendQueued sends the message without waiting for the response that runs: that
// one is cancelled first.
func (m *Model) sendQueued() tea.Cmd {
	switch {
	case m.noQueue():
		return nil
	case m.session.Busy():
		m.sendNow = true
		return m.cancel()
	}
	return m.startQueued()
}

// dropQueued forgets the message. The sent history has it, so that it can be
// called back.
func (m *Model) dropQueued() tea.Cmd {
	if m.noQueue() {
		return nil
	}
	_, text, _ := m.takeQueued()
	m.draft.AddSent(text)
	m.notice.say("the queued message is dropped · up in an empty input calls it back")
	return addSent(m.opts.History, text)
}

// openQueued shows the whole message that waits.
func (m *Model) openQueued() tea.Cmd {
	if m.noQueue() {
		return nil
	}
	title := "Queued: it is sent when this response is whole"
	if m.held != nil {
		title = "Queued: it waits for you"
	}
	q := overlay.NewQuestion(title, strings.Split(safetext.Clean(m.queued), "\n"), []overlay.Answer{
		{Key: "e", Label: "edit"}, {Key: "s", Label: "send now"}, {Key: "d", Label: "drop"},
	}, "", m.now)
	return m.open(overlay.Queued, q, func(c overlay.Chosen) tea.Cmd {
		switch c.Value {
		case "e":
			return m.editQueued()
		case "s":
			return m.sendQueued()
		case "d":
			return m.dropQueued()
		}
		return nil
	})
}

// queuedCard is the message that waits, as the last line of the conversation;
// "" is none.
func (m *Model) queuedCard(w int) string {
	if !m.waits() {
		return ""
	}
	st := m.styles.Chat
	text, keys := "queued: "+oneLine(m.queued), ""
	for _, all := range [...][][2]string{{{"edit-queued", "edit"}, {"send-queued", "send now"}, {"drop-queued", "drop"}}, {{"queued", "edit, send, drop"}}, {}} {
		if keys = m.queuedKeys(all); w-queuedFrame-ansi.StringWidth(keys) >= min(ansi.StringWidth(text), w/3) {
			break // the message is told from others by its beginning
		}
	}
	text = textwidth.Truncate(text, max(0, w-queuedFrame-ansi.StringWidth(keys)), m.styles.Icons.Ellipsis)
	card := "  " + st.User.Render(text) + keys
	return card + strings.Repeat(" ", max(0, w-ansi.StringWidth(card)))
}

// queuedFrame is the cells that stay free beside the card.
const queuedFrame = 4

// queuedKeys are the keys of actions on the message that waits, with a word each.
func (m *Model) queuedKeys(all [][2]string) string {
	st, keys := m.styles.Chat, ""
	for _, k := range all {
		if have := m.keys.keysOf(m.mode, m.keys.named(k[0])); len(have) > 0 {
			keys += "  " + st.Number.Render(have[0]) + " " + st.Time.Render(k[1])
		}
	}
	return keys
}
