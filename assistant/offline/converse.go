package offline

import (
	"cmp"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"regexp"
	"slices"
	"strings"
)

// maxRounds is how often one turn may call tools.
const maxRounds = 5

// writes reports whether a tool changes something.
func writes(tool string) bool {
	return !is(tool, "plan_rules propose_rules find_models list_rules plan_save")
}

// conversation works out the response to a request. Nothing is kept between
// requests: the message is planned from the beginning each time, and a call that
// the request has a result of gives that result instead of being made again.
// With no call left to make, what was said is the answer.
type conversation struct {
	*request
	window
	past    []*exchange
	now     *exchange
	clauses []clause

	confirmed bool // the user has said yes to the changes of this turn
	lost      bool // a request was not understood
	failed    bool // a change was refused
	stopped   bool // locked or out of rounds: no more calls
	unsaved   bool // a rule was changed in this turn, and not saved after it
	undoable  bool // and it was no undo that changed it

	calls       []newCall
	paragraphs  []string // of the answer
	tries       []string // requests that may be meant instead
	suggestions []suggestion
}

// suggestion is a next message that the answer suggests.
type suggestion struct {
	Label string `json:"label"`
	Value string `json:"value"`
}

// respond works out the response to a request. The same request always gives
// the same response.
func respond(req *request) reply {
	c := &conversation{request: req, now: &exchange{}}
	var prompt string
	c.window, prompt = findWindow(req.system)
	if n := len(req.exchanges); n > 0 {
		c.now, c.past = req.exchanges[n-1], req.exchanges[:n-1]
	}
	c.clauses = []clause{{text: c.now.user}}
	_, offered := c.tools["plan_rules"]
	switch {
	case c.now.pictures:
		c.sayf("I cannot see pictures. %s %s %s", nothingChanged, self, howToConnect)
	case offered:
		c.respondFilter()
	default:
		c.respondElsewhere()
	}
	c.propose()
	r := reply{reasoning: "Reading " + code(c.now.user) + ".", calls: c.calls}
	if c.waiting() {
		return r
	}
	if c.unsaved {
		c.offer("Save", "save the changes")
		c.offer("Show hidden", "which models are hidden, and why?")
	}
	if c.undoable && c.unsaved {
		c.offer("Undo", "undo that")
	}
	if slices.ContainsFunc(c.clauses, func(s clause) bool { return strings.Contains(strings.Join(s.models, " "), "price") }) {
		c.sayf("Prices are dollars per million tokens, `price` of output and `price_in` of input.")
	}
	r.text = cmp.Or(strings.Join(unique(c.paragraphs), "\n\n"), "There was nothing to do.") + c.markers(prompt)
	return r
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
	if !ok || c.waiting() || !c.confirmed && !acted(c.now) && c.ask(slices.Concat(plans...)) {
		return
	}
	for i, s := range c.clauses {
		switch {
		case s.changesRules():
			for _, p := range plans[i] {
				c.change(p)
			}
		case !s.acts():
			c.answer(s)
		default: // after the results of the calls before it
			if !c.waiting() {
				c.act(s)
			}
			if c.waiting() {
				return
			}
		}
	}
}

// acted reports whether a call of the message changes something.
func acted(x *exchange) bool {
	return slices.ContainsFunc(x.calls, func(c *call) bool { return writes(c.name) })
}

// expand parses the message and completes follow-ups, pronouns and "yes" from the
// earlier messages.
func (c *conversation) expand() []clause {
	const remembered = 30 // messages
	var open []clause     // the requests that a "yes" can confirm
	var base clause       // the request that a follow-up continues
	for _, x := range c.past[max(0, len(c.past)-remembered):] {
		open, base = complete(c.parse(x.user), base)
		if acted(x) || !strings.Contains(x.answer, sayYes) {
			open = nil
		}
	}
	clauses := c.parse(c.now.user)
	switch suggested := c.suggested(); {
	case clauses[0].kind != "yes":
	case len(open) > 0 && suggested == "":
		c.confirmed = true
		return append(open, clauses[1:]...)
	case suggested != "":
		clauses = append(c.parse(suggested), clauses[1:]...)
	}
	clauses, _ = complete(clauses, base)
	return clauses
}

