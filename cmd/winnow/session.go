package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"

	"winnow/adapters/config"
	"winnow/assistant"
	"winnow/assistant/budget"
	"winnow/assistant/history"
)

// resumed is the session that --continue or --session names; the zero value is
// a new one.
func (a *app) resumed(ctx context.Context, store history.Store) (history.Session, error) {
	switch {
	case a.flags.proceed:
		return a.lastSession(ctx, store)
	case a.flags.session != "":
		return a.namedSession(ctx, store, a.flags.session)
	}
	return history.Session{}, nil
}

// findSession is the one session whose id begins so.
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

// sessionSettings is what a session works with.
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

// orNone is a number for budget.Params, where 0 stands for the default.
func orNone(n int) int {
	if n == 0 {
		return -1
	}
	return n
}

// openSession makes the session that this run drives, new or taken up, in the
// window. With a begun that is not nil a slow window is not waited for: it is
// told how that ended.
func (a *app) openSession(ctx context.Context, w *wiring, p *place, store history.Store, old history.Session, model string, begun func(error)) (*assistant.Session, error) {
	s, err := a.config()
	if err != nil {
		return nil, err
	}
	pages := &assistant.Pages{}
	if err := p.register(pages); err != nil {
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
	session, err := assistant.NewSession(w.registry, assistant.Options{
		ID: id, Window: p.window, Pages: pages, Store: store, Journal: p.journal, Model: model,
		Settings: sessionSettings(s), Log: a.logger(), Telemetry: telemetry, TelemetryMessages: a.flags.telemetryMessages,
	})
	if err != nil {
		return nil, err
	}
	p.session.Store(session)
	a.touch(ctx, store, history.Session{ID: id, Folder: a.folder(), Window: p.name, Model: model})
	begin := session.Start
	if p.slow && begun != nil {
		begin = func(ctx context.Context) error { return session.StartAsync(ctx, begun) }
	}
	if err := begin(ctx); err != nil {
		return nil, err
	}
	a.logger().Info("session", "id", id, "model", model, "resumed", old.ID != "")
	a.onClose(func() error { a.logger().Info("session ended", "id", id); return nil })
	if old.ID != "" {
		return session, session.LoadView(ctx)
	}
	return session, nil
}

// touch keeps what is said of a session, beside everything else: no screen and
// no model waits for a disk that flushes. That it failed is said at the end, if
// the first message did not find out before.
func (a *app) touch(ctx context.Context, store history.Store, s history.Session) {
	ctx = context.WithoutCancel(ctx) // it was opened, whatever becomes of it
	kept := make(chan error, 1)
	go func() { kept <- store.Touch(ctx, s) }()
	a.onClose(func() error { return <-kept })
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
