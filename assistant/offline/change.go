package offline

import (
	"cmp"
	"slices"
	"strings"

	"winnow/assistant/offline/wire"
)

// change makes edits, or reports what came of them.
func (c *conversation) change(edits []edit) {
	var done, failures []string
	for _, e := range edits {
		a := wire.Args{"provider": e.provider}
		if e.pattern != "" {
			a["pattern"] = e.pattern
		}
		switch r := c.call(e.tool(), a); {
		case r == nil:
		case r.Success:
			c.wrote, c.saved = true, false
			done = append(done, changed(r))
		default:
			failures = append(failures, failure(r, "I could not "+inWords([]edit{e})))
		}
	}
	if len(done) > 1 {
		done = []string{bullets(counted(len(done), "change")+":", done)}
	}
	if !c.waiting() {
		c.paragraphs = slices.Concat(c.paragraphs, done, failures)
	}
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

// editsOf lists the changes of rules that a message of the conversation made. whole is
// false when its calls do not tell all of them.
func editsOf(x *wire.Exchange) (edits []edit, whole bool) {
	whole = true
	for _, c := range x.Calls {
		e, isEdit := editTools[c.Name]
		if !c.OK() || !isEdit {
			whole = whole && !(c.OK() && c.Name == "import_rules")
			continue
		}
		patterns := []string{c.Args.Get("pattern").String()}
		if patterns[0] == "" {
			patterns = wire.Strings(c.Result.Data.Get("removed_rules"))
			const listed = 100 // a result lists no more rules
			whole = whole && len(patterns) < listed
		}
		for _, pattern := range patterns {
			edits = append(edits, edit{cmp.Or(c.Result.Data.Get("provider").String(), c.Args.Get("provider").String()), e.list, e.add, pattern})
		}
	}
	return edits, whole
}

// undo takes the changes of the last messages back, newest first: as many as it
// was asked to, or none.
func (c *conversation) undo(s step) {
	const rollBack = "The checkpoints of the window go back further."
	var standing []*wire.Exchange // the messages whose changes are still in effect, oldest first
	for _, x := range c.past {
		edits, whole := editsOf(x)
		switch s := c.parse(x.User); {
		case slices.ContainsFunc(x.Calls, func(k *wire.Call) bool { return k.OK() && k.Name == "discard_changes" }):
			standing = nil
		case len(edits) == 0 && whole:
		case len(s) == 1 && s[0].kind == undo:
			standing = standing[:len(standing)-s[0].steps(len(standing))]
		default:
			standing = append(standing, x)
		}
	}
	n := s.steps(len(standing))
	switch {
	case len(standing) == 0:
		c.reportf("I see no change of mine in this conversation that I can take back. %s", rollBack)
		return
	case s.n > len(standing):
		c.reportf("I can take back the changes of %s, not of %d. %s %s", counted(len(standing), "message"), s.n, nothingChanged, rollBack)
		c.offer("Undo all", "undo everything")
		return
	}
	var back []edit
	for _, x := range slices.Backward(standing[len(standing)-n:]) {
		edits, whole := editsOf(x)
		if !whole {
			c.reportf("I cannot take %s back rule by rule. %s %s", code(x.User), nothingChanged, rollBack)
			return
		}
		for _, e := range slices.Backward(edits) {
			e.add = !e.add
			back = append(back, e)
		}
	}
	if c.change(back); !c.waiting() && n > 1 {
		c.reportf("The changes of your last %d messages are taken back.", n)
	}
}

// steps is how many of the messages that stand an undo takes back.
func (s step) steps(standing int) int {
	if s.n == undoAll {
		return standing
	}
	return min(cmp.Or(s.n, 1), standing)
}
