package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"winnow/assistant"
	"winnow/assistant/safetext"
	"winnow/tui/composer"
	"winnow/tui/plain"
)

func askCommand(a *app) *cobra.Command {
	var yes bool
	c := command("ask [MESSAGE…]", "Ask the assistant one thing, without a screen", 0, -1, func(ctx context.Context, args []string) error {
		text, err := a.message(args)
		if err != nil {
			return err
		}
		files := composer.MentionSource{None: a.remote != nil} // only arguments attach files: piped text may contain any @path
		prompt, err := composer.Attach(assistant.Prompt{Text: text}, files.Files(strings.Join(args, " ")))
		if err != nil {
			return err
		}
		return a.ask(ctx, prompt, yes)
	})
	c.Long = "ask sends one message and writes the answer to standard output as it arrives; tool\n" +
		"calls are listed on standard error. If standard input is a file or a pipe, it is added\n" +
		"to the message, and so are files named as @path. Rules are staged until they are saved.\n" +
		"On a terminal, you are asked before a save. Elsewhere a save needs --yes; without it,\nthe save is refused and the exit status is 3."
	c.Example = "winnow ask \"which models are hidden?\"\nwinnow ask --yes \"hide every mini model and save\"\n" +
		"git diff | winnow ask \"what changed here?\""
	c.Flags().BoolVar(&yes, "yes", false, "say yes when the assistant asks for confirmation (except for tools of MCP servers)")
	if a.remote == nil {
		a.flags.bindSession(c)
	}
	return c
}

// maxInput is the limit for standard input in bytes, far more than any model accepts.
const maxInput = 16 << 20

// message returns the user's message: the arguments of the command, followed by what is piped to standard input.
func (a *app) message(args []string) (string, error) {
	reads := piped(a.stdin)
	if n := len(args); a.remote != nil && n > 0 { // ssh keeps standard input open even if nothing is piped to it
		if reads = args[n-1] == "-"; reads {
			args = args[:n-1]
		}
	}
	parts := []string{strings.TrimSpace(strings.Join(args, " "))}
	if reads {
		data, err := io.ReadAll(io.LimitReader(plain.Input(a.ctx, a.stdin), maxInput+1))
		if err != nil {
			return "", fmt.Errorf("standard input: %w", err)
		}
		if len(data) > maxInput {
			return "", &usageError{"winnow ask", fmt.Sprintf("standard input is larger than %d MiB", maxInput>>20)}
		}
		parts = append(parts, strings.TrimSpace(string(safetext.Clean(string(data)))))
	}
	text := strings.Trim(strings.Join(parts, "\n\n"), "\n")
	if text == "" {
		return "", &usageError{"winnow ask", "there is no message: give it as an argument or on standard input"}
	}
	return text, nil
}

// piped reports whether r is a file or a pipe, as opposed to a terminal or the socket or device that a service
// manager connects.
func piped(r io.Reader) bool {
	f, ok := r.(*os.File)
	if !ok {
		return r != nil
	}
	info, err := f.Stat()
	return err == nil && (info.Mode().IsRegular() || info.Mode()&os.ModeNamedPipe != 0)
}

// ask runs one turn. A signal ends ctx and closes the session, so that the pair is stored as interrupted.
func (a *app) ask(ctx context.Context, prompt assistant.Prompt, yes bool) error {
	if a.remote != nil {
		s, err := a.remote.open(ctx, a)
		if err != nil {
			return err
		}
		return a.askIn(ctx, &program{session: s.Session()}, prompt, yes)
	}
	o := openOptions{}
	if isTerminal(a.stdout) {
		o.readPause = linesReadPause
	}
	p, err := a.open(ctx, o)
	if err != nil {
		return err
	}
	a.printErr("%s", p.notice)
	a.waitForTools(ctx)
	if p.window.recovered {
		a.printErr("rules of an earlier run are still unsaved: winnow rules diff shows them")
	}
	defer singleProcessor()()
	err = a.askIn(ctx, p, prompt, yes)
	if err == nil && a.flags.set.Changed("model") { // the user chose this model, and it works
		err = p.store.Set(ctx, lastModelKey(a.folder()), p.session.Model())
	}
	return err
}

