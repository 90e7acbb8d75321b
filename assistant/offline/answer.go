package offline

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

const (
	// self says what answers here.
	self = "I am winnow's offline model: a set of rules in this program, not a language model."
	// howToConnect says how to get a language model instead.
	howToConnect = "To connect one, set `OPENAI_API_KEY` (and `OPENAI_BASE_URL`), add a `[[provider]]` to the settings, or run a local server such as Ollama; " +
		"then choose it in the model list or with `-m PROVIDER/NAME`."
)

// answer answers a question. Of the model filter it calls no tool but to look
// things up.
func (t *turn) answer(p *plan) {
	switch s := p.step; s.kind {
	case explain:
		t.explain(p)
	case listModels, find:
		t.listModels(p)
	case countModels:
		for _, tg := range p.targets {
			hidden := len(filter(tg.models, model.isHidden))
			n := len(tg.models)
			if tg.all {
				n, hidden = tg.cat.total, tg.cat.hidden
			}
			t.say("%s: %s, %d shown and %d hidden.", clean(tg.cat.provider), count(n, "model"), n-hidden, hidden)
		}
	case showRules:
		for _, tg := range p.targets {
			t.say("%s: %s", clean(tg.cat.provider), lowerFirst(rulesInWords(tg.cat, s.arg)))
		}
	case unusedRules:
		for _, tg := range p.targets {
			t.unusedRules(tg.cat)
		}
	case listProviders:
		t.say("%s: %s. %s is shown.", upperFirst(count(len(t.w.providers), "provider")), codes(t.w.providers), clean(t.w.provider))
	case whatChanged:
		t.whatChanged()
	case whatDone:
		t.whatDone()
	default:
		t.talk(s)
	}
}

// definitions explain the words that people ask about.
var definitions = map[string]string{
	"glob": "A glob is a pattern for names: `*` stands for any characters, `?` for one, `[45]` for one of those in the brackets, `[!45]` for one that is not. " +
		"`gpt-4` matches just that name, `gpt-4*` what begins with it, `*mini*` what has it anywhere. Upper and lower case differ.",
	"rules": "An ignore rule hides the models that its pattern matches. An allow rule (whitelist) keeps those that it matches shown, whatever the ignore rules say. " +
		"Without a matching rule a model is shown. Hidden models leave the proxy's list; a direct call to one is still routed.",
	"provider": "A provider is a service whose models the proxy lists, such as openai or anthropic. Each provider has rules of its own.",
}

func (t *turn) talk(s step) {
	switch s.kind {
	case define:
		t.say("%s", definitions[s.arg])
	case help:
		t.say("%s I understand short requests about the rules of this window, several in one message too. What I do not understand, I leave alone.", self)
		t.examples("These work:", t.filterExamples())
	case connect:
		t.say("%s %s", self, howToConnect)
	case greet:
		t.say("Hello. %s", self)
		t.examples("You can say:", t.filterExamples())
	case thanks:
		t.say("You're welcome.")
	case yes:
		t.say("I have no open question. Say what you would like to change.")
	case no:
		t.say("All right. %s", nothingChanged)
	default:
	}
}

// examples lists requests that work here, and offers the first ones.
func (t *turn) examples(head string, requests []string) {
	var lines []string
	for _, r := range requests {
		t.offer(upperFirst(r), r)
		lines = append(lines, code(r))
	}
	t.say("%s", bullets(head, lines, len(lines)))
}

func (t *turn) filterExamples() []string {
	example := "gpt-4o"
	if ms := append(filter(t.w.shown.models, model.isHidden), t.w.shown.models...); len(ms) > 0 && len(ms[0].name) <= maxEcho {
		example = ms[0].name
	}
	return []string{
		"which models are hidden, and why?", "why is " + example + " hidden?", "hide every preview model", "hide all flash models on gemini except gemini-2.5-flash",
		"only allow the newest GPT models", "hide mini on every provider", "unhide *preview*", "remove the rule *preview*", "propose rules for hiding previews", "undo the last two changes", "save",
	}
}

// maxExplained is how many models are explained one by one.
const maxExplained = 3

// explain says why models are hidden or shown: a few by the tool, which knows
// all rules that match, more by the list.
func (t *turn) explain(p *plan) {
	total := 0
	for _, tg := range p.targets {
		total += len(tg.models)
	}
	if total > maxExplained || slices.ContainsFunc(p.targets, func(tg target) bool { return tg.all }) {
		t.listModels(p)
		return
	}
	for _, tg := range p.targets {
		for _, m := range tg.models {
			switch r := t.call("explain_model_status", args{"model": m.callName(tg.cat.provider)}); {
			case r == nil:
				t.plan("I look up %s.", code(m.name))
			case r.Success:
				t.say("%s", explanation(m, tg.cat.provider, r))
				if m.isHidden() {
					t.offer("Unhide "+m.name, "unhide "+m.name+" on "+tg.cat.provider)
				}
			default:
				t.failed("I could not look up "+code(m.name), r)
			}
		}
		if len(tg.models) == 0 {
			t.say("No model on %s matches %s.", clean(tg.cat.provider), codes(tg.patterns))
		}
	}
}

