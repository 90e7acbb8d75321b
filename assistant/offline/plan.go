package offline

import (
	"slices"
	"strings"
)

// nothingChanged ends every answer that refuses to act.
const nothingChanged = "Nothing was changed."

// The rule lists as this package names them.
const (
	ignoreList = "ignore"
	allowList  = "allow"
)

// edit is one change of a provider's rules.
type edit struct {
	provider string
	list     string
	add      bool
	pattern  string // "" with clear
	clear    bool   // all rules of the list go
}

// plan is what a step is going to do.
type plan struct {
	step    step
	targets []target // of a question, and of what a change is about
	edits   []edit
	notes   []string // what the answer says besides
}

func (p *plan) note(s string) { p.notes = append(p.notes, s) }

func (p *plan) set(cat *catalog, list string, add bool, pattern string) {
	e := edit{provider: cat.provider, list: list, add: add, pattern: pattern}
	if !slices.Contains(p.edits, e) {
		p.edits = append(p.edits, e)
	}
}

// planStep works out a step; nil when calls are made now or the step cannot be
// done, which is said.
func (t *turn) planStep(s step) *plan {
	p := &plan{step: s}
	switch s.kind {
	case clearRules, removeRule, showRules, unusedRules:
		for _, name := range t.scopeOf(s.what.scope) {
			if cat := t.catalog(name, nil); cat != nil {
				p.targets = append(p.targets, target{cat: cat})
			}
		}
	default:
		if !s.kind.selects() {
			return p
		}
		if p.targets = t.resolve(s); p.targets == nil {
			return nil
		}
	}
	if !s.kind.changesRules() {
		return p
	}
	for i := range p.targets {
		if !t.planTarget(p, &p.targets[i]) {
			t.notes(p)
			return nil
		}
	}
	if len(p.edits)+len(p.notes) == 0 {
		p.note("There is nothing to change.")
	}
	return p
}

// planTarget plans a change of rules on one provider; false when it cannot be
// done, which the notes say.
func (t *turn) planTarget(p *plan, tg *target) bool {
	s := p.step
	switch {
	case s.kind == clearRules:
		for _, list := range []string{ignoreList, allowList} {
			if s.arg == "" || s.arg == list {
				p.clear(tg.cat, list)
			}
		}
		return true
	case s.kind == removeRule:
		t.planRemoveRule(p, tg.cat)
		return true
	case len(tg.patterns) == 0 || len(tg.excepted) > 0 && len(tg.keep) == 0:
		p.note(upperFirst(count(len(tg.models), "model")) + on(tg) + " fit, too many to name one by one, and no pattern fits just these. " + nothingChanged)
		return false
	}
	map[kind]func(*plan, *target){hide: (*plan).hide, remove: (*plan).remove, only: t.planOnly, unhide: (*plan).unhide, allow: (*plan).allow, unallow: (*plan).unallow}[s.kind](p, tg)
	return true
}

func on(tg *target) string { return " on " + clean(tg.cat.provider) }

// wild reports a pattern that is not just an id.
func wild(pattern string) bool { return strings.ContainsAny(pattern, "*?[") }

