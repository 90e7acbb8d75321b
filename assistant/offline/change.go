package offline

import (
	"cmp"
	"slices"
	"strings"
)

func (e edit) tool() string {
	list := map[string]string{ignoreList: "ignore", allowList: "whitelist"}[e.list]
	switch {
	case e.clear:
		return "clear_all_" + list + "_rules"
	case e.add:
		return "add_" + list + "_rule"
	}
	return "remove_" + list + "_rule"
}

// change makes the edits of a plan, or reports what came of them.
func (t *turn) change(p *plan) {
	var done []string
	var fresh, failed []edit
	var reasons []*result
	for _, e := range p.edits {
		a := args{"provider": e.provider}
		if !e.clear {
			a["pattern"] = e.pattern
		}
		switch r := t.call(e.tool(), a); {
		case r == nil:
			fresh = append(fresh, e)
		case r.Success:
			t.wrote, t.saved, t.changed = true, false, true
			done = append(done, changed(r))
		case !r.missing:
			failed, reasons = append(failed, e), append(reasons, r)
		}
	}
	if len(fresh) > 0 {
		t.plan("I'll %s.", inWords(fresh))
		return
	}
	if len(done) == 1 {
		t.say("%s", done[0])
	} else if len(done) > 1 {
		t.say("%s", bullets(count(len(done), "change")+":", done, len(done)))
	}
	for i, e := range failed {
		t.failed("I could not "+inWords([]edit{e}), reasons[i])
	}
	t.notes(p)
}

// changed says what a change of rules did, in the tool's words and with the
// models that it names.
func changed(r *result) string {
	s := sentence(r.Message)
	if models := stringsOf(r.Data.Get("affected_models")); len(models) > 0 {
		s += " " + upperFirst(codes(models)) + "."
	}
	return s
}

func (t *turn) failed(what string, r *result) {
	switch {
	case r.missing:
	case r.Code == "locked":
		t.say("I could not do it: the window is locked. %s", nothingChanged)
	case r.Code == "declined":
		t.say("You declined it: that was not done.")
	default:
		t.say("%s: %s.", what, lowerFirst(r.why()))
	}
}

func (t *turn) notes(p *plan) {
	for _, n := range p.notes {
		t.say("%s", n)
	}
}

// inWords says what edits do: "hide `*mini*` and allow `gpt-4o` on openai".
func inWords(edits []edit) string {
	var heads, providers []string
	patterns := map[string][]string{}
	for _, e := range edits {
		head := map[bool]string{true: "hide ", false: "remove the ignore rule "}[e.add]
		if e.list == allowList {
			head = map[bool]string{true: "allow ", false: "remove the allow rule "}[e.add]
		}
		if e.clear {
			head = "remove all " + e.list + " rules"
		}
		heads, providers = append(heads, head), append(providers, clean(e.provider))
		patterns[head] = append(patterns[head], e.pattern)
	}
	var parts []string
	for _, head := range unique(heads) {
		parts = append(parts, head+codes(unique(patterns[head])))
	}
	return joinAnd(parts) + " on " + joinAnd(unique(providers))
}

// simple calls a tool that stands for a whole step and reports whether it did it.
func (t *turn) simple(tool string, a args, doing, failed string) bool {
	r := t.call(tool, a)
	switch {
	case r == nil:
		t.plan("%s", doing)
		return false
	case r.Success:
		t.say("%s", sentence(r.Message))
	default:
		t.failed(failed, r)
	}
	return r.Success
}

func (t *turn) made(name string) bool {
	return slices.ContainsFunc(t.now.calls, func(c *call) bool { return c.name == name })
}

// save writes the rules, unless there is nothing to write or the changes of
// this message did not work.
func (t *turn) save() {
	before := t.steps[:slices.IndexFunc(t.steps, func(s step) bool { return s.kind == save })]
	wanted := slices.ContainsFunc(before, func(s step) bool { return s.kind.changesRules() })
	switch again := t.made("save_changes") || t.wrote; {
	case !again && wanted && t.w.unsaved:
		t.say("None of these changes was made, so I did not save the others. Say `save` to write them.")
	case !again && (wanted || t.w.knowsSave && !t.w.unsaved):
		t.say("There is nothing to save.")
	case t.simple("save_changes", args{}, "Now I save the rules.", "The save failed"):
		t.saved, t.wrote = true, true
	}
}

