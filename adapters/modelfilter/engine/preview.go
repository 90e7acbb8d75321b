package engine

import (
	"slices"
	"strings"
)

// Effect is the effect of adding or removing a rule.
type Effect struct {
	Matches int      // number of models that the rule matches
	Hidden  []string // shown now, hidden after the edit
	Shown   []string // hidden now, shown after the edit
}

// Preview returns the effect of adding pattern, once trimmed, to the list. Its position in the
// list does not matter.
func (e *Engine) Preview(list List, pattern string) Effect {
	matches := e.newRule(strings.TrimSpace(pattern)).matches
	c := Effect{Matches: matches.count()}
	if list == Allow {
		c.Shown = e.models.list(matches.intersect(e.hidden()), 0)
		return c
	}
	added := matches.without(e.lists[Ignore].matched)
	c.Hidden = e.models.list(added.without(e.lists[Allow].matched), 0)
	return c
}

// PreviewRemove returns the effect of removing the rule at index, or no effect if there is
// no such rule.
func (e *Engine) PreviewRemove(list List, index int) Effect {
	l := &e.lists[list]
	if index < 0 || index >= len(l.rules) {
		return Effect{}
	}
	r := l.rules[index]
	freed := slices.Clone(r.first)
	for _, later := range l.rules[index+1:] {
		freed.remove(later.matches)
	}
	c := Effect{Matches: r.matches.count()}
	if list == Allow {
		c.Hidden = e.models.list(freed.intersect(e.lists[Ignore].matched), 0)
	} else {
		c.Shown = e.models.list(freed.without(e.lists[Allow].matched), 0)
	}
	return c
}
