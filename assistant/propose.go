package assistant

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"winnow/assistant/llm"
	"winnow/assistant/windowlock"
)

// Errors returned by Decide, in addition to ErrBusy, and ErrNoPair for an unknown pair
// or payload.
var (
	// ErrDecided is returned for a proposal that was already accepted or
	// rejected.
	ErrDecided = errors.New("there is already a decision on this proposal")
	// ErrNotProposal is returned for a payload that is not a proposal, or whose type is not
	// available on this page.
	ErrNotProposal = errors.New("this cannot be accepted or rejected here")
)

// proposalModel is the model name of a pair that no model answered: one that
// carries out accepted proposals, or contains proposals made by hand.
const proposalModel = "proposal"

// Decide accepts or rejects the given proposals of a pair, all of them or none.
// Accepting runs their calls as a separate turn with a checkpoint; its events
// come after the returned version, as with Begin. Rejecting starts no turn and
// returns 0; the model is told with the next message. An error from Accepted
// or Rejected prevents the decision. A decision is final: the proposal stays
// accepted if a call fails or the change is rolled back.
func (s *Session) Decide(ctx context.Context, pair int64, payloads []string, accept bool) (after int64, err error) {
	release, err := s.acquireWork(false)
	if err != nil {
		return 0, err
	}
	defer release()
	holder, err := s.uncutPair(ctx, pair)
	if err != nil {
		return 0, err
	}
	if err := s.mayDecide(holder, accept); err != nil {
		return 0, err
	}
	var calls []llm.Call
	var done []string
	var found []*Payload
	var callbacks []func() error
	for _, id := range payloads {
		p, kind, toDo, err := s.proposalOf(holder, id, accept)
		if err != nil {
			return 0, err
		}
		calls, done, found = append(calls, toDo...), append(done, p.Summary), append(found, p)
		if decided := kind.callback(accept); decided != nil {
			callbacks = append(callbacks, func() error { return decided(s.ToolContext(ctx), *p) })
		}
	}
	decide := func(how string) error { return decideAll(found, how, callbacks) }
	summary := strings.Join(done, "; ")
	if accept && holder.Author != s.opts.Author && holder.Author != "" {
		summary += ", proposed by " + holder.Author
	}
	switch {
	case len(found) == 0:
		return 0, ErrNoPair
	case !accept:
		if err := decide("rejected"); err != nil {
			return 0, err
		}
		return 0, s.storeRejected(ctx, holder, summary)
	}
	t, err := s.newTurn(ctx, Prompt{Text: "Carry out: " + summary})
	if err != nil {
		return 0, err
	}
	if err := decide("accepted"); err != nil {
		t.cancel(nil)
		return 0, err
	}
	t.model, t.name, t.modelID = llm.Scripted{Calls: calls, Done: summary}, proposalModel, proposalModel
	t.decided, t.proposals = holder, payloads
	if after, err = s.startTurn(t); err == nil {
		s.opts.Member.AnnouncePair(windowlock.Decided, holder.Session, pair, "accepted: "+summary)
	}
	return after, err
}

// decideAll calls the callbacks of a decision. If none returns an error, it
// records the decision in the proposals.
func decideAll(proposals []*Payload, how string, callbacks []func() error) error {
	for _, call := range callbacks {
		if err := call(); err != nil {
			return err
		}
	}
	for _, p := range proposals {
		p.Decision = how
	}
	return nil
}

// storeRejected stores a pair whose proposals the user has rejected.
func (s *Session) storeRejected(ctx context.Context, holder *Pair, summary string) error {
	if err := s.opts.Store.Commit(ctx, &Batch{Put: []*Pair{holder}, KeepMarks: true}); err != nil {
		return err
	}
	s.PairsChanged(holder.Seq)
	s.opts.Member.AnnouncePair(windowlock.Decided, holder.Session, holder.Seq, "rejected: "+summary)
	return nil
}

// mayDecide returns a *RoleError if the user may not accept or reject the
// proposals of a pair. In the user's own pairs, accepting needs RoleWrite and
// rejecting RolePropose; in other pairs, both need RoleSave.
func (s *Session) mayDecide(holder *Pair, accept bool) error {
	switch own := holder.Author == s.opts.Author; {
	case own && accept:
		return s.Needs(RoleWrite)
	case own:
		return s.Needs(RolePropose)
	}
	return s.Needs(RoleSave)
}

// callback returns the type's callback for a decision, or nil.
func (t PayloadType) callback(accept bool) func(context.Context, Payload) error {
	if accept {
		return t.Accepted
	}
	return t.Rejected
}

// proposalOf returns an undecided proposal of a pair, its type, and the calls
// that carry it out if it is accepted.
func (s *Session) proposalOf(holder *Pair, payload string, accept bool) (found *Payload, kind PayloadType, calls []llm.Call, err error) {
	at := slices.IndexFunc(holder.Payloads, func(have Payload) bool { return have.ID == payload })
	if at < 0 {
		return nil, kind, nil, ErrNoPair
	}
	found = &holder.Payloads[at]
	offered, err := s.available(nil)
	if err != nil {
		return nil, kind, nil, err
	}
	if i := slices.IndexFunc(offered.Payloads, samePayload(found.Type)); i >= 0 {
		kind = offered.Payloads[i]
	}
	switch {
	case found.Decision != "":
		return nil, kind, nil, fmt.Errorf("%w: it was %s", ErrDecided, found.Decision)
	case !kind.Proposal(): // also if the type is not available at this location
		return nil, kind, nil, ErrNotProposal
	case accept && kind.Calls != nil:
		calls, err = kind.Calls(found.Data)
	}
	return found, kind, calls, err
}
