package offline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"winnow/assistant"
)

const (
	// self says what answers here.
	self = "I am winnow's offline model: a set of rules in this program, not a language model."
	// howToConnect says how to get a language model instead.
	howToConnect = "To connect one, run `winnow config connect`, or choose `Connect a model` among the commands of the screen: a local server such as Ollama, " +
		"the proxy of the folder, or a provider whose key you have."
)

// answers are the answers that do not depend on the window.
var answers = map[kind]string{
	defineGlob: "A glob is a pattern for names: `*` stands for any characters, `?` for one, `[45]` for one of those in the brackets, `[!45]` for one that is not. " +
		"`gpt-4` matches just that name, `gpt-4*` what begins with it, `*mini*` what has it anywhere. Upper and lower case differ.",
	help:    self + " I understand short requests, several in one message too. What I do not understand, I leave alone.",
	connect: self + " " + howToConnect,
	greet:   "Hello. " + self,
	thanks:  "You're welcome.",
	yes:     "I have no open question. Say what you would like to change.",
	no:      "All right. " + nothingChanged,
}

var filterExamples = []string{
	"which models are hidden, and why?", "hide every preview model", "hide all flash models on gemini except gemini-2.5-flash", "only keep the newest GPT models",
	"hide mini on every provider", "why is gpt-4o hidden?", "unhide *preview*", "remove the rule *preview*", "propose rules for hiding previews", "which rules are redundant?", "undo the last two changes", "save",
}

// answer answers a question about the model filter.
func (c *conversation) answer(p *plan) {
	switch p.step.kind {
	case listModels:
		c.listModels(p)
	case countModels:
		for _, tg := range p.targets {
			n, hidden := len(tg.models), len(filter(tg.models, model.isHidden))
			if tg.all {
				n, hidden = tg.total, tg.hidden
			}
			c.reportf("%s: %s, %d shown and %d hidden.", clean(tg.provider), count(n, "model"), n-hidden, hidden)
		}
	case showRules:
		for _, tg := range p.targets {
			c.reportf("%s: %s", clean(tg.provider), tg.rulesInWords(p.step.list))
		}
	case redundantRules:
		for _, tg := range p.targets {
			c.redundantRules(tg.catalog, len(p.targets) > 1)
		}
	case listProviders:
		c.reportf("%s: %s. %s is shown.", assistant.UpperFirst(count(len(c.providers), "provider")), codes(c.providers), clean(c.provider))
	case lastChanges:
		c.lastChanges()
	default:
		c.talk(p.step.kind, filterExamples)
	}
}

// talk gives one of the answers, for help and greetings with examples.
func (c *conversation) talk(k kind, examples []string) {
	c.reportf("%s", answers[k])
	if k == help || k == greet {
		c.examples(examples)
	}
}

// examples lists requests that work here, and offers the first ones.
func (c *conversation) examples(requests []string) {
	var lines []string
	for _, r := range requests {
		c.offer(assistant.UpperFirst(r), r)
		lines = append(lines, code(r))
	}
	c.reportf("%s", bullets("These work:", lines))
}

// notUnderstood reports which words of a request were understood and which were
// not, with suggestions. The turn then changes nothing.
func (c *conversation) notUnderstood(s step, left []string) {
	if s.kind == unknown || s.kind == followUp {
		c.reportf("I did not understand %s: I know short requests in English only. %s", code(s.text), nothingChanged)
	} else {
		understood := slices.DeleteFunc(strings.Fields(s.text), func(w string) bool {
			return slices.ContainsFunc(left, func(l string) bool { return strings.EqualFold(w, l) })
		})
		c.reportf("I understood %s, but not %s. %s", code(strings.Join(understood, " ")), codes(unique(left)), nothingChanged)
	}
	switch request := c.corrected(s, left); {
	case request != "":
		c.reportf("Did you mean %s?", code(request))
		c.offer(assistant.UpperFirst(request), request)
	case s.kind == hide && len(left) > 0:
		c.reportf("I know models by their names only.")
		for _, w := range left {
			if pattern := "*" + strings.Trim(w, `"*`) + "*"; len(pattern) > 4 && c.isKnown(pattern) {
				request := `hide "` + pattern + `"`
				c.reportf("For all that have %s anywhere in their names, say %s.", code(w), code(request))
				c.offer(assistant.UpperFirst(request), request)
			}
		}
	}
	c.offer("Help", "help")
	c.reportf("Say `help` for what I understand.")
}

