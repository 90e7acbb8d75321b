package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
)

// eventStream turns the events of a turn into messages, one at a time: each is
// followed by the next wait. Neighbouring pieces of text, or
// of reasoning, within a frame become one message; every other event is a
// message of its own and is never held back.
type eventStream struct {
	turn   int // counts turns
	events <-chan assistant.Event
	next   assistant.Event // read already, the first of the next message; nil is none
	drawn  time.Time       // when the last chunk was returned
}

// streamFrame is how often streamed text is shown: about 30 times a second,
// faster than anyone reads and slow enough to leave the screen to the keys.
const streamFrame = 33 * time.Millisecond

// wait blocks for the next message; nil when the turn is closed. Only one wait
// runs at a time.
func (s *eventStream) wait() tea.Msg {
	for {
		e := s.next
		s.next = nil
		if e == nil {
			var open bool
			if e, open = <-s.events; !open {
				return nil
			}
		}
		if text, thought := chunkOf(e); text != "" {
			return s.gather(text, thought)
		}
		if msg := s.message(e); msg != nil {
			return msg
		}
	}
}

// gather joins the pieces that follow a chunk within the frame.
func (s *eventStream) gather(text string, thought bool) tea.Msg {
	chunk := []byte(text)
	defer func() { s.drawn = time.Now() }()
	frame := time.NewTimer(max(0, streamFrame-time.Since(s.drawn)))
	defer frame.Stop()
	for {
		select {
		case e, open := <-s.events:
			more, thinks := "", false
			if open {
				more, thinks = chunkOf(e)
			}
			if more == "" || thinks != thought {
				s.next = e // nil when the turn is closed: the next wait sees it
				return chunkStreamedMsg{turnOf{s}, string(chunk), thought}
			}
			chunk = append(chunk, more...)
		case <-frame.C:
			return chunkStreamedMsg{turnOf{s}, string(chunk), thought}
		}
	}
}

// chunkOf is the piece of text or reasoning that an event is; "" is another event.
func chunkOf(e assistant.Event) (text string, thought bool) {
	switch e := e.(type) {
	case assistant.TextDelta:
		return e.Text, false
	case assistant.ReasoningDelta:
		return e.Text, true
	default:
		return "", false
	}
}

// message gives an event its typed message; nil has nothing to show.
func (s *eventStream) message(e assistant.Event) tea.Msg {
	of := turnOf{s}
	switch e := e.(type) {
	case assistant.TurnStarted:
		return turnStartedMsg{of, e.Seq}
	case assistant.PayloadFound:
		return payloadFoundMsg{of, e}
	case assistant.ToolStart, assistant.ToolProgress, assistant.ToolComplete:
		return toolCalledMsg{of, e}
	case assistant.ContextTrimmed:
		return contextTrimmedMsg{of, e}
	case assistant.Retrying:
		return requestRetriedMsg{of, e}
	case assistant.Status:
		return statusChangedMsg{of, e.Message}
	case assistant.CheckpointCreated:
		return checkpointMadeMsg{of}
	case assistant.ConfirmRequest:
		return answerWantedMsg{of, e}
	case assistant.Complete, assistant.Error, assistant.Cancelled:
		return turnEndedMsg{of, e}
	case assistant.Queued, assistant.TextDelta, assistant.ReasoningDelta: // without text
	}
	return nil
}

// turnMsg is a message of a turn.
type turnMsg interface{ of() *eventStream }

// turnOf says which turn a message belongs to.
type turnOf struct{ stream *eventStream }

func (t turnOf) of() *eventStream { return t.stream }

// The messages of a turn, one for each event.
type (
	// turnStartedMsg opens it: the prompt is durable, seq is its pair.
	turnStartedMsg struct {
		turnOf
		seq int64
	}
	// chunkStreamedMsg is a piece of text or reasoning.
	chunkStreamedMsg struct {
		turnOf
		text    string
		thought bool
	}
	// payloadFoundMsg is a card in the answer.
	payloadFoundMsg struct {
		turnOf
		found assistant.PayloadFound
	}
	// toolCalledMsg is the start, a progress or the end of a tool call.
	toolCalledMsg struct {
		turnOf
		event assistant.Event
	}
	// contextTrimmedMsg is a request that is sent again with fewer pairs.
	contextTrimmedMsg struct {
		turnOf
		trimmed assistant.ContextTrimmed
	}
	// requestRetriedMsg is a request or an invalid call that is tried again.
	requestRetriedMsg struct {
		turnOf
		retry assistant.Retrying
	}
	// statusChangedMsg is a word about what the turn does.
	statusChangedMsg struct {
		turnOf
		text string
	}
	// checkpointMadeMsg is a durable checkpoint.
	checkpointMadeMsg struct{ turnOf }
	// answerWantedMsg is a question of a tool.
	answerWantedMsg struct {
		turnOf
		ask assistant.ConfirmRequest
	}
	// turnEndedMsg is how the turn ended: Complete, Error or Cancelled.
	turnEndedMsg struct {
		turnOf
		end assistant.Event
	}
)
