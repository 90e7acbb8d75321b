package history

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"winnow/assistant"
	"winnow/assistant/history"
	"winnow/assistant/history/transfer"
	"winnow/assistant/safetext"
)

// Snapshot is the history as last read, for a pane to draw. It is immutable and shared by all readers.
type Snapshot struct {
	Read         bool // true after the first Read
	Topics       []history.Topic
	Pairs        int // all pairs, with or without a topic
	WithoutTopic int // pairs without a topic
	Filters      []transfer.SavedFilter
}

// Read is the act that updates the Snapshot, if the history has changed since the last Read.
type Read struct{}

// Step implements [assistant.Act]; Read is not a step that can be undone.
func (Read) Step() string { return "" }

// Act implements [assistant.Actor].
func (w *Window) Act(ctx context.Context, act assistant.Act, _ int64) (done safetext.Text, err error) {
	if _, ok := act.(Read); !ok {
		return "", fmt.Errorf("%T is not an act of the history window", act)
	}
	return "", w.read(ctx)
}

// Snapshot implements [assistant.Snapshotter]. It answers from memory.
func (w *Window) Snapshot() (snapshot any, revision int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.snapshot, w.revision
}

// Revision increases with every change to the snapshot.
func (w *Window) Revision() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.revision
}

// Changed returns a channel that is closed the next time that Revision increases.
func (w *Window) Changed() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.wake == nil {
		w.wake = make(chan struct{})
	}
	return w.wake
}

// read takes a snapshot of the store, unless it has already tried to do so at the store's current revision.
func (w *Window) read(ctx context.Context) error {
	w.reading.Lock()
	defer w.reading.Unlock()
	revision := w.store.Revision() // read the revision first, so that a commit during the read is noticed next time
	if revision == w.readRevision {
		return nil
	}
	w.readRevision = revision
	s, err := readSnapshot(ctx, w.store)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.snapshot = s
	w.revision++
	if w.wake != nil {
		close(w.wake)
		w.wake = nil
	}
	return nil
}

func readSnapshot(ctx context.Context, store Store) (*Snapshot, error) {
	s := &Snapshot{Read: true}
	var err error
	if s.Topics, err = store.Topics(ctx); err != nil {
		return nil, err
	}
	if s.Pairs, err = store.Count(ctx, nil, history.Env{}); err != nil {
		return nil, err
	}
	s.WithoutTopic = s.Pairs
	for _, t := range s.Topics {
		s.WithoutTopic -= t.Pairs
	}
	s.WithoutTopic = max(s.WithoutTopic, 0) // the counts are not from the same transaction
	saved, err := store.SavedFilters(ctx)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(saved)) {
		s.Filters = append(s.Filters, transfer.SavedFilter{Name: name, Line: saved[name]})
	}
	return s, nil
}
