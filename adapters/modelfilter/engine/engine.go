package engine

import (
	"slices"
	"strings"

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

// rule is a pattern in a list. matches never changes; first does when rules
// before it are added or removed.
type rule struct {
	pattern *glob.Pattern
	matches bitset
	first   bitset // the models of which it is the first matching rule of its list

	example        string // an id made of the pattern when coverage is first asked for
	exampleMatches bool   // the rule matches it: not where bad bytes in a row are a valid character
}

// ruleList is an ordered list of rules. Their first sets are disjoint; the union
// of them is matched.
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
				l.append(&rule{pattern: old.pattern, matches: old.matches})
				continue
			}
			known[text] = e.newRule(text)
			l.append(known[text])
		}
	}
}

func (e *Engine) newRule(text string) *rule {
	p := glob.Compile(text)
	return &rule{pattern: p, matches: e.models.matching(p)}
}

// append adds r, which is the first matching rule of the models that no other matches.
func (l *ruleList) append(r *rule) {
	r.first = r.matches.without(l.matched)
	l.matched.add(r.first)
	l.rules = append(l.rules, r)
}

// Add appends a rule. It accepts any pattern; Check decides whether it should be added.
func (e *Engine) Add(list List, pattern string) {
	e.lists[list].append(e.newRule(pattern))
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
	freed := l.rules[index].first
	l.rules = slices.Delete(l.rules, index, index+1)
	for _, later := range l.rules[index:] {
		freed.moveTo(later.first, later.matches)
	}
	l.matched.remove(freed)
}

// Patterns returns the patterns of the list in order.
func (e *Engine) Patterns(list List) []string {
	out := make([]string, len(e.lists[list].rules))
	for i, r := range e.lists[list].rules {
		out[i] = r.pattern.String()
	}
	return out
}
