package history

import (
	"fmt"
	"slices"
	"testing"

	"winnow/assistant"
)

// Before and after the index of all pairs is read, topics are counted alike,
// and cut pairs in neither way.
func TestTopicsAreCountedAlike(t *testing.T) {
	s := newStore(t)
	for i, topic := range []string{"A", "A > B", "A > B", "A > B > C", "AB", "", "AB", "A > B"} {
		p := &assistant.Pair{Session: fmt.Sprint("s", i/6), Topic: topic, State: assistant.PairComplete}
		if err := s.Commit(t.Context(), &assistant.Batch{Put: []*assistant.Pair{p}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.CreateTopic(t.Context(), "Empty"); err != nil {
		t.Fatal(err)
	}
	cut := &assistant.Cut{Name: "c", Sessions: []string{"s1"}, From: 1}
	if err := s.Commit(t.Context(), &assistant.Batch{Cut: cut}); err != nil {
		t.Fatal(err)
	}
	want := []Topic{{"A", 1, 4}, {"A > B", 2, 3}, {"A > B > C", 1, 1}, {"AB", 1, 1}, {"Empty", 0, 0}}
	for _, warm := range []bool{false, true} {
		if warm {
			if err := s.Warm(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if loaded := s.index.current.Load() != nil; loaded != warm {
			t.Fatalf("the index is read: %v", loaded)
		}
		if got, err := s.Topics(t.Context()); err != nil || !slices.Equal(got, want) {
			t.Errorf("with the index %v: %v, %v; want %v", warm, got, err, want)
		}
	}
	paths, err := s.TopicPaths(t.Context())
	if err != nil || !slices.Equal(paths, []string{"A", "A > B", "A > B > C", "AB", "Empty"}) {
		t.Errorf("paths %q, %v", paths, err)
	}
}
