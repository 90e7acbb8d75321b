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
	hasKeyVariable bool // there is a variable for its key, perhaps an empty one
	hasKey         bool // one of these variables has a value
	lists          [2]ruleList

	engine   *engine.Engine // of the effective rules; nil until it is needed
	models   ModelList
	info     []llm.ModelInfo // of models, in their order; nil: not read yet
	news     []models.Change // of models since the user last looked, if newsRead
	newsRead bool
	asking   int // refreshes that have not ended
	drift    models.Drift

	use        *usage.Report // as it was read last; nil: unknown
	useProblem string        // why the usage file cannot be used

	revision int64             // of the window, when rules or models of the provider changed last
	shown    *ProviderSnapshot // at revision; nil until it is needed
	numbers  *numbers          // at revision; nil until they are needed
}

// ruleList is one list of a provider: what the files and the environment say
// of it, and the staged rules.
type ruleList struct {
	vars  []string // the variables of the file that set the list, the deciding one last
	saved []string // the file's rules, else another file's: what a save replaces
	rules []string // what is staged
	// by is who staged the last change of a pattern. Some of its patterns may be saved.
	by            map[string]assistant.Author
	origin        string // where saved comes from, ".env:12"; "" when there are none
	fromOtherFile bool   // origin is another file

	fixed    string   // why the list cannot be edited; "" when it can
	fromEnv  bool     // the environment decides
	envRules []string // its rules, in force in place of saved
}

// ruleSet is the rules of both lists, by List.
type ruleSet [2][]string

// effective are the rules that the proxy would use after a save.
func (l *ruleList) effective() []string {
	if l.fromEnv {
		return l.envRules
	}
	return l.rules
}

// inForce are the rules that the proxy uses without a save.
func (l *ruleList) inForce() []string {
	if l.fromEnv {
		return l.envRules
	}
	return l.saved
}

func (l *ruleList) dirty() bool { return !slices.Equal(l.rules, l.saved) }

func (p *provider) dirty() bool { return p.lists[Ignore].dirty() || p.lists[Allow].dirty() }

// staged and saved are the rules of both lists. They stay as they are: rules
// are only appended to a list, and removed from a copy.
func (p *provider) staged() ruleSet { return ruleSet{p.lists[Ignore].rules, p.lists[Allow].rules} }

func (p *provider) saved() ruleSet { return ruleSet{p.lists[Ignore].saved, p.lists[Allow].saved} }

// empty reports whether no rule and no key variable names the provider.
func (p *provider) empty() bool {
	for _, l := range p.lists {
		if len(l.rules)+len(l.saved)+len(l.envRules) > 0 || l.origin != "" {
			return false
		}
	}
	return !p.hasKeyVariable
}

// FixedError is returned for an edit of a list that the file alone does not decide.
type FixedError struct {
	Provider string
	List     List
	Reason   string // one clause, with what to do
}

// Error names the list, the reason and what to do.
func (e *FixedError) Error() string {
	return fmt.Sprintf("the %s rules of %s cannot be edited: %s", e.List, e.Provider, e.Reason)
}

// editable refuses a list that cannot be edited.
func (p *provider) editable(list List) error {
	if reason := p.lists[list].fixed; reason != "" {
		return &FixedError{p.name, list, reason}
	}
	return nil
}

// engine returns the engine of p, made when it is first needed.
func (w *Window) engine(p *provider) *engine.Engine {
	if p.engine == nil {
		var list ModelList
		if w.opts.Models != nil {
			if cached, ok := w.opts.Models.Cached(p.name); ok { // an empty list comes from nowhere
				list = cached
			}
		}
		p.setModels(list)
		p.numbers = nil
		w.changed()
	}
	return p.engine
}

// updateEngine gives the engine the effective rules.
func (p *provider) updateEngine() {
	if p.engine != nil {
		p.engine.Set(p.lists[Ignore].effective(), p.lists[Allow].effective())
	}
}

// changes lists what is staged, with who staged it.
func (p *provider) changes() []RuleChange {
	out := ruleChanges(p.name, p.saved(), p.staged())
	for i, c := range out {
		out[i].By = p.lists[c.List].by[c.Pattern]
	}
	return out
}

// stagedBy are the rules with only those staged changes whose author belongs.
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

// sign notes that the user or assistant who works in the window now staged changes of
// these patterns.
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
	if len(l.by) > len(l.rules)+len(l.saved) { // saves have left some
		maps.DeleteFunc(l.by, func(pattern string, _ assistant.Author) bool { return !l.changes(pattern) })
	}
}

// changes reports whether a pattern is staged to be added or removed.
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

// stageAdd appends one rule, at the cost of that rule.
func (w *Window) stageAdd(p *provider, list List, pattern string) {
	e, l := w.engine(p), &p.lists[list] // the engine first: one made now has the rules as they are
	l.rules = append(l.rules, pattern)
	w.sign(l, pattern)
	e.Add(list, pattern)
	w.touch(p)
}

// stageRemove removes a rule with its duplicates, at the cost of that rule.
func (w *Window) stageRemove(p *provider, list List, pattern string) {
	e, l := w.engine(p), &p.lists[list]
	l.rules = slices.DeleteFunc(slices.Clone(l.rules), func(r string) bool { return r == pattern })
	w.sign(l, pattern)
	e.Remove(list, pattern)
	w.touch(p)
}

// ruleChanges lists what turns the rules before into those after, removals first.
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

// mergeRules does to theirs what turned base into ours. Where they changed
// nothing ours stays as it is, with its order.
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

// reorder lists the providers that can be chosen: those that were read, those
// with staged rules, the current one, and if there is no key variable at all,
// those of the catalogue.
func (w *Window) reorder(read []string) {
	names := append(slices.Clone(read), slices.Sorted(maps.Keys(w.providers))...)
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

// defaultProvider is the provider shown first when none has a key.
const defaultProvider = "openai"

// firstProvider is the first provider with rules, rather one with a key as well, else the
// first with a key, else the default one unless keys name only others.
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

// providerNamed returns the provider of that name, a new one if there is none.
func (w *Window) providerNamed(name string) *provider {
	p := w.providers[name]
	if p == nil {
		p = &provider{name: name}
		w.providers[name] = p
	}
	return p
}

// findProvider returns a provider that can be chosen; "" is the current one.
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

// ProviderView is a provider as it is listed.
type ProviderView struct {
	Name    string
	Current bool
	Key     bool // the proxy has a key for it
	Unsaved bool
	Rules   int  // in both lists
	Fixed   bool // the environment decides one of its lists
	Asking  bool // it is being asked for its models

	// Of a Snapshot only, and unless Read is false because its models were not read yet.
	Read   bool
	Counts Counts
	Source string // of most models, see models.List
	// SourcesText says where the models come from.
	SourcesText string
	Changes     int         // unsaved
	Effect      ModelEffect // of saving them
	News        []News
}

// Providers lists the providers that can be chosen, in the order of the file.
func (w *Window) Providers() []ProviderView {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := make([]ProviderView, len(w.order))
	for i, name := range w.order {
		out[i] = w.providerView(w.providerNamed(name))
	}
	return out
}

// Provider is the current provider.
func (w *Window) Provider() string { return withLock(w, func() string { return w.current }) }

// SetProvider makes a provider the current one. The error is ErrLocked or an
// *UnknownError.
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

// setCurrent makes p the current provider; false if it already was.
func (w *Window) setCurrent(p *provider) bool {
	if p.name == w.current {
		return false
	}
	w.current, w.highlight = p.name, Highlight{}
	w.changed()
	return true
}
