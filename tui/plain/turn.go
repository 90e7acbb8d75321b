package plain

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"winnow/assistant"
	"winnow/assistant/safetext"
	"winnow/assistant/workspace"
	"winnow/tui/lines"
)

// turn is what the console knows of the running turn.
type turn struct {
	events <-chan assistant.Event
	prompt assistant.Prompt
	seq    int64 // its pair
	lines  *lines.Turn
}

// send sends a message, or queues it while a turn runs.
func (c *console) send(text string) { c.dispatch(assistant.Prompt{Text: safetext.Clean(text)}) }

func (c *console) dispatch(p assistant.Prompt) {
	switch check := c.workspace.CheckSend(p); {
	case c.turn != nil:
		c.queue(p)
	case check.TooLong:
		c.unsent = unsent{text: p.Text}
		c.out.Line(fmt.Sprintf("This message is too long: about %d tokens, plus about %d for the system prompt; the model takes %d.",
			check.Cost.AUT, check.Cost.SYS, check.Cost.ML))
		c.askYes("The estimate may be wrong. Type yes to send it anyway: ", func() error {
			p.Force = true
			c.start(p)
			return nil
		})
	default:
		c.start(p)
	}
}

// queue stores a message for the end of the running response.
func (c *console) queue(p assistant.Prompt) {
	replaced, had, err := c.workspace.Queue(c.ctx, p)
	if errors.Is(err, assistant.ErrNotBusy) { // the turn has ended; its last events are still to be read
		for ended := c.turn; c.turn == ended; {
			e, ok := <-ended.events
			c.onEvent(e, ok)
		}
		c.dispatch(p)
		return
	}
	if err != nil {
		c.fail(err)
		return
	}
	c.endLine()
	c.out.Label("Queued", lines.Quote(p.Text))
	if had {
		c.out.Line("It replaces: " + lines.Quote(replaced.Text))
	}
}

// start begins a turn. Cancel ends it, not ctx, so that its last event is still read.
func (c *console) start(p assistant.Prompt) {
	events, err := c.workspace.Send(context.WithoutCancel(c.ctx), p)
	if err != nil {
		c.unsent = unsent{text: p.Text}
		c.fail(err)
		return
	}
	c.unsent = unsent{}
	if p.Retry == 0 {
		c.fail(c.workspace.AddSent(c.ctx, p.Text))
		if !c.opts.Interactive {
			c.out.Label("You", p.Text)
		}
	}
	c.follow(events, p)
}

// follow shows a turn that has begun.
func (c *console) follow(events <-chan assistant.Event, p assistant.Prompt) {
	c.choices = nil
	c.turn = &turn{events: events, prompt: p, lines: c.out.Turn()}
}

// endLine ends the line that streams, before something else is shown.
func (c *console) endLine() {
	if c.turn != nil {
		c.turn.lines.End()
	}
}

// onEvent shows what happens in the turn.
func (c *console) onEvent(e assistant.Event, ok bool) {
	if !ok {
		c.turn = nil // its last event was read before
		return
	}
	switch e := e.(type) {
	case assistant.TurnStarted:
		c.turn.seq = e.Seq
	case assistant.ConfirmRequest:
		c.confirm(e)
	case assistant.Complete, assistant.Error, assistant.Cancelled:
		c.onEnd(e)
	default:
		c.turn.lines.Write(e, c.showReasoning)
	}
}

// confirm asks about a tool, with everything that it would do.
func (c *console) confirm(e assistant.ConfirmRequest) {
	reply := func(yes bool) error {
		if !yes {
			c.out.Line("Declined.")
		}
		if c.workspace.Answer(e.ID, yes) != nil {
			c.out.Line("The turn had already ended.")
		}
		return nil
	}
	c.endLine()
	if e.Note != "" {
		c.out.Label("Notice", lines.Quote(e.Note))
	}
	c.out.Label("Question", "the assistant wants to "+lines.Words(e.Tool)+". This is what it would do:")
	for l := range strings.SplitSeq(strings.TrimRight(e.Diff, "\n"), "\n") {
		c.out.Indent(lines.Visible(l))
	}
	c.ask("Type yes to do it: ", map[string]func() error{"yes": func() error { return reply(true) }}, func() { _ = reply(false) })
}

// onEnd says how the turn ended and what can be done now.
func (c *console) onEnd(end assistant.Event) {
	c.endLine()
	t := c.turn
	c.turn, c.question = nil, nil
	switch e := end.(type) {
	case assistant.Complete:
		if e.Payload.Notice != "" {
			c.out.Label("Notice", e.Payload.Notice)
		}
	case assistant.Error:
		c.printError("Error ("+e.Code+")", e.Message)
		if t.prompt.Regenerate != 0 {
			c.out.Line("The old answer stays.")
		}
		c.unsent = unsent{t.prompt.Text, t.seq}
		if way := commandNames.Advice(e.Code); way != "" {
			c.out.Line(way)
		}
		c.out.Line("/retry tries it again, /reask asks with other words.")
	case assistant.Cancelled:
		switch {
		case t.prompt.Regenerate != 0:
			c.out.Line("Cancelled. The old answer stays, and what tools have done.")
		case e.Kept:
			c.out.Line("Cancelled. What the tools have done stays.")
		default:
			c.unsent.text = t.prompt.Text
			c.out.Line("Cancelled. The message is not in the conversation; /retry sends it again, /reask asks with other words.")
		}
	default:
	}
	if all := c.session.Checkpoints(); len(all) > 0 && t.seq != 0 && all[len(all)-1].PairSeq == t.seq {
		c.out.Line(fmt.Sprintf("Checkpoint %d: /undo undoes these changes.", len(all)))
	}
	c.showChanges()
	c.afterTurn(t.seq)
}

