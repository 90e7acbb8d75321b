package plain

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"winnow/assistant"
	"winnow/assistant/workspace"
	"winnow/checkpoint"
	"winnow/tui/lines"
	"winnow/tui/pane"
	"winnow/tui/style"
)

func (c *console) listRules(string) error {
	if c.opts.Rules == nil {
		return reply("This window has nothing to list.")
	}
	c.out.Indent(c.opts.Rules()...)
	return nil
}

// changed reports a change of the window, and shows what follows from it.
func (c *console) changed(text string) {
	c.out.Line(text)
	c.showChanges()
}

// showPlan shows what a save would write, after why it is shown again; changed may be nil.
// ask reports whether there is something to ask about.
func (c *console) showPlan(plan assistant.SavePlan, changed *assistant.PlanChanged) (ask bool) {
	st := style.New(style.Options{Profile: style.NoColor})
	c.showChanged(changed)
	switch {
	case plan.Conflict != nil:
		c.askConflict(plan, &st)
		return false
	case plan.Empty():
		c.out.Line("Nothing to save: the file has the same rules.")
		return false
	}
	c.out.Indent(pane.SavePlanLines(plan, c.workspace.Author(), &st)...)
	return true
}

// showChanged says why something is shown again.
func (c *console) showChanged(changed *assistant.PlanChanged) {
	if changed != nil {
		c.out.Label("Notice", lines.Quote(changed.Changed(c.workspace.Author()))+". This is what would be done now:")
	}
}

func (c *console) planSave() (assistant.SavePlan, error) {
	return interruptible(c, func(ctx context.Context) (assistant.SavePlan, error) { return c.workspace.PlanSave(ctx, "") })
}

// showUnsaved shows what a save would write.
func (c *console) showUnsaved(string) error {
	plan, err := c.planSave()
	if err == nil {
		c.showPlan(plan, nil)
	}
	return err
}

// askConflict asks which version to use when another program has changed the file.
func (c *console) askConflict(plan assistant.SavePlan, st *style.Styles) {
	c.out.Label("Notice", pane.ConflictTitle(plan.Conflict)+".")
	c.out.Indent(pane.ConflictLines(plan.Conflict, plan.Changes, &st.Icons)...)
	c.out.Indent(assistant.OthersLines(plan.Changes, c.workspace.Author())...)
	load := func(drop *assistant.Basis) func() error {
		return func() error {
			_, err := interruptible(c, func(ctx context.Context) (assistant.Refreshed, error) {
				return c.workspace.RefreshSaved(ctx, "Load the changed file", drop)
			})
			if now, ok := errors.AsType[*assistant.PlanChanged](err); ok {
				c.showChanged(now)
				return c.showUnsaved("")
			}
			if err == nil {
				c.changed("The file was loaded. /changes shows what is unsaved now.")
			}
			return err
		}
	}
	c.ask("Type mine to load their version and re-apply yours, theirs to drop yours: ",
		map[string]func() error{"mine": load(nil), "theirs": load(&assistant.Basis{Digest: plan.Digest})}, func() { c.out.Line("Nothing was saved.") })
}

// saveThen shows what would be written, writes after a yes, and calls then.
func (c *console) saveThen(then func()) error {
	plan, err := c.planSave()
	if err != nil {
		return err
	}
	return c.askSave(plan, nil, then)
}

// askSave asks whether to save a plan. changed is why it is shown again; nil: it is new.
func (c *console) askSave(plan assistant.SavePlan, changed *assistant.PlanChanged, then func()) error {
	if !c.showPlan(plan, changed) {
		if c.question == nil {
			then()
		}
		return nil
	}
	c.askYes("Type yes to save: ", func() error {
		saved, err := interruptible(c, func(ctx context.Context) (assistant.Saved, error) {
			return c.workspace.Save(ctx, assistant.Basis{Digest: plan.Digest})
		})
		c.unsaved = c.workspace.Unsaved()
		if now, ok := errors.AsType[*assistant.PlanChanged](err); ok {
			return c.askSave(now.Plan, now, then)
		}
		if conflict, ok := errors.AsType[*assistant.Conflict](err); ok && conflict.Kept == "" {
			plan.Conflict = conflict
			return c.askSave(plan, nil, then)
		}
		if err != nil {
			return err
		}
		c.out.Label("Saved", saved.Message)
		if saved.Warning != "" {
			c.out.Label("Warning", lines.Quote(saved.Warning))
		}
		then()
		return nil
	})
	return nil
}

// discard shows what would be lost, and discards it after a yes.
func (c *console) discard(string) error {
	plan, err := c.workspace.PlanDiscard("")
	if err != nil {
		return err
	}
	return c.askDiscard(plan, nil)
}

