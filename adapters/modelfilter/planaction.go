package modelfilter

import (
	"fmt"
	"slices"
	"strings"

	"winnow/adapters/modelfilter/engine"
	"winnow/assistant"
)

// plan returns the changes to the rules that an action on the models needs.
func (m *meaning) plan(action string) rulePlan {
	p := rulePlan{Proposal: Proposal{Provider: m.provider}, notes: []string{}}
	everything := m.all && len(m.excepted) == 0
	switch {
	case m.all && !everything && action != "hide" && action != "only": // as in "keep everything but mini"
		left := &meaning{provider: m.provider, models: m.models, meant: m.excepted, patterns: m.keep, rules: m.rules}
		left.hide(&p)
	case everything && (action == "show" || action == "allow"):
		p.RemoveIgnore = m.rules[Ignore]
		if len(p.RemoveIgnore) == 0 {
			p.note("There are no ignore rules on " + m.provider + ".")
		}
	case everything && action == "only":
		p.note("Each provider has its own rules, so " + m.provider + " needs no change.")
	case action == "only":
		m.showOnly(&p, m.meant, m.precise())
	case m.all && action == "hide" && !everything:
		m.showOnly(&p, m.excepted, m.keep)
	case action == "hide":
		m.hide(&p)
	case action == "show":
		m.show(&p)
	default:
		m.allow(&p, m.precise())
	}
	if action == "hide" {
		m.noteHiddenExceptions(&p)
	}
	if m.wide && slices.ContainsFunc(p.changes(), func(c RuleChange) bool { return c.Added && hasWildcard(c.Pattern) }) {
		p.note(laterModels)
	}
	return p
}

// noteHiddenExceptions notes which exceptions are already hidden.
func (m *meaning) noteHiddenExceptions(p *rulePlan) {
	switch len(m.stay) {
	case 0:
	case 1:
		p.note("Also hidden: " + m.named(m.stay) + "; to show it, allow it.")
	default:
		p.note("Also hidden: " + m.named(m.stay) + "; to show them, allow them.")
	}
}

// planText describes the effect of a plan on the models of a provider.
type planText struct {
	effect string // such as "would hide 2 of 17 shown models: `a` and `b`"
	does   string // such as "would hide 2 models on openai"
	done   string // such as "`a` and `b` are hidden on openai now."; "" if the plan hides and shows no model
}

// planTexts describes the effects of a plan; shown is how many models are shown now.
func planTexts(effects []assistant.Effect, provider string, shown int) planText {
	var effect, does, done []string
	on := " on " + visible(provider)
	for _, e := range effects {
		names := displayNames(provider, e.Items)
		_, use, _ := strings.Cut(string(e.Sentence), "; ")
		models, listed, is := assistant.Counted(len(names), "model"), quoteAnd(names, maxFoundNames), " are "
		if len(names) == 1 {
			is = " is "
		}
		switch e.Kind {
		case assistant.EffectRemoves:
			effect = append(effect, withClause(fmt.Sprintf("would hide %d of %s: %s", len(names), assistant.Counted(shown, "shown model"), listed), use))
			does, done = append(does, "would hide "+models), append(done, withClause(listed+is+"hidden"+on+" now", use)+".")
		case assistant.EffectAdds:
			effect = append(effect, "would show "+models+" again: "+listed)
			does, done = append(does, "would show "+models+" again"), append(done, listed+is+"shown"+on+" again.")
		case assistant.EffectNone:
			none := strings.Replace(string(e.Sentence), "changes", "would change", 1)
			effect, does = append(effect, none), append(does, none)
		case assistant.EffectAsks:
		}
	}
	return planText{strings.Join(effect, "; "), strings.Join(does, " and ") + on, strings.Join(done, " ")}
}

// laterModels warns that patterns made from a condition apply to later models by name alone.
const laterModels = "The patterns match only these models today; a model added later is matched by its name alone."

