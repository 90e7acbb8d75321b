package offline

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"winnow/assistant/chatapi"
)

const (
	nothingChanged = "Nothing was changed."                // is part of every answer that refuses to act
	sayYes         = "Accept the proposal, or type `yes`." // ends every answer that asks for confirmation
	didYouMean     = "Did you mean this?"                  // precedes suggestions
)

// conversation works out the response to a request. Nothing is kept between requests: the
// message is planned from the beginning each time, and a call whose result is in the
// request is not made again. When no call is left to make, the collected paragraphs are the
// answer.
type conversation struct {
	*request
	clauses    []clause
	understood []string // the texts of the clauses
	confirmed  bool     // the user has said yes to the changes of this turn
	lost       bool     // a request was not understood
	refused    bool     // a change to the rules failed
	waiting    bool     // proposals of an earlier answer are open

	calls       []call
	paragraphs  []string // paragraphs of the answer
	tries       []string // requests that the user may have meant instead
	suggestions []suggestion
}

// suggestion is a message that the answer suggests sending next.
type suggestion struct {
	Label string `json:"label"`
	Value string `json:"value"`
}

// respond works out the response to a request, always the same for the same request.
func respond(req *request) reply {
	c := &conversation{request: req}
	switch {
	case c.now.pictures:
		c.sayf("I cannot see pictures. %s %s", nothingChanged, talk("connect"))
	case c.tools["plan_rules"]:
		c.respondFilter()
	default:
		c.respondElsewhere()
	}
	if c.lost && !c.now.changes() {
		c.propose()
	}
	if c.waiting && !c.now.changes() {
		c.offer("accept the proposals", "accept the proposals")
	}
	if len(c.calls) > 0 {
		r := reply{calls: c.calls}
		if len(c.now.calls) == 0 && len(c.understood) > 0 {
			r.reasoning = "Understood: " + strings.Join(c.understood, ", ") + "."
		}
		return r
	}
	text := cmp.Or(strings.Join(unique(c.paragraphs), "\n\n"), "There was nothing to do.")
	if len(c.suggestions) > 0 && c.canSuggest() {
		text += "\n\nSUGGESTED_VALUES: " + chatapi.Encode(map[string]any{"values": c.suggestions})
	}
	return reply{text: text}
}

