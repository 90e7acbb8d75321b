package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
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
	"winnow/tui/keyinput"
	"winnow/tui/pane"
	"winnow/tui/plain"
	"winnow/tui/rules"
	"winnow/tui/settings"
)

const (
	// offlineDelay is the pause of the offline model between two words on a screen,
	// so that one sees how an answer comes.
	offlineDelay = 15 * time.Millisecond
	// screenReadPause is the pause between two reads of an answer on the screen,
	// which shows streamed text 30 times a second, and linesReadPause where it is
	// printed on a terminal. A pipe gets each piece when it comes.
	screenReadPause = 33 * time.Millisecond
	linesReadPause  = 16 * time.Millisecond
)

// program is what the screen, the plain console and ask work with.
type program struct {
	session   *assistant.Session
	store     history.Store
	window    *openWindow
	endpoints *endpoints.Set
	pane      pane.Pane
	notice    string // what is to be said of the model
	unnamed   bool   // the endpoints are still to be asked for a model
	auto      string // the model that nobody chose; of follow until it has ended
	follows   sync.WaitGroup
}

// launch runs the program, on a screen or as lines. Signals end it, not ctx, so
// that its end is its own.
func (a *app) launch(ctx context.Context) error {
	s, err := a.config()
	if err != nil {
		return err
	}
	if !s.Plain && !(isTerminal(a.stdin) && isTerminal(a.stdout)) {
		return &usageError{"winnow", "the program needs a terminal: use winnow ask, or --plain"}
	}
	calm := startFast()
	defer calm()
	if !s.Plain && a.env("TERM") != "dumb" {
		return a.runScreen(context.WithoutCancel(ctx), s, calm)
	}
	p, err := a.open(ctx, opening{resume: true})
	if err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	return errors.Join(a.runPlain(ctx, p), p.end(ctx, a.folder()))
}

// opening says how a program is opened.
type opening struct {
	delay     time.Duration // pause of the offline model between two words
	readPause time.Duration // between two reads of an answer; 0 reads each piece when it comes
	resume    bool          // the session that a crash interrupted goes on
	// started gets the result of beginning a session over the history, which is
	// not waited for then, nor is a model that the endpoints have to be asked for.
	// nil waits for both.
	started func(error)
}

// open opens everything.
func (a *app) open(ctx context.Context, o opening) (*program, error) {
	p := &program{}
	var err error
	if p.endpoints, err = a.openEndpoints(o); err != nil {
		return nil, err
	}
	if p.store, err = a.openHistory(ctx); err != nil {
		return nil, err
	}
	if err := a.restoreTypeahead(ctx, p.store); err != nil {
		a.say("what was typed as winnow ended last could not be read: %v", err)
	}
	go models.Info("") // reads the catalogue, which the first context needs
	old, err := a.resumed(ctx, p.store)
	if err != nil {
		return nil, err
	}
	model, err := a.pickModel(ctx, p, old.Model, o.started == nil)
	if err != nil {
		return nil, err
	}
	if p.window, err = a.openWindow(ctx, true); err != nil {
		return nil, err
	}
	if last := p.window.journal.LastRun(); o.resume && old.ID == "" && !last.Closed && last.Session != "" { // a crash interrupted it
		if old, _, err = p.store.Session(ctx, last.Session); err != nil {
			return nil, err
		}
	}
	if err := a.openSession(ctx, p, old, model, o.started); err != nil {
		return nil, err
	}
	return p, nil
}

// showPane makes the pane of the window.
func (p *program) showPane() {
	if w := p.window; w.filter != nil {
		p.pane = rules.New(w.filter, rules.Options{Drift: w.lists})
	} else {
		p.pane = historypane.New(p.session, p.store)
	}
}

// examples are requests that the welcome suggests.
func (p *program) examples() []string {
	if p.window.filter == nil {
		return []string{"find invoice", "give three stars to what is about kubernetes", "summarise the last 10 pairs"}
	}
	return []string{"hide every mini and nano model", "only keep the newest Claude and GPT models", "which models are hidden, and why?"}
}

// closeSession ends a running turn before files are closed: its pair stays, as
// interrupted, with what was received.
func (p *program) closeSession() {
	const limit = 500 * time.Millisecond // afterwards the next start marks the pair
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	_ = p.session.Close(ctx)
}

// end closes the session and stores the model that the user chose, for the next
// start in this folder. It comes after the end of what follow was called with.
func (p *program) end(ctx context.Context, folder string) error {
	p.closeSession()
	p.follows.Wait()
	if id := p.session.Model(); id != p.auto && ctx.Err() == nil {
		return p.store.Set(ctx, lastModelKey(folder), id)
	}
	return nil
}

