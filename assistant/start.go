package assistant

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"winnow/checkpoint"
	"winnow/checkpoint/jsondelta"
)

// Start records where the session starts, so that "Session start" is the first
// checkpoint. It finishes a rollback that a crash interrupted, and restores the
// stored state of the session: its position in the window and the queued
// message, but neither the window's state (see Options.Journal) nor the pairs
// (see View.LoadView). If Start is not called, the first turn calls it.
func (s *Session) Start(ctx context.Context) error {
	release, err := s.acquireWork(false)
	if err != nil {
		return err
	}
	defer release()
	return s.start(ctx)
}

// StartAsync is like Start, but does not wait for a window whose state takes
// time to read. LoadView may follow at once; turns and changes to the window
// wait. done is called from another goroutine with the result. After an error
// the next turn or Edit tries again. An interrupted rollback is finished before
// StartAsync returns.
func (s *Session) StartAsync(ctx context.Context, done func(error)) error {
	release, err := s.acquireWork(false)
	if err != nil {
		return err
	}
	if err := s.finishRollback(ctx); err != nil {
		release()
		return err
	}
	go func() {
		err := s.start(ctx)
		release()
		done(err)
	}()
	return nil
}

// ensureStarted starts the session unless it has been started. The caller holds
// s.work.
func (s *Session) ensureStarted(ctx context.Context) error {
	if s.started {
		return nil
	}
	return s.start(ctx)
}

// start restores the stored state of the session and records its start in the
// journal. The caller holds s.work.
func (s *Session) start(ctx context.Context) error {
	s.noted = false
	if err := s.restoreState(ctx); err != nil {
		return err
	}
	defer s.measure(ctx)
	unlock, err := s.opts.Journal.TryLock()
	if err == nil {
		err = s.noteStart(ctx)
		unlock()
		s.updates.window.Changed()
	}
	// While another process is writing, the start is recorded with the first
	// change in this session.
	if err != nil && !errors.As(err, new(*checkpoint.LockedError)) && !errors.Is(err, checkpoint.ErrReadOnly) {
		return err
	}
	s.started = true
	return nil
}

// lockJournal locks the journal for a change and, if the session was started,
// records its start in the journal. The caller holds s.work.
func (s *Session) lockJournal(ctx context.Context) (unlock func(), err error) {
	if unlock, err = s.opts.Journal.Lock(ctx); err != nil {
		return nil, err
	}
	if s.started {
		err = s.noteStart(ctx)
	}
	if err != nil {
		unlock()
		return nil, err
	}
	return unlock, nil
}

// noteStart finishes a rollback that a crash interrupted and makes the
// session's first checkpoint, unless this was done before. The journal must be
// locked.
func (s *Session) noteStart(ctx context.Context) error {
	if s.noted || s.opts.Journal == nil || s.opts.Window == nil {
		return nil
	}
	if err := s.finishRollback(ctx); err != nil {
		return err
	}
	if s.opts.Journal.Current() == nil {
		if err := checkRoundTrip(s.opts.Window); err != nil {
			return err
		}
	}
	state, err := windowState(s.opts.Window)
	if err != nil {
		return err
	}
	if s.opts.Member.Locked() { // state may not be recorded yet
		state = nil
	}
	if _, err := s.opts.Journal.Start(s.ID(), state); err != nil {
		return err
	}
	s.noted = true
	return s.markSaved(state)
}

// checkRoundTrip checks that a window can restore its current state before the
// first checkpoint depends on it: a bug in State or Apply must be found now,
// not when the user undoes a change. If the user changes the window at that
// moment, the next turn checks again.
func checkRoundTrip(w Window) error {
	before, err := windowState(w)
	if err != nil {
		return err
	}
	if err := w.Apply(before); err != nil {
		return fmt.Errorf("the window cannot apply its own state, so nothing could be undone: %w", err)
	}
	after, err := windowState(w)
	if err != nil || jsondelta.Equal(before, after) {
		return err
	}
	return fmt.Errorf("the window did not return to its previous state, so nothing could be undone: Apply turned %s into %s", before, after)
}

// measure estimates the system prompt before the first turn builds one, so that
// the first boundary is right. No model needs to be selected yet: it may be
// found later. Errors are ignored: sending a message reports them.
func (s *Session) measure(ctx context.Context) {
	if s.Needs(RolePropose) != nil {
		return
	}
	s.mu.Lock()
	model, name, info, _ := s.registry.Open(s.model)
	t := s.turnWith(ctx, Prompt{}, model, name, info)
	s.mu.Unlock()
	defer t.cancel(nil)
	t.pair = &Pair{}
	system, err := t.system(manifest{})
	if err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.view.setSystem(t.systemCost(system)+s.view.payloads, s.view.payloads)
	s.view.tracker.Dirty()
}

// Renew starts a new session in the same window: a new id and an empty view.
// Model, window state and unsaved changes stay; old pairs stay in the history.
// On error the old session continues.
func (s *Session) Renew(ctx context.Context) error {
	release, err := s.acquireWork(false)
	if err != nil {
		return err
	}
	defer release()
	return s.switchTo(ctx, NewID(s.now()), nil)
}

// Resume continues another session of the store in the same window: with its
// id, checkpoints, queued message and position, and its pairs as the view.
// Model, window state and unsaved changes stay. On error the old session
// continues.
func (s *Session) Resume(ctx context.Context, id string) error {
	release, err := s.acquireWork(false)
	if err != nil {
		return err
	}
	defer release()
	refs, err := s.refs(ctx, id)
	if err == nil {
		err = s.CheckOwner(ctx, refs)
	}
	if err != nil {
		return err
	}
	return s.switchTo(ctx, id, refs)
}

