package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
)

// eventStream turns the events of a turn into messages, one at a time: each is followed by the
// next wait. Neighbouring pieces of text, or of reasoning, within a frame become one message;
// every other event is a message of its own and is never held back.
type eventStream struct {
	turn   int // counts turns
	events <-chan assistant.Event
	next   assistant.Event // read already, the first of the next message; nil is none
	drawn  time.Time       // when the last chunk was returned
}

type (
	// chunkStreamedMsg is a piece of text or reasoning.
	chunkStreamedMsg struct {
		stream  *eventStream
		text    string
		thought bool
	}
	// eventArrivedMsg is any other event.
	eventArrivedMsg struct {
		stream *eventStream
		event  assistant.Event
	}
	// animationDueMsg comes when there was no event for an animation frame.
	animationDueMsg struct{ stream *eventStream }
)

// streamFrame is the least time between two pieces of text: faster than anyone reads. It is
// shorter than the pause between two reads of a connection: what is read is shown at once.
const streamFrame = 32 * time.Millisecond

// wait blocks for the next message; nil when the turn is closed. Only one wait
// runs at a time.
func (s *eventStream) wait() tea.Msg {
	for {
		e := s.next
		s.next = nil
		if e == nil {
			var open bool
			select {
			case e, open = <-s.events:
			case <-time.After(spinnerFrame):
				return animationDueMsg{s}
			}
			if !open {
				return nil
			}
		}
		switch text, thought, isChunk := chunkOf(e); {
		case !isChunk:
			return eventArrivedMsg{s, e}
		case text != "":
			return s.gather(text, thought)
		}
	}
}

// gather joins the pieces that follow a chunk within the frame.
func (s *eventStream) gather(text string, thought bool) tea.Msg {
	chunk := []byte(text)
	defer func() { s.drawn = time.Now() }()
	frame := time.NewTimer(streamFrame - time.Since(s.drawn))
	defer frame.Stop()
	for {
		select {
		case e := <-s.events: // nil when the turn is closed
			more, thinks, isChunk := chunkOf(e)
			if !isChunk || thinks != thought {
				s.next = e // when the turn is closed, e is nil and the next wait reads again
				return chunkStreamedMsg{s, string(chunk), thought}
			}
			chunk = append(chunk, more...)
		case <-frame.C:
			return chunkStreamedMsg{s, string(chunk), thought}
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
