package offline

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"winnow/assistant"
	"winnow/assistant/llm"
)

const (
	// self says what answers here; it is said to those who ask.
	self = "I am winnow's offline model: a set of rules in this program, not a language model."
	// howToConnect says how to get a language model instead.
	howToConnect = "To connect one, run `winnow config connect`, or choose `Connect a model` among the commands of " +
		"the screen: a local server such as Ollama, the proxy of the folder, or a provider whose key you have."
	// usedLately is the condition for models that somebody would miss.
	usedLately = "used:7d"
)

// talk are the answers that do not depend on the window.
var talk = map[string]string{
	"help":    self + " I understand short requests, several in one message too. What I do not understand, I leave alone.",
	"connect": self + " " + howToConnect,
	"greet":   "Hello. " + self,
	"thanks":  "You're welcome.",
	"yes":     "I have no open question. Say what you would like to change.",
	"no":      "All right. " + nothingChanged,
}

// requests are examples of what is understood.
var requests = []string{
	"which models are hidden, and why?", "hide every preview model",
	"hide all flash models on gemini except gemini-2.5-flash", "only keep the newest GPT models",
	"hide mini on every provider", "hide models above $10", "only models with tools and 100k context",
	"which models are unused?", "which rule hides most?", "is anything above $10 shown?", "what if I hide *preview*",
	"would this break anyone?", "why is gpt-4o hidden?", "unhide *preview*", "remove the rule *preview*",
	"undo the last two changes", "save",
}

// examples lists the first requests, and offers some.
func (c *conversation) examples(most int) {
	var lines []string
	for _, r := range requests[:most] {
		c.offer(r, r)
		lines = append(lines, code(r))
	}
	c.sayf("%s", bullets("These work:", lines))
}

// answer answers a question.
func (c *conversation) answer(s clause) {
	switch s.kind {
	case "list", "count", "check":
		c.list(s)
	case "rank":
		c.rank(s)
	case "plan":
		if r := c.result("plan_save", args{}); r != nil {
			c.sayf("%s", sentence(r.message))
		}
	case "rules":
		c.rules(s)
	default:
		if c.sayf("%s", talk[s.kind]); is(s.kind, "help greet") {
			c.examples(len(requests))
		}
	}
}

// query calls a tool that answers questions for each provider of a clause, and joins the lists of
// its results; false while it waits, or when a call failed, which is reported.
func (c *conversation) query(tool, list string, s clause, a args) (all []gjson.Result, sums map[string]int, ok bool) {
	sums = map[string]int{}
	for _, at := range s.scope.asked() {
		a["provider"] = at
		r := c.call(tool, a)
		switch {
		case r == nil:
			continue
		case !r.success:
			c.cannot(s, r)
			return nil, nil, false
		}
		all = append(all, r.data.Get(list).Array()...)
		for _, key := range []string{"count", "shown_count", "unknown_count"} {
			sums[key] += int(r.data.Get(key).Int())
		}
	}
	return all, sums, !c.waiting()
}

// find lists the models that a clause is about, with the counts of query.
func (c *conversation) find(s clause, a args) (found []gjson.Result, sums map[string]int, ok bool) {
	found, sums, ok = c.query("find_models", "models", s, a)
	listed := len(found)
	found = slices.DeleteFunc(found, func(m gjson.Result) bool {
		provider, _, _ := strings.Cut(m.Get("id").String(), "/")
		return !s.scope.has(provider) || s.state == "allowed" && m.Get("status").String() != s.state
	})
	if len(found) < listed {
		sums["count"] = len(found)
	}
	return found, sums, ok
}

// list says for which models what was asked holds, and by which rules.
func (c *conversation) list(s clause) {
	const most = 200
	s.models = slices.DeleteFunc(slices.Clone(s.models), func(m string) bool { return m == everything })
	switch {
	case s.kind == "check" && s.state == "" && len(s.models) == 0:
		s.state = "hidden " + usedLately
	case s.kind == "check" && s.state == "":
		s.state = "hidden"
	case s.state == "" && len(s.models) == 0 && s.scope.empty():
		s.scope.providers = []string{c.provider}
	}
	where := cmp.Or(strings.Replace(s.state, "allowed", "shown", 1), everything)
	found, sums, ok := c.find(s, args{"where": where, "models": s.models, "limit": most})
	if !ok {
		return
	}
	n, shown := sums["count"], sums["shown_count"]
	head, where := s.heading(n)
	switch lines := byRule(found); {
	case s.kind == "count" && s.state == "":
		c.sayf("%s: %d shown, %d hidden.", head, shown, n-shown)
	case n == 0 || s.kind == "count":
		c.sayf("%s.", head)
	case n == 1 && s.state == "":
		c.sayf("%s.", lines[0])
	default:
		c.sayf("%s", bullets(head+":", lines))
	}
	if n > len(found) {
		c.sayf("Only the first %d are listed.", len(found))
	}
	if unknown := sums["unknown_count"]; unknown > 0 {
		c.sayf("Left out because a fact is unknown: %s.", assistant.Counted(unknown, "model"))
	}
	if len(s.models) > 0 && shown > 0 && !strings.Contains(s.state, " ") {
		c.offer("Hide them", "hide "+strings.Join(s.models, " and ")+where)
	}
}

