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
	unclear []string    // words that could name several things
}

// named reports whether a selection names models, or an exception from none.
func (s selection) named() bool { return len(s.items)+len(s.except) > 0 || s.pronoun }

// isCondition reports whether find_models can tell what the selection holds for.
func (s selection) isCondition() bool {
	return len(s.except) == 0 && !slices.ContainsFunc(s.items, func(it item) bool { return it.blank() || it.newest })
}

// scope is the providers that a request names; the zero value names none.
type scope struct {
	providers []string // as the window calls them
	every     bool     // all of them
	major     bool     // of all, those of well-known vendors
	without   []string // of all, not these
}

func (s scope) empty() bool { return len(s.providers) == 0 && !s.all() }

// all reports whether every provider is meant, with or without exceptions.
func (s scope) all() bool { return s.every || len(s.without) > 0 }

func (s *scope) merge(o scope) {
	s.providers, s.without = unique(append(s.providers, o.providers...)), append(s.without, o.without...)
	s.every, s.major = s.every || o.every, s.major || o.major
}

// majorProviders are the names of the providers of well-known vendors.
var majorProviders = wordSet("openai anthropic gemini google vertex vertexai xai mistral deepseek meta cohere moonshot zai qwen minimax perplexity")

// item is one set of a selection: the models that have all its words in their names and
// that all its conditions hold for.
type item struct {
	words    []term
	conds    []string // price>10
	provider string   // "openai models"
	all      bool     // every model
	family   bool     // "models" followed: not just the one of this id
	newest   bool     // of these, the newest
	count    int      // how many of the newest; 0: all that share the highest version
}

// term is one word of an item.
type term struct {
	text     string
	verbatim bool // quoted or with wildcards: used as it is
}

// blank reports whether an item has neither words nor conditions.
func (it item) blank() bool { return len(it.words)+len(it.conds) == 0 }

// texts are the words of an item.
func (it item) texts() (out []string) {
	for _, w := range it.words {
		out = append(out, w.text)
	}
	return append(out, it.conds...)
}

// nothing, onlyProvider and onlyFacts report what an item was said with.
func (it item) nothing() bool      { return it.blank() && it.provider == "" && !it.all && !it.newest }
func (it item) onlyProvider() bool { return it.blank() && it.provider != "" && !it.newest }
func (it item) onlyFacts() bool {
	return len(it.conds) > 0 && len(it.words) == 0 && it.provider == "" && !it.family
}

func (it item) text() string { return strings.Join(it.texts(), " ") }

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
	done      []selection // with providers of their own
	cur       item
	seen      bool // cur has a determiner or a noun
	whole     bool // cur has a determiner, so "the newest" before it does not apply to it
	excepting bool
	scoped    bool // the providers stand after the items: another item is another selection
	joined    bool // a comma or a conjunction stands before cur
	or        bool // it is an "or"
}

// selection reads which models tokens mean.
func (w *window) selection(tokens []token) selection {
	r := &reader{window: w, tokens: tokens}
	for r.pos < len(tokens) {
		r.next()
	}
	r.flush()
	all := append(r.done, r.sel)
	for i := range all[1:] {
		switch before, next := all[i].scope, &all[i+1]; {
		case len(next.items) == 0: // nothing but providers and exceptions
			next.unclear = append(next.unclear, next.scope.providers...)
		case next.scope.empty() && len(before.providers) == 1:
			next.scope = before
		case next.scope.empty():
			for _, it := range next.items {
				next.unclear = append(next.unclear, it.texts()...)
			}
		}
		all[0].unclear = append(all[0].unclear, all[i+1].unclear...)
	}
	all[0].more = all[1:]
	return all[0]
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
	switch n := number(t.Canon); {
	case t.Kind == condition:
		r.cur.conds = append(r.cur.conds, t.Canon)
	case t.Kind != comma && t.Text == "*", t.Is("everything", "anything"):
		r.cur.all = true
	case t.Kind == quoted, t.Kind == plain && hasWildcard(t.Text):
		r.cur.words = append(r.cur.words, term{t.Text, true})
	case t.Kind == comma, t.Is("and", "or", "plus", "&", "+"):
		r.flush()
		r.joined, r.or = true, t.Is("or")
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
	case t.Is("useless"): // "unused models"
		r.cur.conds = append(r.cur.conds, "unused:30d")
	case t.Is("newest") || n > 0 && r.cur.blank() && r.peek(0).Is("newest"): // "newest 2", "2 newest"
		r.newest(n)
	case t.Is("of", "with", "again", "instead"):
	default:
		r.word(strings.ToLower(t.Text))
	}
}

