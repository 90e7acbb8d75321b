package tui

import (
	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	"winnow/tui/composer"
	"winnow/tui/keymap"
)

// outgoing is a message that has left the box and waits for its files, the session, or an
// earlier outgoing message. The user can already write the next message.
type outgoing struct {
	typed  string // the text as it was in the box
	prompt assistant.Prompt
	err    error // why a file could not be read
	read   bool  // the files have been read
}

// post moves the message from the box to the outbox and reads its files.
func (m *Model) post(p assistant.Prompt, names []string) tea.Cmd {
	o := &outgoing{typed: m.input.draft.Reset(), prompt: p, read: len(names) == 0}
	m.input.outbox = append(m.input.outbox, o)
	switch {
	case !m.ready:
		m.notice.Info("your message will be sent once the session is loaded")
	case o.read:
		m.notice.Info("your message will be sent after the previous one")
	default:
		m.notice.Info("your message will be sent once its files are read")
	}
	if o.read {
		return nil
	}
	return func() tea.Msg {
		prompt, err := composer.Attach(p, names)
		return attachedMsg{o, prompt, err}
	}
}

// onAttached records that the files of a message have been read, and sends the messages
// that are ready.
func (m *Model) onAttached(msg attachedMsg) tea.Cmd {
	o := msg.of
	o.prompt, o.err, o.read = msg.prompt, msg.err, true
	return m.flushOutbox()
}

// flushOutbox sends the messages that are ready, in the order in which they left the box.
func (m *Model) flushOutbox() tea.Cmd {
	var cmds []tea.Cmd
	for m.ready && len(m.input.outbox) > 0 && m.input.outbox[0].read {
		o := m.input.outbox[0]
		m.input.outbox = m.input.outbox[1:]
		m.notice.Clear()
		cmds = append(cmds, m.sendOutgoing(o))
	}
	return tea.Batch(cmds...)
}

// sendOutgoing sends a message as if it were still in the box, and then restores what was
// written since the message left the box. A rejected message returns to the box if the box
// is empty; otherwise the user can recall it.
func (m *Model) sendOutgoing(o *outgoing) tea.Cmd {
	since := m.input.draft.Text()
	restore := m.input.draft.Exchange(o.typed)
	var cmd tea.Cmd
	if o.err != nil {
		cmd = m.fail(o.err)
	} else {
		cmd = m.dispatch(o.prompt)
	}
	if since != "" {
		refused := !m.input.draft.Empty()
		restore()
		if refused {
			m.input.draft.AddToStash(o.typed)
		}
		if refused && m.notice.Text != "" {
			m.notice.Text += m.hint(" · %s on the first line brings the message back", keymap.OlderMessage)
		}
	}
	return tea.Batch(cmd, m.carryOut(m.input.storeDraft()))
}