func (t *turn) discard() {
	if !t.made("discard_changes") && t.w.knowsSave && !t.w.unsaved {
		t.say("There is nothing to discard: everything is saved.")
	} else if t.simple("discard_changes", args{}, "I'll go back to the saved rules.", "I could not discard the changes") {
		t.wrote = false
	}
}

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

// done is what one message of the conversation changed.
type done struct {
	edits   []edit // newest last
	partial string // the tool whose change cannot be taken back edit by edit
}

// changesDone lists, oldest first, the messages whose changes still stand: an
// undo takes its own and those that it took back off the list, a discard all.
func (t *turn) changesDone() []done {
	var out []done
	for _, x := range t.past {
		d := done{}
		for _, c := range x.calls {
			switch {
			case c.ok() && c.name == "discard_changes":
				out, d = nil, done{}
			case c.ok():
				d.add(c)
			}
		}
		switch s := t.parser.parse(x.user); {
		case len(d.edits) == 0 && d.partial == "":
		case len(s) == 1 && s[0].kind == undo:
			n := cmp.Or(s[0].n, 1)
			if n == undoAll {
				n = len(out)
			}
			out = out[:max(0, len(out)-n)]
		default:
			out = append(out, d)
		}
	}
	return out
}

// add reads a call that changed rules.
func (d *done) add(c *call) {
	provider := cmp.Or(c.res.Data.Get("provider").String(), c.args.Get("provider").String())
	for _, list := range []string{ignoreList, allowList} {
		for _, e := range []edit{{list: list, add: true}, {list: list}, {list: list, clear: true}} {
			if e.tool() != c.name {
				continue
			}
			patterns := []string{c.args.Get("pattern").String()}
			if e.clear {
				patterns = stringsOf(c.res.Data.Get("removed_rules"))
				const cut = 100 // a result lists no more rules
				if len(patterns) >= cut || len(patterns) == 0 && c.res.Data.Get("affected_count").Int() > 0 {
					d.partial = c.name
				}
			}
			for _, p := range patterns {
				d.edits = append(d.edits, edit{provider: provider, list: list, add: e.add, pattern: p})
			}
		}
	}
	if c.name == "import_rules" {
		d.partial = c.name
	}
}

// undo takes the changes of the last messages back, newest first. It takes as
// many back as it was asked to, or none.
func (t *turn) undo(s step) {
	all := t.changesDone()
	n := cmp.Or(s.n, 1)
	if s.n == undoAll {
		n = len(all)
	}
	t.changed = true
	if len(all) == 0 {
		t.say("I see no change of mine in this conversation that I can take back. %s", rollBack)
		return
	}
	if n > len(all) {
		t.say("I can take back the changes of %s, not of %d. %s %s", count(len(all), "message"), n, nothingChanged, rollBack)
		t.offer("Undo all", "undo everything")
		return
	}
	p := &plan{step: s}
	for _, d := range slices.Backward(all[len(all)-n:]) {
		if d.partial != "" {
			t.say("I cannot take %s back rule by rule. %s %s", code(d.partial), nothingChanged, rollBack)
			return
		}
		for _, e := range slices.Backward(d.edits) {
			e.add = !e.add
			p.edits = append(p.edits, e)
		}
	}
	t.change(p)
	if !t.waiting() && n > 1 {
		t.say("The changes of your last %d messages are taken back.", n)
	}
}

// rollBack ends the answers of an undo that cannot be done.
const rollBack = "The checkpoints of the window go back further."

// whatDone says what the last message of the conversation changed.
func (t *turn) whatDone() {
	if len(t.past) == 0 {
		t.say("Nothing yet: this is your first message.")
		return
	}
	var lines []string
	for _, c := range t.past[len(t.past)-1].calls {
		if c.ok() && writeTools[c.name] {
			lines = append(lines, changed(c.res))
		}
	}
	if len(lines) == 0 {
		t.say("For your last message I changed nothing.")
		return
	}
	t.say("%s", bullets("For your last message:", unique(lines), 30))
	t.offer("Undo", "undo that")
}

// providersOf are the providers of edits, in the order of the first of each.
func providersOf(edits []edit) []string {
	var out []string
	for _, e := range edits {
		out = append(out, e.provider)
	}
	return unique(out)
}

// replaceFold replaces the first occurrence of a word in any case.
func replaceFold(text, old, by string) string {
	if i := strings.Index(asciiLower(text), asciiLower(old)); i >= 0 {
		return text[:i] + by + text[i+len(old):]
	}
	return text
}
