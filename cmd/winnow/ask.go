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
	"time"

	"github.com/spf13/cobra"

	"winnow/assistant"
	"winnow/assistant/safetext"
	"winnow/tui/markdown"
	"winnow/tui/pane"
)

func askCommand(a *app) *cobra.Command {
	var yes bool
	c := command("ask [MESSAGE…]", "Ask the assistant one thing, without a screen", 0, -1, func(ctx context.Context, args []string) error {
		text, err := a.message(args)
		if err != nil {
			return err
		}
		return a.ask(ctx, text, yes)
	})
	c.Long = "ask sends one message and writes the answer to standard output as it comes; tool\n" +
		"calls are listed on standard error. Standard input, when it is a file or a pipe, is\n" +
		"added to the message. Rules are staged until they are saved. On a terminal a save is\n" +
		"confirmed there; elsewhere it needs --yes, and is refused with exit status 3 without."
	c.Example = "winnow ask \"which models are hidden?\"\nwinnow ask --yes \"hide every mini model and save\"\n" +
		"git diff | winnow ask \"what changed here?\""
	c.Flags().BoolVar(&yes, "yes", false, "agree to what the assistant asks, such as saving")
	a.flags.bindSession(c)
	return c
}

// maxInput bounds standard input, in bytes: far more than any model reads.
const maxInput = 16 << 20

// message is what the user asks: the words of the command line, and below them
// standard input.
func (a *app) message(args []string) (string, error) {
	parts := []string{strings.TrimSpace(strings.Join(args, " "))}
	if piped(a.stdin) {
		data, err := io.ReadAll(io.LimitReader(a.stdin, maxInput+1))
		if err != nil {
			return "", fmt.Errorf("standard input: %w", err)
		}
		if len(data) > maxInput {
			return "", &usageError{"winnow ask", fmt.Sprintf("standard input is larger than %d MiB", maxInput>>20)}
		}
		parts = append(parts, strings.TrimSpace(safetext.Clean(string(data))))
	}
	text := strings.Trim(strings.Join(parts, "\n\n"), "\n")
	if text == "" {
		return "", &usageError{"winnow ask", "there is no message: give it as an argument or on standard input"}
	}
	return text, nil
}

// piped reports whether somebody put something into standard input: a file or a
// pipe, not a terminal, and not what a service manager connects it to.
func piped(r io.Reader) bool {
	f, ok := r.(*os.File)
	if !ok {
		return r != nil
	}
	info, err := f.Stat()
	return err == nil && (info.Mode().IsRegular() || info.Mode()&os.ModeNamedPipe != 0)
}

// ask runs one turn. A signal, which ends ctx, closes the session, so that the pair
// of the turn stays, as interrupted.
func (a *app) ask(ctx context.Context, text string, yes bool) error {
	defer delayGC()()
	o := openOptions{}
	if isTerminal(a.stdout) {
		o.readPause = linesReadPause
	}
	p, err := a.open(ctx, o)
	if err != nil {
		return err
	}
	a.say("%s", p.notice)
	if p.window.recovered {
		a.say("rules of an earlier run are still unsaved: winnow rules diff shows them")
	}
	defer singleProcessor()()
	events, err := p.session.Send(context.WithoutCancel(ctx), assistant.Prompt{Text: text})
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, p.closeSession)()
	err = a.printTurn(p.session, events, yes)
	if ctx.Err() != nil {
		return advise(context.Canceled, "the question is stored: winnow --continue asks it again, or winnow ask --continue goes on")
	}
	if err == nil && a.flags.set.Changed("model") { // chosen by the user, and it works
		err = p.store.Set(ctx, lastModelKey(a.folder()), p.session.Model())
	}
	return err
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

// printTurn prints a turn to its end: events that wait together, in one write.
func (a *app) printTurn(session *assistant.Session, events <-chan assistant.Event, yes bool) error {
	t := &turnPrinter{app: a, session: session, yes: yes, inputs: map[int]string{}, lines: bufio.NewWriterSize(a.stdout, maxBurst)}
	var failed error
	for e := range events {
		err := t.print(e)
		if len(events) == 0 {
			err = errors.Join(err, t.lines.Flush())
		}
		if err != nil && failed == nil {
			failed = err // a closed pipe: the turn still ends in order
			session.Cancel()
		}
	}
	if err := errors.Join(t.endPart(), t.lines.Flush()); failed == nil {
		failed = err
	}
	if failed == nil {
		failed = t.err
	}
	return failed
}

