package offline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"winnow/assistant"
	"winnow/assistant/offline/wire"
)

const (
	// self says what answers here; it is said to those who ask.
	self = "I am winnow's offline model: a set of rules in this program, not a language model."
	// howToConnect says how to get a language model instead.
	howToConnect = "To connect one, run `winnow config connect`, or choose `Connect a model` among the commands of the screen: a local server such as Ollama, " +
		"the proxy of the folder, or a provider whose key you have."
)

// talk are the answers that do not depend on the window.
var talk = map[kind]string{
	"help": self + " I understand short requests, several in one message too. What I do not understand, I leave alone.", "connect": self + " " + howToConnect,
	greet: "Hello. " + self, thanks: "You're welcome.", yes: "I have no open question. Say what you would like to change.", "no": "All right. " + nothingChanged,
}

var filterExamples = []string{
	"which models are hidden, and why?", "hide every preview model", "hide all flash models on gemini except gemini-2.5-flash", "only keep the newest GPT models",
	"hide mini on every provider", "hide models above $10", "only models with tools and 100k context", "which models are unused?", "which rule hides most?", "is anything above $10 shown?", "what if I hide *preview*", "would this break anyone?",
	"why is gpt-4o hidden?", "unhide *preview*", "remove the rule *preview*", "undo the last two changes", "save",
}

var historyExamples = []string{
	"find invoice", "give 3 stars to what is about kubernetes", "summarise the last 5 messages", "unflag 3, 5 and 7", "put what is about agents under AI > Agents", "list the topics",
}

// examples lists requests that work here, and offers the first ones.
func (c *conversation) examples(k kind) {
	requests := filterExamples
	if c.window.kind == historyWindow {
		requests = historyExamples
	}
	var lines []string
	for _, r := range requests {
		c.offer(assistant.UpperFirst(r), r)
		lines = append(lines, code(r))
	}
	if k != "help" {
		lines = lines[:maxProposals]
	}
	c.reportf("%s", bullets("These work:", lines))
}

// small gives the answer of small talk; false when it is none.
func (c *conversation) small(k kind) bool {
	text, ok := talk[k]
	if ok {
		if c.reportf("%s", text); k.in("help", greet) {
			c.examples("help")
		}
	}
	return ok
}

// answer answers a question about the model filter.
func (c *conversation) answer(p *plan) {
	switch s := p.step; s.kind {
	case listModels:
		c.listModels(p)
	case countModels:
		for _, tg := range p.targets {
			models, n, hidden := tg.listed(s.state)
			if s.state == "" {
				hidden = len(filter(models, model.isHidden))
				if tg.all {
					hidden = tg.hidden
				}
			}
			if c.reportf("%s: %s, %d shown and %d hidden.", clean(tg.provider), counted(n, "model"), n-hidden, hidden); s.state != "" {
				c.paragraphs[len(c.paragraphs)-1] = fmt.Sprintf("%s: %s %s.", clean(tg.provider), counted(n, "model"), s.state)
			}
		}
	case rankModels:
		c.rankModels(s)
	case check:
		c.check(s)
	case planSave:
		if r := c.callOrReport("plan_save", wire.Args{}); r != nil {
			c.reportf("%s", sheet(r.Message))
		}
	case showRules:
		c.showRules(s)
	case rankRules:
		c.rankRules(s)
	default:
		c.small(s.kind)
	}
}

// listed are the models of one status that a target means, all when state is "".
func (tg *target) listed(state string) (models []model, n, hidden int) {
	models, n = tg.models, tg.total
	switch state {
	case "hidden":
		models, n, hidden = filter(models, model.isHidden), tg.hidden, tg.hidden
	case "shown":
		models, n = filter(models, model.isShown), tg.total-tg.hidden
	case "allowed":
		models, n = filter(models, model.isAllowed), -1
	}
	if !tg.all || n < 0 {
		n = len(models)
	}
	return models, n, hidden
}