// explanation says why one model has its status, from the tool's data.
func explanation(m model, provider string, r *result) string {
	ruleIn := func(v gjson.Result) string {
		list := ignoreList
		if v.Get("type").String() != ignoreList {
			list = allowList
		}
		return "the " + list + " rule " + code(v.Get("pattern").String())
	}
	head, by := code(m.name)+" of "+clean(provider), r.Data.Get("affecting_rule")
	switch {
	case !r.Data.Get("status").Exists():
		return sentence(r.Message)
	case r.Data.Get("unfiltered").Bool():
		return head + " is shown: its id does not begin with the provider's name, so the proxy does not filter it."
	case r.Data.Get("status").String() == "ignored":
		head += " is hidden by " + ruleIn(by) + "."
	case by.IsObject():
		head += " is shown: " + ruleIn(by) + " keeps it."
	default:
		head += " is shown: no rule matches it."
	}
	var others []string
	for _, v := range r.Data.Get("matching_rules").Array() {
		if !v.Get("decides").Bool() {
			others = append(others, ruleIn(v))
		}
	}
	if len(others) > 0 {
		head += " Also matching, without deciding: " + joinAnd(others[:min(len(others), maxNamed)]) + "."
	}
	return head
}

// listModels lists models, of one status or all, by the rules that decide them.
func (t *turn) listModels(p *plan) {
	if slices.ContainsFunc(t.steps, func(s step) bool { return s.kind.changesRules() }) {
		t.say("What follows is as it was before the changes of this message.")
	}
	none := 0
	for _, tg := range p.targets {
		want, n, fit := func(model) bool { return true }, tg.cat.total, p.step.arg
		switch fit {
		case "hidden":
			want, n = model.isHidden, tg.cat.hidden
		case "shown":
			want, n = func(m model) bool { return !m.isHidden() }, tg.cat.shownCount()
		case "allowed":
			want = func(m model) bool { return m.status == "whitelisted" }
		default:
			fit = "found"
		}
		models := filter(tg.models, want)
		if !tg.all || fit == "allowed" {
			n = len(models)
		}
		if n == 0 && p.step.what.scope.every && len(p.targets) > 1 {
			none++
			continue
		}
		head := fmt.Sprintf("%s: %d of %s %s %s", clean(tg.cat.provider), n, count(tg.cat.total, "model"), verbFor(n, "is", "are"), fit)
		if n == 0 {
			t.say("%s.", head)
			continue
		}
		t.say("%s", bullets(head+":", byRule(tg.cat, models), 30))
		if listed := len(models); listed < n {
			t.say("I was given a part of that list: %s not named here.", count(n-listed, "model")+verbFor(n-listed, " is", " are"))
		}
	}
	switch {
	case none == len(p.targets) && none > 0:
		t.say("No model is %s on any provider.", p.step.arg)
	case none > 0:
		t.say("On the other providers none is.")
	}
}

// byRule lists models by the rule that decides each of them.
func byRule(cat *catalog, models []model) []string {
	var lines []string
	for i, m := range models {
		same := func(o model) bool { return o.rule == m.rule && (m.rule == "" || o.status == m.status) }
		if slices.ContainsFunc(models[:i], same) {
			continue
		}
		group := names(filter(models, same))
		n, line := len(group), ""
		switch {
		case m.rule == "":
			line = "no rule matches " + count(n, "model")
		case m.isHidden():
			for _, r := range cat.ignore {
				if r.pattern == m.rule {
					n = max(n, r.count)
				}
			}
			line = "the ignore rule " + code(m.rule) + " hides " + count(n, "model")
		default:
			line = "the allow rule " + code(m.rule) + " keeps " + count(n, "model") + " shown"
		}
		lines = append(lines, line+": "+codes(group))
	}
	return lines
}

// rulesInWords lists the rules of one list, or of both when list is "".
func rulesInWords(cat *catalog, list string) string {
	var parts []string
	for _, l := range []string{ignoreList, allowList} {
		if list != "" && list != l {
			continue
		}
		var rules []string
		for _, r := range cat.rules(l) {
			s := code(r.pattern)
			if r.count >= 0 {
				s += " (" + count(r.count, "model") + ")"
			}
			rules = append(rules, s)
		}
		if n := len(rules); n == 0 {
			parts = append(parts, "There are no "+l+" rules.")
		} else {
			parts = append(parts, fmt.Sprintf("%s: %s.", upperFirst(count(n, l+" rule")), strings.Join(rules, ", ")))
		}
	}
	return strings.Join(parts, " ")
}

func (t *turn) unusedRules(cat *catalog) {
	unused := slices.DeleteFunc(patternsOf(slices.Concat(cat.ignore, cat.allow)), func(p string) bool {
		return slices.ContainsFunc(cat.models, func(m model) bool { return m.rule == p })
	})
	if len(unused) == 0 {
		t.say("Every rule on %s decides a model, or there is none.", clean(cat.provider))
		return
	}
	t.say("%s on %s currently %s no model: %s.", upperFirst(count(len(unused), "rule")), clean(cat.provider), verbFor(len(unused), "decides", "decide"), codes(unused))
}

// whatChanged lists what the user did since the last message.
func (t *turn) whatChanged() {
	var lines []string
	for _, c := range t.w.changes {
		switch kind := c.Get("type").String(); kind {
		case "rule_added", "rule_removed":
			l := c.Get("rule_type").String()
			if l != ignoreList {
				l = allowList
			}
			lines = append(lines, strings.TrimPrefix(kind, "rule_")+" the "+l+" rule "+code(c.Get("pattern").String()))
		case "provider_changed":
			lines = append(lines, "switched to "+code(c.Get("to").String()))
		default:
			lines = append(lines, clean(strings.ReplaceAll(kind, "_", " ")))
		}
	}
	if len(lines) == 0 {
		t.say("You changed nothing since your last message.")
	} else {
		t.say("%s", bullets("Since your last message:", lines, 30))
	}
	if t.w.knowsSave && t.w.unsaved {
		t.say("There are unsaved rules.")
		t.offer("Save", "save the changes")
	} else if t.w.knowsSave {
		t.say("Everything is saved.")
	}
}