// heading says how many models are what was asked, and where.
func (s clause) heading(n int) (head, where string) {
	few := max(n, 1) // "no model is", as one is
	state, fact, _ := strings.Cut(s.state, " ")
	said, head := unique(append(slices.Clone(s.models), fact)), "No model"
	if n > 0 {
		head = assistant.Counted(n, "model")
	}
	if state != "" && len(said) > 0 {
		head += " that"
	}
	if state != "" {
		head += verbFor(few, " is ", " are ") + state
	}
	if len(said) > 0 {
		head += verbFor(few, " matches ", " match ") + codes(said, len(said))
	}
	if !s.scope.empty() && !s.scope.every() {
		where = " on " + clean(joinAnd(s.scope.providers))
	}
	return head + where, where
}

// reasons say why a model has a status; a rule follows.
var reasons = map[string]string{
	"hidden": "hidden by the ignore rule ", "allowed": "shown by the allow rule ", "shown": "shown: no rule matches",
}

// byRule lists models by provider and the rule that decides them.
func byRule(found []gjson.Result) (out []string) {
	names, order := map[[2]string][]string{}, [][2]string{}
	for _, m := range found {
		why := reasons[m.Get("status").String()]
		if rule := m.Get("rule"); rule.Exists() {
			why += code(rule.String())
		}
		provider, name, _ := strings.Cut(m.Get("id").String(), "/")
		key := [2]string{provider, why}
		if names[key] == nil {
			order = append(order, key)
		}
		names[key] = append(names[key], name)
	}
	for _, key := range order {
		n := len(names[key])
		out = append(out, clean(key[0])+": "+codes(names[key], n)+verbFor(n, " is ", " are ")+key[1])
	}
	return out
}

// rankings are the orders of a ranking: the order of find_models, the field, and what it says.
var rankings = map[string][3]string{
	"expensive": {"price", "price_out", "$%s out per million tokens"},
	"cheap":     {"price", "price_out", "$%s out per million tokens"},
	"context":   {"context", "context_window", "%s tokens"},
	"used":      {"requests", "requests", "%s requests"},
}

// rank lists models by price, context or use.
func (c *conversation) rank(s clause) {
	by, n, lines := rankings[s.order], cmp.Or(s.n, 5), []string{}
	found, _, ok := c.find(s, args{"where": everything, "sort": by[0], "least": s.least, "limit": n})
	if !ok {
		return
	}
	for _, m := range found {
		v := m.Get(by[1])
		if text := clean(v.String()); v.Exists() && len(lines) < n {
			if by[0] == "price" {
				text = llm.PriceOf(v.Float()).String()
			}
			lines = append(lines, code(m.Get("id").String())+": "+fmt.Sprintf(by[2], text)+", "+clean(m.Get("status").String()))
		}
	}
	if len(lines) == 0 {
		c.sayf("That is not known of any model here.")
		return
	}
	c.sayf("%s", bullets("By "+by[0]+":", lines))
}

// rules lists rules with how many models each decides, those that decide most first, and says how
// to remove those that decide none.
func (c *conversation) rules(s clause) {
	if s.scope.empty() {
		s.scope.providers = []string{everything}
	}
	providers, _, ok := c.query("list_rules", "providers", s, args{})
	if !ok {
		return
	}
	byDecides, n, removals := map[int][]string{}, 0, []string{}
	for _, p := range providers {
		name, idle := p.Get("provider").String(), []string{}
		for _, list := range [][2]string{{"ignore", "(ignore on %s) hides %s"}, {"whitelist", "(allow on %s) keeps %s"}} {
			if !s.scope.has(name) || s.list != "" && s.list != list[0] {
				continue
			}
			for _, r := range p.Get(list[0] + "_rules").Array() {
				pattern, decides := r.Get("pattern").String(), int(r.Get("decides").Int())
				text := code(pattern) + " " + fmt.Sprintf(list[1], clean(name), assistant.Counted(decides, "model"))
				if decides == 0 {
					text += verbFor(min(int(r.Get("matches").Int()), 1), ": other rules come before it", ": it matches none")
					idle = append(idle, quote+pattern+quote)
				}
				byDecides[-decides], n = append(byDecides[-decides], text), n+1
			}
		}
		if len(idle) > 0 {
			removals = append(removals, "remove the rules "+strings.Join(idle, ", ")+" on "+name)
		}
	}
	if n == 0 {
		c.sayf("No rules on %s.", strings.Replace(clean(joinAnd(s.scope.providers)), everything, "any provider", 1))
		return
	}
	lines, kind := []string{}, strings.Replace(strings.TrimSpace(s.list+" rule"), "whitelist", "allow", 1)
	for _, decides := range slices.Sorted(maps.Keys(byDecides)) {
		lines = append(lines, byDecides[decides]...)
	}
	c.sayf("%s", bullets(assistant.Counted(n, kind)+":", lines))
	for _, request := range removals[:min(len(removals), maxProposals)] {
		c.sayf("%s", bullets("To remove what has no effect:", []string{code(request)}))
		c.offer("Remove what has no effect", request)
	}
}
