package offline

import (
	"strconv"
	"strings"
)

// maxSelectors bounds one list; a longer one is cut and the answer says so by
// naming what it did.
const maxSelectors = 200

// selectors parses `list [except list]`.
func selectors(toks []token) (what, except []selector) {
	toks = dropClosings(toks)
	at, skip := exceptAt(toks)
	if at < 0 {
		return selectorList(toks), nil
	}
	return selectorList(toks[:at]), selectorList(toks[at+skip:])
}

// exceptAt finds where the exceptions begin and how many words introduce them.
func exceptAt(toks []token) (at, skip int) {
	for i, t := range toks {
		if t.lexeme != word {
			continue
		}
		next := func(n int) string {
			if i+n < len(toks) && toks[i+n].lexeme == word {
				return toks[i+n].lower
			}
			return ""
		}
		switch {
		case exceptWords[t.lower]:
			if next(1) == "for" {
				return i, 2
			}
			return i, 1
		case t.lower == "other" && next(1) == "than", t.lower == "apart" && next(1) == "from",
			t.lower == "but" && next(1) == "not", t.lower == "and" && next(1) == "not", t.lower == "not" && next(1) == "including",
			t.lower == "aside" && next(1) == "from":
			return i, 2
		case t.lower == "but", t.lower == "not" && i > 0:
			return i, 1
		}
	}
	return -1, 0
}

// selectorList parses selectors joined by commas, "and", "or". What is said
// once ("newest", "models", "from openai", "containing") counts for the whole
// list unless an item says otherwise.
func selectorList(toks []token) []selector {
	var out []selector
	sticky := selector{}
	lead := asWord
	start := 0
	for i := 0; i <= len(toks) && len(out) < maxSelectors; i++ {
		if i < len(toks) && toks[i].lexeme != comma && !joins(toks[i]) && toks[i].lower != "or" && toks[i].lower != "nor" {
			continue
		}
		s, f, ok := oneSelector(toks[start:i], lead)
		start, lead = i+1, f
		if !ok {
			continue
		}
		if s.newest || s.old {
			sticky.newest, sticky.old, sticky.count = s.newest, s.old, s.count
		} else if len(s.terms) > 0 && s.terms[0].form != asTyped {
			s.newest, s.old, s.count = sticky.newest, sticky.old, sticky.count
		}
		out = append(out, s)
	}
	for i := len(out) - 2; i >= 0; i-- { // "mini and nano models from openai"
		if out[i].provider == "" {
			out[i].provider = out[i+1].provider
		}
		out[i].plural = out[i].plural || out[i+1].plural && !out[i].exact()
	}
	return out
}

// exact reports a selector that is one literal id or pattern.
func (s selector) exact() bool { return len(s.terms) == 1 && s.terms[0].form == asTyped }

// reader walks the tokens of one selector.
type reader struct {
	toks []token
	pos  int
	form form
	s    selector
}

// oneSelector parses one item of a list. form is how its words are to be taken
// ("containing a or b"); the form in force at its end is returned.
func oneSelector(toks []token, f form) (selector, form, bool) {
	r := &reader{toks: toks, form: f}
	universal := false
	for r.pos < len(r.toks) {
		t := r.toks[r.pos]
		switch {
		case t.lexeme == quoted:
			f := r.form
			if f == asWord {
				f = asTyped
			}
			r.term(t.text, f)
			r.pos++
		case r.newest(), r.place(), r.modifier():
		case t.lower == "all" || t.lower == "every" || everything[t.lower]:
			universal = true
			r.pos++
		case t.lower == "else" || t.lower == "rest" || t.lower == "others":
			universal = true
			r.pos++
		case t.lower == "each":
			r.s.each = true
			r.pos++
		case nouns[t.lower]:
			r.s.plural = r.s.plural || plurals[t.lower]
			if len(r.s.terms) == 0 && !universal {
				r.s.all = true
			}
			r.pos++
		case pronouns[t.lower] && len(r.toks) == 1:
			r.s.pronoun = true
			r.pos++
		case determiners[t.lower]:
			r.pos++
		default:
			r.term(t.text, r.form)
			r.pos++
		}
	}
	return r.finish(universal)
}

// finish settles what the words together mean.
func (r *reader) finish(universal bool) (selector, form, bool) {
	s := r.s
	if len(s.terms) == 1 && s.terms[0].text == "*" {
		s.terms, universal = nil, true
	}
	if len(s.terms) == 0 {
		s.all = s.all || universal || s.newest || s.old || s.provider != ""
	} else {
		s.all = false
	}
	s.plain = universal || s.newest
	ok := s.all || s.pronoun || len(s.terms) > 0
	return s, r.form, ok
}

