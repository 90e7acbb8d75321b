package tui

import (
	"errors"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"winnow/assistant"
	"winnow/assistant/safetext"
	"winnow/tui/overlay"
	"winnow/tui/textwidth"
)

// enqueueMessage takes what is in the box to wait until the response is whole; a
// message that waited already is replaced. The card is there once it is durable.
func (m *Model) enqueueMessage(p assistant.Prompt) tea.Cmd {
	return queueMessage(m.work, p, m.input.draft.Take())
}

// onMessageStored shows the message that waits. When the turn has ended
// meanwhile it is sent.
func (m *Model) onMessageStored(msg messageStoredMsg) tea.Cmd {
	switch {
	case errors.Is(msg.err, assistant.ErrNotBusy):
		return m.begin(msg.prompt, func() string { return msg.typed })
	case msg.err != nil:
		m.input.giveBack(msg.typed)
		return m.fail(msg.err)
	}
	if m.turn.queued != "" { // what it replaces was written, too
		m.input.draft.AddSent(m.turn.queued)
	}
	m.turn.queued, m.turn.waiting = msg.typed, nil
	return m.input.storeDraft()
}

// holdQueued keeps the message that waits after a turn that was cancelled or
// failed: it stays as a card, and no turn that ends sends it. It is sent when
// that is what the turn was cancelled for.
func (m *Model) holdQueued() tea.Cmd {
	if m.turn.sendNow {
		return m.sendWaiting()
	}
	if p, ok := m.session.TakeQueued(); ok {
		m.turn.waiting = &p
	}
	return nil
}

// startNext sends the message that waits for the end of a turn.
func (m *Model) startNext() tea.Cmd {
	if _, ok := m.session.Queued(); !ok {
		return nil
	}
	return m.sendWaiting()
}

// sendWaiting sends the message that waits. One that cannot be sent goes back to
// the input.
func (m *Model) sendWaiting() tea.Cmd {
	n := m.turn.n
	p, text, ok := m.turn.takeQueued()
	if !ok {
		return nil
	}
	cmd := m.begin(p, func() string { return text })
	if m.turn.n == n {
		m.input.giveBack(text)
	}
	return cmd
}

// hasQueued says whether a message waits, for the end of the turn or for the user.
func (t *turnState) hasQueued() bool {
	_, ok := t.session.Queued()
	return ok || t.waiting != nil
}

// takeQueued takes the message that waits.
func (t *turnState) takeQueued() (p assistant.Prompt, text string, ok bool) {
	if p, ok = t.session.TakeQueued(); !ok && t.waiting != nil {
		p, ok = *t.waiting, true
	}
	text = t.queued
	t.queued, t.waiting, t.sendNow = "", nil, false
	return p, text, ok
}

// onQueued does something with the message that waits, and says so when there is
// none.
func onQueued(do func(*Model) tea.Cmd) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		if !m.turn.hasQueued() {
			return m.info("no message is queued")
		}
		return do(m)
	}
}

// editQueued takes the message back into the box. What is in the box comes back
// with undo.
func (m *Model) editQueued() tea.Cmd {
	_, text, _ := m.turn.takeQueued()
	m.work.EndReAsk()
	m.input.draft.Set(text)
	m.setMode(modeInput)
	return m.input.draftChanged()
}

// sendQueued sends the message without waiting for the response that runs: that
// one is cancelled first.
func (m *Model) sendQueued() tea.Cmd {
	if m.session.Busy() {
		m.turn.sendNow = true
		return m.cancel()
	}
	return m.sendWaiting()
}

// dropQueued removes the message. The sent history has it, so that it can be
// called back.
func (m *Model) dropQueued() tea.Cmd {
	_, text, _ := m.turn.takeQueued()
	m.input.draft.AddSent(text)
	m.notice.info("the queued message is dropped" + m.hintIn(modeInput, " · %s in an empty input calls it back", "older-message"))
	return addSent(m.work, text)
}

// openQueued shows the whole message that waits.
func (m *Model) openQueued() tea.Cmd {
	title := "Queued: it is sent when this response is whole"
	if m.turn.waiting != nil {
		title = "Queued: it waits for you"
	}
	q := overlay.NewQuestion(title, strings.Split(safetext.Clean(m.turn.queued), "\n"), []overlay.Answer{
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
func (t *turnState) queuedCard(w int) string {
	if !t.hasQueued() {
		return ""
	}
	text, keys := "queued: "+oneLine(t.queued), ""
	for _, all := range [...][][2]string{{{"edit-queued", "edit"}, {"send-queued", "send now"}, {"drop-queued", "drop"}}, {{"queued", "edit, send, drop"}}, {}} {
		if keys = t.queuedKeys(all); w-queuedFrame-ansi.StringWidth(keys) >= min(ansi.StringWidth(text), w/3) {
			break // the message is told from others by its beginning
		}
	}
	text = textwidth.Truncate(text, max(0, w-queuedFrame-ansi.StringWidth(keys)), t.styles.Icons.Ellipsis)
	return fit("  "+t.styles.Chat.User.Render(text)+keys, w, "")
}

// queuedFrame is the cells that stay free beside the card.
const queuedFrame = 4

// queuedKeys are the keys of actions on the message that waits, with a word each.
func (t *turnState) queuedKeys(all [][2]string) string {
	st, keys := t.styles.Chat, ""
	for _, k := range all {
		if key := t.key(k[0]); key != "" {
			keys += "  " + st.Number.Render(key) + " " + st.Time.Render(k[1])
		}
	}
	return keys
}