// askIn runs the turn in the session of p. If the reader of standard output closes the pipe, it returns the exit
// status of a process killed by SIGPIPE, and the partial answer is stored as interrupted.
func (a *app) askIn(ctx context.Context, p *program, prompt assistant.Prompt, yes bool) error {
	whole := context.WithoutCancel(ctx) // not cancelled by ctx: the end of ctx closes the session, and the remaining events are still read
	after, err := p.session.Begin(whole, prompt)
	if err != nil {
		return err
	}
	readable, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(readable, p.closeSession)()
	pipeEnds := make(chan os.Signal, 1) // without a handler, a write to a closed pipe kills the process
	signal.Notify(pipeEnds, syscall.SIGPIPE)
	defer signal.Stop(pipeEnds)
	switch err = a.printTurn(p.session.Events(whole, after), p.session.Answer, yes, stop); {
	case errors.Is(err, syscall.EPIPE):
		return statusError(statusPipe)
	case ctx.Err() != nil:
		return advise(context.Canceled, "the question is stored: winnow --continue asks it again, and winnow ask --continue continues the session")
	}
	return err
}

// singleProcessor limits the runtime to one processor until restore is called. With several, the runtime wakes an idle
// one each time a piece of an answer passes between goroutines, which takes half of the CPU time per token.
func singleProcessor() (restore func()) {
	before := runtime.GOMAXPROCS(1)
	return func() { runtime.GOMAXPROCS(before) }
}

// printTurn prints a turn until it ends. answer answers the questions of the turn; stop is called when output can no
// longer be written.
func (a *app) printTurn(events iter.Seq[assistant.Event], answer func(id string, yes bool) error, yes bool, stop func()) error {
	q := &asked{app: a, answer: answer, yes: yes, out: bufio.NewWriterSize(a.stdout, maxBurst)}
	q.turn = plain.TurnLines{Answer: q.newPart, Note: q.note, Confirm: q.confirm, Stop: stop, Limit: plain.OutcomeWidth}
	if a.flags.json {
		q.turn.Answer, q.turn.Note = nil, func(string, string) {}
	}
	if err := cmp.Or(q.turn.Print(q.observed(events)), q.written); err != nil {
		return err
	}
	if done, ok := q.turn.End.(assistant.Complete); ok && !q.changed {
		q.suggest(done)
	}
	failed, isFailed := q.turn.End.(assistant.Error)
	_, cancelled := q.turn.End.(assistant.Cancelled)
	switch {
	case cancelled:
		return context.Canceled
	case !isFailed:
		return q.err
	}
	err := errors.New(failed.Code + ": " + failed.Message)
	switch {
	case failed.Code != assistant.CodeInterrupted:
		return advise(err, "%s", requestAdvice(failed.Code))
	case q.changed:
		return advise(err, "changes made by the tools above are kept: winnow rules diff shows them; to roll back, find the checkpoint with winnow checkpoints list")
	}
	return advise(err, "ask again; no tool has changed anything")
}

// maxBurst is the size of the output buffer in bytes.
const maxBurst = 32 << 10

// saveTool is the name of the tool that writes the rules to the file.
const saveTool = "save_changes"

// asked is the turn that winnow ask runs.
type asked struct {
	app     *app
	answer  func(id string, yes bool) error
	yes     bool // answer yes to all questions
	turn    plain.TurnLines
	out     *bufio.Writer // buffers standard output
	parts   int           // number of parts of the answer printed so far
	changed bool          // a tool may have changed the rules or the file
	err     error         // the error to exit with even if the turn completed
	written error         // the first error from writing JSON
}

// observed passes the events on after writing them as JSON, if requested, and recording what affects the exit status.
func (q *asked) observed(events iter.Seq[assistant.Event]) iter.Seq[assistant.Event] {
	return func(yield func(assistant.Event) bool) {
		for e := range events {
			switch e := e.(type) {
			case assistant.CheckpointCreated:
				q.changed = true
			case assistant.ToolComplete:
				q.tool(e)
			default:
			}
			if q.app.flags.json && q.written == nil {
				if q.written = q.writeJSON(e); q.written != nil {
					q.turn.Stop()
				}
			}
			if call, ok := e.(assistant.ToolComplete); ok && q.fails(call) {
				call.Message = "" // the error printed at the end contains the message
				e = call
			}
			if !yield(e) {
				return
			}
		}
	}
}

func (q *asked) writeJSON(e assistant.Event) error {
	line, err := assistant.EncodeEvent(e)
	if err != nil {
		return err
	}
	_, err = q.out.Write(append(safetext.JSON(line), '\n'))
	return cmp.Or(err, q.out.Flush())
}

