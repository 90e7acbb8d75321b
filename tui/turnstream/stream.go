// Package turnstream turns the events of a turn into messages of Bubble Tea.
//
// # Types
//
// A Stream reads the events of one turn, one message at a time: each message is followed
// by the next Wait. Neighbouring pieces of text, or of reasoning, within a frame become
// one Chunk; every other event is an Arrived of its own and is never held back.
//
// # Who may call what from where
//
// Wait is a tea.Cmd: it blocks, and only one Wait of a Stream runs at a time. What a
// Stream has in its exported fields does not change.
package turnstream

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
)

// Stream reads the events of a turn. Make it with New.
type Stream struct {
	Turn   int // the number that New was given
	events <-chan assistant.Event
	next   assistant.Event // read already, the first of the next message; nil is none
	drawn  time.Time       // when the last Chunk was returned
}

type (
	// Chunk is a piece of text or reasoning.
	Chunk struct {
		Stream  *Stream
		Text    string
		Thought bool
	}
	// Arrived is any other event.
	Arrived struct {
		Stream *Stream
		Event  assistant.Event
	}
	// Idle comes when there was no event for an AnimationFrame.
	Idle struct{ Stream *Stream }
)

const (
	// AnimationFrame is how long what is animated stays the same: eight frames a second
	// look alive.
	AnimationFrame = 125 * time.Millisecond
	// TextFrame is the least time between two pieces of text: faster than anyone reads. It
	// is shorter than the pause between two reads of a connection: what is read is shown at
	// once.
	TextFrame = 32 * time.Millisecond
)

// New returns the stream of a turn with its number.
func New(turn int, events <-chan assistant.Event) *Stream {
	return &Stream{Turn: turn, events: events}
}

// Wait blocks for the next message; nil when the turn is closed.
func (s *Stream) Wait() tea.Msg {
	for {
		e := s.next
		s.next = nil
		if e == nil {
			var open bool
			select {
			case e, open = <-s.events:
			case <-time.After(AnimationFrame):
				return Idle{s}
			}
			if !open {
				return nil
			}
		}
		switch text, thought, isChunk := chunkOf(e); {
		case !isChunk:
			return Arrived{s, e}
		case text != "":
			return s.gather(text, thought)
		}
	}
}

// gather joins the pieces that follow a chunk within the frame.
func (s *Stream) gather(text string, thought bool) tea.Msg {
	chunk := []byte(text)
	defer func() { s.drawn = time.Now() }()
	frame := time.NewTimer(TextFrame - time.Since(s.drawn))
	defer frame.Stop()
	for {
		select {
		case e := <-s.events: // nil when the turn is closed
			more, thinks, isChunk := chunkOf(e)
			if !isChunk || thinks != thought {
				s.next = e // when the turn is closed, e is nil and the next wait reads again
				return Chunk{s, string(chunk), thought}
			}
			chunk = append(chunk, more...)
		case <-frame.C:
			return Chunk{s, string(chunk), thought}
		}
	}
}

// chunkOf is the piece of text or reasoning that an event is.
func chunkOf(e assistant.Event) (text string, thought, isChunk bool) {
	switch e := e.(type) {
	case assistant.TextDelta:
		return e.Text, false, true
	case assistant.ReasoningDelta:
		return e.Text, true, true
	default:
		return "", false, false
	}
}
