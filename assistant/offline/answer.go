package offline

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"winnow/assistant"
)

const (
	// self says what answers here; it is said to those who ask.
	self = "I am winnow's offline model: a set of rules in this program, not a language model."
	// howToConnect says how to get a language model instead.
	howToConnect = "To connect one, run `winnow config connect`, or choose `Connect a model` among the commands of the screen: a local server such as Ollama, " +
		"the proxy of the folder, or a provider whose key you have."
	// usedLately is the condition for models that somebody would miss.
	usedLately = "used:7d"
)

// talk are the answers that do not depend on the window.
var talk = map[string]string{
	"help": self + " I understand short requests, several in one message too. What I do not understand, I leave alone.", "connect": self + " " + howToConnect,
	"greet": "Hello. " + self, "thanks": "You're welcome.", "yes": "I have no open question. Say what you would like to change.", "no": "All right. " + nothingChanged,
}

// requests are examples of what is understood.
var requests = []string{
	"which models are hidden, and why?", "hide every preview model", "hide all flash models on gemini except gemini-2.5-flash", "only keep the newest GPT models",
	"hide mini on every provider", "hide models above $10", "only models with tools and 100k context", "which models are unused?", "which rule hides most?", "is anything above $10 shown?", "what if I hide *preview*", "would this break anyone?",
	"why is gpt-4o hidden?", "unhide *preview*", "remove the rule *preview*", "undo the last two changes", "save",
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
	case "rules", "rank_rules":
		c.rules(s)
	default:
		if c.sayf("%s", talk[s.kind]); is(s.kind, "help greet") {
			c.examples(len(requests))
		}
	}
}

// query calls a tool that answers questions for each provider of a clause and returns its
// results; nil while it waits, or when one failed, which is reported.
func (c *conversation) query(tool string, s clause, a args) (out []gjson.Result) {
	for _, at := range s.scope.asked() {
		if at != "" && at != "*" {
			a["provider"] = at
		}
		switch r := c.call(tool, a); {
		case r == nil:
		case !r.success:
			c.cannot(s, r)
			return nil
		default:
			out = append(out, r.data)
		}
	}
	if c.waiting() {
		return nil
	}
	return out
}

// model is a model that find_models found.
type model struct {
	gjson.Result
	provider, name string
}

// find lists models on the providers of a clause, and counts them; false as for query.
func (c *conversation) find(s clause, a args) (found []model, n, shown int, ok bool) {
	for _, data := range c.query("find_models", s, a) {
		ok = true
		n, shown = n+int(data.Get("count").Int()), shown+int(data.Get("shown_count").Int())
		for _, m := range data.Get("models").Array() {
			provider, name, _ := strings.Cut(m.Get("id").String(), "/")
			found = append(found, model{m, provider, name})
		}
		if unknown := int(data.Get("unknown_count").Int()); unknown > 0 {
			defer c.sayf("Left out because a fact is unknown: %s.", assistant.Counted(unknown, "model"))
		}
	}
	want := func(m model) bool {
		return s.scope.has(m.provider) && (s.state != "allowed" || m.Get("status").String() == s.state)
	}
	if slices.ContainsFunc(found, func(m model) bool { return !want(m) }) {
		found = slices.DeleteFunc(found, func(m model) bool { return !want(m) })
		n = len(found)
	}
	return found, n, shown, ok
}

// list says for which models what was asked holds, and by which rules.
func (c *conversation) list(s clause) {
	models := slices.DeleteFunc(slices.Clone(s.models), func(m string) bool { return m == "*" })
	switch {
	case s.kind == "check" && s.state == "" && len(models) == 0:
		s.state = "hidden " + usedLately
	case s.kind == "check" && s.state == "":
		s.state = "hidden"
	case s.state == "" && len(models) == 0 && s.scope.empty():
		s.scope.providers = []string{c.provider}
	}
	const most = 200
	a := args{"where": strings.Replace(s.state, "allowed", "shown", 1), "limit": most}
	if len(models) > 0 {
		a["models"] = models
	}
	found, n, shown, ok := c.find(s, a)
	if !ok {
		return
	}
	head, where := s.heading(n, models)
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
	if len(models) > 0 && shown > 0 && !strings.Contains(s.state, " ") {
		c.offer("Hide them", "hide "+strings.Join(models, " and ")+where)
	}
}

// heading says how many models are what was asked, and where.
func (s clause) heading(n int, models []string) (head, where string) {
	few := max(n, 1) // "no model is", as one is
	state, fact, _ := strings.Cut(s.state, " ")
	said, head := unique(append(slices.Clone(models), fact)), "No model"
	if n > 0 {
		head = assistant.Counted(n, "model")
	}
	if len(s.scope.providers) > 0 && !s.scope.every() {
		where = " on " + clean(joinAnd(s.scope.providers))
	}
	switch fits := verbFor(few, " matches ", " match ") + codes(said, len(said)); {
	case state != "" && len(said) > 0:
		head += " that " + verbFor(few, "is ", "are ") + state + fits
	case state != "":
		head += " " + verbFor(few, "is ", "are ") + state
	case len(said) > 0:
		head += fits
	}
	return head + where, where
}

