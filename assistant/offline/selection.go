package offline

import (
	"strings"
	"unicode"
)

// selection is a set of models in words: all that fit one of the items and none
// of the exceptions, on the providers of the scope.
type selection struct {
	items   []item
	except  []item
	scope   scope
	pronoun bool // "it", "them": what the request before named
}

// scope is the providers that a request names; the zero value names none.
type scope struct {
	providers []string // as the window calls them
	every     bool     // all of them
	major     bool     // of all, those of well-known vendors
	others    bool     // of all, those that are not shown
	without   []string // of all, not these
}

func (s scope) empty() bool { return len(s.providers) == 0 && !s.every && len(s.without) == 0 }

func (s *scope) merge(o scope) {
	s.providers = append(s.providers, o.providers...)
	s.without = append(s.without, o.without...)
	s.every, s.major, s.others = s.every || o.every, s.major || o.major, s.others || o.others
}

// item is one set of a selection: the models that fit all its words.
type item struct {
	words    []term
	provider string // "openai models"
	all      bool   // every model
	newest   bool
	old      bool // all but the newest
	count    int  // how many of the newest; 0: all that share the newest version
	family   bool // "models" followed: not just the one of this id
}

func (it item) empty() bool {
	return len(it.words) == 0 && it.provider == "" && !it.all && !it.newest && !it.old
}

type termForm int

const (
	asWord   termForm = iota // a part of the name, between separators
	asTyped                  // exactly this id or pattern
	asPrefix                 // the name begins with it
	asSuffix                 // the name ends with it
	asPart                   // anywhere in the name
)

// term is one word of an item.
type term struct {
	text string
	form termForm
}

func (w term) typed() bool { return w.form == asTyped }

var (
	determiners = set("all every each any those these both that which is are whose who")
	nouns       = set("model models version versions one ones variant variants family families series id ids llm llms generation generations stuff things thing")
	everything  = set("everything anything")
	pronouns    = set("it them they those these that this")
	newestWords = set("newest latest recent freshest")
	oldWords    = set("old older oldest outdated obsolete")
	exceptWords = set("except excluding besides without minus unless not aren't isn't excl")
	places      = set("on from by for at in across of under with")
	partWords   = set("containing contain contains with including include includes having have has matching match matches named called")
	nameWords   = set("name names id ids word its their")
	trailing    = set("again anymore instead afterwards immediately")
	everywhere  = set("everywhere anywhere")
)

type reader struct {
	p         *parser
	tokens    []token
	pos       int
	sel       selection
	cur       item
	seen      bool     // cur has a determiner or a noun
	form      termForm // of the next words
	excepting bool
}

// selection reads which models tokens mean.
func (p *parser) selection(tokens []token) selection {
	r := &reader{p: p, tokens: tokens}
	for r.pos < len(tokens) {
		r.next()
	}
	r.flush()
	return r.sel
}

// peek is the token n places on; a zero token behind the end.
func (r *reader) peek(n int) token {
	if r.pos+n < len(r.tokens) {
		return r.tokens[r.pos+n]
	}
	return token{kind: stop}
}

// next reads one token, or the few that belong together.
func (r *reader) next() {
	t := r.peek(0)
	r.pos++
	switch {
	case t.kind != comma && t.text == "*":
		r.cur.all = true
	case t.kind == quoted, t.kind == word && wild(t.text):
		r.cur.words = append(r.cur.words, term{t.text, asTyped})
	case t.kind == comma, t.is("and", "or", "plus", "&", "+"):
		r.flush()
	case t.in(exceptWords) || t.is("but") && (r.peek(0).is("not") || r.cur.all || r.seen && r.cur.empty()) || t.is("apart", "other") && r.peek(0).is("from", "than"):
		r.startExcept()
	case strings.HasPrefix(t.lower, "non-") && r.cur.empty() && len(r.sel.items) == 0:
		r.sel.items, r.excepting = []item{{all: true}}, true
		r.cur.words = append(r.cur.words, term{t.lower[len("non-"):], asWord})
	case t.in(everywhere):
		r.sel.scope.every = true
	case t.in(places) && r.place(t):
	case t.in(pronouns) && r.pronounHere():
		r.sel.pronoun = true
	case r.quantity(t) || r.modifier(t):
	case t.in(everything):
		r.cur.all = true
	case t.in(nouns):
		r.cur.family, r.seen = true, true
	case t.in(determiners):
		r.seen = true
	case t.in(trailing) || t.is("of"):
	default:
		r.word(t)
	}
}

// word adds a word of a name, or a provider: "openai models".
func (r *reader) word(t token) {
	if p, ok := r.p.w.providerNamed(t.lower); ok && r.form == asWord && r.cur.provider == "" {
		r.cur.provider = p
		if r.peek(0).is("provider", "provider's") {
			r.pos++
		}
		return
	}
	if n := len(r.cur.words); n > 0 && r.form == asWord && startsWithDigit(t.lower) && r.cur.words[n-1].form == asWord { // "gpt 4"
		r.cur.words[n-1].text += "-" + t.lower
		return
	}
	text := t.lower
	if r.form != asWord {
		text = t.text
	}
	r.cur.words = append(r.cur.words, term{text, r.form})
}

