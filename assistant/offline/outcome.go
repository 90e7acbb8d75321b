package offline

import (
	"fmt"
	"slices"
	"strings"
)

// edit is one rule that a step adds or removes, and what came of it.
type edit struct {
	list     string
	add      bool
	pattern  string
	provider string
	res      *result // nil: made in this response
}

// outcome collects a step's edits.
type outcome struct {
	edits []edit
	notes []string
}

func (o *outcome) add(e edit) { o.edits = append(o.edits, e) }

// report says what a step's calls are for, or what came of them. state is what
// the step makes of the models: hidden, allowed, available.
func (t *turn) report(o outcome, state string) {
	var fresh []edit
	for _, e := range o.edits {
		if e.res == nil {
			fresh = append(fresh, e)
		}
	}
	if len(fresh) > 0 {
		t.announce(fresh)
		return
	}
	var failed []edit
	var done []edit
	for _, e := range o.edits {
		if e.res.Success {
			done = append(done, e)
		} else {
			failed = append(failed, e)
		}
	}
	if len(done) > 0 {
		t.actions = true
		t.say("%s", successes(done, state))
	}
	for _, e := range failed {
		t.say("%s", failure(e, len(done) > 0))
	}
	for _, n := range o.notes {
		t.say("%s", n)
	}
}

// announce says what is about to be called, provider by provider.
func (t *turn) announce(es []edit) {
	for len(es) > 0 {
		first := es[0].provider
		here := func(e edit) bool { return e.provider == first }
		t.announceOn(slices.DeleteFunc(slices.Clone(es), func(e edit) bool { return !here(e) }))
		es = slices.DeleteFunc(es, here)
	}
}

func (t *turn) announceOn(es []edit) {
	var parts []string
	for _, k := range []struct {
		list string
		add  bool
	}{{"ignore", true}, {"allow", true}, {"ignore", false}, {"allow", false}} {
		var ps []string
		for _, e := range es {
			if e.list == k.list && e.add == k.add {
				ps = append(ps, e.pattern)
			}
		}
		if len(ps) == 0 {
			continue
		}
		verb := "remove"
		if k.add {
			verb = "add"
		}
		noun := listName(k.list)
		if len(ps) == 1 {
			parts = append(parts, fmt.Sprintf("%s the %s %s", verb, noun, code(ps[0])))
		} else {
			parts = append(parts, fmt.Sprintf("%s %d %ss: %s", verb, len(ps), noun, someCodes(ps)))
		}
	}
	t.plan("I'll %s%s.", joinAnd(parts), on(es[0].provider))
}

// successes lists the rules that were changed with the numbers the tools gave.
func successes(es []edit, state string) string {
	if len(es) == 1 {
		return success(es[0])
	}
	var b strings.Builder
	var ids []string
	whole := true
	for _, e := range es {
		n, list, known := e.res.affected()
		fmt.Fprintf(&b, "- %s %s%s", past(e), code(e.pattern), on(e.provider))
		if known {
			fmt.Fprintf(&b, ": %s", count(n, "model"))
		}
		b.WriteByte('\n')
		whole = whole && len(list) == n && known
		if e.add == es[len(es)-1].add && e.list == es[len(es)-1].list {
			ids = append(ids, prefixed(e.provider, list)...)
		}
	}
	head := fmt.Sprintf("Done, %d rules changed:\n", len(es))
	uniform := !slices.ContainsFunc(es, func(e edit) bool { return e.list != es[0].list || e.add != es[0].add })
	if n := len(unique(ids)); whole && uniform && n > 0 {
		head = fmt.Sprintf("Done, %d rules for %s that %s now %s:\n", len(es), count(n, "model"), are(n), state)
	}
	return head + "\n" + strings.TrimRight(b.String(), "\n")
}

func prefixed(provider string, ids []string) []string {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = provider + "\x00" + id // the same id of two providers is two models
	}
	return out
}

func are(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

func past(e edit) string {
	if e.add {
		return "added " + listName(e.list)
	}
	return "removed " + listName(e.list)
}

// success says what one rule did.
func success(e edit) string {
	n, ids, known := e.res.affected()
	verb := map[string]map[bool]string{
		"ignore": {true: "hides", false: "no longer hides"},
		"allow":  {true: "keeps available", false: "no longer keeps available"},
	}[e.list][e.add]
	head := sentenceCase(past(e)) + " " + code(e.pattern) + on(e.provider) + "."
	switch {
	case !known:
		return head + " " + sentence(e.res.Message)
	case n == 0 && e.add:
		return head + " It decides no model now and will apply to models that come later."
	case n == 0:
		return head + " No model changed by that."
	case len(ids) == 0:
		return fmt.Sprintf("%s It %s %s.", head, verb, count(n, "model"))
	}
	return fmt.Sprintf("%s It %s %s: %s.", head, verb, count(n, "model"), someCodes(ids))
}

// failure says why one rule was not changed.
func failure(e edit, others bool) string {
	lead := "I could not"
	if others {
		lead = "However, I could not"
	}
	verb := "remove"
	if e.add {
		verb = "add"
	}
	s := fmt.Sprintf("%s %s %s%s: %s.", lead, verb, code(e.pattern), on(e.provider), lowerFirst(e.res.why()))
	switch e.res.Code {
	case "covered":
		if !strings.Contains(e.res.Message, "already in the") {
			s += " That broader rule already applies to those models, so no rule is needed."
		}
	case "locked":
		s += " The window is locked; try again when it is free."
	case "declined":
		s += " You declined it, so nothing changed."
	case "timeout":
		s += " It took too long; say it again to retry."
	}
	return s
}

// lowerFirst fits a tool's message into a sentence, unless it begins with a
// name or an abbreviation.
func lowerFirst(s string) string {
	rs := []rune(s)
	if len(rs) > 1 && rs[0] >= 'A' && rs[0] <= 'Z' && rs[1] >= 'a' && rs[1] <= 'z' {
		return strings.ToLower(string(rs[0])) + string(rs[1:])
	}
	return s
}
