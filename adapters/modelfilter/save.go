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
			return assistant.Saved{Path: source.Path, Message: "There is nothing to save."}, nil
		}
		result, err := w.write(ctx, source, edits, who)
		var changed *dotenv.ChangedError
		if errors.As(err, &changed) {
			err := w.mergeAfter(ctx, changed)
			if err == nil && attempt < saveAttempts {
				continue
			}
			if err == nil {
				err = conflictOf(changed)
			}
			return assistant.Saved{}, err
		}
		if !result.Written && err != nil {
			return assistant.Saved{}, err
		}
		saved := w.adoptSaved(result, err, retainStaged, who)
		saved.Rules = rules
		saved.Message = fmt.Sprintf("Saved %s to %s. %s", ruleCount(rules), w.fileName(), restartHint)
		return saved, nil
	}
}

// restartHint goes with every save.
const restartHint = "Restart the proxy to apply them."

func (w *Window) write(ctx context.Context, source *dotenv.Source, edits []dotenv.Edit, who dotenv.Who) (dotenv.Saved, error) {
	if w.versions == nil {
		return source.Save(ctx, edits)
	}
	return w.versions.Save(ctx, source, edits, dotenv.Author{Who: who, Session: w.opts.Session()})
}

// adoptSaved takes over a file that was just written. warning is what could not
// be done afterwards; nil when all was.
func (w *Window) adoptSaved(result dotenv.Saved, warning error, what staging, who dotenv.Who) assistant.Saved {
	r := w.readAround(result.Source)
	w.mu.Lock()
	defer w.mu.Unlock()
	out := assistant.Saved{Path: result.Source.Path, Written: result.Written, Keys: keyChanges(w.source.File, result.Source.File)}
	if warning != nil {
		out.Warning = sentence(warning.Error())
	}
	w.adopt(r, what)
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
		return nil
	})
	return lost, err
}

func (w *Window) discard() []assistant.RuleChange {
	lost, dirty := w.diff(), w.dirtyProviders()
	for _, p := range dirty {
		for _, list := range lists {
			p.lists[list].rules = slices.Clone(p.lists[list].saved)
		}
		p.sync()
		w.revision++
	}
	return lost
}

// RefreshSaved implements [assistant.Refresher].
func (w *Window) RefreshSaved(ctx context.Context, dropUnsaved bool) (assistant.Refreshed, error) {
	if w.Locked() {
		return assistant.Refreshed{}, ErrLocked
	}
	w.saving.Lock()
	defer w.saving.Unlock()
	what := mergeStaged
	if dropUnsaved {
		what = dropStaged
	}
	r, err := w.read(ctx)
	if err != nil {
		return assistant.Refreshed{}, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.refreshed(r, what), nil
}

// catchUp takes over the file if another program has changed it and merges the
// staged rules into it. Lists that both sides changed are a conflict, and then
// nothing has happened.
func (w *Window) catchUp(ctx context.Context) (assistant.SavedChange, error) {
	w.saving.Lock()
	defer w.saving.Unlock()
	return w.catchUpLocked(ctx)
}

func (w *Window) catchUpLocked(ctx context.Context) (assistant.SavedChange, error) {
	r, err := w.read(ctx)
	if err != nil {
		return assistant.SavedChange{}, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if r.source.Hash == w.source.Hash && r.source.Exists == w.source.Exists {
		return assistant.SavedChange{}, nil
	}
	both := w.changedOnBothSides(r)
	missing := w.source.Exists && !r.source.Exists
	if len(both) == 0 && !(missing && w.dirty()) {
		return assistant.SavedChange{Refreshed: w.refreshed(r, mergeStaged)}, nil
	}
	ours, err := w.staged()
	if err != nil {
		return assistant.SavedChange{}, err
	}
	return assistant.SavedChange{
		Refreshed: assistant.Refreshed{Path: w.source.Path},
		Conflict: &assistant.Conflict{
			Path: w.source.Path, Missing: missing, Rules: both, Keys: keyChanges(w.source.File, r.source.File),
			Theirs: fileLines(w.source.File, r.source.File), Ours: fileLines(w.source.File, ours),
		},
	}, nil
}

// changedOnBothSides lists what is staged for lists that were changed in the
// file too, to something else.
func (w *Window) changedOnBothSides(r *reading) []assistant.RuleChange {
	var out []assistant.RuleChange
	for _, p := range w.dirtyProviders() {
		for _, list := range lists {
			l, theirs := &p.lists[list], []string(nil)
			if said := r.at[p.name]; said != nil {
				theirs = said.lists[list].rules
			}
			if l.dirty() && !slices.Equal(theirs, l.saved) && !slices.Equal(theirs, l.rules) {
				out = append(out, ruleChanges(p.name, list, l.saved, l.rules)...)
			}
		}
	}
	return out
}

// refreshed takes over what was read and reports what that changed.
func (w *Window) refreshed(r *reading, what staging) assistant.Refreshed {
	before := w.source
	out := assistant.Refreshed{
		Path: before.Path, Keys: keyChanges(before.File, r.source.File),
		Changed: before.Hash != r.source.Hash || before.Exists != r.source.Exists,
	}
	if what == dropStaged {
		out.Dropped = w.diff()
	}
	type rules struct{ saved, staged [2][]string }
	old := map[string]rules{}
	for name, p := range w.providers {
		old[name] = rules{[2][]string{p.lists[Ignore].saved, p.lists[Allow].saved}, p.stagedRules()}
	}
	w.adopt(r, what)
	for _, name := range slices.Sorted(maps.Keys(w.providers)) {
		p := w.providers[name]
		for _, list := range lists {
			out.Rules = append(out.Rules, ruleChanges(name, list, old[name].saved[list], p.lists[list].saved)...)
		}
		w.recordDifference(p, old[name].staged, p.stagedRules())
	}
	return out
}

// mergeAfter merges the staged rules into a file that changed under a save. The
// error is the conflict that stands in the way.
func (w *Window) mergeAfter(ctx context.Context, changed *dotenv.ChangedError) error {
	if changed.Kept != "" { // our rules are in the file: nothing is staged any more
		if r, err := w.read(ctx); err == nil {
			w.mu.Lock()
			w.refreshed(r, mergeStaged)
			w.mu.Unlock()
		}
		return conflictOf(changed)
	}
	if changed.Busy || changed.Err != nil {
		return conflictOf(changed)
	}
	change, err := w.catchUpLocked(ctx)
	if err == nil && change.Conflict != nil {
		return change.Conflict
	}
	return err
}

func conflictOf(changed *dotenv.ChangedError) *assistant.Conflict {
	base, theirs, ours := dotenv.Parse(changed.Base), dotenv.Parse(changed.Theirs), dotenv.Parse(changed.Ours)
	return &assistant.Conflict{
		Path: changed.Path, Missing: changed.Missing, Busy: changed.Busy, Kept: changed.Kept,
		Theirs: fileLines(base, theirs), Ours: fileLines(base, ours), Keys: keyChanges(base, theirs),
	}
}

// Watch implements [assistant.Watcher]. While the assistant works the window
// does not change; what happened meanwhile is taken over afterwards.
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
			case <-w.unlocked:
			}
			if w.Locked() {
				continue
			}
			change, err := w.catchUp(ctx)
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
