package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"
	"gopkg.in/natefinch/lumberjack.v2"

	"winnow/adapters/config"
	"winnow/assistant/safetext"
	"winnow/tui/keymap"
	"winnow/tui/keypage"
	"winnow/tui/lines"
	"winnow/tui/terminal"
)

// runModel runs a program on the terminal, which is as before afterwards. atEnd
// is called when its loop has ended, while signals are still watched.
func (a *app) runModel(p *tea.Program, in, out *os.File, atEnd func(error)) error {
	status, err := terminal.Run(p, terminal.Options{
		In: in, Out: out, Stderr: &logLines{a, "stderr"}, AtEnd: atEnd,
		Close: func() {
			if err := a.close(); err != nil {
				a.logger().Error("close", "error", err)
			}
		},
	})
	if h, homeErr := a.folders(); errors.Is(err, tea.ErrProgramPanic) && homeErr == nil {
		return advise(errors.New("winnow crashed"), "the rules and the conversation are stored; %s holds the details", h.Log())
	}
	if err == nil && status != 0 {
		return statusError(status)
	}
	return err
}

// The log is rotated at logSize MiB; logBackups old files stay.
const (
	logSize    = 5
	logBackups = 3
)

// logger returns the log, which it opens at the first call. It never fails: a
// program that cannot log works without one. It is safe from any goroutine.
func (a *app) logger() *slog.Logger {
	a.logMu.Lock()
	defer a.logMu.Unlock()
	if a.log != nil {
		return a.log
	}
	a.log = slog.New(slog.DiscardHandler)
	h, err := a.folders()
	if err != nil || config.MakePrivate(filepath.Dir(h.Log())) != nil || !h.CanLog() {
		return a.log
	}
	file := &lumberjack.Logger{Filename: h.Log(), MaxSize: logSize, MaxBackups: logBackups}
	a.onClose(func() error {
		_ = file.Close() // a user could do nothing about a failure
		return nil
	})
	a.log = slog.New(slog.NewJSONHandler(file, &slog.HandlerOptions{Level: &a.logLevel, ReplaceAttr: a.redactor.ReplaceAttr}))
	return a.log
}

// logLines writes lines that others print, such as net/http through the standard
// logger, into the log: sanitised, and without keys. Nothing but winnow writes on
// the terminal.
type logLines struct {
	app    *app
	source string // which stream the lines come from
}

// Write implements io.Writer. The standard logger calls it with whole lines.
func (l *logLines) Write(p []byte) (int, error) {
	for line := range bytes.Lines(p) {
		if text := safetext.Line(string(line), maxLine); text != "" {
			l.app.logger().Warn(text, "source", l.source)
		}
	}
	return len(p), nil
}

func keysCommand(a *app) *cobra.Command {
	c := command("keys", "Press keys, and see what winnow receives and what each does", 0, 0, a.doctorKeys)
	c.Long = "keys shows for each key that is pressed the name that winnow gives it and what it\n" +
		"does in each mode. Esc twice or ctrl+c leaves."
	return c
}

func (a *app) doctorKeys(context.Context, []string) error {
	if !isTerminal(a.stdin) || !isTerminal(a.stdout) {
		return &usageError{"winnow doctor keys", "doctor keys needs a terminal"}
	}
	in, out := a.stdin.(*os.File), a.stdout.(*os.File)
	s, err := a.config()
	if err != nil {
		return err
	}
	uses, err := keymap.Uses(s.SendKey == "enter", rebinds(s.Keys))
	if err != nil {
		return err
	}
	page := keypage.New(uses, a.sendKey())
	if err := a.runModel(terminal.New(page, in, out, a.environ), in, out, func(error) {}); err != nil {
		return err
	}
	return a.emit(map[string]any{"kitty_protocol": page.Kitty(), "seen": page.Seen()}, page.Summary()...)
}

// askOnTerminal returns an Ask that prompts on out and reads lines from in, a terminal.
// After the end of ctx a goroutine still waits for a line.
func askOnTerminal(in *os.File, out io.Writer) lines.Ask {
	reader := bufio.NewReader(in)
	return func(ctx context.Context, prompt string, hidden bool) (string, error) {
		if hidden { // before the prompt, which the answer follows
			defer fmt.Fprintln(out)
			defer hideInput(in)()
		}
		fmt.Fprint(out, prompt)
		var line string
		var err error
		read := make(chan struct{})
		go func() {
			defer close(read)
			if line, err = reader.ReadString('\n'); line != "" {
				err = nil // the end of the input comes with the next line
			}
		}()
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-read:
			return line, err
		}
	}
}

// hideInput makes a terminal show nothing of what is typed, until restore is called.
func hideInput(terminal *os.File) (restore func()) {
	before, err := term.GetState(terminal.Fd())
	if err != nil {
		return func() {} // it is no terminal
	}
	hidden := *before
	hideEcho(&hidden)
	_ = term.SetState(terminal.Fd(), &hidden) // at worst the key is seen as it is typed
	return func() { _ = term.SetState(terminal.Fd(), before) }
}
