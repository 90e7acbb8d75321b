package offline

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// reply is one response, before it is put on the wire.
type reply struct {
	thought string
	text    string
	calls   []pending
}

// respond works out the response to a request. The same request always gives
// the same response.
func respond(req *chatRequest) reply {
	t := newTurn(req)
	_, offered := t.req.tools["add_ignore_rule"]
	switch {
	case t.w.kind == historyWindow:
		t.respondHistory()
	case strings.HasPrefix(t.w.kind, "model_filter") || t.w.kind == "" && offered:
		t.respondFilter()
	default:
		t.steps = []step{{text: t.now.user}}
		t.say("I have no rules for this window. %s", self)
		t.say("%s", howToConnect)
	}
	if t.waiting() {
		return reply{t.thought(), strings.Join(unique(t.intent), " "), t.batch}
	}
	t.finish()
	return reply{t.thought(), strings.Join(unique(t.said), "\n\n") + t.markers(), nil}
}

// respondFilter answers a message about the model filter. It acts on all of it
// or on none: what is not understood, or has to be asked, stops everything.
func (t *turn) respondFilter() {
	t.continueProvider()
	t.steps = t.expand(t.now.user)
	for _, s := range t.steps {
		if len(s.rest) > 0 || s.kind == unknown || s.kind == followUp {
			t.notUnderstood(s, s.rest)
		}
	}
	if len(t.said) > 0 {
		return
	}
	var plans []*plan
	for _, s := range t.steps {
		if p := t.planStep(s); p != nil {
			plans = append(plans, p)
		}
	}
	if t.waiting() || len(plans) < len(t.steps) || !t.confirmed && !t.now.acted() && t.ask(plans) {
		return
	}
	for _, p := range plans {
		after := p.step.kind >= undo && p.step.kind <= refresh // of the results of what stands before
		if after && t.waiting() {
			return
		}
		t.run(p)
		if after && t.waiting() {
			return
		}
	}
}

// acted reports that this turn has called a tool that changes something.
func (x *exchange) acted() bool {
	return slices.ContainsFunc(x.calls, func(c *call) bool { return writeTools[c.name] })
}

// writeTools are the tools that change rules, the file or the window.
var writeTools = set("add_ignore_rule remove_ignore_rule add_whitelist_rule remove_whitelist_rule clear_all_ignore_rules clear_all_whitelist_rules " +
	"import_rules save_changes discard_changes switch_provider refresh_models")

// continueProvider takes up the provider that the conversation was switched to:
// after a restart the window may show another one. What the user has done in
// the window since counts more.
func (t *turn) continueProvider() {
	if slices.ContainsFunc(t.w.changes, func(c gjson.Result) bool { return c.Get("type").String() == "provider_changed" }) || len(t.past) == 0 {
		return
	}
	for _, c := range slices.Backward(t.past[len(t.past)-1].calls) {
		p := c.args.Get("provider").String()
		if !c.ok() || p == "" {
			continue
		}
		if name, ok := t.w.providerNamed(strings.ToLower(p)); ok && c.name == "switch_provider" {
			t.w.provider = name
		}
		return
	}
}

// expand parses a message and completes its follow-ups, pronouns and "yes" by
// what was said before.
func (t *turn) expand(text string) []step {
	const remembered = 30 // messages
	var last []step       // the requests that a "yes" can confirm
	var base step         // the request that a follow-up continues
	for _, x := range t.past[max(0, len(t.past)-remembered):] {
		last, base = t.complete(t.parser.parse(x.user), base)
		if x.acted() || !slices.ContainsFunc(last, func(s step) bool { return s.kind.changesRules() }) {
			last = nil
		}
	}
	steps := t.parser.parse(text)
	if steps[0].kind != yes || len(last) == 0 {
		steps, _ = t.complete(steps, base)
		return steps
	}
	t.confirmed = true
	return append(last, steps[1:]...)
}

