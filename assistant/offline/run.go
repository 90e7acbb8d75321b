package offline

import (
	"fmt"
	"slices"
	"strings"
)

// reply is one response, before it is put on the wire.
type reply struct {
	thought string
	text    string
	calls   []pending
}

// answerTo works out the response to a request. The same request always gives
// the same response.
func answerTo(req *chatRequest) reply {
	t := newTurn(req)
	t.steps = t.read(t.now.user, 0)
	switch {
	case t.w.kind == pastWindow:
		t.runPast()
	case !t.modelFilter():
		t.runGeneric()
	default:
		for i := range t.steps {
			if t.barrier(t.steps[i], i) {
				break
			}
			t.run(t.steps[i])
		}
		t.leftovers()
	}
	r := reply{thought: t.thought(), calls: t.batch}
	if len(t.batch) > 0 {
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
		_, ok := t.req.tool("add_ignore_rule")
		return ok
	}
	return t.w.kind == "model_filter" || t.w.kind == "model_filter_gui"
}

// maxReread bounds "yes" after "yes": how far back an offer is looked for.
const maxReread = 3

// read parses a message; "yes" stands for the request the last answer asked
// for: its last code span after "say".
func (t *turn) read(text string, depth int) []step {
	steps := parse(text)
	if len(steps) == 1 && steps[0].kind == yes && len(t.past) > 0 && depth < maxReread {
		if asked := askedFor(t.past[len(t.past)-1].answer); asked != "" {
			return t.read(asked, depth+1)
		}
	}
	return steps
}

// askedFor finds the last "say `…`" of an answer.
func askedFor(answer string) string {
	i := strings.LastIndex(strings.ToLower(answer), "say `")
	if i < 0 {
		return ""
	}
	rest := answer[i+len("say `"):]
	end := strings.IndexByte(rest, '`')
	if end < 0 {
		return ""
	}
	return rest[:end]
}

// barrier reports that a step must wait for results of the steps before it:
// a save for the changes, anything after a switch for the switch.
func (t *turn) barrier(s step, i int) bool {
	if !t.waiting() {
		return false
	}
	if s.kind == save || s.kind == discard || s.kind == undo || s.kind == refresh || s.kind == switchTo {
		return true
	}
	return slices.ContainsFunc(t.steps[:i], func(b step) bool {
		return b.kind == switchTo || b.kind == refresh || b.kind == save || b.kind == discard
	})
}

// run carries out one step.
func (t *turn) run(s step) {
	switch s.kind {
	case hide:
		if t.folded(s) {
			return
		}
		t.hide(s)
	case allow:
		t.allow(s)
	case only:
		t.only(s)
	case unhide:
		t.unhide(s)
	case unallow:
		t.unallow(s)
	case removeRule:
		t.removeRule(s)
	case clearRules:
		t.clearRules(s)
	case importRules:
		t.imports(s)
	case explain:
		t.explain(s)
	case details:
		t.details(s)
	case find:
		t.find(s)
	case list:
		t.list(s)
	case save:
		t.save(s)
	case discard:
		t.discard()
	case switchTo:
		t.switchTo(s)
	case refresh:
		t.refresh(s)
	case undo:
		t.undo()
	case unused:
		t.unusedRules()
	case propose:
		t.propose(s)
	default:
		t.talk(s)
	}
}

// folded reports a "hide" that an "only" of the same message contains: what is
// not allowed is hidden by `*` already.
func (t *turn) folded(s step) bool {
	on := map[string]bool{}
	for _, o := range t.steps {
		if o.kind == only {
			for _, g := range t.goalsOf(o) {
				on[g.provider] = true
			}
		}
	}
	return !t.universal(s) && !slices.ContainsFunc(t.goalsOf(s), func(g goal) bool { return !on[g.provider] })
}

// goalsOf makes all selectors of a step concrete.
func (t *turn) goalsOf(s step) []goal {
	var out []goal
	for _, sel := range t.meant(s) {
		out = append(out, t.w.goals(sel)...)
	}
	return out
}

// meant resolves "it" and "them": what the step before was about, in this
// message or an earlier one.
func (t *turn) meant(s step) []selector {
	out := make([]selector, 0, len(s.what))
	for _, sel := range s.what {
		if !sel.pronoun {
			out = append(out, sel)
			continue
		}
		them := t.before(s)
		if len(them) == 0 {
			t.say("I do not know which models you mean. Name one, for example %s.", code(askedOf(s, t.example())))
		}
		out = append(out, them...)
	}
	return out
}

// askedOf is the step said of one model.
func askedOf(s step, model string) string {
	switch s.kind {
	case explain:
		return "why is " + model + " hidden"
	case details:
		return "details of " + model
	case find:
		return "find " + model
	default:
	}
	return asRequest(step{kind: s.kind, what: []selector{{terms: []term{{model, asTyped}}}}})
}

func (t *turn) before(s step) []selector {
	var last []selector
	for _, o := range t.steps {
		if o.text == s.text && o.kind == s.kind {
			break
		}
		last = named(o, last)
	}
	for i := len(t.past) - 1; i >= 0 && last == nil; i-- {
		for _, o := range parse(t.past[i].user) {
			last = named(o, last)
		}
	}
	return last
}

