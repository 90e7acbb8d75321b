package workspace

import (
	"context"
	"errors"
	"fmt"

	"winnow/assistant"
	"winnow/checkpoint"
)

// Edit runs a change that the user makes in the window, as one step that can be
// undone.
func (w *Workspace) Edit(description string, change func() error) error {
	return w.session.Edit(description, change)
}

// Act carries out an act of the user on what the window showed at a revision, as one step
// that can be undone, and returns what was done as a sentence. An act whose Step is "" is
// not a step.
func (w *Workspace) Act(ctx context.Context, act assistant.Act, revision int64) (done string, err error) {
	actor, ok := w.session.Window().(assistant.Actor)
	if !ok {
		return "", fmt.Errorf("this window knows no act such as %T", act)
	}
	do := func() error {
		done, err = actor.Act(ctx, act, revision)
		return err
	}
	if step := act.Step(); step != "" {
		err = w.session.Edit(step, do)
	} else {
		err = do()
	}
	if err != nil {
		return "", err
	}
	return done, nil
}

// Author names the user, as the authors of unsaved changes do; "" is not known.
func (w *Workspace) Author() string { return w.author }

// PlanSave reports what Save would write; with only, of the changes of that user. The
// plan is the basis of a Save.
func (w *Workspace) PlanSave(ctx context.Context, only string) (assistant.SavePlan, error) {
	return w.session.PlanSave(ctx, only)
}

// Save writes the plan that basis names. The error is an *assistant.PlanChanged when it is
// another one by now, which the user has to see, and an *assistant.Conflict when another
// program has changed the same: RefreshSaved loads its version. Every front end shows
// Saved.Warning.
func (w *Workspace) Save(ctx context.Context, basis assistant.Basis) (assistant.Saved, error) {
	if _, err := w.saver(); err != nil {
		return assistant.Saved{}, err
	}
	return w.session.Save(ctx, basis)
}

// Restore runs a change that brings an earlier version of the file back, as one step that
// can be undone. Every front end shows Saved.Warning.
func (w *Workspace) Restore(ctx context.Context, description string, change func() (assistant.Saved, error)) (assistant.Saved, error) {
	return w.session.Write(ctx, description, change)
}

// PlanDiscard reports from memory what Discard would lose; with only, of the changes of
// that user.
func (w *Workspace) PlanDiscard(only string) (assistant.SavePlan, error) {
	return w.session.PlanDiscard(only)
}

// Discard returns the window to what is saved, as one step that can be undone,
// and returns the lost changes. The error is an *assistant.PlanChanged if they are not the
// changes that basis names, and ErrNothingUnsaved if nothing is unsaved.
func (w *Workspace) Discard(description string, basis assistant.Basis) (lost []assistant.Change, err error) {
	s, err := w.saver()
	if err != nil {
		return nil, err
	}
	if !s.Dirty() {
		return nil, ErrNothingUnsaved
	}
	return w.session.Discard(description, basis)
}

// RefreshSaved reloads the saved state, as one step that can be undone. Unsaved changes are
// applied to it; with drop they are discarded first, as in Discard.
func (w *Workspace) RefreshSaved(ctx context.Context, description string, drop *assistant.Basis) (assistant.Refreshed, error) {
	return w.session.RefreshSaved(ctx, description, drop)
}

func (w *Workspace) saver() (assistant.Saver, error) {
	if s, ok := w.session.Window().(assistant.Saver); ok {
		return s, nil
	}
	return nil, ErrNotSaver
}

// Step is a change of the window that Undo undoes.
type Step struct {
	checkpoint.Checkpoint
	ByAssistant  bool // made by a turn: it can be undone with its conversation
	Pairs        int  // visible pairs that undoing with the conversation would cut
	OtherSession bool // it was made in another session
}

// LastStep returns the newest change of the window that can be undone; ok is false
// when there is none.
func (w *Workspace) LastStep() (step Step, ok bool) {
	c, ok := w.session.LastStep()
	if !ok {
		return Step{}, false
	}
	shown := w.session.Shown()
	return StepOf(c, &shown), true
}

// StepOf is a change as the session sees it that shows these pairs.
func StepOf(c checkpoint.Checkpoint, shown *assistant.Shown) Step {
	step := Step{Checkpoint: c, ByAssistant: c.Kind == checkpoint.KindTurn, OtherSession: c.Session != shown.Session}
	for _, r := range shown.Refs {
		if c.PairSeq != 0 && r.Seq >= c.PairSeq {
			step.Pairs++
		}
	}
	return step
}

// RolledBack is the result of a rollback.
type RolledBack struct {
	Step    checkpoint.Checkpoint
	Text    string // the first message that was cut, for the input; "" for none
	Warning string // what failed after the rollback, as a sentence; every front end shows it
	// Others are the steps of other sessions that were undone with it, oldest first. In a
	// window that sessions share, their conversations stay.
	Others []checkpoint.Checkpoint
}

// Newest is the basis of a rollback: the newest step that would be undone; "" for none.
func (w *Workspace) Newest() string {
	step, _ := w.session.LastStep()
	return step.ID
}

// PlanRollback returns the steps that a rollback to a checkpoint would undo, oldest first,
// and the basis for it.
func (w *Workspace) PlanRollback(id string) (steps []checkpoint.Checkpoint, newest string, err error) {
	return w.session.PlanRollback(id)
}

// Rollback returns to the state before a checkpoint; scope "" is both window
// and conversation. UndoRollback undoes it until the next message. newest is what Newest
// returned when the user saw the checkpoints: if it has changed since, the error is an
// *assistant.PlanChanged.
func (w *Workspace) Rollback(ctx context.Context, id string, scope checkpoint.Scope, newest string) (RolledBack, error) {
	if scope == "" {
		scope = checkpoint.ScopeBoth
	}
	out := RolledBack{}
	for _, c := range w.session.Checkpoints() {
		if c.ID == id {
			out.Step = c
		}
	}
	if scope != checkpoint.ScopeConversation {
		out.Others = w.session.Journal().OthersSince(id, w.session.ID())
	}
	text, err := w.session.Rollback(ctx, id, scope, newest)
	out.Text = text
	out.Warning, err = warningOf(err)
	return out, err
}

// UndoRollback undoes the last rollback; ErrNothingToUndo when there is
// none, or a message was sent since. warning is what failed after it was done.
func (w *Workspace) UndoRollback(ctx context.Context) (warning string, err error) {
	err = w.session.UndoRollback(ctx)
	if errors.Is(err, checkpoint.ErrNoRollback) {
		return "", ErrNothingToUndo
	}
	return warningOf(err)
}

// warningOf makes a warning of the error of something that was done.
func warningOf(err error) (warning string, failed error) {
	if e, ok := errors.AsType[*assistant.UnrecordedError](err); ok {
		return e.Error(), nil
	}
	return "", err
}
