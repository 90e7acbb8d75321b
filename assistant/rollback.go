package assistant

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"winnow/assistant/budget"
	"winnow/checkpoint"
)

// ErrNoJournal is returned by what needs checkpoints in a session without them.
var ErrNoJournal = errors.New("this session keeps no checkpoints")

// Dirtier is a Window that knows whether its state differs from what is saved.
type Dirtier interface {
	// Dirty says whether something would be lost by discarding.
	Dirty() bool
}

// Begin writes down where the session starts, so that "Session start" is the
// first checkpoint, and carries on what a crash left behind: a rollback that
// was begun is finished. Call it once before the first Send.
func (s *Session) Begin(ctx context.Context) error {
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
	if _, err := j.Start(s.ID(), state); err != nil {
		return err
	}
	return s.markSaved(state)
}

// Checkpoints lists the checkpoints of this session, oldest first; "Session
// start" is always the first.
func (s *Session) Checkpoints() []checkpoint.Checkpoint {
	if s.opts.Journal == nil {
		return nil
	}
	return s.opts.Journal.List(s.ID())
}

// Rollback goes back to a checkpoint: the window's state, the conversation, or
// both. What it cut comes back with UndoRollback until the next message. It
// returns the text of the first pair that was cut, for the input.
func (s *Session) Rollback(ctx context.Context, id string, scope checkpoint.Scope) (text string, err error) {
	if err := s.mayChange(); err != nil {
		return "", err
	}
	intent, err := s.opts.Journal.BeginRollback(id, scope)
	if err != nil {
		return "", err
	}
	text = s.firstText(ctx, intent)
	return text, s.carryOut(ctx, intent)
}

// UndoRollback takes the last rollback back, if no message was sent since.
func (s *Session) UndoRollback(ctx context.Context) error {
	if err := s.mayChange(); err != nil {
		return err
	}
	intent, err := s.opts.Journal.BeginUndoRollback()
	if err != nil {
		return err
	}
	return s.carryOut(ctx, intent)
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
// or in neither.
func (s *Session) Edit(description string, change func() error) error {
	if s.Busy() {
		return ErrBusy
	}
	w := s.opts.Window
	before, err := windowState(w)
	if err != nil {
		return err
	}
	if err := change(); err != nil {
		return err
	}
	after, err := windowState(w)
	if err != nil {
		return err
	}
	if s.opts.Journal == nil || checkpoint.Equal(before, after) {
		return nil
	}
	if _, err := s.opts.Journal.Edit(description, before, after); err != nil {
		if undo := w.ApplyState(before); undo != nil {
			return errors.Join(err, undo)
		}
		return fmt.Errorf("nothing was changed: %w", err)
	}
	return s.markSaved(after)
}

// Saved tells the journal that the window's state is the saved one now.
func (s *Session) Saved() error {
	if s.opts.Journal == nil || s.opts.Window == nil {
		return nil
	}
	state, err := windowState(s.opts.Window)
	if err != nil {
		return err
	}
	return s.markSaved(state)
}

// recordState writes down the state after a write tool.
func (s *Session) recordState(summary checkpoint.ToolSummary) error {
	state, err := windowState(s.opts.Window)
	if err != nil {
		return err
	}
	if err := s.opts.Journal.Record(state, []checkpoint.ToolSummary{summary}); err != nil {
		return fmt.Errorf("the change could not be recorded: %w", err)
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

func (s *Session) mayChange() error {
	switch {
	case s.Busy():
		return ErrBusy
	case s.opts.Journal == nil || s.opts.Window == nil:
		return ErrNoJournal
	}
	return nil
}

// carryOut does what an intent says, in this order: the window, which can be
// put back; the store, all of it or nothing; the journal's word that it is done.
func (s *Session) carryOut(ctx context.Context, in checkpoint.Intent) error {
	w := s.opts.Window
	if in.Scope != checkpoint.Conversation {
		if err := w.ApplyState(in.State); err != nil {
			return errors.Join(err, s.opts.Journal.Abandon(in))
		}
	}
	b := &Batch{Intent: in.ID}
	switch {
	case in.Scope == checkpoint.Rules:
	case in.Undoes != "":
		b.Uncut = in.Undoes
	case in.Cut != 0:
		b.Cut = &Cut{Name: in.ID, Sessions: in.Sessions, From: in.Cut}
	}
	if err := s.opts.Store.Commit(ctx, b); err != nil {
		return errors.Join(err, w.ApplyState(in.Previous), s.opts.Journal.Abandon(in))
	}
	if err := s.opts.Journal.Finish(in); err != nil {
		return err
	}
	state, err := windowState(w)
	if err == nil {
		err = s.markSaved(state)
	}
	return errors.Join(err, s.reloadView(ctx, in))
}

// reloadView brings the view in line with what was cut or came back.
func (s *Session) reloadView(ctx context.Context, in checkpoint.Intent) error {
	if in.Scope == checkpoint.Rules {
		return nil
	}
	s.forgetContext()
	if in.Undoes == "" {
		cut := map[string]bool{}
		for _, id := range in.Sessions {
			cut[id] = true
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if in.Cut != 0 && cut[s.id] {
			s.view.drop(budget.PairDeleted, func(seq int64) bool { return seq >= in.Cut })
		}
		return nil
	}
	refs, err := s.opts.Store.Refs(ctx, s.ID(), s.Settings().Budget.CPT())
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range refs {
		s.view.put(r, budget.VisibilityChanged)
	}
	return nil
}

// forgetContext makes the next turn tell the model everything anew.
func (s *Session) forgetContext() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.context = contextMemory{mark: s.context.mark}
}

// firstText is what the user said in the first pair that a rollback cuts.
func (s *Session) firstText(ctx context.Context, in checkpoint.Intent) string {
	if in.Cut == 0 || in.Scope == checkpoint.Rules {
		return ""
	}
	pairs, err := s.opts.Store.Load(ctx, []int64{in.Cut})
	if err != nil || len(pairs) == 0 {
		return ""
	}
	return pairs[0].UserText
}

// Renew begins a new session in the same window: a new id and an empty view.
// Model, window state and unsaved changes stay; old pairs stay in the stream.
func (s *Session) Renew(ctx context.Context) error {
	if s.Busy() {
		return ErrBusy
	}
	s.mu.Lock()
	s.id = NewID(s.now())
	s.context = contextMemory{}
	s.offered = map[string]Payload{}
	s.queued = nil
	s.mu.Unlock()
	s.SetView(nil, "x", budget.FilterExecuted)
	s.log.Info("session", "id", s.ID())
	return s.Begin(ctx)
}

// Delete removes pairs for good.
func (s *Session) Delete(ctx context.Context, seqs ...int64) error {
	if s.Busy() {
		return ErrBusy
	}
	if err := s.opts.Store.Commit(ctx, &Batch{Delete: seqs}); err != nil {
		return err
	}
	gone := map[int64]bool{}
	for _, seq := range seqs {
		gone[seq] = true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.view.drop(budget.PairDeleted, func(seq int64) bool { return gone[seq] })
	return nil
}

// Mark changes what a user may set on a pair at any time: star, flag and
// topic. Nothing else of it changes.
func (s *Session) Mark(ctx context.Context, seq int64, change func(*Pair)) error {
	if running, ok := s.Running(); ok && running == seq {
		return ErrBusy
	}
	pairs, err := s.opts.Store.Load(ctx, []int64{seq})
	if err != nil {
		return err
	}
	if len(pairs) == 0 {
		return ErrNoPair
	}
	p := pairs[0]
	change(&p)
	return s.opts.Store.Commit(ctx, &Batch{Put: []*Pair{&p}})
}
