package offline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

const (
	// self says what answers here.
	self = "I am winnow's offline model: a set of rules in this program, not a language model."
	// howToConnect says how to get a language model instead.
	howToConnect = "To connect one, set `OPENAI_API_KEY` (and `OPENAI_BASE_URL`), add a `[[provider]]` to the settings, or run a local server such as Ollama; " +
		"then choose it in the model list or with `-m PROVIDER/NAME`."
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
	"hide mini on every provider", "why is gpt-4o hidden?", "unhide *preview*", "remove the rule *preview*", "propose rules for hiding previews", "undo the last two changes", "save",
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
	case listProviders:
		c.reportf("%s: %s. %s is shown.", upperFirst(count(len(c.providers), "provider")), codes(c.providers), clean(c.provider))
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
		c.offer(upperFirst(r), r)
		lines = append(lines, code(r))
	}
	c.reportf("%s", bullets("These work:", lines))
}

// notUnderstood reports which words of a request were understood and which were
// not, with suggestions. The turn then changes nothing.
func (c *conversation) notUnderstood(s step, left []string) {
	if s.kind == unknown || s.kind == followUp {
		c.reportf("I did not understand %s. %s", code(s.text), nothingChanged)
	} else {
		understood := slices.DeleteFunc(strings.Fields(s.text), func(w string) bool {
			return slices.ContainsFunc(left, func(l string) bool { return strings.EqualFold(w, l) })
		})
		c.reportf("I understood %s, but not %s. %s", code(strings.Join(understood, " ")), codes(unique(left)), nothingChanged)
	}
	if s.kind == hide && len(left) > 0 {
		request := `hide "*` + strings.Trim(left[0], `"*`) + `*"`
		c.reportf("I know models by their names only. For a rule about names that come later, say %s.", code(request))
		c.offer(upperFirst(request), request)
	}
	c.offer("Help", "help")
	c.reportf("Say `help` for what I understand.")
}

// listModels lists models, of one status or all, by the rules that decide them.
func (c *conversation) listModels(p *plan) {
	if slices.ContainsFunc(c.steps, func(s step) bool { return s.kind.changesRules() }) {
		c.reportf("What follows is as it was before the changes of this message.")
	}
	said, state := len(c.paragraphs), cmp.Or(p.step.state, "found")
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
		lines := byRule(models)
		switch {
		case n == 0 && len(p.targets) > 1:
			continue
		case state == "found" && len(lines) == 1:
			c.reportf("%s: %s.", clean(tg.provider), lines[0])
		default:
			head := fmt.Sprintf("%s: %d of %s %s %s.", clean(tg.provider), n, count(tg.total, "model"), verbFor(n, "is", "are"), state)
			if len(models) < n {
				head += " I was given only part of that list."
			}
			c.reportf("%s", bullets(head, lines))
		}
		if hidden := filter(models, model.isHidden); state == "found" && len(hidden) > 0 {
			c.offer("Unhide "+hidden[0].name, "unhide "+hidden[0].name+tg.on())
		}
	}
	if len(p.targets) > 1 && len(c.paragraphs) == said {
		c.reportf("No model is %s on any provider.", state)
	} else if len(p.targets) > 1 {
		c.reportf("None on the other providers.")
	}
}

// byRule lists models by the rule that decides each of them.
func byRule(models []model) []string {
	var lines []string
	for i, m := range models {
		same := func(o model) bool { return o.rule == m.rule && o.status == m.status }
		if slices.ContainsFunc(models[:i], same) {
			continue
		}
		group := filter(models, same)
		line := codes(names(group)) + verbFor(len(group), " is", " are")
		switch {
		case m.isHidden():
			line += " hidden by the ignore rule " + code(m.rule)
		case m.isAllowed():
			line += " shown by the allow rule " + code(m.rule)
		default:
			line += " shown: no rule matches"
		}
		lines = append(lines, line)
	}
	return lines
}

// rulesInWords lists the rules of one list, or of both when list is "".
func (c *catalog) rulesInWords(list string) string {
	var parts []string
	for _, l := range []string{ignoreList, allowList} {
		if list != "" && list != l {
			continue
		}
		var rules []string
		for _, r := range c.rules[l] {
			decides := filter(c.models, func(m model) bool { return m.rule == r })
			rules = append(rules, fmt.Sprintf("%s (%s)", code(r), count(len(decides), "model")))
		}
		parts = append(parts, strings.TrimSuffix(count(len(rules), listName(l)+" rule")+": "+strings.Join(rules, ", "), ": ")+".")
	}
	return upperFirst(strings.Join(parts, " "))
}
