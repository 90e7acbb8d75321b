package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"

	"winnow/adapters/config"
	historywindow "winnow/adapters/history"
	"winnow/adapters/modelfilter"
	"winnow/assistant"
	"winnow/assistant/budget"
	"winnow/assistant/history"
)

// resumed is the session that --continue or --session names; the zero value
// stands for a new one.
func (a *app) resumed(ctx context.Context, store history.Store) (history.Session, error) {
	switch {
	case a.flags.resume:
		return a.lastSession(ctx, store)
	case a.flags.session != "":
		return a.namedSession(ctx, store, a.flags.session)
	}
	return history.Session{}, nil
}

// namedSession is the one session whose id begins with id. It belongs to the
// open window: its checkpoints are in that window's journal.
func (a *app) namedSession(ctx context.Context, store history.Store, id string) (history.Session, error) {
	all, err := store.Sessions(ctx)
	if err != nil {
		return history.Session{}, err
	}
	var found []history.Session
	for _, s := range all {
		if s.ID == id {
			found = []history.Session{s}
			break
		}
		if strings.HasPrefix(s.ID, id) {
			found = append(found, s)
		}
	}
	switch {
	case len(found) == 0:
		err = advise(fmt.Errorf("there is no session %q", id), "winnow history sessions lists them")
	case len(found) > 1:
		err = advise(fmt.Errorf("%d sessions begin with %q", len(found), id), "winnow history sessions lists them")
	case !a.inWindow(found[0]):
		err = advise(fmt.Errorf("the session %s belongs to another window", found[0].ID), "open it with --window %s", windowName(found[0].Window))
	default:
		return found[0], nil
	}
	return history.Session{}, err
}

// lastSession is the session last used in this folder, of the window that is open.
func (a *app) lastSession(ctx context.Context, store history.Store) (history.Session, error) {
	all, err := store.Sessions(ctx) // the last used first
	for _, s := range all {
		if s.Folder == a.folder() && a.inWindow(s) {
			return s, nil
		}
	}
	if err == nil {
		err = advise(fmt.Errorf("there is no session to continue in this folder"), "winnow history sessions lists all; open one with --session ID")
	}
	return history.Session{}, err
}

// inWindow reports whether a session belongs to the window that the settings
// name. An imported one belongs to any.
func (a *app) inWindow(s history.Session) bool {
	set, err := a.config()
	return err == nil && (s.Window == "" || (s.Window == historyWindow) == (set.Window == historyWindow))
}

// windowName is the window of a session as --window names it: sessions of the
// model filter are stored under the path of the .env file. "" belongs to any.
func windowName(stored string) string {
	if stored == "" || stored == historyWindow {
		return stored
	}
	return "model-filter"
}

// sessionSettings are the settings of a session. In budget.Params 0 means the
// default, and -1 means 0.
func sessionSettings(s *config.Settings) assistant.Settings {
	return assistant.Settings{
		Limits:        assistant.Limits{Iterations: s.MaxIterations},
		Confirm:       assistant.ConfirmPolicy(s.Confirm),
		ContextTokens: s.ContextTokens,
		Budget: budget.Params{
			CharsPerToken: s.CharsPerToken, UserRequestAllowance: cmp.Or(s.UserRequestAllowance, -1), MaxTrimAttempts: cmp.Or(s.MaxTrimAttempts, -1),
		},
	}
}

// openSession makes the session of p, new or resumed. With a started that is not
// nil the chat history as a window, whose state takes long to read, is not waited
// for: started gets the result.
func (a *app) openSession(ctx context.Context, p *program, old history.Session, model string, started func(error)) (err error) {
	s, err := a.config()
	if err != nil {
		return err
	}
	w, pages := p.window, &assistant.Pages{}
	switch window := w.window.(type) {
	case *modelfilter.Window:
		err = modelfilter.Register(pages, window)
	case *historywindow.Window:
		err = historywindow.Register(pages, window)
	}
	if err != nil {
		return err
	}
	telemetry, err := a.telemetry()
	if err != nil {
		return err
	}
	id := cmp.Or(old.ID, assistant.NewID(a.now()))
	p.session, err = assistant.NewSession(p.endpoints.Registry, assistant.Options{
		ID: id, Window: w.window, Pages: pages, Store: p.store, Journal: w.journal, Model: model,
		Settings: sessionSettings(s), Log: a.logger(), Telemetry: telemetry, TelemetryMessages: a.flags.telemetryMessages,
	})
	if err != nil {
		return err
	}
	w.session.Store(p.session)
	// No screen and no model waits for the disk; a failure is reported at the end of
	// the run.
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
	a.logger().Info("session", "id", id, "model", model, "resumed", old.ID != "")
	a.onClose(func() error { a.logger().Info("session ended", "id", id); return nil })
	if old.ID != "" {
		return p.session.LoadView(ctx)
	}
	return nil
}

// telemetry appends the record of each request to the file of --telemetry; nil
// without one. The messages of a request are in it with --telemetry-messages only.
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
