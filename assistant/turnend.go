package assistant

import (
	"context"
	"errors"
	"fmt"
	"time"

	"winnow/assistant/budget"
)

// close writes down how the turn ended and returns the event that says so.
// What it says is on disk before it is said.
func (t *turn) close(err error) Event {
	if t.pair == nil || t.pair.Seq == 0 {
		return notStarted(t.ctx, err)
	}
	t.pair.Took = t.s.now().Sub(t.began).Round(time.Millisecond)
	var f *TurnError
	switch {
	case err == nil:
		t.pair.State = PairComplete
		return t.settle(t.complete())
	case errors.As(err, &f):
	case t.ctx.Err() != nil:
		return t.cancelled()
	default:
		f = &TurnError{Code: string(KindUnknown), Message: err.Error()}
	}
	t.pair.State, t.pair.ErrorCode, t.pair.ErrorMessage = PairError, f.Code, f.Message
	t.reportBroken(f)
	t.s.log.Error("turn failed", "code", f.Code, "model", t.modelID)
	return t.settle(Error{Code: f.Code, Message: f.Message})
}

// notStarted ends a turn whose message is nowhere: it could not be stored.
func notStarted(ctx context.Context, err error) Event {
	var f *TurnError
	switch {
	case errors.As(err, &f) && ctx.Err() == nil:
		return Error{Code: f.Code, Message: f.Message}
	case ctx.Err() != nil:
		return Cancelled{}
	}
	return Error{Code: string(KindUnknown), Message: err.Error()}
}

func (t *turn) complete() Event {
	payload := ResponsePayload{Message: t.pair.AssistantText, Notice: t.pair.Notice}
	if t.pair.Suggested != nil {
		payload.Suggested = *t.pair.Suggested
	}
	if history := toolHistoryOf(t.pair); len(history) > 0 {
		payload.Custom = &CustomPayload{Type: PayloadTools, Data: history}
	}
	return Complete{payload}
}

// toolHistoryOf lists the calls of a pair that have cards.
func toolHistoryOf(p *Pair) []ToolHistoryEntry {
	var out []ToolHistoryEntry
	for _, c := range p.ToolCalls {
		if c.Silent || c.Result == nil {
			continue
		}
		out = append(out, ToolHistoryEntry{ToolName: c.Name, Input: c.Arguments, Output: c.Result.Message, Success: c.Result.Success})
	}
	return out
}

// What a pair says that was cancelled and stays.
const (
	cancelledAfterTools = "you cancelled it; what the tools did is kept, and a retry goes on from there"
	cancelledUnanswered = "you cancelled it before it was answered; it can be tried again"
)

// cancelled lets the pair vanish when no tool has run, and keeps it otherwise.
func (t *turn) cancelled() Event {
	if t.attempt != nil {
		t.reportBroken(nil)
	}
	ran := false
	for _, c := range t.pair.ToolCalls {
		ran = ran || (!c.Silent && c.Result != nil)
	}
	if ran || !t.fresh {
		t.pair.State, t.pair.ErrorCode, t.pair.ErrorMessage = PairError, CodeCancelled, cancelledUnanswered
		if ran {
			t.pair.ErrorMessage = cancelledAfterTools
		}
		t.pair.AssistantText = wholeResponses(t.pair)
		return t.settle(Cancelled{Kept: true})
	}
	if err := t.vanish(); err != nil {
		return Error{Code: string(KindUnknown), Message: fmt.Sprintf("cancelled, but the store failed: %v", err)}
	}
	return Cancelled{}
}

// vanish takes the pair back, with all that was done to make it.
func (t *turn) vanish() error {
	ctx := context.WithoutCancel(t.ctx)
	b := &Batch{Delete: []int64{t.pair.Seq}, KeepMarks: true}
	if t.replaced != nil {
		t.restore(ctx, b)
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
	t.s.view.drop(budget.PairDeleted, func(seq int64) bool { return seq == t.pair.Seq })
	if t.replaced != nil {
		t.s.view.put(PairRef(t.replaced, t.settings.Budget.CPT()), budget.PairsLoaded)
	}
	return nil
}

// restore puts the replaced pair into b, with its requests and with what the
// user has set meanwhile on the pair that took its place.
func (t *turn) restore(ctx context.Context, b *Batch) {
	old := t.replaced
	if now, err := t.s.opts.Store.Load(ctx, []int64{t.pair.Seq}); err == nil && len(now) == 1 {
		old.Star, old.Flag, old.Topic = now[0].Star, now[0].Flag, now[0].Topic
	}
	old.Seq = 0
	b.Put = append(b.Put, old)
	for _, r := range t.lost {
		b.Requests = append(b.Requests, PairRequest{old, r})
	}
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
	for at := markerForm.FindAllStringSubmatchIndex(p.AssistantText, -1); len(at) > 0; at = at[:len(at)-1] {
		if last := at[len(at)-1]; opensCard(p.AssistantText, last, cards) {
			return p.AssistantText[:last[1]]
		}
	}
	return ""
}

// settle commits the final pair and gives its cost to the boundary.
func (t *turn) settle(end Event) Event {
	if err := t.commit(); err != nil {
		t.s.log.Error("pair not stored", "error", err)
		return Error{Code: string(KindUnknown), Message: fmt.Sprintf("the answer could not be stored: %v", err)}
	}
	t.s.mu.Lock()
	defer t.s.mu.Unlock()
	t.s.view.put(PairRef(t.pair, t.settings.Budget.CPT()), budget.ReplyArrived)
	return end
}
