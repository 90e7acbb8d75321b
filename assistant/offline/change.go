package offline

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// sayYes ends an answer that asks for confirmation.
const sayYes = "Accept the proposal, or type `yes`."

// edits are the changes of plan_rules in the order in which they are made, and the tool that
// makes one.
var edits = []struct{ key, tool string }{
	{"remove_ignore", "remove_ignore_rule"},
	{"remove_whitelist", "remove_whitelist_rule"},
	{"add_whitelist", "add_whitelist_rule"},
	{"add_ignore", "add_ignore_rule"},
}

// plan is the result of plan_rules for a clause on one provider.
type plan struct {
	clause
	provider string
	gjson.Result
}

// count returns one of the numbers in a plan.
func (p plan) count(key string) int { return int(p.Get(key + "_count").Int()) }

// effect describes which rules the plan changes, and the effect on the models; "" if it
// changes nothing.
func (p plan) effect() string { return withCode(p.Get("effect").String()) }

// plans requests the plans of a clause; ok is false while it waits. refused is the result
// of a failed call.
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

// plan plans a clause. It returns false while it waits, and if the clause is not possible,
// which it reports.
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
	case refused != nil: // one of several named providers: each gets an answer
		c.sayf("%s", sentence(refused.message))
	case len(plans) == 0:
		c.sayf("There is nothing to change. %s", nothingChanged)
		return nil, false
	}
	for _, p := range plans {
		for _, note := range texts(p.Get("notes")) {
			c.sayf("%s", sentence(note))
		}
	}
	return plans, true
}

// ask proposes plans instead of carrying them out if the user asked for that or only asked
// a question, if more than half of the models that a provider shows would be hidden, or if
// rules of all providers would change. It returns false if the plans can be carried out.
func (c *conversation) ask(plans []plan) bool {
	wanted := slices.ContainsFunc(plans, func(p plan) bool { return p.question })
	plans = slices.DeleteFunc(plans, func(p plan) bool { return p.effect() == "" })
	every := len(c.providers) > 1 && slices.ContainsFunc(plans, func(p plan) bool { return p.scope.every() })
	large := slices.ContainsFunc(plans, func(p plan) bool { return 2*p.count("hides") > p.count("shown") })
	head := "I propose:"
	switch {
	case len(plans) == 0 || !wanted && !large && !every:
		return wanted
	case wanted:
	case every:
		head = "That would change rules on all providers, so I ask first."
	default:
		head = "That would hide more than half of the models that are shown, so I ask first."
	}
	var lines []string
	for _, p := range plans { // the user sees them as cards
		a := args{"provider": p.provider, "reasoning": p.text}
		for _, e := range edits {
			a[e.key] = texts(p.Get(e.key))
		}
		c.result("propose_rules", a)
		lines = append(lines, p.effect())
	}
	c.sayf("%s", bullets(head, lines))
	c.sayf("%s %s", nothingChanged, sayYes)
	return true
}

// change makes the edits of a plan, or reports their results: the message of the tool for a
// single edit, the combined effect for several.
func (c *conversation) change(p plan) {
	var done []string
	failed := false
	for _, e := range edits {
		patterns, tool := texts(p.Get(e.key)), e.tool
		if p.kind == "clear" && len(patterns) > 0 {
			patterns, tool = []string{""}, strings.Replace(e.tool, "remove_", "clear_all_", 1)+"s"
		}
		for _, pattern := range patterns {
			if r := c.call(tool, args{"provider": p.provider, "pattern": pattern}); r != nil {
				failed = failed || !r.success
				done = append(done, outcome(r, "I could not change the rules on "+clean(p.provider)))
			}
		}
	}
	if len(done) > 1 && !failed {
		done = []string{"Done: " + p.effect() + ". Not saved yet."}
	}
	if !c.waiting() {
		c.paragraphs = append(c.paragraphs, done...)
	}
}

// outcome describes what a call did, or why it failed; what is the beginning of the
// sentence about a failure.
func outcome(r *result, what string) string {
	switch {
	case r.success:
		return sentence(r.message)
	case r.code == "locked":
		return "The window is locked: another winnow is editing here. " + nothingChanged
	case r.code == "declined":
		return "It was not confirmed, so it was not done."
	}
	return what + ": " + sentence(cmp.Or(r.message, "no reason was given"))
}