func (r *reader) term(text string, f form) {
	if f == asWord && wild(text) {
		f = asTyped
	}
	r.s.terms = append(r.s.terms, term{text, f})
}

// newest takes "newest [N] [of [each] [major] provider]" and "old".
func (r *reader) newest() bool {
	t := r.toks[r.pos]
	switch {
	case newestWords[t.lower]:
		r.s.newest = true
		r.pos++
	case t.lower == "most" && r.peek(1) == "recent":
		r.s.newest = true
		r.pos += 2
	case oldWords[t.lower]:
		r.s.old = true
		r.pos++
		return true
	case t.lower == "major" || t.lower == "big" && r.peek(1) == "provider":
		r.s.major = true
		r.pos++
		return true
	case (t.lower == "provider" || t.lower == "providers" || t.lower == "vendor" || t.lower == "vendors") && (r.s.each || r.s.major || r.s.newest):
		r.s.each = true
		r.pos++
		return true
	case r.pos+1 < len(r.toks) && newestWords[r.peek(1)] && number(t.lower) > 0: // "two newest"
		r.s.count = number(t.lower)
		r.pos++
		return true
	default:
		return false
	}
	if n := number(r.peek(0)); n > 0 {
		r.s.count = n
		r.pos++
	}
	return true
}

// number reads a count; version-like words ("4", "3.5") after a family are
// read elsewhere, since a count follows "newest" only.
func number(w string) int {
	if n, ok := numbers[w]; ok {
		return n
	}
	if n, err := strconv.Atoi(w); err == nil && n > 0 && n < 1000 {
		return n
	}
	return 0
}

func (r *reader) peek(n int) string {
	if r.pos+n < len(r.toks) && r.toks[r.pos+n].lexeme == word {
		return r.toks[r.pos+n].lower
	}
	return ""
}

// place takes "from openai", "on the openai provider", "of each provider".
func (r *reader) place() bool {
	t := r.toks[r.pos]
	if !placeWords[t.lower] && t.lower != "of" {
		return false
	}
	i := r.pos + 1
	for i < len(r.toks) && (r.toks[i].lower == "the" || r.toks[i].lower == "provider" || r.toks[i].lower == "all") {
		i++
	}
	if i >= len(r.toks) {
		r.pos = i
		return true
	}
	name := r.toks[i].lower
	if name == "each" || name == "every" || name == "major" || name == "providers" || t.lower == "of" && !providerWord(name) {
		r.s.each = name == "each" || name == "every" || r.s.each
		r.pos++
		return true
	}
	if set("their its it them name names id ids")[name] { // "in its name"
		r.pos = len(r.toks)
		return true
	}
	r.s.provider = r.toks[i].text
	r.pos = i + 1
	if r.peek(0) == "provider" {
		r.pos++
	}
	return true
}

func providerWord(w string) bool { _, ok := vendors[w]; return ok }

// modifier takes "with", "containing", "that contain", "starting with", … and
// sets how the words after it are read.
func (r *reader) modifier() bool {
	i := r.pos
	w := func(n int) string { return r.peek(n) }
	n := 0
	for w(n) == "that" || w(n) == "which" || w(n) == "whose" || w(n) == "name" || w(n) == "names" || w(n) == "id" || w(n) == "ids" {
		n++
	}
	f, m := asWord, 0
	switch v := w(n); {
	case v == "containing" || v == "contain" || v == "contains" || v == "including" || v == "include" || v == "includes" ||
		v == "having" || v == "have" || v == "has":
		f, m = asPart, 1
	case v == "with":
		f, m = asPart, 1
	case v == "matching" || v == "match" || v == "matches":
		f, m = asWord, 1
	case strings.HasPrefix(v, "start") || strings.HasPrefix(v, "begin"):
		f, m = asPrefix, 1
	case strings.HasPrefix(v, "end") && (w(n+1) == "in" || w(n+1) == "with" || w(n+1) == "on"):
		f, m = asSuffix, 1
	case v == "named" || v == "called":
		f, m = asWord, 1
	}
	if m == 0 {
		if n > 0 && i+n >= len(r.toks) { // a dangling "that", "names"
			r.pos += n
			return true
		}
		return false
	}
	r.pos += n + m
	for w(0) == "with" || w(0) == "in" && (f == asPrefix || f == asSuffix) || w(0) == "the" || w(0) == "word" || w(0) == "a" || w(0) == "name" {
		r.pos++
	}
	r.form = f
	return true
}
