package modelfilter

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"winnow/adapters/dotenv"
	"winnow/adapters/modelfilter/models"
	"winnow/assistant"
	"winnow/assistant/safetext"
)

// Save implements [assistant.Saver] for the user. It may also return ErrLocked and the
// errors of dotenv.Versions.Save.
func (w *Window) Save(ctx context.Context, basis assistant.Basis) (assistant.Saved, error) {
	if w.Locked() {
		return assistant.Saved{}, ErrLocked
	}
	saved, _, err := w.save(ctx, dotenv.User, basis)
	return saved, err
}

// saveAttempts is the number of attempts at a save if another program keeps changing the
// file.
const saveAttempts = 3

// save writes, in one atomic, durable step, the changes that basis identifies. It also
// returns the changes as rules.
func (w *Window) save(ctx context.Context, who dotenv.Maker, basis assistant.Basis) (assistant.Saved, []RuleChange, error) {
	w.saving.Lock()
	defer w.saving.Unlock()
	for attempt := 1; ; attempt++ {
		d, err := w.draftToSave(ctx, basis)
		if err != nil {
			return assistant.Saved{}, nil, err
		}
		rules := changesOf(d.providers)
		if len(d.edits) == 0 {
			return assistant.Saved{Path: d.source.Path, Changes: []assistant.Change{}, Message: "There is nothing to save."}, rules, nil
		}
		result, err := w.versions.Save(ctx, d.source, d.edits, w.savedBy(who, rules))
		var changed *dotenv.ChangedError
		switch {
		case errors.As(err, &changed) && changed.Kept != "": // the rules were written, and changed.Kept names the other version
			if _, err := w.reload(ctx, mergeStaged); err != nil {
				w.opts.Log.Warn("saved file not read", "file", changed.Path, "error", err)
			}
			return assistant.Saved{}, nil, conflictOf(changed)
		case errors.As(err, &changed) && (changed.Busy || changed.Err != nil || attempt == saveAttempts):
			return assistant.Saved{}, nil, conflictOf(changed)
		case changed != nil:
			continue // the file has changed, so the plan may have changed, too
		case err != nil:
			return assistant.Saved{}, nil, err
		}
		saved := w.adoptSaved(result, retainStaged, who)
		saved.Changes = stagedChanges(d.providers)
		w.logSaved(saved, who)
		saved.Message = safetext.Sprintf("Saved %s to %s. %s", savedCount(rules), w.fileName(), w.takeEffect(&saved, len(rules)))
		return saved, rules, nil
	}
}

// draftToSave reads the file and drafts the save that basis identifies. If another program
// has changed the file, the window adopts the file's new rules.
func (w *Window) draftToSave(ctx context.Context, basis assistant.Basis) (draft, error) {
	r, err := w.read(ctx)
	if err != nil {
		return draft{}, err
	}
	w.readUseOfUnsaved()
	w.mu.Lock()
	defer w.mu.Unlock()
	conflict, err := w.conflictWith(r)
	switch {
	case err != nil:
		return draft{}, err
	case conflict != nil:
		return draft{}, conflict
	}
	d, err := w.draft(r, basis.Only)
	if err != nil {
		return draft{}, err
	}
	if err := w.checkShown(d, basis.Digest, w.plan); err != nil {
		return draft{}, err
	}
	if w.moved(r) {
		w.adoptAndReport(r, mergeStaged)
	}
	return d, nil
}

// savedBy returns the author of a save, with the names of other users who staged changes in it.
func (w *Window) savedBy(who dotenv.Maker, rules []RuleChange) dotenv.Author {
	by := dotenv.Author{Who: who, Session: w.opts.Session()}
	if by.User = w.user(); by.User != "" {
		by.Staged = strings.Join(assistant.Authors(inWords(rules), by.User), " and ")
	}
	return by
}

// takeEffect starts applying the n rules that were written. It returns a sentence about
// that, or about how the user can apply them.
func (w *Window) takeEffect(saved *assistant.Saved, n int) (how safetext.Text) {
	if w.opts.AfterSave == nil {
		return restartHint(n)
	}
	began := w.opts.AfterSave.Saved()
	saved.Applied = &began
	return began.Message
}

