package assistant

import (
	"context"
	"strings"

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

// Mark changes what a user may set on a pair at any time, the running one
// included: star, flag and topic. Nothing else that change does is kept.
func (s *Session) Mark(ctx context.Context, seq int64, change func(*Pair)) error {
	pairs, err := s.opts.Store.Load(ctx, []int64{seq})
	if err != nil {
		return err
	}
	if len(pairs) == 0 {
		return ErrNoPair
	}
	was, wish := &pairs[0], clonePair(&pairs[0])
	change(&wish)
	mark := PairMark{Seq: seq}
	if wish.Star != was.Star {
		mark.Star = &wish.Star
	}
	if wish.Flag != was.Flag {
		mark.Flag = &wish.Flag
	}
	if wish.Topic != was.Topic {
		mark.Topic = &wish.Topic
	}
	if mark == (PairMark{Seq: seq}) {
		return nil
	}
	return s.opts.Store.Commit(ctx, &Batch{Marks: []PairMark{mark}})
}

// TopicSeparator stands between the names of a topic's path.
const TopicSeparator = " > "

// SetTopic gives the pairs to come a topic, as a path.
func (s *Session) SetTopic(path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.topic = path
}

// Topic is the topic of the pairs to come.
func (s *Session) Topic() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.topic
}

// TopicMoved lets the topic of the pairs to come follow a topic that was
// renamed, moved or dissolved into the one above it, to. It is told after the
// store has done so, and tells whether it had to follow.
func (s *Session) TopicMoved(from, to string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	rest, below := strings.CutPrefix(s.topic, from+TopicSeparator)
	switch {
	case from == "" || (s.topic != from && !below):
		return false
	case !below:
		s.topic = to
	case to == "":
		s.topic = rest
	default:
		s.topic = to + TopicSeparator + rest
	}
	return true
}
