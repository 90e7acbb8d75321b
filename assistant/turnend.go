package assistant

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"winnow/assistant/budget"
	"winnow/assistant/llm"
	"winnow/assistant/safetext"
)

// close stores how the turn ended and returns the event that reports it.
func (t *turn) close(err error) Event {
	stored := t.pair != nil && t.pair.Seq != 0
	switch {
	case stored && err == nil:
		t.pair.State = PairComplete
		return t.storeEnd(t.complete())
	case stored && errors.Is(context.Cause(t.ctx), errInterrupted):
		err = &TurnError{Code: CodeInterrupted, Message: "the session ended before the answer was complete"}
	case !stored && t.ctx.Err() != nil:
		return Cancelled{}
	}
	var failed *TurnError
	if !errors.As(err, &failed) && t.ctx.Err() != nil {
		return t.cancelled()
	} else if failed == nil {
		failed = &TurnError{Code: string(llm.KindUnknown), Message: err.Error()}
	}
	if !stored {
		return Error{failed.Code, failed.Message, err}
	}
	t.pair.State, t.pair.ErrorCode, t.pair.ErrorMessage = PairError, failed.Code, safetext.Clean(failed.Message)
	if t.outgoing != nil {
		t.attempt.Fail()
		t.report(t.attempt.Ended(), failed.Message)
	}
	t.log.Error("turn failed", "code", failed.Code, "model", t.modelID)
	return t.storeEnd(Error{Code: failed.Code, Message: failed.Message})
}

// complete returns the event of a turn that succeeded.
func (t *turn) complete() Event {
	payload := ResponsePayload{Message: string(t.pair.AssistantText), Notice: t.pair.Notice}
	if t.pair.Suggested != nil {
		payload.Suggested = *t.pair.Suggested
	}
	var history []ToolHistoryEntry // the calls with cards
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

// The error messages of cancelled pairs that are kept.
const (
	cancelledAfterTools = "cancelled; what the tools did is kept, and a retry continues from there"
	cancelledUnanswered = "you cancelled this message before it was answered"
)

// cancelled removes the pair from the conversation if no tool has run, and keeps it
// otherwise. The user can still keep the received part of the unfinished answer.
func (t *turn) cancelled() Event {
	if t.outgoing != nil {
		t.report(t.attempt.Record(), "")
	}
	ran := slices.ContainsFunc(t.pair.ToolCalls, func(c ToolCall) bool { return !c.Silent && c.Result != nil })
	partial := t.partial(ran)
	if t.prompt.Regenerate != 0 && !ran {
		defer t.showStored()
		return t.offerPartial(partial, Cancelled{Kept: true})
	}
	if ran || !t.fresh {
		t.pair.State, t.pair.ErrorCode, t.pair.ErrorMessage = PairError, CodeCancelled, cancelledUnanswered
		if ran {
			t.pair.ErrorMessage = cancelledAfterTools
		}
		t.pair.AssistantText = wholeResponses(t.pair)
		return t.offerPartial(partial, t.storeEnd(Cancelled{Kept: true}))
	}
	if err := t.removePair(partial); err != nil {
		return Error{Code: string(llm.KindUnknown), Message: fmt.Sprintf("cancelled, but the message could not be removed: %v", err)}
	}
	return Cancelled{}
}

// removePair deletes the turn's pair, or stores partial in its place, and undoes what
// storePair changed. A replaced pair comes back with its requests and with the marks set in
// the meantime, and the proposals that the turn executed are undecided again.
func (t *turn) removePair(partial *Pair) error {
	ctx, cancel := t.storing()
	defer cancel()
	b := &Batch{Delete: []int64{t.pair.Seq}, KeepMarks: true}
	if partial != nil {
		b.Delete, b.Cancelled = nil, partial
	}
	if old := t.replaced; old != nil {
		if now, err := t.s.pair(ctx, t.pair.Seq); err == nil {
			old.Star, old.Flag, old.Topic = now.Star, now.Flag, now.Topic
		}
		b.Put = append(b.Put, old)
		for _, r := range t.replacedRequests {
			b.Requests = append(b.Requests, PairRequest{old, r})
		}
	}
	if t.decided != nil {
		for i := range t.decided.Payloads {
			if slices.Contains(t.proposals, t.decided.Payloads[i].ID) {
				t.decided.Payloads[i].Decision = ""
			}
		}
		b.Put = append(b.Put, t.decided)
	}
	err := t.s.opts.Store.Commit(ctx, b)
	if errors.Is(err, ErrNoPair) { // another program has deleted it; the rest must still be restored
		b.Delete = nil
		err = t.s.opts.Store.Commit(ctx, b)
	}
	if err != nil {
		return err
	}
	t.s.mu.Lock()
	defer t.s.mu.Unlock()
	t.s.view.drop([]int64{t.pair.Seq})
	t.s.current.cancelled = partial
	if t.decided != nil {
		t.s.updates.addStale(t.decided.Seq)
	}
	if t.replaced != nil {
		t.s.updates.addStale(t.replaced.Seq)
		t.s.view.restore([]Ref{PairRef(t.replaced, t.settings.Budget.CPT())})
	}
	return nil
}

// storeEnd commits the final pair and updates its cost in the view. An empty, incomplete
// answer to a pair that was being answered again is dropped. storeEnd returns end, or an
// Error if the pair could not be stored.
func (t *turn) storeEnd(end Event) Event {
	again := t.prompt.Regenerate != 0
	if again {
		defer t.showStored()
	}
	t.pair.Took = t.took()
	if !again || t.pair.State == PairComplete || !t.empty() {
		if err := t.commit(); err != nil {
			t.log.Error("pair not stored", "error", err)
			return Error{Code: string(llm.KindUnknown), Message: err.Error()}
		}
	}
	if !again {
		t.s.mu.Lock()
		t.s.updates.addStale(t.pair.Seq)
		t.s.view.put(PairRef(t.pair, t.settings.Budget.CPT()))
		t.s.mu.Unlock()
		if len(t.pair.Payloads) > 0 {
			t.s.recountPayloads(t.ctx)
		}
	}
	t.s.storeState(t.ctx)
	return end
}

// took returns how long the turn has worked, without the time in which it waited for the user.
func (t *turn) took() time.Duration { return (t.now().Sub(t.began) - t.waited).Round(time.Millisecond) }

// recordLimit limits the records of a session, which may run for weeks.
const recordLimit = 100

// Records returns the telemetry of this session: a record of each of the newest 100
// attempts, oldest first and without messages. The caller must not change their slices.
func (m Telemetry) Records() []budget.Record {
	s := m.session
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.current.records)
}