// hide adds ignore rules, and allow rules for the exceptions: an allow rule wins.
func (p *plan) hide(tg *target) {
	if tg.all && len(tg.excepted) > 0 {
		p.onlyThese(tg.cat, tg.excepted, tg.keep)
		return
	}
	typed := slices.ContainsFunc(p.step.what.items, func(it item) bool { return slices.ContainsFunc(it.words, term.typed) })
	if len(tg.models) > 0 && !typed && !slices.ContainsFunc(tg.models, func(m model) bool { return !m.isHidden() }) {
		p.note(upperFirst(codes(names(tg.models))) + verbFor(len(tg.models), " is", " are") + " hidden already" + on(tg) + ".")
		return
	}
	for _, k := range tg.keep {
		if !hasRule(tg.cat.allow, k) && slices.ContainsFunc(tg.patterns, wild) {
			p.set(tg.cat, allowList, true, k)
		}
	}
	for _, pattern := range tg.patterns {
		if !wild(pattern) && slices.ContainsFunc(tg.excepted, func(m model) bool { return m.named(pattern) }) {
			continue
		}
		if hasRule(tg.cat.allow, pattern) {
			p.set(tg.cat, allowList, false, pattern)
		}
		p.set(tg.cat, ignoreList, true, pattern)
	}
	kept := filter(tg.models, func(m model) bool { return m.status == "whitelisted" && !slices.Contains(tg.patterns, m.rule) })
	var rules []string
	for _, m := range kept {
		rules = append(rules, m.rule)
	}
	if n := len(kept); n > 0 {
		p.note(upperFirst(count(n, "model")) + verbFor(n, " stays", " stay") + " shown, because an allow rule wins: " + codes(names(kept)) + " (" + codes(unique(rules)) + ").")
	}
}

// remove removes the rules that are written just so; other words are hidden.
func (p *plan) remove(tg *target) {
	rest := *tg
	rest.patterns = nil
	for _, pattern := range tg.patterns {
		list := ignoreList
		if !hasRule(tg.cat.ignore, pattern) {
			list = allowList
		}
		if wild(pattern) && hasRule(tg.cat.rules(list), pattern) {
			p.set(tg.cat, list, false, pattern)
		} else {
			rest.patterns = append(rest.patterns, pattern)
		}
	}
	if len(rest.patterns) > 0 {
		p.hide(&rest)
	}
}

// planOnly hides everything and allows what is meant.
func (t *turn) planOnly(p *plan, tg *target) {
	patterns := tg.exactly()
	switch {
	case tg.all && len(tg.excepted) == 0:
		p.note("Rules are kept per provider, and " + code(tg.cat.provider) + " can stay as it is. " + nothingChanged)
		for _, other := range t.w.providers {
			if other != tg.cat.provider {
				t.offer("Hide all of "+other, "hide everything on "+other)
			}
		}
	case len(tg.models) == 0:
		p.note("No model" + on(tg) + " matches. Hiding the rest would hide everything, so " + lowerFirst(nothingChanged))
	case len(patterns) == 0:
		p.note("Too many models are meant to name them one by one. " + nothingChanged)
	default:
		p.onlyThese(tg.cat, tg.models, patterns)
	}
}

// onlyThese allows the models by patterns, removes the allow rules that keep
// others, and hides the rest.
func (p *plan) onlyThese(cat *catalog, models []model, patterns []string) {
	for _, r := range cat.allow {
		if !slices.Contains(patterns, r.pattern) && len(without(cat.matching(r.pattern), models)) > 0 {
			p.set(cat, allowList, false, r.pattern)
		}
	}
	for _, a := range patterns {
		if !hasRule(cat.allow, a) {
			p.set(cat, allowList, true, a)
		}
	}
	if !hasRule(cat.ignore, "*") {
		p.set(cat, ignoreList, true, "*")
	}
	if !slices.ContainsFunc(p.edits, func(e edit) bool { return e.provider == cat.provider }) {
		p.note("That is so already on " + clean(cat.provider) + ".")
	}
}

// unhide removes the ignore rules that hide only models that are meant, or
// allows the models when a broader rule hides them.
func (p *plan) unhide(tg *target) {
	if tg.all && len(tg.excepted) == 0 {
		p.clear(tg.cat, ignoreList)
		return
	}
	start := len(p.edits)
	for _, pattern := range tg.patterns {
		if hasRule(tg.cat.ignore, pattern) {
			p.set(tg.cat, ignoreList, false, pattern)
		}
	}
	hidden := filter(tg.models, model.isHidden)
	if len(hidden) == 0 && len(p.edits) == start {
		p.note("No model" + on(tg) + " that matches " + codes(tg.patterns) + " is hidden.")
		return
	}
	for _, r := range tg.cat.ignore {
		hides := filter(tg.cat.matching(r.pattern), model.isHidden)
		switch {
		case len(intersect(hides, hidden)) == 0 || slices.ContainsFunc(p.edits[start:], func(e edit) bool { return e.pattern == r.pattern }):
		case len(without(hides, tg.models)) == 0:
			p.set(tg.cat, ignoreList, false, r.pattern)
		default: // it hides others, too
			p.edits = p.edits[:start]
			p.allow(tg)
			return
		}
	}
}

