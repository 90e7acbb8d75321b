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
	sent  []memoryRequest // oldest first
}

type memoryPair struct {
	Pair
	cut string
}

// memoryRequest is a request of the pair with this Seq.
type memoryRequest struct {
	seq int64
	SentRequest
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
	s.sent = slices.DeleteFunc(s.sent, func(r memoryRequest) bool { return slices.Contains(b.Delete, r.seq) })
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
			if have := &s.pairs[i]; b.KeepMarks {
				p.Star, p.Flag, p.Topic = have.Star, have.Flag, have.Topic
			}
			s.pairs[i].Pair = clonePair(p)
		}
	}
	for _, m := range b.Marks {
		if i, ok := s.find(m.Seq); ok {
			m.set(&s.pairs[i].Pair)
		}
	}
	s.keep(b.Requests)
	return nil
}

// set marks p.
func (m PairMark) set(p *Pair) {
	if m.Star != nil {
		p.Star = *m.Star
	}
	if m.Flag != nil {
		p.Flag = *m.Flag
	}
	if m.Topic != nil {
		p.Topic = *m.Topic
	}
}

// keep adds requests of pairs that are there and drops the oldest beyond the bounds.
func (s *MemoryStore) keep(requests []PairRequest) {
	for _, r := range requests {
		if _, ok := s.find(r.Pair.Seq); ok {
			s.sent = append(s.sent, memoryRequest{r.Pair.Seq, r.SentRequest})
		}
	}
	pairs, bytes := map[int64]bool{}, 0
	for i, r := range slices.Backward(s.sent) {
		pairs[r.seq] = true
		bytes += len(r.Body)
		if len(pairs) > KeptRequestPairs || bytes > KeptRequestBytes {
			s.sent = slices.Delete(s.sent, 0, i+1)
			return
		}
	}
}

// Requests returns the requests of a pair as they were sent, oldest first.
func (s *MemoryStore) Requests(_ context.Context, seq int64) ([]SentRequest, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []SentRequest
	for _, r := range s.sent {
		if r.seq == seq {
			out = append(out, r.SentRequest)
		}
	}
	return out, nil
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
