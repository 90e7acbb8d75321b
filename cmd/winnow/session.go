package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"winnow/adapters/config"
	historywindow "winnow/adapters/history"
	"winnow/adapters/modelfilter"
	"winnow/assistant"
	"winnow/assistant/budget"
	"winnow/assistant/history"
	"winnow/assistant/safetext"
	"winnow/assistant/workspace"
	"winnow/checkpoint"
	"winnow/tui/plain"
)

// sessionToResume returns the session to resume: with --continue, the session last used in this folder and window,
// preferably one with a message, sent or queued; with --session, the session whose id starts with the given text. The
// zero value means a new session. A session can only be resumed in the window that it was created in, because that
// window's journal holds its checkpoints; an imported session can be resumed in any window.
func (a *app) sessionToResume(ctx context.Context, store history.Sessions) (history.Session, error) {
	id := a.flags.session
	if id == "" && !a.flags.resumeLast {
		return history.Session{}, nil
	}
	settings, err := a.config()
	if err != nil {
		return history.Session{}, err
	}
	found, err := store.Sessions(ctx) // the most recently used session comes first
	if err != nil {
		return history.Session{}, err
	}
	inWindow := func(s history.Session) bool { return s.Window == "" || windowName(s.Window) == settings.Window }
	found = slices.DeleteFunc(found, func(s history.Session) bool {
		return !strings.HasPrefix(s.ID, id) || id == "" && (s.Folder != a.folder() || !inWindow(s))
	})
	wanted := func(s history.Session) bool {
		if id != "" || s.Pairs > 0 {
			return id == "" || s.ID == id
		}
		_, queued, _ := store.Queued(ctx, s.ID) // if the queue cannot be read, the session counts as empty
		return queued
	}
	if i := slices.IndexFunc(found, wanted); i >= 0 || id == "" && len(found) > 0 {
		found = found[max(i, 0):][:1]
	}
	const all = "winnow history sessions lists all sessions; open one with --session ID"
	switch {
	case len(found) == 0 && id == "":
		err = advise(errors.New("there is no session to continue in this folder"), all)
	case len(found) == 0:
		err = advise(fmt.Errorf("there is no session %q", id), all)
	case len(found) > 1:
		err = advise(fmt.Errorf("the IDs of %d sessions start with %q", len(found), id), all)
	case !inWindow(found[0]):
		err = advise(fmt.Errorf("the session %s belongs to another window", found[0].ID), "open it with --window %s", windowName(found[0].Window))
	default:
		return found[0], nil
	}
	return history.Session{}, err
}

// crashedSession returns the session that a crash interrupted: the session of this folder and window whose answer was
// cut off or, if there is none, the session of the window's last run, unless that run ended normally. The zero value
// means that there is no such session.
func (a *app) crashedSession(ctx context.Context, p *program) (history.Session, error) {
	if id := p.store.Report().InterruptedIn; id != "" {
		s, found, err := p.store.Session(ctx, id)
		if err != nil || found && s.Folder == a.folder() && (s.Window == "" || windowName(s.Window) == a.settings.Window) {
			return s, err
		}
	}
	last := p.window.journal.LastRun()
	if last.Closed || last.Session == "" {
		return history.Session{}, nil
	}
	s, _, err := p.store.Session(ctx, last.Session)
	return s, err
}

// sayWhatIsKept prints, after the screen has ended, what the next start will find: the conversation and the unsaved
// rules. After a run without either it prints nothing.
func (a *app) sayWhatIsKept() {
	p, ended := a.background.end()
	if p == nil || !ended {
		return
	}
	if p.window.unsaved() {
		a.printErr("the unsaved rules are kept: winnow rules diff shows them")
	}
	if p.session.State().Turn.Turn != nil { // a message was sent
		a.printErr("the conversation is kept: winnow --continue resumes it")
	}
}

// windowName converts the stored window of a session to a value of --window. Sessions of the model filter are stored
// under the path of the .env file; "" means any window.
func windowName(stored string) string {
	if stored == "" || stored == historyWindow {
		return stored
	}
	return "model-filter"
}

// sessionSettings returns the settings of a session. In budget.Params, 0 means the default and -1 means 0.
func sessionSettings(s *config.Settings) assistant.Settings {
	return assistant.Settings{
		Iterations:    s.MaxIterations,
		Confirm:       assistant.ConfirmPolicy(s.Confirm),
		ContextTokens: s.ContextTokens,
		Budget: budget.Params{
			CharsPerToken: s.CharsPerToken, UserRequestAllowance: cmp.Or(s.UserRequestAllowance, -1), MaxTrimAttempts: cmp.Or(s.MaxTrimAttempts, -1),
		},
	}
}

