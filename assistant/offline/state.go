package offline

import "strings"

// save writes the rules, unless there is nothing to write.
func (t *turn) save(s step) {
	wants := false
	for _, b := range t.steps {
		if b.kind == save && b.text == s.text {
			break
		}
		wants = wants || b.changes()
	}
	if !t.wrote && (wants || t.w.state && !t.w.unsaved) && !t.made("save_changes") {
		if wants && t.w.unsaved {
			t.say("None of these changes worked, so I did not save the others. Say `save` to write them.")
		} else {
			t.say("There is nothing to save.")
		}
		return
	}
	r := t.do("save_changes", args{})
	switch {
	case r == nil:
		t.plan("Now I save the rules.")
	case r.Success:
		t.saved, t.wrote = true, true
		t.say("Saved. %s", sentence(r.Message))
	case r.Code == "declined":
		t.wrote = true
		t.say("You declined the save: the rules stay as they are here, and the file is unchanged.")
	case !r.missing:
		t.wrote = true
		t.say("The save failed: %s. The rules are still here, unsaved.", lowerFirst(r.why()))
	}
}

// made reports whether this turn has called a tool.
func (t *turn) made(name string) bool {
	for _, c := range t.now.calls {
		if c.name == name {
			return true
		}
	}
	return false
}

// discard goes back to the saved rules.
func (t *turn) discard() {
	if t.w.state && !t.w.unsaved && !t.made("discard_changes") {
		t.say("There is nothing to discard: everything is saved.")
		return
	}
	r := t.do("discard_changes", args{})
	switch {
	case r == nil:
		t.plan("I'll go back to the saved rules.")
	case r.Success:
		t.wrote = false
		t.say("Discarded. %s", sentence(r.Message))
	case r.Code == "declined":
		t.say("You declined it, so the unsaved rules are still here.")
	case !r.missing:
		t.say("I could not discard the changes: %s.", lowerFirst(r.why()))
	}
}

// switchTo shows another provider; the steps after it are about that one.
func (t *turn) switchTo(s step) {
	p, ok := t.w.providerNamed(s.name)
	if !ok && len(t.w.providers) > 0 || s.name == "" {
		t.say("I do not know a provider %s. Providers here: %s.", code(s.name), orNone(codes(t.w.providers)))
		for i, p := range t.w.providers {
			if i < len(t.w.providers) && i < 4 {
				t.offer(p, "switch to "+p)
			}
		}
		return
	}
	if !ok {
		p = s.name
	}
	if p == t.w.provider && !t.made("switch_provider") {
		t.say("%s is shown already.", sentenceCase(providerName(p)))
		return
	}
	r := t.do("switch_provider", args{"provider": p})
	switch {
	case r == nil:
		t.plan("I'll switch to %s.", providerName(p))
	case r.Success:
		t.say("%s", sentence(r.Message))
		if t.w.provider != p { // the context is still the old provider's
			t.w.provider, t.w.models, t.w.ignore, t.w.allow, t.w.truncated = p, nil, nil, nil, true
		}
		t.scope = p
	case !r.missing:
		t.say("I could not switch to %s: %s. What came after it was not done.", providerName(p), lowerFirst(r.why()))
		t.stopped = true
	}
}

// refresh fetches the models again.
func (t *turn) refresh(s step) {
	a := args{"provider": ""}
	if p, ok := t.w.providerNamed(s.name); ok {
		a["provider"] = t.w.scope(p)
	}
	r := t.do("refresh_models", a)
	switch {
	case r == nil:
		t.plan("I'll fetch the model list again.")
	case r.Success:
		t.say("%s", sentence(r.Message))
		if n, ok := r.number("new_count"); ok {
			t.say("The list now holds %s.", count(n, "model"))
		}
	case !r.missing:
		t.say("The refresh failed: %s. The list is as it was.", lowerFirst(r.why()))
	}
}

// reverse maps what a turn did to what takes it back.
var reverse = map[string]string{
	"add_ignore_rule": "remove_ignore_rule", "remove_ignore_rule": "add_ignore_rule",
	"add_whitelist_rule": "remove_whitelist_rule", "remove_whitelist_rule": "add_whitelist_rule",
}

// wholeWrites cannot be taken back rule by rule.
var wholeWrites = set("clear_all_ignore_rules clear_all_whitelist_rules import_rules discard_changes")

// undo takes the last turn's rule changes back, newest first. It cannot roll
// back itself: where that is needed it says which key does.
func (t *turn) undo() {
	const keys = "I cannot roll back by myself: press `ctrl+z`, or open the checkpoints (`ctrl+g`) and pick the one before it."
	calls, whole := t.lastWrites()
	if whole {
		t.say("%s", keys)
		t.actions = true
		return
	}
	if len(calls) == 0 {
		t.say("I see no change of mine in this conversation to take back. %s", keys)
		return
	}
	var out outcome
	for i := len(calls) - 1; i >= 0; i-- {
		c := calls[i]
		name := reverse[c.name]
		g := goal{provider: c.text("provider")}
		l := "ignore"
		if strings.Contains(name, "whitelist") {
			l = "allow"
		}
		t.change(&out, l, strings.HasPrefix(name, "add_"), c.text("pattern"), g)
	}
	t.report(out, "available")
}

// lastWrites finds the newest earlier exchange with successful rule changes
// that no later "undo" has taken back. whole reports one that only a
// checkpoint takes back.
func (t *turn) lastWrites() (calls []*call, whole bool) {
	skip := 0
	for i := len(t.past) - 1; i >= 0; i-- {
		calls = nil
		whole = false
		for _, c := range t.past[i].calls {
			if c.res == nil || !c.res.Success {
				continue
			}
			whole = whole || wholeWrites[c.name]
			if reverse[c.name] != "" {
				calls = append(calls, c)
			}
		}
		switch steps := parse(t.past[i].user); {
		case len(calls) == 0 && !whole:
		case len(steps) == 1 && steps[0].kind == undo:
			skip++
		case skip > 0:
			skip--
		default:
			return calls, whole
		}
	}
	return nil, false
}
