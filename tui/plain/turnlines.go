package plain

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"winnow/assistant"
	"winnow/assistant/markup"
	"winnow/assistant/safetext"
	"winnow/tui/pane"
)

// TurnLines prints a turn: the answer as it arrives, and labelled lines for all other
// events. Answer and Note are required.
type TurnLines struct {
	Answer    func() Answer                        // prints the text between two tool calls or labelled lines
	Reasoning func() Answer                        // prints the reasoning; nil if it is not printed
	Note      func(label, text string)             // prints a line; label is "" if the line belongs to the previous one
	Confirm   func(assistant.ConfirmRequest) error // answers a question of the turn, see Question
	Stop      func()                               // stops a turn that can no longer be printed
	Limit     int                                  // maximum width of a tool's input and result in cells; 0 means no limit

	Seq int64           // the Seq of the turn's pair, once the turn has started
	End assistant.Event // Complete, Error or Cancelled, once the turn has ended

	part     Answer
	thinks   bool           // the current part is reasoning
	inputs   map[int]string // inputs of the running tools, by index
	marker   safetext.Text  // marker in the text that follows the result of a tool
	progress float64        // progress of the tool when it was last printed
}

// Print prints a turn until it ends. After the first error of Answer or Confirm, it calls
// Stop, and reads the rest of the turn without printing it.
func (t *TurnLines) Print(events iter.Seq[assistant.Event]) error {
	var failed error
	t.inputs = map[int]string{}
	for e := range events {
		if failed != nil {
			continue
		}
		if failed = t.print(e); failed != nil {
			t.Stop()
		}
	}
	return cmp.Or(failed, t.endPart())
}

func (t *TurnLines) print(e assistant.Event) error {
	switch e := e.(type) {
	case assistant.TurnStarted:
		t.Seq = e.Seq
	case assistant.Status:
		if e.Message != "Thinking…" && !strings.HasPrefix(e.Message, "Running ") { // other lines report these events
			return t.note("Notice", e.Message)
		}
	case assistant.ReasoningDelta:
		return t.text(e.Text, true)
	case assistant.TextDelta:
		text := e.Text
		if strings.HasPrefix(string(text), string(t.marker)) { // the marker of a tool card; the same text written by the model is escaped
			text = text[len(t.marker):]
		}
		t.marker = ""
		return t.text(markup.Unescape(text), false)
	case assistant.ToolStart:
		t.inputs[e.Index], t.progress = pane.ArgumentLine(e.Input), 0
		return t.endPart()
	case assistant.ToolProgress:
		const step = 0.25 // print that the tool is still running, but not every step
		if e.Progress >= t.progress+step && e.Progress < 1 {
			t.progress = e.Progress
			return t.note("Progress", strings.TrimSuffix(fmt.Sprintf("%d percent, %s", int(e.Progress*100), Quote(e.Message)), ", "))
		}
	case assistant.ToolComplete:
		return t.tool(e)
	case assistant.PayloadFound:
		return t.payload(e.Payload)
	case assistant.ContextTrimmed:
		return t.note("Notice", fmt.Sprintf("too long for the model: trying again without %d of %s.", e.Trimmed, assistant.Counted(e.Sent+e.Trimmed, "message")))
	case assistant.Retrying:
		text := "trying again: " + e.Reason
		if e.After() > 0 {
			text = fmt.Sprintf("trying again in %s, attempt %d: %s", e.After().Round(100*time.Millisecond), e.Attempt, e.Reason)
		}
		return t.note("Notice", text)
	case assistant.ConfirmRequest:
		return cmp.Or(t.endPart(), t.Confirm(e))
	case assistant.Complete:
		t.End = e
		return t.note("Notice", string(e.Payload.Notice))
	case assistant.Error, assistant.Cancelled:
		t.End = e
		return t.endPart()
	default:
	}
	return nil
}

// text prints a piece of the answer or the reasoning.
func (t *TurnLines) text(text safetext.Text, thinks bool) error {
	begin := t.Answer
	if thinks {
		begin = t.Reasoning
	}
	if begin == nil {
		return nil
	}
	if t.part == nil || t.thinks != thinks {
		if text = text.TrimLeftFunc(func(r rune) bool { return r == '\n' }); text == "" {
			return nil
		}
		if err := t.endPart(); err != nil {
			return err
		}
		t.part, t.thinks = begin(), thinks
	}
	return t.part.Write(text)
}

func (t *TurnLines) endPart() error {
	if t.part == nil {
		return nil
	}
	part := t.part
	t.part = nil
	return part.Close()
}