// Applied implements [assistant.Applier].
func (w *Window) Applied() assistant.Applied {
	if w.opts.AfterSave == nil {
		return assistant.Applied{}
	}
	return w.opts.AfterSave.Applied()
}

// WaitApplied implements [assistant.Applier].
func (w *Window) WaitApplied(ctx context.Context) assistant.Applied {
	if w.opts.AfterSave == nil {
		return assistant.Applied{}
	}
	return w.opts.AfterSave.WaitApplied(ctx)
}

// CancelApplied implements [assistant.Applier].
func (w *Window) CancelApplied() {
	if w.opts.AfterSave != nil {
		w.opts.AfterSave.CancelApplied()
	}
}

// restartHint returns the sentence that asks the user to restart the proxy after a save of
// n rules.
func restartHint(n int) safetext.Text {
	if n == 1 {
		return "Restart the proxy to apply it."
	}
	return "Restart the proxy to apply them."
}

// adoptSaved updates the window to a file that has just been written.
func (w *Window) adoptSaved(result dotenv.Saved, policy stagedPolicy, who dotenv.Maker) assistant.Saved {
	r := w.newSnapshot(result.Source)
	w.mu.Lock()
	defer w.mu.Unlock()
	out := assistant.Saved{Path: result.Source.Path, Written: result.Written, Changes: []assistant.Change{}}
	if result.Warning != "" {
		out.Warning = safetext.Visible(sentence(result.Warning))
	}
	w.adopt(r, policy)
	for _, p := range w.providers {
		if p.drift.Any() { // unknown until the proxy is asked again
			p.drift = models.Drift{}
			w.touch(p)
		}
	}
	if who == dotenv.User {
		w.record("changes_saved", nil)
	}
	return out
}

// loggedChange is a saved change in the log.
type loggedChange struct {
	Change string `json:"change"`
	By     string `json:"by"`
}

// String returns the change as it appears in a text log.
func (c loggedChange) String() string { return c.By + ": " + c.Change }

// maxLogged is the maximum number of changes logged per save.
const maxLogged = 100

// logSaved logs who saved, and who made which change.
func (w *Window) logSaved(saved assistant.Saved, who dotenv.Maker) {
	var made []loggedChange
	for _, c := range saved.Changes[:min(len(saved.Changes), maxLogged)] {
		made = append(made, loggedChange{string(c.Line()), c.By.Name()})
	}
	level, more := slog.LevelInfo, []slog.Attr{}
	if saved.Warning != "" {
		level, more = slog.LevelWarn, []slog.Attr{slog.String("warning", string(saved.Warning))}
	}
	w.opts.Log.LogAttrs(context.Background(), level, "rules saved", append([]slog.Attr{
		slog.String("file", saved.Path), slog.String("by", string(who)), slog.String("user", w.user()),
		slog.Int("count", len(saved.Changes)), slog.Any("changes", made),
	}, more...)...)
}

// ruleCount describes how many rules of which providers changed.
func ruleCount(changes []RuleChange) string {
	if len(changes) == 0 {
		return "the order of the rules"
	}
	var names []string
	for _, c := range changes {
		if !slices.Contains(names, c.Provider) {
			names = append(names, c.Provider)
		}
	}
	return assistant.Counted(len(changes), "rule") + " of " + strings.Join(visibleAll(names), ", ")
}

// Discard implements [assistant.Saver]. It may also return ErrLocked.
func (w *Window) Discard(basis assistant.Basis) (lost []assistant.Change, err error) {
	err = w.asUser(func() error {
		lost, _, err = w.discard(basis)
		if len(lost) > 0 {
			w.record("changes_discarded", nil)
		}
		return err
	})
	return lost, err
}

