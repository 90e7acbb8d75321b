package modelfilter

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"winnow/adapters/dotenv"
	"winnow/adapters/modelfilter/engine"
	"winnow/assistant"
)

// RuleChange is a rule that is staged otherwise than the file has it.
type RuleChange struct {
	Provider string
	List     List
	Pattern  string
	Added    bool // false: removed
}

// Effect is what a save would change in the models of one provider.
type Effect struct {
	Provider string
	Shown    []string // hidden now, shown then
	Hidden   []string // shown now, hidden then
	Known    bool     // whether any models are known: without them nothing can be said
}

// Plan is what a save would change. The zero value changes nothing.
type Plan struct {
	Path    string
	Creates bool              // there is no file yet
	Lines   []dotenv.DiffLine // of the file, secrets masked
	Rules   []RuleChange
	Effects []Effect // of the providers with changed rules, by name
	Foreign bool     // somebody else has changed the file since it was read
}

// Empty says that a save would change nothing.
func (p Plan) Empty() bool { return len(p.Lines) == 0 && len(p.Rules) == 0 }

// Diff lists the staged rules that differ from the file, by provider.
func (w *Window) Diff() []RuleChange {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.diff()
}

func (w *Window) diff() []RuleChange {
	var out []RuleChange
	for _, p := range w.dirtyProviders() {
		for _, list := range lists {
			l := &p.lists[list]
			for _, r := range without(l.saved, l.rules) {
				out = append(out, RuleChange{p.name, list, r, false})
			}
			for _, r := range without(l.rules, l.saved) {
				out = append(out, RuleChange{p.name, list, r, true})
			}
		}
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

// Plan says what a save would change. It looks at the file, so it may wait for
// the disk. The error is what the save would end in before it writes.
func (w *Window) Plan(ctx context.Context) (Plan, error) {
	if err := ctx.Err(); err != nil {
		return Plan{}, err
	}
	w.mu.Lock()
	source := w.source
	plan, err := w.plan()
	w.mu.Unlock()
	if err != nil {
		return Plan{}, err
	}
	now, err := dotenv.Load(source.Path)
	if err != nil {
		return Plan{}, err
	}
	plan.Foreign = now.Hash != source.Hash || now.Exists != source.Exists
	return plan, nil
}

func (w *Window) plan() (Plan, error) {
	plan := Plan{Path: w.source.Path, Creates: !w.source.Exists, Rules: w.diff()}
	edits, err := w.edits()
	if err != nil {
		return Plan{}, err
	}
	after, err := w.source.File.With(edits...)
	if err != nil {
		return Plan{}, err
	}
	plan.Lines = dotenv.Diff(w.source.File, after)
	for _, p := range w.dirtyProviders() {
		plan.Effects = append(plan.Effects, w.effect(p, p.savedShown(Ignore), p.savedShown(Allow)))
	}
	return plan, nil
}

// savedShown are the rules that the proxy heeds without a save.
func (p *provider) savedShown(list List) []string {
	if l := &p.lists[list]; !l.env {
		return l.saved
	}
	return p.lists[list].wins
}

// effect compares the models under these rules with those under the staged ones.
func (w *Window) effect(p *provider, ignore, allow []string) Effect {
	now := w.rules(p)
	before := engine.New(p.name, now.Models())
	before.Set(ignore, allow)
	hidden, was := now.Hidden(), before.Hidden()
	return Effect{p.name, without(was, hidden), without(hidden, was), now.Total() > 0}
}

// edits are what a save does to the file.
func (w *Window) edits() ([]dotenv.Edit, error) {
	var out []dotenv.Edit
	for _, p := range w.dirtyProviders() {
		for _, list := range lists {
			l := &p.lists[list]
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
				return nil, fmt.Errorf("the %s rules of %s cannot be written: %w", list, p.name, err)
			}
			if l.other && len(l.rules) == 0 {
				edit = dotenv.Set(key, "") // without the key the other file would count again
			}
			out = append(out, edit)
		}
	}
	return out, nil
}

// maxListed is how many names a difference or a result of a tool lists.
const maxListed = 100

// String is the plan as it is shown to whoever decides about it: the
// difference of the file, then that of the models. Ids and patterns in it are visible.
func (p Plan) String() string {
	var b strings.Builder
	switch {
	case p.Empty():
		return "nothing would change"
	case p.Creates:
		fmt.Fprintf(&b, "%s (new file)\n", shown(p.Path))
	default:
		fmt.Fprintf(&b, "%s\n", shown(p.Path))
	}
	if p.Foreign {
		b.WriteString("Somebody else has changed this file since it was read: it cannot be saved before that is merged or reloaded.\n")
	}
	for _, l := range p.Lines {
		fmt.Fprintf(&b, "%s\n", l)
	}
	for _, e := range p.Effects {
		b.WriteString("\n")
		b.WriteString(e.String())
	}
	return strings.TrimRight(b.String(), "\n")
}

// String is the effect in lines: a head with the numbers, then the models, +
// for those that are shown again and - for those that become hidden.
func (e Effect) String() string {
	var b strings.Builder
	switch {
	case !e.Known:
		fmt.Fprintf(&b, "%s: no models are known\n", shown(e.Provider))
	case len(e.Shown)+len(e.Hidden) == 0:
		fmt.Fprintf(&b, "%s: no model changes\n", shown(e.Provider))
	default:
		fmt.Fprintf(&b, "%s: %s shown, %d hidden\n", shown(e.Provider), assistant.Counted(len(e.Shown), "model"), len(e.Hidden))
	}
	for _, part := range []struct {
		sign string
		ids  []string
	}{{"+", e.Shown}, {"-", e.Hidden}} {
		for _, id := range part.ids[:min(len(part.ids), maxListed)] {
			fmt.Fprintf(&b, "%s %s\n", part.sign, shown(displayName(e.Provider, id)))
		}
		if n := len(part.ids) - maxListed; n > 0 {
			fmt.Fprintf(&b, "%s and %d more\n", part.sign, n)
		}
	}
	return b.String()
}
