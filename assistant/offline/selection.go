package offline

import (
	"slices"
	"strings"
	"unicode"
)

// selection is a set of models in words: all that fit one of the items and none
// of the exceptions, on the providers of a scope.
type selection struct {
	items   []item
	except  []item
	scope   scope
	pronoun bool        // "it", "them": what the previous request named
	more    []selection // with providers of their own: "mini on openai and flash on gemini"
	unclear []string    // words that could name several providers
}

// scope is the providers that a request names; the zero value names none.
type scope struct {
	providers []string // as the window calls them
	every     bool     // all of them
	major     bool     // of all, those of well-known vendors
	without   []string // of all, not these
}

// named reports whether a selection names models, or an exception from none.
func (s selection) named() bool { return len(s.items)+len(s.except) > 0 || s.pronoun }

func (s scope) empty() bool { return len(s.providers) == 0 && !s.every && len(s.without) == 0 }

// all reports whether every provider is meant, with or without exceptions.
func (s scope) all() bool { return s.every || len(s.without) > 0 }

func (s *scope) merge(o scope) {
	s.providers = unique(append(s.providers, o.providers...))
	s.without = append(s.without, o.without...)
	s.every, s.major = s.every || o.every, s.major || o.major
}

// majorProviders are the names of the providers of well-known vendors.
var majorProviders = wordSet("openai anthropic gemini google vertex vertexai xai mistral deepseek meta cohere moonshot zai qwen minimax perplexity")

// item is one set of a selection: the models that have all its words in their names.
type item struct {
	words    []term
	provider string // "openai models"
	all      bool   // every model
	family   bool   // "models" followed: not just the one of this id
	newest   bool   // of these, the newest
	count    int    // how many of the newest; 0: all that share the highest version
}

func (it item) empty() bool { return len(it.words) == 0 && it.provider == "" && !it.all && !it.newest }

// texts are the words of an item.
func (it item) texts() []string {
	var out []string
	for _, w := range it.words {
		out = append(out, w.text)
	}
	return out
}

func (it item) text() string { return strings.Join(it.texts(), " ") }

// term is one word of an item.
type term struct {
	text     string
	verbatim bool // quoted or with wildcards: used as it is
}

var (
	determiners  = wordSet("all every each any both those these this that which what is whose")
	modelNouns   = wordSet("model models version versions one ones variant variants family families series llm llms containing contain contains including named called")
	pronouns     = wordSet("it them they those these that this")
	prepositions = wordSet("on from by for at in across of under with")
)

// reader reads a selection token by token.
type reader struct {
	window    *window
	tokens    []token
	pos       int
	sel       selection
	cur       item
	seen      bool // cur has a determiner or a noun
	whole     bool // cur has a determiner, so "the newest" before it does not apply to it
	excepting bool
	scoped    int // how many items stand before the providers of sel; 0: none does
	parts     []selection
}

// selection reads which models tokens mean.
func (w *window) selection(tokens []token) selection {
	r := &reader{window: w, tokens: tokens}
	for r.pos < len(tokens) {
		r.next()
	}
	r.flush()
	return r.joined()
}

// joined is the first selection, with those that have other providers.
func (r *reader) joined() selection {
	all := append(r.parts, r.sel)
	out := all[0]
	for i, next := range all[1:] {
		switch before := all[i].scope; {
		case len(next.items) == 0: // nothing but providers and exceptions
			out.unclear = append(append(out.unclear, next.scope.providers...), next.unclear...)
			continue
		case !next.scope.empty():
		case len(before.providers) == 1:
			next.scope = before
			all[i+1].scope = before
		default:
			for _, it := range next.items {
				out.unclear = append(out.unclear, it.text())
			}
		}
		out.unclear = append(out.unclear, next.unclear...)
		out.more = append(out.more, next)
	}
	return out
}

// split begins a selection with other providers: what was read has its own.
func (r *reader) split() {
	r.parts, r.sel, r.scoped = append(r.parts, r.sel), selection{}, 0
}

// scope reads providers, of the items before them or after them.
func (r *reader) scope() bool {
	read := *r
	if n := len(r.sel.items); !r.excepting && n > 0 && !r.sel.scope.empty() && (r.scoped == 0 || r.scoped <= n && !r.cur.empty()) {
		r.split()
	}
	if !r.readScope(&r.sel.scope) {
		*r = read
		return false
	}
	r.scoped = len(r.sel.items)
	if !r.cur.empty() {
		r.scoped++
	}
	return true
}

// peek is the token after the next n; a stop after the end.
func (r *reader) peek(n int) token {
	if r.pos+n < len(r.tokens) {
		return r.tokens[r.pos+n]
	}
	return token{Kind: stop}
}

