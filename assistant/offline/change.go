package offline

import (
	"fmt"
	"slices"
)

// ruleTool names the four tools that change one rule, by list and direction.
var ruleTool = map[string]map[bool]string{
	ignoreList: {true: "add_ignore_rule", false: "remove_ignore_rule"},
	allowList:  {true: "add_whitelist_rule", false: "remove_whitelist_rule"},
}

var clearTool = map[string]string{ignoreList: "clear_all_ignore_rules", allowList: "clear_all_whitelist_rules"}

// outcome is an edit and what came of it.
type outcome struct {
	edit
	res *result
}

// change makes the edits of a plan, or reports what came of them.
func (t *turn) change(p *plan) {
	var done, failed []outcome
	var fresh []edit
	for _, e := range p.edits {
		r := t.apply(e)
		switch {
		case r == nil:
			fresh = append(fresh, e)
		case r.Success:
			done = append(done, outcome{e, r})
		case !r.missing:
			failed = append(failed, outcome{e, r})
		}
	}
	if len(fresh) > 0 {
		t.plan("I'll %s.", inWords(fresh)+onProviders(fresh))
		return
	}
	t.report(done, failed)
	for _, n := range p.notes {
		t.say("%s", n)
	}
}

func (t *turn) apply(e edit) *result {
	name, a := ruleTool[e.list][e.add], args{"pattern": e.pattern, "provider": e.provider}
	if e.clear {
		name, a = clearTool[e.list], args{"provider": e.provider}
	}
	r := t.call(name, a)
	if r != nil && r.Success {
		t.wrote, t.saved, t.changed = true, false, true
	}
	return r
}

func onProviders(edits []edit) string {
	var ps []string
	for _, e := range edits {
		ps = append(ps, clean(e.provider))
	}
	return " on " + joinAnd(unique(ps))
}

// report says what rules were changed, with the numbers that the tools gave.
func (t *turn) report(done, failed []outcome) {
	var lines []string
	for _, o := range done {
		lines = append(lines, o.sentence())
	}
	switch len(lines) {
	case 0:
	case 1:
		t.say("%s", lines[0])
	default:
		t.say("%s", bullets(fmt.Sprintf("%d rules changed:", len(lines)), lines, len(lines)))
	}
	for _, o := range failed {
		switch o.res.Code {
		case "locked":
			t.say("I could not do it: the window is locked. %s", nothingChanged)
		case "declined":
			t.say("You declined it. %s", nothingChanged)
		default:
			t.say("I could not %s on %s: %s.", inWords([]edit{o.edit}), clean(o.provider), lowerFirst(o.res.why()))
		}
	}
}

// sentence says what one change of rules did, with the models of the result.
func (o outcome) sentence() string {
	verb, what := "Removed", "the "+o.list+" rule "+code(o.pattern)
	effect := map[string]string{ignoreList: "shown again", allowList: "hidden now"}[o.list]
	if o.add {
		verb, effect = "Added", map[string]string{ignoreList: "hidden", allowList: "kept shown"}[o.list]
	}
	if o.clear {
		what = "all " + o.list + " rules"
	}
	s := verb + " " + what + " on " + clean(o.provider)
	models := stringsOf(o.res.Data.Get("affected_models"))
	number := o.res.Data.Get("affected_count")
	switch n := int(number.Int()); {
	case !number.Exists():
	case n == 0:
		s += ": no model changes now"
	default:
		s += fmt.Sprintf(": %s %s: %s", count(n, "model"), effect, codes(models))
	}
	if redundant := stringsOf(o.res.Data.Get("redundant_rules")); len(redundant) > 0 {
		s += ". It makes redundant: " + codes(redundant)
	}
	return s + "."
}

// save writes the rules, unless there is nothing to write or the changes of
// this message did not work.
func (t *turn) save() {
	wanted := false
	for _, s := range t.steps {
		if s.kind == save {
			break
		}
		wanted = wanted || s.kind.changesRules()
	}
	if !t.made("save_changes") && !t.wrote {
		if wanted && t.w.unsaved {
			t.say("None of these changes was made, so I did not save the others. Say `save` to write them.")
			return
		}
		if wanted || t.w.knowsSave && !t.w.unsaved {
			t.say("There is nothing to save.")
			return
		}
	}
	r := t.simple("save_changes", args{}, "Now I save the rules.", "The save failed")
	if r != nil && r.Success {
		t.saved, t.wrote = true, true
	}
}

// simple calls a tool that stands for a whole step and says what came of it.
func (t *turn) simple(tool string, a args, doing, failed string) *result {
	r := t.call(tool, a)
	switch {
	case r == nil:
		t.plan("%s", doing)
	case r.Success:
		t.say("%s", sentence(r.Message))
	case r.Code == "declined":
		t.say("You declined it: the file is unchanged, and the rules stay as they are here.")
	case !r.missing:
		t.say("%s: %s.", failed, lowerFirst(r.why()))
	}
	return r
}

// made reports whether this turn has called a tool.
func (t *turn) made(name string) bool {
	return slices.ContainsFunc(t.now.calls, func(c *call) bool { return c.name == name })
}

// discard goes back to the saved rules.
func (t *turn) discard() {
	if !t.made("discard_changes") && t.w.knowsSave && !t.w.unsaved {
		t.say("There is nothing to discard: everything is saved.")
		return
	}
	if r := t.simple("discard_changes", args{}, "I'll go back to the saved rules.", "I could not discard the changes"); r != nil && r.Success {
		t.wrote = false
	}
}

// switchTo shows another provider.
func (t *turn) switchTo(s step) {
	switch at := s.what.scope.providers; {
	case len(at) != 1:
		t.say("Name one provider: %s.", codes(t.w.providers))
	case !t.made("switch_provider") && at[0] == t.w.provider && at[0] == t.w.shown.provider:
		t.say("%s is shown already.", clean(at[0]))
	default:
		t.simple("switch_provider", args{"provider": at[0]}, "I'll switch to "+clean(at[0])+".", "I could not switch to "+clean(at[0]))
	}
}

// refresh fetches the models of providers again.
func (t *turn) refresh(s step) {
	for _, p := range t.scopeOf(s.what.scope) {
		t.simple("refresh_models", args{"provider": p}, "I'll fetch the models of "+clean(p)+" again.", "The models of "+clean(p)+" could not be fetched")
	}
}