// isKnown reports whether a pattern matches a model that was looked at.
func (c *conversation) isKnown(pattern string) bool {
	for _, cat := range c.catalogs {
		if len(cat.matching(pattern)) > 0 {
			return true
		}
	}
	return len(c.shown.matching(pattern)) > 0
}

// reportNone says that none of the providers has a model of an item.
func (c *conversation) reportNone(it item, providers []string) {
	if len(providers) == len(c.providers) && len(providers) > 1 {
		c.reportf("No model of any provider matches %s.", code(it.text()))
		return
	}
	for _, p := range providers {
		if c.catalog(p) != nil { // else it is not known
			c.reportf("No model of %s matches %s.", clean(p), code(it.text()))
		}
	}
}

// reportElsewhere says which other providers have models of an item, and offers the
// request for those that have models of all its items.
func (c *conversation) reportElsewhere(s step, it item, elsewhere []string) {
	for _, p := range elsewhere {
		models, _ := it.find(c.catalog(p))
		if s.kind == hide && !slices.ContainsFunc(models, model.isShown) {
			c.reportf("%s has models that match %s, all of them hidden.", clean(p), code(it.text()))
			continue
		}
		c.reportf("%s has models that match %s.", clean(p), code(it.text()))
		if !slices.ContainsFunc(s.selection.items, func(o item) bool { _, missing := c.providersWith(s, o, []string{p}); return len(missing) > 0 }) {
			c.offer("On "+p, s.text+" on "+p)
		}
	}
}

// listModels lists models, of one status or all, by the rules that decide them.
func (c *conversation) listModels(p *plan) {
	if slices.ContainsFunc(c.steps, func(s step) bool { return s.kind.changesRules() }) {
		c.reportf("What follows is as it was before the changes of this message.")
	}
	state, several := cmp.Or(p.step.state, "found"), len(p.targets) > 1 || p.step.selection.scope.all()
	var rows, listed, cut []string
	for _, tg := range p.targets {
		models, n := tg.models, tg.total
		switch state {
		case "hidden":
			models, n = filter(models, model.isHidden), tg.hidden
		case "shown":
			models, n = filter(models, model.isShown), tg.shownCount()
		case "allowed":
			models = filter(models, model.isAllowed)
		}
		if !tg.all || state == "allowed" {
			n = len(models)
		}
		groups := byRule(models)
		if len(models) < n {
			cut = append(cut, clean(tg.provider))
		}
		switch {
		case several && n == 0:
		case several:
			listed = append(listed, tg.provider)
			for _, g := range groups {
				rows = append(rows, fmt.Sprintf("| %s | %d of %d | %s | %s |", clean(tg.provider), n, tg.total, cell(g.why()), cell(codes(names(g)))))
			}
		case state == "found" && len(groups) == 1:
			c.reportf("%s: %s.", clean(tg.provider), groups[0])
		default:
			head := fmt.Sprintf("%s: %d of %s %s %s.", clean(tg.provider), n, count(tg.total, "model"), verbFor(n, "is", "are"), state)
			lines := make([]string, len(groups))
			for i, g := range groups {
				lines[i] = g.String()
			}
			c.reportf("%s", bullets(head, lines))
		}
		if hidden := filter(models, model.isHidden); state == "found" && len(hidden) > 0 {
			c.offer("Unhide "+hidden[0].name, "unhide "+hidden[0].name+tg.on())
		}
	}
	switch {
	case len(rows) > 0:
		c.reportf("| provider | %s | why | models |\n|---|---|---|---|\n%s", state, strings.Join(rows, "\n"))
		none := slices.DeleteFunc(c.providersOf(p.step.selection.scope), func(p string) bool { return slices.Contains(listed, p) })
		if len(none) > 0 {
			c.reportf("None on %s.", codes(none))
		}
	case several && len(listed) == 0:
		c.reportf("No model is %s on any provider.", state)
	}
	if len(cut) > 0 {
		c.reportf("Of %s I was given only part of the list.", joinAnd(cut))
	}
}

