package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/term"

	"winnow/adapters/config"
	"winnow/adapters/endpoints"
	"winnow/adapters/modelfilter"
	"winnow/adapters/modelfilter/models"
	"winnow/assistant"
	"winnow/assistant/history"
	"winnow/assistant/workspace"
	"winnow/tui"
	"winnow/tui/historypane"
	"winnow/tui/pane"
	"winnow/tui/plain"
	"winnow/tui/rules"
)

// frameRate is Bubble Tea's fastest: a key waits half as long for its echo as at
// the usual 60, for half a percent of a core.
const frameRate = 120

// offlineDelay is the pause of the offline model between two words on a screen,
// so that one sees how an answer comes.
const offlineDelay = 15 * time.Millisecond

// program is what the screen, or the plain console, works with.
type program struct {
	session   *assistant.Session
	store     history.Store
	window    *openWindow
	endpoints *endpoints.Set
	pane      *rules.Pane // nil over the history
	notice    string
	later     <-chan modelFound // the model, when it was not known in time; nil: it was
	auto      string            // the model that nobody chose; of follow until it has ended
	follows   sync.WaitGroup
}

// launch runs the program.
func (a *app) launch(ctx context.Context) error {
	s, err := a.config()
	if err != nil {
		return err
	}
	screen := isTerminal(a.stdin) && isTerminal(a.stdout)
	if !screen && !s.Plain {
		return &usageError{"winnow", "the program needs a terminal: use winnow ask, or --plain"}
	}
	calm := startFast()
	defer calm()
	if !s.Plain && a.env("TERM") != "dumb" {
		return a.runScreen(ctx, s, calm)
	}
	delay := offlineDelay
	if s.Plain {
		delay = 0
	}
	p, err := a.assemble(ctx, delay, nil)
	if err != nil {
		return err
	}
	err = a.runPlain(ctx, p)
	p.settle()
	return errors.Join(err, p.rememberModel(ctx, a.folder()))
}

// assemble opens everything. What needs the network happens beside it and is
// not waited for, nor is the beginning of the session in a window that takes
// its time: started, unless it is nil, gets the result.
func (a *app) assemble(ctx context.Context, delay time.Duration, started func(error)) (*program, error) {
	p := &program{}
	var err error
	if p.endpoints, err = a.openEndpoints(delay); err != nil {
		return nil, err
	}
	if p.store, err = a.openHistory(ctx); err != nil {
		return nil, err
	}
	if err = a.takeTyped(ctx, p.store); err != nil {
		a.say("what was typed as winnow ended last could not be read: %v", err)
	}
	go models.Info("") // reads the catalogue, which the first context needs
	old, err := a.resumed(ctx, p.store)
	if err != nil {
		return nil, err
	}
	picked, err := a.namedModel(ctx, p.endpoints, p.store, old.Model)
	if err != nil {
		return nil, err
	}
	if picked.resumed {
		p.auto = picked.ID // it is the session's, not the folder's
	}
	if picked.ID == "" {
		p.later = findModel(ctx, p.endpoints)
	}
	if p.window, err = a.openWindow(ctx, true); err != nil {
		return nil, err
	}
	if picked.ID == "" {
		picked = p.useFound(picked)
	}
	if old.ID == "" {
		if old, err = p.interrupted(ctx); err != nil {
			return nil, err
		}
	}
	if picked.ID != "" {
		if err := p.endpoints.Describe(picked.ID); err != nil {
			return nil, err
		}
	}
	p.notice = picked.Note
	if p.session, err = a.openSession(ctx, p.endpoints, p.window, p.store, old, picked.ID, started); err != nil {
		return nil, err
	}
	if w := p.window; w.filter != nil {
		_, missing := os.Stat(w.name)
		p.pane = rules.New(w.filter, rules.Options{Creates: errors.Is(missing, fs.ErrNotExist), Drift: w.lists})
	}
	return p, nil
}

// interrupted is the session that a crash interrupted, to be gone on with; the
// zero value after an orderly end.
func (p *program) interrupted(ctx context.Context) (history.Session, error) {
	last := p.window.journal.LastRun()
	if last.Closed || last.Session == "" {
		return history.Session{}, nil
	}
	old, _, err := p.store.Session(ctx, last.Session)
	return old, err
}

// rememberModel keeps the model that the user chose, for the next start here.
// It comes after the end of what follow was called with.
func (p *program) rememberModel(ctx context.Context, folder string) error {
	p.follows.Wait()
	if id := p.session.Model(); id != p.auto && ctx.Err() == nil {
		return p.store.Set(ctx, lastModelKey(folder), id)
	}
	return nil
}

