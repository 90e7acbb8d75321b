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
	"winnow/adapters/modelfilter/models"
	"winnow/assistant"
	"winnow/assistant/history"
	"winnow/assistant/safetext"
	"winnow/assistant/serve"
	"winnow/assistant/workspace"
	"winnow/tui"
	"winnow/tui/historypane"
	"winnow/tui/keymap"
	"winnow/tui/overlay"
	"winnow/tui/pane"
	"winnow/tui/plain"
	"winnow/tui/rules"
	"winnow/tui/style"
	"winnow/tui/terminal"
	"winnow/tui/usecase"
)

const (
	// offlineDelay is the pause of the offline model between two words, which makes its answer visibly stream on a
	// screen.
	offlineDelay = 15 * time.Millisecond
	// screenReadPause is the pause between two reads of an answer on the screen, which updates 25 times a second;
	// linesReadPause is the pause when the answer is printed on a terminal. Output to a pipe is not delayed.
	screenReadPause = 40 * time.Millisecond
	linesReadPause  = 16 * time.Millisecond
)

// program holds the parts that the screen, the plain console and ask work with.
type program struct {
	session      *assistant.Session
	store        history.Store
	window       *journaledWindow
	endpoints    *endpoints.Set
	pane         pane.Pane
	metrics      *serve.Metrics // nil if the window is not served
	notice       string         // a notice for the user about the selected model
	modelPending bool           // the endpoints have not been asked for a model yet
	autoModel    string         // the model selected automatically; owned by askEndpoints while that runs
	asking       sync.WaitGroup // counts running calls of askEndpoints
}

// launch runs the program, on a screen or line by line. The program's own signal handlers end it, not ctx, so that it
// closes its parts in order.
func (a *app) launch(ctx context.Context) error {
	s, err := a.config()
	if err != nil {
		return err
	}
	if !s.Plain && !(isTerminal(a.stdin) && isTerminal(a.stdout)) {
		return &usageError{"winnow", "the program needs a terminal: use winnow ask, or --plain"}
	}
	if !s.Plain && a.env("TERM") != "dumb" {
		return a.runScreen(context.WithoutCancel(ctx), s)
	}
	p, err := a.open(ctx, openOptions{afterCrash: true})
	if err != nil {
		return err
	}
	a.endStart(screenGC)
	ctx = context.WithoutCancel(ctx)
	return errors.Join(a.runPlain(ctx, p), p.end(ctx, a.folder()))
}

// openOptions configures open.
type openOptions struct {
	delay      time.Duration // pause of the offline model between two words
	readPause  time.Duration // pause between two reads of an answer; 0 means no pause
	afterCrash bool          // resume the session that a crash interrupted
	// started receives the result of starting a session whose window is the chat history. If it is set, open waits
	// neither for that start nor for asking the endpoints for a model; if it is nil, open waits for both.
	started func(error)
}

// open opens all parts of a program.
func (a *app) open(ctx context.Context, o openOptions) (*program, error) {
	p := &program{}
	var err error
	if p.endpoints, err = a.openEndpoints(o); err != nil {
		return nil, err
	}
	if p.store, err = a.openHistory(ctx); err != nil {
		return nil, err
	}
	if err := a.restoreTypeahead(ctx, p.store); err != nil {
		a.printErr("the text typed before winnow last ended could not be restored: %v", err)
	}
	go models.Info("") // loads the catalogue, which the first request needs
	resumed, err := a.sessionToResume(ctx, p.store)
	if err != nil {
		return nil, err
	}
	if p.window, err = a.openWindow(ctx, toWrite); err != nil {
		return nil, err
	}
	if o.started == nil { // otherwise the screen asks later
		p.window.askProxy(ctx, p.endpoints)
	}
	if o.afterCrash && resumed.ID == "" {
		if resumed, err = a.crashedSession(ctx, p); err != nil {
			return nil, err
		}
	}
	model, err := a.pickModel(ctx, p, resumed.Model, o.started == nil)
	if err != nil {
		return nil, err
	}
	if err := a.openSession(ctx, p, resumed, model, o.started); err != nil {
		return nil, err
	}
	return p, nil
}

// makePane creates the pane for the window.
func (p *program) makePane() {
	if w := p.window; w.filter != nil {
		home, _ := os.UserHomeDir() // "" shows whole paths
		p.pane = rules.New(rules.Options{ReadOnly: w.readOnly(), Home: home})
	} else {
		p.pane = historypane.New()
	}
}

// closeSession ends a running turn before the files are closed; its pair is stored as interrupted, with what was
// received.
func (p *program) closeSession() {
	const limit = 500 * time.Millisecond // if closing takes longer, the next start marks the pair as interrupted
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	_ = p.session.Close(ctx)
}

// end closes the session and, if the user chose a model, stores it for the next start in this folder. The context of
// askEndpoints must have ended, because end waits for running calls of askEndpoints.
func (p *program) end(ctx context.Context, folder string) error {
	p.closeSession()
	p.asking.Wait()
	if id := p.session.Model(); id != p.autoModel && ctx.Err() == nil {
		if err := p.store.Set(ctx, lastModelKey(folder), id); err != nil {
			return fmt.Errorf("the model selected in this folder could not be stored: %w", err)
		}
	}
	return nil
}

