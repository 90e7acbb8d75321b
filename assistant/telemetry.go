package assistant

import (
	"encoding/json"
	"slices"

	"winnow/assistant/budget"
)

// keptRecords is how many records of attempts a session keeps: more than
// anybody scrolls back through, and a bound for a session that runs for weeks.
const keptRecords = 100

// Records returns the telemetry of this session, one record an attempt, the
// newest keptRecords, oldest first and without messages. Their lists are not
// to be changed.
func (s *Session) Records() []budget.Record {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.records)
}

// report tells the telemetry about an attempt that has ended. One that was
// cancelled stays "sent". What carries out a proposal is no attempt: it went
// to no endpoint.
func (t *turn) report(r budget.Record, cause string) {
	sent := t.answered()
	if t.decided != nil {
		return
	}
	r.Model, r.LastErrorMessage = t.modelID, cause
	r.TrimmingRemoved, r.Selection = slices.Clip(t.selection[:r.TrimmedCount]), t.selection[r.TrimmedCount:]
	for _, out := range r.TrimmingRemoved {
		r.TrimmingRemovedTokens += out.Tokens
	}
	t.s.keepRecord(r)
	if t.s.opts.Telemetry == nil {
		return
	}
	r.Selection, r.TrimmingRemoved = slices.Clone(r.Selection), slices.Clone(r.TrimmingRemoved)
	if t.s.opts.TelemetryMessages {
		r.Messages = messagesOf(sent)
	}
	t.s.opts.Telemetry(r)
}

func (s *Session) keepRecord(r budget.Record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.records) - keptRecords + 1; n > 0 {
		s.records = slices.Delete(s.records, 0, n)
	}
	s.records = append(s.records, r)
}

// reportBroken tells about an attempt that was out when the turn ended.
func (t *turn) reportBroken(f *TurnError) {
	switch {
	case t.out == nil:
		return // its end was told
	case f == nil:
		t.report(t.attempt.Record(), "")
	default:
		t.attempt.Fail()
		t.report(t.attempt.Ended(), f.Message)
	}
}

// messagesOf reads the messages out of a body as it was sent, hence without
// the keys that its client took out. A content that is not text is its JSON.
func messagesOf(body json.RawMessage) []budget.Message {
	var doc struct {
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
	}
	if json.Unmarshal(body, &doc) != nil {
		return nil
	}
	out := make([]budget.Message, len(doc.Messages))
	for i, m := range doc.Messages {
		out[i].Role = m.Role
		if json.Unmarshal(m.Content, &out[i].Content) != nil {
			out[i].Content = string(m.Content)
		}
	}
	return out
}
