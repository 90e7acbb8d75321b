package main

import (
	"context"
	"fmt"
	"sync/atomic"

	pastwindow "winnow/adapters/history"
	"winnow/adapters/modelfilter"
	"winnow/assistant"
	"winnow/assistant/history"
	"winnow/checkpoint"
	"winnow/tui/historypane"
	"winnow/tui/pane"
)

// overHistory is the value of the setting window for the chat history.
const overHistory = "history"

// place is the window that a session works in, with its journal: the model
// filter at a desk of its own, or the chat history.
type place struct {
	// session is the one that works here, nil as long as none does. The window
	// asks for it from whichever goroutine tells its context.
	session  atomic.Pointer[assistant.Session]
	window   assistant.Window
	register func(*assistant.Pages) error
	journal  *checkpoint.Journal
	name     string   // the history keeps sessions of the window under it
	desk     *desk    // nil over the chat history
	slow     bool     // it takes time to be told how it is: nobody shall wait for that
	examples []string // what the welcome suggests
}

// openPlace opens the window that the settings name. To write the place needs
// its journal for itself.
func (a *app) openPlace(ctx context.Context, write bool) (*place, error) {
	s, err := a.config()
	if err != nil {
		return nil, err
	}
	if s.Window == overHistory {
		return a.openPast(ctx, write)
	}
	p := &place{examples: examples}
	d, err := a.openDesk(ctx, func() string {
		if s := p.session.Load(); s != nil {
			return s.ID()
		}
		return ""
	}, write)
	if err != nil {
		return nil, err
	}
	p.window, p.desk, p.journal, p.name = d.window, d, d.journal, d.window.EnvFile()
	p.register = func(pages *assistant.Pages) error { return modelfilter.Register(pages, d.window) }
	return p, nil
}

// pastExamples are what the welcome suggests over the history.
var pastExamples = []string{
	"find invoice",
	"give three stars to what is about kubernetes",
	"summarise the last 10 pairs",
}

// openPast opens the chat history as a window. There is one for a home, and its
// journal is its own: a checkpoint of the model filter is none here.
func (a *app) openPast(ctx context.Context, write bool) (*place, error) {
	store, err := a.openHistory(ctx)
	if err != nil {
		return nil, err
	}
	h, err := a.folders()
	if err != nil {
		return nil, err
	}
	p := &place{name: overHistory, examples: pastExamples, slow: true}
	window := pastwindow.New(store, pastwindow.Options{Now: a.now, Selected: func() pastwindow.Selected { return selectedIn(p.session.Load()) }})
	if p.journal, err = checkpoint.Open(h.pastJournal(), checkpoint.Options{Log: a.logger(), ReadOnly: !write}); err != nil {
		return nil, err
	}
	a.onClose(p.journal.Close)
	for _, notice := range p.journal.Notices() {
		a.say("%s", notice)
	}
	p.window = window
	p.register = func(pages *assistant.Pages) error { return pastwindow.Register(pages, window) }
	return p, nil
}

// finish carries on a rollback that a crash interrupted, before anything else
// is written to the journal.
func (a *app) finish(ctx context.Context, journal *checkpoint.Journal, window assistant.Window) error {
	pending, err := journal.Pending()
	if err != nil || pending == nil {
		return err
	}
	store, err := a.openHistory(ctx)
	if err != nil {
		return err
	}
	s, err := assistant.NewSession(&assistant.Registry{}, assistant.Options{
		ID: journal.LastRun().Session, Window: window, Store: store, Journal: journal, Log: a.logger(),
	})
	if err != nil {
		return err
	}
	return s.Start(ctx)
}

// unsaved says whether the window holds what no file does.
func (p *place) unsaved() bool { return p.desk != nil && p.desk.window.Dirty() }

// selectedIn is what the user of a session has open, as a filter line takes it.
func selectedIn(s *assistant.Session) pastwindow.Selected {
	if s == nil {
		return pastwindow.Selected{}
	}
	return pastwindow.Selected{Line: s.Filter(), Session: s.ID(), Topic: s.Topic(), Model: s.Model(), Fits: s.Fits()}
}

// isPast says whether a session works in the chat history.
func isPast(s *assistant.Session) bool {
	_, past := s.Window().(*pastwindow.Window)
	return past
}

// shown is the part of the screen that shows the window.
func (p *program) shown() pane.Pane {
	if p.pane == nil {
		return historypane.New(p.session, p.store)
	}
	return p.pane
}

// belongs says whether a session is of the window that is open. One that was
// imported is of any.
func (a *app) belongs(s history.Session) (bool, error) {
	set, err := a.config()
	if err != nil {
		return false, err
	}
	return s.Window == "" || (s.Window == overHistory) == (set.Window == overHistory), nil
}

// lastSession is the session last used in this folder, of the window that is open.
func (a *app) lastSession(ctx context.Context, store history.Store) (history.Session, error) {
	none := advise(fmt.Errorf("there is no session to continue in this folder"), "winnow history sessions lists all; take one up with --session ID")
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

// namedSession is the session whose id begins so, if it is of this window: its
// checkpoints are in the journal of its own.
func (a *app) namedSession(ctx context.Context, store history.Store, id string) (history.Session, error) {
	s, err := findSession(ctx, store, id)
	if err != nil {
		return s, err
	}
	ok, err := a.belongs(s)
	if err != nil || ok {
		return s, err
	}
	return history.Session{}, advise(fmt.Errorf("the session %s is of another window", s.ID), "take it up with --window %s", windowName(s.Window))
}

// windowName is the window of a session as --window names it: the history keeps
// the path of the .env file for the model filter. "" is of any.
func windowName(kept string) string {
	switch kept {
	case "", overHistory:
		return kept
	}
	return "model-filter"
}
