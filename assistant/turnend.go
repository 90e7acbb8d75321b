package assistant

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"winnow/assistant/budget"
)

// close stores how the turn ended and returns the event that reports it. What
// it reports is on disk before.
func (t *turn) close(err error) Event {
	var f *TurnError
	failed := errors.As(err, &f)
	interrupted := errors.Is(context.Cause(t.ctx), errInterrupted)
	switch {
	case t.pair == nil || t.pair.Seq == 0: // the message is nowhere: it could not be stored
		if t.ctx.Err() != nil {
			return Cancelled{}
		}
		return errorEvent(f, err)
	case err == nil:
		t.pair.State = PairComplete
		return t.storeEnd(t.complete())
	case interrupted:
		f = &TurnError{Code: CodeInterrupted, Message: "winnow ended before the answer was complete"}
	case failed:
	case t.ctx.Err() != nil:
		return t.cancelled()
	}
	e := errorEvent(f, err)
	t.pair.State, t.pair.ErrorCode, t.pair.ErrorMessage = PairError, e.Code, e.Message
	t.reportBroken(&TurnError{Code: e.Code, Message: e.Message})
	t.log.Error("turn failed", "code", e.Code, "model", t.modelID)
	return t.storeEnd(e)
}

func errorEvent(f *TurnError, err error) Error {
	if f != nil {
		return Error{Code: f.Code, Message: f.Message}
	}
	return Error{Code: string(KindUnknown), Message: err.Error()}
}

func (t *turn) complete() Event {
	payload := ResponsePayload{Message: t.pair.AssistantText, Notice: t.pair.Notice}
	if t.pair.Suggested != nil {
		payload.Suggested = *t.pair.Suggested
	}
	var history []ToolHistoryEntry // of the calls that have cards
	for _, c := range t.pair.ToolCalls {
		if !c.Silent && c.Result != nil {
			history = append(history, ToolHistoryEntry{ToolName: c.Name, Input: c.Arguments, Output: c.Result.Message, Success: c.Result.Success})
		}
	}
	if len(history) > 0 {
		payload.Custom = &CustomPayload{Type: PayloadTools, Data: history}
	}
	return Complete{payload}
}

// What a pair says that was cancelled and stays.
const (
	cancelledAfterTools = "you cancelled it; what the tools did is kept, and a retry goes on from there"
	cancelledUnanswered = "you cancelled it before it was answered; it can be tried again"
)

// cancelled removes the pair when no tool has run, and keeps it otherwise.
func (t *turn) cancelled() Event {
	if t.attempt != nil {
		t.reportBroken(nil)
	}
	ran := slices.ContainsFunc(t.pair.ToolCalls, func(c ToolCall) bool { return !c.Silent && c.Result != nil })
	if ran || !t.fresh {
		t.pair.State, t.pair.ErrorCode, t.pair.ErrorMessage = PairError, CodeCancelled, cancelledUnanswered
		if ran {
			t.pair.ErrorMessage = cancelledAfterTools
		}
		t.pair.AssistantText = wholeResponses(t.pair)
		return t.storeEnd(Cancelled{Kept: true})
	}
	if err := t.removePair(); err != nil {
		return Error{Code: string(KindUnknown), Message: fmt.Sprintf("cancelled, but the store failed: %v", err)}
	}
	return Cancelled{}
}

// removePair deletes the pair and restores what was changed to make it: the
// pair it replaced, with its requests and the marks set meanwhile, and the
// proposal it executed.
func (t *turn) removePair() error {
	ctx := context.WithoutCancel(t.ctx)
	b := &Batch{Delete: []int64{t.pair.Seq}, KeepMarks: true}
	if old := t.replaced; old != nil {
		if now, err := t.s.opts.Store.Load(ctx, []int64{t.pair.Seq}); err == nil && len(now) == 1 {
			old.Star, old.Flag, old.Topic = now[0].Star, now[0].Flag, now[0].Topic
		}
		old.Seq = 0
		b.Put = append(b.Put, old)
		for _, r := range t.lost {
			b.Requests = append(b.Requests, PairRequest{old, r})
		}
	}
	if t.decided != nil {
		for i := range t.decided.Payloads {
			if t.decided.Payloads[i].ID == t.proposal {
				t.decided.Payloads[i].Decision = ""
			}
		}
		b.Put = append(b.Put, t.decided)
	}
	if err := t.s.opts.Store.Commit(ctx, b); err != nil {
		return err
	}
	t.s.mu.Lock()
	defer t.s.mu.Unlock()
	t.s.view.drop(func(seq int64) bool { return seq == t.pair.Seq })
	if t.replaced != nil {
		t.s.view.put(PairRef(t.replaced, t.settings.Budget.CPT()))
	}
	return nil
}

