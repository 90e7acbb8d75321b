package assistant

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"winnow/assistant/share"
	"winnow/checkpoint"
	"winnow/checkpoint/jsondelta"
)

// Checkpoints lists the checkpoints of this session, oldest first; "Session
// start" is always the first.
func (s *Session) Checkpoints() []checkpoint.Checkpoint { return s.opts.Journal.List(s.ID()) }

// Changes counts the changes of this session that are in effect: its checkpoints without
// its start and those that were undone.
func (s *Session) Changes() int {
	undone := func(c checkpoint.Checkpoint) bool { return c.Undone || c.Kind == checkpoint.KindStart }
	return len(slices.DeleteFunc(s.Checkpoints(), undone))
}

// LastStep is the newest change of the window that can be undone, whoever made it.
func (s *Session) LastStep() (checkpoint.Checkpoint, bool) { return s.opts.Journal.LastStep() }

// Edit runs a change of the window that the user makes by hand, as one step
// that can be undone. Either the change is in the journal and in the window, or
// in neither. A change that does not change the state, such as saving, is not a step.
func (s *Session) Edit(description string, change func() error) error {
	release, err := s.acquireWork(true)
	if err != nil {
		return err
	}
	defer release()
	ctx := context.Background()
	w, j := s.opts.Window, s.opts.Journal
	if w == nil || j == nil {
		return change()
	}
	if err := errors.Join(s.ensureStarted(ctx), s.finishRollback(ctx)); err != nil {
		return err
	}
	before, err := windowState(w)
	if err != nil {
		return err
	}
	if saved, _ := j.SavedState(); !jsondelta.Equal(saved, before) {
		if err := s.markSaved(before); err != nil { // what the next run compares the state with
			return err
		}
	}
	if err := change(); err != nil {
		return err
	}
	after, err := windowState(w)
	if err == nil && !jsondelta.Equal(before, after) {
		if _, err = j.Edit(s.ID(), description, before, after); err == nil {
			s.opts.Member.Announce(share.Edited, s.ID(), description, before, after)
		}
	}
	if err != nil {
		return errors.Join(fmt.Errorf("nothing was changed: %w", err), w.ApplyState(before))
	}
	s.storeState(ctx)
	return s.markSaved(after)
}

// Save saves the window, if it is a Saver, and notes in the journal that nothing
// is unsaved. The errors are those of Saver.Save.
func (s *Session) Save(ctx context.Context) (saved Saved, err error) {
	release, err := s.acquireWork(true)
	if err != nil {
		return Saved{}, err
	}
	defer release()
	if w, ok := s.opts.Window.(Saver); ok {
		if saved, err = w.Save(ctx); err != nil {
			return saved, err
		}
	}
	j := s.opts.Journal
	if j == nil || s.opts.Window == nil {
		return saved, nil
	}
	state, err := windowState(s.opts.Window)
	if err != nil {
		return saved, err
	}
	// A save merges what others have written into the file: that is a step of its own.
	if before := j.Current(); before != nil && !jsondelta.Equal(before, state) {
		if _, err := j.Edit(s.ID(), "Load what others saved", before, state); err != nil {
			return saved, err
		}
	}
	s.opts.Member.Announce(share.Saved, s.ID(), saved.Path, state, state)
	return saved, s.markSaved(state)
}

// markSaved notes that state is what is saved, unless the window has unsaved changes
// or state is nil.
func (s *Session) markSaved(state json.RawMessage) error {
	if d, ok := s.opts.Window.(Dirtier); !ok || d.Dirty() || state == nil {
		return nil
	}
	return s.opts.Journal.Saved(state)
}

func windowState(w Window) (json.RawMessage, error) {
	value, err := w.State()
	if err != nil {
		return nil, fmt.Errorf("read the window's state: %w", err)
	}
	return PlainJSON(value)
}

// Delete removes pairs for good.
func (s *Session) Delete(ctx context.Context, seqs ...int64) error {
	release, err := s.acquireWork(false)
	if err != nil {
		return err
	}
	defer release()
	if err := s.opts.Store.Commit(ctx, &Batch{Delete: seqs}); err != nil {
		return err
	}
	s.mu.Lock()
	s.view.drop(seqs)
	s.mu.Unlock()
	s.recountPayloads(ctx)
	return nil
}

// Mark changes what a user may set on a pair at any time, the running one
// included: star, flag and topic.
func (s *Session) Mark(ctx context.Context, m PairMark) error {
	return s.opts.Store.Commit(ctx, &Batch{Marks: []PairMark{m}})
}
