package historytest

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"winnow/assistant"
	"winnow/assistant/history"
)

func marksAreRestored(t *testing.T, s history.Store) {
	t.Helper()
	a, b := pair("x", "1", ""), pair("x", "2", "")
	a.Star, a.Topic = 1, "Old"
	put(t, s, a, b)
	three, topic := 3, "New > Deep"
	before, err := s.Mark(t.Context(), []int64{a.Seq, b.Seq}, history.Mark{Star: &three, Topic: &topic})
	must(t, err)
	if len(before.Marks) != 2 || len(before.NewTopics) != 2 {
		t.Fatalf("before = %+v", before)
	}
	before.Topics = []string{"Made > Here"}
	must(t, s.Restore(t.Context(), before))
	got, err := s.Load(t.Context(), []int64{a.Seq, b.Seq})
	must(t, err)
	paths, err := s.TopicPaths(t.Context())
	must(t, err)
	if got[0].Star != 1 || got[0].Topic != "Old" || got[1].Star != 0 || got[1].Topic != "" || !slices.Equal(paths, []string{"Made", "Made > Here", "Old"}) {
		t.Errorf("restored %+v, topics %v", got, paths)
	}
	revision := s.Revision()
	if _, err := s.Mark(t.Context(), []int64{a.Seq}, history.Mark{Star: &three}); err != nil || s.Revision() <= revision {
		t.Errorf("Revision = %d after %d, %v", s.Revision(), revision, err)
	}
}

// missingPairsAreNamed tries to change pairs that do not exist, alone and together with
// one that does.
func missingPairsAreNamed(t *testing.T, s history.Store) {
	t.Helper()
	ctx := t.Context()
	a, gone := pair("x", "1", ""), pair("x", "2", "")
	put(t, s, a, gone)
	must(t, s.Commit(ctx, &assistant.Batch{Delete: []int64{gone.Seq}}))
	three, blue, topic := 3, true, "New"
	for name, change := range map[string]func(seqs ...int64) error{
		"delete": func(seqs ...int64) error { return s.Commit(ctx, &assistant.Batch{Delete: seqs}) },
		"star": func(seqs ...int64) error {
			_, err := s.Mark(ctx, seqs, history.Mark{Star: &three})
			return err
		},
		"mark": func(seqs ...int64) error {
			b := &assistant.Batch{}
			for _, seq := range seqs {
				b.Marks = append(b.Marks, assistant.PairMark{Seq: seq, Star: &three, Flag: &blue, Topic: &topic})
			}
			return s.Commit(ctx, b)
		},
	} {
		for _, seqs := range [][]int64{{gone.Seq}, {a.Seq, gone.Seq}, {99}} {
			err := change(seqs...)
			if want := fmt.Sprintf("message %d", seqs[len(seqs)-1]); !errors.Is(err, assistant.ErrNoPair) || !strings.Contains(err.Error(), want) {
				t.Errorf("%s %v: %v, want ErrNoPair for %s", name, seqs, err, want)
			}
		}
	}
	got, err := s.Load(ctx, []int64{a.Seq})
	must(t, err)
	if len(got) != 1 || got[0].Star != 0 || got[0].Topic != "" {
		t.Errorf("after failed changes, Load = %+v", got)
	}
	must(t, s.Restore(ctx, history.Snapshot{Marks: []assistant.PairMark{{Seq: gone.Seq, Star: &three}, {Seq: a.Seq, Star: &three}}}))
	if got, err = s.Load(ctx, []int64{a.Seq, gone.Seq}); err != nil || len(got) != 1 || got[0].Star != 3 {
		t.Errorf("Restore of a deleted and an existing pair: %+v, %v", got, err)
	}
}

func marksAreGrouped(t *testing.T, s history.Store) {
	t.Helper()
	a, b, c, d := pair("x", "1", ""), pair("y", "2", ""), pair("y", "3", ""), pair("x", "cut", "")
	a.Star, b.Topic, c.Star = 3, "AI", 3
	put(t, s, a, b, c, d)
	must(t, s.Commit(t.Context(), &assistant.Batch{Cut: &assistant.Cut{Name: "c", Sessions: []string{"x"}, From: d.Seq}}))
	got, err := s.MarkGroups(t.Context())
	must(t, err)
	slices.SortFunc(got, func(a, b history.MarkGroup) int { return b.Star - a.Star })
	want := []history.MarkGroup{{Star: 3, Flag: true, Seqs: []int64{a.Seq, c.Seq}}, {Flag: true, Topic: "AI", Seqs: []int64{b.Seq}}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("MarkGroups = %+v, want %+v", got, want)
	}
}
