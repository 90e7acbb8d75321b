package modelfilter

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"winnow/adapters/modelfilter/engine"
	"winnow/assistant"
	"winnow/assistant/safetext"
	"winnow/checkpoint"
)

// maxPatternCells is the maximum width of a pattern in a sentence.
const maxPatternCells = 40

// DescribeChange implements [assistant.Describer]: "hid *mini* on openai (7 models)". It
// applies the rules to the currently known models, which takes a few milliseconds for a
// thousand rules.
// It returns "" if a state cannot be read, or if only the search or the order of rules
// changed.
func (w *Window) DescribeChange(before, after json.RawMessage) string {
	var was, is state
	if json.Unmarshal(before, &was) != nil || json.Unmarshal(after, &is) != nil {
		return ""
	}
	names := maps.Clone(was.Rules)
	if names == nil {
		names = map[string]stateRules{}
	}
	maps.Copy(names, is.Rules)
	var changes []RuleChange
	var effects []ModelEffect
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if c := ruleChanges(name, was.Rules[name].set(), is.Rules[name].set()); c != nil {
			changes, effects = append(changes, c...), append(effects, w.effectBetween(name, was.Rules[name].set(), is.Rules[name].set()))
		}
	}
	switch {
	case changes != nil:
		return sentenceOf(changes, effects)
	case was.Provider != is.Provider:
		return string("switched to " + safetext.Line(safetext.Visible(is.Provider), maxPatternCells))
	}
	return ""
}

// effectBetween returns the effect on a provider's models of replacing one rule set with another.
// In both sets, a list that cannot be edited, such as one set by the environment, keeps its
// current rules.
func (w *Window) effectBetween(name string, before, after ruleSet) ModelEffect {
	w.mu.Lock()
	defer w.mu.Unlock()
	p, err := w.findProvider(name)
	if err != nil {
		return ModelEffect{Provider: name}
	}
	for list := range p.lists {
		if l := p.lists[list]; l.fixed != "" {
			before[list], after[list] = l.effective(), l.effective()
		}
	}
	ids := w.engine(p).Models()
	was, is := engine.New(p.name, ids), engine.New(p.name, ids)
	was.Set(before[Ignore], before[Allow])
	is.Set(after[Ignore], after[Allow])
	return effectOf(was, is)
}

// sentenceOf describes changes to the rules of one or more providers. effects holds the effect
// on the models of each of these providers.
func sentenceOf(changes []RuleChange, effects []ModelEffect) string {
	var providers, patterns []string
	hidden, shown, known, alike := 0, 0, false, len(effects) == 1
	for _, e := range effects {
		providers = append(providers, string(safetext.Line(safetext.Visible(e.Provider), maxPatternCells)))
		hidden, shown, known = hidden+len(e.Hidden), shown+len(e.Shown), known || e.Known
	}
	for _, c := range changes {
		patterns = append(patterns, string(safetext.Line(safetext.Visible(c.Pattern), maxPatternCells)))
		alike = alike && c.List == changes[0].List && c.Added == changes[0].Added
	}
	what := "changed " + assistant.Counted(len(changes), "rule")
	if alike {
		const named = 3
		if more := len(patterns) - named; more > 0 {
			patterns = append(patterns[:named], fmt.Sprintf("%d more", more))
		}
		what = changes[0].Verb() + " " + strings.Join(patterns, ", ")
	}
	var models []string
	if hidden > 0 {
		models = append(models, assistant.Counted(hidden, "model")+" hidden")
	}
	if shown > 0 {
		models = append(models, assistant.Counted(shown, "model")+" shown")
	}
	switch {
	case !known:
	case models == nil:
		models = []string{"changes no model"}
	case alike && changes[0].List == Ignore && changes[0].Added && shown == 0: // "hid" already implies it
		models = []string{assistant.Counted(hidden, "model")}
	}
	text := what + " on " + strings.Join(providers, ", ")
	if models != nil {
		text += " (" + strings.Join(models, ", ") + ")"
	}
	return text
}

// Verb describes in the past tense what adding or removing the rule did: "hid".
func (c RuleChange) Verb() string {
	switch {
	case c.List == Ignore && c.Added:
		return "hid"
	case c.List == Ignore:
		return "stopped hiding"
	case c.Added:
		return "allowed"
	default:
		return "stopped allowing"
	}
}

// shownRules is the number of rules that ChangeSentence names before it counts the rest.
const shownRules = 3

// ChangeSentence describes a logged change: "hid *mini* on openai (7 models)", "saved: hid
// *mini* on openai". It is safe to show.
func ChangeSentence(c checkpoint.Change) string {
	what := safetext.VisibleOnce(c.What) // a stored description, in which patterns are already visible
	switch c.Kind {
	case checkpoint.RollbackChange:
		return string("rolled back to before “" + what + "”")
	case checkpoint.UndoChange:
		return string("undid the rollback to before “" + what + "”")
	case checkpoint.SaveChange:
		return "saved: " + changedRules(c)
	case checkpoint.OutsideChange:
		return "another program: " + changedRules(c)
	case checkpoint.TurnChange, checkpoint.EditChange:
	}
	if what == "" {
		return changedRules(c)
	}
	return string(what)
}

// changedRules describes the first shownRules rules of a logged change and counts the rest.
func changedRules(c checkpoint.Change) string {
	var done []string
	for _, d := range c.Changed[:min(len(c.Changed), shownRules)] {
		if d.Before != nil {
			done = append(done, ruleAt(d.Path, d.Before, false))
		}
		if d.After != nil {
			done = append(done, ruleAt(d.Path, d.After, true))
		}
	}
	if more := len(c.Changed) + c.More - shownRules; more > 0 {
		done = append(done, fmt.Sprintf("%d more", more))
	}
	return strings.Join(done, ", ")
}

// ruleAt describes the addition of a value at a path in the state, or its removal from there. A
// value that is not a rule is given with its path, after a plus or minus sign.
func ruleAt(path string, raw json.RawMessage, added bool) string {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		text = string(raw)
	}
	rule := RuleChange{Pattern: text, Added: added}
	lists := map[string]List{ruleType[Ignore]: Ignore, ruleType[Allow]: Allow}
	if name, ok := strings.CutPrefix(path, "rules."); ok {
		at := max(0, strings.LastIndex(name, "."))
		if list, known := lists[strings.TrimPrefix(name[at:], ".")]; known {
			rule.Provider, rule.List = name[:at], list
			return string(rule.sentence())
		}
	}
	sign := "-"
	if added {
		sign = "+"
	}
	return sign + string(safetext.Visible(path)) + " " + string(safetext.Visible(text))
}
