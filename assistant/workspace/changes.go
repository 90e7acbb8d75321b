package workspace

import (
	"context"
	"errors"

	"winnow/assistant"
	"winnow/checkpoint"
)

// Edit runs a change that the user makes in the window, as one step that can be
// undone.
func (w *Workspace) Edit(description string, change func() error) error {
	return w.session.Edit(description, change)
}

// PlanSave reports what Save would change.
func (w *Workspace) PlanSave(ctx context.Context) (assistant.SavePlan, error) {
	s, err := w.saver()
	if err != nil {
		return assistant.SavePlan{}, err
	}
	return s.PlanSave(ctx)
}

// Save writes the unsaved changes. A file that someone else has changed is an
// *assistant.Conflict: RefreshSaved loads their version.
func (w *Workspace) Save(ctx context.Context) (assistant.Saved, error) {
	if _, err := w.saver(); err != nil {
		return assistant.Saved{}, err
	}
	return w.session.Save(ctx)
}

// Discard returns the window to what is saved, as one step that can be undone,
// and returns the changes that were lost. ErrNothingUnsaved: there are none.
func (w *Workspace) Discard(description string) (lost []assistant.RuleChange, err error) {
	s, err := w.saver()
	if err != nil {
		return nil, err
	}
	if !s.Dirty() {
		return nil, ErrNothingUnsaved
	}
	err = w.session.Edit(description, func() error {
		lost, err = s.Discard()
		return err
	})
	return lost, err
}

// RefreshSaved reads what is saved again, as one step that can be undone.
// Unsaved changes are applied to it, or dropped.
func (w *Workspace) RefreshSaved(ctx context.Context, description string, dropUnsaved bool) (out assistant.Refreshed, err error) {
	r, ok := w.session.Window().(assistant.Refresher)
	if !ok {
		return out, ErrNotSaver
	}
	err = w.session.Edit(description, func() error {
		out, err = r.RefreshSaved(ctx, dropUnsaved)
		return err
	})
	return out, err
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
	step = Step{Checkpoint: c, ByAssistant: c.Kind == checkpoint.KindTurn, OtherSession: c.Session != w.session.ID()}
	for _, r := range w.session.Visible() {
		if c.PairSeq != 0 && r.Seq >= c.PairSeq {
			step.Pairs++
		}
	}
	return step, true
}

// RolledBack is the result of a rollback.
type RolledBack struct {
	Step checkpoint.Checkpoint
	Text string // the first message that was cut, for the input; "" is none
	// Others are the steps of other sessions that were undone with it, oldest first. In a
	// window that sessions share, their conversations stay.
	Others []checkpoint.Checkpoint
}

// Undo undoes the newest change. A user's change is undone alone. An
// assistant's change is undone with its conversation or alone, as scope says;
// scope is ignored for a user's change.
func (w *Workspace) Undo(ctx context.Context, scope checkpoint.Scope) (RolledBack, error) {
	step, ok := w.LastStep()
	if !ok {
		return RolledBack{}, ErrNothingToUndo
	}
	if !step.ByAssistant {
		scope = checkpoint.ScopeRules
	}
	return w.Rollback(ctx, step.ID, scope)
}

// Rollback returns to the state before a checkpoint; scope "" is both window
// and conversation. UndoRollback undoes it until the next message.
func (w *Workspace) Rollback(ctx context.Context, id string, scope checkpoint.Scope) (RolledBack, error) {
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
	text, err := w.session.Rollback(ctx, id, scope)
	out.Text = text
	return out, err
}

// UndoRollback undoes the last rollback; ErrNothingToUndo when there is
// none, or a message was sent since.
func (w *Workspace) UndoRollback(ctx context.Context) error {
	err := w.session.UndoRollback(ctx)
	if errors.Is(err, checkpoint.ErrNoRollback) {
		return ErrNothingToUndo
	}
	return err
}