// turnPrinter prints the events of a turn: the answer to standard output,
// everything else to standard error.
type turnPrinter struct {
	app     *app
	session *assistant.Session
	yes     bool
	lines   *bufio.Writer  // standard output
	part    answerPart     // nil before the first text of a part
	parts   int            // so far
	inputs  map[int]string // arguments of running tools, by index
	marker  string         // the marker that follows a finished tool as a text delta
	changed bool           // a tool has changed the window
	err     error          // the turn failed, or its save did
}

func (t *turnPrinter) print(e assistant.Event) error {
	if t.app.flags.json {
		line, err := assistant.EncodeEvent(e)
		if err != nil {
			return err
		}
		if _, err := t.lines.Write(append(safetext.JSON(line), '\n')); err != nil {
			return err
		}
	}
	switch e := e.(type) {
	case assistant.TextDelta:
		if e.Text == t.marker {
			t.marker = ""
			return nil
		}
		return t.write(strings.ReplaceAll(e.Text, `\[[tool:`, `[[tool:`))
	case assistant.ToolStart:
		t.inputs[e.Index] = safetext.Line(pane.ArgumentLine(e.Input), maxName)
		return t.endPart() // text that announces the tool is written before its line
	case assistant.ToolComplete:
		t.tool(e)
	case assistant.CheckpointCreated:
		t.changed = true
	case assistant.ConfirmRequest:
		return t.confirm(e)
	case assistant.Retrying:
		t.note("trying again: %s", e.Reason)
	case assistant.ContextTrimmed:
		t.note("the request was too long: %s of %d sent, the oldest left out", assistant.Counted(e.Sent, "pair"), e.Visible)
	case assistant.Complete:
		t.note("%s", e.Payload.Notice)
	case assistant.Error:
		t.err = advise(fmt.Errorf("%s: %s", e.Code, e.Message), "%s", t.advice(e.Code))
	case assistant.Cancelled:
		t.err = context.Canceled
	default: // of interest to programs and screens
	}
	return nil
}

// write prints text of the answer, with a blank line between two parts.
func (t *turnPrinter) write(text string) error {
	if t.part == nil {
		if text = strings.TrimLeft(text, "\n"); text == "" || t.app.flags.json {
			return nil
		}
		if t.parts++; t.parts > 1 {
			if err := t.lines.WriteByte('\n'); err != nil {
				return err
			}
		}
		t.part = t.app.newPart(t.lines)
	}
	return t.part.write(text)
}

func (t *turnPrinter) endPart() error {
	if t.part == nil {
		return nil
	}
	err := t.part.close()
	t.part = nil
	return err
}

// advice is what to do after a turn that failed. An answer that stopped in the
// middle may have changed the window before.
func (t *turnPrinter) advice(code string) string {
	switch {
	case code != assistant.CodeInterrupted:
		return requestAdvice(code)
	case t.changed:
		return "what the tools above changed stays: winnow rules diff shows it, winnow checkpoints list names the checkpoint to roll back to"
	}
	return "ask again; no tool has changed anything"
}

// note prints a line beside the answer, unless a program reads the events.
func (t *turnPrinter) note(format string, args ...any) {
	if !t.app.flags.json {
		_ = t.lines.Flush() // a failure is reported by the next write
		t.app.say(format, args...)
	}
}

// saveTool is the tool that writes the rules to the file. When it fails, the whole
// command fails: a script must not go on as if they were saved.
const saveTool = "save_changes"

// tool prints the result of a call in one line.
func (t *turnPrinter) tool(e assistant.ToolComplete) {
	t.marker = fmt.Sprintf("[[tool:%d]]", e.Index)
	icon := "✓"
	if !e.Success {
		icon = "✗"
	}
	line := strings.TrimSpace(icon + " " + e.Tool + " " + t.inputs[e.Index])
	message, _, _ := strings.Cut(e.Message, "\n")
	if message != "" {
		line += " — " + message
	}
	t.note("%s", line)
	switch {
	case e.ErrorCode == assistant.CodeLocked: // a script must not go on as if it had changed something
		t.err = errors.New(message)
	case e.Tool == saveTool && !e.Success && e.ErrorCode != assistant.CodeDeclined:
		t.err = fmt.Errorf("the rules were not saved: %s", message)
	}
}