// listModels lists models, of one status or all, by the rules that decide them.
func (c *conversation) listModels(p *plan) {
	if slices.ContainsFunc(c.steps, func(s step) bool { return s.kind.changesRules() }) {
		c.reportf("What follows is as it was before the changes of this message.")
	}
	scope := p.step.selection.scope
	state, several := cmp.Or(p.step.state, "found"), len(p.targets) > 1 || scope.all()
	var rows, listed, cut []string
	for _, tg := range p.targets {
		models, n, _ := tg.listed(p.step.state)
		groups := byRule(models)
		if len(models) < n {
			cut = append(cut, clean(tg.provider))
		}
		var lines []string
		for _, g := range groups {
			lines = append(lines, codes(names(g))+verbFor(len(g), " is ", " are ")+g.why())
			rows = append(rows, fmt.Sprintf("| %s | %d of %d | %s | %s |", clean(tg.provider), n, tg.total, cell(g.why()), cell(codes(names(g)))))
		}
		switch {
		case several && n > 0:
			listed = append(listed, tg.provider)
		case several:
		case state == "found" && len(groups) == 1:
			c.reportf("%s: %s.", clean(tg.provider), lines[0])
		default:
			c.reportf("%s", bullets(fmt.Sprintf("%s: %d of %s %s %s.", clean(tg.provider), n, counted(tg.total, "model"), verbFor(n, "is", "are"), state), lines))
		}
		if hidden := filter(models, model.isHidden); state == "found" && len(hidden) > 0 {
			c.offer("Unhide "+hidden[0].name, "unhide "+hidden[0].name+tg.on())
		}
	}
	switch {
	case several && len(rows) > 0:
		c.reportf("| provider | %s | why | models |\n|---|---|---|---|\n%s", state, strings.Join(rows, "\n"))
		if none := others(c.providersOf(scope), listed); len(none) > 0 {
			c.reportf("None on %s.", codes(none))
		}
	case several && len(listed) == 0:
		c.reportf("No model is %s on any provider.", state)
	}
	if len(cut) > 0 {
		c.reportf("Of %s I was given only part of the list.", joinAnd(cut))
	}
	if items := p.step.selection.items; len(items) == 1 && len(items[0].conds) > 0 && len(rows) > 0 {
		c.offer("Hide them", "hide "+items[0].text()+map[bool]string{true: " on every provider"}[scope.all()])
	}
}

// cell is a text in a Markdown table, where a bar would end the cell.
func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }

// ruleGroup is models of a provider that one rule decides, or none.
type ruleGroup []model

