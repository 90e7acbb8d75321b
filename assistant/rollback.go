package assistant

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"winnow/assistant/safetext"
	"winnow/assistant/windowlock"
	"winnow/checkpoint"
	"winnow/checkpoint/jsondelta"
)

// ErrNothingToRollBack is returned by Rollback if neither the window nor the conversation
// would change.
var ErrNothingToRollBack = errors.New("nothing to roll back: nothing has changed since that checkpoint")

// Rollback goes back to a checkpoint: the window's state, the conversation, or
// both. What other programs have changed in the window's file since then stays,
// if the window is a Rebaser. UndoRollback restores what was cut, until the
// next message is sent. Rollback returns the text of the first pair that was
// cut, for the input, or "" if no pair was cut or the user did not type that
// text.
//
// newest is the id of the newest step that the user was shown, see LastStep, or
// "" if there was none. If another step was made since, nothing happens and the
// error is a *PlanChanged. If the rollback was done but could not be recorded,
// the error is an *UnrecordedError.
func (s *Session) Rollback(ctx context.Context, id string, scope checkpoint.Scope, newest string) (text safetext.Text, err error) {
	release, err := s.acquireRollback()
	if err != nil {
		return "", err
	}
	defer release()
	if err := s.sameSteps(id, newest); err != nil {
		return "", err
	}
	if err := s.checkRollback(id, scope); err != nil {
		return "", err
	}
	options := checkpoint.RollbackOptions{Scope: scope, OnlySession: s.opts.Member.Only(s.ID())}
	if err := s.findCut(ctx, id, &options); err != nil {
		return "", err
	}
	if scope != checkpoint.ScopeConversation {
		options.State, err = s.stateAt(id)
	}
	if err != nil {
		return "", err
	}
	intent, err := s.opts.Journal.BeginRollback(id, options)
	if err != nil {
		return "", err
	}
	first, err := s.firstCut(ctx, intent)
	if err == nil && first == nil && len(intent.Dropped) == 0 && jsondelta.Equal(intent.State, intent.Previous) {
		return "", errors.Join(ErrNothingToRollBack, s.opts.Journal.Abandon(intent))
	}
	if err == nil {
		if first != nil {
			text = typedText(first)
		}
		s.mu.Lock()
		s.rollback = intent.ID
		s.mu.Unlock()
		err = s.executeRollback(ctx, intent)
	} else {
		err = errors.Join(err, s.opts.Journal.Abandon(intent))
	}
	if err != nil {
		s.log.Error("rollback failed", "checkpoint", id, "scope", string(scope), "error", err)
	}
	return text, err
}

// stateAt returns the state at a checkpoint, with what other programs have changed since.
func (s *Session) stateAt(id string) (json.RawMessage, error) {
	state, err := s.opts.Journal.State(id)
	if err != nil {
		return nil, err
	}
	all := s.opts.Journal.List("")
	i := slices.IndexFunc(all, func(c checkpoint.Checkpoint) bool { return c.ID == id })
	return s.withOutside(state, all[i].Seq)
}

// withOutside returns state with what other programs have changed in the window's file since
// the record of the journal with this sequence number.
func (s *Session) withOutside(state json.RawMessage, since int64) (json.RawMessage, error) {
	w, ok := s.opts.Window.(Rebaser)
	if !ok {
		return state, nil
	}
	now, err := windowState(s.opts.Window)
	if err == nil { // record what the window has loaded since the last record
		err = s.markSaved(now)
	}
	if err == nil { // writes nothing if markSaved has recorded the state
		err = s.opts.Journal.CatchUp(now)
	}
	if err != nil {
		return nil, err
	}
	for _, c := range checkpoint.OutsideSince(s.opts.Journal, since) {
		if state, err = w.Rebase(state, c.Before, c.After); err != nil {
			return nil, err
		}
	}
	return state, nil
}

// typedText returns the text that the user typed for a pair; "" if winnow wrote the
// text, see proposalModel.
func typedText(p *Pair) safetext.Text {
	if p.Model == proposalModel {
		return ""
	}
	return p.UserText
}

// PlanRollback returns the steps that a rollback to a checkpoint would undo,
// oldest first, starting with the checkpoint's own step. newest is the id of
// the newest step, to be passed to Rollback.
func (s *Session) PlanRollback(id string) (steps []checkpoint.Checkpoint, newest string, err error) {
	last, _ := s.LastStep()
	found := false
	for _, c := range s.opts.Journal.List("") {
		if found = found || c.ID == id; found && c.Kind != checkpoint.KindStart && !c.Undone {
			steps = append(steps, c)
		}
	}
	if !found {
		return nil, "", fmt.Errorf("%w: %q", checkpoint.ErrUnknown, id)
	}
	return steps, last.ID, nil
}

// sameSteps returns a *PlanChanged if the newest step is not the one the user
// was shown.
func (s *Session) sameSteps(id, newest string) error {
	if last, _ := s.LastStep(); last.ID == newest {
		return nil
	}
	steps, now, err := s.PlanRollback(id)
	if err != nil {
		return err
	}
	after := int64(-1)
	for _, c := range s.opts.Journal.List("") {
		if c.ID == newest {
			after = c.Seq
		}
	}
	return &PlanChanged{Newest: now, Steps: steps, By: s.changedBy(after)}
}

