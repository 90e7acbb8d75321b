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

// lists are all lists, the one that wins first.
var lists = [...]List{Allow, Ignore}

// rule is a pattern in a list. matches never changes; own does as rules before
// it come and go.
type rule struct {
	pattern *glob.Pattern
	matches marks
	own     marks  // the models of which it is the first matching rule of its list
	example string // an id it matches, made when coverage is first asked for
}

// ruleList is an ordered list of rules. Their own sets are disjoint and
// together make any.
type ruleList struct {
	rules []*rule
	any   marks // the models that some rule matches
}

// Engine is the models and rules of one provider. Make it with New.
type Engine struct {
	provider string
	within   *glob.Pattern // the ids of the provider
	models   *index
	lists    [2]ruleList
}

// New makes an engine without rules. Models are full ids, "provider/name"; an
// id that comes again is dropped.
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
		rules := make([]*rule, len(patterns))
		for i, text := range patterns {
			if old := known[text]; old != nil {
				rules[i] = &rule{pattern: old.pattern, matches: old.matches}
				continue
			}
			rules[i] = e.newRule(text)
			known[text] = rules[i]
		}
		l := &e.lists[list]
		l.rules, l.any = rules, newMarks(len(e.models.ids))
		for _, r := range rules {
			l.own(r)
		}
	}
}

func (e *Engine) newRule(text string) *rule {
	p := glob.Compile(text)
	return &rule{pattern: p, matches: e.models.match(p)}
}

// own gives the last rule of the list the models that no earlier rule matches.
func (l *ruleList) own(r *rule) {
	r.own = r.matches.without(l.any)
	l.any.add(r.own)
}

// Add appends a rule. It accepts any pattern; Check decides whether it should be added.
func (e *Engine) Add(list List, pattern string) {
	l := &e.lists[list]
	l.rules = append(l.rules, e.newRule(pattern))
	l.own(l.rules[len(l.rules)-1])
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

// RemoveAt removes the rule at index, which must be there, from the list.
func (e *Engine) RemoveAt(list List, index int) {
	l := &e.lists[list]
	freed := l.rules[index].own
	l.rules = slices.Delete(l.rules, index, index+1)
	for _, later := range l.rules[index:] {
		freed.moveTo(later.own, later.matches)
	}
	l.any.remove(freed)
}

// Patterns returns the patterns of the list in order.
func (e *Engine) Patterns(list List) []string {
	out := make([]string, len(e.lists[list].rules))
	for i, r := range e.lists[list].rules {
		out[i] = r.pattern.String()
	}
	return out
}