const (
	// warmAfter is when the work begins that nobody waits for yet: the first
	// frame stands by then, and the draft of before in it.
	warmAfter = 400 * time.Millisecond
	// startGC is how much the heap may grow between two collections while winnow
	// starts, in percent: what it makes then stays, or is given back at once after.
	startGC = 400
)

// startFast prepares for a start that somebody waits for. calm takes back what
// is only good for that.
func startFast() (calm func()) {
	usual := debug.SetGCPercent(startGC)
	return sync.OnceFunc(func() { debug.SetGCPercent(usual) })
}

// warm does in the background what the user will want next, after the first
// frame, and gives back the memory that the start and it have used.
func (p *program) warm(ctx context.Context, calm func()) {
	select {
	case <-time.After(warmAfter):
	case <-ctx.Done():
		return
	}
	calm()
	if p.pane != nil {
		p.pane.Warm(ctx)
	}
	giveBack()
}

// settleTime is how long a turn that was running may take to put things in order.
const settleTime = 500 * time.Millisecond

// settle ends a running turn before files are closed. Its pair stays, as
// interrupted, with what was received.
func (p *program) settle() {
	ctx, cancel := context.WithTimeout(context.Background(), settleTime)
	defer cancel()
	_ = p.session.Close(ctx) // after that time the next start marks the pair
}

// runScreen runs the program on a screen. The screen stands first: whatever has
// to be opened is opened beside it, while the user already types.
func (a *app) runScreen(ctx context.Context, s *config.Settings, calm func()) error {
	in, out := a.stdin.(*os.File), a.stdout.(*os.File)
	known := a.screenOptions(s)
	opening, said := newAssembly(ctx), &heldLines{to: a.stderr}
	defer said.release()
	a.opening, a.stderr = opening, said
	a.logger() // no two goroutines shall make it
	var screen *tea.Program
	width, height, _ := term.GetSize(out.Fd()) // unknown is 0: the program is told soon
	known.Settings, known.HasPane, known.Width, known.Height = sessionSettings(s), true, width, height
	known.Start = func() (tui.Parts, error) {
		notify := func(n tui.Noticed) { screen.Send(n) }
		started := func(err error) { notify(failure(err)) }
		p, err := opening.run(func(ctx context.Context) (*program, error) { return a.assemble(ctx, offlineDelay, started) })
		if err != nil {
			return tui.Parts{}, err
		}
		p.follow(opening.ctx, notify)
		go p.warm(opening.ctx, calm)
		parts := a.parts(p, said.lines())
		parts.Changes = watchSaved(opening.ctx, p.session.Window())
		return parts, nil
	}
	model, err := tui.New(known)
	if err != nil {
		return err
	}
	g := newGuard(in, out)
	defer g.restoreAfterPanic()
	release := a.captureStderr()
	defer release()
	safe := &safeModel{Model: model}
	screen = tea.NewProgram(safe, tea.WithInput(tui.NewInput(in, nil)), tea.WithOutput(out), tea.WithFPS(frameRate), tea.WithoutSignalHandler(), tea.WithEnvironment(a.environ))
	safe.quit = screen.Quit
	signal.Stop(a.signals) // from here on signals end the program, not the run
	stop := a.watch(g, screen)
	_, err = screen.Run()
	p, ended := opening.end()
	stop()
	kept := a.leave(ctx, p, ended, model.Typed())
	switch b := safe.broken(); {
	case b != nil:
		g.restore()
		return errors.Join(a.brokenDown(b), kept)
	case err != nil:
		g.restore()
		return errors.Join(fmt.Errorf("the screen: %w", err), kept)
	case model.Err() != nil:
		return errors.Join(model.Err(), kept)
	}
	if status := int(a.exit.Load()); status != 0 {
		return statusError(status)
	}
	return kept
}

// watchSaved watches what is saved until ctx ends; nil when the window or the
// system cannot.
func watchSaved(ctx context.Context, w assistant.Window) <-chan assistant.SavedChange {
	if watcher, ok := w.(assistant.Watcher); ok {
		if changes, err := watcher.Watch(ctx); err == nil {
			return changes
		}
	}
	return nil
}

// screenOptions are those that need nothing to be open.
func (a *app) screenOptions(s *config.Settings) tui.Options {
	theme, fixed := a.theme(s)
	return tui.Options{
		Style: theme, Fixed: fixed,
		Rebinds: rebinds(s.Keys), EnterIs: s.SendKey == "enter", Mouse: s.Mouse, ReplyView: s.LongReply == "view", Notify: s.Notify,
		Redact: a.redactor.Redact, KeepSetting: a.keepSetting,
	}
}