// complete fills in what steps leave to the request before them: base, and then
// each step's predecessor. It returns the last request that can be continued.
func (t *turn) complete(steps []step, base step) ([]step, step) {
	shown := "" // by a "switch to" of this message
	for i := range steps {
		s := &steps[i]
		switch at := s.what.scope; {
		case s.kind == switchTo && len(at.providers) == 1:
			shown = at.providers[0]
		case shown != "" && at.empty():
			s.what.scope.providers = []string{shown}
		}
		s.continues(base)
		if s.kind == why {
			s.kind, s.arg = listModels, "hidden"
		}
		if (s.kind == listModels || s.kind == countModels) && len(s.what.items) == 0 {
			s.what.items = []item{{all: true}}
		}
		if s.arg == "hidden" && s.what.scope.empty() && s.what.items[0].all && s.what.items[0].provider == "" {
			s.what.scope.every = true
		}
		if s.kind.selects() && len(s.rest) == 0 {
			base = *s
		}
	}
	return steps, base
}

// continues makes "and nano too", "also on gemini", "it" and "why?" whole
// requests.
func (s *step) continues(base step) {
	switch at := s.what.scope; {
	case !base.kind.selects():
	case s.kind == followUp && s.also:
		if s.kind, s.arg = base.kind, base.arg; s.kind == only && len(s.what.items) > 0 { // what is said besides "only" is allowed, too
			s.kind = allow
		}
		if len(s.what.items) == 0 {
			s.what.items, s.what.except = base.what.items, base.what.except
		}
		if at.empty() {
			s.what.scope = base.what.scope
		}
	case s.what.pronoun && len(base.what.items) > 0:
		if s.what = base.what; !at.empty() {
			s.what.scope = at
		}
	case s.kind == why:
		s.kind, s.what = explain, base.what
		if base.kind == listModels || len(base.what.items) == 0 {
			s.kind, s.arg = listModels, base.arg
		}
	}
}

func (t *turn) run(p *plan) {
	switch s := p.step; {
	case s.kind.changesRules():
		t.change(p)
	case s.kind == undo:
		t.undo(s)
	case s.kind == save:
		t.save()
	case s.kind == discard:
		t.discard()
	case s.kind == switchTo:
		t.switchTo(s)
	case s.kind == refresh:
		for _, p := range t.scopeOf(s.what.scope) {
			t.simple("refresh_models", args{"provider": p}, "I'll fetch the models of "+clean(p)+" again.", "The models of "+clean(p)+" could not be fetched")
		}
	default:
		t.answer(p)
	}
}

func (t *turn) finish() {
	for _, c := range t.now.calls { // the program has changed the context between two responses: what they did must be said
		if !c.consumed && c.res != nil && writeTools[c.name] {
			t.wrote = t.wrote || c.res.Success
			t.say("%s: %s", code(c.name), sentence(c.res.Message))
		}
	}
	if m := unique(t.missing); len(m) > 0 {
		t.say("I would need %s for that, which this window does not offer now.", codes(m))
	}
	if t.stopped && t.now.rounds >= maxRounds {
		t.say("I stop here: I call tools at most %d times a message. Say the rest again.", maxRounds)
	}
	if t.saved {
		t.say("Hidden models leave the proxy's list; a direct call to one is still routed.")
	} else if t.wrote {
		t.offer("Save", "save the changes")
		t.offer("Show hidden", "which models are hidden, and why?")
		t.offer("Undo", "undo that")
	}
	if len(t.said) == 0 {
		t.say("There was nothing to do.")
	}
	if len(t.past) == 0 {
		t.say("%s %s", self, howToConnect)
	}
}

// thought says in a few lines what was understood.
func (t *turn) thought() string {
	var read []string
	for _, s := range t.steps[:min(len(t.steps), maxNamed)] {
		read = append(read, clean(s.text))
	}
	s := "I read: " + strings.Join(read, "; then ") + "."
	if n := len(t.now.calls); n > 0 {
		s += "\n" + upperFirst(count(n, "tool result")) + " came back."
	}
	if t.waiting() {
		s += "\nNext: " + count(len(t.batch), "call") + "."
	}
	return s
}
