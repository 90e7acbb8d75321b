package offline

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
)

// maxRounds is how often one turn may call tools.
const maxRounds = 5

// turn works out one response. Nothing is kept between requests: the requests
// of the user's text are planned from the beginning each time, and a call that
// the request already holds a result for gives that result instead of being
// made again. What is left over is this response's calls; with none left, the
// turn is done and the report is the answer.
type turn struct {
	req    *chatRequest
	w      window
	prompt string      // system text without the context
	past   []*exchange // before this turn
	now    *exchange
	parser *parser
	steps  []step

	catalogs  map[string]*catalog
	confirmed bool // the user has said yes to what this turn does

	batch     []pending
	said      []string // paragraphs of the report
	intent    []string // what the calls of this response are for
	offers    []value
	proposals []proposal
	missing   []string // tools that are not offered
	stopped   bool     // locked or out of rounds: no more calls
	wrote     bool     // a rule was changed in this turn
	saved     bool     // a save succeeded after it
	changed   bool     // the answer is about a change: buttons fit
}

// pending is a call of this response.
type pending struct {
	id   string
	name string
	args string // a JSON object
}

type value struct {
	Label string `json:"label"`
	Value string `json:"value"`
}

func newTurn(req *chatRequest) *turn {
	all := req.exchanges
	t := &turn{req: req, now: &exchange{}, catalogs: map[string]*catalog{}}
	t.w, t.prompt = findWindow(req.system)
	if n := len(all); n > 0 {
		t.now, t.past = all[n-1], all[:n-1]
	}
	t.parser = &parser{w: &t.w, forms: filterForms, starters: filterStarters}
	return t
}

var filterStarters = starters(filterForms)

// repeatable are tools whose result may serve more than one step.
var repeatable = set("get_models_matching_pattern explain_model_status")

// call makes a call, or gives its result when it was made in an earlier round:
// nil means that it is made now. A refused call is not made again.
func (t *turn) call(name string, a args) *result {
	params, offered := t.req.tools[name]
	if a["provider"] == "" || offered && !params.Get("provider").Exists() {
		delete(a, "provider")
	}
	text := a.encode()
	for _, c := range t.now.calls {
		if c.consumed && !repeatable[name] || c.name != name || c.text != text {
			continue
		}
		c.consumed = true
		if c.res == nil {
			return &result{Message: "no result came back"}
		}
		t.stopped = t.stopped || c.res.Code == "locked"
		return c.res
	}
	if !offered {
		t.missing = append(t.missing, name)
		return &result{missing: true, Message: "the tool " + name + " is not offered here"}
	}
	if t.stopped || t.now.rounds >= maxRounds {
		t.stopped = true
		return &result{missing: true, Message: "this turn has ended"}
	}
	if slices.ContainsFunc(t.batch, func(p pending) bool { return repeatable[name] && p.name == name && p.args == text }) {
		return nil
	}
	h := fnv.New64a()
	fmt.Fprintf(h, "%d %d %s %s %d", len(t.past), t.now.rounds, name, text, len(t.batch))
	t.batch = append(t.batch, pending{fmt.Sprintf("call_%016x", h.Sum64()), name, text})
	return nil
}

// waiting reports that calls of this response must come back first.
func (t *turn) waiting() bool { return len(t.batch) > 0 }

// say adds a paragraph to the report.
func (t *turn) say(format string, a ...any) { t.said = append(t.said, fmt.Sprintf(format, a...)) }

// plan adds a sentence about the calls of this response.
func (t *turn) plan(format string, a ...any) {
	t.intent = append(t.intent, fmt.Sprintf(format, a...))
}

// maxOffers is how many next messages an answer suggests.
const maxOffers = 3

func (t *turn) offer(label, text string) {
	if v := (value{clean(label), clean(text)}); len(t.offers) < maxOffers && !slices.Contains(t.offers, v) {
		t.offers = append(t.offers, v)
	}
}

// catalog returns the models of a provider: from the context when it lists all
// of them, else from the window. narrow are patterns that match all models a
// selection can mean; they are asked for where the whole list is too long. nil
// means that calls are made now, or that the window gave no list, which is said.
func (t *turn) catalog(provider string, narrow []string) *catalog {
	key := provider + "\x00" + strings.Join(narrow, "\x00")
	if c := t.catalogs[key]; c != nil {
		return c
	}
	if provider == t.w.shown.provider && t.w.shown.complete {
		return &t.w.shown
	}
	cat := &catalog{provider: provider, complete: true}
	if !t.query(cat, "*", true) {
		return nil
	}
	if provider == t.w.shown.provider { // the context knows what each rule decides
		cat.ignore, cat.allow = t.w.shown.ignore, t.w.shown.allow
	}
	if !cat.complete {
		cat.unlisted = 0
		got := true
		for _, p := range narrow {
			got = t.query(cat, p, false) && got // all are asked for at once
		}
		if !got {
			return nil
		}
	}
	t.catalogs[key] = cat
	return cat
}

// query adds the models of a pattern to a catalog; whole says that the pattern
// stands for the provider.
func (t *turn) query(cat *catalog, pattern string, whole bool) bool {
	r := t.call("get_models_matching_pattern", args{"pattern": pattern, "provider": cat.provider})
	if r == nil {
		t.plan("First I look up the models of %s.", clean(cat.provider))
		return false
	}
	if !r.Success {
		t.failed("I could not look up the models of "+clean(cat.provider), r)
		return false
	}
	cat.add(r.Data.Get("models"))
	found := int(r.Data.Get("count").Int())
	if unlisted := found - len(r.Data.Get("models").Array()); unlisted > 0 {
		cat.unlisted += unlisted
		cat.complete = false
	}
	if whole {
		cat.total, cat.hidden = found, int(r.Data.Get("hidden_count").Int())
		cat.ignore, cat.allow = rulesOf(r.Data.Get("ignore_rules")), rulesOf(r.Data.Get("whitelist_rules"))
	}
	return true
}
