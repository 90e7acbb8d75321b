package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"winnow/assistant"
	"winnow/assistant/safetext"
	"winnow/checkpoint"
)

// Edit runs a change that the user makes to the window, as one step that can be undone.
func (w *Workspace) Edit(description string, change func() error) error {
	return w.session.Edit(description, change)
}

// Act carries out an action of the user on the content that the window showed at a revision, as one step that can be
// undone, and returns a sentence that says what was done. If act.Step() is "", the action is not a step.
func (w *Workspace) Act(ctx context.Context, act assistant.Act, revision int64) (done safetext.Text, err error) {
	actor, ok := w.session.Window().(assistant.Actor)
	if !ok {
		return "", fmt.Errorf("this window does not support the action %T", act)
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
	if proposed := assistant.AsProposed(err); proposed != nil {
		return safetext.VisibleOnce(proposed.Error()), nil
	}
	if err != nil {
		return "", err
	}
	return done, nil
}

// Author returns the user's name as it appears in the authors of unsaved changes; "" means unknown.
func (w *Workspace) Author() string { return w.author }

// PlanSave returns what Save would write. If only is not "", the plan contains only the changes by that user and the
// user's assistant. Save takes the digest of the plan as its basis.
func (w *Workspace) PlanSave(ctx context.Context, only string) (assistant.SavePlan, error) {
	return w.session.PlanSave(ctx, only)
}

// Save writes the plan that basis identifies. If the plan has changed, it returns an *assistant.PlanChanged, and the
// user must see the new plan. If another program has changed the same values, it returns an *assistant.Conflict;
// RefreshSaved then loads that program's version. Every front end must show Saved.Warning.
func (w *Workspace) Save(ctx context.Context, basis assistant.Basis) (assistant.Saved, error) {
	if _, err := w.saver(); err != nil {
		return assistant.Saved{}, err
	}
	return w.session.Save(ctx, basis)
}

// Restore runs a change that restores an earlier version of the file, as one step that can be undone. Every front end
// must show Saved.Warning.
func (w *Workspace) Restore(ctx context.Context, description string, change func() (assistant.Saved, error)) (assistant.Saved, error) {
	return w.session.Write(ctx, description, change)
}

// PlanDiscard returns the changes that Discard would lose, without reading the disk. If only is not "", the plan
// contains only the changes by that user and the user's assistant.
func (w *Workspace) PlanDiscard(only string) (assistant.SavePlan, error) {
	return w.session.PlanDiscard(only)
}

// Discard returns the window to the saved state, as one step that can be undone, and returns the lost changes. It
// returns an *assistant.PlanChanged if these are not the changes that basis identifies, and ErrNothingUnsaved if
// nothing is unsaved.
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

// RefreshSaved reloads the saved state, as one step that can be undone. Unsaved changes are applied to the new state;
// if drop is not nil, the changes that it names are discarded first, as in Discard.
func (w *Workspace) RefreshSaved(ctx context.Context, description string, drop *assistant.Basis) (assistant.Refreshed, error) {
	return w.session.RefreshSaved(ctx, description, drop)
}

// WaitApplied waits until no save is being applied, or until ctx ends, and returns the result of the newest save; the
// zero value if nothing applies saves.
func (w *Workspace) WaitApplied(ctx context.Context) assistant.Applied {
	if a, ok := w.session.Window().(assistant.Applier); ok {
		return a.WaitApplied(ctx)
	}
	return assistant.Applied{}
}

// CancelApplied stops applying a save, if one is being applied, and does not wait until it has stopped.
func (w *Workspace) CancelApplied() {
	if a, ok := w.session.Window().(assistant.Applier); ok {
		a.CancelApplied()
	}
}

func (w *Workspace) saver() (assistant.Saver, error) {
	if s, ok := w.session.Window().(assistant.Saver); ok {
		return s, nil
	}
	return nil, ErrNotSaver
}

// Step is a change to the window that can be undone.
type Step struct {
	checkpoint.Checkpoint
	ByAssistant  bool // a turn made it, so the conversation can be undone too
	Pairs        int  // the number of pairs, in all sessions, that are removed if the conversation is undone too
	OtherSession bool // made in another session
}

// LastStep returns the newest change to the window that can be undone. ok is false if there is none.
func (w *Workspace) LastStep(ctx context.Context) (step Step, ok bool, err error) {
	c, ok := w.session.LastStep()
	if ok {
		step, err = w.PlanUndo(ctx, c)
	}
	return step, ok, err
}

// PlanUndo returns what undoing a change to the window would do.
func (w *Workspace) PlanUndo(ctx context.Context, c checkpoint.Checkpoint) (step Step, err error) {
	step = Step{Checkpoint: c, ByAssistant: c.Kind == checkpoint.KindTurn, OtherSession: c.Session != w.session.ID()}
	if step.ByAssistant {
		step.Pairs, err = w.session.CutPairs(ctx, c.ID)
	}
	return step, err
}

// RolledBack is the result of a rollback.
type RolledBack struct {
	Step    checkpoint.Checkpoint
	Text    safetext.Text // the first message that was removed, for the input; "" if there is none
	Warning safetext.Text // what failed after the rollback, as a sentence; every front end must show it
	// Others are the steps of other sessions that were undone as well, oldest first. If sessions share the window,
	// the conversations of the other sessions are unchanged.
	Others []checkpoint.Checkpoint
}

// Newest returns the newest step that a rollback would undo, which is the basis of a rollback; "" means none.
func (w *Workspace) Newest() string {
	step, _ := w.session.LastStep()
	return step.ID
}

// PlanRollback returns the steps that a rollback to a checkpoint would undo, oldest first, and the basis for the
// rollback.
func (w *Workspace) PlanRollback(id string) (steps []checkpoint.Checkpoint, newest string, err error) {
	return w.session.PlanRollback(id)
}

// Rollback returns to the state before a checkpoint. Scope "" means both window and conversation. UndoRollback can
// undo the rollback until the next message. newest is the value that Newest returned when the user saw the
// checkpoints; if it has changed since, Rollback returns an *assistant.PlanChanged.
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

// UndoRollback undoes the last rollback. It returns ErrNothingToUndo if there is none or if a message has been sent
// since. If another session made the rollback, or if steps made since would be lost, a confirmation is needed;
// confirmed is the one that the user has given. warning says what failed after the rollback was undone.
func (w *Workspace) UndoRollback(ctx context.Context, confirmed *Confirm) (warning safetext.Text, ask *Confirm, err error) {
	plan, err := w.session.PlanUndoRollback()
	for err == nil {
		if plan.By != "" || len(plan.Drops) > 0 {
			c := Confirm{Kind: ConfirmUndoRollback, By: plan.By, Drops: plan.Drops, shown: plan.Digest}
			if ask = c.after(confirmed); ask != nil {
				return "", ask, nil
			}
		}
		err = w.session.UndoRollback(ctx, plan.Digest)
		if _, changed := errors.AsType[*assistant.PlanChanged](err); !changed {
			break
		}
		plan, err = w.session.PlanUndoRollback()
	}
	if errors.Is(err, checkpoint.ErrNoRollback) {
		return "", nil, ErrNothingToUndo
	}
	if warning, err = warningOf(err); err != nil || w.history == nil {
		return warning, nil, err
	}
	if failed := w.Refilter(context.WithoutCancel(ctx)); failed != nil { // the line may have changed since the rollback
		warning = cmp.Or(warning, safetext.Sprintf("the rollback was undone, but the filter could not be evaluated again: %v", failed))
	}
	return warning, nil, nil
}

// warningOf turns an error that occurred after the operation itself had succeeded into a warning.
func warningOf(err error) (warning safetext.Text, failed error) {
	if e, ok := errors.AsType[*assistant.UnrecordedError](err); ok {
		return safetext.VisibleOnce(e.Error()), nil
	}
	return "", err
}