// screenSettings returns the settings of a screen, local or over SSH.
func screenSettings(s *config.Settings, theme style.Options, fixedBackground bool) overlay.ScreenSettings {
	return overlay.ScreenSettings{
		Style: theme, FixedBackground: fixedBackground, Mouse: s.Mouse, HUD: s.HUD, LongReply: s.LongReply, PanePlace: s.Pane, Notify: s.Notify, EnterSends: s.SendKey == "enter", AsksEnter: s.Origins["send_key"].From == "default",
	}
}

// runScreen runs the program on a screen. The screen is drawn first; everything is opened in the background while
// the user can already type.
func (a *app) runScreen(ctx context.Context, s *config.Settings) error {
	in, out := a.stdin.(*os.File), a.stdout.(*os.File)
	theme, fixed := a.theme(s)
	a.background, a.deferring = newBackgroundOpen(ctx), true
	defer a.printDeferred()
	a.logger() // opened here, before several goroutines use it
	var screen *tea.Program
	width, height, _ := term.GetSize(out.Fd()) // 0 if unknown: Bubble Tea then asks the terminal
	keys := terminal.NewKeyReader(in)
	model, err := tui.New(tui.Options{
		Context:        a.background.ctx,
		ScreenSettings: screenSettings(s, theme, fixed),
		Input:          keys, Width: width, Height: height, Settings: sessionSettings(s), HasPane: true,
		Rebinds: rebinds(s.Keys), Help: a.helpTopics(),
		Redact: a.redactor.Redact, StoreSetting: a.storeSetting,
		Start: func() (tui.Parts, error) {
			notify := func(n tui.Noticed) { screen.Send(n) }
			a.onNotice.Store(new(func(text safetext.Text) { notify(tui.Noticed{Text: text}) }))
			p, err := a.background.run(func(ctx context.Context) (*program, error) {
				return a.open(ctx, openOptions{delay: offlineDelay, readPause: screenReadPause, afterCrash: true, started: func(err error) { notify(tui.Noticed{Err: err}) }})
			})
			if err != nil {
				return tui.Parts{}, err
			}
			a.dropKeys()
			p.makePane()
			a.printErr("%s", p.window.readOnly())
			a.reportUnset(p)
			a.reportOpenFile(a.background.ctx, p)
			a.endStart(screenGC) // from here on answers may arrive
			p.askEndpoints(a.background.ctx, notify)
			go p.warm(a.background.ctx)
			go a.watchHistory(a.background.ctx, p.store, p.session, notify)
			go followOthers(a.background.ctx, p.window.filter, p.window.journal, a.logger(), func(who, what string) { notify(tui.Noticed{Text: safetext.Sprintf("%s %s", who, what)}) })
			return a.localParts(p)
		},
	})
	if err != nil {
		return err
	}
	screen = terminal.New(model, keys, out, a.environ)
	var stored error
	err = a.runModel(screen, in, out, func(failed error) {
		stored = a.endScreen(ctx, model, failed == nil)
		if failed == nil && stored == nil {
			a.sayWhatIsKept()
		}
	})
	if err == nil {
		err = model.Err()
	}
	return errors.Join(err, stored)
}

// parts returns what the screen works with, including the notices collected while opening.
func (a *app) parts(p *program) tui.Parts {
	a.deferMu.Lock()
	parts := tui.Parts{
		Source: usecase.Source{Work: a.workspace(p), History: p.store}, Pane: p.pane, Examples: p.examples(a.background.ctx),
		Notice: strings.Join(a.deferred, " · "), Interrupted: p.store.Report().Interrupted, Recovery: p.window.recovery(),
	}
	a.deferred = nil // the screen shows them
	a.deferMu.Unlock()
	if words, err := a.editor(); err == nil { // otherwise the screen reports the error when an editor is needed
		parts.Editor = func(path string) *exec.Cmd {
			cmd := exec.CommandContext(context.Background(), words[0], append(slices.Clone(words[1:]), path)...)
			cmd.Env = config.WithoutKeys(a.environ, a.redactor)
			// Pass the terminal itself: with a copy of the input, a key typed after the editor has ended would be
			// lost. The editor's standard error is the terminal too, because the standard error of this process goes
			// to the log.
			cmd.Stdin, cmd.Stdout, cmd.Stderr = a.stdin, a.stdout, a.stdout
			return cmd
		}
	}
	if watcher, ok := p.window.window.(assistant.Watcher); ok {
		parts.Changes, _ = watcher.Watch(a.background.ctx) // nil if the system does not support watching
	}
	return parts
}

// localParts returns parts with a Connector, because the local user may also connect models.
func (a *app) localParts(p *program) (parts tui.Parts, err error) {
	parts = a.parts(p)
	parts.Connect, err = a.connector(p.endpoints, p.store, parts.Work.PickModel)
	return parts, err
}

func (a *app) workspace(p *program) *workspace.Workspace {
	return workspace.New(workspace.Options{Session: p.session, History: p.store, Folder: a.folder(), Visibility: a.settings.Visibility, Author: a.userName(), StoreSetting: a.storeSetting, ModelPicked: a.storeModel(p.store)})
}