// afterTurn quits, sends the queued message, or shows what the answer offers.
func (c *console) afterTurn(seq int64) {
	if c.quitAfterTurn {
		c.quitAfterTurn = false
		_ = c.quit("") // it asks, or ends
		return
	}
	if p, ok := c.workspace.NextQueued(); ok {
		if c.opts.Interactive {
			c.out.Label("You, queued before", lines.Quote(p.Text))
		}
		c.dispatch(p)
		return
	}
	if p, waits := c.workspace.Queued(); waits {
		c.out.Line("Still waiting, not sent: " + lines.Quote(p.Text) + ". /queue send sends it, /queue drop drops it.")
		return
	}
	c.offer(seq)
}

// retry sends again what failed or was cancelled; without that it asks for the
// last answer anew.
func (c *console) retry(string) error {
	seq := c.unsent.seq
	if seq == 0 && c.unsent.text != "" {
		c.dispatch(assistant.Prompt{Text: c.unsent.text})
		return nil
	}
	if seq == 0 {
		seq, _ = c.workspace.LastPair()
	}
	return c.withConfirm(func(yes bool) (*workspace.Confirm, error) {
		r, confirm, err := c.workspace.Retry(c.ctx, seq, yes)
		if err == nil && confirm == nil {
			c.dispatch(r.Prompt)
		}
		return confirm, err
	}, "The last answer changed the window. That stays; a new answer may change it again. /undo undoes either.", "Type yes for a new answer: ")
}

// reAsk sends other words in place of what failed.
func (c *console) reAsk(text string) error {
	seq := c.unsent.seq
	if c.unsent.text == "" {
		seq, _ = c.workspace.LastPair()
	}
	if seq != 0 || c.unsent.text == "" {
		old, replaces, err := c.workspace.BeginReAsk(c.ctx, seq)
		if err != nil {
			return err
		}
		if c.unsent = (unsent{text: old}); replaces {
			c.unsent.seq = seq
		}
	}
	if text != "" {
		c.send(text)
		return nil
	}
	c.out.Label("The message was", c.unsent.text)
	return reply("The next message takes its place.")
}

// queued shows, sends or drops the queued message.
func (c *console) queued(args string) error {
	p, waits := c.workspace.Queued()
	switch {
	case !waits:
		return reply("No message is queued.")
	case args == "drop":
		_, _, err := c.workspace.DropQueued(c.ctx)
		c.unsent = unsent{text: p.Text}
		c.out.Line("Dropped; /retry sends it.")
		return err
	case args == "send" && c.turn == nil:
		c.workspace.Dequeue()
		c.dispatch(assistant.Prompt{Text: p.Text, Attachments: p.Attachments})
	default:
		c.out.Label("Queued", lines.Quote(p.Text))
	}
	return nil
}

// cancel cancels the running turn.
func (c *console) cancel(string) error {
	if c.turn == nil {
		return reply("Nothing is running.")
	}
	c.endLine()
	c.out.Line("Cancelling.")
	c.question = nil
	c.workspace.Cancel()
	return nil
}

// quit leaves, and asks first what becomes of unsaved changes. The pair of a
// running turn stays, as interrupted.
func (c *console) quit(string) error {
	switch {
	case c.turn != nil:
		c.quitAfterTurn, c.question = true, nil
		c.endLine()
		go c.interruptTurn() // the loop reads the end of the turn
	case !c.workspace.Unsaved() || !c.opts.Interactive || c.inputEnded:
		c.leave()
	default:
		plan, err := c.workspace.PlanDiscard("")
		if err != nil {
			return err
		}
		c.out.Indent(assistant.OthersLines(plan.Changes, c.workspace.Author())...)
		c.out.Label("Question", "there are unsaved changes. save writes them, keep leaves them for next time, discard drops them, stay does not quit.")
		leave := func() error { c.leave(); return nil }
		c.ask("Type save, keep, discard or stay: ", map[string]func() error{
			"save": func() error { return c.saveThen(c.leave) }, "keep": leave,
			"discard": func() error {
				err := c.discardNow(plan.Digest)
				if c.question == nil { // else it asks again
					c.leave()
				}
				return err
			},
		}, func() {
			if !c.inputEnded {
				c.out.Line("Not quitting.")
			}
		})
	}
	return nil
}