// UndoPlan describes what undoing the last rollback would do.
type UndoPlan struct {
	Digest string                  // identifies the plan, for UndoRollback
	By     string                  // who rolled back: a user or "another session"; "" is this session
	Drops  []checkpoint.Checkpoint // steps made since the rollback, which would be lost, oldest first
}

// PlanUndoRollback returns what UndoRollback would do. It returns
// checkpoint.ErrNoRollback if there was no rollback, or if a message was sent
// since.
func (s *Session) PlanUndoRollback() (UndoPlan, error) {
	if s.opts.Journal == nil {
		return UndoPlan{}, ErrNoJournal
	}
	last, ok := s.opts.Journal.LastRollback()
	if !ok {
		return UndoPlan{}, checkpoint.ErrNoRollback
	}
	plan := UndoPlan{Digest: last.ID, Drops: last.Drops}
	if n := len(last.Drops); n > 0 {
		plan.Digest += "." + last.Drops[n-1].ID
	}
	if last.Session != "" && last.Session != s.ID() {
		plan.By = cmp.Or(last.User, "another session")
	}
	return plan, nil
}

// UndoRollback undoes the last rollback if no message was sent since. What
// other programs have changed since the rollback stays, as in Rollback. digest
// identifies the plan that the user was shown; if the plan has changed, the
// error is a *PlanChanged. An *UnrecordedError means that the undo was done but
// not recorded.
func (s *Session) UndoRollback(ctx context.Context, digest string) error {
	release, err := s.acquireRollback()
	if err != nil {
		return err
	}
	defer release()
	plan, err := s.PlanUndoRollback()
	if err != nil {
		return err
	}
	if plan.Digest != digest {
		return &PlanChanged{Steps: plan.Drops, By: s.changedBy(-1)}
	}
	state, err := s.opts.Journal.StateBeforeRollback()
	if err != nil {
		return err
	}
	last, _ := s.opts.Journal.LastRollback()
	if state, err = s.withOutside(state, last.Seq); err != nil {
		return err
	}
	intent, err := s.opts.Journal.BeginUndoRollback(state)
	if err != nil {
		return err
	}
	if err := s.checkUndo(intent); err != nil {
		return errors.Join(err, s.opts.Journal.Abandon(intent))
	}
	if err = s.executeRollback(ctx, intent); err != nil {
		s.log.Error("undo of a rollback failed", "error", err)
	}
	return err
}

func (s *Session) acquireRollback() (release func(), err error) {
	if s.opts.Journal == nil || s.opts.Window == nil {
		return nil, ErrNoJournal
	}
	return s.acquireWork(true)
}

// finishRollback completes a rollback that a crash interrupted. The caller
// has acquired s.work.
func (s *Session) finishRollback(ctx context.Context) error {
	if s.opts.Journal == nil || s.opts.Window == nil {
		return nil
	}
	pending, err := s.opts.Journal.Pending()
	if err != nil || pending == nil {
		return err
	}
	unlock, err := s.opts.Journal.TryLock()
	if errors.As(err, new(*checkpoint.LockedError)) {
		return nil // another process will finish it
	} else if err != nil {
		return err
	}
	defer unlock()
	if pending, err = s.opts.Journal.Pending(); err != nil || pending == nil {
		return err
	}
	if err := s.executeRollback(ctx, *pending); err != nil {
		return fmt.Errorf("the interrupted rollback could not be finished: %w", err)
	}
	return nil
}

// executeRollback carries out an intent in this order: the window, which can be
// restored; the store, in one commit; Finish in the journal.
func (s *Session) executeRollback(ctx context.Context, intent checkpoint.Intent) error {
	w, j := s.opts.Window, s.opts.Journal
	restoresWindow := intent.Scope != checkpoint.ScopeConversation
	if restoresWindow {
		if err := w.Apply(intent.State); err != nil {
			return errors.Join(err, j.Abandon(intent))
		}
	}
	uncut, err := s.pairsFrom(ctx, intent)
	if err == nil {
		b := &Batch{Intent: intent.ID}
		switch {
		case intent.Scope == checkpoint.ScopeWindow:
		case intent.Undoes != "":
			b.Uncut = intent.Undoes
		case intent.Cut != 0:
			b.Cut = &Cut{Name: intent.ID, Sessions: intent.Sessions, From: intent.Cut}
		}
		err = s.opts.Store.Commit(ctx, b)
	}
	if err != nil {
		if restoresWindow {
			err = errors.Join(err, w.Apply(intent.Previous))
		}
		return errors.Join(err, j.Abandon(intent))
	}
	recorded := j.Finish(intent)
	s.opts.Member.Announce(windowlock.RolledBack, s.ID(), intent.Target, intent.Previous, intent.State)
	if recorded == nil {
		var state json.RawMessage
		if state, recorded = windowState(w); recorded == nil {
			recorded = s.markSaved(state)
		}
	}
	if intent.Scope != checkpoint.ScopeWindow {
		err = s.showRolledBack(context.WithoutCancel(ctx), intent, uncut) // the rollback is done
	}
	if recorded != nil {
		done := "the rollback was done"
		if intent.Undoes != "" {
			done = "the rollback was undone"
		}
		err = errors.Join(&UnrecordedError{What: done, Err: recorded}, err)
	}
	return err
}
