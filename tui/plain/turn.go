package plain

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"winnow/assistant"
	"winnow/assistant/safetext"
	"winnow/tui/pane"
)

// turn is what the console knows of the running turn.
type turn struct {
	events        <-chan assistant.Event
	prompt        assistant.Prompt
	seq           int64 // its pair
	answer        sentenceWriter
	reasoning     sentenceWriter
	thinkingShown bool    // "Thinking…" was shown
	toolLineOpen  bool    // the line of the tool is open
	progress      float64 // as last shown
	checkpointed  bool    // one was made
}

// send sends a message, or queues it while a turn runs.
func (c *console) send(text string) { c.dispatch(assistant.Prompt{Text: safetext.Clean(text)}) }

func (c *console) dispatch(p assistant.Prompt) {
	switch check := c.workspace.CheckSend(p); {
	case c.turn != nil:
		c.fail(c.queue(p))
	case check.TooLong:
		c.unsent, c.failedSeq = p.Text, 0
		c.out.line(fmt.Sprintf("This message is too long: about %d tokens, plus about %d for the system prompt; the model takes %d.",
			c.session.Settings().Budget.Estimate(p.Text), c.session.Boundary().SYS, c.session.Boundary().ML))
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
func (c *console) queue(p assistant.Prompt) error {
	replaced, had, err := c.workspace.Queue(c.ctx, p)
	if errors.Is(err, assistant.ErrNotBusy) {
		c.queuedLate, err = &p, nil // the turn has ended; its last event is still to be read
	}
	if err != nil {
		return err
	}
	c.endLine()
	c.out.labelled("Queued", oneLine(p.Text))
	if had {
		c.out.line("It replaces: " + oneLine(replaced.Text))
	}
	return nil
}

// start begins a turn. Cancel ends it, not ctx, so that its last event is still read.
func (c *console) start(p assistant.Prompt) {
	events, err := c.workspace.Send(context.WithoutCancel(c.ctx), p)
	if err != nil {
		c.unsent, c.failedSeq = p.Text, 0
		c.fail(err)
		return
	}
	c.unsent, c.failedSeq = "", 0
	if p.Retry == 0 {
		c.addSent(p.Text)
		if !c.opts.Interactive {
			c.out.labelled("You", p.Text)
		}
	}
	c.follow(events, p)
}

// follow shows a turn that has begun.
func (c *console) follow(events <-chan assistant.Event, p assistant.Prompt) {
	c.choices = nil
	c.turn = &turn{events: events, prompt: p, answer: sentenceWriter{out: c.out, label: "Assistant"}, reasoning: sentenceWriter{out: c.out, label: "Thinking"}}
}

// addSent adds a message to those that can be recalled.
func (c *console) addSent(text string) { c.fail(c.workspace.AddSent(c.ctx, text)) }

// endLine ends the line that streams, before something else is shown.
func (c *console) endLine() {
	if c.turn != nil {
		c.turn.reasoning.end()
		c.turn.answer.end()
		c.turn.toolLineOpen = false
	}
}

// note adds a labelled line to a running turn.
func (c *console) note(label, text string) {
	c.endLine()
	c.out.labelled(label, consoleKeys(text))
}

// onEvent shows what happens in the turn.
func (c *console) onEvent(e assistant.Event, ok bool) {
	if !ok {
		c.turn = nil // its last event was read before
		return
	}
	t := c.turn
	switch e := e.(type) {
	case assistant.TurnStarted:
		t.seq = e.Seq
	case assistant.Status:
		c.onStatus(e.Message)
	case assistant.ReasoningDelta:
		if c.showReasoning {
			t.reasoning.write(e.Text)
		}
	case assistant.TextDelta:
		c.onText(e.Text)
	case assistant.ToolStart, assistant.ToolProgress, assistant.ToolComplete:
		c.onTool(e)
	case assistant.PayloadFound:
		c.note(cardName(e.Payload.Type), e.Payload.Summary)
	case assistant.CheckpointCreated:
		t.checkpointed = true
	case assistant.ContextTrimmed:
		c.note("Notice", fmt.Sprintf("too long for the model: trying again without %d of %d pairs.", e.Trimmed, e.Sent+e.Trimmed))
	case assistant.Retrying:
		text := "trying again: " + e.Reason
		if e.After() > 0 {
			text = fmt.Sprintf("trying again in %s, attempt %d: %s", e.After().Round(100*time.Millisecond), e.Attempt, e.Reason)
		}
		c.note("Notice", text)
	case assistant.Queued:
		c.note("Queued", oneLine(e.Text))
	case assistant.ConfirmRequest:
		c.confirm(e)
	case assistant.Complete, assistant.Error, assistant.Cancelled:
		c.onEnd(e)
	}
}

// onStatus shows a status, the first "Thinking…" of a turn only. That a tool runs
// is said by its own line.
func (c *console) onStatus(text string) {
	switch {
	case strings.HasPrefix(text, "Running "):
	case text != "Thinking…":
		c.note("Notice", text)
	case !c.turn.thinkingShown:
		c.turn.thinkingShown = true
		c.endLine()
		c.out.line(text)
	}
}

func (c *console) onText(text string) {
	if strings.HasPrefix(text, "[[tool:") {
		return // the place of a tool card; such a text of the model is escaped
	}
	c.turn.reasoning.end()
	if c.turn.toolLineOpen {
		c.out.endLine()
		c.turn.toolLineOpen = false
	}
	c.turn.answer.write(strings.ReplaceAll(text, `\[[tool:`, "[[tool:"))
}

// maxOutcome bounds what is shown of a tool, in cells; /pair shows all.
const maxOutcome = 400

// onTool shows a call and its result on one line, if nothing comes between.
func (c *console) onTool(e assistant.Event) {
	t := c.turn
	switch e := e.(type) {
	case assistant.ToolStart:
		c.endLine()
		c.out.begin(boldOn, "Tool")
		c.out.add(strings.TrimSpace(visibleLine(e.Tool)+" "+safetext.Line(pane.ArgumentLine(e.Input), maxOutcome)) + " …")
		t.progress, t.toolLineOpen = 0, true
	case assistant.ToolProgress:
		const step = 0.25 // a listener wants to hear that it goes on, not each step
		if e.Progress >= t.progress+step && e.Progress < 1 {
			t.progress = e.Progress
			c.note("Progress", fmt.Sprintf("%d percent, %s", int(e.Progress*100), oneLine(e.Message)))
		}
	case assistant.ToolComplete:
		if !t.toolLineOpen {
			c.endLine()
			c.out.begin(boldOn, "Tool")
			c.out.add(visibleLine(e.Tool))
		}
		text := safetext.Line(e.Message, maxOutcome)
		switch {
		case e.Success:
			text = "done: " + text
		case e.ErrorCode != assistant.CodeDeclined:
			text = "failed (" + visibleLine(e.ErrorCode) + "): " + text
		}
		c.out.add(" " + text)
		c.out.endLine()
		t.toolLineOpen = false
	default:
	}
}

// cardName is the name of a payload type as words.
func cardName(payload string) string {
	if payload == "" {
		return "Card"
	}
	return upperFirst(spaced(payload))
}

// confirm asks about a tool, with everything that it would do.
func (c *console) confirm(e assistant.ConfirmRequest) {
	reply := func(yes bool) error {
		if !yes {
			c.out.line("Declined.")
		}
		if c.workspace.Answer(e.ID, yes) != nil {
			c.out.line("The turn had already ended.")
		}
		return nil
	}
	c.endLine()
	c.out.labelled("Question", "the assistant wants to "+spaced(e.Tool)+". This is what it would do:")
	for l := range strings.SplitSeq(strings.TrimRight(e.Diff, "\n"), "\n") {
		c.out.indented(visible(l))
	}
	c.ask("Type yes to do it: ", map[string]func() error{"yes": func() error { return reply(true) }}, func() { _ = reply(false) })
}

// onEnd says how the turn ended and what can be done now.
func (c *console) onEnd(end assistant.Event) {
	c.endLine()
	t := c.turn
	c.turn, c.question = nil, nil
	c.opts.Window.Changed()
	complete := false
	switch e := end.(type) {
	case assistant.Complete:
		complete = true
		if e.Payload.Notice != "" {
			c.out.labelled("Notice", e.Payload.Notice)
		}
	case assistant.Error:
		c.printError("Error ("+e.Code+")", e.Message)
		c.unsent, c.failedSeq = t.prompt.Text, t.seq
		if way := commandNames.Advice(e.Code); way != "" {
			c.out.line(way)
		}
		c.out.line("/retry tries it again, /reask asks with other words.")
	case assistant.Cancelled:
		if e.Kept {
			c.out.line("Cancelled. What the tools have done stays.")
		} else {
			c.unsent = t.prompt.Text
			c.out.line("Cancelled. The message is not in the conversation; /retry sends it again, /reask asks with other words.")
		}
	default:
	}
	if t.checkpointed {
		c.out.line(fmt.Sprintf("Checkpoint %d: /undo undoes these changes.", len(c.session.Checkpoints())))
	}
	c.showChanges()
	c.next(complete, t.seq)
}

// next continues after a turn: with the end, with the queued message, or with
// what the answer offers.
func (c *console) next(complete bool, seq int64) {
	queued, waits := c.workspace.Queued()
	switch {
	case c.quitAfterTurn:
		c.quitAfterTurn = false
		_ = c.quit("") // it asks, or ends
	case waits && complete:
		c.workspace.TakeQueued()
		c.startQueued(queued)
	case waits:
		c.out.line("Still waiting, not sent: " + oneLine(queued.Text) + ". /queue send sends it, /queue drop drops it.")
	case c.queuedLate != nil:
		c.startQueued(*c.queuedLate)
	default:
		c.offer(seq)
	}
}

func (c *console) startQueued(p assistant.Prompt) {
	c.queuedLate = nil
	if c.opts.Interactive {
		c.out.labelled("You, queued before", oneLine(p.Text))
	}
	c.dispatch(p)
}

// cancel cancels the running turn.
func (c *console) cancel(string) error {
	if c.turn == nil {
		return reply("Nothing is running.")
	}
	c.endLine()
	c.out.line("Cancelling.")
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
	case !c.workspace.QuitCheck().Unsaved || !c.opts.Interactive || c.inputEnded:
		c.leave()
	default:
		c.out.labelled("Question", "there are unsaved changes. save writes them, keep leaves them for next time, discard drops them, stay does not quit.")
		leave := func() error { c.leave(); return nil }
		c.ask("Type save, keep, discard or stay: ", map[string]func() error{
			"save": func() error { return c.saveThen(c.leave) }, "keep": leave,
			"discard": func() error { return errors.Join(c.discardNow(), leave()) },
		}, func() {
			if !c.inputEnded {
				c.out.line("Not quitting.")
			}
		})
	}
	return nil
}
