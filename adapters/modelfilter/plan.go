package modelfilter

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"winnow/adapters/dotenv"
	"winnow/adapters/modelfilter/engine"
	"winnow/assistant"
	"winnow/assistant/safetext"
)

// masked replaces the value of a variable that is not a rule list.
const masked = "••••"

// RuleChange is the addition or removal of a rule.
type RuleChange struct {
	Provider string
	List     List
	Pattern  string
	Added    bool // false if removed
	By       assistant.Author
}

// inWords returns the change as text for a plan.
func (c RuleChange) inWords() assistant.Change {
	out := assistant.Change{Title: c.Provider + " " + c.List.String(), Sentence: c.sentence(), By: c.By}
	if c.Added {
		out.After = c.Pattern
	} else {
		out.Before = c.Pattern
	}
	return out
}

func inWords(changes []RuleChange) []assistant.Change {
	out := make([]assistant.Change, len(changes))
	for i, c := range changes {
		out[i] = c.inWords()
	}
	return out
}

// sentence describes the effect of adding or removing the rule: "hid *mini* on openai".
func (c RuleChange) sentence() safetext.Text {
	return safetext.Sprintf("%s %s on %s", c.Verb(), c.Pattern, c.Provider)
}

// Diff lists the staged changes to the rules in the file, sorted by provider.
func (w *Window) Diff() []RuleChange { return withLock(w, w.diff) }

func (w *Window) diff() []RuleChange { return changesOf(w.dirtyProviders()) }

// changesOf lists the staged changes of the given providers.
func changesOf(providers []*provider) []RuleChange {
	out := []RuleChange{}
	for _, p := range providers {
		out = append(out, p.changes()...)
	}
	return out
}

// stagedChanges lists the staged changes of the given providers as text for a plan. Unlike
// changesOf, it includes lists in which only the order has changed.
func stagedChanges(providers []*provider) []assistant.Change {
	out := inWords(changesOf(providers))
	for _, p := range providers {
		for list, l := range p.lists {
			if l.dirty() && len(without(l.rules, l.saved))+len(without(l.saved, l.rules)) == 0 {
				list := p.name + " " + List(list).String()
				out = append(out, assistant.Change{
					Title: list, Before: strings.Join(l.saved, ","), After: strings.Join(l.rules, ","),
					Sentence: safetext.Sprintf("reordered the %s rules", list),
				})
			}
		}
	}
	return out
}

// dirtyProviders returns the providers with staged changes, sorted by name.
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
	providers []*provider // copies of the providers with staged changes, sorted by name
	edits     []dotenv.Edit
	after     *dotenv.File
	digest    string
}

