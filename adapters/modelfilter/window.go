package modelfilter

import (
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"winnow/adapters/dotenv"
	"winnow/adapters/modelfilter/engine"
	"winnow/adapters/modelfilter/models"
	"winnow/adapters/modelfilter/usage"
	"winnow/assistant"
	"winnow/assistant/llm"
)

// List names one of the two rule lists of a provider.
type List = engine.List

// The lists of a provider.
const (
	Ignore = engine.Ignore // hides
	Allow  = engine.Allow  // shows, whatever Ignore says; the proxy's "whitelist"
)

// lists are both lists, in the order in which they are shown and saved.
var lists = [...]List{Ignore, Allow}

// ErrLocked is returned to a user who tries to change the window while the
// assistant works in it.
var ErrLocked = fmt.Errorf("the model filter is locked: %w", assistant.ErrBusy)

// Options configures Open. The zero value opens ./.env.
type Options struct {
	EnvFile string          // "" means .env; it need not exist
	Environ func() []string // the real environment; nil means os.Environ
	OwnKeys []string        // variables of Environ with keys of winnow itself: they name no provider
	Models  modelLister     // nil knows no models
	// Describe returns the facts of a model; nil asks the catalogue.
	Describe    func(id string) (llm.ModelInfo, bool)
	Usage       *usage.Dir    // nil: how often models are used is unknown
	VersionsDir string        // where versions are stored; "" stores none
	Session     func() string // id of the session that saves; nil means none
	// Author is who changes the window now; locked: a turn works in it. It must not call
	// the window. nil: authors are not recorded.
	Author func(locked bool) assistant.Author
	// AfterSave is called after each write of the file, and returns a sentence for the user
	// about what happens now; nil: the user has to restart the proxy.
	AfterSave func() string
	Now       func() time.Time // nil means time.Now
	Log       *slog.Logger     // nil means no log
}

// Window is the model filter. Its own Scope follows the current provider. Use Open.
type Window struct {
	Scope

	opts     Options
	describe func(id string) (llm.ModelInfo, bool)
	versions *dotenv.Versions

	saving sync.Mutex // locked while the file is written, before mu

	mu        sync.Mutex
	source    *dotenv.Source
	providers map[string]*provider
	order     []string // names of the providers that can be chosen
	current   string
	search    string
	tab       string
	highlight Highlight
	notices   []string
	locked    bool
	undoing   bool // the assistant takes its own changes back: they are not changes by the user
	atLock    lockState
	reread    chan struct{} // signals Watch to read the file again
	budget    int           // of the context, in tokens; 0 means defaultContextTokens
	revision  int64         // grows with every change of what is shown
	wake      chan struct{} // closed with the next revision; nil if no reader waits
	snapshot  *Snapshot     // the last one that was made; nil: none
	changes   assistant.Entries
}

var (
	_ assistant.Window     = (*Window)(nil)
	_ assistant.Log        = (*Window)(nil)
	_ assistant.Saver      = (*Window)(nil)
	_ assistant.Refresher  = (*Window)(nil)
	_ assistant.Watcher    = (*Window)(nil)
	_ assistant.Positioned = (*Window)(nil)
	_ assistant.Budgeter   = (*Window)(nil)
	_ assistant.Pager      = (*Window)(nil)
	_ assistant.Actor      = (*Window)(nil)
	_ assistant.Describer  = (*Window)(nil)
)

