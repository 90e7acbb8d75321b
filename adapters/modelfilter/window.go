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

// List is one of the two rule lists of a provider.
type List = engine.List

// The lists of a provider.
const (
	Ignore = engine.Ignore // rules that hide models
	Allow  = engine.Allow  // rules that show models regardless of Ignore; the proxy's "whitelist"
)

// lists contains both lists, in the order in which they are shown and saved.
var lists = [...]List{Ignore, Allow}

// ErrLocked is returned for changes by the user while the assistant works in the window.
var ErrLocked = fmt.Errorf("the model filter is locked: %w", assistant.ErrBusy)

// Options configures Open. The zero value opens ./.env.
type Options struct {
	EnvFile string          // "" means .env; the file need not exist
	Environ func() []string // the real environment; nil means os.Environ
	OwnKeys []string        // variables with winnow's own keys, which are not keys of a provider
	Models  modelLister     // nil means that no models are known
	// Describe returns the facts about a model; nil uses the catalogue.
	Describe    func(id string) (llm.ModelInfo, bool)
	Usage       *usage.Dir    // nil means that usage is unknown
	VersionsDir string        // where versions are stored; "" stores none
	Session     func() string // returns the id of the session that saves; may be nil
	// Author returns the author of a change that is made now; locked means that a turn is
	// working in the window. Author must not call the window. If it is nil, authors are not
	// recorded.
	Author func(locked bool) assistant.Author
	// AfterSave applies the saved rules; nil means that the user has to restart the proxy.
	AfterSave Applier
	// Targets compares this window with other proxies; nil means that there are none.
	Targets func(ctx context.Context, own Exported) []TargetView
	Now     func() time.Time // nil means time.Now
	Log     *slog.Logger     // nil means no log
}

// Applier applies what was written to the file, in the background.
type Applier interface {
	assistant.Applier
	// Saved is called after each write of the file. It does not wait.
	Saved() assistant.Applied
}

// Window is the model filter. Its own Scope follows the current provider. Create it with
// Open.
type Window struct {
	Scope

	opts     Options
	describe func(id string) (llm.ModelInfo, bool)
	versions *dotenv.Versions

	saving sync.Mutex // held while the file is being written; acquired before mu

	mu        sync.Mutex
	source    *dotenv.Source
	providers map[string]*provider
	order     []string // names of the available providers, in the order in which they are shown
	current   string
	search    string
	tab       string
	highlight Highlight
	notices   []string
	locked    bool
	undoing   bool // the assistant is undoing its own changes, which are not recorded as changes by the user
	atLock    lockState
	targets   []TargetView  // how the other proxies differed when they were last asked
	compared  bool          // the other proxies have been asked
	reread    chan struct{} // makes Watch read the file again
	budget    int           // of the context, in tokens; 0 means defaultContextTokens
	revision  int64         // increases with every change to what is shown
	wake      chan struct{} // closed at the next revision; nil if no reader waits
	snapshot  *Snapshot     // the last one created; may be nil
	changes   assistant.Entries
}

var (
	_ assistant.Window     = (*Window)(nil)
	_ assistant.Log        = (*Window)(nil)
	_ assistant.Saver      = (*Window)(nil)
	_ assistant.Refresher  = (*Window)(nil)
	_ assistant.Watcher    = (*Window)(nil)
	_ assistant.Rebaser    = (*Window)(nil)
	_ assistant.Positioned = (*Window)(nil)
	_ assistant.Budgeter   = (*Window)(nil)
	_ assistant.Pager      = (*Window)(nil)
	_ assistant.Actor      = (*Window)(nil)
	_ assistant.Describer  = (*Window)(nil)
	_ assistant.Exporter   = (*Window)(nil)
)

// Open reads the file and the environment. A missing file is treated as empty, and the
// first save creates it. If the file cannot be read, the error names it and gives the reason.
// Notices lists unreadable lines.
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

// EnvFile returns the absolute path of the file that a save writes.
func (w *Window) EnvFile() string { return w.loaded().Path }

// FileMode returns the mode of the file when it was last read or saved.
func (w *Window) FileMode() fs.FileMode { return w.loaded().Mode }

// FileExists reports whether the file existed when it was last read or saved.
func (w *Window) FileExists() bool { return w.loaded().Exists }

// fileName returns the name of the file in messages.
func (w *Window) fileName() string { return filepath.Base(w.source.Path) }

// Notices lists what the user should know about the file and the environment, such as unreadable
// lines, and lists that cannot be edited or come from another file.
func (w *Window) Notices() []string {
	return withLock(w, func() []string { return append([]string{}, w.notices...) })
}

// Revision changes whenever the result of a method without a context may have changed.
func (w *Window) Revision() int64 { return withLock(w, func() int64 { return w.revision }) }

// Lock blocks changes by the user while the assistant works.
func (w *Window) Lock() { w.setLocked(true) }

// Unlock ends the lock.
func (w *Window) Unlock() { w.setLocked(false) }

func (w *Window) setLocked(locked bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case locked && !w.locked:
		w.atLock = lockState{provider: w.current, rules: map[string]ruleSet{}}
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

// lockState is the state of the window when it was locked.
type lockState struct {
	provider string
	rules    map[string]ruleSet // staged rules by provider
	stays    bool               // another user's turn: the pane stays where it is
}

// showTurn selects the first provider whose rules the turn has changed, so that the user
// sees the effect. The current provider stays if its rules changed as well, or if the turn
// switched to it.
func (w *Window) showTurn() {
	changed := func(name string) bool {
		before, p := w.atLock.rules[name], w.providerNamed(name)
		return !slices.Equal(before[Ignore], p.lists[Ignore].rules) || !slices.Equal(before[Allow], p.lists[Allow].rules)
	}
	if w.atLock.stays || w.current != w.atLock.provider || changed(w.current) {
		return
	}
	if i := slices.IndexFunc(w.order, changed); i >= 0 {
		w.setCurrent(w.providerNamed(w.order[i]))
	}
}

// readAgain makes Watch read a change to the file that it skipped before.
func (w *Window) readAgain() {
	select {
	case w.reread <- struct{}{}:
	default: // a signal is already pending
	}
}

// Locked reports whether the assistant is working in the window.
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

// withLock calls read while holding mu.
func withLock[T any](w *Window, read func() T) T {
	w.mu.Lock()
	defer w.mu.Unlock()
	return read()
}

// asUser makes a change for the user. While the assistant is working, it returns ErrLocked
// instead.
func (w *Window) asUser(change func() error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.locked {
		return ErrLocked
	}
	return change()
}

// Changes returns what the user did after mark, oldest first, and the mark for the next
// call. It does not include changes by tools.
func (w *Window) Changes(mark int64) ([]assistant.Entry, int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.changes.Since(mark)
}

// record adds a change by the user to the log, unless the assistant is undoing its own changes.
// Consecutive searches are merged.
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

// recordRules logs rules that the user added or removed.
func (w *Window) recordRules(changes ...RuleChange) {
	for _, c := range changes {
		kind := "rule_removed"
		if c.Added {
			kind = "rule_added"
		}
		w.record(kind, map[string]any{"provider": c.Provider, "rule_type": ruleType[c.List], "pattern": visible(c.Pattern)})
	}
}