// identity describes the assistant's role to the model.
const identity = "You are the assistant inside a window of a terminal program. You see the whole window, you can change it with your tools, and the user watches every step."

// sessionOptions returns the options that all sessions in the window of p have in common.
func (a *app) sessionOptions(p *program, model string) (o assistant.Options, err error) {
	s, err := a.config()
	if err != nil {
		return o, err
	}
	pages := &assistant.Pages{}
	switch window := p.window.window.(type) {
	case *modelfilter.Window:
		err = modelfilter.Register(pages, window)
	case *historywindow.Window:
		err = historywindow.Register(pages, window)
	}
	if err != nil {
		return o, err
	}
	telemetry, err := a.telemetry()
	if err != nil {
		return o, err
	}
	tools, err := a.startTools()
	return assistant.Options{
		Window: p.window.window, Pages: pages, Tools: tools, Store: p.store, Journal: p.window.journal, Identity: identity, Model: model,
		Settings: sessionSettings(s), Log: a.logger(), Telemetry: telemetry, TelemetryMessages: a.flags.telemetryMessages,
	}, err
}

// openSession creates or resumes the session of p. If started is not nil and the window is the chat history, which is
// slow to read, openSession does not wait for the session to start, and calls started with the result.
func (a *app) openSession(ctx context.Context, p *program, resumed history.Session, model string, started func(error)) error {
	o, err := a.sessionOptions(p, model)
	if err != nil {
		return err
	}
	w, id := p.window, cmp.Or(resumed.ID, assistant.NewID(time.Now()))
	o.ID = id
	if p.session, err = assistant.NewSession(p.endpoints.Registry, o); err != nil {
		return err
	}
	w.session.Store(p.session)
	// Neither the screen nor the model waits for this write; an error is reported at the end of the run.
	touched := make(chan error, 1)
	a.onClose(func() error { return <-touched })
	go func() {
		touched <- p.store.Touch(context.WithoutCancel(ctx), history.Session{ID: id, Folder: a.folder(), Window: w.name, Model: model})
	}()
	if started != nil && w.filter == nil {
		err = p.session.StartAsync(ctx, started)
	} else {
		err = p.session.Start(ctx)
	}
	if err != nil {
		return err
	}
	a.logger().Info("session", "id", id, "model", model, "resumed", resumed.ID != "")
	a.onClose(func() error { a.logger().Info("session ended", "id", id); return nil })
	if resumed.ID != "" {
		return p.session.LoadView(ctx)
	}
	return nil
}

// telemetry returns a function that appends the record of each request to the file of --telemetry, or nil without
// that flag. Records contain messages only with --telemetry-messages.
func (a *app) telemetry() (func(budget.Record), error) {
	if a.flags.telemetry == "" {
		return nil, nil
	}
	f, err := os.OpenFile(a.flags.telemetry, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("--telemetry: %w", err)
	}
	a.onClose(f.Close)
	var mu sync.Mutex
	out := a.redactor.NewWriter(f)
	return func(r budget.Record) {
		mu.Lock()
		defer mu.Unlock()
		err := json.NewEncoder(out).Encode(r)
		if err == nil {
			err = out.Flush()
		}
		if err != nil {
			a.logger().Error("telemetry", "error", err)
		}
	}, nil
}

// checkpointJSON is the JSON form of a checkpoint.
type checkpointJSON struct {
	checkpoint.Checkpoint
	Undoes string `json:"undoes"` // "" for the start of a session
}

func checkpointsListCommand(a *app) *cobra.Command {
	var session string
	c := command("list", "List the checkpoints, oldest first", 0, 0, func(ctx context.Context, _ []string) error {
		w, err := a.openWindow(ctx, toRead)
		if err != nil {
			return err
		}
		all := []checkpointJSON{}
		var rows [][]string
		list := w.journal.Steps()
		if session != "" {
			list = w.journal.List(session)
		}
		for _, c := range list {
			all = append(all, checkpointJSON{c, c.Undoes()})
			what := safetext.Line(cmp.Or(c.Undoes(), c.Description), maxName)
			if c.Undone {
				what += " (undone)"
			}
			rows = append(rows, []string{c.ID, c.Time.Local().Format(timeLayout), string(what)})
		}
		newest, _ := w.journal.LastStep()
		return a.emit(map[string]any{"checkpoints": all, "newest": newest.ID, "unsaved": w.unsaved()},
			plain.Table("there are no checkpoints for "+w.name+" yet", []string{"id", "time", "before"}, rows)...)
	})
	c.Flags().StringVar(&session, "session", "", "list only the checkpoints of the session with this ID")
	return c
}

