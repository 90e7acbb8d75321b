package offline

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"net/http"
	"slices"
	"strings"
	"time"

	"winnow/assistant"
	"winnow/assistant/offline/wire"
)

const (
	// ModelID is the only model; winnow shows it as "offline/rules".
	ModelID = "rules"
	// ContextWindow is its size in tokens. The rules have no limit; this one keeps
	// the context generous and bounded.
	ContextWindow = 128000
	// BaseURL is the address for an OpenAI client. Nothing listens there: the
	// client's transport is the model.
	BaseURL = "http://localhost/v1"
)

// Client returns a client whose requests reach the model. delay is the pause between
// streamed chunks, so that streaming is visible; 0 for none.
func Client(delay time.Duration) *http.Client { return &http.Client{Transport: server(delay)} }

func server(delay time.Duration) wire.Server {
	return wire.Server{Model: ModelID, Provider: "offline", ContextWindow: ContextWindow, Delay: delay, Answer: respond}
}

// maxRounds is how often one turn may call tools.
const maxRounds = 5

// writeTools are the tools of the model filter that change rules, the file or
// the window.
var writeTools = wordSet("add_ignore_rule remove_ignore_rule add_whitelist_rule remove_whitelist_rule clear_all_ignore_rules clear_all_whitelist_rules " +
	"import_rules save_changes discard_changes switch_provider refresh_models")

// conversation works out the response to a request. Nothing is kept between
// requests: the message is planned from the beginning each time, and a call that
// the request has a result of gives that result instead of being made again.
// With no call left to make, what was said is the answer.
type conversation struct {
	*wire.Request
	window
	forms  []form
	prompt string // the system text without the context
	past   []*wire.Exchange
	now    *wire.Exchange
	steps  []step

	catalogs  map[string]*catalog // by provider
	confirmed bool                // the user has said yes to the changes of this turn

	calls       []wire.NewCall
	used        map[*wire.Call]bool // a step of this turn has its result
	announced   []string            // what the calls are for
	paragraphs  []string            // of the answer
	suggestions []suggestion
	proposals   []map[string]any
	stopped     bool // locked or out of rounds: no more calls
	wrote       bool // a rule was changed in this turn
	saved       bool // a save succeeded after it
}

// suggestion is a next message that the answer suggests.
type suggestion struct {
	Label string `json:"label"`
	Value string `json:"value"`
}

// respond works out the response to a request. The same request always gives
// the same response.
func respond(req *wire.Request) wire.Reply {
	c := &conversation{Request: req, forms: filterForms, now: &wire.Exchange{}, catalogs: map[string]*catalog{}, used: map[*wire.Call]bool{}}
	c.window, c.prompt = findWindow(req.System)
	if n := len(req.Exchanges); n > 0 {
		c.now, c.past = req.Exchanges[n-1], req.Exchanges[:n-1]
	}
	_, offered := c.Tools["add_ignore_rule"]
	switch {
	case c.now.Pictures:
		c.steps = []step{{text: c.now.User}}
		c.reportf("I cannot see pictures. %s", nothingChanged)
		c.reportf("%s", answers[connect])
	case c.kind == historyWindow:
		c.respondHistory()
	case strings.HasPrefix(c.kind, "model_filter") || c.kind == "" && offered:
		c.respondFilter()
	default:
		c.steps = []step{{text: c.now.User}}
		c.reportf("I have no rules for this window. %s %s", self, howToConnect)
	}
	if c.waiting() {
		return wire.Reply{Reasoning: c.thought(), Text: strings.Join(unique(c.announced), " "), Calls: c.calls}
	}
	c.finish()
	return wire.Reply{Reasoning: c.thought(), Text: strings.Join(unique(c.paragraphs), "\n\n") + c.markers()}
}

