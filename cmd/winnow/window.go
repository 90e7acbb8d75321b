package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"winnow/adapters/endpoints"
	historywindow "winnow/adapters/history"
	"winnow/adapters/modelfilter"
	"winnow/adapters/modelfilter/models"
	"winnow/adapters/modelfilter/usage"
	"winnow/assistant"
	"winnow/assistant/history"
	"winnow/assistant/llm"
	"winnow/assistant/serve"
	"winnow/assistant/windowlock"
	"winnow/checkpoint"
)

// historyWindow is the value of the setting window that selects the chat history.
const historyWindow = "history"

// journaledWindow is a window with its journal: the model filter of a .env file, or the chat history.
type journaledWindow struct {
	window    assistant.Window
	filter    *modelfilter.Window // the same as window; nil for the chat history
	lists     *models.Lists       // nil for the chat history
	journal   *checkpoint.Journal
	name      string // sessions of the window are stored under this name
	recovered bool   // unsaved rules of an earlier run were restored, and no other program had the window open
	// attributed is the number of the newest journal record that attribute has read. Only opening the window and adopt
	// use it.
	attributed int64
	agent      string // the client of winnow mcp that uses the window, or ""
	// session is the session that uses the window; nil before it exists. Any goroutine may read it.
	session atomic.Pointer[assistant.Session]
	hub     atomic.Pointer[serve.Hub] // nil if the window is not served
}

// access is what a window is opened for: reading or writing.
type access int

const (
	toRead access = iota
	toWrite
)

// openWindow opens the window selected in the settings.
func (a *app) openWindow(ctx context.Context, to access) (*journaledWindow, error) {
	s, err := a.config()
	if err != nil {
		return nil, err
	}
	if s.Window == historyWindow {
		return a.openHistoryWindow(ctx, to)
	}
	return a.openFilter(ctx, to)
}

// askProxy fetches the models that the folder's running proxy serves, as the screen does when it starts.
func (w *journaledWindow) askProxy(ctx context.Context, set *endpoints.Set) {
	if w.filter != nil {
		set.AskProxy(ctx, func(a models.Answer) { w.filter.AcceptModels(ctx, a) })
	}
}

// openFilter opens the model filter, regardless of the window selected in the settings, and restores the unsaved
// rules of an earlier run.
func (a *app) openFilter(ctx context.Context, to access) (*journaledWindow, error) {
	h, err := a.folders()
	if err != nil {
		return nil, err
	}
	if err := a.checkEnvFile(); err != nil {
		return nil, err
	}
	w := &journaledWindow{}
	o, err := a.endpointOptions()
	if err != nil {
		return nil, err
	}
	lists, counted, err := endpoints.Lists(o, h.Models())
	if err != nil {
		return nil, err
	}
	w.lists = lists
	w.filter, err = modelfilter.Open(ctx, modelfilter.Options{
		EnvFile: a.envFile(), Environ: func() []string { return a.environ }, OwnKeys: o.Settings.KeyVariables(), Models: w.lists, Describe: w.lists.Info, Usage: usage.Open(a.proxyData(), counted),
		VersionsDir: h.Versions(), Session: w.sessionID, Author: w.changeAuthor, AfterSave: a.afterSave(w), Targets: a.compareTargets(), Log: a.logger(),
	})
	if err != nil {
		return nil, err
	}
	w.window, w.name = w.filter, w.filter.EnvFile()
	if err := a.openJournal(w, h.Journal(w.name), to); err != nil {
		return nil, err
	}
	return w, w.restoreStaged()
}

// openHistoryWindow opens the chat history as a window. All folders share this window, which has its own journal.
func (a *app) openHistoryWindow(ctx context.Context, to access) (*journaledWindow, error) {
	store, err := a.openHistory(ctx)
	if err != nil {
		return nil, err
	}
	h, err := a.folders()
	if err != nil {
		return nil, err
	}
	w := &journaledWindow{name: historyWindow}
	w.window = historywindow.New(store, historywindow.Options{Now: time.Now, Selected: w.selected})
	return w, a.openJournal(w, h.HistoryJournal(), to)
}

func (a *app) openJournal(w *journaledWindow, path string, to access) (err error) {
	if w.journal, err = checkpoint.Open(path, checkpoint.Options{
		Log: a.logger(), ReadOnly: to == toRead, Program: a.program,
		Author: w.author, Adopt: w.adopt,
	}); err != nil {
		return err
	}
	a.onClose(w.journal.Close)
	for _, notice := range w.journal.Report().Notices() {
		a.printErr("%s", notice)
	}
	return nil
}

// readOnly returns why the window cannot be changed now, or "" if it can.
func (w *journaledWindow) readOnly() string {
	if locked := w.journal.Unwritable(); locked != nil {
		return "read-only: " + visible(locked.Error())
	}
	return ""
}

