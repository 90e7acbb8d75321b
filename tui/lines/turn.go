package lines

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"winnow/assistant"
	"winnow/assistant/markup"
	"winnow/assistant/safetext"
	"winnow/tui/pane"
)

// Turn writes the events of a running turn.
type Turn struct {
	out           *Writer
	answer        *Sentences
	reasoning     *Sentences
	thinkingShown bool    // "Thinking…" was written
	toolOpen      bool    // the open line is that of a tool
	progress      float64 // of the tool, as last written
}

// Turn returns a writer of the events of a turn.
func (w *Writer) Turn() *Turn {
	return &Turn{out: w, answer: w.Sentences("Assistant"), reasoning: w.Sentences("Thinking")}
}

// End ends the line that streams, before something else is written.
func (t *Turn) End() {
	t.reasoning.End()
	t.answer.End()
	t.toolOpen = false
}

// note writes a labelled line.
func (t *Turn) note(label, text string) {
	t.End()
	t.out.Label(label, text)
}

// Write writes an event; reasoning is written only if showReasoning is set. Questions
// and the end of the turn are left to the caller.
func (t *Turn) Write(e assistant.Event, showReasoning bool) {
	switch e := e.(type) {
	case assistant.Status:
		t.status(e.Message)
	case assistant.ReasoningDelta:
		if showReasoning {
			t.reasoning.Write(e.Text)
		}
	case assistant.TextDelta:
		t.text(e.Text)
	case assistant.ToolStart:
		t.End()
		t.out.Begin("Tool")
		t.out.Add(strings.TrimSpace(Name(e.Tool)+" "+safetext.Line(pane.ArgumentLine(e.Input), maxOutcome)) + " …")
		t.progress, t.toolOpen = 0, true
	case assistant.ToolProgress:
		const step = 0.25 // a listener wants to hear that it goes on, not each step
		if e.Progress >= t.progress+step && e.Progress < 1 {
			t.progress = e.Progress
			t.note("Progress", fmt.Sprintf("%d percent, %s", int(e.Progress*100), Quote(e.Message)))
		}
	case assistant.ToolComplete:
		t.toolComplete(e)
	case assistant.PayloadFound:
		t.note(payloadLabel(e.Payload.Type), e.Payload.Summary)
	case assistant.ContextTrimmed:
		t.note("Notice", fmt.Sprintf("too long for the model: trying again without %d of %d pairs.", e.Trimmed, e.Sent+e.Trimmed))
	case assistant.Retrying:
		text := "trying again: " + e.Reason
		if e.After() > 0 {
			text = fmt.Sprintf("trying again in %s, attempt %d: %s", e.After().Round(100*time.Millisecond), e.Attempt, e.Reason)
		}
		t.note("Notice", text)
	case assistant.Queued:
		t.note("Queued", Quote(e.Text))
	default:
	}
}

// status writes a status, the first "Thinking…" of the turn only. That a tool runs
// is said by its own line.
func (t *Turn) status(text string) {
	switch {
	case strings.HasPrefix(text, "Running "):
	case text != "Thinking…":
		t.note("Notice", text)
	case !t.thinkingShown:
		t.thinkingShown = true
		t.End()
		t.out.Line(text)
	}
}

func (t *Turn) text(text string) {
	if strings.HasPrefix(text, "[[tool:") {
		return // the place of a tool card; such a text of the model is escaped
	}
	t.reasoning.End()
	if t.toolOpen {
		t.out.End()
		t.toolOpen = false
	}
	t.answer.Write(strings.ReplaceAll(text, `\[[tool:`, "[[tool:"))
}

// maxOutcome bounds what is written of the input and the result of a tool while its
// turn runs, in cells; Pair writes all.
const maxOutcome = 400

// toolComplete writes the result of a call behind the call, if nothing was written
// between them.
func (t *Turn) toolComplete(e assistant.ToolComplete) {
	if !t.toolOpen {
		t.End()
		t.out.Begin("Tool")
		t.out.Add(Name(e.Tool))
	}
	text := safetext.Line(e.Message, maxOutcome)
	switch {
	case e.Success:
		text = "done: " + text
	case e.ErrorCode != assistant.CodeDeclined:
		text = "failed (" + Name(e.ErrorCode) + "): " + text
	}
	t.out.Add(" " + text)
	t.End()
	t.out.End()
}

// Words is the name of a tool or of a payload type as words.
func Words(name string) string { return Name(strings.ReplaceAll(name, "_", " ")) }

// payloadLabel is the label of a payload.
func payloadLabel(payloadType string) string {
	if payloadType == "" {
		return "Card"
	}
	return assistant.UpperFirst(Words(payloadType))
}

// Pair writes a pair with everything in it; its reasoning only if showReasoning is set.
func (w *Writer) Pair(p *assistant.Pair, showReasoning bool) {
	write := func(label, text string) {
		if text = strings.TrimSpace(text); text != "" {
			w.Label(label, text)
		}
	}
	write("You", p.UserText)
	if showReasoning {
		write("Thinking", p.Reasoning)
	}
	calls := slices.DeleteFunc(slices.Clone(p.ToolCalls), func(c assistant.ToolCall) bool { return c.Silent })
	for _, piece := range markup.Pieces(p.AssistantText, len(calls)) {
		if piece.Call < 0 {
			write("Assistant", piece.Text)
			continue
		}
		call := calls[piece.Call]
		write("Tool", Visible(call.Name+" "+string(call.Arguments)))
		switch r := call.Result; {
		case r == nil:
			w.Line("It did not run.")
		case r.Success:
			w.Label("Done", r.Message)
		default:
			w.Label("Failed ("+r.ErrorCode+")", r.Message)
		}
	}
	for _, payload := range p.Payloads {
		write(payloadLabel(payload.Type), payload.Summary+" "+payload.Decision)
	}
	write("Notice", p.Notice)
	if p.State == assistant.PairError {
		w.Label("Error ("+p.ErrorCode+")", p.ErrorMessage)
	}
}

// Marks are the marks that a screen shows at a pair, as words: " (not sent, 2
// stars)". included says that the pair is sent with the next message.
func Marks(p *assistant.Pair, included bool) string {
	var all []string
	if !included {
		all = append(all, "not sent")
	}
	switch p.State {
	case assistant.PairError:
		all = append(all, "error "+p.ErrorCode)
	case assistant.PairSending:
		all = append(all, "running")
	default:
	}
	if n := len(p.ToolCalls); n > 0 {
		all = append(all, assistant.Counted(n, "tool call"))
	}
	if p.Star > 0 {
		all = append(all, assistant.Counted(p.Star, "star"))
	}
	if len(all) == 0 {
		return ""
	}
	return " (" + strings.Join(all, ", ") + ")"
}
