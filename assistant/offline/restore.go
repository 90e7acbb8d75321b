package offline

import (
	"slices"
	"strings"
)

// only hides everything and allows what is meant: an allow rule wins over the
// ignore rule `*`. Allow rules for anything else are cleared first.
func (t *turn) only(s step) {
	gs, ok := t.resolve(s)
	if !ok {
		return
	}
	if t.wholeProviders(gs) {
		return
	}
	byProvider := map[string][]string{}
	var order []string
	ready := true
	for _, g := range gs {
		if !slices.Contains(order, g.provider) {
			order = append(order, g.provider)
		}
		ps, ok := t.targets(s, g)
		ready = ready && (ok || !t.waiting())
		byProvider[g.provider] = append(byProvider[g.provider], ps...)
	}
	if !ready { // the window was asked: one plan for all providers follows
		return
	}
	var out outcome
	for _, p := range order {
		t.onlyOn(&out, p, unique(byProvider[p]), gs)
	}
	t.report(out, "available")
	if len(order) > 0 && !slices.Contains(order, "") && !t.waiting() && t.w.provider != "" {
		t.say("%s is unchanged: none of this is among its models.", sentenceCase(providerName(t.w.provider)))
		t.offer("Hide "+t.w.provider+" too", "hide everything")
	}
	for _, g := range gs {
		if out := t.exclusions(s, g); len(out) > 0 && !t.waiting() {
			t.say("Models matching %s are left out and so hidden by `*`.", codes(unique(out)))
			break
		}
	}
}

// wholeProviders answers "only openai models": rules are kept per provider, so
// it means hiding all of the others, which is asked about.
func (t *turn) wholeProviders(gs []goal) bool {
	var meant, others []string
	for _, g := range gs {
		if !g.all || g.sel.newest || g.sel.old {
			return false
		}
		p := g.provider
		if p == "" {
			p = t.w.provider
		}
		meant = append(meant, p)
	}
	for _, p := range t.w.providers {
		if !slices.Contains(meant, p) {
			others = append(others, p)
		}
	}
	t.say("Rules are kept per provider, and %s can be left as it is. Nothing was changed.", codes(meant))
	for _, p := range others {
		t.offer("Hide all of "+p, "hide everything on "+p)
	}
	if len(others) > 0 {
		t.say("To hide all models of another provider, say `hide everything on %s`.", clean(others[0]))
	}
	return true
}

// onlyOn does it for one provider.
func (t *turn) onlyOn(out *outcome, provider string, patterns []string, gs []goal) {
	g := goal{provider: provider}
	if len(patterns) == 0 || provider == "" && !t.w.truncated && len(t.w.models) > 0 && !anyOf(t.w.models, patterns) {
		t.say("No model%s matches %s. Hiding the rest would hide everything, so nothing was changed there.", on(t.provider(g)), wanted(gs, provider))
		return
	}
	known := provider == "" && t.scope == ""
	stray := !known || slices.ContainsFunc(t.w.allow, func(r rule) bool { return !slices.Contains(patterns, r.pattern) })
	stray = stray || slices.ContainsFunc(t.now.calls, func(c *call) bool {
		return c.name == "clear_all_whitelist_rules" && c.text("provider") == t.provider(g)
	})
	if stray {
		r := t.do("clear_all_whitelist_rules", args{"provider": t.provider(g)})
		switch {
		case r == nil:
			t.plan("I'll clear the other allow rules%s first.", on(t.provider(g)))
		case r.Success && r.untouched():
		case r.Success:
			t.wrote, t.saved = true, false
			t.say("Cleared the allow rules%s that were there before.", on(t.provider(g)))
		default:
			t.say("I could not clear the allow rules%s: %s. They still keep their models available.", on(t.provider(g)), lowerFirst(r.why()))
		}
	}
	for _, p := range patterns {
		if known && !stray && hasRule(t.w.allow, p) {
			continue
		}
		t.change(out, "allow", true, p, g)
	}
	if !known || !hasRule(t.w.ignore, "*") {
		t.change(out, "ignore", true, "*", g)
	}
	if len(out.edits) == 0 {
		t.say("That is so already: %s.", rulesInWords(t.w))
	}
}