// confirm answers a confirm request: yes with --yes, what the user types on a
// terminal, and no elsewhere, where the exit status says that changes are pending.
func (t *turnPrinter) confirm(e assistant.ConfirmRequest) error {
	a, yes := t.app, t.yes
	switch {
	case yes:
	case isTerminal(a.stdin) && isTerminal(a.stderr) && !a.flags.json:
		if err := t.lines.Flush(); err != nil {
			return err
		}
		for line := range strings.Lines(e.Diff) {
			a.say("%s", strings.TrimRight(line, "\n"))
		}
		yes = a.askYesNo("Run " + e.Tool + "?")
	default:
		t.err = errPending
		next := e.Diff
		if e.Tool == saveTool {
			next = "the rules stay staged; winnow rules diff shows them, winnow rules save saves them"
		}
		t.note("%s needs --yes here: %s", e.Tool, next)
	}
	return t.session.Answer(e.ID, yes)
}

// minAnswerTime is the least time between a question and a line that answers it:
// nobody reads and types faster, so an earlier line was typed before.
const minAnswerTime = 300 * time.Millisecond

// askYesNo asks a question on the terminal. Only y or yes is a yes. A read from a
// terminal cannot be interrupted, so its goroutine may outlive the question and
// end with the process.
func (a *app) askYesNo(question string) bool {
	fmt.Fprint(a.stderr, safetext.Line(question, maxLine)+" [y/N] ")
	asked, answer := time.Now(), make(chan bool, 1)
	go func() {
		in := bufio.NewScanner(a.stdin)
		for in.Scan() && time.Since(asked) < minAnswerTime {
		}
		word := strings.ToLower(strings.TrimSpace(in.Text()))
		answer <- word == "y" || word == "yes"
	}()
	select {
	case <-a.ctx.Done():
		fmt.Fprintln(a.stderr)
		return false
	case yes := <-answer:
		return yes
	}
}

// answerPart prints one part of an answer, the text between two calls of tools,
// as it comes.
type answerPart interface {
	write(text string) error
	close() error // the part is whole
}

// newPart renders Markdown on a terminal and writes the text itself elsewhere.
// out is a buffer before standard output.
func (a *app) newPart(out io.Writer) answerPart {
	if !isTerminal(a.stdout) || a.flags.plain {
		return &rawPart{out: out}
	}
	const readable = 100 // columns: wider text is hard to read
	return &renderedPart{out: out, displayable: a.displayable, doc: markdown.New(markdown.NewStyle(a.answerStyles().Markdown)), width: min(a.width(), readable)}
}

// rawPart writes the text as it is, with one line end behind it. The text is
// sanitised here, like everything that may reach a terminal.
type rawPart struct {
	out     io.Writer
	cleaner safetext.Cleaner
	breaks  string // line ends that wait for the text behind them
}

func (r *rawPart) write(text string) error { return r.emit(r.cleaner.Write(text)) }

func (r *rawPart) emit(text string) error {
	text = r.breaks + text
	body := strings.TrimRight(text, "\n")
	r.breaks = text[len(body):]
	_, err := io.WriteString(r.out, body)
	return err
}

func (r *rawPart) close() error {
	err := r.emit(r.cleaner.Flush())
	if err == nil {
		_, err = io.WriteString(r.out, "\n")
	}
	return err
}

// renderedPart renders Markdown, each block as soon as it is whole.
type renderedPart struct {
	out         io.Writer
	displayable func(string) string // replaces what the terminal cannot show
	doc         *markdown.Doc
	width       int
	lines       int // of doc that are printed
}

func (d *renderedPart) write(text string) error {
	d.doc.Append(text)
	return d.print(d.doc.Closed(d.width))
}

func (d *renderedPart) close() error {
	d.doc.Finish()
	return d.print(d.doc.Lines(d.width))
}

// print writes those of lines that are not printed yet.
func (d *renderedPart) print(lines []string) error {
	for ; d.lines < len(lines); d.lines++ {
		if _, err := io.WriteString(d.out, d.displayable(lines[d.lines])+"\n"); err != nil {
			return err
		}
	}
	return nil
}
