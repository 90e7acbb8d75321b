package plain

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"winnow/assistant"
	"winnow/assistant/safetext"
)

// turn is what the console knows of the running turn.
type turn struct {
	events      <-chan assistant.Event
	prompt      assistant.Prompt
	seq         int64 // its pair
	answer      sentenceWriter
	reasoning   sentenceWriter
	saidThinks  bool    // that the model thinks was shown
	inTool      bool    // the line of the tool is open
	progress    float64 // as last shown
	checkpoints bool    // one was made
}

// send sends a message, or queues it while a turn runs.
func (c *console) send(text string) { c.dispatch(assistant.Prompt{Text: safetext.Clean(text)}) }

func (c *console) dispatch(p assistant.Prompt) {
	if c.turn != nil {
		c.queue(p)
		return
	}
	if check := c.w.CheckSend(p); check.TooLong {
		c.unsent, c.failed = p.Text, 0
		c.out.line(fmt.Sprintf("This message is too long: about %d tokens, with about %d of the system prompt; the model takes %d.",
			c.s.Settings().Budget.Estimate(p.Text), c.s.Boundary().SYS, c.s.Boundary().ML))
		c.askYes("The estimate may be wrong. Type yes to send it anyway: ", func() {
			p.Force = true
			c.start(p)
		})
		return
	}
	c.start(p)
}

// queue stores a message for the end of the running response.
func (c *console) queue(p assistant.Prompt) {
	replaced, had, err := c.w.Queue(c.ctx, p)
	if errors.Is(err, assistant.ErrNotBusy) {
		c.late, err = &p, nil // the turn has ended; its last event is still to be read
	}
	if err != nil {
		c.fail(err)
		return
	}
	c.endLine()
	c.out.labelled("Queued", oneLine(p.Text))
	if had {
		c.out.line("It replaces: " + oneLine(replaced.Text))
	}
}

// start begins a turn. It ends by Cancel, not by ctx, so that its last event is
// still read.
func (c *console) start(p assistant.Prompt) {
	events, err := c.w.Send(context.WithoutCancel(c.ctx), p)
	if err != nil {
		c.unsent, c.failed = p.Text, 0
		c.fail(err)
		return
	}
	c.unsent, c.failed = "", 0
	if p.Retry == 0 {
		c.addSent(p.Text)
		if !c.o.Interactive {
			c.out.labelled("You", p.Text)
		}
	}
	c.follow(events, p)
}

// follow shows a turn that has begun.
func (c *console) follow(events <-chan assistant.Event, p assistant.Prompt) {
	c.choices = nil
	c.turn = &turn{
		events: events, prompt: p,
		answer:    sentenceWriter{out: c.out, label: "Assistant", width: c.o.Width},
		reasoning: sentenceWriter{out: c.out, label: "Thinking", width: c.o.Width},
	}
}

// addSent adds a message to those that can be recalled.
func (c *console) addSent(text string) {
	if err := c.w.AddSent(c.ctx, text); err != nil {
		c.fail(err)
	}
}

// endLine ends the line that streams, before something else is shown.
func (c *console) endLine() {
	if c.turn != nil {
		c.turn.reasoning.end()
		c.turn.answer.end()
		c.turn.inTool = false
	}
}

// say adds a labelled line to a running turn.
func (c *console) say(label, text string) {
	c.endLine()
	c.out.labelled(label, namedKeys(text))
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
		if c.thinking {
			t.reasoning.write(e.Text)
		}
	case assistant.TextDelta:
		c.onText(e.Text)
	case assistant.ToolStart, assistant.ToolProgress, assistant.ToolComplete:
		c.onTool(e)
	case assistant.PayloadFound:
		c.say(typeName(e.Payload.Type), e.Payload.Summary)
	case assistant.CheckpointCreated:
		t.checkpoints = true
	case assistant.ContextTrimmed:
		c.say("Notice", fmt.Sprintf("too long for the model: trying again without %d of %d pairs.", e.Trimmed, e.Sent+e.Trimmed))
	case assistant.Retrying:
		text := "trying again: " + e.Reason
		if e.After > 0 {
			text = fmt.Sprintf("trying again in %s, attempt %d: %s", e.After.Round(100*time.Millisecond), e.Attempt, e.Reason)
		}
		c.say("Notice", text)
	case assistant.Queued:
		c.say("Queued", oneLine(e.Text))
	case assistant.ConfirmRequest:
		c.confirm(e)
	case assistant.Complete, assistant.Error, assistant.Cancelled:
		c.onEnd(e)
	}
}

func (c *console) onStatus(text string) {
	switch {
	case text != "Thinking…":
		if !strings.HasPrefix(text, "Running ") { // the tool's own line says it
			c.say("Notice", text)
		}
	case !c.turn.saidThinks:
		c.turn.saidThinks = true
		c.endLine()
		c.out.line(text)
	}
}