// discard is like Discard, but also returns the lost changes as rules. The caller holds mu.
func (w *Window) discard(basis assistant.Basis) ([]assistant.Change, []RuleChange, error) {
	d := w.discardDraft(basis.Only)
	if err := w.checkShown(d, basis.Digest, w.discardPlan); err != nil {
		return nil, nil, err
	}
	lost, rules := stagedChanges(d.providers), changesOf(d.providers) // before the loop below removes the authors
	for _, p := range w.dirtyProviders() {
		for _, list := range lists {
			l := &p.lists[list]
			to := l.saved // restores the order, too
			if basis.Only != "" {
				to = l.stagedBy(func(by assistant.Author) bool { return by.User != basis.Only })
			}
			w.stage(p, list, to)
		}
	}
	w.readAgain() // the discarded changes may have conflicted with the file
	return lost, rules, nil
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

// mergeIfChanged reads the file. If another program has changed it, mergeIfChanged merges the
// staged rules into it or reports the conflict.
func (w *Window) mergeIfChanged(ctx context.Context) (assistant.SavedChange, error) {
	w.saving.Lock()
	defer w.saving.Unlock()
	return w.reload(ctx, mergeOrReport)
}

// reload reads the file again. The caller holds saving. If it reports a conflict, the window
// is unchanged.
func (w *Window) reload(ctx context.Context, policy stagedPolicy) (assistant.SavedChange, error) {
	r, err := w.read(ctx)
	if err != nil {
		return assistant.SavedChange{}, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if deleted := w.source.Exists && !r.source.Exists; policy != mergeOrReport || deleted { // a deletion is adopted without a conflict
		return assistant.SavedChange{Refreshed: w.adoptAndReport(r, policy)}, nil
	}
	if !w.moved(r) {
		return assistant.SavedChange{}, nil
	}
	c, err := w.conflictWith(r)
	switch {
	case err != nil:
		return assistant.SavedChange{}, err
	case c == nil:
		return assistant.SavedChange{Refreshed: w.adoptAndReport(r, policy)}, nil
	}
	return assistant.SavedChange{Refreshed: assistant.Refreshed{Path: c.Path}, Conflict: c}, nil
}

// moved reports whether r differs from the file that the window last read.
func (w *Window) moved(r *envSnapshot) bool {
	return r.source.Hash != w.source.Hash || r.source.Exists != w.source.Exists
}

// conflictWith returns why the staged rules cannot be merged into the current file; nil if
// they can be.
func (w *Window) conflictWith(r *envSnapshot) (*assistant.Conflict, error) {
	if !w.moved(r) {
		return nil, nil
	}
	both := w.changedOnBothSides(r)
	missing := w.source.Exists && !r.source.Exists
	if len(both) == 0 && !(missing && w.dirty()) {
		return nil, nil
	}
	if _, err := w.draft(nil, ""); err != nil {
		return nil, err
	}
	return &assistant.Conflict{Path: w.source.Path, Missing: missing, Theirs: fileChanges(w.source.File, r.source.File), Both: inWords(both)}, nil
}

// changedOnBothSides lists the staged changes that contradict changes in the file.
func (w *Window) changedOnBothSides(r *envSnapshot) []RuleChange {
	var out []RuleChange
	for _, p := range w.dirtyProviders() {
		var theirs ruleSet
		if found := r.providers[p.name]; found != nil {
			theirs = found.saved()
		}
		out = append(out, conflicting(p.name, p.saved(), p.staged(), theirs)...)
	}
	return out
}

// adoptAndReport adopts r and returns what changed.
func (w *Window) adoptAndReport(r *envSnapshot, policy stagedPolicy) assistant.Refreshed {
	before := w.source
	out := assistant.Refreshed{
		Path: before.Path, Changes: fileChanges(before.File, r.source.File),
		Changed: before.Hash != r.source.Hash || before.Exists != r.source.Exists,
		Deleted: before.Exists && !r.source.Exists,
	}
	if policy == dropStaged {
		out.Dropped = inWords(w.diff())
	}
	staged := map[string]ruleSet{}
	for name, p := range w.providers {
		staged[name] = p.staged()
	}
	w.adopt(r, policy)
	for _, name := range slices.Sorted(maps.Keys(w.providers)) {
		w.recordRules(ruleChanges(name, staged[name], w.providers[name].staged())...)
	}
	return out
}

func conflictOf(changed *dotenv.ChangedError) *assistant.Conflict {
	return &assistant.Conflict{
		Path: changed.Path, Theirs: fileChanges(dotenv.Parse(changed.Base), dotenv.Parse(changed.Theirs)),
		Missing: changed.Missing, Busy: changed.Busy, Kept: changed.Kept,
	}
}

// Watch implements [assistant.Watcher]. While the assistant works in the window, a changed
// file is not read; it is read afterwards.
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
				continue // written by our own save, or unchanged
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
