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

// planSave shows what a save would change; hasChanges reports whether there is
// anything.
func (c *console) planSave() (hasChanges bool, err error) {
	plan, err := interruptible(c, c.workspace.PlanSave)
	if err != nil {
		return false, err
	}
	st := style.New(style.Options{Profile: style.NoColor})
	switch {
	case plan.Conflict != nil:
		c.askConflict(plan, &st)
		return false, nil //nolint:nilerr // the conflict is asked about
	case plan.Empty():
		c.out.Line("Nothing to save: the file has the same rules.")
		return false, nil
	}
	c.out.Indent(pane.SavePlanLines(plan, &st)...)
	return true, nil
}

// askConflict asks which version to use when someone else has changed the file.
func (c *console) askConflict(plan assistant.SavePlan, st *style.Styles) {
	c.out.Label("Notice", pane.ConflictTitle(plan.Conflict)+".")
	c.out.Indent(pane.ConflictLines(plan.Conflict, plan.Rules, &st.Icons)...)
	load := func(drop bool) func() error {
		return func() error {
			_, err := interruptible(c, func(ctx context.Context) (assistant.Refreshed, error) {
				return c.workspace.RefreshSaved(ctx, "Load the changed file", drop)
			})
			if err == nil {
				c.changed("The file was loaded. /changes shows what is unsaved now.")
			}
			return err
		}
	}
	c.ask("Type mine to load their version and re-apply yours, theirs to drop yours: ",
		map[string]func() error{"mine": load(false), "theirs": load(true)}, func() { c.out.Line("Nothing was saved.") })
}

// saveThen shows what would be written, writes after a yes, and calls then.
func (c *console) saveThen(then func()) error {
	hasChanges, err := c.planSave()
	if err != nil {
		return err
	}
	if !hasChanges {
		if c.question == nil {
			then()
		}
		return nil
	}
	c.askYes("Type yes to save: ", func() error {
		saved, err := interruptible(c, c.workspace.Save)
		c.unsaved = c.workspace.Unsaved()
		if err == nil {
			c.out.Label("Saved", saved.Message)
			then()
		}
		return err
	})
	return nil
}

func (c *console) discard(string) error {
	hasChanges, err := c.planSave()
	if hasChanges {
		c.askYes("Type yes to discard these changes: ", c.discardNow)
	}
	return err
}

func (c *console) discardNow() error {
	lost, err := c.workspace.Discard("Discarded the unsaved changes")
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
	all := c.session.Checkpoints()
	i, err := index(number, len(all), "Usage: /rollback NUMBER, and perhaps rules or conversation; /checkpoints lists them.")
	if err != nil {
		return err
	}
	return c.reportRollback(c.workspace.Rollback(c.ctx, all[i].ID, scope))
}

func (c *console) reportRollback(back workspace.RolledBack, err error) error {
	if err != nil {
		return err
	}
	c.choices = nil
	c.out.Line("Rolled back to before " + lines.Name(back.Step.Description) + ". /undo-rollback undoes that until the next message.")
	if back.Text != "" {
		c.unsent = unsent{text: back.Text}
		c.out.Label("The message was", lines.Quote(back.Text))
		c.out.Line("/retry sends it again, /reask asks with other words.")
	}
	c.showChanges()
	return nil
}

// undo undoes the newest change. It asks when that cuts the conversation.
func (c *console) undo(string) error {
	step, ok := c.workspace.LastStep()
	undo := func(scope checkpoint.Scope) func() error {
		return func() error { return c.reportRollback(c.workspace.Undo(c.ctx, scope)) }
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
	err := c.workspace.UndoRollback(c.ctx)
	if errors.Is(err, workspace.ErrNothingToUndo) {
		return reply("There is no rollback to undo.")
	}
	if err == nil {
		c.unsent = unsent{}
		c.changed("The rollback is undone.")
	}
	return err
}
