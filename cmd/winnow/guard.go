package main

import (
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
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
)

// guard gives the terminal back as it was, however the program ends. It stands
// outside of Bubble Tea's loop, which may be blocked.
type guard struct {
	in, out         *os.File
	inState, outAll *term.State
	once            sync.Once
}

// newGuard remembers how the terminal is.
func newGuard(in, out *os.File) *guard {
	g := &guard{in: in, out: out}
	// One that is no terminal has no state to give back.
	g.inState, _ = term.GetState(in.Fd())
	g.outAll, _ = term.GetState(out.Fd())
	return g
}

// restore gives the terminal back. It never blocks for longer than leaveTime.
func (g *guard) restore() {
	g.once.Do(func() {
		if g.inState != nil {
			_ = term.Restore(g.in.Fd(), g.inState) // a terminal that is gone needs nothing
		}
		if g.outAll != nil {
			_ = term.Restore(g.out.Fd(), g.outAll)
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

// runPage runs a model that stands beside the program, with the terminal as
// well guarded. keys is in, or what stands around it.
func (a *app) runPage(model tea.Model, keys term.File, in, out *os.File) error {
	g := newGuard(in, out)
	defer g.restoreAfterPanic()
	release := a.captureStderr()
	defer release()
	safe := &safeModel{Model: model}
	p := tea.NewProgram(safe, tea.WithInput(keys), tea.WithOutput(out), tea.WithoutSignalHandler(), tea.WithEnvironment(a.environ))
	safe.quit = p.Quit
	signal.Stop(a.signals) // from here on signals end the program, not the run
	stop := a.watch(g, p)
	_, err := p.Run()
	stop()
	if b := safe.broken(); b != nil {
		g.restore()
		return a.brokenDown(b)
	}
	if err != nil {
		g.restore()
		return fmt.Errorf("the screen: %w", err)
	}
	if status := int(a.exit.Load()); status != 0 {
		return statusError(status)
	}
	return nil
}

// watch ends the program when a signal asks for it or the terminal is gone:
// in order if it still reacts, by force if not. The result ends the watch.
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
		const killed = 128 // the shell's convention
		return killed + int(n)
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

// breakdown is a panic that was caught.
type breakdown struct {
	value any
	stack []byte
}

// safeModel catches panics of a model and of its commands, so that their text
// reaches the terminal neither raw nor while the screen is drawn. The first one
// ends the program.
type safeModel struct {
	tea.Model
	mu    sync.Mutex
	first *breakdown
	quit  func()
}

// brokeMsg ends the program after a command broke down.
type brokeMsg struct{}

func (s *safeModel) caught(v any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.first == nil {
		s.first = &breakdown{v, debug.Stack()}
	}
}

func (s *safeModel) broken() *breakdown {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.first
}

// Init implements tea.Model.
func (s *safeModel) Init() (cmd tea.Cmd) {
	defer func() {
		if v := recover(); v != nil {
			s.caught(v)
			cmd = tea.Quit
		}
	}()
	return s.guarded(s.Model.Init())
}

// Update implements tea.Model.
func (s *safeModel) Update(msg tea.Msg) (self tea.Model, cmd tea.Cmd) {
	defer func() {
		if v := recover(); v != nil {
			s.caught(v)
			self, cmd = s, tea.Quit
		}
	}()
	if _, broke := msg.(brokeMsg); broke {
		return s, tea.Quit
	}
	next, cmd := s.Model.Update(msg)
	s.Model = next
	return s, s.guarded(cmd)
}

// View implements tea.Model.
func (s *safeModel) View() (v tea.View) {
	defer func() {
		if p := recover(); p != nil {
			s.caught(p)
			go s.quit() // View runs in the loop that would take the message
			v = tea.NewView("")
		}
	}()
	return s.Model.View()
}

// guarded is a command that may break down.
func (s *safeModel) guarded(cmd tea.Cmd) tea.Cmd {
	if cmd == nil {
		return nil
	}
	return func() (msg tea.Msg) {
		defer func() {
			if v := recover(); v != nil {
				s.caught(v)
				msg = brokeMsg{}
			}
		}()
		msg = cmd()
		if batch, ok := msg.(tea.BatchMsg); ok {
			for i := range batch {
				batch[i] = s.guarded(batch[i])
			}
		}
		return msg
	}
}

// brokenDown is what is said of a breakdown; the log has the rest.
func (a *app) brokenDown(b *breakdown) error {
	a.logger().Error("broke down", "panic", fmt.Sprint(b.value), "stack", string(b.stack))
	h, err := a.folders()
	if err != nil {
		return err
	}
	return advise(fmt.Errorf("winnow itself broke down: %v", b.value), "the rules and the conversation are kept; %s tells more", h.log())
}
