package offline

import (
	"slices"
	"strings"
)

// maxSteps bounds the requests read from one message.
const maxSteps = 32

// parse reads a message into steps. Every message gives at least one step;
// what is not understood is a step of kind unknown.
func parse(text string) []step {
	var steps []step
	all := clauses(lex(text))
	for _, c := range all {
		if len(steps) == maxSteps {
			break
		}
		if len(all) > 1 && hollow(c) { // "oops, undo that"
			continue
		}
		s := parseClause(c, steps)
		if courtesy(s.kind) && len(steps) > 0 { // "hide x, thanks"
			continue
		}
		if len(steps) > 0 && courtesy(steps[len(steps)-1].kind) { // "hi, hide x"
			steps = steps[:len(steps)-1]
		}
		if len(steps) > 0 && merge(&steps[len(steps)-1], s) {
			continue
		}
		steps = append(steps, s)
	}
	if len(steps) == 0 {
		return []step{{kind: unknown}}
	}
	return steps
}

// hollow reports a clause of words that mean nothing before a request.
func hollow(c clause) bool {
	return !slices.ContainsFunc(c.toks, func(t token) bool { return t.lexeme != word || !fillers[t.lower] || t.lower == "ok" || t.lower == "hi" })
}

func courtesy(k kind) bool { return k == greet || k == thanks || k == yes }

// merge joins "hide" and the list on the lines below it.
func merge(last *step, s step) bool {
	if last.kind == list && s.reason && s.kind == list && s.list == "" { // "which are hidden, and why?"
		last.reason = true
		return true
	}
	if !last.kind.selects() || !last.bare || s.kind != unknown || len(s.what) == 0 {
		return false
	}
	last.what, last.except, last.bare = s.what, s.except, false
	return true
}

// parseClause reads one request; before holds the steps read already.
func parseClause(c clause, before []step) step {
	toks := skipFillers(c.toks)
	s := step{text: spoken(c.toks)}
	if p, ok := passive(toks); ok {
		p.text = s.text
		return p
	}
	k, n := verb(toks)
	rest, reason := withoutReason(toks[n:])
	s.reason = reason
	if n == 0 {
		return s.verbless(toks, c, before)
	}
	if k == hide && toks[0].lower == "no" && len(rest) == 0 {
		k = no
	}
	s.kind = k
	s.fill(rest)
	return s
}

// verbless reads a clause without a verb: it continues the one before ("hide
// a; b", "hide a. also b"), or offers both things it can mean.
func (s step) verbless(toks []token, c clause, before []step) step {
	s.what, s.except = selectors(toks)
	also := len(c.toks) > 0 && joins(c.toks[0])
	if len(before) > 0 && before[len(before)-1].kind.selects() && (c.semi || also) && len(s.what) > 0 {
		s.kind = before[len(before)-1].kind
		return s
	}
	if len(s.what) > 0 && s.what[0].plain && s.what[0].all && len(s.except) > 0 {
		name := spoken(toks[exceptStart(toks):])
		s.kind = clarify
		s.offers = []string{"hide everything except " + name, "hide " + name}
	}
	return s
}

func exceptStart(toks []token) int {
	at, skip := exceptAt(toks)
	return at + skip
}

// passive reads "X should be hidden", "make X available" is fill's.
func passive(toks []token) (step, bool) {
	at, ok := has(toks, set("should must shall is are stay stays remain remains"))
	if !ok || at == 0 || at+1 >= len(toks) {
		return step{}, false
	}
	if _, asks := has(toks[:at], questionWords); asks { // "tell me what is hidden"
		return step{}, false
	}
	tail := toks[at+1:]
	negative := false
	if _, n := has(tail, set("not never")); n {
		negative = true
	}
	_, lasting := has(toks[at:at+1], set("stay stays remain remains"))
	var k kind
	if _, ok := has(tail, hiddenWords); ok {
		k = hide
	} else if _, ok := has(tail, allowWords); ok {
		k = allow
	} else if _, ok := has(tail, set("always")); ok {
		k = allow
	} else if _, ok := has(tail, shownWords); ok && lasting { // "stays available", whatever comes
		k = allow
	} else if ok {
		k = unhide
	} else {
		return step{}, false
	}
	if negative {
		k = opposite(k)
	}
	subject := toks[:at]
	if v, n := verb(subject); n > 0 {
		if v != only {
			return step{}, false
		}
		k, subject = only, subject[n:]
	}
	s := step{kind: k}
	s.what, s.except = selectors(subject)
	s.settle()
	return s, true
}

func opposite(k kind) kind {
	switch k {
	case hide:
		return unhide
	case allow:
		return unallow
	default:
	}
	return hide
}

