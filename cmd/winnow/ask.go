package main

import (
	"bufio"
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
	"winnow/cmd/winnow/answer"
	"winnow/tui/lines"
	"winnow/tui/mention"
)

func askCommand(a *app) *cobra.Command {
	var yes bool
	c := command("ask [MESSAGE…]", "Ask the assistant one thing, without a screen", 0, -1, func(ctx context.Context, args []string) error {
		text, err := a.message(args)
		if err != nil {
			return err
		}
		files := mention.Source{None: a.remote != nil} // of what the user wrote: a pipe may hold any @path
		prompt, err := mention.Attach(assistant.Prompt{Text: text}, files.Files(strings.Join(args, " ")))
		if err != nil {
			return err
		}
		return a.ask(ctx, prompt, yes)
	})
	c.Long = "ask sends one message and writes the answer to standard output as it comes; tool\n" +
		"calls are listed on standard error. Standard input, when it is a file or a pipe, is\n" +
		"added to the message, and so are files named as @path. Rules are staged until they are saved. On a terminal a save is\n" +
		"confirmed there; elsewhere it needs --yes, and is refused with exit status 3 without."
	c.Example = "winnow ask \"which models are hidden?\"\nwinnow ask --yes \"hide every mini model and save\"\n" +
		"git diff | winnow ask \"what changed here?\""
	c.Flags().BoolVar(&yes, "yes", false, "agree to what the assistant asks, such as saving")
	if a.remote == nil {
		a.flags.bindSession(c)
	}
	return c
}

// maxInput bounds standard input, in bytes: far more than any model reads.
const maxInput = 16 << 20

// message is what the user asks: the words of the command line, and below them
// standard input.
func (a *app) message(args []string) (string, error) {
	reads := piped(a.stdin)
	if n := len(args); a.remote != nil && n > 0 { // ssh leaves it open, where it would be a terminal here
		if reads = args[n-1] == "-"; reads {
			args = args[:n-1]
		}
	}
	parts := []string{strings.TrimSpace(strings.Join(args, " "))}
	if reads {
		data, err := io.ReadAll(io.LimitReader(lines.Input(a.ctx, a.stdin), maxInput+1))
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
	if p.window.recovered {
		a.printErr("rules of an earlier run are still unsaved: winnow rules diff shows them")
	}
	defer singleProcessor()()
	err = a.askIn(ctx, p, prompt, yes)
	if err == nil && a.flags.set.Changed("model") { // chosen by the user, and it works
		err = p.store.Set(ctx, lastModelKey(a.folder()), p.session.Model())
	}
	return err
}

// askIn runs the turn in the session of p. When nobody reads the answer any more, it ends
// without a word, as it would by SIGPIPE: what came so far stays, as interrupted.
func (a *app) askIn(ctx context.Context, p *program, prompt assistant.Prompt, yes bool) error {
	whole := context.WithoutCancel(ctx) // its end closes the session, and the turn is read to its end
	after, err := p.session.Begin(whole, prompt)
	if err != nil {
		return err
	}
	readable, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(readable, p.closeSession)()
	pipeEnds := make(chan os.Signal, 1) // else a write to a closed pipe ends the process at once
	signal.Notify(pipeEnds, syscall.SIGPIPE)
	defer signal.Stop(pipeEnds)
	switch err = a.printTurn(p.session, p.session.Events(whole, after), yes, stop); {
	case errors.Is(err, syscall.EPIPE):
		return statusError(statusPipe)
	case ctx.Err() != nil:
		return advise(context.Canceled, "the question is stored: winnow --continue asks it again, or winnow ask --continue goes on")
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

// printTurn prints a turn to its end; stop is called when nothing can be written any more.
func (a *app) printTurn(session *assistant.Session, events iter.Seq[assistant.Event], yes bool, stop func()) error {
	p := &answer.Printer{Out: a.stdout, JSON: a.flags.json, Yes: yes, Part: a.newPart, Print: a.printErr, Answer: session.Answer}
	if isTerminal(a.stdin) && isTerminal(a.stderr) && !a.flags.json {
		p.Ask = a.askYesNo
	}
	err := p.Turn(events, stop)
	failed, isFailed := errors.AsType[*answer.FailedError](err)
	switch {
	case errors.Is(err, answer.ErrUnconfirmed):
		return errPending
	case !isFailed:
		return err
	case failed.Code != assistant.CodeInterrupted:
		return advise(err, "%s", requestAdvice(failed.Code))
	case failed.Changed:
		return advise(err, "what the tools above changed stays: winnow rules diff shows it, winnow checkpoints list names the checkpoint to roll back to")
	}
	return advise(err, "ask again; no tool has changed anything")
}

// askYesNo asks a question on the terminal. Only y or yes is a yes.
func (a *app) askYesNo(question string) bool {
	fmt.Fprint(a.stderr, safetext.Line(question, maxLine)+" [y/N] ")
	asked, in := time.Now(), bufio.NewScanner(lines.Input(a.ctx, a.stdin))
	for in.Scan() && time.Since(asked) < lines.ReadingTime {
	}
	if a.ctx.Err() != nil {
		fmt.Fprintln(a.stderr)
		return false
	}
	return slices.Contains([]string{"y", "yes"}, strings.ToLower(strings.TrimSpace(in.Text())))
}

// newPart renders Markdown on a terminal and writes the text itself elsewhere.
// out is a buffer before standard output.
func (a *app) newPart(out io.Writer) lines.Answer {
	if !isTerminal(a.stdout) || a.flags.plain {
		return lines.NewRaw(out)
	}
	const readable = 100 // columns: wider text is hard to read
	return lines.NewRendered(out, a.answerStyles().Markdown, min(a.width(), readable), a.displayable)
}
