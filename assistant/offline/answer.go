package offline

import (
	"cmp"
	"slices"
	"strings"
)

const (
	// self is the answer to the question what this model is.
	self = "I am winnow's offline model: a set of rules in this program, not a language model."
	// howToConnect explains how to connect a language model.
	howToConnect = "To connect one, run `winnow config connect`, or choose `Connect a model` among the commands of " +
		"the screen: a local server such as Ollama, the proxy of the folder, or a provider whose key you have."
	// nothingChanged ends every answer that refuses to act.
	nothingChanged = "Nothing was changed."
	// usedLately is the condition for models that users would miss.
	usedLately = "used:7d"
)

// talk contains the answers that do not depend on the window.
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

// examples lists the first requests, and suggests some of them.
func (c *conversation) examples(most int) {
	var lines []string
	for _, r := range requests[:most] {
		c.offer(r, r)
		lines = append(lines, code(r))
	}
	c.sayf("%s", bullets("These work:", lines))
}

// tools maps kinds of clauses to their tools, except for changes of rules.
var tools = map[string]string{
	"save": "save_changes", "discard": "discard_changes", "undo": "undo", "switch": "switch_provider",
	"refresh": "refresh_models", "plan": "plan_save", "rules": "list_rules", "list": "find_models",
	"check": "find_models", "rank": "find_models",
}

// do calls the tool for a clause on each of its providers, and reports the results.
func (c *conversation) do(s clause) {
	tool, calls := tools[s.kind]
	switch {
	case !calls:
		if c.sayf("%s", talk[s.kind]); is(s.kind, "help greet") {
			c.examples(len(requests))
		}
		return
	case s.kind == "save" && c.refused():
		c.sayf("Not all of these changes were made, so nothing was saved. Say `save` to write the others.")
		return
	}
	for _, at := range c.places(&s) {
		r := c.call(tool, s.args(at))
		switch {
		case r == nil:
			continue
		case !r.success:
			c.cannot(s, r)
			continue
		case s.kind == "plan":
			c.sayf("%s", block(r.message))
		default:
			c.sayf("%s", sentence(r.message))
		}
		switch s.kind {
		case "save":
			c.sayf("Hidden models leave the proxy's list; a direct call to one is still routed.")
		case "rules":
			c.offerRemoval(r)
		}
	}
}

// places returns the providers for which a clause calls its tool; "" is the tool's default.
// It fills in what a question leaves open.
func (c *conversation) places(s *clause) []string {
	s.models = slices.DeleteFunc(slices.Clone(s.models), func(m string) bool { return m == everything })
	switch {
	case s.kind == "check" && s.state == "":
		s.state = "hidden"
		if len(s.models) == 0 {
			s.state += " " + usedLately
		}
	case s.scope.empty() && (is(s.kind, "switch refresh") || s.kind == "list" && s.state == "" && len(s.models) == 0):
		return []string{c.provider}
	}
	if s.scope.major || len(s.scope.without) > 0 {
		return slices.DeleteFunc(slices.Clone(c.providers), func(p string) bool { return !s.scope.has(p) })
	}
	return s.scope.asked()
}

// args returns the arguments of a clause's tool for a provider.
func (s clause) args(provider string) args {
	const listed, most = 5, 200
	switch s.kind {
	case "undo":
		return args{"steps": max(s.n, 1)}
	case "list", "check":
		return args{"where": cmp.Or(s.state, everything), "models": s.models, "limit": most, "provider": provider}
	case "rank":
		by := cmp.Or(map[string]string{"context": "context", "used": "requests"}[s.order], "price")
		return args{"where": everything, "sort": by, "least": s.least, "limit": cmp.Or(s.n, listed), "provider": provider}
	case "rules":
		return args{"list": s.list, "provider": provider}
	}
	return args{"provider": provider}
}

// offerRemoval proposes removing the rules that decide nothing.
func (c *conversation) offerRemoval(r *result) {
	for _, p := range r.data.Get("providers").Array() {
		var idle []string
		for _, pattern := range texts(p.Get(`[ignore_rules,whitelist_rules]|@flatten|#(decides==0)#.pattern`)) {
			idle = append(idle, quote+pattern+quote)
		}
		if len(idle) > 0 {
			request := "remove the rules " + strings.Join(idle, ", ") + " on " + p.Get("provider").String()
			c.sayf("%s", bullets("To remove what has no effect:", []string{code(request)}))
			c.offer("Remove what has no effect", request)
		}
	}
}
