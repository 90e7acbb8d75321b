package assistant

import (
	"slices"

	"winnow/assistant/safetext"
)

// received is the part of the running turn's pair whose events are no longer in
// the log.
type received struct {
	pair            Pair
	text, reasoning safetext.Builder // the texts of pair
}

// receive returns the initial value for a turn: what its pair contained before
// the turn sent any events.
func receive(p *Pair) received {
	r := received{pair: clonePair(p)}
	r.text.Write(p.AssistantText)
	r.reasoning.Write(p.Reasoning)
	if r.pair.Thoughts = slices.Clone(p.Thoughts); p.Thoughts == nil && p.Reasoning != "" {
		r.pair.Thoughts = []Thought{{}}
	}
	return r
}

// apply adds the events of an entry.
func (r *received) apply(e *logEntry) {
	p := &r.pair
	switch event := e.event.(type) {
	case TextDelta:
		r.text.Write(e.text.From(0))
	case ReasoningDelta:
		if n := len(p.Thoughts); n == 0 || p.Thoughts[n-1].Place != r.text.Len() {
			p.Thoughts = append(p.Thoughts, Thought{From: r.reasoning.Len(), Place: r.text.Len()})
		}
		r.reasoning.Write(e.text.From(0))
	case ToolStart:
		p.ToolCalls = append(p.ToolCalls, ToolCall{ID: event.ToolUseID, Name: event.Tool, Arguments: event.Input})
	case ToolComplete:
		for i := range p.ToolCalls {
			if c := &p.ToolCalls[i]; c.ID == event.ToolUseID && c.Result == nil {
				c.Result = &ToolResult{Success: event.Success, Message: event.Message, ErrorCode: event.ErrorCode, Data: event.Data, Payload: event.Payload}
			}
		}
		if event.Payload != nil {
			p.Payloads = append(p.Payloads, *event.Payload)
		}
	case PayloadFound:
		p.Payloads = append(p.Payloads, event.Payload)
	case TurnStarted, Status, ToolProgress, Complete, Error, Cancelled, CheckpointCreated, ContextTrimmed, Queued, Retrying, ConfirmRequest: // not part of the pair
	}
}

// runningPair returns the pair of the running turn as received so far, or nil
// if no turn is running or its message is not stored yet. The session's mutex
// must be locked.
func (s *Session) runningPair() *Pair {
	l := &s.updates
	if s.running == nil || s.running.seq == 0 {
		return nil
	}
	r := l.received // what r adds to the texts is not visible in l.received
	r.pair = clonePair(&r.pair)
	r.pair.Thoughts = slices.Clone(r.pair.Thoughts)
	for i := range l.entries {
		if l.entries[i].of == l.current {
			r.apply(&l.entries[i])
		}
	}
	r.pair.AssistantText, r.pair.Reasoning = r.text.From(0), r.reasoning.From(0)
	return &r.pair
}
