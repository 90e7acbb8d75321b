package assistant

import (
	"context"
	"slices"
)

// Pairs loads pairs by Seq. The running pair is returned with its new answer as far as that
// is stored.
func (s *Session) Pairs(ctx context.Context, seqs []int64) ([]Pair, error) {
	pairs, err := s.load(ctx, seqs)
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.running; t != nil && t.progress != nil {
		for i := range pairs {
			if p := &pairs[i]; p.Seq == t.seq {
				p.setAnswer(t.progress.Answer())
			}
		}
	}
	return pairs, err
}

// load loads pairs for the screen and for requests. Names stored by an import or another
// program are sanitised.
func (s *Session) load(ctx context.Context, seqs []int64) ([]Pair, error) {
	pairs, err := s.opts.Store.Load(ctx, seqs)
	for i := range pairs {
		pairs[i].cleanNames()
	}
	return pairs, err
}

// pair loads one pair; ErrNoPair if it does not exist.
func (s *Session) pair(ctx context.Context, seq int64) (*Pair, error) {
	pairs, err := s.load(ctx, []int64{seq})
	if err != nil {
		return nil, err
	}
	if len(pairs) == 0 {
		return nil, ErrNoPair
	}
	return &pairs[0], nil
}

// uncutPair is pair for a pair that must not have been rolled back: what was stored in it
// would not be seen again.
func (s *Session) uncutPair(ctx context.Context, seq int64) (*Pair, error) {
	p, err := s.pair(ctx, seq)
	if err != nil {
		return nil, err
	}
	refs, err := s.refs(ctx, p.Session)
	if _, uncut := slices.BinarySearchFunc(refs, Ref{Seq: seq}, bySeq); err == nil && !uncut {
		err = ErrNoPair
	}
	return p, err
}
