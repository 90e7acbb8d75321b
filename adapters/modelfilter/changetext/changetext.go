// Package changetext says in a clause what lies between two states of a model filter:
// "hid 3 models · ignore rule gpt-3*", and what a change of its log added and removed.
//
// Describe may be called from any goroutine. It evaluates the rules of both states on the
// models of the window, without touching it: a few milliseconds for a thousand rules.
//
// # Caveats
//
// Models are those that the window knows when Describe is called.
package changetext

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"winnow/adapters/modelfilter"
	"winnow/adapters/modelfilter/engine"
	"winnow/assistant"
	"winnow/assistant/safetext"
	"winnow/checkpoint/changelog"
)

// state is the part of a window's state that is described.
type state struct {
	Provider string           `json:"provider"`
	Rules    map[string]rules `json:"rules"`
}

type rules struct {
	Ignore []string `json:"ignore"`
	Allow  []string `json:"whitelist"`
}

// of are the rules of one list.
func (r rules) of(list modelfilter.List) []string {
	return [...][]string{modelfilter.Ignore: r.Ignore, modelfilter.Allow: r.Allow}[list]
}

// maxPattern bounds a pattern in the clause, in cells.
const maxPattern = 40

// Describe says what changes from one state of w to another; "" when that cannot be read,
// or no rule and not the provider. Patterns in it are safe to show.
func Describe(w *modelfilter.Window, before, after json.RawMessage) string {
	var was, is state
	if json.Unmarshal(before, &was) != nil || json.Unmarshal(after, &is) != nil {
		return ""
	}
	names := maps.Clone(was.Rules)
	maps.Copy(names, is.Rules)
	var added, removed []string // rules, "ignore rule gpt-3*"
	hidden, shown := 0, 0
	for _, name := range slices.Sorted(maps.Keys(names)) {
		changed := false
		for _, list := range []modelfilter.List{modelfilter.Ignore, modelfilter.Allow} {
			more, fewer := missing(list, was.Rules[name], is.Rules[name]), missing(list, is.Rules[name], was.Rules[name])
			added, removed = append(added, more...), append(removed, fewer...)
			changed = changed || len(more)+len(fewer) > 0
		}
		if changed {
			h, s := effect(w, name, was.Rules[name], is.Rules[name])
			hidden, shown = hidden+h, shown+s
		}
	}
	switch n := len(added) + len(removed); {
	case n == 0 && was.Provider != is.Provider:
		return "switched to " + safetext.Line(is.Provider, maxPattern)
	case n == 0:
		return ""
	case hidden+shown == 0:
		return ruleWords(added, removed)
	case n == 1 && len(added) == 1:
		return modelWords(hidden, shown) + " · " + added[0]
	}
	return modelWords(hidden, shown) + " · " + ruleWords(added, removed)
}

// missing are the rules of a list that after has and before lacks.
func missing(list modelfilter.List, before, after rules) (out []string) {
	had := make(map[string]bool, len(before.of(list)))
	for _, pattern := range before.of(list) {
		had[pattern] = true
	}
	for _, pattern := range after.of(list) {
		if !had[pattern] {
			out = append(out, list.String()+" rule "+safetext.Line(pattern, maxPattern))
		}
	}
	return out
}

// effect counts the models of a provider that become hidden, and those that are shown
// again. Rules that nobody can edit, such as those of the environment, are in force in
// both states.
func effect(w *modelfilter.Window, provider string, before, after rules) (hidden, shown int) {
	scope, err := w.On(provider)
	if err != nil {
		return 0, 0
	}
	var ids []string
	for _, m := range scope.Models() {
		ids = append(ids, m.ID)
	}
	var sets [2][2][]string // before and after, by list
	for list := range sets[0] {
		sets[0][list], sets[1][list] = before.of(modelfilter.List(list)), after.of(modelfilter.List(list))
		if in := scope.Rules(modelfilter.List(list)); len(in) > 0 && in[0].Fixed {
			var patterns []string
			for _, r := range in {
				patterns = append(patterns, r.Pattern)
			}
			sets[0][list], sets[1][list] = patterns, patterns
		}
	}
	was, is := engine.New(provider, ids), engine.New(provider, ids)
	was.Set(sets[0][modelfilter.Ignore], sets[0][modelfilter.Allow])
	is.Set(sets[1][modelfilter.Ignore], sets[1][modelfilter.Allow])
	hid := map[string]bool{}
	for _, id := range was.Hidden() {
		hid[id] = true
	}
	for _, id := range is.Hidden() {
		if !hid[id] {
			hidden++
		}
		delete(hid, id)
	}
	return hidden, len(hid)
}

func modelWords(hidden, shown int) string {
	var parts []string
	if hidden > 0 {
		parts = append(parts, "hid "+assistant.Counted(hidden, "model"))
	}
	if shown > 0 {
		parts = append(parts, "showed "+assistant.Counted(shown, "model"))
	}
	return strings.Join(parts, ", ")
}

// ruleWords names one rule, and counts several.
func ruleWords(added, removed []string) string {
	switch {
	case len(added) == 1 && len(removed) == 0:
		return "added " + added[0]
	case len(added) == 0 && len(removed) == 1:
		return "deleted " + removed[0]
	}
	var parts []string
	if n := len(added); n > 0 {
		parts = append(parts, "added "+assistant.Counted(n, "rule"))
	}
	if n := len(removed); n > 0 {
		parts = append(parts, "deleted "+assistant.Counted(n, "rule"))
	}
	return strings.Join(parts, ", ")
}

// shownValues is how many differences Values tells.
const shownValues = 3

// Values are the first values that a change of the log added or removed: "+openai ignore
// gpt-3*, 2 more".
func Values(c changelog.Change) string {
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