// wholeResponses is the text up to the last tool result: what came after it
// was not whole.
func wholeResponses(p *Pair) string {
	cards := 0
	for _, c := range p.ToolCalls {
		if !c.Silent {
			cards++
		}
	}
	for _, at := range slices.Backward(markerForm.FindAllStringSubmatchIndex(p.AssistantText, -1)) {
		if opensCard(p.AssistantText, at, cards) {
			return p.AssistantText[:at[1]]
		}
	}
	return ""
}

// storeEnd commits the final pair and gives its cost to the boundary.
func (t *turn) storeEnd(end Event) Event {
	t.pair.Took = t.now().Sub(t.began).Round(time.Millisecond)
	if err := t.commit(); err != nil {
		t.log.Error("pair not stored", "error", err)
		return Error{Code: string(KindUnknown), Message: fmt.Sprintf("the answer could not be stored: %v", err)}
	}
	t.s.mu.Lock()
	t.s.view.put(PairRef(t.pair, t.settings.Budget.CPT()))
	t.s.mu.Unlock()
	t.s.storeState(t.ctx)
	return end
}

// recordLimit is how many records of attempts a session keeps: more than
// anybody scrolls back through, and a bound for a session that runs for weeks.
const recordLimit = 100

// Records returns the telemetry of this session, one record an attempt, the
// newest recordLimit, oldest first and without messages. Their lists are not
// to be changed.
func (s *Session) Records() []budget.Record {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.records)
}

// report gives the telemetry an attempt that has ended. One that was cancelled
// stays "sent". What executes a proposal is no attempt: it went to no endpoint.
func (t *turn) report(r budget.Record, cause string) {
	sent := t.requestAnswered()
	if t.decided != nil {
		return
	}
	r.Model, r.LastErrorMessage = t.modelID, cause
	r.TrimmingRemoved, r.Selection = slices.Clip(t.selection[:r.TrimmedCount]), t.selection[r.TrimmedCount:]
	for _, out := range r.TrimmingRemoved {
		r.TrimmingRemovedTokens += out.Tokens
	}
	t.s.mu.Lock()
	if n := len(t.s.records) - recordLimit + 1; n > 0 {
		t.s.records = slices.Delete(t.s.records, 0, n)
	}
	t.s.records = append(t.s.records, r)
	t.s.mu.Unlock()
	if t.s.opts.Telemetry == nil {
		return
	}
	r.Selection, r.TrimmingRemoved = slices.Clone(r.Selection), slices.Clone(r.TrimmingRemoved)
	if t.s.opts.TelemetryMessages {
		r.Messages = messagesOf(sent)
	}
	t.s.opts.Telemetry(r)
}

// reportBroken reports an attempt that was out when the turn ended.
func (t *turn) reportBroken(f *TurnError) {
	switch {
	case t.out == nil: // its end was reported
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

// LeftOut is a pair that a request went out without, because the endpoint
// found it too long.
type LeftOut struct {
	Seq    int64  `json:"seq"`
	ID     string `json:"id"`
	Tokens int    `json:"tokens"` // estimated
}

// LastSend is what became of the pairs of the last send, also of one that runs.
type LastSend struct {
	Pair     int64        // the pair that was sent; it may be gone since
	Included int          // X: pairs that were predicted to fit
	Visible  int          // Y
	Stage    budget.Stage // how the last attempt ended
	// LeftOut are the T pairs that were trimmed, oldest first; none for most sends.
	LeftOut []LeftOut
	Tokens  int // of LeftOut together
}

// LastSend reports what the last send left out; ok is false before the first one
// of the session. It stays until the next send, also when the view changes.
func (s *Session) LastSend() (last LastSend, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lastSend == nil {
		return LastSend{}, false
	}
	last = *s.lastSend
	last.LeftOut = slices.Clone(last.LeftOut)
	return last, true
}

// sendResult is what became of the turn's send so far.
func (t *turn) sendResult() *LastSend {
	r := &LastSend{Pair: t.pair.Seq, Included: t.attempt.X(), Visible: t.boundary.Y, Stage: t.attempt.Stage()}
	for i, s := range t.selection[:t.attempt.T()] {
		r.LeftOut = append(r.LeftOut, LeftOut{Seq: t.seqs[i], ID: s.ID, Tokens: s.Tokens})
		r.Tokens += s.Tokens
	}
	return r
}

// noteSend makes the send so far what LastSend and Counter report.
func (t *turn) noteSend() *LastSend {
	r := t.sendResult()
	if t.decided == nil {
		t.s.mu.Lock()
		defer t.s.mu.Unlock()
		t.s.lastSend, t.s.view.frozen = r, true
	}
	return r
}