// useful removes from a plan the rules that would be refused. If no change is left, it notes
// why they would be refused.
func (s Scope) useful(p rulePlan) rulePlan {
	return withEngine(s, func(_ *provider, e *engine.Engine) rulePlan {
		e = e.Clone()
		changes, refused := p.changes(), []string(nil)
		p.AddIgnore, p.AddAllow = nil, nil
		for _, c := range changes {
			if !c.Added {
				e.Remove(c.List, c.Pattern)
				continue
			}
			if _, err := e.Check(c.List, c.Pattern); err != nil {
				refused = append(refused, visible(sentence(err.Error())))
				continue
			}
			e.Add(c.List, c.Pattern)
			if c.List == Ignore {
				p.AddIgnore = append(p.AddIgnore, c.Pattern)
			} else {
				p.AddAllow = append(p.AddAllow, c.Pattern)
			}
		}
		if len(p.changes()) == 0 {
			p.notes = append(p.notes, refused...)
		}
		return p
	})
}

func (p *rulePlan) note(text string) { p.notes = append(p.notes, visible(text)) }

// precise returns patterns that match the models but not the exceptions.
func (m *meaning) precise() []string {
	if len(m.excepted) > 0 {
		return m.exactly(m.meant, nil)
	}
	return m.patterns
}

// named names the first models and counts the rest, for a note.
func (m *meaning) named(models []FoundModel) string {
	var names []string
	for _, f := range models {
		names = append(names, displayName(m.provider, f.Info.ID))
	}
	if more := len(names) - maxNear; more > 1 {
		names = append(names[:maxNear], assistant.Counted(more, "other model"))
	}
	return strings.Join(names, ", ")
}

// hide adds ignore rules, and allow rules for the exceptions, because an allow rule takes
// precedence. It removes an allow rule whose pattern is to be ignored.
func (m *meaning) hide(p *rulePlan) {
	shown := kept(m.meant, func(f FoundModel) bool { return !f.Hidden })
	if len(shown) == 0 && len(m.meant) > 0 && !m.verbatim {
		p.note("Already hidden on " + m.provider + ": " + m.named(m.meant) + ".")
		return
	}
	if slices.ContainsFunc(m.patterns, hasWildcard) && len(m.excepted) > 0 {
		m.addAllow(p, m.keep)
	}
	for _, pattern := range m.patterns {
		switch {
		case !hasWildcard(pattern) && slices.ContainsFunc(m.excepted, func(f FoundModel) bool { return f.called(pattern) }):
			continue
		case slices.Contains(m.rules[Allow], pattern):
			p.RemoveAllow = append(p.RemoveAllow, pattern)
		}
		p.AddIgnore = append(p.AddIgnore, pattern)
	}
	stay := kept(shown, func(f FoundModel) bool {
		return f.Status.Status == engine.Whitelisted && !slices.Contains(p.RemoveAllow, f.Status.Rule)
	})
	if len(stay) > 0 {
		p.note("Not hidden, because an allow rule applies: " + m.named(stay) + ".")
	}
}

func (m *meaning) addAllow(p *rulePlan, patterns []string) {
	p.AddAllow = append(p.AddAllow, without(patterns, m.rules[Allow])...)
}

// showOnly adds the patterns, which match the models, to the allow rules, removes the allow rules
// that match other models, and ignores *.
func (m *meaning) showOnly(p *rulePlan, models []FoundModel, patterns []string) {
	if len(models) == 0 {
		p.note("No model would be left on " + m.provider + ".")
		return
	}
	if len(m.left) > 0 {
		p.note("Still hidden, because other rules apply: " + m.named(m.left) + ".")
	}
	others := minus(m.models, models)
	for _, rule := range m.rules[Allow] {
		if !slices.Contains(patterns, rule) && len(matching(others, rule)) > 0 {
			p.RemoveAllow = append(p.RemoveAllow, rule)
		}
	}
	if m.addAllow(p, patterns); !slices.Contains(m.rules[Ignore], "*") {
		p.AddIgnore = []string{"*"}
	}
	if len(p.changes()) == 0 {
		p.note("The rules of " + m.provider + " already do that.")
	}
}

