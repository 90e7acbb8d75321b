package assistant

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"winnow/assistant/llm"
)

// Why Decide refuses, beside ErrNoPair and ErrBusy.
var (
	// ErrDecided refuses a proposal that the user has decided on.
	ErrDecided = errors.New("this proposal has its decision")
	// ErrNotProposal refuses a payload that is not a proposal, or not one of this page.
	ErrNotProposal = errors.New("this cannot be accepted or rejected here")
)

// Decide accepts or rejects proposals of the model, all or none of them. Accepting executes
// them through the write tools, with a checkpoint, as one turn of its own: its events come
// after the version, see Begin. Rejecting starts none; the model learns of it with the next
// message.
func (s *Session) Decide(ctx context.Context, pair int64, payloads []string, accept bool) (after int64, err error) {
	release, err := s.acquireWork(false)
	if err != nil {
		return 0, err
	}
	defer release()
	holder, err := s.pair(ctx, pair)
	if err != nil {
		return 0, err
	}
	var calls []llm.Call
	var done []string
	var found []*Payload
	for _, id := range payloads {
		p, toDo, err := s.proposalOf(holder, id, accept)
		if err != nil {
			return 0, err
		}
		calls, done, found = append(calls, toDo...), append(done, p.Summary), append(found, p)
	}
	decided := func(how string) {
		for _, p := range found {
			p.Decision = how
		}
	}
	switch {
	case len(found) == 0:
		return 0, ErrNoPair
	case !accept:
		decided("rejected")
		if err := s.opts.Store.Commit(ctx, &Batch{Put: []*Pair{holder}, KeepMarks: true}); err != nil {
			return 0, err
		}
		s.PairsChanged(pair)
		return 0, nil
	}
	summary := strings.Join(done, "; ")
	t, err := s.newTurn(ctx, Prompt{Text: "Carry out: " + summary})
	if err != nil {
		return 0, err
	}
	decided("accepted")
	t.model, t.name, t.decided, t.proposals = llm.Scripted{Calls: calls, Done: summary}, "proposal", holder, payloads
	return s.startTurn(t)
}

// proposalOf is an undecided proposal of a pair, and the calls that carry it out when it is
// accepted.
func (s *Session) proposalOf(holder *Pair, payload string, accept bool) (found *Payload, calls []llm.Call, err error) {
	at := slices.IndexFunc(holder.Payloads, func(have Payload) bool { return have.ID == payload })
	if at < 0 {
		return nil, nil, ErrNoPair
	}
	found = &holder.Payloads[at]
	kind := PayloadType{} // stays empty when it is not available where the user is
	offered, err := s.available(nil)
	if err != nil {
		return nil, nil, err
	}
	if i := slices.IndexFunc(offered.Payloads, samePayload(found.Type)); i >= 0 {
		kind = offered.Payloads[i]
	}
	switch {
	case found.Decision != "":
		return nil, nil, fmt.Errorf("%w: it was %s", ErrDecided, found.Decision)
	case kind.Calls == nil:
		return nil, nil, ErrNotProposal
	case accept:
		calls, err = kind.Calls(found.Data)
	}
	return found, calls, err
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