// report adds a finished attempt to the telemetry. A cancelled attempt stays at the stage
// "sent". Executing a proposal is not reported, because nothing was sent to an endpoint.
func (t *turn) report(r budget.Record, cause string) {
	out := t.outgoing
	t.outgoing = nil
	if t.decided != nil {
		return
	}
	r.Model, r.LastErrorMessage = t.modelID, cause
	r.TrimmingRemoved, r.Selection = slices.Clone(t.selection[:r.TrimmedCount]), slices.Clone(t.selection[r.TrimmedCount:])
	for _, pair := range r.TrimmingRemoved {
		r.TrimmingRemovedTokens += pair.Tokens
	}
	t.s.mu.Lock()
	records := &t.s.current.records
	t.s.current.attempt = new(r)
	*records = append((*records)[max(0, len(*records)-recordLimit+1):], r)
	t.s.mu.Unlock()
	if t.s.opts.Telemetry == nil {
		return
	}
	if t.s.opts.TelemetryMessages && out != nil {
		if sent, err := out.encode(); err == nil {
			r.Messages = messagesOf(sent.Body)
		}
	}
	t.s.opts.Telemetry(r)
}

// messagesOf reads the messages from a request body, from which the client has removed the
// secrets. Content that is not text is returned as JSON.
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
		out[i] = budget.Message{Role: m.Role, Content: string(m.Content)}
		_ = json.Unmarshal(m.Content, &out[i].Content) // if it is text
	}
	return out
}

// LeftOut is a pair that was left out of a request because the endpoint found it too long.
type LeftOut struct {
	Seq    int64  `json:"seq"`
	ID     string `json:"id"`
	Tokens int    `json:"tokens"` // estimated
}

// LastSend reports which pairs were sent with the last message, or with the running one.
type LastSend struct {
	Pair     int64        // Seq of the pair that was sent; it may have been deleted
	Included int          // pairs predicted to fit: the X of "X/Y" in the counter
	Visible  int          // visible pairs: the Y of "X/Y" in the counter
	Stage    budget.Stage // how the last attempt ended
	// LeftOut lists the trimmed pairs, oldest first; usually empty. Their number is the T of
	// "[X-T]/Y" in the counter.
	LeftOut []LeftOut
	Tokens  int // total tokens of LeftOut
}

// noteSend updates LastSend and, if freeze is set, freezes what Counter reports.
// Executing a proposal does not count.
func (t *turn) noteSend(freeze bool) *LastSend {
	r := &LastSend{Pair: t.pair.Seq, Included: t.attempt.PredictedCount(), Visible: t.boundary.Y, Stage: t.attempt.Stage()}
	for i, s := range t.selection[:t.attempt.DroppedCount()] {
		r.LeftOut = append(r.LeftOut, LeftOut{Seq: t.selectedSeqs[i], ID: s.ID, Tokens: s.Tokens})
		r.Tokens += s.Tokens
	}
	if t.decided == nil {
		t.s.mu.Lock()
		defer t.s.mu.Unlock()
		t.s.current.lastSend = r
		t.s.view.frozen = t.s.view.frozen || freeze
	}
	return r
}

// beginThought adds a block of reasoning. If there was no text since the last block, as
// after a silent correction, that block continues.
func (t *loop) beginThought() {
	place := t.text.Len()
	if n := len(t.thoughts); n > 0 && t.thoughts[n-1].Place == place {
		return
	}
	t.thoughts = append(t.thoughts, Thought{From: t.reasoning.Len(), Place: place})
}

// flushThoughts writes the offsets to the pair, whose texts are trimmed. A single block
// before the text needs no offsets.
func (t *loop) flushThoughts() {
	t.pair.Thoughts = nil
	if len(t.thoughts) == 0 || len(t.thoughts) == 1 && t.thoughts[0].Place == 0 {
		return
	}
	for _, b := range t.thoughts {
		b.From, b.Place = min(b.From, len(t.pair.Reasoning)), min(b.Place, len(t.pair.AssistantText))
		t.pair.Thoughts = append(t.pair.Thoughts, b)
	}
}
