package tui

import (
	tea "charm.land/bubbletea/v2"
)

// inOrder lets keys that come faster than the disk do what they would do one by
// one: while a change of rules, pairs or marks is being carried out, keys of
// VIEW and PANE wait, and find what it has left. Typing never waits.
type inOrder struct {
	running int               // changes that are being carried out
	keys    []tea.KeyPressMsg // that wait
}

// change has a command carried out that the keys after it wait for.
func (m *Model) change(cmd tea.Cmd) tea.Cmd {
	if cmd == nil {
		return nil
	}
	m.behind.running++
	return func() tea.Msg { return changeDoneMsg{cmd()} }
}

// mustWait says whether a key would find what is being changed.
func (m *Model) mustWait() bool {
	return m.behind.running > 0 && (m.mode == modeView || m.mode == modePane) && !m.overlay.Open()
}

// inTurn gives a key to whoever takes it, after those that wait. What cancels or
// leaves waits for nothing, and for it the others are forgotten.
func (m *Model) inTurn(k tea.KeyPressMsg) tea.Cmd {
	switch keyName(k) {
	case "esc", "ctrl+c", "ctrl+q":
		m.behind.keys = nil
		return m.typed(k)
	}
	if len(m.behind.keys) > 0 || m.mustWait() {
		m.behind.keys = append(m.behind.keys, k)
		return nil
	}
	return m.typed(k)
}

// onChangeDone takes the answer of a change, and then the keys that waited.
func (m *Model) onChangeDone(msg changeDoneMsg) tea.Cmd {
	m.behind.running--
	_, cmd := m.Update(msg.answer)
	cmds := []tea.Cmd{cmd}
	for len(m.behind.keys) > 0 && !m.mustWait() {
		k := m.behind.keys[0]
		m.behind.keys = m.behind.keys[1:]
		cmds = append(cmds, m.typed(k))
	}
	return tea.Batch(cmds...)
}
