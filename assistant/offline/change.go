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

// undo takes the last turns of this conversation with changes back, newest first.
func (c *conversation) undo(s step) {
	const most = 100 // steps of one call
	n := cmp.Or(s.n, 1)
	if n == undoAll || n > most {
		n = most
	}
	if r := c.call("undo", wire.Args{"steps": n}); r != nil {
		c.reportf("%s", sentence(r.Message))
		c.wrote, c.saved = c.wrote || r.Success, c.saved && !r.Success
	}
}
