package plain

import (
	"context"
	"fmt"
	"strings"
	"time"

	"winnow/assistant"
	"winnow/assistant/advice"
	"winnow/assistant/markup"
	"winnow/assistant/safetext"

	"winnow/tui/composer"
)

// sendTyped sends a message typed by the user, with the files that it mentions. In a script
// no files are sent, because the lines of a script may come from an untrusted source.
func (c *console) sendTyped(ctx context.Context, text string) error {
	text = string(safetext.Clean(text))
	files := composer.MentionSource{None: !c.opts.Interactive}
	p, err := composer.Attach(assistant.Prompt{Text: text}, files.Files(text))
	if err != nil {
		c.unsent = unsent{text: text}
		return fmt.Errorf("%w; nothing was sent, /retry tries again", err)
	}
	return c.send(ctx, p, text)
}

// send sends a message and prints its turn; typed is the message without the texts of the
// attached files.
func (c *console) send(ctx context.Context, p assistant.Prompt, typed string) error {
	if check := c.workspace.CheckSend(p); check.TooLong {
		c.unsent = unsent{text: typed}
		c.out.Line(fmt.Sprintf("This message is too long: about %d tokens, plus about %d for the system prompt; the model accepts %d.",
			check.Cost.AUT, check.Cost.SYS, check.Cost.ML))
		if !c.yes(ctx, "The estimate may be wrong. Type yes to send it anyway: ") {
			c.out.Line("Nothing was sent; /retry tries again.")
			return nil
		}
		p.Force = true
	}
	after, err := c.workspace.Begin(context.WithoutCancel(ctx), p) // only Cancel ends the turn, so that its last events are still read
	if err != nil {
		c.unsent = unsent{text: typed}
		return err
	}
	c.unsent = unsent{}
	if !p.Again() {
		c.fail(c.workspace.AddSent(c.ctx, typed))
		if !c.opts.Interactive {
			c.out.Label("You", typed)
		}
	}
	c.follow(ctx, after, p, typed)
	return nil
}

// follow prints the turn that began after the given version of the session, until the turn
// ends. Cancelling ctx cancels the turn.
func (c *console) follow(ctx context.Context, after int64, p assistant.Prompt, typed string) {
	c.choices, c.inTurn = nil, true
	defer context.AfterFunc(ctx, func() {
		if c.ctx.Err() != nil {
			c.interruptTurn()
		} else {
			c.workspace.Cancel()
		}
	})()
	t := &TurnLines{
		Answer: func() Answer { return c.out.Sentences("Assistant") },
		Note:   c.note, Limit: OutcomeWidth, Stop: c.interruptTurn,
	}
	t.Confirm = func(e assistant.ConfirmRequest) error {
		t.Question(e)
		yes := c.yes(ctx, "Type yes to do it: ")
		if !yes {
			c.out.Line("Declined.")
		}
		if ctx.Err() == nil && c.workspace.Answer(e.ID, yes) != nil {
			c.out.Line("The turn had already ended.")
		}
		return nil
	}
	c.out.Line("Thinking…")
	err := t.Print(c.session.Events(context.WithoutCancel(ctx), after))
	if c.inTurn = false; err == nil { // on an error, Run ends
		c.onEnd(t, p, typed)
	}
}

// note prints a line about a turn with its label, or indented if label is "".
func (c *console) note(label, text string) {
	if label == "" {
		c.out.Indent(text)
	} else {
		c.out.Label(label, text)
	}
}

// interruptTurn ends the running turn as the end of the program would: its pair stays and
// is marked as interrupted.
func (c *console) interruptTurn() {
	const limit = 500 * time.Millisecond // if ending the turn takes longer, the next start marks the pair
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.ctx), limit)
	defer cancel()
	_ = c.session.Close(ctx)
}