// note prints a labelled line, unless its text is empty.
func (t *TurnLines) note(label, text string) error {
	err := t.endPart()
	if text != "" && err == nil {
		t.Note(label, text)
	}
	return err
}

// tool prints a finished tool call: the tool, its input, and its result.
func (t *TurnLines) tool(e assistant.ToolComplete) error {
	t.marker = markup.CardMarker(e.Index)
	text := strings.TrimSpace(Name(e.Tool) + " " + t.bounded(t.inputs[e.Index]))
	switch {
	case e.Success:
		text += ", done"
	case e.ErrorCode == assistant.CodeDeclined: // the message says that the tool was declined
	case e.ErrorCode == assistant.CodeFailed:
		text += ", failed"
	default:
		text += ", failed (" + Name(e.ErrorCode) + ")"
	}
	message, _, _ := strings.Cut(e.Message, "\n\n") // a list after the first paragraph is meant for the model
	if result := t.bounded(message); result != "" {
		text += ": " + result
	}
	return t.note("Tool", text)
}

func (t *TurnLines) bounded(text string) string {
	if t.Limit == 0 {
		return text
	}
	return string(safetext.Line(text, t.Limit))
}

// OutcomeWidth is the Limit, in cells, for a turn that is printed while it is running.
const OutcomeWidth = 400

// Question prints what a tool would do, for the user to confirm.
func (t *TurnLines) Question(e assistant.ConfirmRequest) {
	if e.Note != "" {
		t.Note("Notice", Quote(e.Note))
	}
	tool := Name(e.Tool)
	if e.Server != "" {
		tool = "a tool of the MCP server " + Name(e.Server)
	}
	t.Note("Question", "the assistant wants to run "+tool+". This is what it would do:")
	for _, l := range e.Diff.Lines() {
		t.Note("", string(l))
	}
}

// payload prints the summary of a payload. Of rules that the user can still accept it prints
// each one instead, because a summary names only some.
func (t *TurnLines) payload(p assistant.Payload) error {
	label := payloadLabel(p.Type)
	rules, _ := pane.ProposedRules(p)
	switch {
	case p.Decision != "" || len(rules) == 0:
		return t.note(label, strings.TrimSpace(p.Summary+" "+p.Decision))
	case len(rules) == 1:
		return t.note(label, string(rules[0].Text))
	}
	err := t.note(label, assistant.Counted(len(rules), "change")+":")
	for _, r := range rules {
		t.Note("", string(r.Text))
	}
	return err
}

// payloadLabel returns the label of a payload: its type, with spaces in place of underscores.
func payloadLabel(payloadType string) string {
	if payloadType == "" {
		return "Card"
	}
	return assistant.UpperFirst(Name(strings.ReplaceAll(payloadType, "_", " ")))
}

// Stored returns events with which TurnLines prints a stored pair as if its turn ran again.
func Stored(p *assistant.Pair) iter.Seq[assistant.Event] {
	return func(yield func(assistant.Event) bool) {
		calls := slices.DeleteFunc(slices.Clone(p.ToolCalls), func(c assistant.ToolCall) bool { return c.Silent })
		events := []assistant.Event{assistant.ReasoningDelta{Text: p.Reasoning}}
		for _, piece := range markup.Pieces(p.AssistantText, len(calls)) {
			if piece.Call < 0 {
				events = append(events, assistant.TextDelta{Text: piece.Text.TrimSpace()})
				continue
			}
			call, done := calls[piece.Call], assistant.ToolComplete{Index: piece.Call, ErrorCode: assistant.CodeDeclined, Message: "it did not run"}
			if r := call.Result; r != nil {
				done.Success, done.ErrorCode, done.Message = r.Success, r.ErrorCode, r.Message
			}
			done.Tool = call.Name
			events = append(events, assistant.ToolStart{Index: piece.Call, Input: call.Arguments}, done)
		}
		for _, payload := range p.Payloads {
			events = append(events, assistant.PayloadFound{Payload: payload})
		}
		events = append(events, assistant.Complete{Payload: assistant.ResponsePayload{Notice: p.Notice}})
		for _, e := range events {
			if !yield(e) {
				return
			}
		}
	}
}

// Marks returns, in words, the marks that a screen shows next to a pair, such as " (not
// sent, 2 stars)". included means that the pair is sent with the next message.
func Marks(p *assistant.Pair, included bool) string {
	var all []string
	if !included {
		all = append(all, "not sent")
	}
	switch p.State {
	case assistant.PairError:
		all = append(all, "error "+p.ErrorCode)
	case assistant.PairPartial:
		all = append(all, "cancelled")
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
