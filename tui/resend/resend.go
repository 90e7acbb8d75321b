// Package resend decides when a message that could not be stored, and so was not sent, is
// sent again.
//
// # Types
//
// Message is such a message between two attempts. After makes one from the error of an
// attempt, Tick counts its pause down, Line says it for the footer.
//
// # Who may call what from where
//
// A Message belongs to the update loop of its screen.
//
// # Caveats
//
// Only a *history.StorageError is waited for: the disk or the server may come back. A
// Prompt keeps its ID, so that one whose commit was not acknowledged is stored once.
package resend

import (
	"errors"
	"fmt"
	"time"

	"winnow/assistant"
	"winnow/assistant/history"
	"winnow/assistant/safetext"
)

// The pauses between attempts: the first, which then doubles, and the longest.
const (
	firstPause   = 5 * time.Second
	longestPause = time.Minute
)

// maxReason is the length of a reason in the footer, in cells.
const maxReason = 100

// Message is a message that is to be sent again.
type Message struct {
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
func (m Message) After(err error, before *Message) *Message {
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
func (m *Message) Tick() (due bool) {
	m.left -= time.Second
	return m.left <= 0
}

// Line is why the message was not sent, and when it is tried again; stops is a clause that
// follows and names the key that ends the attempts.
func (m *Message) Line(stops string) string {
	return fmt.Sprintf("%s · trying again in %d s%s", m.why, m.left/time.Second, stops)
}