func (c *console) askDiscard(plan assistant.SavePlan, changed *assistant.PlanChanged) error {
	c.showChanged(changed)
	if plan.Empty() {
		c.out.Line("Nothing is unsaved.")
		return nil
	}
	c.out.Indent(plan.DiscardLines(c.workspace.Author())...)
	c.askYes("Type yes to discard these changes: ", func() error { return c.discardNow(plan.Digest) })
	return nil
}

// discardNow discards the changes that were shown with a digest.
func (c *console) discardNow(digest string) error {
	lost, err := c.workspace.Discard("Discarded the unsaved changes", assistant.Basis{Digest: digest})
	if now, ok := errors.AsType[*assistant.PlanChanged](err); ok {
		return c.askDiscard(now.Plan, now)
	}
	if err == nil {
		c.changed("Discarded " + assistant.Counted(len(lost), "unsaved change") + ". /undo undoes it.")
	}
	return err
}

// listCheckpoints lists the points to go back to, "Session start" first.
func (c *console) listCheckpoints(string) error {
	all := c.session.Checkpoints()
	if len(all) == 0 {
		return reply("There are no checkpoints.")
	}
	c.listed, c.newest = all, c.workspace.Newest()
	c.out.Line("Checkpoints, /rollback and the number goes back to before it:")
	for i, p := range all {
		c.out.Indent(strconv.Itoa(i+1) + " " + checkpointText(p))
	}
	return nil
}

func checkpointText(p checkpoint.Checkpoint) string {
	text := p.Time.Local().Format("15:04") + " " + lines.Name(p.Description)
	if effect := p.Effect(); effect != "" {
		text += ": " + lines.Quote(effect)
	}
	return text
}

var scopes = map[string]checkpoint.Scope{
	"": checkpoint.ScopeBoth, "both": checkpoint.ScopeBoth, "rules": checkpoint.ScopeRules, "conversation": checkpoint.ScopeConversation,
}

func (c *console) rollback(args string) error {
	number, what, _ := strings.Cut(args, " ")
	scope, known := scopes[strings.TrimSpace(what)]
	if !known {
		number = ""
	}
	all, newest := c.listed, c.newest
	if all == nil {
		all, newest = c.session.Checkpoints(), c.workspace.Newest()
	}
	i, err := index(number, len(all), "Usage: /rollback NUMBER, and perhaps rules or conversation; /checkpoints lists them.")
	if err != nil {
		return err
	}
	return c.rollBackTo(all[i].ID, scope, newest)
}

// rollBackTo goes back to a checkpoint. newest is the newest step that was shown.
func (c *console) rollBackTo(id string, scope checkpoint.Scope, newest string) error {
	back, err := c.workspace.Rollback(c.ctx, id, scope, newest)
	if now, ok := errors.AsType[*assistant.PlanChanged](err); ok {
		c.showChanged(now)
		for _, step := range now.Steps {
			c.out.Indent(checkpointText(step))
		}
		c.askYes("Type yes to undo all of these: ", func() error { return c.rollBackTo(id, scope, now.Newest) })
		return nil
	}
	if err != nil {
		return err
	}
	c.choices, c.listed = nil, nil
	c.out.Line("Rolled back to before " + lines.Name(back.Step.Description) + ". /undo-rollback undoes that until the next message.")
	if back.Text != "" {
		c.unsent = unsent{text: back.Text}
		c.out.Label("The message was", lines.Quote(back.Text))
		c.out.Line("/retry sends it again, /reask asks with other words.")
	}
	if back.Warning != "" {
		c.out.Label("Warning", lines.Quote(back.Warning))
	}
	c.showChanges()
	return nil
}

// undo undoes the newest change. It asks when that cuts the conversation.
func (c *console) undo(string) error {
	step, ok := c.workspace.LastStep()
	undo := func(scope checkpoint.Scope) func() error {
		return func() error { return c.rollBackTo(step.ID, scope, step.ID) }
	}
	switch {
	case !ok:
		return reply("There is no change to undo.")
	case !step.ByAssistant:
		return undo(checkpoint.ScopeRules)()
	}
	c.out.Label("The assistant's change", checkpointText(step.Checkpoint))
	c.ask("Type yes to undo it with its message, rules to undo only the change: ",
		map[string]func() error{"yes": undo(checkpoint.ScopeBoth), "rules": undo(checkpoint.ScopeRules)}, c.nothingDone)
	return nil
}

func (c *console) undoRollback(string) error {
	warning, err := c.workspace.UndoRollback(c.ctx)
	if errors.Is(err, workspace.ErrNothingToUndo) {
		return reply("There is no rollback to undo.")
	}
	if err == nil {
		c.unsent, c.listed = unsent{}, nil
		c.changed("The rollback is undone.")
	}
	if warning != "" {
		c.out.Label("Warning", lines.Quote(warning))
	}
	return err
}
