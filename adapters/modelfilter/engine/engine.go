package engine

import (
	"slices"
	"strings"
	"sync"

	"winnow/assistant/glob"
)

// List is one of the two rule lists.
type List uint8

// The lists of a provider.
const (
	Ignore List = iota // rules that hide models
	Allow              // rules that show models regardless of Ignore; the proxy's "whitelist"
)

// String returns "ignore" or "allow".
func (l List) String() string { return [...]string{"ignore", "allow"}[l] }

// byPrecedence contains the lists in order of precedence.
var byPrecedence = [...]List{Allow, Ignore}

// rule is a pattern in a list. It is immutable and shared by clones.
type rule struct {
	pattern *glob.Pattern
	matches bitset
	first   bitset // models for which it is the first matching rule of its list
	// example returns an id made from the pattern, and whether the rule matches that id. The
	// rule might not match if invalid bytes in the pattern form a valid character in the id.
	example func() (id string, matches bool)
}

// ruleList is an ordered list of rules. Each model in matched is in the set rule.first of exactly
// one rule. A change copies only what it changes; clones share the rest.
type ruleList struct {
	rules   []*rule
	matched bitset // models that some rule matches
}

// Engine holds the models and rules of one provider. Create it with New.
type Engine struct {
	provider string
	within   *glob.Pattern // matches the ids of the provider
	models   *index
	lists    [2]ruleList
}

// New returns an engine without rules. Models are full ids, "provider/name"; duplicates are
// dropped.
func New(provider string, models []string) *Engine {
	provider = strings.ToLower(provider)
	e := &Engine{provider: provider, within: glob.Compile(glob.Quote(provider) + "/*"), models: newIndex(provider, models)}
	e.Set(nil, nil)
	return e
}

// Clone returns a copy of e. Later changes to either engine do not affect the other. It takes
// constant time.
func (e *Engine) Clone() *Engine {
	clone := *e
	for i := range clone.lists {
		clone.lists[i].rules = slices.Clip(clone.lists[i].rules)
	}
	return &clone
}

// Provider returns the name passed to New, in lower case.
func (e *Engine) Provider() string { return e.provider }

// Set replaces both lists. Patterns are used unchanged, including duplicates; a pattern
// that was already in one of the lists is not matched again.
func (e *Engine) Set(ignore, allow []string) {
	known := map[string]*rule{}
	for _, l := range e.lists {
		for _, r := range l.rules {
			known[r.pattern.String()] = r
		}
	}
	for list, patterns := range map[List][]string{Ignore: ignore, Allow: allow} {
		l := &e.lists[list]
		l.rules, l.matched = make([]*rule, 0, len(patterns)), newBitset(len(e.models.ids))
		for _, text := range patterns {
			if old := known[text]; old != nil {
				l.append(&rule{pattern: old.pattern, matches: old.matches, example: old.example})
				continue
			}
			known[text] = e.newRule(text)
			l.append(known[text])
		}
	}
}

func (e *Engine) newRule(text string) *rule {
	p, provider := glob.Compile(text), e.provider
	return &rule{pattern: p, matches: e.models.matching(p), example: sync.OnceValues(func() (string, bool) {
		name, _ := p.Example()
		id := provider + "/" + name
		return id, p.MatchID(id)
	})}
}

// append adds a rule to the end. The rule is the first to match the models that no earlier
// rule matches. l.matched must not be shared with a clone.
func (l *ruleList) append(r *rule) {
	r.first = r.matches.without(l.matched)
	l.matched.add(r.first)
	l.rules = append(l.rules, r)
}

// Add appends a rule. It accepts any pattern; use Check to decide whether to add it.
func (e *Engine) Add(list List, pattern string) {
	l := &e.lists[list]
	l.matched = slices.Clone(l.matched)
	l.append(e.newRule(pattern))
}

// Remove removes every rule with this pattern from the list and returns how
// many there were.
func (e *Engine) Remove(list List, pattern string) int {
	removed := 0
	for i := len(e.lists[list].rules) - 1; i >= 0; i-- {
		if e.lists[list].rules[i].pattern.String() == pattern {
			e.RemoveAt(list, i)
			removed++
		}
	}
	return removed
}

// RemoveAt removes the rule at index, which must exist, from the list.
func (e *Engine) RemoveAt(list List, index int) {
	l := &e.lists[list]
	freed := slices.Clone(l.rules[index].first)
	l.rules = slices.Concat(l.rules[:index], l.rules[index+1:])
	for i, later := range l.rules[index:] {
		if freed.meets(later.matches) {
			moved := *later
			moved.first = later.first.with(freed.intersect(later.matches))
			l.rules[index+i] = &moved
			freed.remove(later.matches)
		}
	}
	l.matched = l.matched.without(freed)
}

// Patterns returns the patterns of the list in order.
func (e *Engine) Patterns(list List) []string {
	out := make([]string, len(e.lists[list].rules))
	for i, r := range e.lists[list].rules {
		out[i] = r.pattern.String()
	}
	return out
}
