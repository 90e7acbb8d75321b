package assistant

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"winnow/assistant/llm"
)

// Why Decide refuses, beside ErrNoPair and ErrBusy.
var (
	// ErrDecided refuses a proposal that the user has decided on.
	ErrDecided = errors.New("this proposal has its decision")
	// ErrNotProposal refuses a payload that is not a proposal, or not one of this page.
	ErrNotProposal = errors.New("this cannot be accepted or rejected here")
)

// Decide accepts or rejects a proposal of the model. Accepting executes it through
// the write tools, with a checkpoint, as a turn of its own: its events come after the
// version, see Begin. Rejecting starts none; the model learns of it with the next message.
func (s *Session) Decide(ctx context.Context, pair int64, payload string, accept bool) (after int64, err error) {
	release, err := s.acquireWork(false)
	if err != nil {
		return 0, err
	}
	defer release()
	holder, err := s.pair(ctx, pair)
	if err != nil {
		return 0, err
	}
	at := slices.IndexFunc(holder.Payloads, func(have Payload) bool { return have.ID == payload })
	if at < 0 {
		return 0, ErrNoPair
	}
	found := &holder.Payloads[at]
	kind := PayloadType{} // stays empty when it is not available where the user is
	types := s.available(nil).Payloads
	if i := slices.IndexFunc(types, samePayload(found.Type)); i >= 0 {
		kind = types[i]
	}
	switch {
	case found.Decision != "":
		return 0, fmt.Errorf("%w: it was %s", ErrDecided, found.Decision)
	case kind.Calls == nil:
		return 0, ErrNotProposal
	case !accept:
		found.Decision = "rejected"
		if err := s.opts.Store.Commit(ctx, &Batch{Put: []*Pair{holder}, KeepMarks: true}); err != nil {
			return 0, err
		}
		s.PairsChanged(pair)
		return 0, nil
	}
	calls, err := kind.Calls(found.Data)
	if err != nil {
		return 0, err
	}
	t, err := s.newTurn(ctx, Prompt{Text: "Carry out: " + found.Summary})
	if err != nil {
		return 0, err
	}
	found.Decision = "accepted"
	t.model, t.name, t.decided, t.proposal = llm.Scripted{Calls: calls, Done: found.Summary}, "proposal", holder, payload
	return s.startTurn(t)
}

// Message is the text that a server action of an answer sends: the label followed by the
// name and data of the action as JSON. That of ActionContinue without data is its label.
func (a SuggestedAction) Message() string {
	if string(a.Data) == "null" {
		a.Data = nil
	}
	raw, err := PlainJSON(struct {
		Action string          `json:"action"`
		Data   json.RawMessage `json:"data,omitempty"`
	}{a.Action, a.Data})
	if err != nil || a.Action == ActionContinue && a.Data == nil { // err: data that is no JSON
		return a.Label
	}
	return a.Label + "\n\n" + string(raw)
}
