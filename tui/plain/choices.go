package plain

import (
	"fmt"
	"strings"

	"winnow/assistant"
	"winnow/tui/lines"
	"winnow/tui/pane"
)

// offer shows the choices of a pair, numbered as on the screen.
func (c *console) offer(seq int64) {
	pairs, err := c.session.Pairs(c.ctx, []int64{seq})
	if seq == 0 || err != nil || len(pairs) == 0 {
		return // the answer was shown; only its suggestions cannot be read
	}
	c.choices, c.choicesSeq = pane.Choices(&pairs[0], func(t string) bool { return t == pane.RuleProposal }), seq
	c.listChoices("Choices")
}

func (c *console) listChoices(title string) {
	if len(c.choices) == 0 {
		return
	}
	c.out.Line(title + " (/NUMBER chooses):")
	for i, ch := range c.choices {
		text := fmt.Sprintf("/%d %s", i+1, choiceText(ch))
		if sends := ch.Unlabelled(); len(sends) == 1 {
			text += ": " + sends[0]
		} else if len(sends) > 1 {
			text += ":\n     " + strings.Join(sends, "\n     ")
		}
		c.out.Indent(text)
	}
}

// choiceText is a choice in words: a proposal is accepted by what it proposes.
func choiceText(ch pane.Choice) string {
	if ch.Accept {
		return ch.Label + ": " + lines.Name(ch.Summary)
	}
	return ch.Label
}

// actionCommands are the commands that do what an answer suggests, by the name of
// the action; /rules does for all others.
var actionCommands = map[string]func(c *console) error{
	"show_changes": func(c *console) error { return c.showUnsaved("") },
	"open_save":    func(c *console) error { return c.saveThen(func() {}) },
}

// choose does what the choice of a number does.
func (c *console) choose(number string) error {
	i, err := index(number, len(c.choices), fmt.Sprintf("There is no choice %s; choices now: %d.", lines.Name(number), len(c.choices)))
	if err != nil {
		return err
	}
	ch := c.choices[i]
	if ch.PayloadID != "" {
		return c.decide(ch)
	}
	if ch.Message != "" {
		if c.opts.Interactive {
			c.out.Label("You", ch.Message)
		}
		c.dispatch(assistant.Prompt{Text: ch.Message})
		return nil
	}
	if run := actionCommands[ch.Action.Action]; run != nil {
		return run(c)
	}
	return c.listRules("")
}

// decide answers a proposal. Accepting it is a turn of its own.
func (c *console) decide(ch pane.Choice) error {
	seq := c.choicesSeq
	events, err := c.workspace.Decide(c.ctx, seq, ch.PayloadID, ch.Accept)
	switch {
	case err != nil:
		return err
	case events == nil:
		c.out.Line("Rejected; the assistant learns of it with your next message.")
		c.offer(seq)
	default:
		c.follow(events, assistant.Prompt{Text: choiceText(ch)})
	}
	return nil
}