func anyOf(models []model, patterns []string) bool {
	return slices.ContainsFunc(models, func(m model) bool { return fitsAny(m, patterns) })
}

func wanted(gs []goal, provider string) string {
	var out []string
	for _, g := range gs {
		if g.provider == provider {
			out = append(out, g.sel.text())
		}
	}
	return codes(unique(out))
}

// unhide makes models available again: it removes ignore rules that touch only
// them, and adds an allow rule where a broader rule hides them.
func (t *turn) unhide(s step) {
	gs, ok := t.resolve(s)
	if !ok {
		return
	}
	var out outcome
	for _, g := range gs {
		switch {
		case g.all && !g.sel.newest && !g.sel.old:
			t.clearList(s, &out, "ignore", g)
		case g.sel.newest || g.sel.old || len(s.except) > 0:
			ids, _ := t.targets(s, g)
			for _, id := range ids {
				t.change(&out, "allow", true, id, g)
			}
		default:
			t.unhidePattern(&out, g)
		}
	}
	t.report(out, "available")
}

func (t *turn) unhidePattern(out *outcome, g goal) {
	known := g.provider == "" && t.scope == ""
	if known && hasRule(t.w.ignore, g.pattern) {
		t.change(out, "ignore", false, g.pattern, g)
		return
	}
	models := fitting(t.w.known(g.provider), g.pattern)
	if known && len(models) > 0 && !t.w.truncated {
		t.unhideModels(out, g, models)
		return
	}
	if known && len(t.w.models) > 0 && !t.w.truncated && len(rulesAbout(t.w.ignore, g)) == 0 && !t.made("remove_ignore_rule") {
		out.notes = append(out.notes, "No model of "+providerName(t.w.provider)+" matches "+code(g.pattern)+" and no ignore rule is about it, so there is nothing to bring back.")
		return
	}
	// The list says nothing about it: try the rule, then allow by a rule.
	r := t.do("remove_ignore_rule", args{"pattern": g.pattern, "provider": t.provider(g)})
	switch {
	case r == nil:
		t.plan("I'll remove the ignore rule %s%s, if there is one.", code(g.pattern), on(t.provider(g)))
	case r.Success:
		t.wrote, t.saved = true, false
		out.add(edit{"ignore", false, g.pattern, t.provider(g), r})
	case r.Code == "locked" || r.Code == "declined" || r.missing:
		out.add(edit{"ignore", false, g.pattern, t.provider(g), r})
	default:
		out.notes = append(out.notes, "There is no ignore rule "+code(g.pattern)+", so an allow rule does it.")
		t.change(out, "allow", true, g.pattern, g)
	}
}

// unhideModels works from the models' deciding rules.
func (t *turn) unhideModels(out *outcome, g goal, models []model) {
	by := map[string]int{}
	var order []string
	for _, m := range models {
		if m.status == "ignored" || t.madeVisible(m) {
			if by[m.rule] == 0 {
				order = append(order, m.rule)
			}
			by[m.rule]++
		}
	}
	broad := false
	for _, p := range order {
		i := slices.IndexFunc(t.w.ignore, func(r rule) bool { return r.pattern == p })
		if p != "" && i >= 0 && (t.w.ignore[i].count == by[p] || t.removed(p)) {
			t.change(out, "ignore", false, p, g)
			continue
		}
		broad = true
	}
	switch {
	case broad:
		t.change(out, "allow", true, g.pattern, g)
	case len(order) == 0 && !t.claim(out, g):
		t.say("%s %s not hidden, so there is nothing to change.", codes(firstNames(models)), are(len(models)))
	}
}

// madeVisible and removed recognise this turn's own work in a fresh context.
func (t *turn) madeVisible(m model) bool {
	return m.status != "ignored" && slices.ContainsFunc(t.now.calls, func(c *call) bool {
		return c.name == "remove_ignore_rule" && !c.consumed && m.fits(c.text("pattern")) && m.rule == c.text("pattern")
	})
}

