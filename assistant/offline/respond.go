package offline

import (
	"fmt"
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
	switch {
	case t.w.kind == historyWindow:
		t.respondHistory()
	case t.modelFilter():
		t.respondFilter()
	default:
		t.steps = []step{{text: t.now.user}}
		t.say("I have no rules for this window. %s", self)
		t.say("%s", howToConnect)
	}
	t.unclaimed()
	r := reply{thought: t.thought(), calls: t.batch}
	if t.waiting() {
		r.text = strings.Join(unique(t.intent), " ")
		return r
	}
	t.finish()
	r.text = strings.Join(unique(t.said), "\n\n") + t.markers()
	return r
}

// modelFilter reports whether the request is about the model filter.
func (t *turn) modelFilter() bool {
	if t.w.kind == "" {
		_, ok := t.req.tools["add_ignore_rule"]
		return ok
	}
	return strings.HasPrefix(t.w.kind, "model_filter")
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
	plans := make([]*plan, len(t.steps))
	failed := false
	for i, s := range t.steps {
		plans[i] = t.planStep(s)
		failed = failed || plans[i] == nil
	}
	if t.waiting() || failed {
		return
	}
	if !t.confirmed && !t.now.acted() && t.ask(plans) {
		return
	}
	t.execute(plans)
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
	if slices.ContainsFunc(t.w.changes, func(c gjson.Result) bool { return c.Get("type").String() == "provider_changed" }) {
		return
	}
	for _, x := range slices.Backward(t.past) {
		for _, c := range slices.Backward(x.calls) {
			p := c.args.Get("provider").String()
			if p == "" || !c.ok() {
				continue
			}
			if c.name == "switch_provider" {
				if name, ok := t.w.providerNamed(strings.ToLower(p)); ok {
					t.w.provider = name
				}
			}
			return
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
		if x.acted() {
			last = nil
		}
	}
	steps := t.parser.parse(text)
	if steps[0].kind == yes && len(last) > 0 {
		t.confirmed = true
		asked := last
		if last = slices.Clone(last); last[0].kind == propose {
			last[0] = *last[0].inner
		}
		steps = slices.Concat(last, steps[1:])
		if !t.now.acted() && !t.asks(asked) {
			t.confirmed = false
			return []step{{kind: yes}}
		}
		return steps
	}
	steps, _ = t.complete(steps, base)
	return steps
}

// asks reports whether steps end in a question that "yes" answers.
func (t *turn) asks(steps []step) bool {
	probe := &turn{req: t.req, w: t.w, prompt: t.prompt, past: t.past, now: t.now, parser: t.parser, catalogs: t.catalogs}
	var plans []*plan
	for _, s := range steps {
		if len(s.rest) > 0 || s.kind == unknown || s.kind == followUp {
			return false
		}
		p := probe.planStep(s)
		if p == nil {
			return probe.waiting() // planned again when the models are known
		}
		plans = append(plans, p)
	}
	return probe.ask(plans)
}

// complete fills in what steps leave to the request before them: base, and then
// each step's predecessor. It returns the last request that can be continued.
func (t *turn) complete(steps []step, base step) ([]step, step) {
	for i := range steps {
		s := &steps[i]
		if s.kind == switchTo && len(s.what.scope.providers) == 1 && i < len(steps)-1 {
			t.scopeRest(steps[i+1:], s.what.scope.providers[0])
		}
		if base.kind.selects() {
			switch {
			case s.kind == followUp && s.also:
				t.followUp(s, base)
			case s.what.pronoun && len(base.what.items) > 0:
				at := s.what.scope
				s.what = base.what
				if !at.empty() {
					s.what.scope = at
				}
			case s.kind == why:
				*s = step{kind: explain, what: base.what, text: s.text, rest: s.rest}
				if base.kind == listModels || len(base.what.items) == 0 {
					s.kind, s.arg = listModels, base.arg
				}
			}
		}
		if s.kind == why {
			s.kind, s.arg = listModels, "hidden"
		}
		if (s.kind == listModels || s.kind == countModels) && len(s.what.items) == 0 {
			s.what.items = []item{{all: true}}
			s.what.scope.every = s.what.scope.empty() && s.arg == "hidden"
		}
		if s.kind == listModels && s.arg == "hidden" && s.what.scope.empty() && s.what.items[0].all && s.what.items[0].provider == "" {
			s.what.scope.every = true
		}
		if s.kind.selects() && len(s.rest) == 0 {
			base = *s
		}
	}
	return steps, base
}

// scopeRest makes the steps behind a "switch to" be about that provider.
func (t *turn) scopeRest(steps []step, provider string) {
	for i := range steps {
		if steps[i].kind == switchTo {
			return
		}
		if steps[i].what.scope.empty() {
			steps[i].what.scope.providers = []string{provider}
		}
	}
}

// followUp makes "and nano too" and "also on gemini" a whole request.
func (t *turn) followUp(s *step, base step) {
	s.kind, s.arg = base.kind, base.arg
	if s.kind == only && len(s.what.items) > 0 { // what is said besides "only" is allowed, too
		s.kind = allow
	}
	if len(s.what.items) == 0 {
		s.what.items, s.what.except = base.what.items, base.what.except
	}
	if s.what.scope.empty() {
		s.what.scope = base.what.scope
	}
}

// execute carries the plans out in order. A save, an undo and the like wait for
// the results of what stands before them.
func (t *turn) execute(plans []*plan) {
	for _, p := range plans {
		waits := p.step.kind >= undo && p.step.kind <= refresh
		if waits && t.waiting() {
			return
		}
		t.run(p)
		if waits && t.waiting() {
			return
		}
	}
}

// run carries out one step.
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
		t.refresh(s)
	default:
		t.answer(p)
	}
}

