package history

import (
	"fmt"
	"slices"
	"testing"

	"winnow/assistant"
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
	want := []Topic{{"A", 1, 4}, {"A > B", 2, 3}, {"A > B > C", 1, 1}, {"AB", 1, 1}, {"Empty", 0, 0}}
	if got, err := s.Topics(t.Context()); err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
	paths, err := s.TopicPaths(t.Context())
	if err != nil || !slices.Equal(paths, []string{"A", "A > B", "A > B > C", "AB", "Empty"}) {
		t.Errorf("paths %q, %v", paths, err)
	}
}
