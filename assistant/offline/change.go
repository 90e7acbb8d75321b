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

// effect names the models that the plan changes, and those of them that are used:
// "openai: hides 2 of 9 shown models: `a` and `b`".
func (p plan) effect(hides, shows string) string {
	n := p.count("hides")
	line := fmt.Sprintf("%s: %s %d of %s", clean(p.provider), hides, n, assistant.Counted(p.count("shown"), "shown model"))
	if n > 0 {
		line += ": " + codes(texts(p.Get("hides")), n)
	}
	if n := p.count("shows"); n > 0 {
		line += "; " + shows + " " + codes(texts(p.Get("shows")), n)
	}
	if _, use, used := strings.Cut(p.Get("effects.0").String(), "; "); used {
		line += "; " + withCode(use)
	}
	return line
}

// plans asks for the plans of a clause; ok is false while it waits. refused is the result of a
// call that failed.
func (c *conversation) plans(s clause) (plans []plan, refused *result, ok bool) {
	ok = true
	for _, at := range s.scope.asked() {
		a := args{"action": s.kind, "models": s.models, "except": s.except, "list": s.list, "provider": at}
		r := c.call("plan_rules", a)
		switch {
		case r == nil:
			ok = false
		case !r.success:
			refused = r
		default:
			for _, p := range r.data.Get("plans").Array() {
				if name := p.Get("provider").String(); s.scope.has(name) {
					plans = append(plans, plan{s, name, p})
				}
			}
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
	plans, refused, ok := c.plans(s)
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
	wanted := slices.ContainsFunc(plans, func(p plan) bool { return p.question })
	plans = slices.DeleteFunc(plans, func(p plan) bool { return p.inWords() == "" })
	var does, lines []string
	every, large := false, false
	for _, p := range plans {
		every = every || len(c.providers) > 1 && p.scope.every()
		large = large || 2*p.count("hides") > p.count("shown")
		does, lines = append(does, p.inWords()), append(lines, p.effect("hides", "shows again"))
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
		a := args{"provider": p.provider, "reasoning": assistant.UpperFirst(p.inWords()) + "."}
		for _, e := range edits {
			a[e.key] = texts(p.Get(e.key))
		}
		c.result("propose_rules", a)
	}
	c.sayf("%s", bullets(head, lines))
	c.sayf("%s %s", nothingChanged, sayYes)
	return true
}

// change makes the edits of a plan, or reports what came of them: of one what its tool says, of
// several what they do together.
func (c *conversation) change(p plan) {
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
	changed := len(done) > 0
	if len(done) > 1 && len(failures) == 0 {
		done = []string{p.effect("hid", "shows again") + ". Not saved yet."}
	}
	c.undoable, c.unsaved, c.failed = c.undoable || changed, c.unsaved || changed, c.failed || len(failures) > 0
	if !c.waiting() {
		c.paragraphs = slices.Concat(c.paragraphs, done, failures)
	}
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