// switchTo replaces the sessionMemory with the memory of session id, with these
// pairs in view.
func (s *Session) switchTo(ctx context.Context, id string, refs []Ref) error {
	s.storeState(ctx)
	s.mu.Lock()
	before := s.current
	s.current = sessionMemory{id: id}
	s.mu.Unlock()
	if err := s.start(ctx); err != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.current = before
		return err
	}
	s.SetView(refs, currentSession)
	s.recountPayloads(ctx)
	s.log.Info("session", "id", id)
	return nil
}

// Close cancels the running turn, if any, and waits until the turn or ctx ends.
// The turn's pair stays, marked as interrupted, with everything received so
// far. Close stores the window's position and the changes that the model has
// not been told about. It closes neither the Store nor the Journal; the program
// closes them afterwards. The session can still be used.
func (s *Session) Close(ctx context.Context) error {
	s.mu.Lock()
	t := s.running
	s.mu.Unlock()
	if t != nil {
		t.cancel(errInterrupted)
		select {
		case <-t.done:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	release, err := s.acquireWork(false)
	if err != nil {
		return err
	}
	defer release()
	s.storeState(ctx)
	return nil
}

// sessionState is what is stored for a session apart from its pairs.
type sessionState struct {
	Position json.RawMessage `json:"position,omitempty"` // position of a Positioned window
	// Changes are the changes to the window that the model has not been told
	// about. Changes after Mark, in run Run, are still in the window's own
	// log.
	Changes []Entry `json:"changes,omitempty"`
	Run     string  `json:"run,omitempty"`
	Mark    int64   `json:"mark,omitempty"`
	// State is the window's state after Changes. Another run or program may
	// change the window before the session is resumed.
	State json.RawMessage `json:"state,omitempty"`
}

// storeState stores the sessionState, unless the stored one could not be read.
// The caller holds s.work. Errors are only logged, because no pair is lost.
func (s *Session) storeState(ctx context.Context) {
	store, ok := s.opts.Store.(SessionStore)
	if !ok || s.opts.Window == nil {
		return
	}
	s.mu.Lock()
	id, known, before, read := s.current.id, s.current.context, s.current.storedState, s.current.stateRead
	s.mu.Unlock()
	if !read {
		return
	}
	state := sessionState{Changes: known.pending, Run: s.runID, Mark: known.mark}
	if known.json != nil || known.resumed {
		if log, ok := s.opts.Window.(Log); ok {
			found, next := log.Changes(known.mark)
			state.Changes, state.Mark = append(append([]Entry{}, known.pending...), found...), next
		}
		state.State, _ = windowState(s.opts.Window)
	}
	if w, ok := s.opts.Window.(Positioned); ok {
		state.Position, _ = w.Position() // without one, the window opens in its initial position
	}
	raw, err := PlainJSON(state)
	if err == nil && string(raw) != before {
		err = store.SetSessionState(context.WithoutCancel(ctx), id, raw)
	}
	if err != nil {
		s.log.Warn("session state not stored", "error", err)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.current.storedState = string(raw)
}

// restoreState restores the stored session state. What cannot be read or
// restored is logged and skipped: pairs do not depend on it. The error says
// that ctx ended before the state was read.
func (s *Session) restoreState(ctx context.Context) error {
	id := s.ID()
	if err := s.restoreCancelled(ctx, id); err != nil {
		s.log.Warn("cancelled answer not restored", "id", id, "error", err)
	}
	store, ok := s.opts.Store.(SessionStore)
	if !ok {
		return nil
	}
	prompt, waits, queuedErr := store.Queued(ctx, id)
	raw, err := store.SessionState(ctx, id)
	if (err != nil || queuedErr != nil) && ctx.Err() != nil {
		return ctx.Err()
	}
	read := err == nil
	var state sessionState
	if err == nil && raw != nil {
		err = json.Unmarshal(raw, &state)
	}
	s.mu.Lock()
	if waits && queuedErr == nil && !slices.Contains(s.dequeued, id) {
		s.current.queued, s.current.queuePaused = &prompt, true
	}
	s.current.stateRead = read
	restored := raw != nil && err == nil
	if restored {
		s.current.storedState = string(raw)
	}
	s.mu.Unlock()
	if w, ok := s.opts.Window.(Positioned); ok && state.Position != nil {
		err = errors.Join(err, w.SetPosition(state.Position))
	}
	if restored {
		known := s.resumedContext(state)
		s.mu.Lock()
		s.current.context = known
		s.mu.Unlock()
	}
	if err = errors.Join(err, queuedErr); err != nil {
		s.log.Warn("session state not restored", "id", id, "error", err)
	}
	return nil
}

// resumedContext returns what the model of a resumed session knows about the
// window. Changes it was not told about are pending: the stored ones and, if
// the session is from another run, the difference between the stored and the
// current state. That difference replaces the window's log of this run.
func (s *Session) resumedContext(state sessionState) contextMemory {
	known := contextMemory{resumed: true, pending: state.Changes}
	if log, ok := s.opts.Window.(Log); ok {
		if state.Run == s.runID {
			known.mark = state.Mark
			return known
		}
		_, known.mark = log.Changes(math.MaxInt64)
	}
	if s.opts.Window == nil || state.State == nil {
		return known
	}
	if now, err := windowState(s.opts.Window); err == nil && !jsondelta.Equal(now, state.State) {
		known.pending = append(known.pending, contextChanged(s.now(), state.State, now))
	}
	return known
}
