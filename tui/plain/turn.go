package plain

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"winnow/assistant"
	"winnow/assistant/safetext"
)

// turn is what the console knows of the running turn.
type turn struct {
	events <-chan assistant.Event
	prompt assistant.Prompt
	before int64 // the newest pair in view when it began

	answer, thought speech
	told            bool // that the model thinks
	tool            string
	inTool          bool    // the line of the tool is open
	progress        float64 // as it was said last
	wrote           bool    // a checkpoint was made
}

// send sends a message, or queues it while a turn runs.
func (c *console) send(text string) {
	c.dispatch(assistant.Prompt{Text: safetext.Clean(text), Replaces: c.replacing()})
}

// replacing is the error pair that the message being written takes the place of.
func (c *console) replacing() int64 {
	if c.turn != nil || !c.again.reask {
		return 0
	}
	return c.again.seq
}

func (c *console) dispatch(p assistant.Prompt) {
	if c.turn != nil {
		c.queue(p)
		return
	}
	b := c.s.Boundary()
	if n := c.s.Settings().Budget.Estimate(p.Text); n+b.SYS > b.ML && b.ML > 0 && p.Retry == 0 {
		c.again = again{text: p.Text}
		c.out.line(fmt.Sprintf("This message is too long: about %d tokens, with about %d of the system prompt; the model takes %d.", n, b.SYS, b.ML))
		c.out.line("It would not be sent: shorten it, or choose a model that takes more.")
		c.askYes("Type yes to keep it unsent: ", func() { c.start(p) })
		return
	}
	c.start(p)
}

// queue keeps a message for the end of the running response.
func (c *console) queue(p assistant.Prompt) {
	old, had := c.s.Queued()
	err := c.s.Queue(p)
	switch {
	case errors.Is(err, assistant.ErrNotBusy):
		c.late = &p // the turn has ended; its last event is still to be read
	case err != nil:
		c.fail(err)
		return
	}
	c.settle()
	c.out.labelled("Queued", oneLine(p.Text))
	if had {
		c.keepSent(old.Text)
		c.out.line("It takes the place of: " + oneLine(old.Text))
	}
}

// start begins a turn.
func (c *console) start(p assistant.Prompt) {
	before := c.newest()
	// The turn ends by Cancel, so that its last word is still read.
	events, err := c.s.Send(context.WithoutCancel(c.ctx), p)
	if err != nil {
		c.again = again{text: p.Text}
		if errors.Is(err, assistant.ErrNoModel) {
			err = errors.New("no model is selected; /models lists them, /model chooses one, /retry then sends the message")
		}
		c.fail(err)
		return
	}
	c.again = again{}
	if p.Retry == 0 {
		c.keepSent(p.Text)
		if !c.o.Interactive {
			c.out.labelled("You", p.Text)
		}
	}
	c.follow(events, p, before)
}

// follow watches a turn that has begun.
func (c *console) follow(events <-chan assistant.Event, p assistant.Prompt, before int64) {
	c.choices = nil
	c.turn = &turn{
		events: events, prompt: p, before: before,
		answer:  speech{out: c.out, label: "Assistant", width: c.o.Width},
		thought: speech{out: c.out, label: "Thinking", width: c.o.Width},
	}
}

// newest is the last pair in view; 0 is none.
func (c *console) newest() int64 {
	refs := c.s.Visible()
	if len(refs) == 0 {
		return 0
	}
	return refs[len(refs)-1].Seq
}

// settle ends the line that streams, before something else is said.
func (c *console) settle() {
	if c.turn != nil {
		c.turn.thought.end()
		c.turn.answer.end()
		c.turn.inTool = false
	}
}

// onEvent tells what happens in the turn.
func (c *console) onEvent(e assistant.Event, ok bool) {
	if !ok {
		c.turn = nil // the last event was read already
		return
	}
	switch e := e.(type) {
	case assistant.Status:
		c.onStatus(e.Message)
	case assistant.ReasoningDelta:
		c.onThought(e.Text)
	case assistant.TextDelta:
		c.onText(e.Text)
	case assistant.ToolStart, assistant.ToolProgress, assistant.ToolComplete:
		c.onTool(e)
	case assistant.PayloadFound:
		c.say(kind(e.Payload.Type), e.Payload.Summary)
	case assistant.CheckpointCreated:
		c.turn.wrote = true
	case assistant.ContextTrimmed:
		c.say("Notice", fmt.Sprintf("too long for the model: trying again without %d of %d pairs.", e.Trimmed, e.Sent+e.Trimmed))
	case assistant.Retrying:
		c.say("Notice", retryWords(e))
	case assistant.Queued:
		c.say("Queued", oneLine(e.Text))
	case assistant.ConfirmRequest:
		c.confirm(e)
	case assistant.Complete, assistant.Error, assistant.Cancelled:
		c.onEnd(e)
	}
}

// say adds a labelled line to a running turn.
func (c *console) say(label, text string) {
	c.settle()
	c.out.labelled(label, keyWords(text))
}

func (c *console) onStatus(text string) {
	switch {
	case text == "Thinking…":
		if !c.turn.told {
			c.turn.told = true
			c.settle()
			c.out.line("Thinking…")
		}
	case strings.HasPrefix(text, "Running "): // the line of the tool says it
	default:
		c.say("Notice", text)
	}
}

