package offline

import (
	"fmt"
	"slices"
	"unicode"
	"unicode/utf8"
)

// ruleTool names the four tools that change one rule, by list and direction.
var ruleTool = map[string]map[bool]string{
	"ignore": {true: "add_ignore_rule", false: "remove_ignore_rule"},
	"allow":  {true: "add_whitelist_rule", false: "remove_whitelist_rule"},
}

// listName is a rule list as the user calls it.
func listName(l string) string {
	if l == "allow" {
		return "allow rule"
	}
	return "ignore rule"
}

// importFrom is how many literal rules in one request become one import.
const importFrom = 3

// hide adds ignore rules, and allow rules for the exceptions.
func (t *turn) hide(s step) {
	gs, ok := t.resolve(s)
	if !ok || t.unsure(s, gs) {
		return
	}
	if gs = t.sensible(s, gs); len(gs) == 0 {
		return
	}
	if len(gs) >= importFrom && len(s.except) == 0 && t.importable(gs) {
		t.importList("ignore", gs)
		return
	}
	var out outcome
	for _, g := range gs {
		switch {
		case g.sel.old:
			ids, ok := t.enumerate(s, g)
			if !ok {
				continue
			}
			for _, id := range ids {
				t.change(&out, "ignore", true, id, g)
			}
		case g.sel.newest:
			ids, ok := t.enumerate(s, g)
			for _, id := range ids {
				t.change(&out, "ignore", true, id, g)
			}
			if ok && len(ids) == 0 {
				t.say("No model matches %s, so nothing was changed.", code(g.sel.text()))
			}
		case s.removal && wild(g.pattern) && g.sel.exact() && t.listed(g):
			t.change(&out, "ignore", false, g.pattern, g)
		default:
			t.hidePattern(&out, s, g)
		}
	}
	t.report(out, "hidden")
	t.lookElsewhere(out, gs)
}

// listed reports that the goal's pattern is an ignore rule already: "remove
// *-preview" then means the rule.
func (t *turn) listed(g goal) bool { return g.provider == "" && hasRule(t.w.ignore, g.pattern) }

// hidePattern hides one pattern and keeps its exceptions by allow rules, since
// an allow rule wins.
func (t *turn) hidePattern(out *outcome, s step, g goal) {
	for _, e := range s.except {
		for _, x := range t.w.goals(e) {
			if x.problem != "" || x.provider != g.provider || !wild(g.pattern) || t.apart(g, x) {
				continue
			}
			p, ok := within(g.pattern, x.pattern, t.w.known(g.provider))
			if !ok {
				for _, m := range fitting(fitting(t.w.known(g.provider), g.pattern), x.pattern) {
					t.change(out, "allow", true, m.name, g)
				}
				continue
			}
			t.change(out, "allow", true, p, g)
		}
	}
	if g.provider == "" && hasRule(t.w.allow, g.pattern) { // the allow rule would win
		t.change(out, "allow", false, g.pattern, g)
	}
	t.change(out, "ignore", true, g.pattern, g)
	if kept := allowed(fitting(t.w.known(g.provider), g.pattern), g.pattern); kept != "" && len(s.except) == 0 {
		out.notes = append(out.notes, kept)
	}
}

// apart reports that no listed model fits both goals, so that an exception
// has nothing to do with the rule.
func (t *turn) apart(g, x goal) bool {
	return g.provider == "" && !t.w.truncated && anyFits(t.w.models, x.pattern) && !anyFits(fitting(t.w.models, g.pattern), x.pattern)
}

// allowed says which of the models stay available through another allow rule.
func allowed(models []model, except string) string {
	var ids, patterns []string
	for _, m := range models {
		if m.status == "whitelisted" && m.rule != except {
			ids, patterns = append(ids, m.name), append(patterns, m.rule)
		}
	}
	if len(ids) == 0 {
		return ""
	}
	return fmt.Sprintf("%s stay%s available, because an allow rule wins: %s (%s).",
		sentenceCase(count(len(ids), "model")), third(len(ids)), someCodes(ids), someCodes(unique(patterns)))
}

func third(n int) string {
	if n == 1 {
		return "s"
	}
	return ""
}

// sentenceCase begins a sentence.
func sentenceCase(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	if n == 0 {
		return s
	}
	return string(unicode.ToUpper(r)) + s[n:]
}

// allow adds allow rules; with exceptions, one for each model that is left.
func (t *turn) allow(s step) {
	gs, ok := t.resolve(s)
	if !ok {
		return
	}
	if len(gs) >= importFrom && len(s.except) == 0 && t.importable(gs) {
		t.importList("allow", gs)
		return
	}
	var out outcome
	for _, g := range gs {
		if g.all && !g.sel.newest && !g.sel.old {
			t.clearList(s, &out, "ignore", g)
			continue
		}
		ps, ok := t.targets(s, g)
		if ok && len(ps) == 0 {
			t.say("No model matches %s%s, so nothing was changed.", code(g.sel.text()), on(g.provider))
		}
		for _, p := range ps {
			t.change(&out, "allow", true, p, g)
		}
	}
	t.report(out, "allowed")
}

// targets are the patterns that allow what a goal means: its pattern, or the
// ids one by one where a pattern would allow too much.
func (t *turn) targets(s step, g goal) (patterns []string, ok bool) {
	if !g.sel.newest && !g.sel.old && !t.excluded(s, g) {
		return []string{g.pattern}, true
	}
	return t.enumerate(s, g)
}

