package terminal

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/term"
)

// LeaveScreen resets every mode that the program may have set: synchronised output, mouse,
// focus, paste, both keyboard protocols, the cursor's shape and visibility, colours, the
// program's status, and last the alternate screen.
const LeaveScreen = "\x1b[?2026l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1004l\x1b[?2004l\x1b[?2027l" +
	"\x1b[<u\x1b[>4m\x1b[0 q\x1b[?25h\x1b[0m" + ClearStatus + "\x1b[?1049l"

const (
	// leaveTime is how long a terminal may take to accept LeaveScreen. A terminal that has
	// stopped reading never accepts it.
	leaveTime = 100 * time.Millisecond
	// graceTime is how long the program may take to end normally after a signal. Together
	// with leaveTime and CloseTime it stays below two seconds, within which a process that
	// lost its terminal has to end.
	graceTime = 500 * time.Millisecond
	// CloseTime is how long Options.Close may take.
	CloseTime = 500 * time.Millisecond
	// stackTime is how long the stack of a panic may take to arrive. It always arrives, but
	// late on a busy machine.
	stackTime = 10 * time.Second
	// frameRate is the highest rate that Bubble Tea supports: while text is streamed, the
	// echo of a key takes half as long as at the usual 60 frames per second. The rate costs
	// nothing while nothing changes on the screen.
	frameRate = 120
)

// guard restores the terminal however the program ends. It does not depend on
// Bubble Tea's loop, which may be blocked.
type guard struct {
	in, out *os.File
	states  map[*os.File]*term.State // initial states of the files that are terminals
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

// restore restores the terminal. It never blocks for longer than leaveTime.
func (g *guard) restore() {
	g.once.Do(func() {
		for f, state := range g.states {
			_ = term.Restore(f.Fd(), state) // a terminal that is gone need not be restored
		}
		within(leaveTime, func() { _, _ = g.out.WriteString(LeaveScreen) })
	})
}

// within runs f and waits until it has ended, but not longer than limit.
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

// New returns a Bubble Tea program for Run. It finds out from environ what the terminal can
// do.
func New(model tea.Model, in io.Reader, out *os.File, environ []string) *tea.Program {
	return tea.NewProgram(model, tea.WithInput(in), tea.WithOutput(out), tea.WithFPS(frameRate), tea.WithoutSignalHandler(),
		tea.WithEnvironment(environ), tea.WithFilter(suspend))
}

// SuspendFailed is sent to the model when the program could not be suspended.
type SuspendFailed struct{ Err error }

// suspendAsked is a request to suspend the program. The goroutine that sets taken carries it
// out.
type suspendAsked struct{ taken atomic.Bool }

// suspend is a message filter that stops the program, after restoring the terminal, where
// Bubble Tea would send SIGTSTP. When the program continues, Bubble Tea draws the screen again.
func suspend(_ tea.Model, msg tea.Msg) tea.Msg {
	switch msg := msg.(type) {
	case tea.SuspendMsg:
	case *suspendAsked:
		if !msg.taken.CompareAndSwap(false, true) {
			return nil
		}
	default:
		return msg
	}
	if err := jobControl(); err != nil {
		return SuspendFailed{err}
	}
	return tea.Exec(stopped{}, func(err error) tea.Msg {
		if err != nil {
			return SuspendFailed{err}
		}
		return tea.ResumeMsg{}
	})()
}

// stopped is a command that runs as long as the program is stopped.
type stopped struct{}

func (stopped) Run() error          { return stopJob() }
func (stopped) SetStdin(io.Reader)  {}
func (stopped) SetStdout(io.Writer) {}
func (stopped) SetStderr(io.Writer) {}

// Options configures Run. All fields are required.
type Options struct {
	In, Out *os.File  // the terminal
	Stderr  io.Writer // receives what is written to file descriptor 2 while Run runs
	// AtEnd is called when the loop has ended, while signals are still watched. err is the
	// reason, or nil if the program ended normally.
	AtEnd func(err error)
	Close func() // closes files before a program that does not react is ended by force
}

// Run runs a program made by New. The status is 0, or the exit status for the signal that
// ended the program. After a panic err wraps tea.ErrProgramPanic, and Stderr has received
// the stack.
func Run(p *tea.Program, o Options) (status int, err error) {
	g := newGuard(o.In, o.Out)
	release, stack := captureStderr(o.Stderr)
	defer release()
	stop := watch(g, p, o.Close)
	_, err = p.Run()
	o.AtEnd(err)
	status = stop()
	if err == nil {
		within(leaveTime, func() { _, _ = o.Out.WriteString(ClearStatus) }) // clears the status that the last frame reported
		return status, nil
	}
	g.restore()
	if errors.Is(err, tea.ErrProgramPanic) {
		select { // Run may return before Bubble Tea has written the stack to standard error
		case <-stack:
		case <-time.After(stackTime):
		}
	}
	return 0, fmt.Errorf("the screen: %w", err)
}

// watch ends the program when a signal asks for it or the terminal is gone: normally if the
// program still reacts, otherwise by force. stop ends the watch and returns the exit status
// for the signal that ended the program, or 0.
func watch(g *guard, p *tea.Program, closeFiles func()) (stop func() (status int)) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	gone := terminalGone(g.in)
	done := make(chan struct{})
	var status atomic.Int64
	go suspendOnSignal(p, done)
	go func() {
		select {
		case <-done:
			return
		case s := <-signals:
			status.Store(signalStatus(s))
		case <-gone:
			status.Store(signalStatus(syscall.SIGHUP))
		}
		go p.Quit() // in the background, because Quit waits for the loop, which may be blocked
		select {
		case <-done:
			return
		case <-time.After(graceTime):
		}
		g.restore()
		within(CloseTime, closeFiles)
		os.Exit(int(status.Load()))
	}()
	return func() int {
		signal.Stop(signals)
		close(done)
		return int(status.Load())
	}
}