// respondFilter answers a message about the model filter. It acts on all of it or
// on none: nothing is done if a part is not understood or must be confirmed first.
func (c *conversation) respondFilter() {
	c.steps = c.expand()
	for _, s := range c.steps {
		if len(s.rest) > 0 || s.kind == unknown || s.kind == followUp {
			c.notUnderstood(s, s.rest)
		}
	}
	if len(c.paragraphs) > 0 || c.answerQuestions() {
		return
	}
	var plans []*plan
	for _, s := range c.steps {
		if p := c.planStep(s); p != nil { // the others' calls are made in the same response
			plans = append(plans, p)
		}
	}
	if c.waiting() || len(plans) < len(c.steps) || !c.confirmed && !acted(c.now) && c.ask(plans) {
		return
	}
	for _, p := range plans {
		needsResults := p.step.kind >= undo && p.step.kind <= refresh // of the calls before it
		if needsResults && c.waiting() {
			return
		}
		if c.run(p); needsResults && c.waiting() {
			return
		}
	}
}

// answerQuestions says of requests that are questions that nothing was done, and
// suggests them; those about rules are proposed instead. False means that there are none.
func (c *conversation) answerQuestions() bool {
	asked := false
	for _, s := range c.steps {
		if s.question && (s.kind >= undo && s.kind <= refresh || s.kind >= starPairs && s.kind <= topicPairs) {
			asked = true
			c.reportf("That is a question. %s Say %s to do it.", nothingChanged, code(s.text))
			c.offer(assistant.UpperFirst(s.text), s.text)
		}
	}
	return asked
}

// acted reports whether a call of the message changes something.
func acted(x *wire.Exchange) bool {
	return slices.ContainsFunc(x.Calls, func(c *wire.Call) bool { return writeTools[c.Name] })
}

// expand parses the message and completes follow-ups, pronouns and "yes" from the
// earlier messages.
func (c *conversation) expand() []step {
	const remembered = 30 // messages
	var open []step       // the requests that a "yes" can confirm
	var base step         // the request that a follow-up continues
	for _, x := range c.past[max(0, len(c.past)-remembered):] {
		open, base = c.complete(c.parse(x.User), base)
		if acted(x) || !slices.ContainsFunc(open, func(s step) bool { return s.kind.changesRules() }) {
			open = nil
		}
	}
	steps := c.parse(c.now.User)
	if steps[0].kind == yes && len(open) > 0 {
		c.confirmed = true
		return append(open, steps[1:]...)
	}
	steps, _ = c.complete(steps, base)
	return steps
}

// complete fills in what steps take from the previous request: base, then each
// step's predecessor. It returns the last request that can be continued.
func (c *conversation) complete(steps []step, base step) ([]step, step) {
	switched := "" // by a "switch to" of this message
	for i := range steps {
		s := &steps[i]
		switch named := s.selection.scope; {
		case s.kind == switchTo && len(named.providers) == 1:
			switched = named.providers[0]
		case switched != "" && named.empty():
			s.selection.scope.providers = []string{switched}
		}
		s.continueFrom(base)
		if s.kind.isQuestion() && len(s.selection.items) == 0 {
			s.selection.items = []item{{all: true}}
		}
		if s.state == "hidden" && s.kind == listModels && s.selection.scope.empty() && s.selection.items[0].all && s.selection.items[0].provider == "" {
			s.selection.scope.every = true
		}
		if s.kind.selects() && len(s.rest) == 0 {
			base = *s
		}
	}
	return steps, base
}

// continueFrom makes "and nano too", "also on gemini", "it" and "why?" whole requests.
func (s *step) continueFrom(base step) {
	named := s.selection.scope
	switch {
	case s.kind == why:
		s.kind, s.selection = listModels, base.selection
		if base.kind == listModels || len(base.selection.items) == 0 {
			s.state = cmp.Or(base.state, "hidden")
		}
	case !base.kind.selects():
	case s.kind == followUp && s.also:
		s.kind, s.list, s.state = base.kind, base.list, base.state
		if s.kind == only && len(s.selection.items) > 0 { // what is said besides "only" is allowed, too
			s.kind = allow
		}
		if len(s.selection.items) == 0 {
			s.selection.items, s.selection.except = base.selection.items, base.selection.except
		}
		if named.empty() {
			s.selection.scope = base.selection.scope
		}
	case s.selection.pronoun && len(base.selection.items) > 0:
		if s.selection = base.selection; !named.empty() {
			s.selection.scope = named
		}
	}
}

