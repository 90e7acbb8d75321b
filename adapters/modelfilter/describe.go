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

// maxPatternCells bounds a pattern in a sentence.
const maxPatternCells = 40

// DescribeChange implements [assistant.Describer]: "hid *mini* on openai: 7 models". It
// counts the models that the window knows now, and takes a few milliseconds for a thousand
// rules. "" is a state that cannot be read, and a change of the search or of an order only.
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
		return "switched to " + safetext.Line(is.Provider, maxPatternCells)
	}
	return ""
}

// effectBetween is what the step from some rules of a provider to others does to its
// models. Rules that cannot be edited, such as rules from the environment, are in force in
// both.
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

// sentenceOf says what changes did; effects are those on each provider.
func sentenceOf(changes []RuleChange, effects []ModelEffect) string {
	var providers, patterns []string
	hidden, shown, known, alike := 0, 0, false, len(effects) == 1
	for _, e := range effects {
		providers = append(providers, safetext.Line(e.Provider, maxPatternCells))
		hidden, shown, known = hidden+len(e.Hidden), shown+len(e.Shown), known || e.Known
	}
	for _, c := range changes {
		patterns = append(patterns, safetext.Line(c.Pattern, maxPatternCells))
		alike = alike && c.List == changes[0].List && c.Added == changes[0].Added
	}
	what := "changed " + assistant.Counted(len(changes), "rule")
	if alike {
		const named = 3
		if more := len(patterns) - named; more > 0 {
			patterns = append(patterns[:named], fmt.Sprintf("%d more", more))
		}
		what = changes[0].verb() + " " + strings.Join(patterns, ", ")
	}
	var models []string
	if hidden > 0 {
		models = append(models, assistant.Counted(hidden, "model")+" hidden")
	}
	if shown > 0 {
		models = append(models, assistant.Counted(shown, "model")+" again")
	}
	switch {
	case !known:
	case models == nil:
		models = []string{"no model"}
	case alike && changes[0].List == Ignore && changes[0].Added && shown == 0: // "hid" says it
		models = []string{assistant.Counted(hidden, "model")}
	}
	text := what + " on " + strings.Join(providers, ", ")
	if models != nil {
		text += ": " + strings.Join(models, ", ")
	}
	return text
}

// verb says what adding or removing the rule did.
func (c RuleChange) verb() string {
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

// shownValues is how many differences ChangedValues lists.
const shownValues = 3

// ChangedValues are the first values that a change of the log added or removed: "+openai ignore
// gpt-3*, 2 more".
func ChangedValues(c checkpoint.Change) string {
	value := func(sign, path string, raw json.RawMessage) string {
		var text string
		if json.Unmarshal(raw, &text) != nil {
			text = string(raw)
		}
		path = strings.TrimPrefix(strings.ReplaceAll(path, ".whitelist", ".allow"), "rules.")
		return sign + strings.ReplaceAll(path, ".", " ") + " " + safetext.Visible(text)
	}
	var words []string
	for _, d := range c.Changed[:min(len(c.Changed), shownValues)] {
		if d.Before != nil {
			words = append(words, value("-", d.Path, d.Before))
		}
		if d.After != nil {
			words = append(words, value("+", d.Path, d.After))
		}
	}
	if more := len(c.Changed) + c.More - shownValues; more > 0 {
		words = append(words, fmt.Sprintf("%d more", more))
	}
	return strings.Join(words, ", ")
}
