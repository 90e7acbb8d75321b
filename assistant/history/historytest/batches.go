package historytest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"winnow/assistant"
	"winnow/assistant/assistanttest"
	"winnow/assistant/history"
	"winnow/assistant/safetext"
)

// batchesDoWhatMemoryStoreDoes commits random batches to s and to an assistant.MemoryStore,
// which must then contain the same.
func batchesDoWhatMemoryStoreDoes(t *testing.T, s history.Store) {
	t.Helper()
	seed := rand.Uint64()
	r := batches{rand.New(rand.NewPCG(seed, 1))}
	memory, last := &assistant.MemoryStore{}, int64(0)
	for n := range assistanttest.Rounds(60, 300) {
		b := r.batch(n, last)
		if err := commitToBoth(t, s, memory, b); err != nil {
			last = skipSeqs(t, s, memory, fmt.Sprintf("after%d", n))
		}
		for _, p := range slices.Concat(b.Put, []*assistant.Pair{b.Cancelled}) {
			if p != nil {
				last = max(last, p.Seq)
			}
		}
		got, want := contents(t, s, last), contents(t, memory, last)
		for i := range got {
			if got[i] != want[i] {
				t.Errorf("in the database %s\nin memory %s", got[i], want[i])
			}
		}
		if t.Failed() {
			t.Fatalf("seed %d: after batch %d: %+v", seed, n, *b)
		}
	}
}

// commitToBoth commits b to memory and a copy of b to s, and returns the error. Both must
// fail for the same reason, or neither.
func commitToBoth(t *testing.T, s history.Store, memory *assistant.MemoryStore, b *assistant.Batch) error {
	t.Helper()
	got, want := s.Commit(t.Context(), copyOf(b)), memory.Commit(t.Context(), b)
	same := (got == nil) == (want == nil)
	for _, reason := range []error{assistant.ErrNoPair, assistant.ErrNoVariant} {
		same = same && errors.Is(got, reason) == errors.Is(want, reason)
	}
	if !same {
		t.Errorf("Commit = %v, in memory %v", got, want)
	}
	return want
}

// skipSeqs puts a pair into both stores so that it has the same Seq, and returns that. After a
// batch that failed, a store may leave out Seqs.
func skipSeqs(t *testing.T, s history.Store, memory *assistant.MemoryStore, id string) int64 {
	t.Helper()
	p := pair("a", "q", "a")
	p.ID = id
	put(t, s, p)
	for {
		c := *p
		c.Seq = 0
		must(t, memory.Commit(t.Context(), &assistant.Batch{Put: []*assistant.Pair{&c}}))
		if c.Seq >= p.Seq {
			return c.Seq
		}
		must(t, memory.Commit(t.Context(), &assistant.Batch{Delete: []int64{c.Seq}}))
	}
}

// batches draws random batches.
type batches struct{ *rand.Rand }

func oneOf[T any](r batches, all ...T) T { return all[r.IntN(len(all))] }

func (r batches) session() string { return oneOf(r, "a", "b", "c") }

// seq returns the Seq of a pair that is stored or was deleted, or rarely another one.
func (r batches) seq(last int64) int64 {
	if last == 0 || r.IntN(10) == 0 {
		return last + 100
	}
	return max(1, last-r.Int64N(12))
}

func (r batches) pair(id string, seq int64) *assistant.Pair {
	p := pair(r.session(), "question "+id, "answer "+id)
	p.ID, p.Seq, p.Star, p.Topic = id, seq, r.IntN(4), oneOf(r, "", "AI", "AI > Agents")
	return p
}

// batch returns the batch number n for a store in which last is the largest Seq.
func (r batches) batch(n int, last int64) *assistant.Batch {
	b := &assistant.Batch{KeepMarks: r.IntN(2) == 0}
	for i := range r.IntN(3) {
		seq := oneOf(r, 0, 0, r.seq(last))
		if seq <= last && !slices.ContainsFunc(b.Put, func(p *assistant.Pair) bool { return seq != 0 && p.Seq == seq }) {
			b.Put = append(b.Put, r.pair(fmt.Sprintf("id%d-%d", n, i), seq))
		}
	}
	if len(b.Put) == 0 && r.IntN(5) == 0 {
		b.Put = append(b.Put, r.pair(fmt.Sprintf("id%d-0", n-1), 0)) // the ID may be stored
	}
	if r.IntN(2) == 0 {
		a := assistant.PairAnswer{Seq: r.seq(last), ID: oneOf(r, "", "x", "y"), Choose: r.IntN(2) == 0}
		if a.ID != "" && r.IntN(4) > 0 {
			a.Add = &assistant.Variant{ID: a.ID, At: now, Model: "m", AssistantText: safetext.Sprintf("other %d", n), State: assistant.PairComplete}
		}
		b.Answers = append(b.Answers, a)
		b.Answers = append(b.Answers, assistant.PairAnswer{Seq: a.Seq, Choose: true})[:1+r.IntN(2)]
	}
	if r.IntN(2) == 0 {
		b.Marks = append(b.Marks, assistant.PairMark{Seq: r.seq(last), Star: new(r.IntN(4))})
	}
	switch r.IntN(10) {
	case 0:
		b.Delete = []int64{r.seq(last)}
	case 1:
		b.Cut = &assistant.Cut{Name: oneOf(r, "one", "two"), Sessions: []string{r.session()}, From: r.seq(last)}
	case 2:
		b.Uncut = oneOf(r, "one", "two")
	case 3:
		b.Cancelled = r.pair(fmt.Sprintf("cancelled%d", n), 0)
		b.Cancelled.State = assistant.PairPartial
	case 4:
		b.Keep = r.session()
	case 5:
		b.Forget = r.session()
	case 6:
		b.Intent = fmt.Sprintf("intent%d", n-r.IntN(2))
	}
	return b
}

// copyOf returns a batch with the same contents, whose pairs another store may change.
func copyOf(b *assistant.Batch) *assistant.Batch {
	c := *b
	c.Put = nil
	for _, p := range b.Put {
		c.Put = append(c.Put, new(*p))
	}
	if b.Cancelled != nil {
		c.Cancelled = new(*b.Cancelled)
	}
	return &c
}

// contents returns all that s answers about the pairs up to last, except what only a shared
// database adds. It has an element for each Seq and for each session.
func contents(t *testing.T, s assistant.Store, last int64) []string {
	t.Helper()
	out, all := make([]string, last+1), make([]int64, last+1)
	for seq := range all {
		all[seq] = int64(seq)
	}
	pairs, err := s.Load(t.Context(), all)
	must(t, err)
	for _, p := range pairs {
		p.Author, p.CreatedAt, p.AnsweredAt = "", p.CreatedAt.UTC(), p.AnsweredAt.UTC()
		for i := range p.Variants {
			p.Variants[i].At = p.Variants[i].At.UTC()
		}
		out[p.Seq] = fmt.Sprintf("%+v", p)
	}
	for _, session := range []string{"", "a", "b", "c"} {
		refs, err := s.Refs(t.Context(), session, 4)
		must(t, err)
		cancelled, err := s.(assistant.CancelledStore).Cancelled(t.Context(), session)
		must(t, err)
		out = append(out, fmt.Sprintf("%q: %+v, cancelled %d", session, refs, cancelled))
	}
	return out
}