func (t *turn) removed(p string) bool {
	return slices.ContainsFunc(t.now.calls, func(c *call) bool { return c.name == "remove_ignore_rule" && c.text("pattern") == p })
}

// claim takes over calls that an earlier round made for this goal.
func (t *turn) claim(out *outcome, g goal) bool {
	found := false
	for _, c := range t.now.calls {
		if c.consumed || c.res == nil || c.name != "remove_ignore_rule" && c.name != "add_whitelist_rule" {
			continue
		}
		c.consumed, found = true, true
		out.add(edit{map[string]string{"remove_ignore_rule": "ignore", "add_whitelist_rule": "allow"}[c.name], c.name == "add_whitelist_rule", c.text("pattern"), t.provider(g), c.res})
		if c.res.Success {
			t.wrote, t.saved = true, false
		}
	}
	return found
}

func firstNames(models []model) []string {
	if len(models) > namesShown {
		models = models[:namesShown]
	}
	return names(models)
}

// unallow removes allow rules.
func (t *turn) unallow(s step) {
	gs, ok := t.resolve(s)
	if !ok {
		return
	}
	var out outcome
	for _, g := range gs {
		if g.all {
			t.clearList(s, &out, "allow", g)
			continue
		}
		ps := []string{g.pattern}
		if g.provider == "" && t.scope == "" && !hasRule(t.w.allow, g.pattern) {
			if near := rulesAbout(t.w.allow, g); len(near) > 0 {
				ps = near
			}
		}
		for _, p := range ps {
			t.change(&out, "allow", false, p, g)
		}
	}
	t.report(out, "no longer allowed")
}

// rulesAbout finds rules whose pattern holds the words of the goal.
func rulesAbout(rules []rule, g goal) []string {
	var out []string
	for _, r := range rules {
		ok := len(g.sel.terms) > 0
		for _, x := range g.sel.terms {
			ok = ok && strings.Contains(strings.ToLower(r.pattern), strings.Trim(strings.ToLower(x.text), "*"))
		}
		if ok || r.pattern == g.pattern {
			out = append(out, r.pattern)
		}
	}
	return out
}

// removeRule removes a rule by its pattern, or by words that only one rule has.
func (t *turn) removeRule(s step) {
	if len(s.what) == 0 {
		t.say("Which rule shall I remove?")
		t.listRules(topicRules)
		for _, r := range t.w.ignore {
			t.offer("Remove "+r.pattern, "remove the ignore rule \""+r.pattern+"\"")
		}
		return
	}
	if nth, ok := t.ordinal(s); ok {
		var out outcome
		t.change(&out, nth.list, false, nth.what.text(), goal{})
		t.report(out, "available")
		return
	}
	gs, ok := t.resolve(s)
	if !ok {
		return
	}
	var out outcome
	for _, g := range gs {
		t.removeOne(&out, s, g)
	}
	t.report(out, "available")
}

func (t *turn) removeOne(out *outcome, s step, g goal) {
	known := g.provider == "" && t.scope == ""
	type found struct{ list, pattern string }
	var all []found
	for _, l := range []string{"ignore", "allow"} {
		if s.list != "" && s.list != l {
			continue
		}
		rs := t.w.ignore
		if l == "allow" {
			rs = t.w.allow
		}
		typed := g.sel.text()
		switch {
		case !known:
		case hasRule(rs, typed):
			all = append(all, found{l, typed})
		case hasRule(rs, g.pattern):
			all = append(all, found{l, g.pattern})
		default:
			for _, p := range rulesAbout(rs, g) {
				all = append(all, found{l, p})
			}
		}
	}
	switch {
	case len(all) == 1:
		t.change(out, all[0].list, false, all[0].pattern, g)
	case len(all) > 1:
		var ps []string
		for _, f := range all {
			ps = append(ps, f.pattern)
			t.offer("Remove "+f.pattern, "remove the "+listName(f.list)+" \""+f.pattern+"\"")
		}
		t.say("Several rules fit that: %s. Which one shall I remove?", someCodes(unique(ps)))
	case known && t.w.kind != "" && !t.made(ruleTool["ignore"][false]) && !t.made(ruleTool["allow"][false]):
		t.say("There is no rule %s here; %s.", code(g.sel.text()), rulesInWords(t.w))
	default:
		l := s.list
		if l == "" {
			l = "ignore"
		}
		t.change(out, l, false, g.pattern, g)
	}
}