// byRule lists models by provider and the rule that decides them.
func byRule(found []model) (out []string) {
	names := map[[2]string][]string{}
	var order [][2]string
	for _, m := range found {
		why := "shown: no rule matches"
		if rule := m.Get("rule").String(); m.Get("status").String() == "hidden" {
			why = "hidden by the ignore rule " + code(rule)
		} else if rule != "" {
			why = "shown by the allow rule " + code(rule)
		}
		key := [2]string{m.provider, why}
		if names[key] == nil {
			order = append(order, key)
		}
		names[key] = append(names[key], m.name)
	}
	for _, key := range order {
		n := len(names[key])
		out = append(out, clean(key[0])+": "+codes(names[key], n)+verbFor(n, " is ", " are ")+key[1])
	}
	return out
}

// rank lists models by price, context or use.
func (c *conversation) rank(s clause) {
	by := [3]string{"requests", "requests", "%v requests"} // the order, its field, what to say
	switch s.order {
	case "expensive", "cheap":
		by = [3]string{"price", "price_out", "$%v a million tokens"}
	case "context", "":
		by = [3]string{"context", "context_window", "%v tokens"}
	}
	n := s.n
	if n == 0 {
		n = 5
	}
	found, _, _, ok := c.find(s, args{"where": "", "sort": by[0], "least": s.least, "limit": n})
	if !ok {
		return
	}
	var lines []string
	for _, m := range found {
		if v := m.Get(by[1]); v.Exists() {
			lines = append(lines, fmt.Sprintf("%s: "+by[2]+", %s", code(m.Get("id").String()), clean(v.String()), clean(m.Get("status").String())))
		}
	}
	if len(lines) == 0 {
		c.sayf("That is not known of any model here.")
		return
	}
	c.sayf("%s", bullets("By "+by[0]+":", lines[:min(n, len(lines))]))
}

// rules lists rules with how many models each decides. Ranked, those that decide most come
// first, and it proposes to remove those that decide none.
func (c *conversation) rules(s clause) {
	ranked := s.kind == "rank_rules"
	if s.scope.empty() {
		s.scope.providers = []string{c.provider}
		if ranked {
			s.scope.providers = []string{everything}
		}
	}
	results := c.query("list_rules", s, args{})
	if results == nil {
		return
	}
	byDecides, idle, lines := map[int][]string{}, map[string][]string{}, []string{}
	add := func(provider string, r gjson.Result, says string) {
		decides := int(r.Get("decides").Int())
		text := code(r.Get("pattern").String()) + " " + fmt.Sprintf(says, clean(provider), assistant.Counted(decides, "model"))
		if decides == 0 {
			text += verbFor(min(int(r.Get("matches").Int()), 1), ": other rules come before it", ": it matches none")
			idle[provider] = append(idle[provider], quote+r.Get("pattern").String()+quote)
		}
		lines, byDecides[-decides] = append(lines, text), append(byDecides[-decides], text)
	}
	for _, p := range slices.Concat(providersOf(results)...) {
		name := p.Get("provider").String()
		for _, list := range []struct{ key, says string }{{"ignore", "(ignore on %s) hides %s"}, {"whitelist", "(allow on %s) keeps %s"}} {
			for _, r := range p.Get(list.key + "_rules").Array() {
				if s.scope.has(name) && (s.list == "" || s.list == list.key) {
					add(name, r, list.says)
				}
			}
		}
	}
	if len(lines) == 0 {
		c.sayf("No rules on %s.", strings.Replace(clean(joinAnd(s.scope.providers)), everything, "any provider", 1))
		return
	}
	head := assistant.Counted(len(lines), strings.Replace(strings.TrimSpace(s.list+" rule"), "whitelist", "allow", 1)) + ":"
	if !ranked {
		c.sayf("%s", bullets(head, lines))
		return
	}
	lines = nil
	for _, n := range slices.Sorted(maps.Keys(byDecides)) {
		lines = append(lines, byDecides[n]...)
	}
	c.sayf("%s", bullets(head, lines))
	for _, p := range slices.Sorted(maps.Keys(idle)) {
		c.try("remove the rules " + strings.Join(idle[p], ", ") + " on " + p)
	}
}

func providersOf(results []gjson.Result) (out [][]gjson.Result) {
	for _, data := range results {
		out = append(out, data.Get("providers").Array())
	}
	return out
}
