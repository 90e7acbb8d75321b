package offline

import (
	"slices"
	"strings"
)

// sensible leaves out words that no model has in its name and that are not
// known to be said of models: a rule for a slip, or for a trait that no name
// tells, would wait for ever. What is left out is said.
func (t *turn) sensible(s step, gs []goal) []goal {
	var out []goal
	for _, g := range gs {
		w, odd := t.oddWord(g)
		if !odd || s.removal && t.listed(g) || t.made("add_ignore_rule") && t.took(g.pattern) {
			out = append(out, g)
			continue
		}
		if near := t.nearWord(w); near != "" {
			t.say("No model of %s has %s in its name. Did you mean `hide %s models`? Nothing was changed for it.", providerName(t.w.provider), code(w), near)
			t.offer("Hide "+near+" models", "hide "+near+" models")
			continue
		}
		t.say("No model of %s has %s in its name, and I know models by their names only, so nothing was changed for it. To add the rule for models that come later, say `hide \"%s\"`.",
			providerName(t.w.provider), code(w), strings.ReplaceAll(clean(g.pattern), "`", ""))
	}
	return out
}

// took reports that an earlier round of this turn added the rule.
func (t *turn) took(pattern string) bool {
	return slices.ContainsFunc(t.now.calls, func(c *call) bool { return c.text("pattern") == pattern })
}

// oddWord is a word of the goal that fits no model and names no sort of them.
func (t *turn) oddWord(g goal) (string, bool) {
	if g.provider != "" || t.scope != "" || t.w.truncated || len(t.w.models) == 0 || g.all || anyFits(t.w.models, g.pattern) {
		return "", false
	}
	for _, x := range g.sel.terms {
		w := strings.ToLower(x.text)
		one := strings.TrimSuffix(w, "s")
		_, family := familyOf(w)
		_, familyOne := familyOf(one)
		if x.form == asWord && plainWord(w) && !family && !familyOne && !sorts[w] && !sorts[one] && !notChat[w] && !notChat[one] && !anyFits(t.w.models, "*"+one+"*") {
			return w, true
		}
	}
	return "", false
}

// nearWord is the sort or part of a name that a word is a slip of.
func (t *turn) nearWord(w string) string {
	const shortest = 4 // of shorter words, everything is one letter apart
	if len(w) < shortest {
		return ""
	}
	var near []string
	for have := range sorts {
		if typo(w, have) || typo(strings.TrimSuffix(w, "s"), have) {
			near = append(near, have)
		}
	}
	for _, m := range t.w.models {
		for part := range strings.FieldsFuncSeq(m.tail, func(r rune) bool { return r < 'a' || r > 'z' }) {
			if len(part) >= shortest && typo(w, part) {
				near = append(near, part)
			}
		}
	}
	if len(near) == 0 {
		return ""
	}
	return slices.Min(near)
}

// maxElsewhere is how many other providers are asked about a rule that hides
// nothing here.
const maxElsewhere = 6

// lookElsewhere asks, for words that hide nothing of the shown provider, which
// other provider has such models, and offers the rule there. "Hide every
// preview model" is said by people who see all providers as one list.
func (t *turn) lookElsewhere(out outcome, gs []goal) {
	if len(out.edits) != 1 || len(gs) != 1 || t.scope != "" || len(t.w.providers) > maxElsewhere+1 {
		return
	}
	e, g := out.edits[0], gs[0]
	if e.res == nil || !e.res.Success || !e.add || e.provider != "" || g.sel.exact() {
		return
	}
	if n, _, known := e.res.affected(); n > 0 || !known {
		return
	}
	if _, offered := t.req.tool("get_models_matching_pattern"); !offered {
		return
	}
	var at []string
	for _, p := range t.w.providers {
		if p == t.w.provider {
			continue
		}
		r := t.do("get_models_matching_pattern", args{"pattern": e.pattern, "provider": p})
		switch {
		case r == nil:
			t.plan("None here; I look at the other providers.")
		case r.Success && r.total() > 0:
			at = append(at, count(r.total(), "model")+on(p))
			t.offer("Hide them on "+p, "hide "+g.sel.text()+" models on "+p)
		}
	}
	if len(at) > 0 && !t.waiting() {
		t.say("Elsewhere it would hide %s: rules are kept per provider.", joinAnd(at))
	}
}
