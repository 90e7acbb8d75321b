package offline

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// maxRounds is how often one turn may call tools.
const maxRounds = 5

// conversation works out the response to a request. Nothing is kept between requests: the
// message is planned from the beginning each time, and a call whose result is in the
// request is not made again. When no call is left to make, the collected paragraphs are the
// answer.
type conversation struct {
	*request
	window
	past      []*exchange
	now       *exchange
	clauses   []clause
	confirmed bool // the user has said yes to the changes of this turn
	lost      bool // a request was not understood
	stopped   bool // locked or out of rounds: no more calls

	calls       []newCall
	paragraphs  []string // of the answer
	tries       []string // requests that the user may have meant instead
	suggestions []suggestion
}

// suggestion is a message that the answer suggests sending next.
type suggestion struct {
	Label string `json:"label"`
	Value string `json:"value"`
}

// respond works out the response to a request. The same request always gives
// the same response.
func respond(req *request) reply {
	c := &conversation{request: req, now: &exchange{}}
	c.window = findWindow(req.system)
	if n := len(req.exchanges); n > 0 {
		c.now, c.past = req.exchanges[n-1], req.exchanges[:n-1]
	}
	c.clauses = []clause{{text: c.now.user}}
	switch {
	case c.now.pictures:
		c.sayf("I cannot see pictures. %s %s %s", nothingChanged, self, howToConnect)
	case c.tools["plan_rules"]:
		c.respondFilter()
	default:
		c.respondElsewhere()
	}
	c.propose()
	if c.waiting() {
		r := reply{calls: c.calls}
		if c.now.rounds == 0 {
			r.reasoning = "Understood: " + c.understood() + "."
		}
		return r
	}
	c.offerNext()
	priced := func(s clause) bool { return strings.Contains(strings.Join(s.models, " "), "price") }
	if slices.ContainsFunc(c.clauses, priced) {
		c.sayf("Prices are in dollars per million output tokens; `price_in` is the input price.")
	}
	text := cmp.Or(strings.Join(unique(c.paragraphs), "\n\n"), "There was nothing to do.")
	return reply{text: text + c.markers()}
}

// understood returns the message as the model understood it.
func (c *conversation) understood() string {
	var texts []string
	for _, s := range c.clauses {
		texts = append(texts, code(s.text))
	}
	return strings.Join(texts, ", ")
}

// respondFilter answers a message about the model filter. It acts on all of it or
// on none: nothing is done if a part is not understood or must be confirmed first.
func (c *conversation) respondFilter() {
	c.clauses = c.expand()
	for _, s := range c.clauses {
		switch {
		case s.failed():
			c.notUnderstood(s)
		case s.question && s.acts():
			c.sayf("That is a question. %s Say %s to do it.", nothingChanged, code(s.text))
			c.offer(s.text, s.text)
		}
	}
	if len(c.paragraphs) > 0 {
		return
	}
	plans, ok := make([][]plan, len(c.clauses)), true
	for i, s := range c.clauses {
		if s.changesRules() {
			var planned bool
			plans[i], planned = c.plan(s) // the calls of the others are made in the same response
			ok = ok && planned
		}
	}
	if !ok || c.waiting() || !c.confirmed && c.now.changed() == "" && c.ask(slices.Concat(plans...)) {
		return
	}
	for i, s := range c.clauses {
		if s.acts() && c.waiting() { // it needs the results of the earlier calls
			return
		}
		for _, p := range plans[i] {
			c.change(p)
		}
		if !s.changesRules() {
			c.do(s)
		}
	}
}

// changed returns the last tool called for the message that changes something; "" if there
// is none.
func (x *exchange) changed() (tool string) {
	for _, k := range x.calls {
		if !is(k.name, "plan_rules propose_rules find_models list_rules plan_save") {
			tool = k.name
		}
	}
	return tool
}

// refused reports whether a change of the message failed.
func (c *conversation) refused() bool {
	return slices.ContainsFunc(c.now.calls, func(k *call) bool {
		return strings.HasSuffix(k.name, "_rule") && (k.result == nil || !k.result.success)
	})
}

// offerNext suggests next steps after a change of the rules.
func (c *conversation) offerNext() {
	last := c.now.changed()
	if last != "undo" && !strings.Contains(last, "_rule") {
		return
	}
	if k := c.now.calls[len(c.now.calls)-1]; k.result == nil || !k.result.success {
		return
	}
	c.offer("Save", "save the changes")
	c.offer("Show hidden", "which models are hidden, and why?")
	if last != "undo" {
		c.offer("Undo", "undo that")
	}
}