func rollbackCommand(a *app) *cobra.Command {
	var rules, conversation bool
	var newest string
	c := command("rollback ID", "Roll back to a checkpoint: staged rules, conversation, or both", 1, 1, func(ctx context.Context, args []string) error {
		scope := checkpoint.ScopeBoth
		switch {
		case rules:
			scope = checkpoint.ScopeWindow
		case conversation:
			scope = checkpoint.ScopeConversation
		}
		return a.rollback(ctx, args[0], scope, newest)
	})
	c.Long = "rollback first lists the steps that it undoes and, on a terminal, asks for confirmation.\n" +
		"--newest identifies a list shown earlier: rollback then does not ask, and fails if the list has changed."
	c.Flags().BoolVar(&rules, "rules", false, "roll back only the rules")
	c.Flags().BoolVar(&conversation, "conversation", false, "roll back only the conversation")
	c.Flags().StringVar(&newest, "newest", "", "the VALUE of newest in checkpoints list --json: fail if there has been a step since (exit 3)")
	exclusive(c, "rules", "conversation")
	return c
}

func (a *app) rollback(ctx context.Context, id string, scope checkpoint.Scope, newest string) error {
	store, err := a.openHistory(ctx)
	if err != nil {
		return err
	}
	w, err := a.openWindow(ctx, toWrite)
	if err != nil {
		return err
	}
	last := w.journal.LastRun().Session
	for _, c := range w.journal.List("") {
		if c.ID == id {
			last = cmp.Or(c.Session, last)
		}
	}
	session, err := a.editSession(ctx, w, store, last)
	if err != nil {
		return err
	}
	ws := workspace.New(workspace.Options{Session: session, History: store, Folder: a.folder(), Author: a.userName()})
	back, err := a.rollBackTo(ctx, ws, id, scope, newest)
	if errors.Is(err, checkpoint.ErrUnknown) {
		return advise(fmt.Errorf("there is no checkpoint %q", safetext.Line(id, maxName)), "winnow checkpoints list shows all checkpoints")
	}
	if err != nil {
		return err
	}
	a.printErr("%s", back.Warning)
	lines := []string{"rolled back to " + id}
	if back.Text != "" {
		lines = append(lines, string("the first message that was removed: "+safetext.Line(back.Text, maxName)))
	}
	if w.unsaved() {
		lines = append(lines, "the rules now differ from the file: winnow rules diff shows how, winnow rules save saves them")
	}
	return a.emit(map[string]any{"id": id, "scope": string(scope), "unsaved": w.unsaved(), "first_text": back.Text, "warning": back.Warning}, lines...)
}

// rollBackTo rolls back if newest is still the newest checkpoint. Without newest it first shows the steps that would
// be undone and, if the user can answer, asks for confirmation. It returns errPending if the user declines, or if
// there is a newer checkpoint and the user cannot be asked again.
func (a *app) rollBackTo(ctx context.Context, ws *workspace.Workspace, id string, scope checkpoint.Scope, newest string) (workspace.RolledBack, error) {
	asks := newest == "" && a.asks()
	if newest == "" {
		steps, now, err := ws.PlanRollback(id)
		if err != nil {
			return workspace.RolledBack{}, err
		}
		newest = now
		a.printErr("steps to undo:")
		printLines(a, stepLines(steps))
	}
	for !asks || a.askYesNo("Roll back?") {
		back, err := ws.Rollback(ctx, id, scope, newest)
		changed, ok := errors.AsType[*assistant.PlanChanged](err)
		if !ok {
			return back, err
		}
		a.printErr("nothing was rolled back: %s. Steps that would now be undone:", changed.Changed(a.userName()))
		if !asks {
			return back, cmp.Or(a.emit(map[string]any{"steps": changed.Steps, "newest": changed.Newest, "changed_by": changed.By}, stepLines(changed.Steps)...), error(errPending))
		}
		newest = changed.Newest
		printLines(a, stepLines(changed.Steps))
	}
	a.printErr("nothing was rolled back")
	return workspace.RolledBack{}, errPending
}

// stepLines formats checkpoints, one per line.
func stepLines(steps []checkpoint.Checkpoint) (lines []string) {
	for _, c := range steps {
		lines = append(lines, c.ID+"  "+c.Time.Local().Format(timeLayout)+"  "+string(safetext.Line(c.Description, maxName)))
	}
	return lines
}
