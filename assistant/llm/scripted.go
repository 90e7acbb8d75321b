package llm

import (
	"context"
	"encoding/json"
	"iter"

	"winnow/assistant/safetext"
)

// Scripted is a Model that makes fixed calls and then reports their results, so that an
// accepted proposal runs like a turn.
type Scripted struct {
	Calls []Call
	Done  string // what the calls do, in a few words
}

// Stream implements Model.
func (m Scripted) Stream(_ context.Context, req Request) iter.Seq2[Part, error] {
	return func(yield func(Part, error) bool) {
		answered := req.Messages[len(req.Messages)-1].Role == RoleTool
		if !answered && len(m.Calls) > 0 {
			yield(End{Calls: m.Calls, Finish: "tool_calls"}, nil)
			return
		}
		if yield(Text{Text: m.outcome(req.Messages)}, nil) {
			yield(End{Finish: "stop"}, nil)
		}
	}
}

// outcome says how the calls went, according to their results in the last messages.
func (m Scripted) outcome(messages []Message) safetext.Text {
	failed := 0
	var why safetext.Text
	for i := len(messages) - 1; i >= 0 && messages[i].Role == RoleTool; i-- {
		var r struct {
			Success bool
			Message safetext.Text
		}
		if json.Unmarshal([]byte(messages[i].Content), &r) == nil && !r.Success {
			failed, why = failed+1, r.Message
		}
	}
	if failed == 0 {
		return "Carried out: " + safetext.Clean(m.Done)
	}
	return safetext.Sprintf("%d of %d steps failed: %s", failed, len(m.Calls), why)
}