// signalStatus returns the exit status of a process ended by a signal. For an interrupt it
// is 130 on every system.
func signalStatus(s os.Signal) int64 {
	const shell = 128 // the shell's convention: 128 plus the number of the signal
	if n, ok := s.(syscall.Signal); ok && s != os.Interrupt {
		return shell + int64(n)
	}
	return shell + 2
}

// captureStderr sends what is written to file descriptor 2 to out until release is called.
// stack is closed when the stack of a panic begins to arrive. On a system that cannot do
// this nothing is captured, and stack is closed at once.
func captureStderr(out io.Writer) (release func(), stack <-chan struct{}) {
	panicked := make(chan struct{})
	r, w, err := os.Pipe()
	if err != nil {
		close(panicked)
		return func() {}, panicked
	}
	restore, err := redirectStderr(w)
	_ = w.Close() // descriptor 2 is a copy of w
	if err != nil {
		_ = r.Close()
		close(panicked)
		return func() {}, panicked
	}
	read := make(chan struct{})
	stackSeen := sync.OnceFunc(func() { close(panicked) })
	go func() {
		defer close(read)
		lines := bufio.NewReader(r)
		for {
			line, err := lines.ReadSlice('\n') // a line longer than the buffer is read in pieces
			_, _ = out.Write(line)             // there is nowhere to report an error
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

// TmuxBuffer puts text into the buffer of the tmux in which the program runs.
func TmuxBuffer(text string) error {
	cmd := exec.CommandContext(context.Background(), "tmux", "load-buffer", "-w", "-")
	cmd.Stdin = strings.NewReader(text)
	return cmd.Run()
}

// EditorFile writes a text for an editor to a new file that only the user can read.
func EditorFile(text string) (path string, err error) {
	file, err := os.CreateTemp("", "winnow-*.md")
	if err != nil {
		return "", err
	}
	_, err = file.WriteString(text)
	return file.Name(), errors.Join(err, file.Close())
}
