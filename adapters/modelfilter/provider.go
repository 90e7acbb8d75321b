package modelfilter

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"winnow/adapters/modelfilter/engine"
	"winnow/adapters/modelfilter/models"
	"winnow/adapters/modelfilter/usage"
	"winnow/assistant"
	"winnow/assistant/llm"
	"winnow/assistant/nearest"
)

// provider is the state of the window for one provider.
type provider struct {
	name           string
	hasKeyVariable bool // there is a variable for its key, possibly empty
	hasKey         bool // one of the key variables is not empty
	lists          [2]ruleList

	engine   *engine.Engine // uses the effective rules; nil until needed
	models   ModelList
	info     []llm.ModelInfo // in the order of the models; nil if not read yet
	news     []models.Change // changes to models since the user last looked; valid if newsRead
	newsRead bool
	asking   int // number of refreshes in progress
	drift    models.Drift

	use        *usage.Report // as last read; nil if unknown
	useProblem string        // why the usage file cannot be used

	revision int64             // window revision at the last change to the provider's rules or models
	shown    *ProviderSnapshot // up to date if not nil
	numbers  *numbers          // up to date if not nil
}

// ruleList is one list of a provider: the rules in the files and the environment, and the
// staged rules.
type ruleList struct {
	vars  []string // variables in the file that set the list; the last one decides
	saved []string // rules in the file or, if it does not set the list, in another file; a save replaces them
	rules []string // the staged rules
	// by records who staged the last change to a pattern. It may also contain patterns that have
	// been saved since.
	by            map[string]assistant.Author
	origin        string // the place that sets the list, such as ".env:12" or "the environment"; "" if no place does
	fromOtherFile bool   // origin is in another file

	fixed    string   // why the list cannot be edited; "" if it can
	fromEnv  bool     // the environment sets the list
	envRules []string // rules from the environment, which take precedence over saved and rules
}

// ruleSet holds the rules of both lists, indexed by List.
type ruleSet [2][]string

// effective returns the rules that the proxy would use after a save.
func (l *ruleList) effective() []string {
	if l.fromEnv {
		return l.envRules
	}
	return l.rules
}

// inForce returns the rules that the proxy would use without a save.
func (l *ruleList) inForce() []string {
	if l.fromEnv {
		return l.envRules
	}
	return l.saved
}

func (l *ruleList) dirty() bool { return !slices.Equal(l.rules, l.saved) }

func (p *provider) dirty() bool { return p.lists[Ignore].dirty() || p.lists[Allow].dirty() }

// staged and saved return the rules of both lists. Existing elements never change: rules are only
// appended to a list, or removed from a copy of it.
func (p *provider) staged() ruleSet { return ruleSet{p.lists[Ignore].rules, p.lists[Allow].rules} }

func (p *provider) saved() ruleSet { return ruleSet{p.lists[Ignore].saved, p.lists[Allow].saved} }

// empty reports whether nothing is set for the provider: no list, not even an empty one, and no key
// variable.
func (p *provider) empty() bool {
	for _, l := range p.lists {
		if len(l.rules)+len(l.saved)+len(l.envRules) > 0 || l.origin != "" {
			return false
		}
	}
	return !p.hasKeyVariable
}

// FixedError is returned for an edit of a list that cannot be edited, such as one set by the
// environment.
type FixedError struct {
	Provider string
	List     List
	Reason   string // a clause with the reason and what to do
}

// Error names the list and the reason, which includes what to do.
func (e *FixedError) Error() string {
	return fmt.Sprintf("the %s rules of %s cannot be edited: %s", e.List, e.Provider, e.Reason)
}

// editable returns a *FixedError if a list cannot be edited.
func (p *provider) editable(list List) error {
	if reason := p.lists[list].fixed; reason != "" {
		return &FixedError{p.name, list, reason}
	}
	return nil
}

// engine returns the engine of p. If there is none, it reads the models and creates one.
func (w *Window) engine(p *provider) *engine.Engine {
	if p.engine == nil {
		p.setModels(w.cached(p))
		p.numbers = nil
		w.changed()
	}
	return p.engine
}

// updateEngine sets the engine's rules to the effective rules.
func (p *provider) updateEngine() {
	if p.engine != nil {
		p.engine.Set(p.lists[Ignore].effective(), p.lists[Allow].effective())
	}
}

// changes lists the staged changes with their authors.
func (p *provider) changes() []RuleChange {
	out := ruleChanges(p.name, p.saved(), p.staged())
	for i, c := range out {
		out[i].By = p.lists[c.List].by[c.Pattern]
	}
	return out
}

