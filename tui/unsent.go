package tui

import (
	"errors"
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	"winnow/assistant/history"
	"winnow/assistant/safetext"
	"winnow/tui/keymap"
)

// The pauses between attempts: the first, which then doubles, and the longest.
const (
	firstPause   = 5 * time.Second
	longestPause = time.Minute
)

// maxReason is the length of a reason in the footer, in cells.
const maxReason = 100

// unsentMessage is a message that could not be stored, and so was not sent, and is to be
// sent again. After makes one from the error of an attempt, Tick counts its pause down, Line
// says it for the footer. Only a *history.StorageError is waited for: the disk or the server
// may come back. A Prompt keeps its ID, so that one whose commit was not acknowledged is
// stored once.
type unsentMessage struct {
	Prompt  assistant.Prompt
	Typed   string // as it stands in the box
	Session string // to which it is sent

	why   string
	pause time.Duration // before the next attempt
	left  time.Duration // of pause
}

// After is m, which err kept from being sent, with the pause before the next attempt. before
// is what After returned for the previous attempt; nil before the second. After is nil when
// trying again does not help, or m was not typed.
func (m unsentMessage) After(err error, before *unsentMessage) *unsentMessage {
	var storage *history.StorageError
	if m.Typed == "" || !errors.As(err, &storage) {
		return nil
	}
	m.why, m.pause = "history: "+safetext.Line(storage.Reason, maxReason), firstPause
	if before != nil {
		m.pause = min(2*before.pause, longestPause)
	}
	m.left = m.pause
	return &m
}

// Tick is called each second of the pause, and reports whether it is over.
func (m *unsentMessage) Tick() (due bool) {
	m.left -= time.Second
	return m.left <= 0
}

// Line is why the message was not sent, and when it is tried again; stops is a clause that
// follows and names the key that ends the attempts.
func (m *unsentMessage) Line(stops string) string {
	return fmt.Sprintf("%s · trying again in %d s%s", m.why, m.left/time.Second, stops)
}

// countDown waits until a message is to be sent again; the footer is drawn each second.
func (m *Model) countDown(r *unsentMessage) tea.Cmd {
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
