package assistant

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"winnow/assistant/budget"
	"winnow/checkpoint"
)

// Dirtier is a Window that knows whether its state differs from what is saved.
type Dirtier interface {
	// Dirty says whether something would be lost by discarding.
	Dirty() bool
}

// Begin writes down where the session starts, so that "Session start" is the
// first checkpoint, and carries on what a crash left behind: a rollback that
// was begun is finished. Call it once before the first Send.
func (s *Session) Begin(ctx context.Context) error {
	release, err := s.use()
	if err != nil {
		return err
	}
	defer release()
	return s.begin(ctx, s.ID())
}

// BeginBeside is Begin that does not make its caller wait for a window whose
// state takes time to be told. It returns at once; LoadView may follow. A turn
// that is started, and whoever works on the window, waits. told hears, from
// another goroutine, how it ended; after an error the next turn tries again.
// A rollback that a crash left is finished first, and waited for.
func (s *Session) BeginBeside(ctx context.Context, told func(error)) error {
	if j := s.opts.Journal; j != nil {
		pending, err := j.Pending()
		if err != nil {
			return err
		}
		if pending != nil {
			err := s.Begin(ctx)
			told(err)
			return err
		}
	}
	release, err := s.use()
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.beginning = true
	s.mu.Unlock()
	go func() {
		err := s.beginLate(ctx)
		release()
		told(err)
	}()
	return nil
}

// beginLate begins the session and notes that it has.
func (s *Session) beginLate(ctx context.Context) error {
	err := s.begin(ctx, s.ID())
	s.mu.Lock()
	defer s.mu.Unlock()
	s.beginning, s.unbegun = false, err != nil
	return err
}

// begun begins the session that could not be begun beside. The desk is held.
func (s *Session) begun(ctx context.Context) error {
	s.mu.Lock()
	again := s.unbegun
	s.mu.Unlock()
	if !again {
		return nil
	}
	return s.beginLate(ctx)
}

// begin starts the session that is called id in the journal.
func (s *Session) begin(ctx context.Context, id string) error {
	defer s.measure(ctx)
	j := s.opts.Journal
	if j == nil || s.opts.Window == nil {
		return nil
	}
	pending, err := j.Pending()
	if err != nil {
		return err
	}
	if pending != nil {
		if err := s.carryOut(ctx, *pending); err != nil {
			return fmt.Errorf("finish the rollback that was begun: %w", err)
		}
	}
	state, err := windowState(s.opts.Window)
	if err != nil {
		return err
	}
	if _, err := j.Start(id, state); err != nil {
		return err
	}
	return s.markSaved(state)
}

// Renew begins a new session in the same window: a new id and an empty view.
// Model, window state and unsaved changes stay; old pairs stay in the stream.
// On error the old session goes on.
func (s *Session) Renew(ctx context.Context) error {
	release, err := s.use()
	if err != nil {
		return err
	}
	defer release()
	return s.become(ctx, NewID(s.now()), nil)
}

// Resume goes on with another session of the store in the same window: its id,
// its checkpoints, and its pairs as the view. Model, window state and unsaved
// changes stay. On error the old session goes on.
func (s *Session) Resume(ctx context.Context, id string) error {
	release, err := s.use()
	if err != nil {
		return err
	}
	defer release()
	refs, err := s.opts.Store.Refs(ctx, id, s.Settings().Budget.CPT())
	if err != nil {
		return err
	}
	return s.become(ctx, id, refs)
}

// become makes this the session id, with these pairs and a fresh context.
func (s *Session) become(ctx context.Context, id string, refs []Ref) error {
	if err := s.begin(ctx, id); err != nil {
		return err
	}
	s.mu.Lock()
	s.id = id
	s.context = contextMemory{}
	s.queued, s.records, s.lastSend = nil, nil, nil
	s.mu.Unlock()
	s.SetView(refs, "x", budget.FilterExecuted)
	s.log.Info("session", "id", id)
	return nil
}

// Checkpoints lists the checkpoints of this session, oldest first; "Session
// start" is always the first.
func (s *Session) Checkpoints() []checkpoint.Checkpoint {
	if s.opts.Journal == nil {
		return nil
	}
	return s.opts.Journal.List(s.ID())
}

// UndoStep is the newest change of the window that can be undone, whoever made it.
func (s *Session) UndoStep() (checkpoint.Checkpoint, bool) {
	if s.opts.Journal == nil {
		return checkpoint.Checkpoint{}, false
	}
	return s.opts.Journal.UndoStep()
}

// Edit runs a change of the window that the user makes by hand, as one step
// that can be undone. Either the change is in the journal and in the window,
// or in neither. A change that leaves the state alone, such as saving, is no step.
func (s *Session) Edit(description string, change func() error) error {
	release, err := s.use()
	if err != nil {
		return err
	}
	defer release()
	w, j := s.opts.Window, s.opts.Journal
	if w == nil || j == nil {
		return change()
	}
	if err := s.begun(context.Background()); err != nil {
		return err
	}
	before, err := windowState(w)
	if err != nil {
		return err
	}
	if err := change(); err != nil {
		return err
	}
	after, err := windowState(w)
	if err == nil && !checkpoint.Equal(before, after) {
		_, err = j.Edit(description, before, after)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("nothing was changed: %w", err), w.ApplyState(before))
	}
	return s.markSaved(after)
}

// Save saves the window and notes in the journal that nothing is unsaved. The
// errors are those of Saver.Save. A window that is no Saver saves nothing.
func (s *Session) Save(ctx context.Context) (Saved, error) {
	release, err := s.use()
	if err != nil {
		return Saved{}, err
	}
	defer release()
	w, ok := s.opts.Window.(Saver)
	if !ok {
		return Saved{}, nil
	}
	saved, err := w.Save(ctx)
	if err != nil || s.opts.Journal == nil {
		return saved, err
	}
	state, err := windowState(s.opts.Window)
	if err != nil {
		return saved, err
	}
	return saved, s.markSaved(state)
}

// Saved tells the journal that the window's state is the saved one now.
func (s *Session) Saved() error {
	release, err := s.use()
	if err != nil {
		return err
	}
	defer release()
	if s.opts.Journal == nil || s.opts.Window == nil {
		return nil
	}
	if d, ok := s.opts.Window.(Dirtier); ok && d.Dirty() {
		return nil // changed again meanwhile
	}
	state, err := windowState(s.opts.Window)
	if err != nil {
		return err
	}
	return s.opts.Journal.Saved(state)
}

// markSaved notes that state is what is saved, when the window says so.
func (s *Session) markSaved(state json.RawMessage) error {
	if d, ok := s.opts.Window.(Dirtier); !ok || d.Dirty() {
		return nil
	}
	return s.opts.Journal.Saved(state)
}
