package assistant

import (
	"cmp"
	"context"
	"slices"
	"sync"
)

// MemoryStore is a Store that lasts as long as the process. The zero value is
// empty and ready; it is safe from any goroutine.
type MemoryStore struct {
	mu    sync.Mutex
	pairs []memoryPair // by Seq
	last  int64
	done  map[string]bool // intents
}

type memoryPair struct {
	Pair
	cut string
}

// Commit implements Store.
func (s *MemoryStore) Commit(_ context.Context, b *Batch) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if b.Intent != "" {
		if s.done[b.Intent] {
			return nil
		}
		s.done = map[string]bool{b.Intent: true}
	}
	s.pairs = slices.DeleteFunc(s.pairs, func(p memoryPair) bool { return slices.Contains(b.Delete, p.Seq) })
	for i := range s.pairs {
		p := &s.pairs[i]
		switch {
		case b.Uncut != "" && p.cut == b.Uncut:
			p.cut = ""
		case b.Cut != nil && p.cut == "" && p.Seq >= b.Cut.From && slices.Contains(b.Cut.Sessions, p.Session):
			p.cut = b.Cut.Name
		}
	}
	for _, p := range b.Put {
		if p.Seq == 0 {
			s.last++
			p.Seq = s.last
			s.pairs = append(s.pairs, memoryPair{Pair: clonePair(p)})
		} else if i, ok := s.find(p.Seq); ok {
			s.pairs[i].Pair = clonePair(p)
		}
	}
	return nil
}

func (s *MemoryStore) find(seq int64) (int, bool) {
	return slices.BinarySearchFunc(s.pairs, seq, func(p memoryPair, seq int64) int { return cmp.Compare(p.Seq, seq) })
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
	for i := range s.pairs {
		p := &s.pairs[i]
		if p.cut == "" && (session == "" || p.Session == session) {
			out = append(out, PairRef(&p.Pair, charsPerToken))
		}
	}
	return out, nil
}

// PairRef is what the boundary needs to know of a pair.
func PairRef(p *Pair, charsPerToken float64) Ref {
	return Ref{Seq: p.Seq, Cost: PairCost(p, charsPerToken), Sends: PairSends(p)}
}

// clonePair copies a pair with the lists that a running turn appends to.
func clonePair(p *Pair) Pair {
	c := *p
	c.ToolCalls = slices.Clone(p.ToolCalls)
	c.Payloads = slices.Clone(p.Payloads)
	c.Attachments = slices.Clone(p.Attachments)
	if p.Suggested != nil {
		c.Suggested = &Suggested{slices.Clone(p.Suggested.Values), slices.Clone(p.Suggested.Actions)}
	}
	if p.Usage != nil {
		u := *p.Usage
		c.Usage = &u
	}
	return c
}