// runScreen runs the program on a screen. The screen is drawn first: everything
// is opened beside it, while the user already types.
func (a *app) runScreen(ctx context.Context, s *config.Settings, calm func()) error {
	in, out := a.stdin.(*os.File), a.stdout.(*os.File)
	theme, fixed := a.theme(s)
	a.starting, a.holding = newStart(ctx), true
	defer a.release()
	a.logger() // from here on it is asked for by several goroutines
	var screen *tea.Program
	width, height, _ := term.GetSize(out.Fd()) // unknown is 0: Bubble Tea finds it out
	keys := keyinput.New(in)
	model, err := tui.New(tui.Options{
		Screen: settings.Screen{Style: theme, FixedBackground: fixed, Mouse: s.Mouse, ReplyView: s.LongReply == "view", Notify: s.Notify},
		Input:  keys, Width: width, Height: height, Settings: sessionSettings(s), HasPane: true,
		Rebinds: rebinds(s.Keys), EnterIs: s.SendKey == "enter",
		Redact: a.redactor.Redact, KeepSetting: a.storeSetting,
		Start: func() (tui.Parts, error) {
			notify := func(n tui.Noticed) { screen.Send(n) }
			p, err := a.starting.run(func(ctx context.Context) (*program, error) {
				return a.open(ctx, opening{offlineDelay, screenReadPause, true, func(err error) { notify(failure(err)) }})
			})
			if err != nil {
				return tui.Parts{}, err
			}
			p.showPane()
			p.follow(a.starting.ctx, notify)
			go p.warm(a.starting.ctx, calm)
			return a.parts(p), nil
		},
	})
	if err != nil {
		return err
	}
	screen = a.newScreen(model, keys, out)
	var stored error
	err = a.runModel(screen, in, out, func() { stored = errors.Join(model.StoreDraft(ctx), a.leave(ctx, model.Typed())) })
	if err == nil {
		err = model.Err()
	}
	return errors.Join(err, stored)
}

// parts are what the screen works with, with the notices of opening it.
func (a *app) parts(p *program) tui.Parts {
	a.saying.Lock()
	parts := tui.Parts{
		Work: a.workspace(p), History: p.store, Pane: p.pane, Examples: p.examples(),
		Notice: strings.Join(a.held, " · "), Recovery: p.window.crash(),
	}
	a.saying.Unlock()
	if words, err := a.editor(); err == nil { // else the screen says so when an editor is asked for
		parts.Editor = func(path string) *exec.Cmd {
			cmd := exec.CommandContext(context.Background(), words[0], append(slices.Clone(words[1:]), path)...)
			cmd.Env = config.WithoutKeys(a.environ)
			return cmd
		}
	}
	if watcher, ok := p.window.window.(assistant.Watcher); ok {
		parts.Changes, _ = watcher.Watch(a.starting.ctx) // nil where the system cannot
	}
	return parts
}

func (a *app) workspace(p *program) *workspace.Workspace {
	return workspace.New(workspace.Options{Session: p.session, History: p.store, Folder: a.folder()})
}

// leave ends what was opened, and stores what the user has typed before it was.
func (a *app) leave(ctx context.Context, typed history.Draft) error {
	p, ended := a.starting.end()
	var stored error
	if ended && a.store != nil { // else it is still being opened, or cannot be
		stored = workspace.New(workspace.Options{History: a.store, Folder: a.folder()}).AddDraft(ctx, typed)
	} else {
		stored = a.storeTypeahead(typed)
	}
	if p == nil {
		return stored
	}
	return errors.Join(stored, p.end(ctx, a.folder()))
}

func rebinds(keys []config.Binding) []tui.Rebind {
	var out []tui.Rebind
	for _, k := range keys {
		out = append(out, tui.Rebind{Mode: k.Mode, Action: k.Action, Keys: k.Keys})
	}
	return out
}

// crash is what the run before this one left unsaved when it stopped
// unexpectedly, and how to discard it; nil after an orderly end.
func (w *openWindow) crash() *tui.Recovery {
	last := w.journal.LastRun()
	if w.filter == nil || last.Closed || !w.staged { // changes in the history are on disk at once
		return nil
	}
	lines := []string{"These rules were not saved:"}
	for _, c := range w.filter.Diff() {
		sign := map[bool]string{true: "+", false: "-"}[c.Added]
		lines = append(lines, fmt.Sprintf("%s %s rule %s of %s", sign, modelfilter.ListOf(c), visible(c.Pattern), c.Provider))
	}
	if last.Turn.ID != "" {
		lines = append(lines, "The last turn: "+last.Turn.Description)
	}
	return &tui.Recovery{Lines: lines, Discard: func() error {
		_, err := workspace.New(workspace.Options{Session: w.session.Load()}).Discard("discard what a crash left")
		return err
	}}
}

// runPlain runs the program as lines that are only ever added. An interrupt is
// for the console, other signals end it.
func (a *app) runPlain(ctx context.Context, p *program) error {
	interrupt := make(chan os.Signal, 1)
	signal.Notify(interrupt, os.Interrupt)
	defer signal.Stop(interrupt)
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	defer stop()
	p.showPane()
	p.follow(ctx, func(tui.Noticed) {})
	o := plain.Options{
		Workspace: a.workspace(p), Window: p.pane, In: a.stdin, Out: a.stdout, Err: a.stderr,
		Interactive: isTerminal(a.stdin), Interrupt: interrupt, Color: a.colour(),
		Examples: p.examples(), Notice: p.notice, Redact: a.redactor.Redact,
		Recovery: (*plain.Recovery)(p.window.crash()),
	}
	if p.window.filter != nil {
		o.Rules = func() []string { return a.plainRules(p.window.filter) }
	}
	if status := plain.Run(ctx, o); status != statusDone {
		return statusError(status)
	}
	return nil
}