// onEnd prints how the turn ended and what the user can do now.
func (c *console) onEnd(t *TurnLines, p assistant.Prompt, typed string) {
	switch e := t.End.(type) {
	case assistant.Error:
		c.printError("Error ("+e.Code+")", e.Message)
		if p.Regenerate != 0 {
			c.out.Line("The old answer stays.")
		}
		c.unsent = unsent{typed, t.Seq}
		if next := advice.ForCode(e.Code, commandNames); next != "" {
			c.out.Line(next)
		}
		c.out.Line("/retry sends the message again; /retry TEXT sends TEXT instead.")
	case assistant.Cancelled:
		switch {
		case p.Regenerate != 0:
			c.out.Line("Cancelled. The old answer stays, and so does everything that the tools have done.")
		case e.Kept:
			c.out.Line("Cancelled. Everything that the tools have done stays.")
		default:
			c.unsent.text = typed
			c.out.Line("Cancelled. The message is not in the conversation. /retry sends it again; /retry TEXT sends TEXT instead.")
		}
		c.offerCancelled()
	default:
	}
	if _, complete := t.End.(assistant.Complete); !complete && c.opts.Interactive {
		c.dropTyped()
	}
	if all := c.session.Checkpoints(); len(all) > 0 && t.Seq != 0 && all[len(all)-1].PairSeq == t.Seq {
		c.out.Line(fmt.Sprintf("Checkpoint %d: /undo undoes these changes.", len(all)))
	}
	c.showChanges()
	c.offer(t.Seq)
}

// dropTyped drops the lines that were typed during a turn that failed or was cancelled,
// because they may have been meant to follow its answer. They stay in the list of sent
// messages.
func (c *console) dropTyped() {
	for {
		select {
		case l, ok := <-c.input:
			if !ok {
				c.inputEnded = true
				break
			}
			c.ahead = append(c.ahead, l)
			continue
		default:
		}
		break
	}
	for _, l := range c.ahead {
		if l.Text != "" {
			c.fail(c.workspace.AddSent(c.ctx, l.Text))
			c.out.Label("Not sent", Quote(l.Text))
		}
	}
	c.ahead = nil
}

// retry sends the failed or cancelled message again or, if text is not "", text in its place.
// If no message failed or was cancelled, it does so for the last message.
func (c *console) retry(ctx context.Context, text string) error {
	seq, _ := c.workspace.LastPair()
	if c.unsent.text != "" {
		seq = c.unsent.seq
	}
	switch {
	case text != "":
		if seq != 0 {
			if _, _, err := c.workspace.BeginReAsk(ctx, seq); err != nil {
				return err
			}
		}
		return c.sendTyped(ctx, text)
	case seq == 0 && c.unsent.text != "":
		return c.sendTyped(ctx, c.unsent.text)
	}
	again, confirm, err := c.workspace.PrepareRetry(ctx, seq, false)
	if confirm != nil {
		c.out.Line("The last answer made changes, and they stay. A new answer may make more changes. /undo undoes the newest change.")
		if !c.yes(ctx, "Type yes for a new answer: ") {
			c.nothingDone()
			return nil
		}
		again, _, err = c.workspace.PrepareRetry(ctx, seq, true)
	}
	if err != nil {
		return err
	}
	return c.send(ctx, again.Prompt, again.Prompt.Text)
}

// answers lists the answers to the last message, or chooses the one that is shown and sent.
func (c *console) answers(ctx context.Context, number string) error {
	seq, ok := c.workspace.LastPair()
	if !ok {
		return reply("No messages are shown.")
	}
	p, err := c.pair(ctx, seq)
	if err != nil {
		return err
	}
	all, chosen := p.Answers()
	if number == "" {
		c.out.Line("Answers to the last message; /answer NUMBER chooses one:")
		for i, a := range all {
			var words strings.Builder
			for _, piece := range markup.Pieces(a.AssistantText, len(a.ToolCalls)) {
				words.WriteString(string(piece.Text))
			}
			text := fmt.Sprintf("%d %s", i+1, Quote(words.String()))
			if i == chosen {
				text += " (chosen)"
			}
			c.out.Indent(text)
		}
		return nil
	}
	i, err := index(number, len(all), "There is no answer with that number; /answer lists them.")
	if err != nil {
		return err
	}
	if p, err = c.workspace.Choose(ctx, seq, i); err != nil {
		return err
	}
	c.out.Line(fmt.Sprintf("From now on, requests contain answer %d of %d.", i+1, len(all)))
	c.showPair(p)
	c.showChanges()
	c.offer(seq)
	return nil
}
