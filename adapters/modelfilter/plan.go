package modelfilter

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"winnow/adapters/dotenv"
	"winnow/adapters/modelfilter/engine"
	"winnow/assistant"
	"winnow/assistant/savetext"
)

// masked stands for the value of a variable that is not a rule list.
const masked = "••••"

// ListOf is the list that a change is about.
func ListOf(c assistant.RuleChange) List {
	if c.Type == changeType[Allow] {
		return Allow
	}
	return Ignore
}

// changeType is how a change names a list.
var changeType = [...]string{Ignore: "ignored", Allow: "whitelisted"}

// Diff lists the staged rules that differ from the file, by provider.
func (w *Window) Diff() []assistant.RuleChange { return withLock(w, w.diff) }

func (w *Window) diff() []assistant.RuleChange {
	out := []assistant.RuleChange{}
	for _, p := range w.dirtyProviders() {
		out = append(out, ruleChanges(p.name, p.saved(), p.staged())...)
	}
	return out
}

// dirtyProviders are those with staged changes, by name.
func (w *Window) dirtyProviders() []*provider {
	var out []*provider
	for _, p := range w.providers {
		if p.dirty() {
			out = append(out, p)
		}
	}
	slices.SortFunc(out, func(a, b *provider) int { return strings.Compare(a.name, b.name) })
	return out
}

// PlanSave implements [assistant.Saver]. If another program has changed the
// file, it merges the staged rules into the new ones first, as a save would;
// where both sides changed a list it reports a conflict.
func (w *Window) PlanSave(ctx context.Context) (assistant.SavePlan, error) {
	change, err := w.mergeIfChanged(ctx)
	if err != nil {
		return assistant.SavePlan{}, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	after, err := w.stagedFile()
	if err != nil {
		return assistant.SavePlan{}, err
	}
	before := w.source.File
	plan := assistant.SavePlan{
		Path: w.source.Path, Creates: !w.source.Exists, Rules: w.diff(),
		Keys: keyChanges(before, after), Lines: dotenv.Diff(before, after), Conflict: change.Conflict,
	}
	for _, p := range w.dirtyProviders() {
		plan.Effects = append(plan.Effects, w.effect(p))
	}
	return plan, nil
}

// stagedFile is the file as a save would leave it.
func (w *Window) stagedFile() (*dotenv.File, error) {
	edits, err := w.edits()
	if err != nil {
		return nil, err
	}
	return w.source.File.With(edits...)
}

// keyChanges lists the variables that read differently. Only the values of rule
// lists are shown.
func keyChanges(before, after *dotenv.File) []assistant.KeyChange {
	var out []assistant.KeyChange
	for _, c := range dotenv.Changes(before, after) {
		k := assistant.KeyChange{Key: visible(c.Key), Before: masked, After: masked}
		if strings.HasPrefix(c.Key, listPrefix[Ignore]) || strings.HasPrefix(c.Key, listPrefix[Allow]) {
			k.Before, _ = before.Raw(c.Key)
			k.After, _ = after.Raw(c.Key)
		}
		if c.Kind == dotenv.KeyAdded {
			k.Before = ""
		} else if c.Kind == dotenv.KeyRemoved {
			k.After = ""
		}
		out = append(out, k)
	}
	return out
}

// SaveEffect is what a save would do to the models of the provider.
func (s Scope) SaveEffect() assistant.ModelEffect {
	return withLock(s.w, func() assistant.ModelEffect { return s.w.effect(s.provider()) })
}

func (w *Window) effect(p *provider) assistant.ModelEffect {
	now := w.engine(p)
	saved := engine.New(p.name, now.Models())
	saved.Set(p.lists[Ignore].inForce(), p.lists[Allow].inForce())
	return effectOf(saved, now)
}

// effectOf compares the models under two sets of rules.
func effectOf(before, after *engine.Engine) assistant.ModelEffect {
	was, is := before.Hidden(), after.Hidden()
	return assistant.ModelEffect{
		Provider: before.Provider(), Known: before.Total() > 0, Shown: without(was, is), Hidden: without(is, was),
	}
}

// edits are what a save does to the file.
func (w *Window) edits() ([]dotenv.Edit, error) {
	var out []dotenv.Edit
	for _, p := range w.dirtyProviders() {
		for list, l := range p.lists {
			if !l.dirty() {
				continue
			}
			key := listPrefix[list] + strings.ToUpper(p.name)
			if n := len(l.vars); n > 0 {
				key = l.vars[n-1]
				for _, other := range l.vars[:n-1] {
					out = append(out, dotenv.Unset(other))
				}
			}
			edit, err := dotenv.SetList(key, l.rules)
			if err != nil {
				return nil, fmt.Errorf("the %s rules of %s cannot be written: %w", List(list), p.name, err)
			}
			if l.fromOtherFile && len(l.rules) == 0 {
				edit = dotenv.Set(key, "") // without the key the other file would count again
			}
			out = append(out, edit)
		}
	}
	return out, nil
}

// maxListed is how many names a difference or a result of a tool lists.
const maxListed = 100

// PlanText is a plan as text for whoever decides about it: the difference of the
// file, then that of the models. Ids and patterns in it are visible.
func PlanText(p assistant.SavePlan) string {
	if p.Empty() {
		return "nothing would change"
	}
	lines := savetext.Lines(p)
	if p.Conflict != nil {
		lines = slices.Insert(lines, 1, "The same rules were changed in the file since it was read: it cannot be saved before that is merged or reloaded.")
	}
	return strings.Join(lines, "\n")
}
