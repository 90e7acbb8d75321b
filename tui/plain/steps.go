package plain

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"winnow/assistant/safetext"
	"winnow/checkpoint"
)

// listCheckpoints reads the points to go back to, "Session start" first.
func (c *console) listCheckpoints(string) {
	all := c.s.Checkpoints()
	if len(all) == 0 {
		c.out.line("There are no checkpoints.")
		return
	}
	c.out.line("Checkpoints, /rollback and the number goes back to before it:")
	for i, p := range all {
		c.out.line(fmt.Sprintf("  %d %s", i+1, pointWords(p)))
	}
}

func pointWords(p checkpoint.Checkpoint) string {
	said := p.Time.Local().Format("15:04") + " " + shown(p.Description)
	if effect := p.Effect(); effect != "" {
		said += ": " + safetext.Line(effect, maxQuoted)
	}
	return said
}

var scopes = map[string]checkpoint.Scope{
	"": checkpoint.Both, "both": checkpoint.Both,
	"rules": checkpoint.Rules, "conversation": checkpoint.Conversation,
}

// rollback goes back to a checkpoint.
func (c *console) rollback(args string) {
	number, what, _ := strings.Cut(args, " ")
	scope, known := scopes[strings.TrimSpace(what)]
	all := c.s.Checkpoints()
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 || n > len(all) || !known {
		c.out.line("/rollback, the number of a checkpoint, and perhaps rules or conversation. /checkpoints lists them.")
		return
	}
	c.rollBackTo(all[n-1], scope)
}

func (c *console) rollBackTo(p checkpoint.Checkpoint, scope checkpoint.Scope) {
	text, err := c.s.Rollback(c.ctx, p.ID, scope)
	if err != nil {
		c.fail(err)
		return
	}
	c.o.Window.Changed()
	c.choices = nil
	c.out.line("Rolled back to before " + shown(p.Description) + ". /undo-rollback takes that back until the next message.")
	if text != "" {
		c.again = again{text: text}
		c.out.labelled("The message was", oneLine(text))
		c.out.line("/retry sends it again, /reask asks with other words.")
	}
	c.tell()
}

// undo takes the newest change back. It asks when that cuts the conversation.
func (c *console) undo(string) {
	p, ok := c.s.UndoStep()
	if !ok {
		c.out.line("There is no change to undo.")
		return
	}
	if p.Kind != checkpoint.KindTurn {
		c.rollBackTo(p, checkpoint.Rules)
		return
	}
	c.out.labelled("The assistant's change", pointWords(p))
	c.ask(question{
		prompt: "Type yes to undo it with its message, rules to undo only the change: ",
		take: func(answer string) bool {
			switch strings.ToLower(answer) {
			case "yes":
				c.rollBackTo(p, checkpoint.Both)
			case "rules":
				c.rollBackTo(p, checkpoint.Rules)
			default:
				return false
			}
			return true
		},
		no: func() { c.out.line("Nothing was done.") },
	})
}

func (c *console) undoRollback(string) {
	err := c.s.UndoRollback(c.ctx)
	switch {
	case errors.Is(err, checkpoint.ErrNothing):
		c.out.line("There is no rollback to undo.")
		return
	case err != nil:
		c.fail(err)
		return
	}
	c.o.Window.Changed()
	c.again = again{}
	c.out.line("The rollback is undone.")
	c.tell()
}