// adopt updates the window with what other processes have written to its journal.
func (w *journaledWindow) adopt(j *checkpoint.Journal) error {
	if w.filter == nil {
		return nil // the chat history is always read from its database
	}
	if err := adoptRules(context.Background(), w.filter, j); err != nil {
		return err
	}
	w.attribute(j)
	return nil
}

// attribute assigns authors to the unsaved rules, from the journal records that are new since the last call.
func (w *journaledWindow) attribute(j *checkpoint.Journal) {
	j.Replay(func(r checkpoint.Record) {
		if r.Seq > w.attributed && r.After.Text() != r.Before.Text() {
			w.filter.Attribute(r.Before.Raw(), r.After.Raw(), authorOf(r.User, r.For != ""))
		}
	})
	w.attributed = j.Seq()
}

// restoreStaged stages the unsaved rules of an earlier run.
func (w *journaledWindow) restoreStaged() error {
	current := w.journal.Current()
	if current == nil || w.journal.Clean() { // nil if no rule has ever been changed
		return nil
	}
	saved, known := w.journal.SavedState()
	if !known { // fall back to the current file
		var err error
		if saved, err = w.window.State(); err != nil {
			return err
		}
	}
	if err := w.filter.Recover(current, saved); err != nil {
		return advise(fmt.Errorf("the unsaved rules of an earlier run cannot be restored: %w", err),
			"they stay in %s; to start without them and without checkpoints, move this file to another folder", w.journal.Path())
	}
	w.recovered = w.filter.Dirty() && w.journal.Alone()
	w.attribute(w.journal)
	return nil
}

// editSession returns a session that changes a window without a model. store may be nil; the store is then opened
// only to finish a rollback that a crash interrupted, because that may delete pairs.
func (a *app) editSession(ctx context.Context, w *journaledWindow, store history.Store, id string) (*assistant.Session, error) {
	pending, err := w.journal.Pending()
	if err != nil {
		return nil, err
	}
	if store == nil && pending != nil {
		if store, err = a.openHistory(ctx); err != nil {
			return nil, err
		}
	}
	s, err := assistant.NewSession(&llm.Registry{}, assistant.Options{ID: id, Window: w.window, Journal: w.journal, Store: store, Log: a.logger()})
	if err != nil {
		return nil, err
	}
	w.session.Store(s)
	if pending != nil {
		return s, s.Start(ctx)
	}
	return s, nil
}

// absent returns text, or a hint that the .env file does not exist yet.
func (w *journaledWindow) absent(text string) string {
	if !w.filter.FileExists() {
		return "there is no " + w.name + " yet: the first save creates it; to use another file, add --env-file"
	}
	return text
}

// maxNotices limits the notices that are printed, because a file that is not a .env file causes a notice for every
// line.
const maxNotices = 20

// printNotices prints what the user should know about the file.
func (a *app) printNotices(w *journaledWindow) {
	notices := w.filter.Notices()
	for _, n := range notices[:min(len(notices), maxNotices)] {
		a.printErr("%s", n)
	}
	if more := len(notices) - maxNotices; more > 0 {
		a.printErr("%s: winnow doctor lists them all", assistant.Counted(more, "more notice"))
	}
}

// author returns who is changing the window now, and in which session; "" means unknown.
func (w *journaledWindow) author() (user, session string) {
	if hub := w.hub.Load(); hub != nil {
		return hub.Author()
	}
	if s := w.session.Load(); s != nil {
		session = s.ID()
	}
	return cmp.Or(w.agent, userName()), session
}

// changeAuthor returns the author of a change to the rules that is made now. locked means that a turn has locked the
// window, so that the change is the turn's.
func (w *journaledWindow) changeAuthor(locked bool) assistant.Author {
	user, _ := w.author()
	return authorOf(user, locked)
}

// authorOf returns the author of a change made in a turn or by hand. A client of winnow mcp acts for itself, without
// the assistant.
func authorOf(user string, turn bool) assistant.Author {
	return assistant.Author{User: user, Assistant: turn && !strings.HasSuffix(user, windowlock.AgentSuffix)}
}

// sessionID returns the id of the session that is using the window, or "".
func (w *journaledWindow) sessionID() string {
	_, session := w.author()
	return session
}

// selected returns what the user has selected, for the terms of a filter line that depend on the selection.
func (w *journaledWindow) selected() historywindow.Selected {
	s := w.session.Load()
	if s == nil {
		return historywindow.Selected{}
	}
	return historywindow.Selected{Line: s.Filter(), Session: s.ID(), Topic: s.Topic(), Model: s.Model(), Fits: s.Fits()}
}

// unsaved reports whether the window has unsaved changes.
func (w *journaledWindow) unsaved() bool { return w.filter != nil && w.filter.Dirty() }
