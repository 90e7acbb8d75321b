package sqlite

import (
	"fmt"
	"slices"
	"testing"

	"winnow/assistant"
	"winnow/assistant/history"
)

// Cut pairs are not counted, those of descendants are.
func TestTopicsAreCounted(t *testing.T) {
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
	want := []history.Topic{{Path: "A", Pairs: 1, Total: 4}, {Path: "A > B", Pairs: 2, Total: 3}, {Path: "A > B > C", Pairs: 1, Total: 1}, {Path: "AB", Pairs: 1, Total: 1}, {Path: "Empty"}}
	if got, err := s.Topics(t.Context()); err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
	paths, err := s.TopicPaths(t.Context())
	if err != nil || !slices.Equal(paths, []string{"A", "A > B", "A > B > C", "AB", "Empty"}) {
		t.Errorf("paths %q, %v", paths, err)
	}
}