func startsWithDigit(s string) bool { return s != "" && unicode.IsDigit(rune(s[0])) }

func (r *reader) flush() {
	it := r.cur
	if it.empty() && r.seen {
		it.all = true
	}
	if n := len(r.sel.items); n > 0 && !r.excepting && len(it.words) > 0 && !it.newest && !it.old { // "the newest Claude and GPT models"
		before := r.sel.items[n-1]
		it.newest, it.old, it.count = before.newest, before.old, before.count
	}
	if it.provider != "" && len(it.words) == 0 && !it.newest && !it.old {
		it.all = true
	}
	switch {
	case it.empty():
	case r.excepting && it.provider != "" && it.all && len(it.words) == 0:
		r.sel.scope.without = append(r.sel.scope.without, it.provider)
	case r.excepting:
		r.sel.except = append(r.sel.except, it)
	default:
		r.sel.items = append(r.sel.items, it)
	}
	r.cur, r.seen, r.form = item{}, false, asWord
}

// startExcept begins the exceptions, with the words that belong to "except".
func (r *reader) startExcept() {
	for r.peek(0).is("for", "not", "from", "than", "on") {
		r.pos++
	}
	r.seen = r.seen || len(r.sel.items) == 0 && !r.sel.pronoun
	r.flush()
	r.excepting = true
}

// pronounHere reports a pronoun that stands alone: "those models" and "that
// contain x" are none.
func (r *reader) pronounHere() bool {
	if !r.cur.empty() || r.seen {
		return false
	}
	after := r.peek(0)
	return after.kind == comma || after.kind == stop || after.in(places) || after.in(exceptWords) || after.is("and", "or") || after.in(trailing) || after.in(nouns)
}

func (r *reader) quantity(t token) bool {
	n := number(t.lower)
	switch {
	case t.in(newestWords) || t.is("most") && r.peek(0).is("recent"):
		if t.is("most") {
			r.pos++
		}
		r.cur.newest = true
		if n := number(r.peek(0).lower); n > 0 {
			r.cur.count = n
			r.pos++
		}
	case n > 0 && r.cur.empty() && r.peek(0).in(newestWords):
		r.cur.count = n
	case t.in(oldWords):
		r.cur.old = true
	default:
		return false
	}
	return true
}

// modifier reads what says how the next words stand in a name: "containing",
// "that start with", "ending in".
func (r *reader) modifier(t token) bool {
	with := r.peek(0).is("with", "by")
	switch {
	case t.in(partWords):
		r.form = asPart
	case with && (strings.HasPrefix(t.lower, "start") || strings.HasPrefix(t.lower, "begin")):
		r.form = asPrefix
	case strings.HasPrefix(t.lower, "end") && (with || r.peek(0).is("in", "on")):
		r.form = asSuffix
		r.pos++
	default:
		return false
	}
	for r.peek(0).is("with", "by") || r.peek(0).in(nameWords) {
		r.pos++
	}
	return true
}

// place reads "on gemini", "of each major provider", "in its name". It declines
// words that name no place.
func (r *reader) place(t token) bool {
	if t.is("in", "with") && r.peek(0).in(nameWords) || t.is("in") && r.peek(0).is("it") {
		for r.peek(0).in(nameWords) || r.peek(0).is("it") {
			r.pos++
		}
		return true
	}
	if t.is("of") && r.peek(0).in(pronouns) { // "all of them"
		r.seen = false
		return true
	}
	var at scope
	if !r.scope(&at) {
		return false
	}
	if r.excepting && r.cur.empty() && len(r.sel.except) == 0 && !at.every { // "except on gemini"
		r.sel.scope.without = append(r.sel.scope.without, at.providers...)
		return true
	}
	r.sel.scope.merge(at)
	return true
}

// scope reads providers: "every provider", "all major providers", "gemini and
// openai"; false, and nothing is read, when there is none.
func (r *reader) scope(at *scope) bool {
	start := r.pos
	for ; r.peek(0).in(determiners); r.pos++ {
		at.every = at.every || r.peek(0).is("all", "every", "each", "any")
	}
	for ; r.peek(0).is("major", "other", "others", "configured", "known"); r.pos++ {
		at.major = at.major || r.peek(0).is("major")
		at.others = at.others || r.peek(0).is("other", "others")
		at.every = at.every || at.others
	}
	noun := r.peek(0).is("provider", "providers", "vendor", "vendors")
	if noun {
		r.pos++
	}
	if at.every && (noun || at.others) {
		return true
	}
	for n := 0; !at.every; n = 0 {
		for r.peek(n).kind == comma || r.peek(n).is("and", "or") || n > 0 && r.peek(n).is("on", "from") {
			n++
		}
		p, ok := r.p.w.providerNamed(r.peek(n).lower)
		if (n == 0) != (len(at.providers) == 0) || !ok || r.peek(n).kind != word {
			break
		}
		at.providers = unique(append(at.providers, p))
		if r.pos += n + 1; r.peek(0).is("provider") {
			r.pos++
		}
	}
	if len(at.providers) == 0 {
		*at, r.pos = scope{}, start
	}
	return len(at.providers) > 0
}
