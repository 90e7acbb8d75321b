package usecase

import (
	"context"
	"errors"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant/safetext"
	"winnow/assistant/workspace"
	"winnow/checkpoint"
)

type (
	// UndoPlanned is the outcome of PlanUndo.
	UndoPlanned struct {
		Reply
		Step workspace.Step
	}
	// RolledBack is the outcome of Rollback.
	RolledBack struct {
		Reply
		Result workspace.RolledBack
	}
	// RollbackUndone is the outcome of UndoRollback.
	RollbackUndone struct {
		Reply
		Nothing bool          // there was no rollback to undo
		Warning safetext.Text // what failed after the rollback was undone; may be ""
	}
)

// PlanUndo reads what undoing a step would do. The outcome is UndoPlanned.
func (c *Commands) PlanUndo(request int64, step checkpoint.Checkpoint) tea.Cmd {
	return c.command(request, "undo the change", func(ctx context.Context, c call) (Outcome, error) {
		planned, err := c.Workspace.PlanUndo(ctx, step)
		return UndoPlanned{c.reply(), planned}, err
	})
}

// Rollback rolls back to a checkpoint; newest is the newest step that the user has seen.
// The outcome is RolledBack or PlanChanged.
func (c *Commands) Rollback(request int64, id string, scope checkpoint.Scope, newest string) tea.Cmd {
	return c.command(request, "roll back", func(ctx context.Context, c call) (Outcome, error) {
		result, err := c.Workspace.Rollback(ctx, id, scope, newest)
		return c.changed(RolledBack{c.reply(), result}, err)
	})
}

// UndoRollback undoes the last rollback. The outcome is RollbackUndone, after ConfirmWanted
// if this undoes something that the user has not seen.
func (c *Commands) UndoRollback(request int64) tea.Cmd {
	return c.confirmed(request, "undo the rollback", func(ctx context.Context, c call, confirmed *workspace.Confirm) (Outcome, *workspace.Confirm, error) {
		warning, ask, err := c.Workspace.UndoRollback(ctx, confirmed)
		if errors.Is(err, workspace.ErrNothingToUndo) {
			return RollbackUndone{Reply: c.reply(), Nothing: true}, nil, nil
		}
		return RollbackUndone{c.reply(), false, warning}, ask, err
	})
}