// respondFilter answers a message about the model filter. It acts on all of it or
// on none: nothing is done if a part is not understood or must be confirmed first.
func (c *conversation) respondFilter() {
	c.clauses = c.expand()
	for _, s := range c.clauses {
		switch c.understood = append(c.understood, code(s.text)); {
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
	var steps []clause
	ok := true
	for _, s := range c.clauses {
		if !s.changesRules() {
			steps = append(steps, s)
			continue
		}
		plans, planned := c.plan(s) // the calls of the other clauses are made in the same response
		steps, ok = append(steps, plans...), ok && planned
	}
	if !ok || len(c.calls) > 0 || !c.confirmed && !c.now.changes() && c.ask(steps) {
		return
	}
	for i, s := range steps {
		switch {
		case s.acts() && len(c.calls) > 0: // it needs the results of the earlier calls
			return
		case s.changesRules():
			c.change(s, slices.ContainsFunc(steps[i+1:], func(later clause) bool { return later.kind == "save_changes" }))
		default:
			c.do(s)
		}
	}
}

// changes reports whether a call for the message changes something.
func (x *exchange) changes() bool {
	return slices.ContainsFunc(x.calls, func(k *call) bool {
		return !is(k.name, "plan_rules propose_rules find_models list_rules plan_save")
	})
}

// expand parses the message and completes follow-ups, pronouns and "yes" from the
// earlier messages.
func (c *conversation) expand() []clause {
	var open, proposed []clause                             // what "yes" and "accept the proposals" stand for
	var base clause                                         // the request that a follow-up continues
	asked := false                                          // the last answer asked for a yes
	for i := max(0, len(c.past)-30); i < len(c.past); i++ { // the last 30 messages
		x := c.past[i]
		open, base = complete(c.parse(x.user), base)
		switch asked = false; {
		case x.changes(), open[0].kind == "no":
			open, proposed = nil, nil
		case strings.Contains(x.answer, sayYes):
			asked, proposed = true, open
		case i == len(c.past)-1 && strings.Contains(x.answer, didYouMean):
			open = c.suggested(i)
		default:
			open = nil
		}
	}
	clauses := c.parse(c.now.user)
	switch kind := clauses[0].kind; {
	case len(proposed) > 0 && (kind == "accept" || kind == "yes" && asked):
		c.confirmed = true
		return append(proposed, clauses[1:]...)
	case kind == "yes" && len(open) > 0:
		clauses = append(open, clauses[1:]...)
	}
	c.waiting = len(proposed) > 0
	clauses, _ = complete(clauses, base)
	return clauses
}

// suggested returns the clauses of the first message that the answer to message i
// suggested. It works out that answer again from the results in the request.
func (c *conversation) suggested(i int) []clause {
	before := &conversation{request: &request{window: c.window, tools: c.tools, past: c.past[:i], now: c.past[i]}}
	before.respondFilter()
	before.propose()
	if len(before.suggestions) == 0 {
		return nil
	}
	return c.parse(before.suggestions[0].Value)
}

// complete fills in what each clause takes from the last request before it that can be
// continued, which for the first clause is base. It also returns the request that the next
// message can continue.
func complete(clauses []clause, base clause) ([]clause, clause) {
	var switched string // the provider that a "switch to" in this message named
	for i := range clauses {
		s := &clauses[i]
		switch {
		case s.kind == "switch_provider":
			switched = s.at
		case s.at == "":
			s.at = switched
		}
		if s.continueFrom(base); len(s.left) == 0 && (s.changesRules() || s.asks() || s.kind == "list_rules") {
			base = *s
		}
	}
	return clauses, base
}

// continueFrom expands "and nano too", "also on gemini", "it" and "why?" to complete
// requests.
func (s *clause) continueFrom(base clause) {
	named := s.at
	switch {
	case s.kind == "why":
		s.kind, s.selection, s.slots = "find_models", base.selection, base.slots
		if len(s.models) == 0 && s.slots["state"] == "" {
			s.slots = map[string]string{"state": "hidden"}
		}
		return
	case base.kind == "":
		return
	case s.kind == "use" && !s.named() && base.changesRules() && base.question: // "would this break anyone?"
		s.selection, s.slots = base.selection, map[string]string{"state": "shown"}
		return
	case s.kind == followUp && s.also:
		s.kind, s.slots = base.kind, base.slots
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
	if s.at = named; named == "" {
		s.at = base.at
	}
}

// call returns the result of a call made in an earlier round, even if it failed; otherwise
// it makes the call and returns nil. A tool that is not offered fails at once.
func (c *conversation) call(name string, a args) *result {
	text := a.encode()
	for _, k := range c.now.calls {
		if k.name == name && k.text == text {
			return cmp.Or(k.result, &result{message: "No result came back."})
		}
	}
	switch {
	case !c.tools[name]:
		return &result{message: "This window does not offer " + code(name) + " now."}
	case !slices.ContainsFunc(c.calls, func(k call) bool { return k.name == name && k.text == text }):
		id := fmt.Sprintf("call_%d_%d", len(c.past), len(c.now.calls)+len(c.calls))
		c.calls = append(c.calls, call{id: id, name: name, text: text})
	}
	return nil
}

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

// argument matches `name=value` and `name="a value"` in a request for a tool.
var argument = regexp.MustCompile(`(\w+)=("(?:[^"\\]|\\.)*"|\S+)`)

// respondElsewhere answers in a window for which the model has no grammar: "find WORDS"
// searches, and the name of a tool calls it: list topics, star_pairs ids=[3] stars=2.
func (c *conversation) respondElsewhere() {
	said := strings.TrimSpace(strings.Replace(c.now.user, " the ", " ", 1))
	verb, words, _ := strings.Cut(said, " ")
	name, a := verb, args{}
	for tool := range c.tools {
		if strings.EqualFold(verb, "find") && words != "" && strings.HasPrefix(tool, "search_") {
			name, a["query"] = tool, words
		} else if strings.EqualFold(said, strings.ReplaceAll(tool, "_", " ")) {
			name = tool
		}
	}
	for _, m := range argument.FindAllStringSubmatch(words, -1) {
		if a[m[1]] = m[2]; json.Valid([]byte(m[2])) {
			a[m[1]] = json.RawMessage(m[2])
		}
	}
	if !c.tools[name] {
		c.sayf("I have no rules for this window. %s", talk("connect"))
		c.sayf("%s", bullets("Say `find` followed by words, or the name of one of these tools with its arguments, if any:", slices.Sorted(maps.Keys(c.tools))))
	} else if r := c.call(name, a); r != nil {
		c.sayf("%s", outcome(r))
	}
}
