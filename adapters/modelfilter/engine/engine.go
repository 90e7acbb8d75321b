package engine

import (
	"slices"
	"strings"
	"sync"

	"winnow/assistant/glob"
)

// List names one of the two rule lists.
type List uint8

// The lists of a provider.
const (
	Ignore List = iota // hides
	Allow              // shows, whatever Ignore says; the proxy's "whitelist"
)

// String returns "ignore" or "allow".
func (l List) String() string { return [...]string{"ignore", "allow"}[l] }

// byPrecedence lists the lists, the one that wins first.
var byPrecedence = [...]List{Allow, Ignore}

// rule is a pattern in a list. It never changes: clones share it.
type rule struct {
	pattern *glob.Pattern
	matches bitset
	first   bitset // the models of which it is the first matching rule of its list
	// example returns an id made of the pattern, and whether the rule matches it: not
	// where bad bytes in a row are a valid character.
	example func() (id string, matches bool)
}

// ruleList is an ordered list of rules. Their first sets are disjoint; the union
// of them is matched. A change replaces what it changes: clones share the rest.
type ruleList struct {
	rules   []*rule
	matched bitset // the models that some rule matches
}

// Engine is the models and rules of one provider. Make it with New.
type Engine struct {
	provider string
	within   *glob.Pattern // the ids of the provider
	models   *index
	lists    [2]ruleList
}

// New makes an engine without rules. Models are full ids, "provider/name";
// duplicates are dropped.
func New(provider string, models []string) *Engine {
	provider = strings.ToLower(provider)
	e := &Engine{provider: provider, within: glob.Compile(glob.Quote(provider) + "/*"), models: newIndex(provider, models)}
	e.Set(nil, nil)
	return e
}

// Clone returns an engine with the same models and rules, which changes of e do not
// change. It takes the same short time however many there are.
func (e *Engine) Clone() *Engine {
	clone := *e
	for i := range clone.lists {
		clone.lists[i].rules = slices.Clip(clone.lists[i].rules)
	}
	return &clone
}

// Provider returns the name the engine was made with.
func (e *Engine) Provider() string { return e.provider }

// Set replaces both lists. Patterns are used as they are, duplicates
// included; a pattern that was in either list before is not matched again.
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

// append adds a new rule, which is the first matching one of the models that no other
// matches. No clone has l.matched.
func (l *ruleList) append(r *rule) {
	r.first = r.matches.without(l.matched)
	l.matched.add(r.first)
	l.rules = append(l.rules, r)
}

// Add appends a rule. It accepts any pattern; Check decides whether it should be added.
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