// Open reads the file and the environment. A file that does not exist is an
// empty one, which the first save creates. The error says which file cannot be
// read and why; Notices has the lines that cannot be read.
func Open(ctx context.Context, o Options) (*Window, error) {
	if o.EnvFile == "" {
		o.EnvFile = ".env"
	}
	if o.Environ == nil {
		o.Environ = os.Environ
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Session == nil {
		o.Session = func() string { return "" }
	}
	w := &Window{opts: o, providers: map[string]*provider{}, tab: TabRules, revision: 1, reread: make(chan struct{}, 1), versions: dotenv.OpenVersions(o.VersionsDir, o.Now)}
	w.Scope = Scope{w: w}
	if w.describe = o.Describe; w.describe == nil {
		w.describe = models.Info
	}
	r, err := w.read(ctx)
	if err != nil {
		return nil, err
	}
	w.adopt(r, dropStaged)
	w.current = w.firstProvider()
	return w, nil
}

// EnvFile is the file that a save writes, as an absolute path.
func (w *Window) EnvFile() string { return w.loaded().Path }

// FileMode is the mode of the file when it was read or saved last.
func (w *Window) FileMode() fs.FileMode { return w.loaded().Mode }

// FileExists reports whether the file was there when it was read or saved last.
func (w *Window) FileExists() bool { return w.loaded().Exists }

// fileName is what messages call the file.
func (w *Window) fileName() string { return filepath.Base(w.source.Path) }

// Notices says what the user should know about the file, one sentence each:
// lines that cannot be read, modes that are too wide, rules that the
// environment or another file decides.
func (w *Window) Notices() []string {
	return withLock(w, func() []string { return append([]string{}, w.notices...) })
}

// Revision changes whenever the result of any method without a context may have
// changed.
func (w *Window) Revision() int64 { return withLock(w, func() int64 { return w.revision }) }

// Lock keeps the user from changing the window while the assistant works.
func (w *Window) Lock() { w.setLocked(true) }

// Unlock ends what Lock began.
func (w *Window) Unlock() { w.setLocked(false) }

func (w *Window) setLocked(locked bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case locked && !w.locked:
		w.atLock = lockState{w.current, map[string]ruleSet{}}
		for name, p := range w.providers {
			w.atLock.rules[name] = ruleSet{slices.Clone(p.lists[Ignore].rules), slices.Clone(p.lists[Allow].rules)}
		}
	case !locked && w.locked:
		w.showTurn()
	}
	w.locked = locked
	w.changed()
	if !locked {
		w.readAgain()
	}
}

// lockState is the window when it was locked.
type lockState struct {
	provider string
	rules    map[string]ruleSet // staged, by provider
}

// showTurn makes the first provider whose rules the turn has changed the current one, so
// that its effect is on the screen. The provider stays if its rules changed as well, or if
// the turn switched to it.
func (w *Window) showTurn() {
	changed := func(name string) bool {
		before, p := w.atLock.rules[name], w.providerNamed(name)
		return !slices.Equal(before[Ignore], p.lists[Ignore].rules) || !slices.Equal(before[Allow], p.lists[Allow].rules)
	}
	if w.current != w.atLock.provider || changed(w.current) {
		return
	}
	if i := slices.IndexFunc(w.order, changed); i >= 0 {
		w.setCurrent(w.providerNamed(w.order[i]))
	}
}

// readAgain makes Watch read the file, which it did not take over before.
func (w *Window) readAgain() {
	select {
	case w.reread <- struct{}{}:
	default: // a signal is waiting already
	}
}

// Locked reports whether the assistant works in the window.
func (w *Window) Locked() bool { return withLock(w, func() bool { return w.locked }) }

// Dirty reports whether any staged rule differs from the file.
func (w *Window) Dirty() bool { return withLock(w, w.dirty) }

func (w *Window) dirty() bool {
	for _, p := range w.providers {
		if p.dirty() {
			return true
		}
	}
	return false
}

// withLock calls read while it holds mu.
func withLock[T any](w *Window, read func() T) T {
	w.mu.Lock()
	defer w.mu.Unlock()
	return read()
}

// asUser makes a change that a user may make only while the assistant does not work.
func (w *Window) asUser(change func() error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.locked {
		return ErrLocked
	}
	return change()
}

// Changes returns what the user did after mark, oldest first, and the mark to
// ask with next time. What the tools did is not in it.
func (w *Window) Changes(mark int64) ([]assistant.Entry, int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.changes.Since(mark)
}

// record adds a change by the user to the log. Successive searches are one change.
func (w *Window) record(kind string, fields map[string]any) {
	if w.undoing {
		return
	}
	change := assistant.NewEntry(kind, w.opts.Now(), fields)
	if kind == searchChanged {
		w.changes.Continue(change)
		return
	}
	w.changes.Add(change)
}

const searchChanged = "search_changed"

// recordRules adds rules that the user added or removed to the log.
func (w *Window) recordRules(changes ...RuleChange) {
	for _, c := range changes {
		kind := "rule_removed"
		if c.Added {
			kind = "rule_added"
		}
		w.record(kind, map[string]any{"provider": c.Provider, "rule_type": ruleType[c.List], "pattern": visible(c.Pattern)})
	}
}