// parts are what was opened, with the notices of opening it.
func (a *app) parts(p *program, notices []string) tui.Parts {
	words, err := a.editor()
	if err != nil {
		words = nil // the screen says so when an editor is asked for
	}
	if p.notice != "" {
		notices = append(notices, p.notice)
	}
	return tui.Parts{
		Work: a.workspace(p), History: p.store, Pane: p.windowPane(), Examples: p.window.examples, Editor: words,
		Notice: strings.Join(notices, " · "), Recovery: a.recovery(p.window),
	}
}

func (a *app) workspace(p *program) *workspace.Workspace {
	return workspace.New(workspace.Options{Session: p.session, History: p.store, Folder: a.folder()})
}

// leave ends what was opened, and keeps what the user has typed before it was.
// ended says that nothing is being opened any more: until then nobody else may
// look at it.
func (a *app) leave(ctx context.Context, p *program, ended bool, typed history.Draft) error {
	var kept error
	switch {
	case ended && a.store != nil:
		kept = tui.KeepTyped(context.WithoutCancel(ctx), workspace.New(workspace.Options{History: a.store, Folder: a.folder()}), typed)
	default:
		kept = a.keepTyped(typed)
	}
	if p == nil {
		return kept
	}
	p.settle()
	return errors.Join(kept, p.rememberModel(ctx, a.folder()))
}

// restoreAfterPanic gives the terminal back before a panic of this goroutine
// goes on.
func (g *guard) restoreAfterPanic() {
	if v := recover(); v != nil {
		g.restore()
		panic(v)
	}
}

func rebinds(keys []config.Binding) []tui.Rebind {
	var out []tui.Rebind
	for _, k := range keys {
		out = append(out, tui.Rebind{Mode: k.Mode, Action: k.Action, Keys: k.Keys})
	}
	return out
}

// crash is what the run before this one left unsaved when it stopped
// unexpectedly, and how to drop it; nil after an orderly end.
func (a *app) crash(w *openWindow) (lines []string, discard func() error) {
	if w.filter == nil { // changes in the history are on disk at once
		return nil, nil
	}
	last := w.journal.LastRun()
	if last.Closed || !w.staged {
		return nil, nil
	}
	lines = []string{"These rules were not saved:"}
	for _, c := range w.filter.Diff() {
		sign := map[bool]string{true: "+", false: "-"}[c.Added]
		lines = append(lines, fmt.Sprintf("%s %s rule %s of %s", sign, modelfilter.ListOf(c), shown(c.Pattern), c.Provider))
	}
	if last.Turn.ID != "" {
		lines = append(lines, "The last turn: "+last.Turn.Description)
	}
	return lines, func() error {
		_, err := workspace.New(workspace.Options{Session: w.session.Load()}).Discard("discard what a crash left")
		return err
	}
}

func (a *app) recovery(w *openWindow) *tui.Recovery {
	lines, discard := a.crash(w)
	if lines == nil {
		return nil
	}
	return &tui.Recovery{Lines: lines, Discard: discard}
}

// windowPane is the part of the screen that shows the window.
func (p *program) windowPane() pane.Pane {
	if p.pane == nil {
		return historypane.New(p.session, p.store)
	}
	return p.pane
}

// runPlain runs the program as lines that are only ever added.
func (a *app) runPlain(ctx context.Context, p *program) error {
	interrupt := make(chan os.Signal, 1)
	signal.Notify(interrupt, os.Interrupt)
	defer signal.Stop(interrupt)
	signal.Stop(a.signals)
	signal.Notify(a.signals, syscall.SIGTERM) // still ends the run
	background, cancel := context.WithCancel(ctx)
	defer cancel()
	p.follow(background, func(tui.Noticed) {})
	o := plain.Options{
		Workspace: a.workspace(p), Window: p.windowPane(), In: a.stdin, Out: a.stdout, Err: a.stderr,
		Interactive: isTerminal(a.stdin), Interrupt: interrupt, Color: a.colour(),
		Examples: p.window.examples, Notice: p.notice, Redact: a.redactor.Redact,
	}
	if lines, discard := a.crash(p.window); lines != nil {
		o.Recovery = &plain.Recovery{Lines: lines, Discard: discard}
	}
	if status := plain.Run(ctx, o); status != statusDone {
		return statusError(status)
	}
	return nil
}