// show removes the ignore rules that are among the patterns or hide only models in meant. If a
// broader rule hides some of these models, show allows all of them instead.
func (m *meaning) show(p *rulePlan) {
	hidden := kept(m.meant, func(f FoundModel) bool { return f.Hidden })
	for _, rule := range m.rules[Ignore] {
		hides := kept(m.models, func(f FoundModel) bool { return f.Hidden && f.Status.Rule == rule })
		switch meant := common(hides, hidden); {
		case slices.Contains(m.patterns, rule), len(meant) > 0 && len(meant) == len(hides):
			p.RemoveIgnore = append(p.RemoveIgnore, rule)
		case len(meant) > 0: // the rule hides others, too
			p.RemoveIgnore = nil
			m.allow(p, m.precise())
			return
		}
	}
	if len(p.RemoveIgnore) == 0 {
		p.note("Not hidden on " + m.provider + ": " + m.named(m.meant) + ".")
	}
}

func (m *meaning) allow(p *rulePlan, patterns []string) {
	if m.addAllow(p, patterns); len(p.AddAllow) == 0 {
		p.note("Already allowed on " + m.provider + ": " + strings.Join(patterns, ", ") + ".")
	}
}

// planRemoval plans the removal of rules. The action clear removes all rules. For the action remove,
// each name in a.Models is the pattern of a rule or, if no rule has that pattern, a word that occurs
// in the pattern of only one rule.
func (r *finder) planRemoval(a planArgs) (out []rulePlan, err error) {
	providers, err := r.providersOrCurrent(a.Provider)
	if err != nil {
		return nil, err
	}
	left := slices.Clone(a.Models) // names not found yet
	for _, name := range providers {
		s, err := r.w.On(name)
		if err != nil {
			return nil, err
		}
		p := rulePlan{Proposal: Proposal{Provider: name}, notes: []string{}}
		var all []Rule
		for _, list := range lists {
			for _, v := range s.Rules(list) {
				if a.List != "" && a.List != ruleType[list] {
					continue
				}
				all = append(all, Rule{list, v.Pattern})
			}
		}
		for _, rule := range all {
			if a.Action == "remove" && !slices.ContainsFunc(a.Models, func(text string) bool { return rule.saidBy(text, all) }) {
				continue
			}
			left = slices.DeleteFunc(left, func(text string) bool { return rule.saidBy(text, all) })
			if rule.List == Ignore {
				p.RemoveIgnore = append(p.RemoveIgnore, rule.Pattern)
			} else {
				p.RemoveAllow = append(p.RemoveAllow, rule.Pattern)
			}
		}
		if len(p.changes()) > 0 || len(providers) == 1 {
			out = append(out, p)
		}
	}
	if a.Provider == "" && a.Action == "clear" && len(out) == 1 && len(out[0].changes()) > 0 {
		r.sayWhoseStay(providers)
	}
	for _, text := range left {
		if a.Action == "remove" {
			r.miss(phrase{text: text}, []string{text}, nil)
			r.text[len(r.text)-1] = "Say which rule: no single rule matches " + quote(text) + "."
		}
	}
	return out, nil
}

// sayWhoseStay notes which other providers keep their rules.
func (r *finder) sayWhoseStay(meant []string) {
	var others []string
	for _, v := range r.w.Providers() {
		if v.Rules > 0 && !slices.Contains(meant, v.Name) {
			others = append(others, v.Name)
		}
	}
	if len(others) > 0 {
		r.text = append(r.text, onlyMeant(meant)+"; the rules of "+joined(visibleAll(others), maxNamedProviders)+" are unchanged.")
	}
}

// saidBy reports whether a text identifies this rule among others: it is the rule's pattern, or a
// word that only this pattern contains.
func (r Rule) saidBy(text string, others []Rule) bool {
	if r.Pattern == text || slices.ContainsFunc(others, func(o Rule) bool { return o.Pattern == text }) {
		return r.Pattern == text
	}
	part := wordInName(text)
	return part.MatchString(r.Pattern) && len(slices.DeleteFunc(slices.Clone(others), func(o Rule) bool { return !part.MatchString(o.Pattern) })) == 1
}
