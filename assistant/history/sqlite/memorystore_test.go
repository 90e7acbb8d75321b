package sqlite

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"winnow/assistant"
	"winnow/assistant/safetext"
)

// anyBatch draws a batch for a store that has given out the Seqs up to last.
func anyBatch(t *rapid.T, n int, last int64) *assistant.Batch {
	sessions := rapid.SampledFrom([]string{"a", "b", "c"})
	seqs := rapid.OneOf(rapid.Int64Range(min(last, 1), last), rapid.Just(int64(99)))
	drawPair := func(seq int64) *assistant.Pair {
		p := pair(sessions.Draw(t, "session"), fmt.Sprint("question ", n), fmt.Sprint("answer ", n))
		p.Seq, p.Star, p.Topic = seq, rapid.IntRange(0, 3).Draw(t, "star"), rapid.SampledFrom([]string{"", "AI", "AI > Agents"}).Draw(t, "topic")
		p.ID = fmt.Sprintf("id%d-%d", n, seq)
		return p
	}
	b := &assistant.Batch{KeepMarks: rapid.Bool().Draw(t, "keep marks")}
	used := map[int64]bool{}
	for range rapid.IntRange(0, 2).Draw(t, "puts") {
		seq := rapid.SampledFrom([]int64{0, 0, seqs.Draw(t, "seq")}).Draw(t, "put")
		if seq == 0 || !used[seq] && seq <= last {
			used[seq] = true
			p := drawPair(seq)
			if seq == 0 {
				p.ID += fmt.Sprint("-", len(b.Put))
			}
			b.Put = append(b.Put, p)
		}
	}
	for range rapid.IntRange(0, 2).Draw(t, "answers") {
		a := assistant.PairAnswer{Seq: seqs.Draw(t, "answered"), ID: rapid.SampledFrom([]string{"", "x", "y"}).Draw(t, "answer"), Choose: rapid.Bool().Draw(t, "choose")}
		if a.ID != "" && rapid.Bool().Draw(t, "add") {
			a.Add = &assistant.Variant{ID: a.ID, At: day, Model: "m", AssistantText: safetext.Text(fmt.Sprint("other ", n)), State: assistant.PairComplete}
		}
		b.Answers = append(b.Answers, a)
	}
	for range rapid.IntRange(0, 2).Draw(t, "marks") {
		b.Marks = append(b.Marks, assistant.PairMark{Seq: seqs.Draw(t, "marked"), Star: new(rapid.IntRange(0, 3).Draw(t, "new star"))})
	}
	switch rapid.IntRange(0, 9).Draw(t, "also") {
	case 0:
		b.Delete = []int64{seqs.Draw(t, "deleted")}
	case 1:
		b.Cut = &assistant.Cut{Name: rapid.SampledFrom([]string{"one", "two"}).Draw(t, "cut"), Sessions: []string{sessions.Draw(t, "of")}, From: seqs.Draw(t, "from")}
	case 2:
		b.Uncut = rapid.SampledFrom([]string{"one", "two"}).Draw(t, "uncut")
	case 3:
		b.Cancelled = drawPair(0)
		b.Cancelled.State, b.Cancelled.ID = assistant.PairPartial, fmt.Sprint("cancelled", n)
	case 4:
		b.Keep = sessions.Draw(t, "keep")
	case 5:
		b.Forget = sessions.Draw(t, "forget")
	case 6:
		b.Intent = rapid.SampledFrom([]string{"i", "j"}).Draw(t, "intent")
	}
	return b
}

// contents returns all that a store answers about the pairs up to last.
func contents(t *rapid.T, s assistant.Store, last int64) string {
	var out []any
	all := make([]int64, last+2)
	for i := range all {
		all[i] = int64(i)
	}
	pairs, err := s.Load(t.Context(), all)
	for i := range pairs {
		pairs[i].CreatedAt = pairs[i].CreatedAt.UTC()
		for j := range pairs[i].Variants {
			pairs[i].Variants[j].At = pairs[i].Variants[j].At.UTC()
		}
		out = append(out, pairs[i])
	}
	for _, session := range []string{"", "a", "b", "c"} {
		refs, refsErr := s.Refs(t.Context(), session, 4)
		seq, cancelledErr := s.(assistant.CancelledStore).Cancelled(t.Context(), session)
		out = append(out, refs, seq)
		err = errors.Join(err, refsErr, cancelledErr)
	}
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%+v", out)
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

// assistant.MemoryStore, which other programs and most tests use, does with all batches what
// the database does.
func TestMemoryStoreDoesWhatTheDatabaseDoes(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		s, err := openStore(t.Context(), filepath.Join(t.TempDir(), "history.db"), Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		memory, last := &assistant.MemoryStore{}, int64(0)
		for n := range 8 {
			b := anyBatch(r, n, last)
			c := copyOf(b)
			got, want := memory.Commit(t.Context(), b), s.Commit(t.Context(), c)
			same := (got == nil) == (want == nil)
			for _, reason := range []error{assistant.ErrNoPair, assistant.ErrNoVariant} {
				same = same && errors.Is(got, reason) == errors.Is(want, reason)
			}
			if !same {
				r.Fatalf("batch %d: %v in memory, %v in the database", n, got, want)
			}
			for _, p := range slices.Concat(c.Put, []*assistant.Pair{c.Cancelled}) {
				if p != nil {
					last = max(last, p.Seq)
				}
			}
			if got, want := contents(r, memory, last), contents(r, s, last); got != want {
				r.Fatalf("after batch %d:\n%s\nin memory,\n%s\nin the database", n, got, want)
			}
		}
	})
}
