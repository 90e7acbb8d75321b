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
		Long: "ask sends one message and writes the answer to standard output as it comes; tool\n" +
			"calls are listed on standard error. Standard input, when it is a file or a pipe, is\n" +
			"added to the message. Rules are staged until they are saved. On a terminal a save is\n" +
			"confirmed there; elsewhere it needs --yes, and is refused with exit status 3 without.",
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
	e, err := a.openEndpoints(0)
	if err != nil {
		return err
	}
	old, err := a.resumed(ctx, store)
	if err != nil {
		return err
	}
	picked, err := a.model(ctx, e, store)
	if err != nil {
		return err
	}
	w, err := a.openWindow(ctx, true)
	if err != nil {
		return err
	}
	session, err := a.openSession(ctx, e, w, store, old, picked.ID, nil)
	if err != nil {
		return err
	}
	if picked.Note != "" {
		a.say("%s", picked.Note)
	}
	if w.staged {
		a.say("rules of an earlier run are still unsaved: winnow rules diff shows them")
	}
	defer singleProcessor()()
	events, err := session.Send(ctx, assistant.Prompt{Text: text})
	if err != nil {
		return err
	}
	if err := a.follow(session, events, yes); err != nil {
		return err
	}
	if a.flags.set.Changed("model") { // chosen by the user, and it works
		return store.Set(ctx, lastModelKey(a.folder()), picked.ID)
	}
	return nil
}

// singleProcessor runs one goroutine at a time until restore is called. Where
// another processor is idle, the runtime wakes it for each piece of an answer
// that goes from one goroutine to the next: half of the CPU time of a token.
func singleProcessor() (restore func()) {
	before := runtime.GOMAXPROCS(1)
	return func() { runtime.GOMAXPROCS(before) }
}

// maxBurst is how much of an answer is written at once, in bytes.
const maxBurst = 32 << 10

// follow prints a turn to its end.
func (a *app) follow(session *assistant.Session, events <-chan assistant.Event, yes bool) error {
	t := &turnPrinter{app: a, session: session, yes: yes, inputs: map[int]string{}, lines: bufio.NewWriterSize(a.stdout, maxBurst)}
	t.out = a.answerWriter(t.lines)
	var failed error
	for e := range events {
		err := t.print(e)
		if len(events) == 0 { // what came in one burst is written at once
			err = errors.Join(err, t.lines.Flush())
		}
		if err != nil && failed == nil {
			failed = err // a closed pipe: the turn still ends in order
			session.Cancel()
		}
	}
	if err := errors.Join(t.out.close(), t.lines.Flush()); failed == nil {
		failed = err
	}
	if failed == nil {
		failed = t.end
	}
	return failed
}

// turnPrinter prints the events of a turn: the answer to standard output,
// everything else to standard error.
type turnPrinter struct {
	app     *app
	session *assistant.Session
	yes     bool
	lines   *bufio.Writer // standard output; out and events go through it
	out     answerWriter
	inputs  map[int]string // arguments of running tools, by index
	marker  string         // the marker that follows a finished tool as a text delta
	end     error
}

func (t *turnPrinter) print(e assistant.Event) error {
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
		return t.part()
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
	default: // of interest to programs and screens
	}
	return nil
}

func (t *turnPrinter) encode(e assistant.Event) error {
	line, err := assistant.EncodeEvent(e)
	if err != nil {
		return err
	}
	_, err = t.lines.Write(append(visibleJSON(line), '\n'))
	return err
}

// note prints a line beside the answer, unless a program reads the events.
func (t *turnPrinter) note(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); text != "" && !t.app.flags.json {
		_ = t.lines.Flush() // a failure is reported by the next write
		t.app.say("%s", text)
	}
}

// part ends the text so far, so that it stands above what a tool does.
func (t *turnPrinter) part() error {
	if t.app.flags.json {
		return nil
	}
	return t.out.part()
}

func (t *turnPrinter) text(text string) error {
	if t.app.flags.json || text == t.marker && text != "" {
		t.marker = ""
		return nil
	}
	return t.out.write(strings.ReplaceAll(text, `\[[tool:`, `[[tool:`))
}

// saveTool is the tool that writes the rules to the file. That it failed is a
// failure of the whole command: a script must not go on as if they were saved.
const saveTool = "save_changes"

// tool prints the result of a call in one line.
func (t *turnPrinter) tool(e assistant.ToolComplete) {
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
	message, _, _ := strings.Cut(e.Message, "\n")
	if message != "" {
		line += " — " + message
	}
	t.note("%s", line)
	if e.Tool == saveTool && !e.Success && e.ErrorCode != assistant.CodeDeclined {
		t.end = fmt.Errorf("the rules were not saved: %s", message)
	}
}

// confirm answers a confirm request: yes with --yes, what the user types on a
// terminal, and no elsewhere, where the exit status says that changes are pending.
func (t *turnPrinter) confirm(e assistant.ConfirmRequest) error {
	yes := t.yes
	switch {
	case yes:
	case t.app.interactive():
		if err := t.lines.Flush(); err != nil {
			return err
		}
		for line := range strings.Lines(e.Diff) {
			t.app.say("%s", strings.TrimRight(line, "\n"))
		}
		yes = t.app.askYesNo(t.app.ctx, "Run "+e.Tool+"?")
	default:
		t.end = errPending
		next := e.Diff
		if e.Tool == saveTool {
			next = "the rules stay staged; winnow rules diff shows them, winnow rules save saves them"
		}
		t.note("%s needs --yes here: %s", e.Tool, next)
	}
	return t.session.Answer(e.ID, yes)
}
