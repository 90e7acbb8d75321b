package modelfilter

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
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

func (w *Window) diff() []assistant.RuleChange { return changesOf(w.dirtyProviders()) }

// changesOf lists what is staged for some providers.
func changesOf(providers []*provider) []assistant.RuleChange {
	out := []assistant.RuleChange{}
	for _, p := range providers {
		out = append(out, p.changes()...)
	}
	return out
}

// dirtyProviders are those with staged changes, by name.
func (w *Window) dirtyProviders() []*provider { return dirtyOf(maps.Values(w.providers)) }

func dirtyOf(all iter.Seq[*provider]) []*provider {
	var out []*provider
	for p := range all {
		if p.dirty() {
			out = append(out, p)
		}
	}
	slices.SortFunc(out, func(a, b *provider) int { return strings.Compare(a.name, b.name) })
	return out
}

// draft is what a save would write.
type draft struct {
	source    *dotenv.Source
	providers []*provider // copies of those with staged changes, by name
	edits     []dotenv.Edit
	after     *dotenv.File
	digest    string
}

// draft drafts a save over s, the file as it is now; nil is the file as the window has
// it. The window stays as it is. With only, the draft has the changes of that user.
func (w *Window) draft(s *envSnapshot, only string) (draft, error) {
	d := draft{source: w.source}
	if s != nil {
		d.source = s.source
	}
	d.providers = dirtyOf(func(yield func(*provider) bool) {
		for _, p := range w.providers {
			lists := p.lists
			if s != nil {
				lists = mergedLists(p, s, mergeStaged)
			}
			if only != "" {
				for i := range lists {
					lists[i].rules = lists[i].stagedBy(func(by assistant.Author) bool { return by.User == only })
				}
			}
			if !yield(&provider{name: p.name, lists: lists}) {
				return
			}
		}
	})
	var err error
	if d.edits, err = editsOf(d.providers); err != nil {
		return d, err
	}
	if d.after, err = d.source.File.With(d.edits...); err != nil {
		return d, err
	}
	var values []string
	for _, e := range d.edits {
		value, isSet := d.after.Raw(e.Key)
		values = append(values, e.Key, value, strconv.FormatBool(isSet))
	}
	d.digest = assistant.Digest(d.source.Path, changesOf(d.providers), values...)
	return d, nil
}

// plan is a draft as it is shown.
func (w *Window) plan(d draft) assistant.SavePlan {
	plan := assistant.SavePlan{
		Digest: d.digest, Path: d.source.Path, Creates: !d.source.Exists, Rules: changesOf(d.providers),
		Keys: keyChanges(d.source.File, d.after), Lines: dotenv.Diff(d.source.File, d.after),
	}
	for _, p := range d.providers {
		plan.Effects = append(plan.Effects, w.effect(p))
	}
	return plan
}

// checkShown is a *assistant.PlanChanged when d is not the plan that was shown.
func (w *Window) checkShown(d draft, digest string) error {
	if digest == "" || digest == d.digest {
		return nil
	}
	changed := &assistant.PlanChanged{Plan: w.plan(d)}
	if d.source.Hash != w.source.Hash {
		changed.By = []string{assistant.OtherProgram}
	}
	return changed
}

// PlanSave implements [assistant.Saver].
func (w *Window) PlanSave(ctx context.Context, only string) (assistant.SavePlan, error) {
	r, err := w.read(ctx)
	if err != nil {
		return assistant.SavePlan{}, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	conflict, err := w.conflictWith(r)
	if err != nil {
		return assistant.SavePlan{}, err
	}
	if conflict != nil {
		r = nil // the plan is over the file as it was before
	}
	d, err := w.draft(r, only)
	if err != nil {
		return assistant.SavePlan{}, err
	}
	plan := w.plan(d)
	plan.Conflict = conflict
	return plan, nil
}

// PlanDiscard implements [assistant.Saver].
func (w *Window) PlanDiscard(only string) assistant.SavePlan {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.plan(w.discardDraft(only))
}

// discardDraft is what a discard would lose. Rules that cannot be written are lost too.
func (w *Window) discardDraft(only string) draft {
	d, err := w.draft(nil, only)
	if err != nil {
		d.after, d.digest = d.source.File, assistant.Digest(d.source.Path, changesOf(d.providers))
	}
	return d
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

// effect is what the staged rules of p do to its models. p may be a copy with other lists.
func (w *Window) effect(p *provider) assistant.ModelEffect {
	own := w.providerNamed(p.name)
	now := w.engine(own)
	if p != own && (!slices.Equal(p.lists[Ignore].effective(), own.lists[Ignore].effective()) || !slices.Equal(p.lists[Allow].effective(), own.lists[Allow].effective())) {
		now = now.Clone()
		now.Set(p.lists[Ignore].effective(), p.lists[Allow].effective())
	}
	saved := now.Clone()
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

// editsOf are what a save of some providers does to the file.
func editsOf(providers []*provider) ([]dotenv.Edit, error) {
	var out []dotenv.Edit
	for _, p := range providers {
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

// PlanText is a plan as text for the user who decides about it: the difference of the
// file, then that of the models, with what others have staged. Ids and patterns in it
// are visible.
func PlanText(p assistant.SavePlan, user string) string {
	if p.Empty() {
		return "nothing would change"
	}
	lines := savetext.Lines(p, user)
	if p.Conflict != nil {
		lines = slices.Insert(lines, 1, "The same rules were changed in the file since it was read: it cannot be saved before that is merged or reloaded.")
	}
	return strings.Join(lines, "\n")
}
