package modelfilter

import (
	"fmt"
	"slices"
	"strings"

	"winnow/adapters/modelfilter/engine"
)

// provider is what the window holds of one provider.
type provider struct {
	name  string
	named bool // a variable for its key is there
	key   bool // with a value
	lists [2]ruleList

	engine *engine.Engine // of the rules that are shown; nil until they are asked for
	models ModelList
	sum    string // identifies the ids of models
}

// ruleList is one list of a provider.
type ruleList struct {
	listReading
	saved []string // what the file says
	rules []string // what is staged
}

// effective are the rules that the proxy would heed after a save.
func (l *ruleList) effective() []string {
	if l.env {
		return l.wins
	}
	return l.rules
}

func (l *ruleList) dirty() bool { return !slices.Equal(l.rules, l.saved) }

func (p *provider) dirty() bool { return p.lists[Ignore].dirty() || p.lists[Allow].dirty() }

// empty says whether nothing but a choice of the user speaks of the provider.
func (p *provider) empty() bool {
	for _, list := range lists {
		if l := &p.lists[list]; len(l.rules)+len(l.saved)+len(l.wins) > 0 || l.origin != "" {
			return false
		}
	}
	return !p.named
}

// FixedError is an edit of a list that something else than the file decides.
type FixedError struct {
	Provider string
	List     List
	Reason   string // one clause, with the way out
}

// Error names the list, the reason and the way out.
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

// rules returns the engine, made when it is first needed.
func (w *Window) rules(p *provider) *engine.Engine {
	if p.engine == nil {
		if w.opts.Models != nil {
			if list, ok := w.opts.Models.Cached(p.name); ok {
				p.setModels(list)
			}
		}
		p.engine = engine.New(p.name, p.models.IDs)
		p.sync()
	}
	return p.engine
}

// sync gives the engine the rules that are shown.
func (p *provider) sync() {
	if p.engine != nil {
		p.engine.Set(p.lists[Ignore].effective(), p.lists[Allow].effective())
	}
}

// stage replaces the staged rules of a list.
func (w *Window) stage(p *provider, list List, rules []string) {
	p.lists[list].rules = slices.Clone(rules)
	p.sync()
	w.revision++
}

// stageAdd appends one rule, at the cost of that rule.
func (w *Window) stageAdd(p *provider, list List, pattern string) {
	e, l := w.rules(p), &p.lists[list] // the engine first: one made now has the rules as they are
	l.rules = append(l.rules, pattern)
	e.Add(list, pattern)
	w.revision++
}

// stageRemove takes the rule at index out, at the cost of that rule.
func (w *Window) stageRemove(p *provider, list List, index int) {
	e, l := w.rules(p), &p.lists[list]
	l.rules = slices.Delete(slices.Clone(l.rules), index, index+1)
	e.RemoveAt(list, index)
	w.revision++
}

// staging says what becomes of staged rules when the file is read anew.
type staging int

const (
	dropStaged   staging = iota // the file's rules take their place
	retainStaged                // they stay as they are
	mergeStaged                 // what was staged is done to the file's rules
)

// adopt takes over what was read.
func (w *Window) adopt(r *reading, what staging) {
	w.source, w.notices = r.source, r.notices
	if w.versions != nil {
		w.notices = append(w.notices, w.versions.Notices()...)
	}
	for name := range r.at {
		w.providerNamed(name)
	}
	for name, p := range w.providers {
		said := r.at[name]
		if said == nil {
			said = &providerReading{}
		}
		p.named, p.key = said.named, said.key
		for _, list := range lists {
			l := &p.lists[list]
			before := l.saved
			l.listReading = said.lists[list]
			l.saved = l.listReading.rules
			switch what {
			case dropStaged:
				l.rules = slices.Clone(l.saved)
			case mergeStaged:
				l.rules = mergeRules(before, l.rules, l.saved)
			default:
			}
		}
		p.sync()
	}
	w.reorder(r.order)
	w.revision++
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
// with staged rules, and as long as none has a key those that are well known.
func (w *Window) reorder(read []string) {
	var order, others []string
	for _, name := range read {
		if p := w.providers[name]; p != nil && !p.empty() {
			order = append(order, name)
		}
	}
	keys := false
	for name, p := range w.providers {
		keys = keys || p.named
		if !p.empty() && !slices.Contains(order, name) {
			others = append(others, name)
		}
	}
	slices.Sort(others)
	order = append(order, others...)
	if !keys {
		others = wellKnown()
	}
	if w.current != "" {
		others = append(others, w.current) // the user stays where they are
	}
	for _, name := range others {
		if !slices.Contains(order, name) {
			order = append(order, name)
		}
	}
	w.order = order
}

// firstProvider is the one to begin with: the first with a key, else the
// newcomer's if rules name it or nothing is named, else the first that is named.
func (w *Window) firstProvider() string {
	for _, name := range w.order {
		if p := w.providers[name]; p != nil && p.key {
			return name
		}
	}
	if p := w.providers[newcomer]; p != nil && !p.empty() {
		return newcomer
	}
	if p := w.providers[w.order[0]]; p != nil && !p.empty() {
		return p.name
	}
	return newcomer
}

// newcomer is the provider shown when none has a key.
const newcomer = "openai"

// providerNamed returns the provider, known or not.
func (w *Window) providerNamed(name string) *provider {
	p := w.providers[name]
	if p == nil {
		p = &provider{name: name}
		w.providers[name] = p
	}
	return p
}

// find returns a provider that can be chosen; "" is the current one.
func (w *Window) find(name string) (*provider, error) {
	name = strings.ToLower(strings.TrimSpace(name))
	if name == "" {
		name = w.current
	}
	if !slices.Contains(w.order, name) {
		return nil, &UnknownError{What: "provider", Name: name, Near: nearest(name, w.order), Known: slices.Clone(w.order)}
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
}

// Providers lists the providers that can be chosen, in the order of the file.
func (w *Window) Providers() []ProviderView {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := make([]ProviderView, len(w.order))
	for i, name := range w.order {
		p := w.providerNamed(name)
		out[i] = ProviderView{
			Name: name, Current: name == w.current, Key: p.key, Unsaved: p.dirty(),
			Rules: len(p.lists[Ignore].effective()) + len(p.lists[Allow].effective()),
			Fixed: p.lists[Ignore].fixed != "" || p.lists[Allow].fixed != "",
		}
	}
	return out
}

// Provider is the current provider.
func (w *Window) Provider() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.current
}

// SetProvider makes a provider the current one. The error is ErrLocked or an
// *UnknownError.
func (w *Window) SetProvider(name string) error {
	return w.asUser(func() error {
		p, err := w.find(name)
		if err != nil {
			return err
		}
		if from := w.current; w.choose(p) {
			w.record("provider_changed", map[string]any{"from": from, "to": p.name})
		}
		return nil
	})
}

// choose makes p the current provider; false if it was.
func (w *Window) choose(p *provider) bool {
	if p.name == w.current {
		return false
	}
	w.current, w.highlight = p.name, Highlight{}
	w.revision++
	return true
}