func (c *conversation) run(p *plan) {
	switch s := p.step; {
	case s.kind.changesRules():
		c.change(p)
	case s.kind == undo:
		c.undo(s)
	case s.kind == save:
		c.save()
	case s.kind == discard:
		c.discard()
	case s.kind == switchTo:
		c.switchTo(s)
	case s.kind == refresh:
		for _, p := range c.providersOf(s.selection.scope) {
			c.callAndReport("refresh_models", wire.Args{"provider": p})
		}
	default:
		c.answer(p)
	}
}

// call makes a call, or gives its result when it was made in an earlier round:
// nil means that it is made now. A refused call is not made again.
func (c *conversation) call(name string, a wire.Args) *wire.Result {
	params, offered := c.Tools[name]
	if a["provider"] == "" || offered && !params.Get("provider").Exists() {
		delete(a, "provider")
	}
	text := a.Encode()
	for _, k := range c.now.Calls {
		if c.used[k] && writeTools[name] || k.Name != name || k.Text != text {
			continue
		}
		c.used[k] = true
		if k.Result == nil {
			return &wire.Result{Message: "no result came back"}
		}
		c.stopped = c.stopped || k.Result.Code == "locked"
		return k.Result
	}
	if !offered {
		return &wire.Result{Message: "this window does not offer " + code(name) + " now"}
	}
	if c.stopped = c.stopped || c.now.Rounds >= maxRounds; c.stopped {
		return &wire.Result{Message: "this message has called its tools already; say the rest again"}
	}
	if slices.ContainsFunc(c.calls, func(p wire.NewCall) bool { return !writeTools[name] && p.Name == name && p.Args == text }) {
		return nil
	}
	h := fnv.New64a()
	fmt.Fprintf(h, "%d %d %s %s %d", len(c.past), c.now.Rounds, name, text, len(c.calls))
	c.calls = append(c.calls, wire.NewCall{ID: fmt.Sprintf("call_%016x", h.Sum64()), Name: name, Args: text})
	return nil
}

// waiting reports whether the results of calls in this response are needed first.
func (c *conversation) waiting() bool { return len(c.calls) > 0 }

// reportf adds a paragraph to the answer.
func (c *conversation) reportf(format string, a ...any) {
	c.paragraphs = append(c.paragraphs, fmt.Sprintf(format, a...))
}

// announce adds a sentence about the calls of this response.
func (c *conversation) announce(format string, a ...any) {
	c.announced = append(c.announced, fmt.Sprintf(format, a...))
}

// offer suggests a next message.
func (c *conversation) offer(label, text string) {
	const most = 3
	if v := (suggestion{clean(label), clean(text)}); len(c.suggestions) < most && !slices.Contains(c.suggestions, v) {
		c.suggestions = append(c.suggestions, v)
	}
}

// finish ends the answer when no call is left to make.
func (c *conversation) finish() {
	if c.saved {
		c.reportf("Hidden models leave the proxy's list; a direct call to one is still routed.")
	} else if c.wrote {
		c.offer("Save", "save the changes")
		c.offer("Show hidden", "which models are hidden, and why?")
		c.offer("Undo", "undo that")
	}
	if len(c.paragraphs) == 0 {
		c.reportf("There was nothing to do.")
	}
	if len(c.past) == 0 {
		c.reportf("%s %s", self, howToConnect)
	}
}

// thought says what was understood.
func (c *conversation) thought() string {
	var read []string
	for _, s := range c.steps[:min(len(c.steps), maxNamed)] {
		read = append(read, clean(s.text))
	}
	return "I read: " + strings.Join(read, "; then ") + "."
}
