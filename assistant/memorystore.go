package assistant

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
)

// MemoryStore is a Store in memory that stores no requests. The zero value is
// empty and ready to use; it may be used from any goroutine.
type MemoryStore struct {
	mu     sync.Mutex
	pairs  []*memoryPair // by Seq; a stored pair is replaced, never changed
	last   int64
	intent string // the last intent applied

	branches map[string]Branch // by session id
}

type memoryPair struct {
	Pair
	cut string // name of its Cut; "" if not cut
}

// Commit implements Store.
func (s *MemoryStore) Commit(_ context.Context, b *Batch) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if b.Intent != "" && s.intent == b.Intent {
		return nil
	}
	put := b.Put
	if b.Cancelled != nil {
		put = append(slices.Clip(put), b.Cancelled)
	}
	next := MemoryStore{pairs: slices.Clone(s.pairs), last: s.last}
	stored, err := next.apply(b, put)
	if err != nil {
		return err
	}
	for i, p := range put {
		p.Seq, p.Star, p.Flag, p.Topic = stored[i].Seq, stored[i].Star, stored[i].Flag, stored[i].Topic
	}
	s.pairs, s.last, s.intent = next.pairs, next.last, cmp.Or(b.Intent, s.intent)
	return nil
}

// apply applies a batch, or a part of it if it fails. It returns the pairs of
// put as they were stored.
func (s *MemoryStore) apply(b *Batch, put []*Pair) (stored []*memoryPair, err error) {
	for _, seq := range b.Delete {
		if _, ok := s.find(seq); !ok {
			return nil, fmt.Errorf("message %d: %w", seq, ErrNoPair)
		}
	}
	s.pairs = slices.DeleteFunc(s.pairs, func(p *memoryPair) bool {
		return slices.Contains(b.Delete, p.Seq) || b.Forget != "" && p.cut == CancelledCut(b.Forget)
	})
	s.cut(b)
	for _, p := range put {
		stored = append(stored, s.put(p, b.KeepMarks))
	}
	if b.Cancelled != nil {
		stored[len(stored)-1].cut = CancelledCut(b.Cancelled.Session)
	}
	for _, a := range b.Answers {
		if err := s.change(a.Seq, a.Apply); err != nil {
			return nil, err
		}
	}
	for _, m := range b.Marks {
		mark := func(p *Pair) error {
			set(&p.Star, m.Star)
			set(&p.Flag, m.Flag)
			set(&p.Topic, m.Topic)
			return nil
		}
		if err := s.change(m.Seq, mark); err != nil {
			return nil, err
		}
	}
	return stored, nil
}

// cut hides and restores the pairs that a batch names.
func (s *MemoryStore) cut(b *Batch) {
	for i, p := range s.pairs {
		cut := p.cut
		switch {
		case b.Keep != "" && cut == CancelledCut(b.Keep):
			cut = ""
		case b.Uncut != "" && cut == b.Uncut:
			cut = ""
		case b.Cut != nil && cut == "" && p.Seq >= b.Cut.From && slices.Contains(b.Cut.Sessions, p.Session):
			cut = b.Cut.Name
		}
		if cut != p.cut {
			s.pairs[i] = &memoryPair{p.Pair, cut}
		}
	}
}

// put stores a copy of p: see Batch.Put.
func (s *MemoryStore) put(p *Pair, keepMarks bool) *memoryPair {
	c := &memoryPair{Pair: clonePair(p)}
	if c.Seq == 0 {
		c.Seq = s.last + 1
		if i := slices.IndexFunc(s.pairs, func(have *memoryPair) bool { return c.ID != "" && have.ID == c.ID }); i >= 0 {
			c.Seq = s.pairs[i].Seq
		}
	}
	s.last = max(s.last, c.Seq)
	i, ok := s.find(c.Seq)
	if !ok {
		s.pairs = slices.Insert(s.pairs, i, c)
		return c
	}
	have := s.pairs[i]
	if c.cut = have.cut; keepMarks {
		c.Star, c.Flag, c.Topic = have.Star, have.Flag, have.Topic
	}
	s.pairs[i] = c
	return c
}

// change replaces the pair with this Seq with a copy that f has changed.
func (s *MemoryStore) change(seq int64, f func(*Pair) error) error {
	i, ok := s.find(seq)
	if !ok {
		return fmt.Errorf("message %d: %w", seq, ErrNoPair)
	}
	c := &memoryPair{clonePair(&s.pairs[i].Pair), s.pairs[i].cut}
	if err := f(&c.Pair); err != nil {
		return fmt.Errorf("message %d: %w", seq, err)
	}
	s.pairs[i] = c
	return nil
}

// Cancelled implements CancelledStore.
func (s *MemoryStore) Cancelled(_ context.Context, session string) (seq int64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.pairs {
		if s.pairs[i].cut == CancelledCut(session) {
			seq = s.pairs[i].Seq
		}
	}
	return seq, nil
}

// Branch implements BranchStore.
func (s *MemoryStore) Branch(_ context.Context, session string, from Branch) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.branches == nil {
		s.branches = map[string]Branch{}
	}
	if _, exists := s.branches[session]; exists {
		return ErrSessionExists
	}
	s.branches[session] = from
	return nil
}

// set assigns *value to *to, unless value is nil.
func set[T any](to, value *T) {
	if value != nil {
		*to = *value
	}
}

func (s *MemoryStore) find(seq int64) (int, bool) {
	return slices.BinarySearchFunc(s.pairs, seq, func(p *memoryPair, seq int64) int { return cmp.Compare(p.Seq, seq) })
}

// Load implements Store.
func (s *MemoryStore) Load(_ context.Context, seqs []int64) ([]Pair, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]Pair, 0, len(seqs))
	for _, seq := range seqs {
		if i, ok := s.find(seq); ok {
			out = append(out, clonePair(&s.pairs[i].Pair))
		}
	}
	return out, nil
}

// Refs implements Store.
func (s *MemoryStore) Refs(_ context.Context, session string, charsPerToken float64) ([]Ref, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Ref
	lineage := Lineage(session, s.branches)
	inView := func(p *memoryPair) bool {
		return slices.ContainsFunc(lineage, func(b Branch) bool { return b.Parent == p.Session && p.Seq <= b.UpTo })
	}
	for _, p := range s.pairs {
		if p.cut == "" && (session == "" || inView(p)) {
			out = append(out, PairRef(&p.Pair, charsPerToken))
		}
	}
	return out, nil
}
