package modelfilter

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"winnow/adapters/dotenv"
	"winnow/assistant"
)

// Saved is what came of a save that is durable.
type Saved struct {
	Message string          // one line for the user, with what to do next
	Path    string          // the file
	Written bool            // false: there was nothing to write
	Rules   []RuleChange    // what changed
	Changes []dotenv.Change // the variables that read differently now
}

// restartHint goes with every save.
const restartHint = "Restart the proxy: it reads the rules when it starts."

// Save writes all staged rules in one atomic, durable step; see dotenv.Source.Save for
// the errors. A *dotenv.ChangedError means that somebody else has changed the
// file: ThreeWayOf shows it, Merge or Reload take it over.
func (w *Window) Save(ctx context.Context, who dotenv.Who) (Saved, error) {
	w.saving.Lock()
	defer w.saving.Unlock()
	w.mu.Lock()
	if who == dotenv.User && w.locked {
		w.mu.Unlock()
		return Saved{}, ErrLocked
	}
	source, rules := w.source, w.diff()
	edits, err := w.edits()
	w.mu.Unlock()
	if err != nil {
		return Saved{}, err
	}
	if len(edits) == 0 {
		return Saved{Message: "There is nothing to save.", Path: source.Path}, nil
	}
	saved, warning := w.write(ctx, source, edits, who)
	if saved.Source == nil || warning != nil && !saved.Written {
		return Saved{}, warning
	}
	out := Saved{Path: source.Path, Written: saved.Written, Rules: rules, Changes: saved.Changes}
	out.Message = fmt.Sprintf("Saved %s to %s. %s", ruleCount(rules), w.fileName(), restartHint)
	if warning != nil {
		out.Message += " Note: " + warning.Error() + "."
	}
	w.opts.Log.Info("rules saved", "file", source.Path, "changes", len(saved.Changes), "by", string(who))
	w.takeSaved(saved.Source, keepStaged, who)
	return out, nil
}

func (w *Window) write(ctx context.Context, source *dotenv.Source, edits []dotenv.Edit, who dotenv.Who) (dotenv.Saved, error) {
	if w.versions == nil {
		return source.Save(ctx, edits)
	}
	return w.versions.Save(ctx, source, edits, dotenv.Author{Who: who, Session: w.opts.Session()})
}

// takeSaved takes over a file that was just written. That it was saved is
// remembered when the user did it.
func (w *Window) takeSaved(source *dotenv.Source, what staging, who dotenv.Who) {
	r := w.readAround(source)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.adopt(r, what)
	if who == dotenv.User {
		w.note("changes_saved", nil)
	}
}

// ruleCount says how many rules of which providers changed.
func ruleCount(changes []RuleChange) string {
	var names []string
	for _, c := range changes {
		if !slices.Contains(names, c.Provider) {
			names = append(names, c.Provider)
		}
	}
	s := assistant.Counted(len(changes), "changed rule")
	if len(names) > 0 {
		s += " of " + strings.Join(shownAll(names), ", ")
	}
	return s
}

// Discard puts all staged rules back to those of the file and says what was
// lost. The error is ErrLocked.
func (w *Window) Discard() (lost []RuleChange, err error) {
	err = w.asUser(func() error {
		if lost = w.discard(); len(lost) > 0 {
			w.note("changes_discarded", nil)
		}
		return nil
	})
	return lost, err
}

func (w *Window) discard() []RuleChange {
	lost := w.diff()
	for _, p := range w.dirtyProviders() {
		for _, list := range lists {
			p.lists[list].rules = slices.Clone(p.lists[list].saved)
		}
		p.sync()
	}
	w.revision++
	return lost
}

// ThreeWay is a file that somebody else has changed: what they did to it, and
// what a save would have done.
type ThreeWay struct {
	Path    string
	Missing bool // they removed it
	Busy    bool // they have it open and may not have finished
	Theirs  []dotenv.DiffLine
	Ours    []dotenv.DiffLine
	Keys    []dotenv.Change // what reads differently in theirs
}

// ThreeWayOf says what stands in the way of a save, when it is that.
func ThreeWayOf(err error) (ThreeWay, bool) {
	var changed *dotenv.ChangedError
	if !errors.As(err, &changed) {
		return ThreeWay{}, false
	}
	base, theirs := dotenv.Parse(changed.Base), dotenv.Parse(changed.Theirs)
	return ThreeWay{
		Path: changed.Path, Missing: changed.Missing, Busy: changed.Busy,
		Theirs: dotenv.Diff(base, theirs), Ours: dotenv.Diff(base, dotenv.Parse(changed.Ours)),
		Keys: dotenv.Changes(base, theirs),
	}, true
}

// Foreign looks whether somebody else has changed the file since it was read.
func (w *Window) Foreign(ctx context.Context) (ThreeWay, bool, error) {
	if err := ctx.Err(); err != nil {
		return ThreeWay{}, false, err
	}
	w.mu.Lock()
	source := w.source
	edits, err := w.edits()
	w.mu.Unlock()
	if err != nil {
		return ThreeWay{}, false, err
	}
	now, err := dotenv.Load(source.Path)
	if err != nil {
		return ThreeWay{}, false, err
	}
	if now.Hash == source.Hash && now.Exists == source.Exists {
		return ThreeWay{}, false, nil
	}
	ours, err := source.File.With(edits...)
	if err != nil {
		return ThreeWay{}, false, err
	}
	return ThreeWay{
		Path: source.Path, Missing: source.Exists && !now.Exists,
		Theirs: dotenv.Diff(source.File, now.File), Ours: dotenv.Diff(source.File, ours),
		Keys: dotenv.Changes(source.File, now.File),
	}, true, nil
}

// Reload reads the file and the environment again; staged rules are lost. The
// error is ErrLocked or that of Open.
func (w *Window) Reload(ctx context.Context) error {
	return w.takeOver(ctx, dropStaged)
}

// Merge reads the file and the environment again and does to their rules what
// was staged: rules that were added are added, rules that were removed are
// removed. Nothing is saved by that.
func (w *Window) Merge(ctx context.Context) error {
	return w.takeOver(ctx, mergeStaged)
}

func (w *Window) takeOver(ctx context.Context, what staging) error {
	w.saving.Lock()
	defer w.saving.Unlock()
	r, err := w.read(ctx)
	if err != nil {
		return err
	}
	return w.asUser(func() error {
		lost := what == dropStaged && w.dirty()
		w.adopt(r, what)
		if lost {
			w.note("changes_discarded", nil)
		}
		return nil
	})
}
