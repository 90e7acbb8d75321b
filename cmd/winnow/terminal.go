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
	"winnow/tui/plain"
	"winnow/tui/terminal"
)

// runModel runs a program on the terminal and restores the terminal afterwards. atEnd is called when the event loop
// has ended, while signals are still handled.
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
		return advise(errors.New("winnow crashed"), "the rules and the conversation are stored; see %s for details", h.Log())
	}
	if err == nil && status != 0 {
		return statusError(status)
	}
	return err
}

// The log is rotated at logSize MiB; logBackups old files are kept.
const (
	logSize    = 5
	logBackups = 3
)

// logger opens the log on the first call and returns it. If it cannot be opened, nothing is logged. It is safe for
// concurrent use.
func (a *app) logger() *slog.Logger {
	a.logMu.Lock()
	defer a.logMu.Unlock()
	if a.log != nil {
		return a.log
	}
	if a.settings != nil && a.settings.Log == "stderr" && a.serving {
		a.log = slog.New(a.logHandler(a.stderr))
		return a.log
	}
	a.log = slog.New(slog.DiscardHandler)
	h, err := a.folders()
	if err != nil || config.MakePrivate(filepath.Dir(h.Log())) != nil || !h.CanLog() {
		return a.log
	}
	file := &lumberjack.Logger{Filename: h.Log(), MaxSize: logSize, MaxBackups: logBackups}
	a.onClose(func() error {
		_ = file.Close() // the user could not act on an error
		return nil
	})
	a.log = slog.New(a.logHandler(file))
	return a.log
}

// logHandler writes the log in the format of the settings, without keys.
func (a *app) logHandler(w io.Writer) slog.Handler {
	o := &slog.HandlerOptions{Level: &a.logLevel, ReplaceAttr: a.redactor.ReplaceAttr}
	if a.settings != nil && a.settings.LogFormat == "text" {
		return slog.NewTextHandler(w, o)
	}
	return slog.NewJSONHandler(w, o)
}

// logLines writes to the log what other code prints, such as net/http through the standard logger, sanitised and with
// keys redacted, so that only winnow writes to the terminal.
type logLines struct {
	app    *app
	source string // which stream the lines come from
}

// Write implements io.Writer. The standard logger passes whole lines.
func (l *logLines) Write(p []byte) (int, error) {
	for line := range bytes.Lines(p) {
		if text := safetext.Line(string(line), maxLine); text != "" {
			l.app.logger().Warn(string(text), "source", l.source)
		}
	}
	return len(p), nil
}

func keysCommand(a *app) *cobra.Command {
	c := command("keys", "Show which keys winnow receives and what each does", 0, 0, a.doctorKeys)
	c.Long = "winnow doctor keys shows the name of each key that you press and what the key does in\n" +
		"each mode. Press esc twice or ctrl+c to leave."
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
	page := newKeyPage(uses, a.sendKey())
	if err := a.runModel(terminal.New(page, in, out, a.environ), in, out, func(error) {}); err != nil {
		return err
	}
	return a.emit(map[string]any{"kitty_protocol": page.Kitty(), "seen": page.Seen()}, page.Summary()...)
}

// askOnTerminal returns an Ask that prompts on out and reads lines from in, a terminal. If ctx ends first, a
// goroutine keeps waiting for a line.
func askOnTerminal(in *os.File, out io.Writer) plain.Ask {
	reader := bufio.NewReader(in)
	return func(ctx context.Context, prompt safetext.Text, hidden bool) (string, error) {
		if hidden { // hide the input before the prompt appears, so that no typed key is echoed
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
				err = nil // the next call returns the error
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

// hideInput turns off the echo of a terminal until restore is called.
func hideInput(terminal *os.File) (restore func()) {
	before, err := term.GetState(terminal.Fd())
	if err != nil {
		return func() {} // not a terminal
	}
	hidden := *before
	hideEcho(&hidden)
	_ = term.SetState(terminal.Fd(), &hidden) // if this fails, the input is echoed
	return func() { _ = term.SetState(terminal.Fd(), before) }
}