// named is what a step names, or else.
func named(s step, or []selector) []selector {
	if len(s.what) == 0 || slices.ContainsFunc(s.what, func(x selector) bool { return x.pronoun }) {
		return or
	}
	return s.what
}

// leftovers reports calls of this turn that no step claimed: the context
// changed under them, but what they did must be said.
func (t *turn) leftovers() {
	if t.waiting() {
		return
	}
	for _, c := range t.now.calls {
		if c.consumed || c.res == nil || c.res.Code == "invalid_arguments" {
			continue
		}
		if c.res.Success {
			t.say("%s: %s", code(c.name), sentence(c.res.Message))
		} else {
			t.say("%s did not work: %s.", code(c.name), lowerFirst(c.res.why()))
		}
	}
}

// finish adds what every answer ends with: missing tools, the end of the
// rounds, whether anything is saved.
func (t *turn) finish() {
	if m := unique(t.missing); len(m) > 0 {
		t.say("I would need %s for that, which this window does not offer now.", someCodes(m))
	}
	if t.stopped && t.now.rounds >= maxRounds {
		t.say("I stop here: I work in at most %d rounds a message. Say the rest again and I go on.", maxRounds)
	}
	switch {
	case t.saved:
		t.say("The proxy reads its rules when it starts, so restart it. Hidden models leave its list; a direct call to one is still routed.")
		t.offer("Show rules", "show the rules")
	case t.wrote && t.back():
		t.say("Nothing is unsaved now.")
		t.offer("Show rules", "show the rules")
	case t.wrote:
		t.say("Nothing is saved yet.")
		t.offer("Save", "save the changes")
		t.offer("Show hidden", "what is hidden")
		t.offer("Undo", "undo that")
	}
	if len(t.said) == 0 {
		t.say("There was nothing to do.")
	}
}

// back reports whether the last change of this turn left nothing unsaved, by
// what the tool told of it: the context is older.
func (t *turn) back() bool {
	for _, c := range slices.Backward(t.now.calls) {
		if c.res == nil || !c.res.Success {
			continue
		}
		if unsaved, told := c.res.Data["has_unsaved_changes"].(bool); told {
			return !unsaved
		}
	}
	return false
}

// thought states in a few lines what was understood.
func (t *turn) thought() string {
	if t.now.rounds > 0 {
		n := 0
		for _, c := range t.now.calls {
			if c.res != nil && c.res.Success {
				n++
			}
		}
		lines := []string{fmt.Sprintf("%d of %d tool results are good.", n, len(t.now.calls))}
		if t.waiting() {
			lines = append(lines, "Next: "+t.next()+".")
		} else {
			lines = append(lines, "That is all; I report what the results say.")
		}
		return strings.Join(lines, "\n")
	}
	var read []string
	for _, s := range t.steps {
		read = append(read, describe(s))
	}
	if t.w.kind == pastWindow {
		read = nil
		for _, s := range t.pastSteps {
			read = append(read, s.describe())
		}
	}
	const most = 6
	if len(read) > most {
		read = append(read[:most], fmt.Sprintf("%d more", len(read)-most))
	}
	lines := []string{"I read: " + strings.Join(read, "; then ") + "."}
	switch {
	case t.w.kind == "":
		lines = append(lines, "The request shows me no window.")
	case t.w.kind == pastWindow:
		lines = append(lines, "The window is the chat history.")
	case !t.modelFilter():
		lines = append(lines, "The window is "+clean(t.w.kind)+"; my rules are for the model filter.")
	default:
		lines = append(lines, fmt.Sprintf("The window shows %s of %s, %d available.", count(t.w.total, "model"), providerName(t.w.provider), t.w.available))
	}
	if t.waiting() {
		lines = append(lines, "Next: "+t.next()+".")
	}
	return strings.Join(lines, "\n")
}

// next names the calls of this response.
func (t *turn) next() string {
	var ns []string
	for _, p := range t.batch {
		ns = append(ns, p.name)
	}
	return fmt.Sprintf("%s (%s)", count(len(ns), "call"), strings.Join(unique(ns), ", "))
}

// verbs name the kinds in a thought.
var verbs = map[kind]string{
	hide: "hide", allow: "always allow", only: "allow only", unhide: "make available", unallow: "remove the allow rule of",
	removeRule: "remove the rule", clearRules: "clear all rules", explain: "explain", list: "list", find: "find", details: "details of",
	undo: "take the last change back", save: "save", discard: "discard the changes", switchTo: "switch to", refresh: "refresh the models",
	importRules: "import rules", propose: "propose rules", help: "a question about me", greet: "a greeting", thanks: "thanks",
	yes: "a yes", no: "a no", clarify: "words that can mean two things",
	compare: "a comparison of versions", beyond: "a question beyond names and rules", unused: "which rules decide nothing",
}

func describe(s step) string {
	v, ok := verbs[s.kind]
	if !ok {
		return "words I have no rule for"
	}
	var ws []string
	for _, x := range s.what {
		ws = append(ws, clean(x.text()))
	}
	if len(ws) > namesShown {
		ws = append(ws[:namesShown], "…")
	}
	for _, w := range []string{strings.Join(ws, ", "), clean(s.list), clean(s.name)} {
		if w != "" {
			v += " " + w
		}
	}
	if len(s.except) > 0 {
		v += ", with exceptions"
	}
	return v
}
