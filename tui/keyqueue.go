package tui

import (
	"slices"

	tea "charm.land/bubbletea/v2"
)

// keyQueue holds what the user does faster than what it is for: while a change
// of rules, pairs or marks runs, keys of VIEW and PANE wait and find its result;
// until the session is there, keys that need it wait. What comes after a key that
// waits, waits behind it. Typing into the box never waits.
type keyQueue struct {
	changes int       // that run
	waiting []tea.Msg // keys, pastes and the mouse, in order
}

// change runs a command that later keys wait for.
func (s *shared) change(cmd tea.Cmd) tea.Cmd {
	if cmd == nil {
		return nil
	}
	s.queue.changes++
	return func() tea.Msg { return changeDoneMsg{cmd()} }
}

// mustWait says whether a key would find what is being changed, or would need
// what is not there yet.
func (m *Model) mustWait(msg tea.Msg) bool {
	k, isKey := msg.(tea.KeyPressMsg)
	if !m.ready && isKey {
		a := m.keys.find(m.mode, keyName(k))
		return a != nil && (a.needsSession() || a.name == "escape" && m.mode == modeView)
	}
	return isKey && m.queue.changes > 0 && (m.mode == modeView || m.mode == modePane) && !m.overlay.Open()
}

// needsSession says whether an action needs more than the box and the frame.
func (a *action) needsSession() bool {
	return !slices.Contains([]string{"send", "newline", "escape", "undo-typing", "next-region", "previous-region", "enter", "input", "cancel", "quit"}, a.name)
}

// enqueue lets a message wait behind the others; false when it may act now. A key
// that cancels or leaves waits for nothing, and the others are dropped for it.
func (m *Model) enqueue(msg tea.Msg) bool {
	if k, ok := msg.(tea.KeyPressMsg); ok {
		a := m.keys.find(m.mode, keyName(k))
		if a != nil && (a.name == "cancel" || a.name == "quit" || a.name == "escape" && m.turn.running) {
			m.queue.waiting = nil
			return false
		}
	}
	if len(m.queue.waiting) == 0 && !m.mustWait(msg) {
		return false
	}
	m.queue.waiting = append(m.queue.waiting, msg)
	return true
}

// flushKeys gives what waited its turn, as far as nothing holds it.
func (m *Model) flushKeys() tea.Cmd {
	var cmds []tea.Cmd
	for len(m.queue.waiting) > 0 && !m.mustWait(m.queue.waiting[0]) {
		msg := m.queue.waiting[0]
		m.queue.waiting = m.queue.waiting[1:]
		switch msg := msg.(type) {
		case tea.KeyPressMsg:
			cmds = append(cmds, m.actOnKey(msg))
		case tea.PasteMsg:
			cmds = append(cmds, m.paste(msg.Content))
		case tea.MouseMsg:
			cmds = append(cmds, m.pointAt(msg))
		}
		m.fitInput()
		if h := m.layout.input.Dy() - inputFrame; h > 0 {
			m.input.draft.View(h) // it scrolls as it is drawn, which it is after each message otherwise
		}
	}
	return tea.Batch(cmds...)
}

// onChangeDone passes the answer of a change on, and then the keys that waited.
func (m *Model) onChangeDone(msg changeDoneMsg) tea.Cmd {
	m.queue.changes--
	_, cmd := m.Update(msg.answer)
	return tea.Batch(cmd, m.flushKeys())
}
