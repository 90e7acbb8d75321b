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
	"winnow/adapters/modelfilter"
	"winnow/adapters/modelfilter/models"
	"winnow/assistant"
	"winnow/assistant/history"
	"winnow/assistant/workspace"
	"winnow/tui"
	"winnow/tui/plain"
	"winnow/tui/rules"
)

// frameRate is Bubble Tea's fastest: a key waits half as long for its echo as at
// the usual 60, for half a percent of a core.
const frameRate = 120

// offlineDelay is the pause of the offline model between two words on a screen,
// so that one sees how an answer comes.
const offlineDelay = 15 * time.Millisecond

// examples are what the welcome suggests for this window.
var examples = []string{
	"hide every mini and nano model",
	"only keep the newest Claude and GPT models",
	"which models are hidden, and why?",
}

// program is what the screen, or the plain console, works with.
type program struct {
	session *assistant.Session
	store   history.Store
	place   *place
	wiring  *wiring
	pane    *rules.Pane // nil over the history
	notice  string
	later   <-chan found // the model, when it was not known in time; nil: it was
	auto    string       // the model that nobody chose; of follow until it has ended
	follows sync.WaitGroup
}

// found is what asking the endpoints brought.
type found struct {
	model chosen
	err   error
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
// its time: begun, unless it is nil, is told how that ended.
func (a *app) assemble(ctx context.Context, delay time.Duration, begun func(error)) (*program, error) {
	p := &program{}
	var err error
	if p.wiring, err = a.wire(delay); err != nil {
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
	picked, err := a.namedModel(ctx, p.wiring, p.store, old.Model)
	if err != nil {
		return nil, err
	}
	if picked.resumed {
		p.auto = picked.id // it is the session's, not the folder's
	}
	if picked.id == "" {
		p.later = p.wiring.ask(ctx)
	}
	if p.place, err = a.openPlace(ctx, true); err != nil {
		return nil, err
	}
	if picked.id == "" {
		picked = p.inTime(picked)
	}
	if old.ID == "" {
		if old, err = p.interrupted(ctx); err != nil {
			return nil, err
		}
	}
	if picked.id != "" {
		if err := p.wiring.describe(picked.id); err != nil {
			return nil, err
		}
	}
	p.notice = picked.note
	if p.session, err = a.openSession(ctx, p.wiring, p.place, p.store, old, picked.id, begun); err != nil {
		return nil, err
	}
	if d := p.place.desk; d != nil {
		_, missing := os.Stat(d.window.EnvFile())
		p.pane = rules.New(d.window, rules.Options{Creates: errors.Is(missing, fs.ErrNotExist), Drift: d.lists})
	}
	return p, nil
}

// interrupted is the session that a crash interrupted, to be gone on with; the
// zero value after an orderly end.
func (p *program) interrupted(ctx context.Context) (history.Session, error) {
	last := p.place.journal.LastRun()
	if last.Closed || last.Session == "" {
		return history.Session{}, nil
	}
	old, _, err := p.store.Session(ctx, last.Session)
	return old, err
}

// ask asks the endpoints for a model to begin with, beside everything else.
func (w *wiring) ask(ctx context.Context) <-chan found {
	out := make(chan found, 1)
	go func() {
		c, err := w.firstModel(ctx)
		out <- found{c, err}
	}()
	return out
}

// inTime takes the model that the endpoints named, if they already have. Until
// then the offline model stands in, where no endpoint was asked for.
func (p *program) inTime(picked chosen) chosen {
	select {
	case f := <-p.later:
		p.later = nil
		if f.err != nil {
			picked.note += f.err.Error()
			return picked
		}
		picked = chosen{id: f.model.id, note: picked.note + f.model.note}
	default:
		if first := p.wiring.clients[0]; first.auto || first.name == offlineName {
			picked.id = offlineModel
		}
	}
	p.auto = picked.id
	return picked
}

// follow takes over the model that the endpoints name later, unless the user
// has chosen or said something meanwhile, and tells what they answered.
func (p *program) follow(ctx context.Context, tell func(tui.Noticed)) {
	if p.later == nil {
		return
	}
	p.follows.Go(func() {
		select {
		case <-ctx.Done():
		case f := <-p.later:
			if said, ok := p.takeOver(f); ok {
				tell(said)
			}
		}
	})
}

// takeOver does what the answer of the endpoints calls for, and says what it is;
// ok is false when nobody wants to know any more.
func (p *program) takeOver(f found) (said tui.Noticed, ok bool) {
	_, talked := p.session.LastSend()
	if p.session.Model() != p.auto || p.session.Busy() || talked {
		return tui.Noticed{}, false
	}
	err := f.err
	if err == nil {
		err = p.wiring.describe(f.model.id)
	}
	if err == nil {
		err = p.session.SetModel(f.model.id)
	}
	if err != nil {
		return bad(err), true
	}
	p.auto = f.model.id
	return tui.Noticed{Text: f.model.note}, true
}

// bad tells of a failure; nil only that something may be another now.
func bad(err error) tui.Noticed {
	if err == nil {
		return tui.Noticed{}
	}
	return tui.Noticed{Text: err.Error(), Bad: true}
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
		tell := func(late tui.Noticed) { screen.Send(late) }
		begun := func(err error) { tell(bad(err)) }
		p, err := opening.run(func(ctx context.Context) (*program, error) { return a.assemble(ctx, offlineDelay, begun) })
		if err != nil {
			return tui.Parts{}, err
		}
		p.follow(opening.ctx, tell)
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
	screen = tea.NewProgram(safe, tea.WithInput(in), tea.WithOutput(out), tea.WithFPS(frameRate), tea.WithoutSignalHandler(), tea.WithEnvironment(a.environ))
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
		Rebinds: rebinds(s.Keys), EnterIs: s.SendKey == "enter", Mouse: s.Mouse, ReplyView: s.LongRead == "view", Notify: s.Notify,
		Redact: a.redactor.Redact, KeepSetting: a.keepSetting,
	}
}

// parts are what was opened, with the notices of opening it.
func (a *app) parts(p *program, notices []string) tui.Parts {
	words, err := a.editor()
	if err != nil {
		words = nil // ctrl+o says that none is set
	}
	if p.notice != "" {
		notices = append(notices, p.notice)
	}
	return tui.Parts{
		Work:    workspace.New(workspace.Options{Session: p.session, History: p.store, Folder: a.folder()}),
		History: p.store, Pane: p.shown(), Examples: p.place.examples, Editor: words,
		Notice: strings.Join(notices, " · "), Recovery: recovery(p.place.desk),
	}
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

// crash is what the run before this one left: what to say of it, and how to
// forget it. Nothing after an orderly end.
func crash(d *desk) (lines []string, discard func() error) {
	if d == nil { // what changes in the history is on disk at once
		return nil, nil
	}
	last := d.journal.LastRun()
	if last.Closed || !d.staged {
		return nil, nil
	}
	lines = []string{"These rules were not saved:"}
	for _, c := range d.window.Diff() {
		sign := map[bool]string{true: "+", false: "-"}[c.Added]
		lines = append(lines, fmt.Sprintf("%s %s rule %s of %s", sign, modelfilter.ListOf(c), shown(c.Pattern), c.Provider))
	}
	if last.Turn.ID != "" {
		lines = append(lines, "The last turn: "+last.Turn.Description)
	}
	return lines, func() error {
		return d.edit(context.Background(), "discard what a crash left", func() error {
			_, err := d.window.Discard()
			return err
		})
	}
}

func recovery(d *desk) *tui.Recovery {
	lines, discard := crash(d)
	if lines == nil {
		return nil
	}
	return &tui.Recovery{Lines: lines, Discard: discard}
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
		Workspace: workspace.New(workspace.Options{Session: p.session, History: p.store, Folder: a.folder()}), Window: p.shown(), In: a.stdin, Out: a.stdout, Err: a.stderr,
		Interactive: isTerminal(a.stdin), Interrupt: interrupt, Color: a.colour(),
		Examples: p.place.examples, Notice: p.notice, Redact: a.redactor.Redact,
	}
	if lines, discard := crash(p.place.desk); lines != nil {
		o.Recovery = &plain.Recovery{Lines: lines, Discard: discard}
	}
	if status := plain.Run(ctx, o); status != statusDone {
		return statusError(status)
	}
	return nil
}
