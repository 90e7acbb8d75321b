// Package answer prints a turn of the assistant as lines: the answer to standard output
// while it streams, what tools do and questions beside it.
//
// A Printer prints one turn. It belongs to one goroutine.
package answer

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"winnow/assistant"
	"winnow/assistant/safetext"
	"winnow/tui/lines"
	"winnow/tui/pane"
)

// ErrUnconfirmed is the error of a turn that asked something when nobody could answer.
var ErrUnconfirmed = errors.New("nobody is there to confirm")

// FailedError is the error of a turn that failed.
type FailedError struct {
	Code, Message string
	Changed       bool // a tool had changed the window before
}

// Error is the code and the message.
func (f *FailedError) Error() string { return f.Code + ": " + f.Message }

// Printer prints the events of a turn. Out, Part, Print and Answer are needed.
type Printer struct {
	Out  io.Writer                        // standard output
	JSON bool                             // events, in place of text
	Yes  bool                             // the answer to all questions is yes
	Part func(out io.Writer) lines.Answer // prints the text between two calls of tools
	// Print prints a line beside the answer.
	Print func(format string, args ...any)
	// Ask asks a question of the user; nil: nobody is there.
	Ask func(question string) bool
	// Answer answers a question of the turn.
	Answer func(id string, yes bool) error

	lines   *bufio.Writer  // to Out
	part    lines.Answer   // nil before the first text of a part
	parts   int            // so far
	inputs  map[int]string // arguments of running tools, by index
	marker  string         // the marker that follows a finished tool as a text delta
	changed bool           // a tool has changed the window
	err     error          // the turn failed, or its save did
}

const (
	maxBurst = 32 << 10 // bytes of an answer that are written at once
	maxInput = 120      // cells of the arguments of a tool
)

// Turn prints a turn to its end. stop is called when nothing can be written any more; the
// rest of the turn is read then, not printed.
func (p *Printer) Turn(events iter.Seq[assistant.Event], stop func()) error {
	p.lines, p.inputs = bufio.NewWriterSize(p.Out, maxBurst), map[int]string{}
	var failed error
	for e := range events {
		if failed != nil {
			continue
		}
		if failed = errors.Join(p.print(e), p.lines.Flush()); failed != nil {
			stop()
		}
	}
	if failed != nil {
		return failed
	}
	if err := errors.Join(p.endPart(), p.lines.Flush()); err != nil {
		return err
	}
	return p.err
}

func (p *Printer) print(e assistant.Event) error {
	if p.JSON {
		line, err := assistant.EncodeEvent(e)
		if err != nil {
			return err
		}
		if _, err := p.lines.Write(append(safetext.JSON(line), '\n')); err != nil {
			return err
		}
	}
	switch e := e.(type) {
	case assistant.TextDelta:
		if e.Text == p.marker {
			p.marker = ""
			return nil
		}
		return p.write(strings.ReplaceAll(e.Text, `\[[tool:`, `[[tool:`))
	case assistant.ToolStart:
		p.inputs[e.Index] = safetext.Line(pane.ArgumentLine(e.Input), maxInput)
		return p.endPart() // text that announces the tool is written before its line
	case assistant.ToolComplete:
		p.tool(e)
	case assistant.CheckpointCreated:
		p.changed = true
	case assistant.ConfirmRequest:
		return p.confirm(e)
	case assistant.Retrying:
		p.note("trying again: %s", e.Reason)
	case assistant.ContextTrimmed:
		p.note("the request was too long: %s of %d sent, the oldest left out", assistant.Counted(e.Sent, "pair"), e.Visible)
	case assistant.Complete:
		p.note("%s", e.Payload.Notice)
	case assistant.Error:
		p.err = &FailedError{e.Code, e.Message, p.changed}
	case assistant.Cancelled:
		p.err = context.Canceled
	default: // of interest to programs and screens
	}
	return nil
}

// write prints text of the answer, with a blank line between two parts.
func (p *Printer) write(text string) error {
	if p.part == nil {
		if text = strings.TrimLeft(text, "\n"); text == "" || p.JSON {
			return nil
		}
		if p.parts++; p.parts > 1 {
			if err := p.lines.WriteByte('\n'); err != nil {
				return err
			}
		}
		p.part = p.Part(p.lines)
	}
	return p.part.Write(text)
}

func (p *Printer) endPart() error {
	if p.part == nil {
		return nil
	}
	err := p.part.Close()
	p.part = nil
	return err
}

// note prints a line beside the answer, unless a program reads the events.
func (p *Printer) note(format string, args ...any) {
	if !p.JSON {
		_ = p.lines.Flush() // a failure is reported by the next write
		p.Print(format, args...)
	}
}

// saveTool is the tool that writes the rules to the file. When it fails, the whole
// command fails: a script must not go on as if they were saved.
const saveTool = "save_changes"

// tool prints the result of a call in one line.
func (p *Printer) tool(e assistant.ToolComplete) {
	p.marker = fmt.Sprintf("[[tool:%d]]", e.Index)
	icon := "✓"
	if !e.Success {
		icon = "✗"
	}
	line := strings.TrimSpace(icon + " " + e.Tool + " " + p.inputs[e.Index])
	message, _, _ := strings.Cut(e.Message, "\n")
	p.changed = p.changed || e.Tool == saveTool && e.Success // the file, which no checkpoint holds
	switch {                                                 // an error that ends the command says the message
	case e.ErrorCode == assistant.CodeLocked: // a script must not go on as if it had changed something
		p.err = &FailedError{e.ErrorCode, message, p.changed}
	case e.Tool == saveTool && !e.Success && e.ErrorCode != assistant.CodeDeclined:
		p.err = fmt.Errorf("the rules were not saved: %s", message)
	case message != "":
		line += " — " + message
	}
	p.note("%s", line)
}

// confirm answers a confirm request: yes with Yes, what the user types, and no where
// nobody is there; changes are pending then.
func (p *Printer) confirm(e assistant.ConfirmRequest) error {
	yes := p.Yes
	switch {
	case yes:
	case p.Ask != nil:
		if err := p.lines.Flush(); err != nil {
			return err
		}
		p.Print("%s", e.Note)
		for line := range strings.Lines(e.Diff) {
			p.Print("%s", strings.TrimRight(line, "\n"))
		}
		yes = p.Ask("Run " + e.Tool + "?")
	default:
		p.err = ErrUnconfirmed
		next := e.Diff
		if e.Tool == saveTool {
			next = "the rules stay staged; winnow rules diff shows them, winnow rules save saves them"
		}
		p.note("%s needs --yes here: %s", e.Tool, next)
	}
	return p.Answer(e.ID, yes)
}
