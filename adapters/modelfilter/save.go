package modelfilter

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"winnow/adapters/dotenv"
	"winnow/assistant"
)

// Save implements [assistant.Saver] for the user: it writes all staged rules in
// one atomic, durable step. The error is ErrLocked, an *assistant.Conflict, or
// one of dotenv.Source.Save.
func (w *Window) Save(ctx context.Context) (assistant.Saved, error) {
	if w.Locked() {
		return assistant.Saved{}, ErrLocked
	}
	return w.save(ctx, dotenv.User)
}

// saveAttempts is how often a save is tried while another program changes the
// file at the same time.
const saveAttempts = 3

func (w *Window) save(ctx context.Context, who dotenv.Who) (assistant.Saved, error) {
	w.saving.Lock()
	defer w.saving.Unlock()
	for attempt := 1; ; attempt++ {
		w.mu.Lock()
		source, rules := w.source, w.diff()
		edits, err := w.edits()
		w.mu.Unlock()
		if err != nil {
			return assistant.Saved{}, err
		}
		if len(edits) == 0 {
			return assistant.Saved{Path: source.Path, Rules: rules, Keys: []assistant.KeyChange{}, Message: "There is nothing to save."}, nil
		}
		result, err := w.versions.Save(ctx, source, edits, dotenv.Author{Who: who, Session: w.opts.Session()})
		var changed *dotenv.ChangedError
		if errors.As(err, &changed) {
			if err := w.mergeAfter(ctx, changed); err != nil {
				return assistant.Saved{}, err
			}
			if attempt == saveAttempts {
				return assistant.Saved{}, conflictOf(changed)
			}
			continue
		}
		if err != nil {
			return assistant.Saved{}, err
		}
		saved := w.adoptSaved(result, retainStaged, who)
		saved.Rules = rules
		saved.Message = fmt.Sprintf("Saved %s to %s. %s", ruleCount(rules), w.fileName(), restartHint(len(rules)))
		return saved, nil
	}
}

// restartHint goes with every save of n rules.
func restartHint(n int) string {
	return "Restart the proxy to apply " + map[bool]string{true: "it", false: "them"}[n == 1] + "."
}

// adoptSaved makes a file that was just written the state of the window.
func (w *Window) adoptSaved(result dotenv.Saved, policy stagedPolicy, who dotenv.Who) assistant.Saved {
	r := w.newSnapshot(result.Source)
	w.mu.Lock()
	defer w.mu.Unlock()
	out := assistant.Saved{Path: result.Source.Path, Written: result.Written, Keys: keyChanges(w.source.File, result.Source.File)}
	if result.Warning != "" {
		out.Warning = sentence(result.Warning)
		w.opts.Log.Warn("rules saved", "file", out.Path, "warning", out.Warning)
	}
	w.adopt(r, policy)
	if who == dotenv.User {
		w.record("changes_saved", nil)
	}
	w.opts.Log.Info("rules saved", "file", out.Path, "variables", len(out.Keys), "by", string(who))
	return out
}

// ruleCount says how many rules of which providers changed.
func ruleCount(changes []assistant.RuleChange) string {
	var names []string
	for _, c := range changes {
		if !slices.Contains(names, c.Provider) {
			names = append(names, c.Provider)
		}
	}
	return assistant.Counted(len(changes), "rule") + " of " + strings.Join(visibleAll(names), ", ")
}

// Discard implements [assistant.Saver]: it puts all staged rules back to those
// of the file. The error is ErrLocked.
func (w *Window) Discard() (lost []assistant.RuleChange, err error) {
	err = w.asUser(func() error {
		if lost = w.discard(); len(lost) > 0 {
			w.record("changes_discarded", nil)
		}
		w.readAgain() // what was discarded may have been in conflict with it
		return nil
	})
	return lost, err
}

func (w *Window) discard() []assistant.RuleChange {
	lost := w.diff()
	for _, p := range w.dirtyProviders() {
		for _, list := range lists {
			w.stage(p, list, p.lists[list].saved)
		}
	}
	return lost
}

// RefreshSaved implements [assistant.Refresher].
func (w *Window) RefreshSaved(ctx context.Context, dropUnsaved bool) (assistant.Refreshed, error) {
	if w.Locked() {
		return assistant.Refreshed{}, ErrLocked
	}
	policy := mergeStaged
	if dropUnsaved {
		policy = dropStaged
	}
	w.saving.Lock()
	defer w.saving.Unlock()
	change, err := w.reload(ctx, policy)
	return change.Refreshed, err
}

// mergeIfChanged reads the file if another program has changed it and merges the
// staged rules into it, or reports the conflict.
func (w *Window) mergeIfChanged(ctx context.Context) (assistant.SavedChange, error) {
	w.saving.Lock()
	defer w.saving.Unlock()
	return w.reload(ctx, mergeOrReport)
}

