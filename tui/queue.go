package tui

import (
	"cmp"
	"errors"
	"strings"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	"winnow/assistant/safetext"
	"winnow/tui/keymap"
	"winnow/tui/overlay"
	"winnow/tui/style"
	"winnow/tui/usecase"
)

// enqueueMessage queues the message in the box until the response is complete, together
// with any message that is already queued. The card of the message appears once the message
// is stored. If the turn has ended in the meantime, the message is sent.
func (m *Model) enqueueMessage(p assistant.Prompt) tea.Cmd {
	typed := m.input.draft.Reset()
	m.input.editing = 0
	if p.Typed = typed; typed == p.Text {
		p.Typed = ""
	}
	return m.acts.add(func(request int64) tea.Cmd { return m.commands.Queue(request, p) })
}

// onQueued ends queueing a message; the card of a queued message arrives in the log. A
// message that was queued too late is sent.
func (m *Model) onQueued(o usecase.MessageQueued) tea.Cmd {
	typed := cmp.Or(o.Prompt.Typed, o.Prompt.Text)
	switch {
	case errors.Is(o.Err, assistant.ErrNotBusy):
		cmd, ok := m.begin(o.Prompt, typed)
		if !ok {
			m.input.giveBackUnsent(typed)
		}
		return tea.Batch(cmd, m.carryOut(m.input.storeDraft()))
	case o.Err != nil:
		m.input.giveBackUnsent(typed)
		return m.fail(o.Err)
	}
	if o.Joined {
		m.notice.Info("added to the queued message: both are sent together" + m.hint(" · %s edits it", keymap.Queued))
	}
	return m.carryOut(m.input.storeDraft())
}

// dequeue removes the queued message and returns it, with the text that the user typed; ok is
// false if no message is queued.
func (m *Model) dequeue() (p assistant.Prompt, typed string, ok bool) {
	p, ok = m.commands.Dequeue()
	m.turn.sendNow = false
	return p, cmp.Or(p.Typed, p.Text), ok
}

// sendQueuedNext sends the queued message if it is due. A rejected message returns to the
// box, or can be recalled if the box is not empty.
func (m *Model) sendQueuedNext(due bool) tea.Cmd {
	if !due {
		return nil
	}
	p, typed, ok := m.dequeue()
	if !ok {
		return nil
	}
	cmd, sent := m.begin(p, typed)
	if !sent {
		m.input.giveBackUnsent(typed)
	}
	return cmd
}

// openQueued shows the whole queued message; the user can edit it, send it now or drop it.
func (m *Model) openQueued() tea.Cmd {
	text := m.parts.queuedText()
	if text == "" {
		return m.info("no message is queued")
	}
	var title safetext.Text = "Queued: sent after this response"
	if m.parts.Turn.QueuePaused {
		title = "Queued: waiting for you"
	}
	return m.question(overlay.Queued, title, safetext.Lines(text, safetext.Clean), "", func(answer keymap.Action) tea.Cmd {
		switch {
		case answer == "":
			return nil
		case answer == keymap.AnswerSend && m.turn.running:
			m.turn.sendNow = true
			return m.cancel()
		case answer == keymap.AnswerSend:
			return m.sendQueuedNext(true)
		}
		_, typed, ok := m.dequeue()
		switch {
		case !ok:
			return nil // the message has been sent in the meantime
		case answer == keymap.AnswerDiscard:
			return m.dropQueued(typed)
		}
		m.commands.EndReAsk()
		m.input.draft.Set(typed) // undo restores the previous text of the box
		m.setMode(keymap.Input)
		return m.carryOut(m.input.draftChanged())
	}, says(keymap.AnswerEdit, "edit"), says(keymap.AnswerSend, "send now"), says(keymap.AnswerDiscard, "drop"))
}

// dropQueued drops the queued message; it can be recalled like a sent message.
func (m *Model) dropQueued(typed string) tea.Cmd {
	m.input.draft.AddSent(typed)
	m.notice.Info("the queued message is dropped" + m.hint(" · %s in an empty box brings it back", keymap.OlderMessage))
	return m.commands.ForgetQueued(m.acts.query(), typed)
}

// queuedCard returns the queued message as the last line of the conversation; "" if no message
// is queued. If the screen is too narrow for both, the key is left out and the text is cut.
func (m *Model) queuedCard(w int) string {
	text := m.parts.queuedText()
	if text == "" {
		return ""
	}
	text = string("queued: " + oneLine(strings.ReplaceAll(text, "\n\n", " · ")))
	key := m.hint("  %s edit, send, drop", keymap.Queued)
	if room := w - queuedFrame - style.Width(string(key)); room < min(style.Width(text), w/3) {
		key = ""
	}
	text = style.Truncate(text, max(0, w-queuedFrame-style.Width(string(key))), m.styles.Icons.Ellipsis)
	return style.Fit("  "+m.styles.Chat.User.Render(text)+m.styles.Chat.Time.Render(string(key)), w, "")
}
