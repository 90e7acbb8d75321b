package history

import (
	"context"
	"errors"
	"sync"
	"time"

	"winnow/assistant"
	"winnow/assistant/filter"
	"winnow/assistant/history"
)

// Selected is what the user has open. The zero value is nothing.
type Selected struct {
	Line    string // the active filter line
	Session string // id of this session
	Topic   string // path
	Model   string // "provider/name"
	// Fits returns how many of the newest pairs of base fit in a request, the
	// boundary of o. nil means all.
	Fits func(base []assistant.Ref) int
}

// Options configures New. The zero value is ready to use.
type Options struct {
	Now      func() time.Time // nil means time.Now
	Selected func() Selected  // what the user has open; nil means nothing. Called from any goroutine
}

// Window is the history as the assistant works on it. Use New.
type Window struct {
	store    history.Store
	now      func() time.Time
	selected func() Selected

	work     sync.Mutex // held while the store is asked or changed; taken before mu
	seen     *marks     // as the model was last told; nil: it was told nothing
	line     string     // the filter line as the model was last told
	original originalMarks
	nonEmpty map[string]bool // topics that ApplyState left because of newer pairs

	mu     sync.Mutex
	locked bool
	budget int // of the context, in tokens; 0 means defaultContextTokens
	log    assistant.Changes
}

var (
	_ assistant.Window    = (*Window)(nil)
	_ assistant.ChangeLog = (*Window)(nil)
	_ assistant.Dirtier   = (*Window)(nil)
	_ assistant.Budgeter  = (*Window)(nil)
	_ assistant.Pager     = (*Window)(nil)
)

// New returns a window on a store, which stays the caller's to close.
func New(store history.Store, o Options) *Window {
	w := &Window{store: store, now: o.Now, selected: o.Selected, original: newOriginalMarks(), nonEmpty: map[string]bool{}}
	if w.now == nil {
		w.now = time.Now
	}
	if w.selected == nil {
		w.selected = func() Selected { return Selected{} }
	}
	return w
}

// Lock says that the assistant works; Unlock that it has ended. The window has
// no edits of the user's own to keep back: Session.Edit does that.
func (w *Window) Lock() { w.setLocked(true) }

// Unlock ends what Lock began.
func (w *Window) Unlock() { w.setLocked(false) }

func (w *Window) setLocked(locked bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.locked = locked
}

// Locked says whether the assistant works in the window.
func (w *Window) Locked() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.locked
}

// Dirty is never true: what changes is on disk at once.
func (w *Window) Dirty() bool { return false }

// env is what a line depends on now.
func (w *Window) env() history.Env {
	at := w.selected()
	return history.Env{
		Env:  filter.Env{Now: w.now(), SelectedTopic: at.Topic, SelectedModel: at.Model, Session: at.Session},
		Fits: at.Fits,
	}
}

// alter runs a change of the marks that a tool makes, and takes note of what it
// did. before are the marks just read.
func (w *Window) alter(ctx context.Context, before marks, change func() error) error {
	if err := change(); err != nil {
		return err
	}
	after, err := w.read(ctx)
	if err != nil {
		w.seen = nil // what the user did meanwhile can no longer be told apart
		return errors.Join(errors.New("the change was made, but what it did could not be read"), err)
	}
	w.original.note(before, after)
	if w.seen != nil {
		w.seen.follow(before, after)
	}
	return nil
}

// follow does to m what made after of before.
func (m *marks) follow(before, after marks) {
	for kind := range m.columns {
		c := m.columns[kind]
		for value, pairs := range before.columns[kind].changes(after.columns[kind]) {
			c.give(value, pairs.and(m.pairs))
		}
	}
	for _, path := range after.topicPaths() {
		if _, had := before.columns[topics].sets[path]; !had {
			m.columns[topics].sets[path] = m.columns[topics].sets[path].or(nil)
		}
	}
	for _, path := range before.topicPaths() {
		if _, has := after.columns[topics].sets[path]; !has {
			delete(m.columns[topics].sets, path)
		}
	}
	for name, line := range after.filters {
		if before.filters[name] != line {
			m.filters[name] = line
		}
	}
	for name := range before.filters {
		if _, has := after.filters[name]; !has {
			delete(m.filters, name)
		}
	}
}