// exactly are patterns for the models without the exceptions.
func (tg *target) exactly() []string {
	if len(tg.excepted) > 0 {
		return choose(tg.cat, tg.models, nil)
	}
	return tg.patterns
}

func (p *plan) allow(tg *target) {
	switch {
	case tg.all && len(tg.excepted) == 0:
		p.clear(tg.cat, ignoreList)
		return
	case tg.all: // "keep everything but mini"
		p.hide(&target{cat: tg.cat, models: tg.excepted, patterns: tg.keep})
		return
	}
	for _, a := range tg.exactly() {
		if hasRule(tg.cat.allow, a) {
			p.note(code(a) + " is an allow rule" + on(tg) + " already.")
		} else {
			p.set(tg.cat, allowList, true, a)
		}
	}
}

// unallow removes the allow rules that keep only models that are meant.
func (p *plan) unallow(tg *target) {
	start := len(p.edits)
	for _, r := range tg.cat.allow {
		matches := tg.cat.matching(r.pattern)
		if tg.all || slices.Contains(tg.patterns, r.pattern) || len(matches) > 0 && len(without(matches, tg.models)) == 0 {
			p.set(tg.cat, allowList, false, r.pattern)
		}
	}
	if len(p.edits) == start {
		p.note("No allow rule" + on(tg) + " is just for " + codes(tg.patterns) + ". " + rulesInWords(tg.cat, allowList))
	}
}

func (p *plan) clear(cat *catalog, list string) {
	if len(cat.rules(list)) == 0 {
		p.note("There are no " + list + " rules on " + clean(cat.provider) + ".")
		return
	}
	p.edits = append(p.edits, edit{provider: cat.provider, list: list, clear: true})
}

// planRemoveRule removes the rules that are written so, the first or last one,
// or the one rule that has the word in its pattern.
func (t *turn) planRemoveRule(p *plan, cat *catalog) {
	var wanted []string
	for _, it := range p.step.what.items {
		wanted = append(wanted, itemWords(it)...)
		if it.all && it.provider == "" {
			wanted = append(wanted, "*")
		}
	}
	if len(wanted) == 0 {
		p.note("Say which rule, as it is written. " + nothingChanged)
	}
	for _, w := range wanted {
		var exact, near []edit
		for _, list := range []string{ignoreList, allowList} {
			rules := cat.rules(list)
			for i, r := range rules {
				e := edit{provider: cat.provider, list: list, pattern: r.pattern}
				ordinal := (w == "first" && i == 0 || w == "last" && i == len(rules)-1) && len(exact) == 0
				switch {
				case p.step.arg != "" && p.step.arg != list:
				case r.pattern == w, ordinal:
					exact = append(exact, e)
				case term{w, asWord}.at(r.pattern, w, true) >= 0:
					near = append(near, e)
				}
			}
		}
		if len(exact) == 0 {
			exact = near
		}
		switch len(exact) {
		case 1:
			p.edits = append(p.edits, exact...)
		case 0:
			p.note("There is no rule " + code(w) + " on " + clean(cat.provider) + ". " + rulesInWords(cat, p.step.arg))
		default:
			p.note("Which rule? Several fit " + code(w) + " on " + clean(cat.provider) + ". " + nothingChanged)
			for _, e := range exact {
				t.offer("Remove "+e.pattern, "remove the "+e.list+" rule "+e.pattern+" on "+e.provider)
			}
		}
	}
}