// draft drafts a save based on s, the current file; nil means the file as last read. The window
// is not changed. If user is set, the draft contains only that user's changes.
func (w *Window) draft(s *envSnapshot, user string) (draft, error) {
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
			if user != "" {
				for i := range lists {
					lists[i].rules = lists[i].stagedBy(func(by assistant.Author) bool { return by.User == user })
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
	d.digest = assistant.Digest(d.source.Path, stagedChanges(d.providers), values...)
	return d, nil
}

// plan converts the draft of a save into the plan that is shown.
func (w *Window) plan(d draft) assistant.SavePlan {
	plan := assistant.SavePlan{
		Digest: d.digest, Changes: stagedChanges(d.providers), Effects: []assistant.Effect{},
		Files: []assistant.FileDiff{{Path: d.source.Path, Creates: !d.source.Exists, Lines: append([]assistant.FileLine{}, dotenv.Diff(d.source.File, d.after)...)}},
	}
	for _, p := range d.providers {
		plan.Effects = append(plan.Effects, w.effect(p).inWords()...)
		plan.Effects = append(plan.Effects, w.unmatched(p)...)
	}
	if len(plan.Effects) > 0 {
		plan.Effects = append(plan.Effects, w.afterwards())
	}
	return plan
}

// afterwards describes what makes the proxy read the saved rules.
func (w *Window) afterwards() assistant.Effect {
	if w.opts.AfterSave != nil {
		return assistant.Effect{Sentence: "the after_save command runs afterwards"}
	}
	return assistant.Effect{Kind: assistant.EffectAsks, Sentence: "restart the proxy afterwards: it reads the rules when it starts"}
}

// discardPlan converts the draft of a discard into the plan that is shown. The effects are
// the reverse of the effects of a save.
func (w *Window) discardPlan(d draft) assistant.SavePlan {
	plan := assistant.SavePlan{Digest: d.digest, Changes: stagedChanges(d.providers), Effects: []assistant.Effect{}, Files: []assistant.FileDiff{}}
	for _, p := range d.providers {
		e := w.effect(p)
		e.Shown, e.Hidden = e.Hidden, e.Shown
		e = e.withUse(w.providerNamed(p.name).use, w.opts.Now())
		plan.Effects = append(plan.Effects, e.inWords()...)
	}
	return plan
}

// checkShown compares d with the plan that was shown, which is identified by its digest. If they
// differ, it returns an *assistant.PlanChanged with the plan of d. If digest is "", it returns nil.
func (w *Window) checkShown(d draft, digest string, plan func(draft) assistant.SavePlan) error {
	if digest == "" || digest == d.digest {
		return nil
	}
	changed := &assistant.PlanChanged{Plan: plan(d)}
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
	w.readUseOfUnsaved()
	w.mu.Lock()
	defer w.mu.Unlock()
	conflict, err := w.conflictWith(r)
	if err != nil {
		return assistant.SavePlan{}, err
	}
	if conflict != nil {
		r = nil // base the plan on the file as last read
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
	w.readUseOfUnsaved()
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.discardPlan(w.discardDraft(only))
}

// discardDraft returns what a discard would lose, including rules that cannot be written.
func (w *Window) discardDraft(only string) draft {
	d, err := w.draft(nil, only)
	if err != nil {
		d.after, d.digest = d.source.File, assistant.Digest(d.source.Path, stagedChanges(d.providers))
	}
	return d
}

// fileChanges lists the variables whose values differ. For a list it gives the changed
// items. Any other variable may be a secret, so its values are masked.
func fileChanges(before, after *dotenv.File) (out []assistant.Change) {
	for _, c := range dotenv.Changes(before, after) {
		was, _ := before.Raw(c.Key)
		is, _ := after.Raw(c.Key)
		if !strings.HasPrefix(c.Key, listPrefix[Ignore]) && !strings.HasPrefix(c.Key, listPrefix[Allow]) {
			out = append(out, assistant.Change{Title: c.Key, Before: masked, After: masked})
			continue
		}
		rule := RuleChange{List: Ignore}
		name, isIgnore := strings.CutPrefix(c.Key, listPrefix[Ignore])
		if !isIgnore {
			rule.List, name = Allow, strings.TrimPrefix(c.Key, listPrefix[Allow])
		}
		rule.Provider = strings.ToLower(name)
		had, has := listItems(was), listItems(is)
		from := len(out)
		for _, item := range without(has, had) {
			rule.Pattern, rule.Added = strings.TrimSpace(item), true
			out = append(out, assistant.Change{Title: c.Key, After: item, Sentence: rule.sentence()})
		}
		for _, item := range without(had, has) {
			rule.Pattern, rule.Added = strings.TrimSpace(item), false
			out = append(out, assistant.Change{Title: c.Key, Before: item, Sentence: rule.sentence()})
		}
		if len(out) == from { // the same items, for example in another order
			out = append(out, assistant.Change{Title: c.Key})
		}
	}
	return out
}

// listItems returns the items of a list's value, except empty ones.
func listItems(value string) []string {
	return slices.DeleteFunc(strings.Split(value, ","), func(item string) bool { return item == "" })
}

// ModelEffect is the effect of changed rules on the models of one provider.
type ModelEffect struct {
	Provider string
	Known    bool        // false if the provider's models, and therefore the effect, are unknown
	Shown    []string    // ids that were hidden before
	Hidden   []string    // ids that were shown before, starting with the used models
	Used     []UsedModel // the models in Hidden that were used in the last 7 days

	now time.Time // when Used was determined
}

// inWords returns the effect as text for a plan.
func (e ModelEffect) inWords() (out []assistant.Effect) {
	for _, part := range []struct {
		kind assistant.EffectKind
		word string
		ids  []string
	}{{assistant.EffectRemoves, "hidden", e.Hidden}, {assistant.EffectAdds, "shown", e.Shown}} {
		if n := len(part.ids); n > 0 {
			items := make([]string, n)
			for i, id := range part.ids {
				items[i] = displayName(e.Provider, id)
			}
			effect := assistant.Effect{Kind: part.kind, Sentence: safetext.Sprintf("%s: %s", e.Provider, becomes(n, part.word)), Items: items}
			if part.kind == assistant.EffectRemoves {
				effect.Sentence, effect.Marked = withClause(effect.Sentence, e.UsedText()), len(e.Used)
			}
			out = append(out, effect)
		}
	}
	switch {
	case !e.Known:
		return []assistant.Effect{{Sentence: safetext.Sprintf("%s: no models are known", e.Provider)}}
	case out == nil:
		return []assistant.Effect{{Sentence: safetext.Sprintf("%s: no model changes", e.Provider)}}
	}
	return out
}

// becomes describes the new status of n models: "17 models become hidden".
func becomes(n int, what string) string {
	if n == 1 {
		return "1 model becomes " + what
	}
	return fmt.Sprintf("%d models become %s", n, what)
}

// SaveEffect returns the effect of a save on the models of the provider. It may wait for the
// disk or the proxy.
func (s Scope) SaveEffect() ModelEffect {
	s.w.readUse(s.Provider())
	return withLock(s.w, func() ModelEffect { return s.w.effect(s.provider()) })
}

// effect returns the effect of the staged rules of p on its models. p may be a copy with
// other lists.
func (w *Window) effect(p *provider) ModelEffect {
	own := w.providerNamed(p.name)
	now := w.engine(own)
	if p != own && (!slices.Equal(p.lists[Ignore].effective(), own.lists[Ignore].effective()) || !slices.Equal(p.lists[Allow].effective(), own.lists[Allow].effective())) {
		now = now.Clone()
		now.Set(p.lists[Ignore].effective(), p.lists[Allow].effective())
	}
	saved := now.Clone()
	saved.Set(p.lists[Ignore].inForce(), p.lists[Allow].inForce())
	return effectOf(saved, now).withUse(own.use, w.opts.Now())
}

// effectOf returns the effect of replacing the rules of one engine with those of another that has
// the same models.
func effectOf(before, after *engine.Engine) ModelEffect {
	was, is := before.Hidden(), after.Hidden()
	return ModelEffect{
		Provider: before.Provider(), Known: before.Total() > 0, Shown: without(was, is), Hidden: without(is, was),
	}
}

// editsOf returns the edits to the file for a save of the given providers.
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
				edit = dotenv.Set(key, "") // without the key, the other file would take effect again
			}
			out = append(out, edit)
		}
	}
	return out, nil
}

// maxListed is the maximum number of names in a list for the language model.
const maxListed = 100