// endTime limits how long the end of a screen waits for the history. Quitting has already
// waited for the draft; together they take at most two seconds.
const endTime = time.Second

// endScreen stores what the screen leaves behind and closes the program. If the history did not
// accept the draft, the draft is kept for the next start.
func (a *app) endScreen(ctx context.Context, model *tui.Model, inOrder bool) error {
	ctx, cancel := context.WithTimeout(ctx, endTime)
	defer cancel()
	unstored := model.StoreDraft(ctx)
	if inOrder && unstored == nil {
		_ = model.EndStart(ctx) // if this fails, the start counts as failed
	}
	return a.leave(ctx, model.Typed(), unstored)
}

// leave closes the program and stores typed: text entered before there was a session, or text that could not be
// stored. unstored is the error of storing it, or nil.
func (a *app) leave(ctx context.Context, typed history.Draft, unstored error) error {
	p, ended := a.background.end()
	var stored error
	switch {
	case unstored != nil:
		stored = fmt.Errorf("your draft is not in the history, but the next start restores it: %w", unstored)
		if err := a.storeTypeahead(typed); err != nil {
			stored = fmt.Errorf("your draft is lost: %w", errors.Join(unstored, err))
		}
	case ended && a.store != nil: // otherwise the store is still being opened or cannot be opened
		stored = workspace.New(workspace.Options{History: a.store, Folder: a.folder()}).AddDraft(ctx, typed)
	default:
		stored = a.storeTypeahead(typed)
	}
	if p == nil {
		return stored
	}
	return errors.Join(stored, p.end(ctx, a.folder()))
}

func rebinds(keys []config.Binding) []keymap.Rebind {
	var out []keymap.Rebind
	for _, k := range keys {
		out = append(out, keymap.Rebind{Mode: k.Mode, Action: k.Action, Keys: k.Keys})
	}
	return out
}

// recovery describes the unsaved rules of the last run, with the digest that is needed to discard them. It returns nil if that run
// ended normally or left no unsaved rules.
func (w *journaledWindow) recovery() *tui.Recovery {
	last := w.journal.LastRun()
	if w.filter == nil || last.Closed || !w.recovered { // the chat history has no unsaved changes
		return nil
	}
	lines := []safetext.Text{"These changes to the rules were not saved:"}
	for _, c := range w.filter.Diff() {
		icon := "-"
		if c.Added {
			icon = "+"
		}
		lines = append(lines, safetext.Sprintf("%s %s rule %s of %s", icon, c.List.String(), c.Pattern, c.Provider))
	}
	if last.Turn.ID != "" {
		lines = append(lines, "The last turn: "+safetext.VisibleOnce(last.Turn.Description))
	}
	return &tui.Recovery{Lines: lines, Digest: w.filter.PlanDiscard("").Digest}
}

// runPlain runs the program line by line, without drawing over earlier output. plain.Run handles interrupts; other
// signals end the program.
func (a *app) runPlain(ctx context.Context, p *program) error {
	interrupt := make(chan os.Signal, 1)
	signal.Notify(interrupt, os.Interrupt)
	defer signal.Stop(interrupt)
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	defer stop()
	a.printErr("%s", p.window.readOnly())
	a.reportUnset(p)
	a.reportOpenFile(ctx, p)
	p.askEndpoints(ctx, func(tui.Noticed) {})
	o := plain.Options{
		Workspace: a.workspace(p), In: a.stdin, Out: a.stdout, Err: a.stderr,
		Interactive: isTerminal(a.stdin), Interrupt: interrupt, Color: a.hasColour(),
		Examples: p.examples(ctx), Notice: p.notice, Redact: a.redactor.Redact,
		Title: func() string { return "chat history" }, Topics: a.helpTopics(),
	}
	connector, err := a.connector(p.endpoints, p.store, o.Workspace.PickModel)
	if err != nil {
		return err
	}
	o.Connect = func(ctx context.Context, print func(string), ask plain.Ask) error {
		return connectInLines(ctx, connector, print, ask)
	}
	o.OfferConnect, o.Dismiss = p.autoModel == endpoints.OfflineModel && a.firstStart(ctx, p.store), connector.Dismiss
	if out, ok := a.stdout.(*os.File); ok && isTerminal(out) {
		o.Width = func() int { width, _, _ := term.GetSize(out.Fd()); return width }
	}
	if in, ok := a.stdin.(*os.File); ok {
		o.Hide = func() func() { return hideInput(in) }
	}
	if w := p.window.filter; w != nil {
		o.Title = func() string { return "model filter, " + visible(w.Provider()) }
		o.Rules = func() []string { return a.plainRules(w) }
		o.Act = func(action keymap.Action, argument string) (assistant.Act, int64) {
			return ruleAct(w, action, argument)
		}
	}
	if r := p.window.recovery(); r != nil {
		o.Recovery, o.Digest = r.Lines, r.Digest
	}
	if status := plain.Run(ctx, o); status != statusDone {
		return statusError(status)
	}
	return nil
}