// stagedBy returns the saved rules with the staged changes of some authors applied. belongs reports
// whether an author is one of them.
func (l *ruleList) stagedBy(belongs func(assistant.Author) bool) []string {
	added, removed := without(l.rules, l.saved), without(l.saved, l.rules)
	theirs := func(pattern string) bool { return !belongs(l.by[pattern]) }
	if !slices.ContainsFunc(added, theirs) && !slices.ContainsFunc(removed, theirs) {
		return l.rules
	}
	rules := slices.DeleteFunc(slices.Clone(l.saved), func(r string) bool {
		return slices.Contains(removed, r) && !theirs(r)
	})
	return append(rules, slices.DeleteFunc(added, theirs)...)
}

// sign records that the user or assistant working in the window staged changes to these patterns.
func (w *Window) sign(l *ruleList, patterns ...string) {
	if w.opts.Author != nil && len(patterns) > 0 {
		l.signAs(w.opts.Author(w.locked), patterns...)
	}
}

func (l *ruleList) signAs(author assistant.Author, patterns ...string) {
	if l.by == nil {
		l.by = map[string]assistant.Author{}
	}
	for _, pattern := range patterns {
		if l.by[pattern] = author; !l.changes(pattern) {
			delete(l.by, pattern)
		}
	}
	if len(l.by) > len(l.rules)+len(l.saved) { // l.by has accumulated patterns that have been saved
		maps.DeleteFunc(l.by, func(pattern string, _ assistant.Author) bool { return !l.changes(pattern) })
	}
}

// changes reports whether adding or removing a pattern is staged.
func (l *ruleList) changes(pattern string) bool {
	return slices.Contains(l.rules, pattern) != slices.Contains(l.saved, pattern)
}

// stage replaces the staged rules of a list.
func (w *Window) stage(p *provider, list List, rules []string) {
	l := &p.lists[list]
	before := l.rules
	l.rules = slices.Clone(rules)
	w.sign(l, append(without(before, l.rules), without(l.rules, before)...)...)
	p.updateEngine()
	w.touch(p)
}

// stageAdd appends one rule, without matching the other rules again.
func (w *Window) stageAdd(p *provider, list List, pattern string) {
	e, l := w.engine(p), &p.lists[list] // create the engine first, so that it starts with the old rules
	l.rules = append(l.rules, pattern)
	w.sign(l, pattern)
	e.Add(list, pattern)
	w.touch(p)
}

// stageRemove removes a rule and its duplicates, without matching the other rules again.
func (w *Window) stageRemove(p *provider, list List, pattern string) {
	e, l := w.engine(p), &p.lists[list]
	l.rules = slices.DeleteFunc(slices.Clone(l.rules), func(r string) bool { return r == pattern })
	w.sign(l, pattern)
	e.Remove(list, pattern)
	w.touch(p)
}

// ruleChanges lists the changes from before to after, list by list, removals first.
func ruleChanges(provider string, before, after ruleSet) []RuleChange {
	var out []RuleChange
	for _, list := range lists {
		for _, r := range without(before[list], after[list]) {
			out = append(out, RuleChange{Provider: provider, List: list, Pattern: r})
		}
		for _, r := range without(after[list], before[list]) {
			out = append(out, RuleChange{Provider: provider, List: list, Pattern: r, Added: true})
		}
	}
	return out
}

// mergeRules applies to theirs the changes from base to ours. If theirs equals base, the result is
// ours in the same order.
func mergeRules(base, ours, theirs []string) []string {
	if slices.Equal(base, theirs) {
		return slices.Clone(ours)
	}
	merged := slices.DeleteFunc(slices.Clone(theirs), func(r string) bool {
		return slices.Contains(base, r) && !slices.Contains(ours, r)
	})
	for _, r := range ours {
		if !slices.Contains(base, r) && !slices.Contains(merged, r) {
			merged = append(merged, r)
		}
	}
	return merged
}

// conflicting lists our changes since base that contradict their changes since base: both sides
// replaced the same rule with different rules, or one side added a pattern to the ignore list and the
// other added it to the allow list. mergeRules merges all other changes.
func conflicting(provider string, base, ours, theirs ruleSet) []RuleChange {
	var out []RuleChange
	for _, list := range lists {
		removed := without(without(base[list], ours[list]), theirs[list])
		mine, others := without(ours[list], base[list]), without(theirs[list], base[list])
		mine, others = without(mine, others), without(others, mine)
		replaced := len(removed) > 0 && len(mine) > 0 && len(others) > 0
		if replaced {
			for _, r := range removed {
				out = append(out, RuleChange{Provider: provider, List: list, Pattern: r})
			}
		}
		opposite := without(theirs[1-list], base[1-list])
		for _, r := range mine {
			if replaced || slices.Contains(opposite, r) && !slices.Contains(ours[1-list], r) {
				out = append(out, RuleChange{Provider: provider, List: list, Pattern: r, Added: true})
			}
		}
	}
	return out
}

