package transfer

import (
	"path/filepath"
	"testing"
	"time"

	"winnow/assistant"
	"winnow/assistant/history"
	"winnow/assistant/history/historytest"
	"winnow/assistant/history/sqlite"
	"winnow/assistant/safetext"
)

func newStore(t testing.TB) history.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "data", "history.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// day is the first moment of the tests' clock.
var day = time.Date(2026, 3, 4, 5, 6, 7, 800900, time.FixedZone("", 3600))

// pair returns a complete pair with these texts.
func pair(session, user, answer string) *assistant.Pair {
	return &assistant.Pair{
		Session: session, Model: "openai/gpt-5.1", UserText: safetext.Text(user), AssistantText: safetext.Text(answer),
		Flag: true, State: assistant.PairComplete, CreatedAt: day,
	}
}

// full returns a pair that has something in every field but the author: its history
// has one user.
func full() *assistant.Pair {
	p := historytest.FullPair()
	p.Author = ""
	return p
}

func commit(t testing.TB, s history.Store, b *assistant.Batch) {
	t.Helper()
	if err := s.Commit(t.Context(), b); err != nil {
		t.Fatalf("Commit: %v", err)
	}
}

func put(t testing.TB, s history.Store, pairs ...*assistant.Pair) {
	t.Helper()
	commit(t, s, &assistant.Batch{Put: pairs})
}

// seqs lists the uncut pairs of a session.
func seqs(t testing.TB, s history.Store, session string) (all []int64) {
	t.Helper()
	refs, err := s.Refs(t.Context(), session, 1)
	if err != nil {
		t.Fatalf("Refs: %v", err)
	}
	for _, r := range refs {
		all = append(all, r.Seq)
	}
	return all
}

func load(t testing.TB, s history.Store, want ...int64) []assistant.Pair {
	t.Helper()
	got, err := s.Load(t.Context(), want)
	if err != nil {
		t.Fatalf("Load: %v", err)
	}
	return got
}
