package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"winnow/tui/keymap"
	"winnow/tui/resend"
)

// countDown waits until a message is to be sent again; the footer is drawn each second.
func (m *Model) countDown(r *resend.Message) tea.Cmd {
	return tick(time.Second, secondPassedMsg{r})
}

func (m *Model) onSecondPassed(msg secondPassedMsg) tea.Cmd {
	switch {
	case m.resend != msg.resend || m.turn.running: // it was stopped, or sent by hand
		return nil
	case msg.resend.Tick():
		return m.sendAgain()
	}
	return m.countDown(msg.resend)
}

// sendAgain sends the message that could not be stored; it leaves the box when it is.
func (m *Model) sendAgain() tea.Cmd {
	r := m.resend
	if m.turn.running {
		return nil // it is being sent
	}
	begun, err := m.commands.Begin(r.Prompt)
	if err != nil {
		m.resend = nil
		return m.fail(err)
	}
	m.startTurn(begun)
	return nil
}

// checkResend stops sending again when the text in the box is another, or the session.
func (m *Model) checkResend() {
	if r := m.resend; r != nil && (m.input.draft.Text() != r.Typed || m.parts.shownSession() != r.Session) {
		m.stopResend()
	}
}

// stopResend leaves the message in the box, to be sent by hand.
func (m *Model) stopResend() tea.Cmd {
	m.resend = nil
	if m.turn.running {
		return m.cancel()
	}
	return m.info("not sent; your message stays in the box" + m.hint(" · %s sends it", keymap.Send))
}
