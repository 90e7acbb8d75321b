package offline

import (
	"fmt"
	"slices"
	"strings"
)

// selection is a set of models in words: all that fit one of the phrases and none of the
// exceptions, on the providers of a scope. What a phrase means is up to the window's tools.
type selection struct {
	models, except []string
	scope          scope
	pronoun        bool     // "it", "them": what the previous request named
	unclear        []string // words that could name several things
}

// named reports whether a selection names models, or an exception from none.
func (s selection) named() bool { return len(s.models)+len(s.except) > 0 || s.pronoun }

// blank reports whether a selection says of no models what they are.
func (s selection) blank() bool {
	return slices.ContainsFunc(s.models, func(m string) bool { return m == "*" || strings.HasPrefix(m, "newest") })
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

// has reports whether a provider is one of the scope.
func (s scope) has(provider string) bool {
	const vendors = "openai anthropic gemini google vertex vertexai xai mistral deepseek meta cohere moonshot zai qwen minimax perplexity"
	return (len(s.providers) == 0 || slices.Contains(s.providers, provider)) && !slices.Contains(s.without, provider) && (!s.major || is(strings.ToLower(provider), vendors))
}

// asked are the values of a tool's provider that cover the scope: "" for the default.
func (s scope) asked() []string {
	switch {
	case len(s.providers) > 0:
		return s.providers
	case s.all():
		return []string{"*"}
	}
	return []string{""}
}

func (s *scope) merge(o scope) {
	s.providers, s.without = unique(append(s.providers, o.providers...)), append(s.without, o.without...)
	s.every, s.major = s.every || o.every, s.major || o.major
}

// item is one phrase while it is read.
type item struct {
	words, facts []string
	all          bool // every model
	noun         bool // "models" followed: not just the one of this id
	newest       bool
	count        int  // how many of the newest
	determined   bool // by "all" or "the": "the newest" before it does not apply to it
}

func (it item) blank() bool   { return len(it.words)+len(it.facts) == 0 }
func (it item) nothing() bool { return it.blank() && !it.all && !it.newest }

// phrase is the item as plan_rules and find_models take it.
func (it item) phrase() string {
	out := slices.Concat(it.words, it.facts)
	if it.noun && len(it.words) > 0 {
		out = append(out, "models")
	}
	switch {
	case it.newest && it.count > 0:
		out = append([]string{"newest", fmt.Sprint(it.count)}, out...)
	case it.newest:
		out = append([]string{"newest"}, out...)
	case len(out) == 0:
		return "*"
	}
	return strings.Join(out, " ")
}

const (
	determiners  = "all every each any both those these this that which what is whose"
	modelNouns   = "model models version versions one ones variant variants family families series llm llms containing contain contains including named called"
	pronouns     = "it them they those these that this"
	prepositions = "on from by for at in across of under with"
)

// reader reads a selection word by word.
type reader struct {
	window    *window
	words     []string
	sel       selection
	items     []item
	owners    []string // providers without a preposition: "openai models"
	cur       item
	excepting bool
	joined    string // the comma or conjunction before cur
}

// selection reads which models words mean.
func (w *window) selection(words []string) selection {
	r := &reader{window: w, words: words}
	for len(r.words) > 0 {
		r.next()
	}
	r.flush()
	for _, it := range r.items {
		r.sel.models = append(r.sel.models, it.phrase())
	}
	switch named := r.sel.scope.providers; {
	case r.sel.scope.empty():
		r.sel.scope.providers = unique(r.owners)
		if len(r.owners) > 0 && len(r.items) == 0 {
			r.sel.models = []string{"*"}
		}
	case len(r.owners) == 1 && len(r.items) == 0: // "gemini models on openrouter"
		r.sel.models = r.owners
	case slices.ContainsFunc(r.owners, func(p string) bool { return !slices.Contains(named, p) }):
		r.sel.unclear = append(r.sel.unclear, r.owners...)
	}
	return r.sel
}

// at is the word n places ahead, "" after the end.
func (r *reader) at(n int) string {
	if n < len(r.words) {
		return r.words[n]
	}
	return ""
}

// next reads one word, or the few that belong together.
func (r *reader) next() {
	word := r.words[0]
	r.words = r.words[1:]
	text, verbatim := strings.CutPrefix(word, quote)
	switch {
	case verbatim, isPattern(word) && word != "*":
		r.cur.words = append(r.cur.words, text)
	case conditions.MatchString(word):
		r.cur.facts = append(r.cur.facts, word)
	case is(word, "* everything anything"):
		r.cur.all = true
	case is(word, ", and or plus & +"):
		r.flush()
		r.joined = word
	case is(word, "except but not"):
		for is(r.at(0), "for not on") {
			r.words = r.words[1:]
		}
		r.cur.all = r.cur.all || r.cur.noun || len(r.items)+len(r.owners) == 0 && !r.sel.pronoun
		r.flush()
		r.excepting = true
	case word == "everywhere":
		r.sel.scope.every = true
	case is(word, prepositions) && r.scope():
	case is(word, pronouns) && r.pronounHere():
		r.sel.pronoun = true
	case is(word, modelNouns):
		r.cur.noun = true
	case is(word, determiners):
		r.cur.determined = true
	default:
		r.name(word)
	}
}

// name reads a word that is, or may be, part of a phrase.
func (r *reader) name(word string) {
	owner, isOwner := r.window.providerNamed(word)
	switch n := number(word); {
	case word == "useless": // "unused models"
		r.cur.facts = append(r.cur.facts, "unused:30d")
	case word == "newest":
		if r.cur.newest = true; number(r.at(0)) > 0 { // "newest 2"
			r.cur.count, r.words = number(r.at(0)), r.words[1:]
		}
	case n > 0 && r.cur.blank() && r.at(0) == "newest": // "2 newest"
		r.cur.newest, r.cur.count, r.words = true, n, r.words[1:]
	case is(word, "of with again instead"):
	case isOwner && r.excepting && r.cur.nothing() && (r.at(0) == "" || is(r.at(0), ", and model models")):
		r.sel.scope.without = append(r.sel.scope.without, owner)
	case isOwner && !r.excepting:
		r.owners = append(r.owners, owner)
	default:
		r.cur.words = append(r.cur.words, word)
	}
}

// flush ends an item.
func (r *reader) flush() {
	it, n := r.cur, len(r.items)
	it.all = it.all || it.blank() && (it.noun || it.determined) && len(r.owners)+len(r.sel.scope.without) == 0
	if n > 0 && !r.excepting && len(it.words) > 0 && !it.newest && !it.determined { // "the newest Claude and GPT models"
		it.newest, it.count = r.items[n-1].newest, r.items[n-1].count
	}
	joined := r.joined
	r.cur, r.joined = item{}, ""
	switch {
	case it.nothing():
	case r.excepting:
		r.sel.except = append(r.sel.except, it.phrase())
	case n > 0 && len(it.words) == 0 && !it.noun && len(it.facts) > 0 && (joined == "" || joined != "or" && len(r.items[n-1].facts) > 0): // "with tools and 100k context"
		r.items[n-1].facts = append(r.items[n-1].facts, it.facts...)
	case n > 0 && joined == "" && len(r.sel.scope.providers) > 0: // "mini on openai gemini flash"
		r.sel.unclear = append(r.sel.unclear, it.phrase())
	default:
		r.items = append(r.items, it)
	}
}

// pronounHere reports whether a pronoun stands alone: that of "that contain x" does not.
func (r *reader) pronounHere() bool {
	after := r.at(0)
	alone := after == "" || is(after, prepositions+" , and or except but again instead "+modelNouns)
	return r.cur.blank() && len(r.owners) == 0 && !r.cur.noun && !r.cur.determined && alone
}

// scope reads providers after a preposition: "every provider", "gemini and openai"; false,
// and nothing is read, when there is none.
func (r *reader) scope() bool {
	named, n := r.providers()
	if n == 0 {
		return false
	}
	without := r.excepting && r.cur.nothing() && !r.cur.noun // "except on gemini"
	r.flush()
	switch {
	case without:
		r.sel.scope.without = append(r.sel.scope.without, named.providers...)
	case !r.sel.scope.empty(): // "mini on openai except gpt-5-mini and flash on gemini"
		r.sel.unclear = append(r.sel.unclear, named.providers...)
	default:
		r.sel.scope.merge(named)
	}
	r.words = r.words[n:]
	return true
}

// providers reads the names of providers that come next: n words.
func (r *reader) providers() (named scope, n int) {
	if is(r.at(0), "all every each any") {
		n++
	}
	if named.major = r.at(n) == "major"; named.major {
		n++
	}
	if named.every = n > 0 && is(r.at(n), "provider providers"); named.every {
		return named, n + 1
	}
	named = scope{}
	for n = 0; ; n++ {
		next := n
		for n > 0 && is(r.at(next), ", and or on") {
			next++
		}
		p, ok := r.window.providerNamed(r.at(next))
		if !ok || n > 0 && next == n {
			return named, n
		}
		if named.providers, n = append(named.providers, p), next; r.at(n+1) == "provider" {
			n++
		}
	}
}
