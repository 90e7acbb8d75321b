//go:build unix

package postgres

import (
	"context"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"winnow/assistant"
	"winnow/assistant/history"
	"winnow/assistant/history/sqlite"
	"winnow/assistant/history/transfer"
)

// A history is copied there and back, an interrupted copy continues, and nothing is
// added twice.
func TestCopyThereAndBack(t *testing.T) {
	files := [2]history.Store{}
	for i := range files {
		s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "h", "history.db"), sqlite.Options{})
		must(t, err)
		t.Cleanup(func() { s.Close() })
		files[i] = s
	}
	team := newStore(t)
	g := generator{rand.New(rand.NewPCG(1, 2))}
	const pairs = 1200
	batch := &assistant.Batch{}
	for range pairs {
		batch.Put = append(batch.Put, g.pair())
	}
	must(t, files[0].Commit(t.Context(), batch), files[0].SaveFilter(t.Context(), "mine", "s3"), files[0].CreateTopic(t.Context(), "Empty"))

	ctx, cancel := context.WithCancel(t.Context())
	r, err := transfer.Copy(ctx, files[0], team, func(int, int) { cancel() })
	if !errors.Is(err, context.Canceled) || r.Added == 0 || r.Added == pairs {
		t.Fatalf("an interrupted copy: %+v, %v", r, err)
	}
	first := r.Added
	progress := func(done, total int) {
		if done > total {
			t.Errorf("%d of %d", done, total)
		}
	}
	for round, want := range []transfer.CopyReport{
		{Pairs: pairs, Added: pairs - first, Known: first},
		{Pairs: pairs, Known: pairs},
	} {
		if r, err := transfer.Copy(t.Context(), files[0], team, progress); err != nil || r != want {
			t.Errorf("round %d: %+v, %v; want %+v", round, r, err, want)
		}
	}
	if r, err := transfer.Copy(t.Context(), team, files[1], progress); err != nil || r.Added != pairs || r.Different != 0 {
		t.Errorf("back: %+v, %v", r, err)
	}
	saved, err := files[1].SavedFilters(t.Context())
	must(t, err)
	paths, err := files[1].TopicPaths(t.Context())
	must(t, err)
	if saved["mine"] != "s3" || len(paths) == 0 || paths[len(paths)-1] == "" {
		t.Errorf("saved filters %v, topics %v", saved, paths)
	}
	// What was changed after the copy is counted.
	star := (batch.Put[7].Star + 1) % 4
	_, err = files[0].Mark(t.Context(), []int64{batch.Put[7].Seq}, history.Mark{Star: &star})
	must(t, err)
	if r, err := transfer.Copy(t.Context(), files[0], team, progress); err != nil || r.Different != 1 {
		t.Errorf("after a change: %+v, %v; want 1 different", r, err)
	}
}
