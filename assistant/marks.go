package assistant

import (
	"context"
	"strings"
)

// Delete removes pairs for good.
func (s *Session) Delete(ctx context.Context, seqs ...int64) error {
	release, err := s.acquireWork()
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
	s.view.drop(func(seq int64) bool { return gone[seq] })
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
	was, now := &pairs[0], clonePair(&pairs[0])
	change(&now)
	mark := PairMark{Seq: seq}
	if now.Star != was.Star {
		mark.Star = &now.Star
	}
	if now.Flag != was.Flag {
		mark.Flag = &now.Flag
	}
	if now.Topic != was.Topic {
		mark.Topic = &now.Topic
	}
	if mark == (PairMark{Seq: seq}) {
		return nil
	}
	return s.opts.Store.Commit(ctx, &Batch{Marks: []PairMark{mark}})
}

// movedTopic is the path of topic after from became to, if topic is from or
// below it.
func movedTopic(topic, from, to string) (string, bool) {
	rest, below := strings.CutPrefix(topic, from+TopicSeparator)
	switch {
	case from == "" || (topic != from && !below):
		return topic, false
	case !below:
		return to, true
	case to == "":
		return rest, true
	}
	return to + TopicSeparator + rest, true
}
