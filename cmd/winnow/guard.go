package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/term"
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
	// within which a process without terminal is gone.
	graceTime = 500 * time.Millisecond
	// closeTime is how long files may take to be closed then.
	closeTime = 500 * time.Millisecond
	// frameRate is Bubble Tea's fastest: a key waits half as long for its echo as
	// at the usual 60, for half a percent of a core.
	frameRate = 120
)

// guard restores the terminal however the program ends. It stands outside of
// Bubble Tea's loop, which may be blocked.
type guard struct {
	in, out           *os.File
	inState, outState *term.State // nil of what is no terminal
	once              sync.Once
}

func newGuard(in, out *os.File) *guard {
	g := &guard{in: in, out: out}
	g.inState, _ = term.GetState(in.Fd())
	g.outState, _ = term.GetState(out.Fd())
	return g
}

// restore never blocks for longer than leaveTime.
func (g *guard) restore() {
	g.once.Do(func() {
		if g.inState != nil {
			_ = term.Restore(g.in.Fd(), g.inState) // a terminal that is gone needs nothing
		}
		if g.outState != nil {
			_ = term.Restore(g.out.Fd(), g.outState)
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			_, _ = g.out.WriteString(leaveScreen)
		}()
		select {
		case <-done:
		case <-time.After(leaveTime):
		}
	})
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
	h, noHome := a.folders()
	if errors.Is(err, tea.ErrProgramPanic) && noHome == nil {
		select { // Run may return before Bubble Tea has written the stack to standard error
		case <-stack:
		case <-time.After(closeTime):
		}
		return advise(errors.New("winnow itself failed"), "the rules and the conversation are stored; %s tells more", h.log())
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
		a.closeWithin(closeTime)
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

// closeWithin closes what is open, as far as that is possible in the time.
func (a *app) closeWithin(limit time.Duration) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := a.close(); err != nil {
			a.logger().Error("close", "error", err)
		}
	}()
	select {
	case <-done:
	case <-time.After(limit):
	}
}