// reorder determines the available providers and their order: the preferred ones, all others that
// are not empty, the catalogue's providers if no provider has a key variable, and last the current
// one. Preferred providers that are empty are left out.
func (w *Window) reorder(preferred []string) {
	names := append(slices.Clone(preferred), slices.Sorted(maps.Keys(w.providers))...)
	names = slices.DeleteFunc(names, func(name string) bool { return w.providerNamed(name).empty() })
	keys := false
	for _, p := range w.providers {
		keys = keys || p.hasKeyVariable
	}
	if !keys {
		names = append(names, models.Providers()...)
	}
	if w.current != "" {
		names = append(names, w.current)
	}
	w.order = nil
	for _, name := range names {
		if !slices.Contains(w.order, name) {
			w.order = append(w.order, name)
		}
	}
}

// defaultProvider is the first provider to show if none has rules or a key.
const defaultProvider = "openai"

// firstProvider returns the first provider with rules, preferably one with a key; otherwise the
// first with a key; otherwise the first of all, if it is not empty but defaultProvider is;
// otherwise defaultProvider.
func (w *Window) firstProvider() string {
	ruled := func(name string) bool {
		p := w.providerNamed(name)
		return len(p.lists[Ignore].effective())+len(p.lists[Allow].effective()) > 0
	}
	keyed := func(name string) bool { return w.providerNamed(name).hasKey }
	for _, wanted := range []func(string) bool{func(name string) bool { return ruled(name) && keyed(name) }, ruled, keyed} {
		if i := slices.IndexFunc(w.order, wanted); i >= 0 {
			return w.order[i]
		}
	}
	if first := w.order[0]; w.providerNamed(defaultProvider).empty() && !w.providerNamed(first).empty() {
		return first
	}
	return defaultProvider
}

// providerNamed returns the provider with this name, creating it if necessary.
func (w *Window) providerNamed(name string) *provider {
	p := w.providers[name]
	if p == nil {
		p = &provider{name: name}
		w.providers[name] = p
	}
	return p
}

// findProvider returns an available provider; "" means the current one.
func (w *Window) findProvider(name string) (*provider, error) {
	name = strings.ToLower(strings.TrimSpace(name))
	if name == "" {
		name = w.current
	}
	if !slices.Contains(w.order, name) {
		return nil, &UnknownError{What: "provider", Name: name, Near: nearest.Names(name, w.order, maxNear), Known: slices.Clone(w.order)}
	}
	return w.providerNamed(name), nil
}

// ProviderView is a provider in the list of providers.
type ProviderView struct {
	Name    string
	Current bool
	Key     bool // the proxy has a key for it
	Unsaved bool
	Rules   int  // in both lists
	Fixed   bool // one of its lists cannot be edited
	Asking  bool // a request for its models is in progress

	Read bool // the models have been read; if not, the following fields are not set

	Counts Counts
	Source string // the source of the list; see models.List
	// SourcesText describes where the models come from.
	SourcesText string
	Changes     int         // number of unsaved changes
	Effect      ModelEffect // the effect of saving these changes
	News        []News
	Models      []ModelView // immutable
}

// Providers lists the available providers, in the order of the file.
func (w *Window) Providers() []ProviderView {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := make([]ProviderView, len(w.order))
	for i, name := range w.order {
		out[i] = w.providerView(w.providerNamed(name))
	}
	return out
}

// Provider returns the current provider.
func (w *Window) Provider() string { return withLock(w, func() string { return w.current }) }

// SetProvider makes a provider the current one. It returns ErrLocked or an *UnknownError.
func (w *Window) SetProvider(name string) error {
	return w.asUser(func() error {
		p, err := w.findProvider(name)
		if err != nil {
			return err
		}
		if from := w.current; w.setCurrent(p) {
			w.record("provider_changed", map[string]any{"from": from, "to": p.name})
		}
		return nil
	})
}

// setCurrent makes p the current provider. It returns false if p was already current.
func (w *Window) setCurrent(p *provider) bool {
	if p.name == w.current {
		return false
	}
	w.current, w.highlight = p.name, Highlight{}
	w.changed()
	return true
}
