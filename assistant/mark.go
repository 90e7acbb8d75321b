package assistant

import (
	"context"

	"winnow/assistant/budget"
)

// Delete removes pairs for good.
func (s *Session) Delete(ctx context.Context, seqs ...int64) error {
	release, err := s.use()
	if err != nil {
		return err
	}
	defer release()
	if err := s.opts.Store.Commit(ctx, &Batch{Delete: seqs}); err != nil {
		return err
	}
	gone := map[int64]bool{}
	for _, seq := range seqs {
		gone[seq] = true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.view.drop(budget.PairDeleted, func(seq int64) bool { return gone[seq] })
	return nil
}

// Mark changes what a user may set on a pair at any time: star, flag and
// topic. Nothing else that change does is kept.
func (s *Session) Mark(ctx context.Context, seq int64, change func(*Pair)) error {
	if running, ok := s.Running(); ok && running == seq {
		return ErrBusy
	}
	pairs, err := s.opts.Store.Load(ctx, []int64{seq})
	if err != nil {
		return err
	}
	if len(pairs) == 0 {
		return ErrNoPair
	}
	p, wish := pairs[0], clonePair(&pairs[0])
	change(&wish)
	p.Star, p.Flag, p.Topic = wish.Star, wish.Flag, wish.Topic
	return s.opts.Store.Commit(ctx, &Batch{Put: []*Pair{&p}})
}