func (c *console) onThought(text string) {
	if c.thinking {
		c.turn.thought.write(text)
	}
}

func (c *console) onText(text string) {
	if strings.HasPrefix(text, "[[tool:") {
		return // the place of a card; the model's own are escaped
	}
	c.turn.thought.end()
	if c.turn.inTool {
		c.out.fresh()
		c.turn.inTool = false
	}
	c.turn.answer.write(strings.ReplaceAll(text, `\[[tool:`, "[[tool:"))
}

func retryWords(r assistant.Retrying) string {
	if r.After == 0 {
		return "trying again: " + r.Reason
	}
	return fmt.Sprintf("trying again in %s, attempt %d: %s", r.After.Round(100*time.Millisecond), r.Attempt, r.Reason)
}

// onEnd says how the turn ended and what can be done now.
func (c *console) onEnd(end assistant.Event) {
	c.settle()
	t := c.turn
	c.turn, c.asked = nil, nil
	c.o.Window.Changed()
	c.failed = false
	seq := c.seqOf(t)
	switch e := end.(type) {
	case assistant.Complete:
		if e.Payload.Notice != "" {
			c.out.labelled("Notice", e.Payload.Notice)
		}
	case assistant.Error:
		c.onError(e, t, seq)
	case assistant.Cancelled:
		c.onCancelled(e, t)
	case assistant.TurnStarted, assistant.Status, assistant.TextDelta, assistant.ReasoningDelta, assistant.ToolStart, assistant.ToolProgress,
		assistant.ToolComplete, assistant.PayloadFound, assistant.CheckpointCreated, assistant.ContextTrimmed,
		assistant.Queued, assistant.Retrying, assistant.ConfirmRequest:
	}
	if t.wrote {
		c.out.line(fmt.Sprintf("Checkpoint %d: /undo takes these changes back.", len(c.s.Checkpoints())))
	}
	c.tell()
	c.next(end, seq)
}

// seqOf is the pair of a turn that has ended; 0 when there is none any more.
func (c *console) seqOf(t *turn) int64 {
	if t.prompt.Retry != 0 {
		return t.prompt.Retry
	}
	if seq := c.newest(); seq > t.before {
		return seq
	}
	return 0
}

func (c *console) onError(e assistant.Error, t *turn, seq int64) {
	c.failed = true
	c.complain("Error ("+e.Code+")", e.Message)
	c.again = again{text: t.prompt.Text, seq: seq}
	c.out.line("/retry tries it again, /reask asks with other words.")
}

func (c *console) onCancelled(e assistant.Cancelled, t *turn) {
	if e.Kept {
		c.out.line("Cancelled. What the tools have done stays.")
		return
	}
	c.again = again{text: t.prompt.Text}
	c.out.line("Cancelled. The message is not in the conversation; /retry sends it again, /reask asks with other words.")
}

// next goes on after a turn: with the end, with the queued message, or with
// what the answer offers.
func (c *console) next(end assistant.Event, seq int64) {
	_, whole := end.(assistant.Complete)
	queued, waits := c.s.Queued()
	switch {
	case c.stopped:
		c.done = true
	case c.leaving:
		c.leaving = false
		c.quit()
	case waits && whole:
		c.s.TakeQueued()
		c.startQueued(queued)
	case waits:
		c.out.line("Still waiting, not sent: " + oneLine(queued.Text) + ". /queue send sends it, /queue drop drops it.")
	case c.late != nil:
		p := *c.late
		c.late = nil
		c.startQueued(p)
	case seq != 0:
		c.offer(seq)
	}
}

func (c *console) startQueued(p assistant.Prompt) {
	c.late = nil
	if c.o.Interactive {
		c.out.labelled("You, queued before", oneLine(p.Text))
	}
	c.dispatch(p)
}

// cancel breaks the running turn off.
func (c *console) cancel() {
	c.settle()
	c.out.line("Cancelling.")
	c.asked = nil
	c.s.Cancel()
}

// tell says what the screen shows all the time, when it is another now.
func (c *console) tell() {
	if now := c.s.Counter(); now != c.counter {
		c.counter = now
		c.out.line(c.contextWords())
	}
	if now := c.isUnsaved(); now != c.unsaved {
		c.unsaved = now
		if now {
			c.out.line("There are unsaved changes; /save writes them.")
		} else {
			c.out.line("Nothing is unsaved.")
		}
	}
}

// contextWords is the context counter as a sentence.
func (c *console) contextWords() string {
	return "Context " + strings.ReplaceAll(c.s.Counter(), "/", " of ") + "."
}

func (c *console) isUnsaved() bool { return c.o.Window.Status().Unsaved }

// keepSent keeps a message where the screen finds the messages that were sent.
func (c *console) keepSent(text string) {
	if c.o.History == nil || strings.TrimSpace(text) == "" {
		return
	}
	if err := c.o.History.AddSent(c.ctx, text); err != nil {
		c.fail(fmt.Errorf("the message history: %w", err))
	}
}

// oneLine is a text of the user where one line is shown of it.
func oneLine(text string) string { return safetext.Line(text, maxQuoted) }

// maxQuoted is how much of a message is repeated, in cells.
const maxQuoted = 200
