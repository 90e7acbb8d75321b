package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/term"
	"gopkg.in/natefinch/lumberjack.v2"

	"winnow/assistant/safetext"
)

// leaveScreen takes back every mode that the program may have set: synchronised
// output, mouse, focus, paste, both keyboard protocols, the cursor's shape and
// presence, colours, and last the alternate screen.
const leaveScreen = "\x1b[?2026l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1004l\x1b[?2004l\x1b[?2027l" +
	"\x1b[<u\x1b[>4m\x1b[0 q\x1b[?25h\x1b[0m\x1b[?1049l"

const (
	// leaveTime is how long a terminal may take to accept leaveScreen: one that
	// has stopped reading never does.
	leaveTime = 100 * time.Millisecond
	// graceTime is how long the program may take to end by itself after a
	// signal; with leaveTime and closeTime it stays below the two seconds
	// within which a process that lost its terminal has to end.
	graceTime = 500 * time.Millisecond
	// closeTime is how long files may take to be closed then, or a stack to come.
	closeTime = 500 * time.Millisecond
	// frameRate is Bubble Tea's fastest: a key waits half as long for its echo as
	// at the usual 60, for half a percent of a core.
	frameRate = 120
)

// guard restores the terminal however the program ends. It does not depend on
// Bubble Tea's loop, which may be blocked.
type guard struct {
	in, out *os.File
	states  map[*os.File]*term.State // of those that are terminals
	once    sync.Once
}

func newGuard(in, out *os.File) *guard {
	g := &guard{in: in, out: out, states: map[*os.File]*term.State{}}
	for _, f := range []*os.File{in, out} {
		if state, err := term.GetState(f.Fd()); err == nil {
			g.states[f] = state
		}
	}
	return g
}

// restore never blocks for longer than leaveTime.
func (g *guard) restore() {
	g.once.Do(func() {
		for f, state := range g.states {
			_ = term.Restore(f.Fd(), state) // a terminal that is gone needs nothing
		}
		within(leaveTime, func() { _, _ = g.out.WriteString(leaveScreen) })
	})
}

// within runs f and waits for its end, but not for longer than limit.
func within(limit time.Duration, f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-time.After(limit):
	}
}

// newScreen is a Bubble Tea program for runModel.
func (a *app) newScreen(model tea.Model, in io.Reader, out *os.File) *tea.Program {
	return tea.NewProgram(model, tea.WithInput(in), tea.WithOutput(out), tea.WithFPS(frameRate), tea.WithoutSignalHandler(), tea.WithEnvironment(a.environ))
}

// runModel runs a program on the terminal, which is as before afterwards. atEnd
// is called when the loop has ended, while signals are still watched.
func (a *app) runModel(p *tea.Program, in, out *os.File, atEnd func()) error {
	g := newGuard(in, out)
	release, stack := a.captureStderr()
	defer release()
	stop := a.watch(g, p)
	_, err := p.Run()
	atEnd()
	stop()
	if err == nil {
		if status := int(a.exit.Load()); status != 0 {
			return statusError(status)
		}
		return nil
	}
	g.restore()
	h, homeErr := a.folders()
	if errors.Is(err, tea.ErrProgramPanic) && homeErr == nil {
		select { // Run may return before Bubble Tea has written the stack to standard error
		case <-stack:
		case <-time.After(closeTime):
		}
		return advise(errors.New("winnow crashed"), "the rules and the conversation are stored; %s holds the details", h.log())
	}
	return fmt.Errorf("the screen: %w", err)
}

// watch ends the program when a signal asks for it or the terminal is gone: in
// order if it still reacts, by force if not. stop ends the watch.
func (a *app) watch(g *guard, p *tea.Program) (stop func()) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	gone := terminalGone(g.in)
	done := make(chan struct{})
	go suspendOnSignal(p, done)
	go func() {
		var status int
		select {
		case <-done:
			return
		case s := <-signals:
			status = signalStatus(s)
		case <-gone:
			status = signalStatus(syscall.SIGHUP)
		}
		a.exit.Store(int64(status))
		go p.Quit() // waits for the loop, which may be blocked
		select {
		case <-done:
			return
		case <-time.After(graceTime):
		}
		g.restore()
		within(closeTime, func() {
			if err := a.close(); err != nil {
				a.logger().Error("close", "error", err)
			}
		})
		os.Exit(status)
	}()
	return func() {
		signal.Stop(signals)
		close(done)
	}
}

// signalStatus is the exit status of a process that a signal ended; that of an
// interrupt is "cancelled".
func signalStatus(s os.Signal) int {
	if n, ok := s.(syscall.Signal); ok && s != os.Interrupt {
		return 128 + int(n) // the shell's convention
	}
	return statusCancelled
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
	if err != nil || makePrivate(filepath.Dir(h.log())) != nil {
		return a.log
	}
	var level slog.Level // info
	if a.settings != nil {
		_ = level.UnmarshalText([]byte(strings.TrimSuffix(a.settings.LogLevel, "ing"))) // slog's "warn"; the settings are checked
	}
	file := &lumberjack.Logger{Filename: h.log(), MaxSize: logSize, MaxBackups: logBackups}
	a.onClose(func() error {
		_ = file.Close() // a user could do nothing about a failure
		return nil
	})
	a.log = slog.New(slog.NewJSONHandler(file, &slog.HandlerOptions{Level: level, ReplaceAttr: a.redactor.ReplaceAttr}))
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

// captureStderr sends what is written to file descriptor 2 into the log, so that no
// library writes over the screen, until release. stack is closed when the stack of a
// panic begins to arrive. Nothing is captured where the system cannot do this.
func (a *app) captureStderr() (release func(), stack <-chan struct{}) {
	r, w, err := os.Pipe()
	if err != nil {
		return func() {}, nil
	}
	restore, err := redirectStderr(w)
	_ = w.Close() // descriptor 2 is a copy of it
	if err != nil {
		_ = r.Close()
		return func() {}, nil
	}
	read, panicked := make(chan struct{}), make(chan struct{})
	stackSeen := sync.OnceFunc(func() { close(panicked) })
	go func() {
		defer close(read)
		lines, out := bufio.NewReader(r), &logLines{a, "stderr"}
		for {
			line, err := lines.ReadSlice('\n') // a longer line comes in pieces
			_, _ = out.Write(line)             // never fails
			if bytes.HasPrefix(line, []byte("goroutine ")) {
				stackSeen()
			}
			if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
				return
			}
		}
	}()
	return sync.OnceFunc(func() {
		restore()
		<-read
		_ = r.Close()
	}), panicked
}