// didYouMean finds the request that an answer suggests first.
var didYouMean = regexp.MustCompile("(?m)^Did you mean .*\n\n- `([^`]+)`")

// suggested is what the last answer suggested instead of the message; "" for nothing.
func (c *conversation) suggested() string {
	if len(c.past) == 0 {
		return ""
	}
	if m := didYouMean.FindStringSubmatch(c.past[len(c.past)-1].answer); m != nil {
		return m[1]
	}
	return ""
}

// complete fills in what clauses take from the previous request: base, then each one's
// predecessor. It returns the last request that can be continued.
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

// continueFrom makes "and nano too", "also on gemini", "it" and "why?" whole requests.
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
		if s.kind == "only" && len(s.models) > 0 { // what is said besides "only" is allowed, too
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

// act calls the tool that does what a clause wants. Nothing is saved when a change that the
// message wants was refused.
func (c *conversation) act(s clause) {
	tool, a, where := map[string]string{"save": "save_changes", "discard": "discard_changes", "undo": "undo", "switch": "switch_provider", "refresh": "refresh_models"}[s.kind], args{}, []string{""}
	switch s.kind {
	case "undo":
		a["steps"] = max(s.n, 1)
	case "switch", "refresh":
		if where = s.scope.providers; len(where) == 0 {
			where = []string{c.provider}
		}
	}
	if s.kind == "save" && c.failed {
		c.sayf("Not all of these changes were made, so nothing was saved. Say `save` to write the others.")
		return
	}
	for _, p := range where {
		if p != "" {
			a["provider"] = p
		}
		if r := c.result(tool, a); r != nil {
			c.sayf("%s", sentence(r.message))
			c.unsaved = s.kind == "undo" || c.unsaved && !is(s.kind, "save discard")
			if s.kind == "save" {
				c.sayf("Hidden models leave the proxy's list; a direct call to one is still routed.")
			}
		}
	}
}

// result calls a tool; nil while it runs, or when it failed, which is reported.
func (c *conversation) result(tool string, a args) *result {
	r := c.call(tool, a)
	if r != nil && !r.success {
		c.sayf("%s", failure(r, code(tool)+" failed"))
		return nil
	}
	return r
}

// call makes a call, or gives its result when it was made in an earlier round:
// nil means that it is made now. A refused call is not made again.
func (c *conversation) call(name string, a args) *result {
	_, offered := c.tools[name]
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
	case !offered:
		return &result{message: "this window does not offer " + code(name) + " now"}
	case c.stopped:
		return &result{message: "this message has called its tools already; say the rest again"}
	case !slices.ContainsFunc(c.calls, func(p newCall) bool { return p.name == name && p.args == text }):
		h := fnv.New64a()
		fmt.Fprintf(h, "%d %d %s %s", len(c.past), c.now.rounds, name, text)
		c.calls = append(c.calls, newCall{fmt.Sprintf("call_%016x", h.Sum64()), name, text})
	}
	return nil
}

// waiting reports whether the results of calls in this response are needed first.
func (c *conversation) waiting() bool { return len(c.calls) > 0 }

// sayf adds a paragraph to the answer.
func (c *conversation) sayf(format string, a ...any) {
	c.paragraphs = append(c.paragraphs, fmt.Sprintf(format, a...))
}

// offer suggests a next message.
func (c *conversation) offer(label, text string) {
	if v := (suggestion{clean(label), clean(text)}); len(c.suggestions) < maxProposals && !slices.Contains(c.suggestions, v) {
		c.suggestions = append(c.suggestions, v)
	}
}

// markers writes the suggestions of the answer, if the prompt teaches how.
func (c *conversation) markers(prompt string) string {
	_, taught, _ := strings.Cut(prompt, "STRUCTURED RESPONSES")
	text, err := json.Marshal(map[string]any{"values": c.suggestions})
	if err != nil || len(c.suggestions) == 0 || !strings.Contains(taught, "SUGGESTED_VALUES") {
		return ""
	}
	return "\n\nSUGGESTED_VALUES: " + string(text)
}
