package sqlite

import (
	"testing"

	"winnow/assistant"
	"winnow/assistant/history"
)

func TestABatchKeepsMarks(t *testing.T) {
	s := newStore(t)
	p := pair("x", "q", "")
	p.Topic, p.State = "Work > AI", assistant.PairSending
	put(t, s, p)
	star, off := 2, false
	if _, err := s.Mark(t.Context(), []int64{p.Seq}, history.Mark{Star: &star, Flag: &off}); err != nil {
		t.Fatal(err)
	}
	if err := s.MoveTopic(t.Context(), "Work > AI", "Play"); err != nil {
		t.Fatal(err)
	}
	fresh := pair("x", "new", "")
	fresh.Star, fresh.Topic = 1, "Other"
	p.AssistantText, p.State = "a", assistant.PairComplete
	commit(t, s, &assistant.Batch{Put: []*assistant.Pair{p, fresh}, KeepMarks: true})
	for name, got := range map[string]assistant.Pair{"stored": load(t, s, p.Seq)[0], "in memory": *p} {
		if got.Star != 2 || got.Flag || got.Topic != "Play" || got.AssistantText != "a" {
			t.Errorf("%s: star %d flag %v topic %q text %q; want what the user set, and the answer", name, got.Star, got.Flag, got.Topic, got.AssistantText)
		}
	}
	if got := load(t, s, fresh.Seq)[0]; got.Star != 1 || !got.Flag || got.Topic != "Other" {
		t.Errorf("a new pair lost its own marks: %+v", got)
	}
	topics, err := s.Topics(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, topic := range topics {
		if topic.Path == "Work > AI" {
			t.Error("the commit made the old topic again")
		}
	}
	// A pair under an ID that is known is that pair.
	again := *p
	again.Seq, again.Star = 0, 0
	commit(t, s, &assistant.Batch{Put: []*assistant.Pair{&again}, KeepMarks: true})
	if again.Seq != p.Seq || again.Star != 2 {
		t.Errorf("found by its ID: seq %d, star %d", again.Seq, again.Star)
	}
	// Without KeepMarks the pair says it all.
	commit(t, s, &assistant.Batch{Put: []*assistant.Pair{{ID: p.ID, Seq: p.Seq, Session: "x", State: assistant.PairComplete, CreatedAt: day}}})
	if got := load(t, s, p.Seq)[0]; got.Star != 0 || got.Topic != "" {
		t.Errorf("marks were kept unasked: %+v", got)
	}
}

func TestMarksOfABatchChangeNothingElse(t *testing.T) {
	s := newStore(t)
	p := full()
	put(t, s, p)
	star, topic, nine := 3, "New > Topic", 9
	commit(t, s, &assistant.Batch{Marks: []assistant.PairMark{{Seq: p.Seq, Star: &star}, {Seq: p.Seq, Topic: &topic}}})
	want := *p
	want.Star, want.Topic = star, topic
	if got := load(t, s, p.Seq)[0]; asJSON(t, got) != asJSON(t, want) {
		t.Errorf("Load = %s\nwant %s", asJSON(t, got), asJSON(t, want))
	}
	if err := s.Commit(t.Context(), &assistant.Batch{Marks: []assistant.PairMark{{Seq: p.Seq, Star: &nine}}}); err == nil {
		t.Error("nine stars were accepted")
	}
}