// reload reads the file again. The caller holds saving. A conflict leaves the
// window as it was.
func (w *Window) reload(ctx context.Context, policy stagedPolicy) (assistant.SavedChange, error) {
	r, err := w.read(ctx)
	if err != nil {
		return assistant.SavedChange{}, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if policy != mergeOrReport {
		return assistant.SavedChange{Refreshed: w.adoptAndReport(r, policy)}, nil
	}
	if r.source.Hash == w.source.Hash && r.source.Exists == w.source.Exists {
		return assistant.SavedChange{}, nil
	}
	both := w.changedOnBothSides(r)
	missing := w.source.Exists && !r.source.Exists
	if len(both) == 0 && !(missing && w.dirty()) {
		return assistant.SavedChange{Refreshed: w.adoptAndReport(r, policy)}, nil
	}
	ours, err := w.stagedFile()
	if err != nil {
		return assistant.SavedChange{}, err
	}
	c := newConflict(w.source.Path, w.source.File, r.source.File, ours)
	c.Missing, c.Rules = missing, both
	return assistant.SavedChange{Refreshed: assistant.Refreshed{Path: c.Path}, Conflict: c}, nil
}

// changedOnBothSides lists what is staged for lists that were changed in the
// file too, to something else.
func (w *Window) changedOnBothSides(r *envSnapshot) []assistant.RuleChange {
	var out []assistant.RuleChange
	for _, p := range w.dirtyProviders() {
		var theirs, saved, staged ruleSet
		if found := r.providers[p.name]; found != nil {
			theirs = found.saved()
		}
		for list, l := range p.lists {
			if l.dirty() && !slices.Equal(theirs[list], l.saved) && !slices.Equal(theirs[list], l.rules) {
				saved[list], staged[list] = l.saved, l.rules
			}
		}
		out = append(out, ruleChanges(p.name, saved, staged)...)
	}
	return out
}

// adoptAndReport adopts r and returns what that changed.
func (w *Window) adoptAndReport(r *envSnapshot, policy stagedPolicy) assistant.Refreshed {
	before := w.source
	out := assistant.Refreshed{
		Path: before.Path, Keys: keyChanges(before.File, r.source.File),
		Changed: before.Hash != r.source.Hash || before.Exists != r.source.Exists,
	}
	if policy == dropStaged {
		out.Dropped = w.diff()
	}
	saved, staged := map[string]ruleSet{}, map[string]ruleSet{}
	for name, p := range w.providers {
		saved[name], staged[name] = p.saved(), p.staged()
	}
	w.adopt(r, policy)
	for _, name := range slices.Sorted(maps.Keys(w.providers)) {
		p := w.providers[name]
		out.Rules = append(out.Rules, ruleChanges(name, saved[name], p.saved())...)
		w.recordRules(ruleChanges(name, staged[name], p.staged())...)
	}
	return out
}

// mergeAfter merges the staged rules into a file that changed during a save. The
// error is the conflict that prevents this.
func (w *Window) mergeAfter(ctx context.Context, changed *dotenv.ChangedError) error {
	switch {
	case changed.Kept != "": // our rules are in the file: nothing is staged any more
		if _, err := w.reload(ctx, mergeStaged); err != nil {
			w.opts.Log.Warn("saved file not read", "file", changed.Path, "error", err)
		}
		return conflictOf(changed)
	case changed.Busy || changed.Err != nil:
		return conflictOf(changed)
	}
	change, err := w.reload(ctx, mergeOrReport)
	if err == nil && change.Conflict != nil {
		return change.Conflict
	}
	return err
}

func conflictOf(changed *dotenv.ChangedError) *assistant.Conflict {
	c := newConflict(changed.Path, dotenv.Parse(changed.Base), dotenv.Parse(changed.Theirs), dotenv.Parse(changed.Ours))
	c.Missing, c.Busy, c.Kept = changed.Missing, changed.Busy, changed.Kept
	return c
}

func newConflict(path string, base, theirs, ours *dotenv.File) *assistant.Conflict {
	return &assistant.Conflict{
		Path: path, Theirs: dotenv.Diff(base, theirs), Ours: dotenv.Diff(base, ours), Keys: keyChanges(base, theirs),
	}
}

// Watch implements [assistant.Watcher]. While the assistant works the window
// does not change; the file is read when it is done.
func (w *Window) Watch(ctx context.Context) (<-chan assistant.SavedChange, error) {
	signals, err := dotenv.Watch(ctx, w.EnvFile())
	if err != nil {
		return nil, err
	}
	changes := make(chan assistant.SavedChange)
	go func() {
		defer close(changes)
		for {
			select {
			case <-ctx.Done():
				return
			case _, ok := <-signals:
				if !ok {
					return
				}
			case <-w.reread:
			}
			if w.Locked() {
				continue
			}
			change, err := w.mergeIfChanged(ctx)
			if err != nil {
				w.opts.Log.Warn("changed file not read", "file", w.EnvFile(), "error", err)
				continue
			}
			if !change.Changed && change.Conflict == nil {
				continue // our own save, or bytes that are the same
			}
			select {
			case changes <- change:
			case <-ctx.Done():
				return
			}
		}
	}()
	return changes, nil
}
