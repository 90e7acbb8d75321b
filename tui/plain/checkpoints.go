package plain

import (
	"errors"
	"fmt"
	"strings"

	"winnow/assistant/workspace"
	"winnow/checkpoint"
)

// listCheckpoints lists the points to go back to, "Session start" first.
func (c *console) listCheckpoints(string) {
	all := c.s.Checkpoints()
	if len(all) == 0 {
		c.out.line("There are no checkpoints.")
		return
	}
	c.out.line("Checkpoints, /rollback and the number goes back to before it:")
	for i, p := range all {
		c.indented(fmt.Sprintf("%d %s", i+1, checkpointText(p)))
	}
}

func checkpointText(p checkpoint.Checkpoint) string {
	text := p.Time.Local().Format("15:04") + " " + visibleLine(p.Description)
	if effect := p.Effect(); effect != "" {
		text += ": " + oneLine(effect)
	}
	return text
}

var scopes = map[string]checkpoint.Scope{
	"": checkpoint.Both, "both": checkpoint.Both, "rules": checkpoint.Rules, "conversation": checkpoint.Conversation,
}

func (c *console) rollback(args string) {
	const usage = "/rollback, the number of a checkpoint, and perhaps rules or conversation. /checkpoints lists them."
	number, what, _ := strings.Cut(args, " ")
	scope, known := scopes[strings.TrimSpace(what)]
	if !known {
		number = ""
	}
	all := c.s.Checkpoints()
	if i, ok := c.index(number, len(all), usage); ok {
		c.rolledBack(c.w.Rollback(c.ctx, all[i].ID, scope))
	}
}

func (c *console) rolledBack(back workspace.RolledBack, err error) {
	if err != nil {
		c.fail(err)
		return
	}
	c.o.Window.Changed()
	c.choices = nil
	c.out.line("Rolled back to before " + visibleLine(back.Step.Description) + ". /undo-rollback undoes that until the next message.")
	if back.Text != "" {
		c.unsent, c.failed = back.Text, 0
		c.out.labelled("The message was", oneLine(back.Text))
		c.out.line("/retry sends it again, /reask asks with other words.")
	}
	c.showChanges()
}

// undo undoes the newest change. It asks when that cuts the conversation.
func (c *console) undo(string) {
	step, ok := c.w.UndoStep()
	undo := func(scope checkpoint.Scope) func() {
		return func() { c.rolledBack(c.w.Undo(c.ctx, scope)) }
	}
	switch {
	case !ok:
		c.out.line("There is no change to undo.")
	case !step.ByAssistant:
		undo(checkpoint.Rules)()
	default:
		c.out.labelled("The assistant's change", checkpointText(step.Checkpoint))
		c.ask("Type yes to undo it with its message, rules to undo only the change: ",
			map[string]func(){"yes": undo(checkpoint.Both), "rules": undo(checkpoint.Rules)}, func() { c.out.line("Nothing was done.") })
	}
}

func (c *console) undoRollback(string) {
	err := c.w.UndoRollback(c.ctx)
	switch {
	case errors.Is(err, workspace.ErrNothingToUndo):
		c.out.line("There is no rollback to undo.")
	case err != nil:
		c.fail(err)
	default:
		c.o.Window.Changed()
		c.unsent, c.failed = "", 0
		c.out.line("The rollback is undone.")
		c.showChanges()
	}
}
