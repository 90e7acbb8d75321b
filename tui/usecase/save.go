package usecase

import (
	"context"
	"errors"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	"winnow/assistant/workspace"
)

type (
	// SavePlanned describes what a save would write.
	SavePlanned struct {
		Reply
		Plan assistant.SavePlan
	}
	// PlanChanged is the outcome of Save, MergeSaved, Discard or Rollback if the plan is no
	// longer the plan that the user has seen.
	PlanChanged struct {
		Reply
		Now *assistant.PlanChanged
	}
	// Conflicted is the outcome of Save if another program has changed the same rules, has
	// removed the file or is writing it.
	Conflicted struct {
		Reply
		Conflict *assistant.Conflict
	}
	// Merged is the outcome of MergeSaved: the window now contains what another program has
	// saved.
	Merged struct{ Reply }
	// Saved is the outcome of Save.
	Saved struct {
		Reply
		Saved assistant.Saved
	}
	// Applied is the outcome of WaitApplied: no save is being applied any longer.
	Applied struct{ Reply }
	// DiscardPlanned describes what a discard would lose.
	DiscardPlanned struct {
		Reply
		Plan assistant.SavePlan
	}
	// Discarded is the outcome of Discard.
	Discarded struct {
		Reply
		Lost int // number of lost changes; 0 if there were no unsaved changes
	}
)

// PlanSave plans a save. The outcome is SavePlanned.
func (c *Commands) PlanSave(request int64) tea.Cmd {
	return c.command(request, "plan the save", func(ctx context.Context, c call) (Outcome, error) {
		plan, err := c.Workspace.PlanSave(ctx, "")
		return SavePlanned{c.reply(), plan}, err
	})
}

// Save writes the plan that basis identifies. The outcome is Saved, PlanChanged or
// Conflicted.
func (c *Commands) Save(request int64, basis assistant.Basis) tea.Cmd {
	return c.command(request, "save", func(ctx context.Context, c call) (Outcome, error) {
		saved, err := c.Workspace.Save(ctx, basis)
		if conflict, ok := errors.AsType[*assistant.Conflict](err); ok {
			return Conflicted{c.reply(), conflict}, nil
		}
		return c.changed(Saved{c.reply(), saved}, err)
	})
}

// WaitApplied waits until no save is being applied. The outcome is Applied.
func (c *Commands) WaitApplied(request int64) tea.Cmd {
	return c.command(request, "apply the save", func(ctx context.Context, c call) (Outcome, error) {
		c.Workspace.WaitApplied(ctx)
		return Applied{c.reply()}, nil
	})
}

// CancelApplied cancels applying a save, if a save is being applied.
func (c *Commands) CancelApplied() {
	if c.work != nil {
		c.work.CancelApplied()
	}
}

// MergeSaved loads what another program has saved. It keeps the unsaved changes; if drop is
// set, it drops the unsaved changes that drop identifies. The outcome is Merged or
// PlanChanged.
func (c *Commands) MergeSaved(request int64, description string, drop *assistant.Basis) tea.Cmd {
	return c.command(request, "load the changed file", func(ctx context.Context, c call) (Outcome, error) {
		_, err := c.RefreshSaved(ctx, description, drop)
		return c.changed(Merged{c.reply()}, err)
	})
}

// PlanDiscard plans a discard. The outcome is DiscardPlanned.
func (c *Commands) PlanDiscard(request int64) tea.Cmd {
	return c.command(request, "plan the discard", func(_ context.Context, c call) (Outcome, error) {
		plan, err := c.Workspace.PlanDiscard("")
		return DiscardPlanned{c.reply(), plan}, err
	})
}

// Discard discards the changes that basis identifies. The outcome is Discarded or
// PlanChanged.
func (c *Commands) Discard(request int64, description string, basis assistant.Basis) tea.Cmd {
	return c.command(request, "discard", func(_ context.Context, c call) (Outcome, error) {
		lost, err := c.Workspace.Discard(description, basis)
		if errors.Is(err, workspace.ErrNothingUnsaved) {
			err = nil
		}
		return c.changed(Discarded{c.reply(), len(lost)}, err)
	})
}

// changed returns PlanChanged if err is an assistant.PlanChanged; otherwise it returns o
// and err.
func (c call) changed(o Outcome, err error) (Outcome, error) {
	if now, ok := errors.AsType[*assistant.PlanChanged](err); ok {
		return PlanChanged{c.reply(), now}, nil
	}
	return o, err
}