// newest reads "the newest" after its first word, the number n or "newest".
func (r *reader) newest(n int) {
	r.cur.newest = true
	if n > 0 {
		r.pos++
	} else if n = number(r.peek(0).Canon); n > 0 {
		r.pos++
	}
	r.cur.count = max(n, 0)
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
	it, to := r.cur, &r.sel.items
	if r.excepting {
		to = &r.sel.except
	}
	n := len(*to)
	facts := n > 0 && it.onlyFacts()
	it.all = it.all || it.blank() && (it.provider != "" || r.seen)
	if inherits := n > 0 && !r.excepting && len(it.words) > 0; inherits && !it.newest && !r.whole { // "the newest Claude and GPT models"
		it.newest, it.count = (*to)[n-1].newest, (*to)[n-1].count
	}
	r.cur, r.seen, r.whole = item{}, false, false
	switch joined := r.joined; {
	case it.nothing():
		return
	case r.excepting && it.onlyProvider():
		r.sel.scope.without = append(r.sel.scope.without, it.provider)
	case facts && (!joined || !r.or && len((*to)[n-1].conds) > 0): // "with tools and 100k context"
		(*to)[n-1].conds = append((*to)[n-1].conds, it.conds...)
	case r.scoped && !r.excepting && !joined: // "mini on openai gemini flash"
		r.sel.unclear = append(r.sel.unclear, append(it.texts(), it.provider)...)
	case r.scoped && !r.excepting: // it stands after the providers of the others
		r.done, r.sel, r.scoped = append(r.done, r.sel), selection{items: []item{it}}, false
	default:
		*to = append(*to, it)
	}
	r.joined, r.or = false, false
}

// pronounHere reports whether a pronoun stands alone: that of "that contain x" does not.
func (r *reader) pronounHere() bool {
	after := r.peek(0)
	alone := after.Kind != plain || after.In(prepositions) || after.Is("and", "or", "except", "but", "again", "instead") || after.In(modelNouns)
	return r.cur.blank() && r.cur.provider == "" && !r.seen && alone
}

// scope reads providers after a preposition: "every provider", "gemini and openai"; false,
// and nothing is read, when there is none.
func (r *reader) scope() bool {
	named, n := r.providers()
	if n == 0 {
		return false
	}
	without := r.excepting && r.cur.nothing() && !r.cur.family // "except on gemini"
	r.flush()
	switch {
	case without:
		r.sel.scope.without = append(r.sel.scope.without, named.providers...)
	case !r.sel.scope.empty(): // "mini on openai except gpt-5-mini and flash on gemini"
		r.sel.unclear = append(r.sel.unclear, named.providers...)
	default:
		r.sel.scope.merge(named)
		r.scoped = len(r.sel.items) > 0
	}
	r.joined = false
	r.pos += n
	return true
}

// providers reads the names of providers at the reader's place: n tokens.
func (r *reader) providers() (named scope, n int) {
	if r.peek(0).Is("all", "every", "each", "any") {
		n++
	}
	if named.major = r.peek(n).Is("major"); named.major {
		n++
	}
	if named.every = n > 0 && r.peek(n).Is("provider", "providers"); named.every {
		return named, n + 1
	}
	named = scope{}
	for n = 0; ; n++ {
		next := n
		for n > 0 && (r.peek(next).Kind == comma || r.peek(next).Is("and", "or", "on")) {
			next++
		}
		p, ok := r.window.providerNamed(r.peek(next).Canon)
		if !ok || n > 0 && next == n {
			return named, n
		}
		if named.providers, n = append(named.providers, p), next; r.peek(n + 1).Is("provider") {
			n++
		}
	}
}
