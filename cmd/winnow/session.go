package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"

	"winnow/adapters/config"
	"winnow/adapters/endpoints"
	"winnow/assistant"
	"winnow/assistant/budget"
	"winnow/assistant/history"
)

// resumed is the session that --continue or --session names; the zero value
// stands for a new one.
func (a *app) resumed(ctx context.Context, store history.Store) (history.Session, error) {
	switch {
	case a.flags.proceed:
		return a.lastSession(ctx, store)
	case a.flags.session != "":
		return a.namedSession(ctx, store, a.flags.session)
	}
	return history.Session{}, nil
}

// findSession is the one session whose id begins with id.
func findSession(ctx context.Context, store history.Store, id string) (history.Session, error) {
	all, err := store.Sessions(ctx)
	if err != nil {
		return history.Session{}, err
	}
	var found []history.Session
	for _, s := range all {
		if s.ID == id {
			return s, nil
		}
		if strings.HasPrefix(s.ID, id) {
			found = append(found, s)
		}
	}
	const next = "winnow history sessions lists them"
	switch len(found) {
	case 0:
		return history.Session{}, advise(fmt.Errorf("there is no session %q", id), next)
	case 1:
		return found[0], nil
	}
	return history.Session{}, advise(fmt.Errorf("%d sessions begin with %q", len(found), id), next)
}

// sessionSettings are the settings of a session.
func sessionSettings(s *config.Settings) assistant.Settings {
	return assistant.Settings{
		Limits:        assistant.Limits{Iterations: s.MaxIterations},
		Confirm:       assistant.ConfirmPolicy(s.Confirm),
		ContextTokens: s.ContextTokens,
		Budget: budget.Params{
			CharsPerToken: s.CharsPerToken, UserRequestAllowance: orNone(s.UserRequestAllowance), MaxTrimAttempts: orNone(s.MaxTrimAttempts),
		},
	}
}

// orNone is a number for budget.Params, where 0 means the default and -1 none.
func orNone(n int) int {
	if n == 0 {
		return -1
	}
	return n
}

// openSession makes the session of this run, new or resumed. With a started
// that is not nil a slow window is not waited for: started gets the result.
func (a *app) openSession(ctx context.Context, set *endpoints.Set, w *openWindow, store history.Store, old history.Session, model string, started func(error)) (*assistant.Session, error) {
	s, err := a.config()
	if err != nil {
		return nil, err
	}
	pages := &assistant.Pages{}
	if err := w.register(pages); err != nil {
		return nil, err
	}
	telemetry, err := a.telemetry()
	if err != nil {
		return nil, err
	}
	id := old.ID
	if id == "" {
		id = assistant.NewID(a.now())
	}
	session, err := assistant.NewSession(set.Registry, assistant.Options{
		ID: id, Window: w.window, Pages: pages, Store: store, Journal: w.journal, Model: model,
		Settings: sessionSettings(s), Log: a.logger(), Telemetry: telemetry, TelemetryMessages: a.flags.telemetryMessages,
	})
	if err != nil {
		return nil, err
	}
	w.session.Store(session)
	a.touch(ctx, store, history.Session{ID: id, Folder: a.folder(), Window: w.name, Model: model})
	start := session.Start
	if w.slow && started != nil {
		start = func(ctx context.Context) error { return session.StartAsync(ctx, started) }
	}
	if err := start(ctx); err != nil {
		return nil, err
	}
	a.logger().Info("session", "id", id, "model", model, "resumed", old.ID != "")
	a.onClose(func() error { a.logger().Info("session ended", "id", id); return nil })
	if old.ID != "" {
		return session, session.LoadView(ctx)
	}
	return session, nil
}

// touch stores what is known of a session in the background: no screen and no
// model waits for the disk. A failure is reported at the end of the run.
func (a *app) touch(ctx context.Context, store history.Store, s history.Session) {
	ctx = context.WithoutCancel(ctx) // also when the run is cancelled at once
	stored := make(chan error, 1)
	go func() { stored <- store.Touch(ctx, s) }()
	a.onClose(func() error { return <-stored })
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
		line, err := json.Marshal(r)
		if err != nil {
			a.logger().Error("telemetry", "error", err)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		if _, err = out.Write(append(line, '\n')); err == nil {
			err = out.Flush()
		}
		if err != nil {
			a.logger().Error("telemetry", "error", err)
		}
	}, nil
}

// belongs says whether a session belongs to the window that the settings name.
// An imported one belongs to any.
func (a *app) belongs(s history.Session) (bool, error) {
	set, err := a.config()
	if err != nil {
		return false, err
	}
	return s.Window == "" || (s.Window == historyWindow) == (set.Window == historyWindow), nil
}

// lastSession is the session last used in this folder, of the window that is open.
func (a *app) lastSession(ctx context.Context, store history.Store) (history.Session, error) {
	none := advise(fmt.Errorf("there is no session to continue in this folder"), "winnow history sessions lists all; open one with --session ID")
	last, found, err := store.LastSession(ctx, a.folder())
	if err != nil || !found {
		if err == nil {
			err = none
		}
		return history.Session{}, err
	}
	if ok, err := a.belongs(last); ok || err != nil {
		return last, err
	}
	all, err := store.Sessions(ctx) // the last used first
	if err != nil {
		return history.Session{}, err
	}
	for _, s := range all {
		if ok, err := a.belongs(s); err != nil || ok && s.Folder == a.folder() {
			return s, err
		}
	}
	return history.Session{}, none
}

// namedSession is the session whose id begins with id, if it belongs to this
// window: its checkpoints are in that window's journal.
func (a *app) namedSession(ctx context.Context, store history.Store, id string) (history.Session, error) {
	s, err := findSession(ctx, store, id)
	if err != nil {
		return s, err
	}
	ok, err := a.belongs(s)
	if err != nil || ok {
		return s, err
	}
	return history.Session{}, advise(fmt.Errorf("the session %s belongs to another window", s.ID), "open it with --window %s", windowName(s.Window))
}

// windowName is the window of a session as --window names it: sessions of the
// model filter are stored under the path of the .env file. "" belongs to any.
func windowName(stored string) string {
	switch stored {
	case "", historyWindow:
		return stored
	}
	return "model-filter"
}
