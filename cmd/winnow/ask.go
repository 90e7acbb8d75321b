package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"winnow/assistant"
	"winnow/assistant/safetext"
)

func askCommand(a *app) *cobra.Command {
	var yes bool
	c := &cobra.Command{
		Use:   "ask [MESSAGE…]",
		Short: "Ask the assistant one thing, without a screen",
		Long: "ask sends one message and writes the answer to standard output as it comes; what\n" +
			"the assistant does to the rules is told on standard error. Standard input, when it\n" +
			"is a file or a pipe, is added to the message. Rules are staged until they are saved.",
		Example: "winnow ask \"which models are hidden?\"\nwinnow ask --yes \"hide every mini model and save\"\n" +
			"git diff | winnow ask \"what changed here?\"",
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := a.message(args)
			if err != nil {
				return err
			}
			return a.ask(cmd.Context(), text, yes)
		},
	}
	c.Flags().BoolVar(&yes, "yes", false, "agree to what the assistant asks, such as saving")
	a.flags.bindSession(c)
	return c
}

// maxInput is how much of standard input is taken: far more than any model reads.
const maxInput = 16 << 20

// message is what the user says: the words of the command line, and below
// them standard input.
func (a *app) message(args []string) (string, error) {
	text := strings.TrimSpace(strings.Join(args, " "))
	if piped(a.stdin) {
		data, err := io.ReadAll(io.LimitReader(a.stdin, maxInput+1))
		if err != nil {
			return "", fmt.Errorf("standard input: %w", err)
		}
		if len(data) > maxInput {
			return "", &usageError{"winnow ask", fmt.Sprintf("standard input is larger than %d MiB", maxInput>>20)}
		}
		if more := strings.TrimSpace(safetext.Clean(string(data))); more != "" && text != "" {
			text += "\n\n" + more
		} else if more != "" {
			text = more
		}
	}
	if text == "" {
		return "", &usageError{"winnow ask", "there is no message: give it as an argument or on standard input"}
	}
	return text, nil
}

// piped says whether somebody put something into standard input: a file or a
// pipe, not a terminal, and not what a service manager connects it to.
func piped(r io.Reader) bool {
	f, ok := r.(*os.File)
	if !ok {
		return r != nil
	}
	info, err := f.Stat()
	return err == nil && (info.Mode().IsRegular() || info.Mode()&os.ModeNamedPipe != 0)
}

// ask runs one turn.
func (a *app) ask(ctx context.Context, text string, yes bool) error {
	defer startFast()()
	store, err := a.openHistory(ctx)
	if err != nil {
		return err
	}
	w, err := a.wire(0)
	if err != nil {
		return err
	}
	old, err := a.resumed(ctx, store)
	if err != nil {
		return err
	}
	picked, err := a.model(ctx, w, store)
	if err != nil {
		return err
	}
	p, err := a.openPlace(ctx, true)
	if err != nil {
		return err
	}
	session, err := a.openSession(ctx, w, p, store, old, picked.id, nil)
	if err != nil {
		return err
	}
	if picked.note != "" {
		a.say("%s", picked.note)
	}
	if p.desk != nil && p.desk.staged {
		a.say("rules of an earlier run are still unsaved: winnow rules diff shows them")
	}
	defer oneByOne()()
	events, err := session.Send(ctx, assistant.Prompt{Text: text})
	if err != nil {
		return err
	}
	if err := a.follow(session, events, yes); err != nil {
		return err
	}
	if a.flags.set.Changed("model") { // chosen by the user, and it works
		return store.Set(ctx, lastModelKey(a.folder()), picked.id)
	}
	return nil
}

// oneByOne has one goroutine run at a time until usual is called. An answer goes
// from hand to hand, and where another processor is idle the runtime wakes it up
// at each of them, for nothing: half of what a token costs.
func oneByOne() (usual func()) {
	before := runtime.GOMAXPROCS(1)
	return func() { runtime.GOMAXPROCS(before) }
}

// maxBurst is how much of an answer is written at once, in bytes.
const maxBurst = 32 << 10

