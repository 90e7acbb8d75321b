package offline

import (
	"cmp"
	"slices"
	"strings"

	"winnow/assistant/offline/wire"
)

// editTools are the tools that change rules.
var editTools = map[string]edit{
	"add_ignore_rule": {list: ignoreList, add: true}, "remove_ignore_rule": {list: ignoreList}, "clear_all_ignore_rules": {list: ignoreList},
	"add_whitelist_rule": {list: allowList, add: true}, "remove_whitelist_rule": {list: allowList}, "clear_all_whitelist_rules": {list: allowList},
}

// tool is the tool that makes an edit.
func (e edit) tool() string {
	switch {
	case e.pattern == "":
		return "clear_all_" + e.list + "_rules"
	case e.add:
		return "add_" + e.list + "_rule"
	}
	return "remove_" + e.list + "_rule"
}

// change makes the edits of a plan, or reports what came of them.
func (c *conversation) change(p *plan) {
	var done, failures []string
	var fresh []edit
	for _, e := range p.edits {
		a := wire.Args{"provider": e.provider}
		if e.pattern != "" {
			a["pattern"] = e.pattern
		}
		switch r := c.call(e.tool(), a); {
		case r == nil:
			fresh = append(fresh, e)
		case r.Success:
			c.wrote, c.saved = true, false
			done = append(done, changed(r))
		default:
			failures = append(failures, failure(r, "I could not "+inWords([]edit{e})))
		}
	}
	if len(fresh) > 0 {
		c.announce("I'll %s.", inWords(fresh))
		return
	}
	if len(done) > 1 {
		done = []string{bullets(count(len(done), "change")+":", done)}
	}
	c.paragraphs = slices.Concat(c.paragraphs, done, failures)
}

// changed describes a change of rules: the tool's message, with the affected models
// after its first sentence.
func changed(r *wire.Result) string {
	s, models := sentence(r.Message), wire.Strings(r.Data.Get("affected_models"))
	if len(models) == 0 {
		return s
	}
	n := max(len(models), int(r.Data.Get("affected_count").Int()))
	effect, more, _ := strings.Cut(s+" ", ". ")
	return strings.TrimSpace(effect + verbFor(n, ". The model is ", ". The models are ") + codesOf(models, n) + ". " + more)
}

// failure says why a call failed. what is the beginning of the sentence.
func failure(r *wire.Result, what string) string {
	switch {
	case r.Code == "locked":
		return "The window is locked: another winnow is editing here. " + nothingChanged
	case r.Code == "declined":
		return "It was not confirmed, so it was not done."
	}
	return what + ": " + sentence(cmp.Or(r.Message, "no reason was given"))
}