// clearRules clears one list, or both.
func (t *turn) clearRules(s step) {
	var out outcome
	for _, l := range []string{"ignore", "allow"} {
		if s.list == "" || s.list == l {
			t.clearList(s, &out, l, goal{})
		}
	}
	t.report(out, "available")
}

// clearList clears one list and says so itself: the result has no pattern.
func (t *turn) clearList(s step, out *outcome, l string, g goal) {
	name := map[string]string{"ignore": "clear_all_ignore_rules", "allow": "clear_all_whitelist_rules"}[l]
	noun := listName(l) + "s"
	if t.listEmpty(l, g) && !t.made(name) {
		out.notes = append(out.notes, "There are no "+noun+" of "+providerName(t.w.provider)+", so there is nothing to clear.")
		return
	}
	r := t.do(name, args{"provider": t.provider(g)})
	switch {
	case r == nil:
		t.plan("I'll clear all %s%s.", noun, on(t.provider(g)))
	case r.Success && r.untouched():
		out.notes = append(out.notes, sentence(r.Message))
	case r.Success:
		t.wrote, t.saved, t.actions = true, false, true
		out.notes = append(out.notes, "Cleared all "+noun+on(t.provider(g))+". "+sentence(r.Message))
		if n, _, ok := r.affected(); ok {
			out.notes = append(out.notes, sentenceCase(count(n, "model"))+" changed by that.")
		}
	default:
		out.notes = append(out.notes, "I could not clear the "+noun+on(t.provider(g))+": "+lowerFirst(r.why())+".")
	}
}

// listEmpty reports that the context shows a rule list to be empty.
func (t *turn) listEmpty(l string, g goal) bool {
	rules := t.w.ignore
	if l == "allow" {
		rules = t.w.allow
	}
	return g.provider == "" && t.scope == "" && t.w.kind != "" && len(rules) == 0
}

// ordinals are places in a rule list; -1 is its end.
var ordinals = map[string]int{"first": 0, "second": 1, "third": 2, "fourth": 3, "fifth": 4, "last": -1}

// ordinal finds the rule that "the first rule", "the last allow rule" names, in
// the order in which rules are listed.
func (t *turn) ordinal(s step) (ruleLine, bool) {
	if len(s.what) != 1 || len(s.what[0].terms) != 1 || t.made("remove_ignore_rule") || t.made("remove_whitelist_rule") {
		return t.removedBefore(s)
	}
	var all []ruleLine
	for _, l := range []struct {
		list  string
		rules []rule
	}{{"ignore", t.w.ignore}, {"allow", t.w.allow}} {
		for _, r := range l.rules {
			if s.list == "" || s.list == l.list {
				all = append(all, ruleLine{l.list, selector{terms: []term{{r.pattern, asTyped}}}})
			}
		}
	}
	i, ok := ordinals[strings.ToLower(s.what[0].terms[0].text)]
	if i < 0 {
		i = len(all) - 1
	}
	if !ok || i >= len(all) || i < 0 {
		return ruleLine{}, false
	}
	return all[i], true
}

// removedBefore is the rule that an earlier round removed for an ordinal: the
// list is another one since.
func (t *turn) removedBefore(s step) (ruleLine, bool) {
	if len(s.what) != 1 || len(s.what[0].terms) != 1 {
		return ruleLine{}, false
	}
	if _, ok := ordinals[strings.ToLower(s.what[0].terms[0].text)]; !ok {
		return ruleLine{}, false
	}
	for _, c := range t.now.calls {
		if list := map[string]string{"remove_ignore_rule": "ignore", "remove_whitelist_rule": "allow"}[c.name]; list != "" && !c.consumed {
			return ruleLine{list, selector{terms: []term{{c.text("pattern"), asTyped}}}}, true
		}
	}
	return ruleLine{}, false
}
