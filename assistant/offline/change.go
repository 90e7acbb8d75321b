package offline

import (
	"cmp"
	"slices"
	"strings"

	"winnow/assistant"
)

// edits are the kinds of changes in a plan of plan_rules, in the order in which they are
// made. Followed by _rule, each is the name of the tool that makes the change.
var edits = []string{"remove_ignore", "remove_whitelist", "add_whitelist", "add_ignore"}

// plans returns the result of plan_rules for a clause; nil until the result has arrived.
func (c *conversation) plans(s clause) *result {
	return c.call("plan_rules", args{"action": s.kind, "models": s.models, "except": s.except, "list": listNames[s.slots["list"]], "provider": s.at})
}

// plan returns a copy of a clause for each plan that plan_rules made for it. ok is false
// until the result has arrived, and after plan has reported that the clause is impossible.
func (c *conversation) plan(s clause) (steps []clause, ok bool) {
	r := c.plans(s)
	if r != nil && !r.success {
		c.cannot(s, r)
	}
	if r == nil || !r.success {
		return nil, false
	}
	for _, p := range r.data.Get("plans").Array() {
		s.plan = p
		steps = append(steps, s)
		for _, note := range texts(p.Get("notes")) {
			c.sayf("%s", sentence(note))
		}
	}
	return steps, true
}

// ask proposes plans instead of carrying them out if the user asked for that or only asked
// a question, or if plan_rules says that the user must confirm one. It returns false if the
// plans can be carried out.
func (c *conversation) ask(steps []clause) bool {
	var head string
	for _, s := range steps {
		if s.question && s.changesRules() {
			head = "I propose:"
		} else if why := s.plan.Get("confirm").String(); head == "" && why != "" {
			head = "That would " + clean(why) + ", so I ask first."
		}
	}
	if head == "" {
		return false
	}
	steps = slices.DeleteFunc(slices.Clone(steps), func(s clause) bool { return s.plan.Get("effect").String() == "" })
	says := "effect"               // what a plan would do, with the rules and the models
	if len(steps) > maxProposals { // the cards say the rest
		says = "does"
	}
	var lines []string
	for _, s := range steps { // the user sees them as cards
		a := args{"provider": s.plan.Get("provider").String(), "reasoning": ""} // the user has just said it
		for _, edit := range edits {
			a[edit] = texts(s.plan.Get(edit))
		}
		if r := c.call("propose_rules", a); r != nil && !r.success {
			c.sayf("%s", outcome(r))
		}
		lines = append(lines, withCode(s.plan.Get(says).String()))
	}
	if len(lines) > 0 {
		c.sayf("%s\n\n%s %s", bullets(head, lines), nothingChanged, sayYes)
	}
	return true
}

// change makes the edits of a plan. Once they are made, it reports their joint effect or,
// if a change failed, the outcome of each. If the message also asks to save, it does not say
// whether the changes are saved: the outcome of the save does.
func (c *conversation) change(s clause, saves bool) {
	var done []string
	saved := ""
	for _, edit := range edits {
		patterns, tool := texts(s.plan.Get(edit)), edit+"_rule"
		if s.kind == "clear" && len(patterns) > 0 {
			patterns, tool = []string{""}, strings.Replace(tool, "remove_", "clear_all_", 1)+"s"
		}
		for _, pattern := range patterns {
			if r := c.call(tool, args{"provider": s.plan.Get("provider").String(), "pattern": pattern}); r != nil {
				c.refused, done, saved = c.refused || !r.success, append(done, outcome(r)), "Nothing is unsaved now."
				if r.data.Get("has_unsaved_changes").Bool() {
					saved = "Not saved yet."
				}
			}
		}
	}
	if saves {
		saved = ""
	}
	if effect := s.plan.Get("done").String(); effect != "" && !c.refused && len(done) > 0 {
		done = []string{strings.TrimSpace(withCode(effect) + " " + saved)}
	}
	if len(c.calls) == 0 {
		c.paragraphs = append(c.paragraphs, done...)
	}
	if len(done) > 0 && !c.refused {
		c.offer("Save", "save the changes")
		c.offer("Show hidden", "which models are hidden, and why?")
		c.offer("Undo", "undo that")
	}
}

// outcome describes what a call did, or why it failed.
func outcome(r *result) string {
	switch r.code {
	case "locked":
		return "The window is locked: another winnow is changing it. " + nothingChanged
	case "declined":
		return "It was not confirmed, so it was not done."
	}
	return sentence(cmp.Or(r.message, "It failed, and no reason was given."))
}

// do answers a clause that changes no rules, from the grammar or by calling its tool and
// reporting the result.
func (c *conversation) do(s clause) {
	tool := s.kind
	if s.asks() {
		tool = "find_models"
	}
	switch {
	case talk(s.kind) != "":
		switch c.sayf("%s", talk(s.kind)); s.kind {
		case "help":
			c.sayf("%s", bullets("These work:", quoted(c.examples())))
		case "greet":
			c.suggestExamples()
		}
		return
	case s.kind == "providers" && len(c.providers) == 0:
		c.sayf("There are no providers.")
		return
	case s.kind == "providers":
		c.sayf("%s: %s. %s is shown now.", assistant.Counted(len(c.providers), "provider"), strings.Join(quoted(c.providers), ", "), code(c.provider))
		return
	case s.kind == "save_changes" && c.refused:
		c.sayf("Some of these changes failed, so nothing was saved. Say `save` to save the others.")
		return
	}
	switch r := c.call(tool, s.args(c.provider)); {
	case r == nil:
	case !r.success:
		c.cannot(s, r)
	case s.kind == "plan_save":
		c.sayf("%s", block(r.message))
	default:
		c.sayf("%s", sentence(r.message))
		if s.kind == "undo" {
			c.offer("Save", "save the changes")
		}
		for _, request := range texts(r.data.Get("suggested")) {
			c.suggest("To remove what has no effect:", []suggestion{{request, request}})
		}
	}
}

// listNames maps the grammar's word for a rule list to the name of the list in the tools.
var listNames = map[string]string{"hide": "ignore", "allow": "whitelist"}

// args returns the arguments of a clause's tool. current is the current provider.
func (s clause) args(current string) args {
	const ranked, most = 5, 200
	state, order, models, at := s.slots["state"], s.slots["rank"], s.models, s.at
	if slices.Equal(models, []string{everything}) {
		models = nil
	}
	if at == "" && (is(s.kind, "switch_provider refresh_models") || s.kind == "find_models" && state == "" && len(models) == 0) {
		at = current
	}
	switch s.kind {
	case "undo":
		return args{"steps": max(number(s.slots["n"]), 1)}
	case "list_rules":
		return args{"list": listNames[s.slots["list"]], "provider": at}
	case "rank":
		by := cmp.Or(map[string]string{"context": "context", "used": "requests"}[order], "price")
		least := (s.slots["most"] == "least") != (order == "cheap")
		return args{"where": everything, "sort": by, "least": least, "limit": cmp.Or(number(s.slots["n"]), ranked), "provider": at}
	case "use":
		if state == "" && !s.named() {
			state = "hidden"
		}
		state = strings.TrimSpace(state + " used:7d")
	case "check":
		state = cmp.Or(state, "hidden")
	case "find_models":
	default:
		return args{"provider": at}
	}
	return args{"where": cmp.Or(state, everything), "models": models, "limit": most, "provider": at}
}
