package engine

import (
	"slices"
	"strings"
)

// Status is how the rules apply to a model.
type Status uint8

// The statuses of a model.
const (
	Normal      Status = iota // no rule matches: shown
	Ignored                   // an ignore rule decides: hidden
	Whitelisted               // an allow rule decides: shown
)

// String returns "normal", "ignored" or "whitelisted".
func (s Status) String() string {
	return [...]string{"normal", "ignored", "whitelisted"}[s]
}

// Word returns the status as shown to people.
func (s Status) Word() string { return [...]string{"shown", "hidden", "allowed"}[s] }

// MarshalText returns String, for JSON.
func (s Status) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// statusOf maps the list of the deciding rule to the model's status.
var statusOf = [...]Status{Ignore: Ignored, Allow: Whitelisted}

// ModelStatus is the status of one model and the rule that decides it.
type ModelStatus struct {
	ID         string `json:"id"`
	Status     Status `json:"status"`
	Rule       string `json:"rule"`                 // pattern of the deciding rule; "" if Index is -1
	Index      int    `json:"-"`                    // index of that rule in its list; -1 if no rule decides
	List       List   `json:"-"`                    // list of that rule; meaningless if Index is -1
	Unfiltered bool   `json:"unfiltered,omitempty"` // the proxy does not filter this id at all
}

// Status returns the status of any id, known or not.
func (e *Engine) Status(id string) ModelStatus {
	s := ModelStatus{ID: id, Index: -1}
	name, ok := filteredName(e.provider, id)
	if !ok {
		s.Unfiltered = true
		return s
	}
	i, known := e.models.position[id]
	for _, list := range byPrecedence {
		for k, r := range e.lists[list].rules {
			if known && r.first.has(i) || !known && (r.pattern.Match(id) || r.pattern.Match(name)) {
				s.Status, s.Rule, s.Index, s.List = statusOf[list], r.pattern.String(), k, list
				return s
			}
		}
	}
	return s
}

// Statuses returns the statuses of all models in their order.
func (e *Engine) Statuses() []ModelStatus {
	out := make([]ModelStatus, len(e.models.ids))
	for i, id := range e.models.ids {
		out[i] = ModelStatus{ID: id, Index: -1, Unfiltered: e.models.unfiltered.has(int32(i))}
	}
	for _, list := range []List{Ignore, Allow} { // allow rules take precedence, so they are written last
		for k, r := range e.lists[list].rules {
			pattern := r.pattern.String()
			r.first.each(func(i int) bool {
				s := &out[i]
				s.Status, s.Rule, s.Index, s.List = statusOf[list], pattern, k, list
				return true
			})
		}
	}
	return out
}

// Models returns all models in their order.
func (e *Engine) Models() []string { return slices.Clone(e.models.ids) }

// Total returns how many models there are.
func (e *Engine) Total() int { return len(e.models.ids) }

// Shown returns the number of models that are not hidden, including unfiltered ones.
func (e *Engine) Shown() int { return e.Total() - e.hidden().count() }

// hidden returns the ignored models.
func (e *Engine) hidden() bitset { return e.lists[Ignore].matched.without(e.lists[Allow].matched) }

// Hidden returns the ignored models in their order.
func (e *Engine) Hidden() []string { return e.models.list(e.hidden(), 0) }

// Unfiltered returns the models that the proxy does not filter.
func (e *Engine) Unfiltered() []string { return e.models.list(e.models.unfiltered, 0) }

// Matching returns the models that pattern, once trimmed, would match as a rule.
func (e *Engine) Matching(pattern string) []string {
	return e.models.list(e.newRule(strings.TrimSpace(pattern)).matches, 0)
}

// RuleInfo describes a rule as it was when Rules was called.
type RuleInfo struct {
	Pattern  string `json:"pattern"`
	List     List   `json:"-"`
	Index    int    `json:"-"`
	Matches  int    `json:"matches"`        // number of models that the rule matches
	Decides  int    `json:"affected_count"` // number of models whose status the rule decides
	Shadowed bool   `json:"shadowed"`       // the rule matches models but decides none
	Dead     bool   `json:"dead"`           // the rule matches no model
}

// Rules describes the rules of the list in order.
func (e *Engine) Rules(list List) []RuleInfo {
	out := make([]RuleInfo, len(e.lists[list].rules))
	for i, r := range e.lists[list].rules {
		info := RuleInfo{
			Pattern: r.pattern.String(), List: list, Index: i,
			Matches: r.matches.count(), Decides: e.decides(list, r).count(),
		}
		info.Dead = info.Matches == 0
		info.Shadowed = !info.Dead && info.Decides == 0
		out[i] = info
	}
	return out
}

// Decided returns the first n models that the rule at index decides, or all if n is 0. It
// returns nil if there is no such rule.
func (e *Engine) Decided(list List, index, n int) []string {
	if index < 0 || index >= len(e.lists[list].rules) {
		return nil
	}
	return e.models.list(e.decides(list, e.lists[list].rules[index]), n)
}

// decides returns the models whose status r decides.
func (e *Engine) decides(list List, r *rule) bitset {
	if list == Allow {
		return r.first
	}
	return r.first.without(e.lists[Allow].matched)
}

// MatchingRule is a rule that matches a model.
type MatchingRule struct {
	List    List
	Index   int
	Pattern string
	Decides bool
}

// Explanation is the reason for a model's status.
type Explanation struct {
	ModelStatus
	// Rules are all rules that match the id, allow rules first, each list in order. For an
	// unfiltered id, none of them decides.
	Rules []MatchingRule
}

// Explain explains the status of any id.
func (e *Engine) Explain(id string) Explanation {
	x := Explanation{ModelStatus: e.Status(id)}
	for _, list := range byPrecedence {
		for i, r := range e.lists[list].rules {
			if r.pattern.MatchID(id) {
				decides := x.Index == i && x.List == list
				x.Rules = append(x.Rules, MatchingRule{list, i, r.pattern.String(), decides})
			}
		}
	}
	return x
}