// fill reads what follows the verb.
func (s *step) fill(rest []token) {
	if i, ok := has(rest, set("than")); ok && i > 0 && rest[i-1].lower != "other" { // "older than gpt-5": no rule says that
		s.kind = unknown
		return
	}
	switch s.kind {
	case hide, allow, only, unhide, unallow:
		s.models(rest)
	case explain:
		s.explained(rest)
	case find, details:
		s.what, s.except = selectors(without(rest, set("for about of on status why hidden available match matches model what does do")))
	case verbRemove, verbClear:
		s.remove(rest)
	case verbAdd:
		s.add(rest)
	case verbShow:
		s.show(rest)
	case verbWhat:
		s.question(rest)
	case verbWhy, verbIs:
		s.why(rest)
	case verbMake:
		s.make(rest)
	case verbWant:
		s.kind = unknown
		if k, n := verb(rest); n > 0 {
			s.kind = k
			s.fill(rest[n:])
			return
		}
		s.what, s.except = selectors(rest)
		s.kind = clarify
		s.offers = []string{"only allow " + spoken(rest), "allow " + spoken(rest)}
	case verbRevert:
		s.revert(rest)
	case switchTo:
		s.provider(rest)
	case refresh:
		s.provider(without(rest, set("model models list from for the of provider's")))
	case importRules, verbReplace:
		s.imports(rest)
	case propose:
		s.proposal(rest)
	default:
	}
	s.bare = s.bare || s.kind.selects() && len(s.what) == 0
}

// models reads the selectors of a rule verb and settles "hide everything but
// X" (only X), "keep everything but X" (hide X) and "allow only X".
func (s *step) models(rest []token) {
	if s.listed(rest) {
		return
	}
	if s.kind == allow && len(rest) > 0 && rest[len(rest)-1].lower == "only" {
		s.kind, rest = only, rest[:len(rest)-1]
	}
	if s.kind == allow && len(rest) > 0 && rest[0].lower == "only" {
		s.kind, rest = only, rest[1:]
	}
	s.what, s.except = selectors(rest)
	if s.older() {
		return
	}
	s.settle()
}

// older finds "gpt-4 and everything older", which no rule can say: older than
// what it was said beside, not "all old models".
func (s *step) older() bool {
	for i, x := range s.what {
		if i > 0 && x.old && len(x.terms) == 0 && x.provider == "" {
			verb := map[kind]string{hide: "hide "}[s.kind]
			if verb == "" {
				verb = "only keep "
			}
			s.offers = []string{verb + s.what[0].text(), "only keep the newest models"}
			s.kind = compare
			return true
		}
	}
	return false
}

// settle rewrites universal selectors with exceptions.
func (s *step) settle() {
	s.negated()
	if len(s.what) != 1 || !s.what[0].plain || !s.what[0].all || s.what[0].newest || len(s.except) == 0 {
		return
	}
	switch s.kind {
	case hide:
		s.kind, s.what, s.except = only, s.at(s.what[0].provider, s.except), nil
	case allow, unhide, only:
		s.kind, s.what, s.except = hide, s.at(s.what[0].provider, s.except), nil
	default:
	}
}

// negated rewrites "hide non-gpt models" as "only gpt models".
func (s *step) negated() {
	if len(s.what) != 1 || len(s.what[0].terms) == 0 || s.kind != hide && s.kind != only {
		return
	}
	t := &s.what[0].terms[0]
	rest, ok := strings.CutPrefix(strings.ToLower(t.text), "non-")
	if !ok || rest == "" || t.form != asWord {
		return
	}
	t.text = rest
	s.kind = map[kind]kind{hide: only, only: hide}[s.kind]
}

// at gives selectors without a provider the one named beside "everything".
func (s *step) at(provider string, sel []selector) []selector {
	for i := range sel {
		if sel[i].provider == "" {
			sel[i].provider = provider
		}
	}
	return sel
}

// listed reads "ignore rule X", "whitelist rules: X", "block list".
func (s *step) listed(rest []token) bool {
	if len(rest) == 0 || rest[0].lower != "rule" && rest[0].lower != "rules" && rest[0].lower != "pattern" {
		return false
	}
	s.what, s.except = selectors(without(rest[1:], set("for on that hides hide allows matching")))
	return len(s.what) > 0
}

// ruleList tells which list the words name.
func ruleList(toks []token) string {
	if _, ok := has(toks, set("ignore ignored ignoring block blocks blocking blocked hide hides hidden hiding deny blacklist blocklist")); ok {
		return "ignore"
	}
	if _, ok := has(toks, set("allow allows allowed allowing whitelist whitelisted white allowlist keep")); ok {
		return "allow"
	}
	return ""
}

var (
	ruleWords = set("rule rules pattern patterns filter filters list lists ignorelist blocklist whitelist allowlist blacklist")
	listWords = set("ignore ignored block blocked hide hidden deny allow allowed white ignoring blocking allowing whitelisting whitelisted blacklist blocklist allowlist whitelist current existing")
)