// expand parses the message and completes follow-ups, pronouns and "yes" from the
// earlier messages.
func (c *conversation) expand() []clause {
	const remembered = 30 // messages
	var open []clause     // the requests that a "yes" can confirm
	var base clause       // the request that a follow-up continues
	for _, x := range c.past[max(0, len(c.past)-remembered):] {
		open, base = complete(c.parse(x.user), base)
		if x.changed() != "" || !strings.Contains(x.answer, sayYes) {
			open = nil
		}
	}
	clauses := c.parse(c.now.user)
	if clauses[0].kind == "yes" {
		var suggested []string
		if n := len(c.past); n > 0 {
			suggested = didYouMean.FindStringSubmatch(c.past[n-1].answer)
		}
		switch {
		case suggested != nil:
			clauses = append(c.parse(suggested[1]), clauses[1:]...)
		case len(open) > 0:
			c.confirmed = true
			return append(open, clauses[1:]...)
		}
	}
	clauses, _ = complete(clauses, base)
	return clauses
}

// didYouMean matches the first request that an answer suggests.
var didYouMean = regexp.MustCompile("(?m)^Did you mean .*\n\n- `([^`]+)`")

// complete fills in what clauses take from the previous request, which is base for the
// first clause and then the clause before. It returns the last request that can be
// continued.
func complete(clauses []clause, base clause) ([]clause, clause) {
	var switched []string // by a "switch to" of this message
	for i := range clauses {
		s := &clauses[i]
		switch {
		case s.kind == "switch" && len(s.scope.providers) == 1:
			switched = s.scope.providers
		case s.scope.empty():
			s.scope.providers = switched
		}
		if s.continueFrom(base); s.selects() && len(s.left) == 0 {
			base = *s
		}
	}
	return clauses, base
}

// continueFrom expands "and nano too", "also on gemini", "it" and "why?" to complete
// requests.
func (s *clause) continueFrom(base clause) {
	named := s.scope
	switch {
	case s.kind == "why":
		s.kind, s.selection, s.state = "list", base.selection, base.state
		if len(s.models) == 0 && s.state == "" {
			s.state = "hidden"
		}
		return
	case !base.selects():
		return
	case s.kind == "check" && len(s.models) == 0 && base.changesRules() && base.question: // "would this break anyone?"
		s.selection, s.state = base.selection, "shown "+usedLately
		return
	case s.kind == followUp && s.also:
		s.kind, s.list, s.state = base.kind, base.list, base.state
		if s.kind == "only" && len(s.models) > 0 { // "and nano too" after "only gpt" is one more allow rule
			s.kind = "allow"
		}
		if len(s.models) == 0 {
			s.models, s.except = base.models, base.except
		}
	case s.pronoun && len(base.models) > 0:
		s.selection = base.selection
	default:
		return
	}
	if s.scope = named; named.empty() {
		s.scope = base.scope
	}
}

// result calls a tool. It returns nil while the tool runs, and after a failure, which it
// reports.
func (c *conversation) result(tool string, a args) *result {
	r := c.call(tool, a)
	if r != nil && !r.success {
		c.sayf("%s", outcome(r, code(tool)+" failed"))
		return nil
	}
	return r
}

// call returns the result of a call made in an earlier round; otherwise it makes the call
// and returns nil. A refused call is not made again.
func (c *conversation) call(name string, a args) *result {
	text := a.encode()
	for _, k := range c.now.calls {
		if k.name == name && k.text == text {
			if k.result == nil {
				return &result{message: "no result came back"}
			}
			c.stopped = c.stopped || k.result.code == "locked"
			return k.result
		}
	}
	c.stopped = c.stopped || c.now.rounds >= maxRounds
	switch {
	case !c.tools[name]:
		return &result{message: "this window does not offer " + code(name) + " now"}
	case c.stopped:
		return &result{message: "too many calls for one message; send the rest as another message"}
	case !slices.ContainsFunc(c.calls, func(p newCall) bool { return p.name == name && p.args == text }):
		id := fmt.Sprintf("call_%d_%d_%d", len(c.past), c.now.rounds, len(c.calls))
		c.calls = append(c.calls, newCall{id, name, text})
	}
	return nil
}

// waiting reports whether calls of this response must return first.
func (c *conversation) waiting() bool { return len(c.calls) > 0 }

// sayf adds a paragraph to the answer.
func (c *conversation) sayf(format string, a ...any) {
	c.paragraphs = append(c.paragraphs, fmt.Sprintf(format, a...))
}

// offer suggests a message to send next.
func (c *conversation) offer(label, text string) {
	v := suggestion{clean(label), clean(text)}
	if len(c.suggestions) < maxProposals && !slices.Contains(c.suggestions, v) {
		c.suggestions = append(c.suggestions, v)
	}
}

// markers writes the suggestions of the answer, if the prompt explains the format.
func (c *conversation) markers() string {
	text, err := json.Marshal(map[string]any{"values": c.suggestions})
	if err != nil || len(c.suggestions) == 0 || !strings.Contains(c.system, "SUGGESTED_VALUES") {
		return ""
	}
	return "\n\nSUGGESTED_VALUES: " + string(text)
}
