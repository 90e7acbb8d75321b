package serve

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"winnow/assistant"
)

// proposalsKey begins the key under which the history lists a window's pairs with open proposals.
const proposalsKey = "open proposals:"

// maxProposals is the maximum number of pairs with open proposals that are listed; older pairs are only in the history.
const maxProposals = 200

// Proposals returns the pairs with undecided proposals, oldest first.
func (h *Hub) Proposals(ctx context.Context) ([]assistant.Pair, error) {
	h.proposals.Lock()
	seqs, err := h.openProposals(ctx)
	h.proposals.Unlock()
	if err != nil || len(seqs) == 0 {
		return nil, err
	}
	pairs, err := h.opts.History.Load(ctx, seqs)
	return slices.DeleteFunc(pairs, func(p assistant.Pair) bool { return !undecided(&p) }), err
}

// undecided reports whether a pair has a payload without a decision.
func undecided(p *assistant.Pair) bool {
	return slices.ContainsFunc(p.Payloads, func(made assistant.Payload) bool { return made.Decision == "" })
}

// openProposals reads the stored list of pairs with open proposals. The caller holds h.proposals.
func (h *Hub) openProposals(ctx context.Context) (seqs []int64, err error) {
	text, err := h.opts.History.Get(ctx, proposalsKey+h.opts.Window)
	if err == nil && text != "" {
		err = json.Unmarshal([]byte(text), &seqs)
	}
	return seqs, err
}

// storeProposals updates the stored list: it adds a pair if added is set, and removes the pairs that have been decided
// or deleted.
func (h *Hub) storeProposals(ctx context.Context, seq int64, added bool) error {
	h.proposals.Lock()
	defer h.proposals.Unlock()
	seqs, err := h.openProposals(ctx)
	if err != nil {
		return err
	}
	if added && !slices.Contains(seqs, seq) {
		seqs = append(seqs, seq)
	}
	open, err := h.opts.History.Load(ctx, seqs)
	if err != nil {
		return err
	}
	seqs = seqs[:0]
	for _, p := range open {
		if undecided(&p) {
			seqs = append(seqs, p.Seq)
		}
	}
	raw, err := json.Marshal(seqs[max(0, len(seqs)-maxProposals):])
	return errors.Join(err, h.opts.History.Set(ctx, proposalsKey+h.opts.Window, string(raw)))
}

// proposed records that proposals of a pair were made or, if added is false, decided, and informs all sessions. A pair
// with new proposals appears in the view of every user who can decide them.
func (h *Hub) proposed(seq int64, added bool) {
	ctx := context.Background()
	err := h.storeProposals(ctx, seq, added)
	for _, s := range h.Sessions() {
		if added && s.Session().Role().May(assistant.RoleSave) {
			err = errors.Join(err, s.Session().ShowPair(ctx, seq))
		} else {
			s.Session().PairsChanged(seq)
		}
	}
	if err != nil && h.opts.Session.Log != nil {
		h.opts.Session.Log.Warn("the proposals could not be stored or shown to other users", "error", err)
	}
}

// showProposals shows all open proposals in a new session whose user can decide them.
func (h *Hub) showProposals(ctx context.Context, s *Session) {
	open, err := h.Proposals(ctx)
	for _, p := range open {
		err = errors.Join(err, s.Session().ShowPair(ctx, p.Seq))
	}
	if err != nil && h.opts.Session.Log != nil {
		h.opts.Session.Log.Warn("the open proposals could not be shown", "session", s.ID(), "error", err)
	}
}
