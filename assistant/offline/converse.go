package offline

import (
	"cmp"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
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
var writeTools = wordSet(strings.Join(slices.Collect(maps.Keys(editTools)), " ") + " import_rules save_changes discard_changes switch_provider refresh_models undo")

// conversation works out the response to a request. Nothing is kept between
// requests: the message is planned from the beginning each time, and a call that
// the request has a result of gives that result instead of being made again.
// With no call left to make, what was said is the answer.
type conversation struct {
	*wire.Request
	window
	forms []form
	past  []*wire.Exchange
	now   *wire.Exchange
	steps []step

	catalogs  map[string]*catalog        // by provider
	lastFound map[string]map[string]bool // the ids that conditions hold for
	confirmed bool                       // the user has said yes to the changes of this turn
	lost      bool                       // a request was not understood
	stuck     bool                       // what is needed cannot be found out, which is reported

	calls       []wire.NewCall
	used        map[*wire.Call]bool // a step of this turn has its result
	paragraphs  []string            // of the answer
	notes       []string            // at its end
	tries       []string            // requests that may be meant instead
	suggestions []suggestion
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
	c := &conversation{Request: req, forms: filterForms(), now: &wire.Exchange{}, catalogs: map[string]*catalog{}, lastFound: map[string]map[string]bool{}, used: map[*wire.Call]bool{}}
	var prompt string
	c.window, prompt = findWindow(req.System)
	if n := len(req.Exchanges); n > 0 {
		c.now, c.past = req.Exchanges[n-1], req.Exchanges[:n-1]
	}
	c.steps = []step{{text: c.now.User}}
	_, offered := c.Tools["add_ignore_rule"]
	switch {
	case c.now.Pictures:
		c.reportf("I cannot see pictures. %s %s %s", nothingChanged, self, howToConnect)
	case c.window.kind == historyWindow:
		c.respondHistory()
	case strings.HasPrefix(c.window.kind, "model_filter") || c.window.kind == "" && offered:
		c.respondFilter()
	default:
		c.reportf("I have no rules for this window. %s %s", self, howToConnect)
	}
	c.propose()
	if c.waiting() {
		return wire.Reply{Reasoning: c.thought(), Calls: c.calls}
	}
	if c.wrote && !c.saved {
		c.offer("Save", "save the changes")
		c.offer("Show hidden", "which models are hidden, and why?")
		c.offer("Undo", "undo that")
	}
	if c.paragraphs = append(c.paragraphs, c.notes...); len(c.paragraphs) == 0 {
		c.reportf("There was nothing to do.")
	}
	return wire.Reply{Reasoning: c.thought(), Text: strings.Join(unique(c.paragraphs), "\n\n") + c.markers(prompt)}
}

// respondFilter answers a message about the model filter. It acts on all of it or
// on none: nothing is done if a part is not understood or must be confirmed first.
func (c *conversation) respondFilter() {
	c.steps = c.expand()
	for _, s := range c.steps {
		if s.failed() {
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
		needsResults := p.step.kind.acts() // of the calls before it
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
func (c *conversation) answerQuestions() (asked bool) {
	for _, s := range c.steps {
		if s.question && s.kind.acts() {
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
		if s.kind.asks() && len(s.selection.items) == 0 {
			s.selection.items = []item{{all: true}}
		}
		if len(s.selection.items) > 0 {
			first := s.selection.items[0]
			general := s.kind.asks() && s.selection.scope.empty() && first.provider == "" && (s.state == "hidden" && s.kind == listModels && first.all || len(first.conds) > 0 && len(first.words) == 0)
			s.selection.scope.every = s.selection.scope.every || general
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
	case s.kind == check && len(s.selection.items) == 0 && base.kind.changesRules() && (base.question || base.propose): // "would this break anyone?"
		s.selection, s.state = base.selection, "shown"
		s.selection.items = slices.Clone(base.selection.items)
		for i := range s.selection.items {
			s.selection.items[i].conds = append(slices.Clone(s.selection.items[i].conds), usedLately)
		}
	case s.kind == followUp && s.also:
		s.kind, s.list, s.state = base.kind, base.list, base.state
		if s.kind == only && len(s.selection.items) > 0 { // what is said besides "only" is allowed, too
			s.kind = allow
		}
		if s.rest = s.selection.unclear; len(s.selection.items) == 0 {
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
		c.change(p.edits)
	case s.kind == undo:
		c.undo(s)
	case s.kind == save:
		c.save()
	case s.kind == discard && !c.unsaved:
		c.reportf("There is nothing to discard: everything is saved.")
	case s.kind == discard:
		c.wrote = !c.callAndReport("discard_changes", wire.Args{}) && c.wrote
	case s.kind == switchTo:
		switch to := s.selection.scope.providers; {
		case len(to) != 1:
			c.reportf("Name one provider: %s.", codes(c.providers))
		case to[0] == c.provider:
			c.reportf("%s is shown already.", clean(to[0]))
		default:
			c.callAndReport("switch_provider", wire.Args{"provider": to[0]})
		}
	case s.kind == refresh:
		for _, p := range c.providersOf(s.selection.scope) {
			c.callAndReport("refresh_models", wire.Args{"provider": p})
		}
	default:
		c.answer(p)
	}
}

// save writes the rules, unless there is nothing to write or the changes of
// this message did not work.
func (c *conversation) save() {
	before := c.steps[:slices.IndexFunc(c.steps, func(s step) bool { return s.kind == save })]
	wanted := slices.ContainsFunc(before, func(s step) bool { return s.kind.changesRules() })
	switch {
	case !c.wrote && wanted && c.unsaved:
		c.reportf("None of these changes was made, so I did not save the others. Say `save` to write them.")
	case !c.wrote && !c.unsaved:
		c.reportf("There is nothing to save.")
	case c.callAndReport("save_changes", wire.Args{}):
		c.saved, c.wrote = true, true
		c.notef("Hidden models leave the proxy's list; a direct call to one is still routed.")
	}
}

// callAndReport calls a tool that carries out a whole step and reports its message;
// false while it runs, or when it failed, which is reported.
func (c *conversation) callAndReport(tool string, a wire.Args) bool {
	r := c.callOrReport(tool, a)
	if r != nil {
		c.reportf("%s", sentence(r.Message))
	}
	return r != nil
}

// callOrReport calls a tool; nil while it runs, or when it failed, which is reported.
func (c *conversation) callOrReport(tool string, a wire.Args) *wire.Result {
	r := c.call(tool, a)
	if r != nil && !r.Success {
		c.reportf("%s", failure(r, code(tool)+" failed"))
		return nil
	}
	return r
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

// notef adds a paragraph at the end of the answer.
func (c *conversation) notef(format string, a ...any) {
	c.notes = append(c.notes, fmt.Sprintf(format, a...))
}

// offer suggests a next message.
func (c *conversation) offer(label, text string) {
	const most = 3
	if v := (suggestion{clean(label), clean(text)}); len(c.suggestions) < most && !slices.Contains(c.suggestions, v) {
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

// thought says what was understood.
func (c *conversation) thought() string {
	var read []string
	for _, s := range c.steps[:min(len(c.steps), maxNamed)] {
		read = append(read, clean(s.text))
	}
	return "I read: " + strings.Join(read, "; then ") + "."
}