// byRule lists models by the rule that decides each of them.
func byRule(models []model) (groups []ruleGroup) {
	at := map[[2]string]int{}
	for _, m := range models {
		key := [2]string{m.rule, m.status}
		i, seen := at[key]
		if !seen {
			i, groups = len(groups), append(groups, nil)
			at[key] = i
		}
		groups[i] = append(groups[i], m)
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

// listedRule is a rule as list_rules reports it.
type listedRule struct {
	provider, list, pattern string
	decides, matches        int
}

// rules are those of one list, or of both, on the providers that a step names; ok is false
// while they are asked for.
func (c *conversation) rules(s step) (rules []listedRule, ok bool) {
	named := c.providersOf(s.selection.scope)
	asked := named
	if s.selection.scope.all() {
		asked = []string{""} // all in one call
	}
	ok = true
	for _, p := range asked {
		r := c.callOrReport("list_rules", wire.Args{"provider": p})
		if ok = ok && r != nil; r == nil {
			continue
		}
		for _, p := range r.Data.Get("providers").Array() {
			for _, list := range []string{ignoreList, allowList} {
				for _, rule := range p.Get(list + "_rules").Array() {
					l := listedRule{p.Get("provider").String(), list, rule.Get("pattern").String(), int(rule.Get("decides").Int()), int(rule.Get("matches").Int())}
					if (s.list == "" || s.list == list) && slices.Contains(named, l.provider) {
						rules = append(rules, l)
					}
				}
			}
		}
	}
	return rules, ok
}

// showRules lists the rules of each provider that has some.
func (c *conversation) showRules(s step) {
	rules, ok := c.rules(s)
	if !ok {
		return
	}
	for _, p := range c.providersOf(s.selection.scope) {
		var parts []string
		for _, list := range []string{ignoreList, allowList} {
			of := filter(rules, func(r listedRule) bool { return r.provider == p && r.list == list })
			var texts []string
			for _, r := range of {
				texts = append(texts, fmt.Sprintf("%s (%s)", code(r.pattern), counted(r.decides, "model")))
			}
			if s.list == "" || s.list == list {
				parts = append(parts, assistant.UpperFirst(strings.TrimSuffix(counted(len(of), listName[list]+" rule")+": "+strings.Join(texts, ", "), ": ")+"."))
			}
		}
		switch none := !slices.ContainsFunc(rules, func(r listedRule) bool { return r.provider == p }); {
		case none && s.selection.scope.all():
		case none && s.list == "":
			c.reportf("No rules on %s.", clean(p))
		default:
			c.reportf("%s: %s", clean(p), strings.Join(parts, " "))
		}
	}
	if len(rules) == 0 && s.selection.scope.all() {
		c.reportf("No rules on any provider.")
	}
}

// rankRules lists rules by how many models they decide, and proposes to remove those that
// decide none. All of these may go at once: what decides a model stays.
func (c *conversation) rankRules(s step) {
	rules, ok := c.rules(s)
	if !ok {
		return
	}
	slices.SortStableFunc(rules, func(a, b listedRule) int { return b.decides - a.decides })
	var texts []string
	idle := map[string][]string{} // by provider
	for _, r := range rules {
		text := fmt.Sprintf("%s (%s on %s) %s %s", code(r.pattern), listName[r.list], clean(r.provider), map[string]string{ignoreList: "hides", allowList: "keeps"}[r.list], counted(r.decides, "model"))
		if r.decides == 0 {
			idle[r.provider], text = append(idle[r.provider], `"`+r.pattern+`"`), text+verbFor(min(r.matches, 1), ": other rules come before it", ": it matches none")
		}
		texts = append(texts, text)
	}
	c.reportf("%s", bullets(assistant.UpperFirst(counted(len(texts), "rule"))+", those that decide most first:", texts))
	for _, p := range c.providers {
		if patterns := idle[p]; len(patterns) > 0 {
			c.try("remove the " + verbFor(len(patterns), "rule", "rules") + " " + strings.Join(patterns, ", ") + " on " + p)
		}
	}
}

// check says for which models of a state a condition holds; without one, which hidden models
// were used lately.
func (c *conversation) check(s step) {
	state, scope := cmp.Or(s.state, "hidden"), s.selection.scope
	ids, count, unknown := map[string][]string{}, 0, 0
	var said []string
	for _, it := range s.selection.items {
		var where []string
		for _, w := range it.words {
			where = append(where, "name:*"+strings.Trim(w.text, "*")+"*")
		}
		if where = append(where, it.conds...); len(where) == 0 {
			where, scope.every = []string{usedLately}, true
		}
		said = append(said, strings.Join(where, " "))
		a := wire.Args{"where": strings.Join(append(where, state), " "), "limit": 200}
		if providers := c.providersOf(scope); len(providers) == 1 {
			a["provider"] = providers[0]
		}
		r := c.callOrReport(findTool, a)
		if r == nil {
			continue
		}
		count, unknown = count+int(r.Data.Get("count").Int()), unknown+int(r.Data.Get("unknown_count").Int())
		for _, id := range wire.Strings(r.Data.Get("models.#.id")) {
			p, name, _ := strings.Cut(id, "/")
			ids[p] = append(ids[p], name)
		}
	}
	if c.waiting() {
		return
	}
	var lines []string
	for _, p := range c.providersOf(scope) {
		if len(ids[p]) > 0 {
			lines = append(lines, clean(p)+": "+codes(unique(ids[p])))
		}
	}
	if count == 0 {
		c.reportf("No model that is %s matches %s.", state, codes(said))
	} else {
		c.reportf("%s", bullets(fmt.Sprintf("%s that %s %s %s %s:", assistant.UpperFirst(counted(count, "model")), verbFor(count, "is", "are"), state, verbFor(count, "matches", "match"), codes(said)), lines))
	}
	if unknown > 0 {
		c.notef("Of %s that is not known.", counted(unknown, "model"))
	}
	if len(said) == 1 && count > 0 && state == "shown" && !strings.Contains(said[0], usedLately) {
		c.offer("Hide them", "hide "+said[0]+map[bool]string{true: " on every provider"}[scope.all()])
	}
}

// usedLately is the condition for models that somebody would miss.
const usedLately = "used:7d"

// rankModels lists models by price, context or use.
func (c *conversation) rankModels(s step) {
	order := map[string]string{"expensive": "price", "cheap": "price", "context": "context"}[s.order]
	field, unit := "price_out", "$%v a million tokens"
	switch order = cmp.Or(order, "requests"); order {
	case "context":
		field, unit = "context_window", "%v tokens"
	case "requests":
		field, unit = "requests", "%v requests"
	}
	const most = 200
	a := wire.Args{"where": "", "sort": order, "limit": most}
	if providers := s.selection.scope.providers; len(providers) == 1 {
		a["provider"] = providers[0]
	}
	r := c.callOrReport(findTool, a)
	if r == nil {
		return
	}
	var lines []string
	for _, m := range r.Data.Get("models").Array() {
		if v := m.Get(field); v.Exists() {
			lines = append(lines, fmt.Sprintf("%s: "+unit+", %s", code(m.Get("id").String()), clean(v.String()), clean(m.Get("status").String())))
		}
	}
	switch s.least = s.least || s.order == "cheap"; {
	case len(lines) == 0:
		c.reportf("That is not known of any model here.")
		return
	case s.least && r.Data.Get("truncated").Bool():
		c.reportf("There are too many models to go through: name a provider.")
		return
	case s.least:
		slices.Reverse(lines)
	}
	n := min(len(lines), max(cmp.Or(s.n, 5), 1))
	c.reportf("%s", bullets("By "+order+":", lines[:n]))
}
