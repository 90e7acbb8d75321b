package assistant

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"winnow/checkpoint"
)

// Start records where the session starts, so that "Session start" is the first
// checkpoint, finishes a rollback that a crash interrupted, and restores what
// was stored of the session: its position in the window and the queued message.
// Call it once before the first Send.
func (s *Session) Start(ctx context.Context) error {
	release, err := s.acquireWork()
	if err != nil {
		return err
	}
	defer release()
	return s.startAs(ctx, s.ID())
}

// StartAsync is Start that does not wait for a window whose state takes time to
// read. LoadView may follow at once; a turn, and whoever works on the window,
// waits. done is called from another goroutine with the result; after an error
// the next turn or Edit tries again. An interrupted rollback is finished first,
// and waited for.
func (s *Session) StartAsync(ctx context.Context, done func(error)) error {
	if j := s.opts.Journal; j != nil {
		pending, err := j.Pending()
		if err != nil {
			return err
		}
		if pending != nil {
			err := s.Start(ctx)
			done(err)
			return err
		}
	}
	release, err := s.acquireWork()
	if err != nil {
		return err
	}
	ready := &future{done: make(chan struct{})}
	s.mu.Lock()
	s.ready = ready
	s.mu.Unlock()
	go func() {
		ready.err = s.startAs(ctx, s.ID())
		close(ready.done)
		release()
		done(ready.err)
	}()
	return nil
}

// ensureStarted starts a session whose StartAsync failed. Work is acquired.
func (s *Session) ensureStarted(ctx context.Context) error {
	s.mu.Lock()
	ready := s.ready
	s.mu.Unlock()
	if ready == nil || ready.err == nil {
		return nil
	}
	again := &future{done: make(chan struct{}), err: s.startAs(ctx, s.ID())}
	close(again.done)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ready = again
	return again.err
}

// startAs starts the session that is called id in journal and store.
func (s *Session) startAs(ctx context.Context, id string) error {
	s.restoreState(ctx, id)
	defer s.measure(ctx)
	if s.opts.Journal == nil || s.opts.Window == nil {
		return nil
	}
	if err := s.finishRollback(ctx); err != nil {
		return err
	}
	state, err := windowState(s.opts.Window)
	if err != nil {
		return err
	}
	if _, err := s.opts.Journal.Start(id, state); err != nil {
		return err
	}
	return s.markSaved(state)
}

// finishRollback finishes a rollback that a crash interrupted.
func (s *Session) finishRollback(ctx context.Context) error {
	pending, err := s.opts.Journal.Pending()
	if err != nil || pending == nil {
		return err
	}
	if err := s.executeRollback(ctx, *pending); err != nil {
		return fmt.Errorf("finish the rollback that was begun: %w", err)
	}
	return nil
}

// Renew starts a new session in the same window: a new id and an empty view.
// Model, window state and unsaved changes stay; old pairs stay in the stream.
// On error the old session continues.
func (s *Session) Renew(ctx context.Context) error {
	release, err := s.acquireWork()
	if err != nil {
		return err
	}
	defer release()
	return s.switchTo(ctx, NewID(s.now()), nil)
}

// Resume continues another session of the store in the same window: its id, its
// checkpoints, its queued message and position, and its pairs as the view. Model,
// window state and unsaved changes stay. On error the old session continues.
func (s *Session) Resume(ctx context.Context, id string) error {
	release, err := s.acquireWork()
	if err != nil {
		return err
	}
	defer release()
	refs, err := s.opts.Store.Refs(ctx, id, s.Settings().Budget.CPT())
	if err != nil {
		return err
	}
	return s.switchTo(ctx, id, refs)
}

// switchTo makes this the session id, with these pairs and a fresh context.
func (s *Session) switchTo(ctx context.Context, id string, refs []Ref) error {
	s.storeState(ctx)
	s.mu.Lock()
	before, context, queued, held := s.storedState, s.context, s.queued, s.held
	s.context, s.queued, s.storedState = contextMemory{}, nil, ""
	s.mu.Unlock()
	if err := s.startAs(ctx, id); err != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.storedState, s.context, s.queued, s.held = before, context, queued, held
		return err
	}
	s.mu.Lock()
	s.id = id
	s.records, s.lastSend = nil, nil
	s.mu.Unlock()
	s.SetView(refs, "x")
	s.log.Info("session", "id", id)
	return nil
}