// tool records the result of a tool call.
func (q *asked) tool(e assistant.ToolComplete) {
	message, _, _ := strings.Cut(e.Message, "\n")
	switch {
	case e.Tool == saveTool && e.Success:
		q.changed = true // a save changes the file, which is not part of the checkpoints
	case !q.fails(e):
	case e.ErrorCode == assistant.CodeLocked:
		q.err = advise(fmt.Errorf("%s: %s", e.ErrorCode, message), "%s", requestAdvice(e.ErrorCode))
	default:
		q.err = fmt.Errorf("the rules were not saved: %s", message)
	}
}

// fails reports whether the result of a tool call makes the command fail, so that a script does not continue as
// if the rules had been changed or saved.
func (q *asked) fails(e assistant.ToolComplete) bool {
	return e.ErrorCode == assistant.CodeLocked || e.Tool == saveTool && !e.Success && e.ErrorCode != assistant.CodeDeclined
}

// note prints to standard error a line that is not part of the answer.
func (q *asked) note(label, text string) {
	if label == "" { // a line of a question
		printLines(q.app, []string{text})
		return
	}
	q.app.printErr("%s: %s", label, text)
}

// suggest prints the messages that an answer suggests, each with its effect if the label describes one.
func (q *asked) suggest(done assistant.Complete) {
	for _, v := range done.Payload.Values {
		text := v.Value
		if strings.HasPrefix(string(v.Label), string(v.Value)) {
			text = v.Label
		}
		q.turn.Note("Suggestion", string(text))
	}
}

// confirm answers a confirm request: yes with --yes, unless the tool belongs to an MCP server, otherwise what the user
// types. Without a user to ask it declines, and the command exits with statusPending.
func (q *asked) confirm(e assistant.ConfirmRequest) error {
	yes := q.yes && e.Server == "" // --yes does not apply to the tools of MCP servers
	switch {
	case yes:
	case q.app.asks():
		q.turn.Question(e)
		yes = q.app.askYesNo("Run " + e.Tool + "?")
	default:
		q.err = errPending
		next := string(e.Diff)
		if e.Tool == saveTool {
			next = "the rules stay staged; winnow rules diff shows them, winnow rules save saves them"
		}
		if e.Server != "" {
			q.turn.Note("Notice", e.Tool+" was not called, because there is no one to ask: list it in allowed_tools of the MCP server "+e.Server+" in the settings to let it run")
			break
		}
		q.turn.Note("Notice", e.Tool+" needs --yes here: "+next)
	}
	return q.answer(e.ID, yes)
}

// newPart starts a part of the answer, separated from the previous one by a blank line. A terminal gets rendered
// Markdown, any other output the raw text.
func (q *asked) newPart() plain.Answer {
	a, part := q.app, plain.NewRaw(q.out)
	if isTerminal(a.stdout) && !a.flags.plain {
		const readable = 100 // columns; wider text is hard to read
		part = plain.NewRendered(q.out, a.answerStyles().Markdown, min(a.width(), readable), a.displayable)
	}
	if q.parts++; q.parts > 1 {
		_ = q.out.WriteByte('\n') // the next write returns the same error
	}
	return flushed{part, q.out}
}

// flushed flushes each piece of an answer as soon as it is written.
type flushed struct {
	plain.Answer
	out *bufio.Writer
}

func (f flushed) Write(text safetext.Text) error { return cmp.Or(f.Answer.Write(text), f.out.Flush()) }

func (f flushed) Close() error { return cmp.Or(f.Answer.Close(), f.out.Flush()) }

// askYesNo asks a question on the terminal. Only "y" and "yes" count as yes.
func (a *app) askYesNo(question string) bool {
	fmt.Fprint(a.stderr, safetext.Line(question, maxLine)+" [y/N] ")
	asked, in := time.Now(), bufio.NewScanner(plain.Input(a.ctx, a.stdin))
	for in.Scan() && time.Since(asked) < plain.ReadingTime {
		// Skip a line that was typed before the user could read the question.
	}
	if a.ctx.Err() != nil {
		fmt.Fprintln(a.stderr)
		return false
	}
	return slices.Contains([]string{"y", "yes"}, strings.ToLower(strings.TrimSpace(in.Text())))
}
