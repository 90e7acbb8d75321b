package assistant

import (
	"slices"

	"winnow/assistant/budget"
)

// LeftOut is a pair that a request went out without, because the endpoint
// found it too long.
type LeftOut struct {
	Seq    int64  `json:"seq"`
	ID     string `json:"id"`
	Tokens int    `json:"tokens"` // estimated
}

// LastSend is what became of the pairs of the last send.
type LastSend struct {
	Pair     int64        // the pair that was sent; it may be gone since
	Included int          // X: pairs that were predicted to fit
	Visible  int          // Y
	Stage    budget.Stage // how the last attempt ended
	// LeftOut are the T pairs that were trimmed, oldest first; none for most sends.
	LeftOut []LeftOut
	Tokens  int // of LeftOut together
}

// LastSend tells what the last send left out; ok is false before the first one
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

// leftOut lists the pairs that were trimmed so far, and sums up their tokens.
func (t *turn) leftOut() (out []LeftOut, tokens int) {
	for i, s := range t.selection[:t.attempt.T()] {
		out = append(out, LeftOut{Seq: t.seqs[i], ID: s.ID, Tokens: s.Tokens})
		tokens += s.Tokens
	}
	return out, tokens
}

// lastSend is what is remembered of the turn's send.
func (t *turn) lastSend() *LastSend {
	last := &LastSend{Pair: t.pair.Seq, Included: t.attempt.X(), Visible: t.boundary.Y, Stage: t.attempt.Stage()}
	last.LeftOut, last.Tokens = t.leftOut()
	return last
}