// next reads one token, or the few that belong together.
func (r *reader) next() {
	t := r.peek(0)
	r.pos++
	switch {
	case t.Kind != comma && t.Text == "*", t.Is("everything", "anything"):
		r.cur.all = true
	case t.Kind == quoted, t.Kind == plain && hasWildcard(t.Text):
		r.cur.words = append(r.cur.words, term{t.Text, true})
	case t.Kind == comma, t.Is("and", "or", "plus", "&", "+"):
		r.flush()
	case t.Is("except", "but", "not"):
		for r.peek(0).Is("for", "not", "on") {
			r.pos++
		}
		r.seen = r.seen || len(r.sel.items) == 0 && !r.sel.pronoun
		r.flush()
		r.excepting = true
	case t.Is("everywhere"):
		r.sel.scope.every = true
	case t.In(prepositions) && r.scope():
	case t.In(pronouns) && r.pronounHere():
		r.sel.pronoun = true
	case t.In(modelNouns):
		r.cur.family, r.seen = true, true
	case t.In(determiners):
		r.seen, r.whole = true, true
	case t.Is("newest"):
		r.cur.newest = true
		if n := number(r.peek(0).Canon); n > 0 {
			r.cur.count = n
			r.pos++
		}
	case number(t.Canon) > 0 && r.cur.empty() && r.peek(0).Is("newest"):
		r.cur.count = number(t.Canon)
	case t.Is("of", "with", "again", "instead"):
	default:
		r.word(strings.ToLower(t.Text))
	}
}

// word adds a word of a name, or a provider: "openai models".
func (r *reader) word(text string) {
	n := len(r.cur.words)
	if p, ok := r.window.providerNamed(text); ok && r.cur.provider == "" {
		r.cur.provider = p
	} else if n > 0 && unicode.IsDigit(rune(text[0])) && !r.cur.words[n-1].verbatim { // "gpt 4"
		r.cur.words[n-1].text += "-" + text
	} else {
		r.cur.words = append(r.cur.words, term{text: text})
	}
}

// flush ends an item.
func (r *reader) flush() {
	it := r.cur
	it.all = it.all || len(it.words) == 0 && (it.provider != "" || r.seen)
	if n := len(r.sel.items); n > 0 && !r.excepting && len(it.words) > 0 && !it.newest && !r.whole { // "the newest Claude and GPT models"
		it.newest, it.count = r.sel.items[n-1].newest, r.sel.items[n-1].count
	}
	switch {
	case it.empty():
	case r.excepting && it.provider != "" && len(it.words) == 0 && !it.newest:
		r.sel.scope.without = append(r.sel.scope.without, it.provider)
	case r.excepting:
		r.sel.except = append(r.sel.except, it)
	default:
		if r.scoped > 0 && len(r.sel.items) >= r.scoped { // it stands after the providers of the others
			r.split()
		}
		r.sel.items = append(r.sel.items, it)
	}
	r.cur, r.seen, r.whole = item{}, false, false
}

// pronounHere reports whether a pronoun stands alone: that of "that contain x" does not.
func (r *reader) pronounHere() bool {
	after := r.peek(0)
	alone := after.Kind != plain || after.In(prepositions) || after.Is("and", "or", "except", "but", "again", "instead") || after.In(modelNouns)
	return r.cur.empty() && !r.seen && alone
}

// readScope reads providers after a preposition: "every provider", "all major
// providers", "gemini and openai"; false, and nothing is read, when there is none.
func (r *reader) readScope(to *scope) bool {
	start := r.pos
	n := 0
	if r.peek(n).Is("all", "every", "each", "any") {
		n++
	}
	major := r.peek(n).Is("major")
	if major {
		n++
	}
	if n > 0 && r.peek(n).Is("provider", "providers") {
		to.every, to.major = true, to.major || major
		r.pos += n + 1
		return true
	}
	for n := 0; ; n = 0 {
		for r.pos > start && (r.peek(n).Kind == comma || r.peek(n).Is("and", "or", "on")) {
			n++
		}
		p, ok := r.window.providerNamed(r.peek(n).Canon)
		if !ok || r.pos > start && n == 0 {
			return r.pos > start
		}
		if r.excepting && !r.cur.empty() && len(to.providers) > 0 && !slices.Contains(to.providers, p) {
			r.sel.unclear = append(r.sel.unclear, p) // "mini on openai except gpt-5-mini and flash on gemini"
		}
		if r.excepting && r.cur.empty() {
			to.without = append(to.without, p) // "except on gemini"
		} else {
			to.providers = unique(append(to.providers, p))
		}
		if r.pos += n + 1; r.peek(0).Is("provider") {
			r.pos++
		}
	}
}