// remove reads "remove|clear …": a rule, all rules, the changes, or models.
func (s *step) remove(rest []token) {
	rest = dropClosings(rest)
	clear := s.kind == verbClear
	if _, ok := has(rest, set("change changes edits")); ok {
		s.kind = discard
		return
	}
	_, ruled := has(rest, ruleWords)
	s.list = ruleList(rest)
	_, many := has(rest, set("all every everything both rules lists patterns filters"))
	body := without(without(rest, ruleWords), set("all every the my for that which on matching from of in both everything this hides hide allows is both those these and or"))
	left := without(body, listWords)
	switch {
	case ruled && len(left) == 0 && (many || s.list != "" || clear):
		s.kind = clearRules
	case ruled && len(left) > 0:
		s.kind = removeRule
		s.what, _ = selectors(left)
		if _, nth := ordinals[left[0].lower]; nth && len(left) == 1 { // else a closing word
			s.what = []selector{{terms: []term{{left[0].text, asTyped}}}}
		}
	case ruled && len(left) == 0:
		s.kind = removeRule
	case clear:
		s.kind = clarify
		s.offers = []string{"clear all ignore rules", "clear all allow rules", "discard changes"}
	default:
		s.kind, s.list, s.removal = hide, "", true
		s.models(rest)
	}
}

// add reads "add an ignore rule for X", "add X to the whitelist".
func (s *step) add(rest []token) {
	s.list = ruleList(rest)
	to := len(rest)
	for i, t := range rest {
		if (t.lower == "to" || t.lower == "on" || t.lower == "in" || t.lower == "into") && i > 0 && ruleList(rest[i:]) != "" {
			to = i
		}
	}
	if to < len(rest) {
		s.list = ruleList(rest[to:])
		rest = rest[:to]
	} else {
		rest = without(without(rest, ruleWords), set("ignore block hide allow whitelist white that for which on hides blocks allows matching a an the to new"))
	}
	s.what, s.except = selectors(rest)
	switch s.list {
	case "ignore":
		s.kind = hide
	case "allow":
		s.kind = allow
	default:
		s.kind = clarify
		s.offers = []string{"hide " + spoken(rest), "allow " + spoken(rest)}
	}
	s.list = ""
}

// make reads "make X available|hidden".
func (s *step) make(rest []token) {
	_, hidden := has(rest, hiddenWords)
	_, shown := has(rest, shownWords)
	if _, ok := has(rest, allowWords); ok && !hidden {
		shown = true
	}
	onlyAt, isOnly := has(rest, set("only"))
	if isOnly {
		rest = rest[onlyAt+1:]
	}
	s.what, s.except = selectors(without(without(without(rest, hiddenWords), shownWords), allowWords))
	switch {
	case isOnly && len(s.what) > 0:
		s.kind = only
	case hidden:
		s.kind = hide
	case shown:
		s.kind = unhide
	default:
		s.kind = unknown
	}
	s.settle()
}

// revert tells "revert [the changes]" from "revert that" and "restore X".
func (s *step) revert(rest []token) {
	rest = dropClosings(rest)
	switch _, about := has(rest, set("change changes edits everything all")); {
	case len(rest) == 0 || about:
		s.kind = discard
	default:
		s.kind = unhide
		s.models(rest)
	}
}

// provider reads a provider's name.
func (s *step) provider(rest []token) {
	rest = dropClosings(without(rest, set("the provider to over models model's")))
	if len(rest) > 0 && rest[0].lexeme != comma {
		s.name = rest[0].text
	}
}

// proposal reads "propose rules for|to|that …": the step it would be.
func (s *step) proposal(rest []token) {
	for len(rest) > 0 && set("rule rules a some set of for to that which new me changes would filter filters us to the")[rest[0].lower] {
		rest = rest[1:]
	}
	rest = skipFillers(rest)
	inner := step{kind: hide, text: s.text}
	if k, n := verb(rest); n > 0 {
		inner.kind = k
		inner.fill(rest[n:])
	} else {
		inner.what, inner.except = selectors(rest)
	}
	s.what, s.except, s.list, s.bare = inner.what, inner.except, inner.list, inner.bare
	s.inner = inner.kind
}

// imports reads "import ignore a, b; allow c" (one clause of it) and "replace
// the rules with a, b".
func (s *step) imports(rest []token) {
	s.name = "merge"
	if s.kind == verbReplace {
		s.name = "replace"
	}
	s.kind = importRules
	current := "ignore"
	var item []token
	flush := func() {
		for _, sel := range selectorList(item) {
			s.rules = append(s.rules, ruleLine{current, sel})
		}
		item = nil
	}
	for _, t := range rest {
		if t.lexeme == word {
			switch l := ruleList([]token{t}); {
			case l != "":
				flush()
				current = l
				continue
			case strings.Contains(" rules rule with these following list the : mode merge ", " "+t.lower+" "):
				continue
			case t.lower == "replace" || t.lower == "replacing":
				s.name = "replace"
				continue
			}
		}
		item = append(item, t)
	}
	flush()
}
