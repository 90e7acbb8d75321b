package modelfilter

import (
	"fmt"
	"slices"
	"strings"

	"winnow/adapters/modelfilter/engine"
	"winnow/assistant"
)

// ruleResult is what a tool says of one rule. Models are named as rules name
// them; at most maxListed, the counts are exact.
type ruleResult struct {
	Provider  string   `json:"provider"`
	RuleType  string   `json:"rule_type"`
	Pattern   string   `json:"pattern,omitempty"`
	Affected  []string `json:"affected_models"`
	Count     int      `json:"affected_count"`
	Truncated bool     `json:"truncated,omitempty"`
	Matched   int      `json:"matched_count,omitempty"`
	Redundant []string `json:"redundant_rules,omitempty"`
	Undecided []string `json:"undecided_rules,omitempty"`
	Removed   []string `json:"removed_rules,omitempty"`
	numbers
}

// numbers go with every result that changes rules.
type numbers struct {
	Available int  `json:"available_count"`
	Total     int  `json:"total_count"`
	Unsaved   bool `json:"has_unsaved_changes"`
}

func (w *Window) numbers(e *engine.Engine) numbers {
	return numbers{e.Available(), e.Total(), w.dirty()}
}

// name names some ids, and says whether that was all of them.
func name(p *provider, ids []string) (names []string, cut bool) {
	return displayNames(p.name, ids[:min(len(ids), maxListed)]), len(ids) > maxListed
}

func (w *Window) toolAdd(list List, a ruleArgs) assistant.ToolResult {
	return w.onProvider(a.Provider, func(p *provider, e *engine.Engine) assistant.ToolResult {
		added, err := w.add(p, list, a.Pattern)
		if err != nil {
			return failed(err)
		}
		data := ruleResult{
			Provider: p.name, RuleType: ruleType(list), Pattern: shown(added.Pattern),
			Count: len(added.Models), Matched: added.Matches,
			Redundant: shownAll(added.Redundant), Undecided: shownAll(added.Undecided), numbers: w.numbers(e),
		}
		data.Affected, data.Truncated = name(p, added.Models)
		r := assistant.OK(w.addedText(p, e, list, added), data)
		if added.Matches == 0 {
			r.Hint = w.noMatchHint(e, added.Pattern)
		}
		return r
	})
}

// addedText says what a new rule does: first the effect, which is what a line
// with little room shows of it.
func (w *Window) addedText(p *provider, e *engine.Engine, list List, a Added) string {
	n := len(a.Models)
	effect := assistant.Counted(n, "model") + " hidden"
	switch {
	case a.Matches == 0:
		effect = "Matches no model now"
	case list == Allow:
		effect = assistant.Counted(n, "model") + " kept available"
	case n == 0:
		effect = "Nothing changes, other rules decide the " + assistant.Counted(a.Matches, "model") + " it matches"
	}
	text := fmt.Sprintf("%s: added %s rule %s for %s.", effect, ruleType(list), quote(a.Pattern), p.name)
	if kept := a.Matches - n; kept > 0 && n > 0 {
		text += fmt.Sprintf(" Other rules decide %d more that it matches.", kept)
	}
	text += w.standing(e)
	if len(a.Redundant) > 0 {
		text += fmt.Sprintf(" It makes these %s rules redundant: %s.", ruleType(list), quoteAll(a.Redundant))
	}
	if len(a.Undecided) > 0 {
		text += fmt.Sprintf(" Whether it and these rules cover each other was not found out: %s.", quoteAll(a.Undecided))
	}
	return text
}

// standing ends what is said of a change: what is available now, and whether
// that is saved. A change that takes an unsaved one back leaves nothing to save.
func (w *Window) standing(e *engine.Engine) string {
	saved := "Not saved yet."
	if !w.dirty() {
		saved = "Nothing is unsaved now."
	}
	return fmt.Sprintf(" %d of %d available. %s", e.Available(), e.Total(), saved)
}

// noMatchHint helps with a pattern that matches nothing.
func (w *Window) noMatchHint(e *engine.Engine, pattern string) string {
	pattern = strings.TrimSpace(pattern)
	if e.Total() == 0 {
		return "No models of this provider are known yet; refresh_models asks for them."
	}
	if wider := "*" + strings.Trim(pattern, "*") + "*"; wider != pattern && wider != "**" {
		if n := len(e.Matching(wider)); n > 0 {
			return fmt.Sprintf("No matches. Hint: use wildcards, e.g. %s, which matches %s.", shown(wider), assistant.Counted(n, "model"))
		}
	}
	names := make([]string, e.Total())
	for i, id := range e.Models() {
		names[i] = displayName(e.Provider(), id)
	}
	if near := nearest(strings.Trim(pattern, "*"), names); len(near) > 0 {
		return "No matches. Hint: upper and lower case differ; near are " + quoteAll(near) + "."
	}
	return "No matches. Hint: use wildcards, e.g. *preview*."
}

func (w *Window) toolRemove(list List, a ruleArgs) assistant.ToolResult {
	return w.onProvider(a.Provider, func(p *provider, e *engine.Engine) assistant.ToolResult {
		before := e.Hidden()
		if err := w.remove(p, list, a.Pattern); err != nil {
			r := failed(err)
			if rules := p.lists[list].rules; len(rules) == 0 {
				r.Hint = fmt.Sprintf("There are no %s rules for %s.", ruleType(list), p.name)
			} else {
				r.Hint = fmt.Sprintf("The %s rules of %s are: %s.", ruleType(list), p.name, quoteAll(rules))
			}
			return r
		}
		pattern := strings.TrimSpace(a.Pattern)
		changed, effect := changedBy(list, before, e.Hidden())
		data := ruleResult{Provider: p.name, RuleType: ruleType(list), Pattern: shown(pattern), Count: len(changed), numbers: w.numbers(e)}
		data.Affected, data.Truncated = name(p, changed)
		return assistant.OK(fmt.Sprintf("%s %s: removed %s rule %s of %s.",
			assistant.Counted(len(changed), "model"), effect, ruleType(list), quote(pattern), p.name)+w.standing(e), data)
	})
}

// changedBy returns the models that the removal of rules changed, and how.
func changedBy(list List, before, after []string) (ids []string, effect string) {
	if list == Ignore {
		ids, effect = without(before, after), "shown again"
	} else {
		ids, effect = without(after, before), "hidden now"
	}
	return ids, effect
}

func (w *Window) toolClear(list List, a listArgs) assistant.ToolResult {
	return w.onProvider(a.Provider, func(p *provider, e *engine.Engine) assistant.ToolResult {
		gone, before := slices.Clone(p.lists[list].rules), e.Hidden()
		n, err := w.clear(p, list)
		if err != nil {
			return failed(err)
		}
		data := ruleResult{Provider: p.name, RuleType: ruleType(list), numbers: w.numbers(e), Affected: []string{}}
		if n == 0 {
			return assistant.OK(fmt.Sprintf("There were no %s rules for %s.", ruleType(list), p.name), data)
		}
		changed, effect := changedBy(list, before, e.Hidden())
		data.Count, data.Removed = len(changed), shownAll(gone[:min(n, maxListed)])
		data.Affected, data.Truncated = name(p, changed)
		return assistant.OK(fmt.Sprintf("%s %s: removed %s of %s.",
			assistant.Counted(len(changed), "model"), effect, assistant.Counted(n, ruleType(list)+" rule"), p.name)+w.standing(e), data)
	})
}
