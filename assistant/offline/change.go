package offline

import (
	"fmt"
	"strings"
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
			what := strings.TrimPrefix(inWords([]edit{o.edit}), "remove ")
			t.say("I could not %s %s on %s: %s.", o.verb(), what, clean(o.provider), lowerFirst(o.res.why()))
		}
	}
}

func (o outcome) verb() string {
	switch {
	case !o.add:
		return "remove"
	case o.list == ignoreList:
		return "add the ignore rule to"
	}
	return "add the allow rule to"
}

// sentence says what one change of rules did.
func (o outcome) sentence() string {
	n, known := o.res.number("affected_count")
	models := o.res.list("affected_models")
	if n < len(models) || !known {
		n, known = len(models), known || o.res.Data["affected_models"] != nil
	}
	var head, effect string
	switch {
	case o.clear:
		head = fmt.Sprintf("Removed all %s rules on %s", o.list, clean(o.provider))
	case o.add:
		head = fmt.Sprintf("Added the %s rule %s on %s", o.list, code(o.pattern), clean(o.provider))
	default:
		head = fmt.Sprintf("Removed the %s rule %s on %s", o.list, code(o.pattern), clean(o.provider))
	}
	switch {
	case !known:
		return head + "."
	case n == 0 && o.add:
		return head + ": it decides no model now."
	case n == 0:
		return head + ": no model changes."
	case o.add && o.list == ignoreList:
		effect = verbFor(n, "is", "are") + " hidden"
	case o.add:
		effect = verbFor(n, "stays", "stay") + " shown"
	case o.list == ignoreList:
		effect = verbFor(n, "is", "are") + " shown again"
	default:
		effect = verbFor(n, "is", "are") + " hidden now"
	}
	s := fmt.Sprintf("%s: %s %s", head, count(n, "model"), effect)
	if len(models) > 0 {
		s += ": " + codes(models)
	}
	if redundant := o.res.list("redundant_rules"); len(redundant) > 0 {
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
	if _, made := t.made("save_changes"); !made && !t.wrote {
		if wanted && t.w.unsaved {
			t.say("None of these changes was made, so I did not save the others. Say `save` to write them.")
			return
		}
		if wanted || t.w.knowsSave && !t.w.unsaved {
			t.say("There is nothing to save.")
			return
		}
	}
	switch r := t.call("save_changes", args{}); {
	case r == nil:
		t.plan("Now I save the rules.")
	case r.Success:
		t.saved, t.wrote = true, true
		t.say("%s", sentence(r.Message))
	case r.Code == "declined":
		t.wrote = true
		t.say("You declined the save: the file is unchanged, and the rules stay staged.")
	case !r.missing:
		t.wrote = true
		t.say("The save failed: %s. The rules are still here, unsaved.", lowerFirst(r.why()))
	}
}

// made reports whether this turn has called a tool.
func (t *turn) made(name string) (*call, bool) {
	for _, c := range t.now.calls {
		if c.name == name {
			return c, true
		}
	}
	return nil, false
}

// discard goes back to the saved rules.
func (t *turn) discard() {
	if _, made := t.made("discard_changes"); !made && t.w.knowsSave && !t.w.unsaved {
		t.say("There is nothing to discard: everything is saved.")
		return
	}
	switch r := t.call("discard_changes", args{}); {
	case r == nil:
		t.plan("I'll go back to the saved rules.")
	case r.Success:
		t.wrote = false
		t.say("%s", sentence(r.Message))
	case r.Code == "declined":
		t.say("You declined it, so the unsaved rules are still here.")
	case !r.missing:
		t.say("I could not discard the changes: %s.", lowerFirst(r.why()))
	}
}

// switchTo shows another provider.
func (t *turn) switchTo(s step) {
	at := s.what.scope.providers
	if len(at) != 1 {
		t.say("Name one provider: %s.", codes(t.w.providers))
		return
	}
	if _, made := t.made("switch_provider"); !made && at[0] == t.w.provider && at[0] == t.w.shown.provider {
		t.say("%s is shown already.", clean(at[0]))
		return
	}
	switch r := t.call("switch_provider", args{"provider": at[0]}); {
	case r == nil:
		t.plan("I'll switch to %s.", clean(at[0]))
	case r.Success:
		t.say("%s", sentence(r.Message))
	case !r.missing:
		t.say("I could not switch to %s: %s.", clean(at[0]), lowerFirst(r.why()))
	}
}

// refresh fetches the models of providers again.
func (t *turn) refresh(s step) {
	for _, p := range t.scopeOf(s.what.scope) {
		switch r := t.call("refresh_models", args{"provider": p}); {
		case r == nil:
			t.plan("I'll fetch the models of %s again.", clean(p))
		case r.Success:
			t.say("%s", sentence(r.Message))
		case !r.missing:
			t.say("The models of %s could not be fetched: %s. The list is as it was.", clean(p), lowerFirst(r.why()))
		}
	}
}