// Close ends the running turn, if there is one, and waits for its end or ctx's:
// its pair stays as interrupted, with everything that was received. It stores
// where the session was left. The session can be used afterwards.
func (s *Session) Close(ctx context.Context) error {
	s.mu.Lock()
	t := s.running
	s.mu.Unlock()
	if t != nil {
		t.cancel(errInterrupted)
		select {
		case <-t.over:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	release, err := s.acquireWork()
	if err != nil {
		return err
	}
	defer release()
	s.storeState(ctx)
	return nil
}

// sessionState is what is stored of a session beside its pairs.
type sessionState struct {
	Position json.RawMessage `json:"position,omitempty"` // of a Positioned window
	// Changes are those of the window that the model was not told yet; those
	// after Mark of the run Run are still in the window's own log.
	Changes []Change `json:"changes,omitempty"`
	Run     string   `json:"run,omitempty"`
	Mark    int64    `json:"mark,omitempty"`
}

// storeState stores where the session stands. Work is acquired. A failure costs
// no more than the position, and is logged.
func (s *Session) storeState(ctx context.Context) {
	store, ok := s.opts.Store.(SessionStore)
	if !ok || s.opts.Window == nil {
		return
	}
	s.mu.Lock()
	id, told, before := s.id, s.context, s.storedState
	s.mu.Unlock()
	state := sessionState{Changes: told.pending, Run: s.run, Mark: told.mark}
	if log, ok := s.opts.Window.(ChangeLog); ok && (told.json != nil || told.resumed) {
		found, next := log.Changes(told.mark)
		state.Changes, state.Mark = append(append([]Change{}, told.pending...), found...), next
	}
	if w, ok := s.opts.Window.(Positioned); ok {
		if position, err := w.Position(); err == nil {
			state.Position, _ = PlainJSON(position)
		}
	}
	raw, err := PlainJSON(state)
	if err == nil && string(raw) != before {
		if err = store.SetSessionState(context.WithoutCancel(ctx), id, raw); err == nil {
			s.mu.Lock()
			s.storedState = string(raw)
			s.mu.Unlock()
		}
	}
	if err != nil {
		s.log.Warn("session state not stored", "error", err)
	}
}

// restoreState restores what is stored of a session. What cannot be read or
// restored is logged and left out: the pairs are what counts.
func (s *Session) restoreState(ctx context.Context, id string) {
	store, ok := s.opts.Store.(SessionStore)
	if !ok {
		return
	}
	prompt, waits, err := store.Queued(ctx, id)
	raw, failed := store.SessionState(ctx, id)
	var state sessionState
	if failed == nil && raw != nil {
		failed = json.Unmarshal(raw, &state)
	}
	s.mu.Lock()
	if waits && err == nil {
		s.queued, s.held = &prompt, true
	}
	if raw != nil && failed == nil {
		s.context = contextMemory{resumed: true, pending: state.Changes}
		if state.Run == s.run {
			s.context.mark = state.Mark
		}
		s.storedState = string(raw)
	}
	s.mu.Unlock()
	if w, ok := s.opts.Window.(Positioned); ok && state.Position != nil {
		failed = errors.Join(failed, w.SetPosition(state.Position))
	}
	if err = errors.Join(err, failed); err != nil {
		s.log.Warn("session state not restored", "id", id, "error", err)
	}
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
// that can be undone. Either the change is in the journal and in the window, or
// in neither. A change that leaves the state alone, such as saving, is no step.
func (s *Session) Edit(description string, change func() error) error {
	release, err := s.acquireWork()
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
	if d, ok := w.(Dirtier); ok && !d.Dirty() {
		// What is saved now is what the next run compares unsaved changes with.
		if saved, _ := j.SavedState(); !checkpoint.Equal(saved, before) {
			if err := j.Saved(before); err != nil {
				return err
			}
		}
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
	s.storeState(ctx)
	return s.markSaved(after)
}

// Save saves the window and notes in the journal that nothing is unsaved. The
// errors are those of Saver.Save. A window that is no Saver saves nothing.
func (s *Session) Save(ctx context.Context) (Saved, error) {
	release, err := s.acquireWork()
	if err != nil {
		return Saved{}, err
	}
	defer release()
	w, ok := s.opts.Window.(Saver)
	if !ok {
		return Saved{}, nil
	}
	saved, err := w.Save(ctx)
	if err != nil {
		return saved, err
	}
	return saved, s.noteSaved()
}

// Saved notes in the journal that the window's state is the saved one now.
func (s *Session) Saved() error {
	release, err := s.acquireWork()
	if err != nil {
		return err
	}
	defer release()
	return s.noteSaved()
}

// noteSaved is Saved for a caller that has the window. A save may have changed
// the state, by what others had written into the file: that is a step of its own.
func (s *Session) noteSaved() error {
	j := s.opts.Journal
	if j == nil || s.opts.Window == nil {
		return nil
	}
	state, err := windowState(s.opts.Window)
	if err != nil {
		return err
	}
	if before := j.Current(); before != nil && !checkpoint.Equal(before, state) {
		if _, err := j.Edit("Load what others saved", before, state); err != nil {
			return err
		}
	}
	return s.markSaved(state)
}

// markSaved notes that state is what is saved, when the window says so.
func (s *Session) markSaved(state json.RawMessage) error {
	if d, ok := s.opts.Window.(Dirtier); !ok || d.Dirty() {
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