// redundantRules lists the rules that decide no model, with the request that removes
// them. All of them may go at once: what decides a model stays.
func (c *conversation) redundantRules(cat *catalog, several bool) {
	if cat.cut {
		c.reportf("Of %s I was given only part of the models: that a rule decides none of them I can't say.", clean(cat.provider))
		return
	}
	var lines, rules []string
	for _, list := range []string{ignoreList, allowList} {
		for _, r := range cat.rules[list] {
			if len(cat.decidedBy(r)) > 0 {
				continue
			}
			reason := "matches no model that is known now"
			if len(cat.matching(r)) > 0 {
				reason = "decides nothing: other rules come before it"
			}
			lines, rules = append(lines, code(r)+" ("+listName[list]+") "+reason), append(rules, `"`+r+`"`)
		}
	}
	if len(rules) == 0 {
		if !several {
			c.reportf("%s: each rule decides a model.", clean(cat.provider))
		}
		return
	}
	request := "remove the " + verbFor(len(rules), "rule", "rules") + " " + strings.Join(rules, ", ") + cat.on()
	c.reportf("%s", bullets(clean(cat.provider)+": "+verbFor(len(rules), "this rule", "these rules")+" could go without any model changing.", lines))
	c.reportf("To remove %s, say %s.", verbFor(len(rules), "it", "them"), code(request))
	c.offer("Remove "+verbFor(len(rules), "it", "them")+cat.on(), request)
}

// cell is a text in a Markdown table, where a bar would end the cell.
func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }

// ruleGroup is models of a provider that one rule decides, or none.
type ruleGroup []model

// byRule lists models by the rule that decides each of them.
func byRule(models []model) (groups []ruleGroup) {
	for i, m := range models {
		same := func(o model) bool { return o.rule == m.rule && o.status == m.status }
		if !slices.ContainsFunc(models[:i], same) {
			groups = append(groups, filter(models, same))
		}
	}
	return groups
}

// why is what decides the models.
func (g ruleGroup) why() string {
	switch m := g[0]; {
	case m.isHidden():
		return "hidden by the ignore rule " + code(m.rule)
	case m.isAllowed():
		return "shown by the allow rule " + code(m.rule)
	}
	return "shown: no rule matches"
}

// String is a sentence about the models.
func (g ruleGroup) String() string {
	return codes(names(g)) + verbFor(len(g), " is ", " are ") + g.why()
}

// rulesInWords lists the rules of one list, or of both when list is "".
func (c *catalog) rulesInWords(list string) string {
	if list == "" && len(c.rules[ignoreList])+len(c.rules[allowList]) == 0 {
		return "No rules" + c.on() + "."
	}
	var parts []string
	for _, l := range []string{ignoreList, allowList} {
		if list != "" && list != l {
			continue
		}
		var rules []string
		for _, r := range c.rules[l] {
			rules = append(rules, fmt.Sprintf("%s (%s)", code(r), count(len(c.decidedBy(r)), "model")))
		}
		parts = append(parts, assistant.UpperFirst(strings.TrimSuffix(count(len(rules), listName[l]+" rule")+": "+strings.Join(rules, ", "), ": ")+"."))
	}
	return strings.Join(parts, " ")
}