// inWords says what edits do: "hide `*mini*` and allow `gpt-4o` on openai".
func inWords(edits []edit) string {
	var heads, providers []string
	patterns := map[string][]string{}
	for _, e := range edits {
		head := "remove the " + listName[e.list] + " rule "
		switch {
		case e.pattern == "":
			head = "remove all " + listName[e.list] + " rules"
		case e.add && e.list == ignoreList:
			head = "hide "
		case e.add:
			head = "allow "
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

// callAndReport calls a tool that carries out a whole step and reports its message;
// false while it runs, or when it failed, which is reported.
func (c *conversation) callAndReport(tool string, a wire.Args) bool {
	r := c.callOrReport(tool, a)
	if r != nil {
		c.reportf("%s", sentence(r.Message))
	}
	return r != nil
}

// callOrReport calls a tool; nil while it runs, or when it failed, which is reported.
func (c *conversation) callOrReport(tool string, a wire.Args) *wire.Result {
	r := c.call(tool, a)
	if r == nil {
		c.announce("I'll call %s.", code(tool))
	} else if !r.Success {
		c.reportf("%s", failure(r, code(tool)+" failed"))
		return nil
	}
	return r
}

// save writes the rules, unless there is nothing to write or the changes of
// this message did not work.
func (c *conversation) save() {
	before := c.steps[:slices.IndexFunc(c.steps, func(s step) bool { return s.kind == save })]
	wanted := slices.ContainsFunc(before, func(s step) bool { return s.kind.changesRules() })
	switch {
	case !c.wrote && wanted && c.unsaved:
		c.reportf("None of these changes was made, so I did not save the others. Say `save` to write them.")
	case !c.wrote && !c.unsaved:
		c.reportf("There is nothing to save.")
	case c.callAndReport("save_changes", wire.Args{}):
		c.saved, c.wrote = true, true
	}
}

func (c *conversation) discard() {
	if !c.unsaved {
		c.reportf("There is nothing to discard: everything is saved.")
	} else if c.callAndReport("discard_changes", wire.Args{}) {
		c.wrote = false
	}
}

func (c *conversation) switchTo(s step) {
	switch to := s.selection.scope.providers; {
	case len(to) != 1:
		c.reportf("Name one provider: %s.", codes(c.providers))
	case to[0] == c.provider:
		c.reportf("%s is shown already.", clean(to[0]))
	default:
		c.callAndReport("switch_provider", wire.Args{"provider": to[0]})
	}
}

// editsOf lists the changes of rules that a message of the conversation made, newest
// last. whole is false when its calls do not tell all of them.
func editsOf(x *wire.Exchange) (edits []edit, whole bool) {
	whole = true
	for _, c := range x.Calls {
		e, isEdit := editTools[c.Name]
		switch {
		case !c.OK():
			continue
		case !isEdit:
			whole = whole && c.Name != "import_rules"
			continue
		}
		pattern := c.Args.Get("pattern").String()
		patterns := []string{pattern}
		if pattern == "" {
			patterns = wire.Strings(c.Result.Data.Get("removed_rules"))
			const listed = 100 // a result lists no more rules
			whole = whole && len(patterns) < listed
		}
		for _, pattern := range patterns {
			provider := cmp.Or(c.Result.Data.Get("provider").String(), c.Args.Get("provider").String())
			edits = append(edits, edit{provider, e.list, e.add, pattern})
		}
	}
	return edits, whole
}

// standing lists, oldest first, the messages whose changes are still in effect: an
// undo removes the messages that it took back from the list, a discard all.
func (c *conversation) standing() []*wire.Exchange {
	var out []*wire.Exchange
	for _, x := range c.past {
		edits, whole := editsOf(x)
		switch s := c.parse(x.User); {
		case slices.ContainsFunc(x.Calls, func(k *wire.Call) bool { return k.OK() && k.Name == "discard_changes" }):
			out = nil
		case len(edits) == 0 && whole:
		case len(s) == 1 && s[0].kind == undo:
			n := cmp.Or(s[0].n, 1)
			if n == undoAll {
				n = len(out)
			}
			out = out[:max(0, len(out)-n)]
		default:
			out = append(out, x)
		}
	}
	return out
}

// undo takes the changes of the last messages back, newest first: as many as it
// was asked to, or none.
func (c *conversation) undo(s step) {
	const rollBack = "The checkpoints of the window go back further."
	all := c.standing()
	n := cmp.Or(s.n, 1)
	if s.n == undoAll {
		n = len(all)
	}
	if len(all) == 0 {
		c.reportf("I see no change of mine in this conversation that I can take back. %s", rollBack)
		return
	}
	if n > len(all) {
		c.reportf("I can take back the changes of %s, not of %d. %s %s", count(len(all), "message"), n, nothingChanged, rollBack)
		c.offer("Undo all", "undo everything")
		return
	}
	p := &plan{step: s}
	for _, x := range slices.Backward(all[len(all)-n:]) {
		edits, whole := editsOf(x)
		if !whole {
			c.reportf("I cannot take %s back rule by rule. %s %s", code(clean(x.User)), nothingChanged, rollBack)
			return
		}
		for _, e := range slices.Backward(edits) {
			e.add = !e.add
			p.edits = append(p.edits, e)
		}
	}
	c.change(p)
	if !c.waiting() && n > 1 {
		c.reportf("The changes of your last %d messages are taken back.", n)
	}
}

// lastChanges says what the last message of the conversation changed.
func (c *conversation) lastChanges() {
	if len(c.past) == 0 {
		c.reportf("Nothing yet: this is your first message.")
		return
	}
	var lines []string
	for _, k := range c.past[len(c.past)-1].Calls {
		if k.OK() && writeTools[k.Name] {
			lines = append(lines, changed(k.Result))
		}
	}
	if len(lines) == 0 {
		c.reportf("For your last message I changed nothing.")
		return
	}
	c.reportf("%s", bullets("For your last message:", unique(lines)))
	c.offer("Undo", "undo that")
}
