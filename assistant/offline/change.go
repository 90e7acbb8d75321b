package offline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"winnow/assistant"
)

const (
	// nothingChanged ends every answer that refuses to act.
	nothingChanged = "Nothing was changed."
	// sayYes ends an answer that asks.
	sayYes = "Accept the proposal, or type `yes`."
)

// edits are the changes of plan_rules in the order in which they are made: its name for each,
// the tool that makes one, and what that is in words.
var edits = []struct{ key, tool, words string }{
	{"remove_ignore", "remove_ignore_rule", "remove the ignore rule"},
	{"remove_whitelist", "remove_whitelist_rule", "remove the allow rule"},
	{"add_whitelist", "add_whitelist_rule", "allow"},
	{"add_ignore", "add_ignore_rule", "hide"},
}

// plan is what a clause takes on one provider: what plan_rules returned for it.
type plan struct {
	clause
	provider string
	gjson.Result
}

// count is one of the numbers of a plan.
func (p plan) count(key string) int { return int(p.Get(key + "_count").Int()) }

// inWords says what the plan does: "hide `*mini*` and allow `gpt-4o` on openai"; "" for nothing.
func (p plan) inWords() string {
	var parts []string
	for _, e := range edits {
		if patterns := texts(p.Get(e.key)); len(patterns) > 0 {
			parts = append(parts, e.words+" "+codes(patterns, len(patterns)))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return joinAnd(parts) + " on " + clean(p.provider)
}

// effect is what the plan does to the models: "hides 3 models on openai".
func (p plan) effect() string {
	var parts []string
	for _, key := range []string{"hides", "shows"} {
		if n := p.count(key); n > 0 {
			parts = append(parts, key+" "+assistant.Counted(n, "model"))
		}
	}
	return cmp.Or(joinAnd(parts), "changes no model") + " on " + clean(p.provider)
}

// planCalls asks for the plans of a clause; ok is false while it waits. refused is the
// result of a call that failed.
func (c *conversation) planCalls(s clause) (plans []plan, refused *result, ok bool) {
	ok = true
	for _, at := range s.scope.asked() {
		a := args{"action": s.kind}
		for key, texts := range map[string][]string{"models": s.models, "except": s.except} {
			if len(texts) > 0 {
				a[key] = texts
			}
		}
		if at != "" {
			a["provider"] = at
		}
		if s.list != "" && is(s.kind, "remove clear") {
			a["list"] = s.list
		}
		r := c.call("plan_rules", a)
		switch {
		case r == nil:
			ok = false
			continue
		case !r.success:
			refused = r
			continue
		}
		for _, p := range r.data.Get("plans").Array() {
			if name := p.Get("provider").String(); s.scope.has(name) {
				plans = append(plans, plan{s, name, p})
			}
		}
		for _, text := range texts(r.data.Get("absent")) {
			c.sayf("%s", sentence(text))
		}
	}
	return plans, refused, ok
}

// plan works out a clause; false while it waits, or when it cannot be done, which is reported.
func (c *conversation) plan(s clause) ([]plan, bool) {
	if len(s.models) == 0 && s.kind != "clear" {
		c.sayf("I do not know which models you mean. %s", nothingChanged)
		return nil, false
	}
	plans, refused, ok := c.planCalls(s)
	switch {
	case !ok:
		return nil, false
	case refused != nil && (len(plans) == 0 || len(s.except) > 0):
		c.cannot(s, refused)
		return nil, false
	case refused != nil: // one of several named providers: each has an answer
		c.sayf("%s", sentence(refused.message))
	case len(plans) == 0:
		c.sayf("Nothing there is to be changed. %s", nothingChanged)
		return nil, false
	}
	for _, p := range plans {
		for _, note := range texts(p.Get("notes")) {
			c.sayf("%s", sentence(note))
		}
	}
	return plans, true
}

// ask proposes plans instead of making them, where that was wanted or asked, where more
// than half of what a provider shows would be hidden, or where rules of all
// providers would change. False means that there is nothing to ask.
func (c *conversation) ask(plans []plan) bool {
	wanted, every, large := false, false, false
	var does, lines []string
	for _, p := range plans {
		wanted = wanted || p.question
		if what := p.inWords(); what != "" {
			does = append(does, what)
			every = every || len(c.providers) > 1 && p.scope.every()
			large = large || 2*p.count("hides") > p.count("shown")
			line := fmt.Sprintf("%s: hides %d of %s", clean(p.provider), p.count("hides"), assistant.Counted(p.count("shown"), "shown model"))
			if n := p.count("hides"); n > 0 {
				line += ": " + codes(texts(p.Get("hides")), n)
			}
			if n := p.count("shows"); n > 0 {
				line += "; shows again " + codes(texts(p.Get("shows")), n)
			}
			lines = append(lines, line+p.use())
		}
	}
	head := "That would change rules on all providers, so I ask first."
	switch {
	case len(does) == 0 || !wanted && !large && !every:
		return wanted
	case wanted:
		head = "I propose: " + joinAnd(does) + "."
	case !every:
		head = "That would hide more than half of the models that are shown, so I ask first."
	}
	for _, p := range plans { // the user sees them as cards
		if what := p.inWords(); what != "" {
			a := args{"provider": p.provider, "reasoning": assistant.UpperFirst(what) + "."}
			for _, e := range edits {
				if patterns := texts(p.Get(e.key)); len(patterns) > 0 {
					a[e.key] = patterns
				}
			}
			c.result("propose_rules", a)
		}
	}
	c.sayf("%s", bullets(head, lines))
	c.sayf("%s %s", nothingChanged, sayYes)
	return true
}

// change makes the edits of plans, or reports what came of them: of one what its tool says,
// of several on a provider what they do together.
func (c *conversation) change(plans []plan) {
	for _, p := range plans {
		var done, failures []string
		run := func(tool, what string, a args) {
			a["provider"] = p.provider
			switch r := c.call(tool, a); {
			case r == nil:
			case r.success:
				done = append(done, sentence(r.message))
			default:
				failures = append(failures, failure(r, "I could not "+what))
			}
		}
		for _, e := range edits {
			patterns := texts(p.Get(e.key))
			if p.kind == "clear" && len(patterns) > 0 {
				run(strings.Replace(e.tool, "remove_", "clear_all_", 1)+"s", "remove the rules", args{})
				continue
			}
			for _, pattern := range patterns {
				run(e.tool, e.words+" "+code(pattern)+" on "+clean(p.provider), args{"pattern": pattern})
			}
		}
		if len(done) > 1 && len(failures) == 0 {
			done = []string{p.did()}
		}
		c.undoable, c.unsaved, c.failed = c.undoable || len(done) > 0, c.unsaved || len(done) > 0, c.failed || len(failures) > 0
		if !c.waiting() {
			c.paragraphs = slices.Concat(c.paragraphs, done, failures)
		}
	}
}

// did says what the plan has done, such as "2 models of openai are hidden now: `a` and `b`".
func (p plan) did() string {
	var parts []string
	for key, state := range map[string]string{"hides": "hidden now", "shows": "shown again"} {
		if n := p.count(key); n > 0 {
			parts = append(parts, assistant.Counted(n, "model")+" of "+clean(p.provider)+verbFor(n, " is ", " are ")+state+": "+codes(texts(p.Get(key)), n))
		}
	}
	slices.Sort(parts)
	return cmp.Or(strings.Join(parts, "; "), "No model of "+clean(p.provider)+" changes") + p.use() + ". Not saved yet."
}

// use says which of the models that the plan hides are used; "" when none is.
func (p plan) use() string {
	if _, use, used := strings.Cut(p.Get("effects.0").String(), "; "); used {
		return "; " + withCode(use)
	}
	return ""
}

// failure says why a call failed. what is the beginning of the sentence.
func failure(r *result, what string) string {
	switch r.code {
	case "locked":
		return "The window is locked: another winnow is editing here. " + nothingChanged
	case "declined":
		return "It was not confirmed, so it was not done."
	}
	return what + ": " + sentence(cmp.Or(r.message, "no reason was given"))
}