func (c *console) onText(text string) {
	if strings.HasPrefix(text, "[[tool:") {
		return // the place of a tool card; such a text of the model is escaped
	}
	c.turn.reasoning.end()
	if c.turn.inTool {
		c.out.fresh()
		c.turn.inTool = false
	}
	c.turn.answer.write(strings.ReplaceAll(text, `\[[tool:`, "[[tool:"))
}

// onTool shows a call and its result on one line, if nothing comes between.
func (c *console) onTool(e assistant.Event) {
	t := c.turn
	switch e := e.(type) {
	case assistant.ToolStart:
		c.endLine()
		c.out.begin("Tool")
		c.out.more(strings.TrimSpace(visibleLine(e.Tool)+" "+argumentText(e.Input)) + " …")
		t.progress, t.inTool = 0, true
	case assistant.ToolProgress:
		const step = 0.25 // a listener wants to hear that it goes on, not each step
		if e.Progress >= t.progress+step && e.Progress < 1 {
			t.progress = e.Progress
			c.say("Progress", fmt.Sprintf("%d percent, %s", int(e.Progress*100), oneLine(e.Message)))
		}
	case assistant.ToolComplete:
		if !t.inTool {
			c.endLine()
			c.out.begin("Tool")
			c.out.more(visibleLine(e.Tool))
		}
		c.out.more(" " + resultText(e))
		c.out.fresh()
		t.inTool = false
	default:
	}
}

// maxOutcome bounds what is shown of a tool's result, in cells; /pair shows all.
const maxOutcome = 400

func resultText(e assistant.ToolComplete) string {
	message := safetext.Line(e.Message, maxOutcome)
	switch {
	case e.Success:
		return "done: " + message
	case e.ErrorCode == assistant.CodeDeclined:
		return message
	}
	return "failed (" + visibleLine(e.ErrorCode) + "): " + message
}

// argumentText are the values of an object of arguments, with their names when
// there are several.
func argumentText(raw json.RawMessage) string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		return safetext.Line(visible(string(raw)), maxOutcome)
	}
	var parts []string
	for name, value := range fields {
		var text string
		if json.Unmarshal(value, &text) != nil {
			text = string(value)
		}
		text = visible(text)
		if len(fields) > 1 {
			text = visible(name) + "=" + text
		}
		parts = append(parts, text)
	}
	slices.Sort(parts)
	return safetext.Line(strings.Join(parts, " "), maxOutcome)
}

// onEnd says how the turn ended and what can be done now.
func (c *console) onEnd(end assistant.Event) {
	c.endLine()
	t := c.turn
	c.turn, c.question = nil, nil
	c.o.Window.Changed()
	switch e := end.(type) {
	case assistant.Complete:
		if e.Payload.Notice != "" {
			c.out.labelled("Notice", e.Payload.Notice)
		}
	case assistant.Error:
		c.complain("Error ("+e.Code+")", e.Message)
		c.unsent, c.failed = t.prompt.Text, t.seq
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
	if t.checkpoints {
		c.out.line(fmt.Sprintf("Checkpoint %d: /undo undoes these changes.", len(c.s.Checkpoints())))
	}
	c.showChanges()
	c.next(end, t.seq)
}

// next continues after a turn: with the end, with the queued message, or with
// what the answer offers.
func (c *console) next(end assistant.Event, seq int64) {
	_, complete := end.(assistant.Complete)
	queued, waits := c.w.Queued()
	switch {
	case c.cancelled:
		c.done = true
	case c.leaving:
		c.leaving = false
		c.quit("")
	case waits && complete:
		c.w.TakeQueued()
		c.startQueued(queued)
	case waits:
		c.out.line("Still waiting, not sent: " + oneLine(queued.Text) + ". /queue send sends it, /queue drop drops it.")
	case c.late != nil:
		c.startQueued(*c.late)
	default:
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

// cancel cancels the running turn.
func (c *console) cancel(string) {
	if c.turn == nil {
		c.out.line("Nothing runs.")
		return
	}
	c.endLine()
	c.out.line("Cancelling.")
	c.question = nil
	c.w.Cancel()
}

// showChanges shows what a screen always shows, when it has changed.
func (c *console) showChanges() {
	if now := c.s.Counter(); now != c.counter {
		c.counter = now
		c.out.line(c.contextText())
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

// contextText is the context counter as a sentence.
func (c *console) contextText() string {
	return "Context " + strings.ReplaceAll(c.s.Counter(), "/", " of ") + "."
}

func (c *console) modelText() string {
	if id := c.s.Model(); id != "" {
		return "Model " + visibleLine(id)
	}
	return "No model is selected; /models lists them"
}