// excluded reports whether an exception, or a later "hide" of the same
// message, may take something out of the goal.
func (t *turn) excluded(s step, g goal) bool {
	if !wild(g.pattern) {
		return false
	}
	out := t.exclusions(s, g)
	if len(out) == 0 {
		return false
	}
	if g.provider != "" || t.w.truncated {
		return true
	}
	for _, m := range fitting(t.w.models, g.pattern) {
		if fitsAny(m, out) {
			return true
		}
	}
	return false
}

// exclusions are the patterns that are not meant: the step's exceptions and,
// for "only", what other steps of the message hide.
func (t *turn) exclusions(s step, g goal) []string {
	sels := slices.Clone(s.except)
	if s.kind == only {
		for _, other := range t.steps {
			if other.kind == hide && !t.universal(other) {
				sels = append(sels, other.what...)
			}
		}
	}
	var out []string
	for _, e := range sels {
		for _, x := range t.w.goals(e) {
			if x.problem == "" && !x.all && !x.sel.newest && !x.sel.old && (x.provider == g.provider || x.provider == "" && e.provider == "") {
				out = append(out, x.pattern)
			}
		}
	}
	return out
}

func (t *turn) universal(s step) bool {
	return slices.ContainsFunc(s.what, func(x selector) bool { return x.all && x.provider == "" })
}

func fitsAny(m model, patterns []string) bool {
	return slices.ContainsFunc(patterns, m.fits)
}

// enumerate lists the models a goal means, as rules name them. ok is false
// while the window is asked, or when it cannot be.
func (t *turn) enumerate(s step, g goal) ([]string, bool) {
	models, ok := t.models(g, g.pattern)
	if !ok {
		return nil, false
	}
	if g.sel.all && len(g.sel.terms) == 0 && (g.sel.newest || g.sel.old) {
		provider := g.provider
		if provider == "" {
			provider = t.w.provider
		}
		models = fitting(models, mainFamily(models, provider))
	}
	if out := t.exclusions(s, g); len(out) > 0 {
		models = slices.DeleteFunc(slices.Clone(models), func(m model) bool { return fitsAny(m, out) })
	}
	switch {
	case g.sel.newest:
		models = newestOf(models, g.sel.count)
	case g.sel.old:
		top := newestOf(models, max(g.sel.count, 0))
		models = slices.DeleteFunc(slices.Clone(models), func(m model) bool { return slices.Contains(top, m) })
	}
	if len(models) > maxEnumerated {
		t.say("%s match %s; I name at most %d one by one, so nothing was changed. Use a pattern instead.",
			sentenceCase(count(len(models), "model")), code(g.sel.text()), maxEnumerated)
		return nil, false
	}
	return names(models), true
}

// maxEnumerated is how many rules for single models one selector may become.
const maxEnumerated = 60

// models lists a provider's models that fit a pattern: from the context when
// it is whole, else from the window.
func (t *turn) models(g goal, pattern string) ([]model, bool) {
	if g.provider == "" && t.scope == "" && !t.w.truncated {
		return fitting(t.w.models, pattern), true
	}
	r := t.do("get_models_matching_pattern", args{"pattern": pattern, "provider": t.provider(g)})
	switch {
	case r == nil:
		t.plan("First I look up which models match %s%s.", code(pattern), on(t.provider(g)))
		return nil, false
	case !r.Success:
		t.say("I could not look up %s%s: %s.", code(pattern), on(t.provider(g)), r.why())
		return nil, false
	}
	provider := t.provider(g)
	if provider == "" {
		provider = t.w.provider
	}
	ids := r.models()
	out := make([]model, len(ids))
	for i, id := range ids {
		out[i] = newModel(id, provider)
	}
	return out, true
}

// change adds or removes one rule.
func (t *turn) change(out *outcome, list string, add bool, pattern string, g goal) {
	r := t.do(ruleTool[list][add], args{"pattern": pattern, "provider": t.provider(g)})
	out.add(edit{list, add, pattern, t.provider(g), r})
	if r != nil && r.Success {
		t.wrote, t.saved = true, false
	}
}

// resolve makes a step's selectors concrete; what cannot be is said.
func (t *turn) resolve(s step) ([]goal, bool) {
	var out []goal
	for _, sel := range t.meant(s) {
		for _, g := range t.w.goals(sel) {
			if g.problem != "" {
				t.say("%s.", sentenceCase(g.problem))
				if len(t.w.providers) > 0 {
					t.say("Providers here: %s.", someCodes(t.w.providers))
				}
				continue
			}
			if !slices.ContainsFunc(out, func(o goal) bool {
				return o.pattern == g.pattern && o.provider == g.provider && o.sel.newest == g.sel.newest && o.sel.old == g.sel.old
			}) {
				out = append(out, g)
			}
		}
	}
	return out, len(out) > 0
}

// unsure asks before a rule that would hide every model although the words do
// not say so.
func (t *turn) unsure(s step, gs []goal) bool {
	for _, g := range gs {
		if g.plain || g.sel.newest || g.sel.old || g.provider != "" || len(s.except) > 0 || !wild(g.pattern) || len(gs) > 1 {
			continue
		}
		if n := len(fitting(t.w.models, g.pattern)); g.pattern == "*" || n > 1 && n == len(t.w.models) && !t.w.truncated {
			t.say("That would hide every model of %s (%s). Nothing was changed. If you mean it, say `hide everything`.",
				providerName(t.w.provider), count(t.w.total, "model"))
			t.offer("Hide everything", "hide everything")
			t.offer("No, leave it", "no")
			return true
		}
	}
	return false
}

func providerName(p string) string {
	if p == "" {
		return "this provider"
	}
	return clean(p)
}
