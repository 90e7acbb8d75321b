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

// The first pause between attempts, and the longest. The pause doubles after each attempt.
const (
	firstPause   = 5 * time.Second
	longestPause = time.Minute
)

// maxReason is the maximum width of a reason in the footer, in cells.
const maxReason = 100

// unsentMessage is a message that could not be stored and was therefore not sent; it will
// be sent again. After creates an unsentMessage from the error of an attempt, Tick counts
// down its pause, and Line describes it in the footer. It is used only for a
// *history.StorageError, because the disk or the server may become available again. A
// Prompt keeps its ID, so that a prompt is stored only once even if its first commit was
// not acknowledged.
type unsentMessage struct {
	Prompt  assistant.Prompt
	Typed   string // the message as shown in the box
	Session string // the session to which it is sent

	why   string
	pause time.Duration // pause before the next attempt
	left  time.Duration // time left until the next attempt
}

// After returns m with the pause before the next attempt; err is why the last attempt
// failed. before is the result of After for the previous attempt; nil if there was none.
// After returns nil if another attempt would not help, or if the user did not type m.
func (m unsentMessage) After(err error, before *unsentMessage) *unsentMessage {
	var storage *history.StorageError
	if m.Typed == "" || !errors.As(err, &storage) {
		return nil
	}
	m.why, m.pause = string("history: "+safetext.Line(storage.Reason, maxReason)), firstPause
	if before != nil {
		m.pause = min(2*before.pause, longestPause)
	}
	m.left = m.pause
	return &m
}

// Tick must be called once for each second of the pause. It reports whether the pause is
// over.
func (m *unsentMessage) Tick() (due bool) {
	m.left -= time.Second
	return m.left <= 0
}

// Line says why the message was not sent and when it will be sent again. It ends with stops,
// a clause that names the key that stops the attempts.
func (m *unsentMessage) Line(stops string) string {
	return fmt.Sprintf("%s · trying again in %d s%s", m.why, m.left/time.Second, stops)
}

// countDown waits until the message is due to be sent again; the footer is redrawn each
// second.
func (m *Model) countDown(r *unsentMessage) tea.Cmd {
	return tick(time.Second, secondPassedMsg{r})
}

func (m *Model) onSecondPassed(msg secondPassedMsg) tea.Cmd {
	switch {
	case m.resend != msg.resend || m.turn.running: // the attempts were stopped, or the user sent the message
		return nil
	case msg.resend.Tick():
		return m.sendAgain()
	}
	return m.countDown(msg.resend)
}

// sendAgain sends the message that could not be stored. The message leaves the box once it
// is stored.
func (m *Model) sendAgain() tea.Cmd {
	r := m.resend
	if m.turn.running {
		return nil // the message is being sent
	}
	begun, err := m.commands.Begin(r.Prompt)
	if err != nil {
		m.resend = nil
		return m.fail(err)
	}
	return m.startTurn(begun)
}

// checkResend stops the attempts if the text in the box or the session has changed.
func (m *Model) checkResend() {
	if r := m.resend; r != nil && (m.input.draft.Text() != r.Typed || m.parts.shownSession() != r.Session) {
		m.stopResend()
	}
}

// stopResend stops the attempts and leaves the message in the box, where the user can send
// it.
func (m *Model) stopResend() tea.Cmd {
	m.resend = nil
	if m.turn.running {
		return m.cancel()
	}
	return m.info("not sent; your message stays in the box" + m.hint(" · %s sends it", keymap.Send))
}