// unclaimed reports the calls of this turn that no step made again: the program
// has changed the context between two responses, and what they did must be said.
func (t *turn) unclaimed() {
	if t.waiting() {
		return
	}
	for _, c := range t.now.calls {
		if c.consumed || c.res == nil || !writeTools[c.name] {
			continue
		}
		t.wrote = t.wrote || c.res.Success
		t.say("%s: %s", code(c.name), sentence(c.res.Message))
	}
}

// finish adds what every answer ends with.
func (t *turn) finish() {
	if m := unique(t.missing); len(m) > 0 {
		t.say("I would need %s for that, which this window does not offer now.", codes(m))
	}
	if t.stopped && t.now.rounds >= maxRounds {
		t.say("I stop here: I call tools at most %d times a message. Say the rest again.", maxRounds)
	}
	switch {
	case t.saved:
		t.say("Hidden models leave the proxy's list; a direct call to one is still routed.")
	case t.wrote && t.nothingUnsaved():
		t.say("Nothing is unsaved now.")
	case t.wrote:
		t.say("Nothing is saved yet.")
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

// nothingUnsaved reports whether the last change of this turn left nothing
// unsaved, by its result: the context is older.
func (t *turn) nothingUnsaved() bool {
	for _, c := range slices.Backward(t.now.calls) {
		if c.ok() {
			if unsaved := c.res.Data.Get("has_unsaved_changes"); unsaved.Exists() {
				return !unsaved.Bool()
			}
		}
	}
	return false
}

// thought says in a few lines what was understood.
func (t *turn) thought() string {
	var read []string
	for _, s := range t.steps[:min(len(t.steps), maxNamed)] {
		read = append(read, clean(s.text))
	}
	lines := []string{"I read: " + strings.Join(read, "; then ") + "."}
	switch c := &t.w.shown; {
	case t.now.rounds > 0:
		lines = append(lines, fmt.Sprintf("%s came back.", count(len(t.now.calls), "tool result")))
	case c.provider != "":
		lines = append(lines, fmt.Sprintf("%s has %s, %d shown.", clean(c.provider), count(c.total, "model"), c.shownCount()))
	default:
		lines = append(lines, "The window is "+clean(t.w.kind)+".")
	}
	if t.waiting() {
		lines = append(lines, "Next: "+count(len(t.batch), "call")+".")
	}
	return strings.Join(lines, "\n")
}