// follow tells a turn to its end.
func (a *app) follow(session *assistant.Session, events <-chan assistant.Event, yes bool) error {
	t := &teller{app: a, session: session, yes: yes, inputs: map[int]string{}, lines: bufio.NewWriterSize(a.stdout, maxBurst)}
	t.out = a.answerWriter(t.lines)
	var end error
	for e := range events {
		err := t.tell(e)
		if len(events) == 0 { // what came in one burst is written at once
			err = errors.Join(err, t.lines.Flush())
		}
		if err != nil && end == nil {
			end = err // a closed pipe: the turn still ends in order
			session.Cancel()
		}
	}
	if err := errors.Join(t.out.close(), t.lines.Flush()); end == nil {
		end = err
	}
	if end == nil {
		end = t.end
	}
	return end
}

// teller puts the events of a turn into words.
type teller struct {
	app     *app
	session *assistant.Session
	yes     bool
	lines   *bufio.Writer // standard output; out and events go through it
	out     answerWriter
	inputs  map[int]string // of running tools, by index
	marker  string         // the next text is this marker, not words
	end     error
}

func (t *teller) tell(e assistant.Event) error {
	if t.app.flags.json {
		if err := t.encode(e); err != nil {
			return err
		}
	}
	switch e := e.(type) {
	case assistant.TextDelta:
		return t.text(e.Text)
	case assistant.ToolStart:
		t.inputs[e.Index] = argumentLine(e.Input)
	case assistant.ToolComplete:
		t.tool(e)
	case assistant.ConfirmRequest:
		return t.confirm(e)
	case assistant.Retrying:
		t.note("trying again: %s", e.Reason)
	case assistant.ContextTrimmed:
		t.note("the request was too long: %s of %d sent, the oldest left out", assistant.Counted(e.Sent, "pair"), e.Visible)
	case assistant.Complete:
		t.note("%s", e.Payload.Notice)
	case assistant.Error:
		t.end = advise(fmt.Errorf("%s: %s", e.Code, e.Message), "%s", kindAdvice(e.Code))
	case assistant.Cancelled:
		t.end = context.Canceled
	case assistant.TurnStarted, assistant.Status, assistant.ReasoningDelta, assistant.ToolProgress, assistant.CheckpointCreated, assistant.Queued, assistant.PayloadFound:
		// Of interest to programs and screens.
	}
	return nil
}

func (t *teller) encode(e assistant.Event) error {
	line, err := assistant.EncodeEvent(e)
	if err != nil {
		return err
	}
	_, err = t.lines.Write(append(visibleJSON(line), '\n'))
	return err
}

// note says something beside the answer, unless a program reads it anyway.
func (t *teller) note(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); text != "" && !t.app.flags.json {
		_ = t.lines.Flush() // first what was said before; that it failed is told by the next write
		t.app.say("%s", text)
	}
}

func (t *teller) text(text string) error {
	if t.app.flags.json {
		return nil
	}
	if text == t.marker && text != "" {
		t.marker = ""
		return t.out.part()
	}
	return t.out.write(strings.ReplaceAll(text, `\[[tool:`, `[[tool:`))
}

// tool tells what came of a call, in one line.
func (t *teller) tool(e assistant.ToolComplete) {
	t.marker = fmt.Sprintf("[[tool:%d]]", e.Index)
	sign := "✓"
	if !e.Success {
		sign = "✗"
	}
	words := []string{sign, e.Tool}
	if in := t.inputs[e.Index]; in != "" {
		words = append(words, in)
	}
	line := strings.Join(words, " ")
	if first, _, _ := strings.Cut(e.Message, "\n"); first != "" {
		line += " — " + first
	}
	t.note("%s", line)
}

// confirm answers for the user, who said beforehand what the answer is.
func (t *teller) confirm(e assistant.ConfirmRequest) error {
	if !t.yes {
		next := "the rules stay staged; winnow rules diff shows them, winnow rules save saves them"
		if isPast(t.session) {
			next = e.Diff
		}
		t.note("%s is not done without --yes: %s", e.Tool, next)
	}
	return t.session.Answer(e.ID, t.yes)
}
