package offline

import (
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
	return slices.ContainsFunc(s.models, func(m string) bool { return m == everything || strings.HasPrefix(m, newest) })
}

// scope is the providers that a request names; the zero value names none.
type scope struct {
	providers []string // as the window calls them; everything for all
	major     bool     // of all, those of well-known vendors
	without   []string // of all, not these
}

func (s scope) empty() bool { return s.asked()[0] == "" }

// asked are the values of a tool's provider that cover the scope: "" for the default.
func (s scope) asked() []string {
	switch {
	case len(s.providers) > 0:
		return s.providers
	case len(s.without) > 0:
		return []string{everything}
	}
	return []string{""}
}

// every reports whether every provider is meant, with or without exceptions.
func (s scope) every() bool { return slices.Contains(s.asked(), everything) }

// has reports whether a provider is one of the scope.
func (s scope) has(provider string) bool {
	const vendors = "openai anthropic gemini google vertex vertexai xai mistral deepseek meta cohere moonshot " +
		"zai qwen minimax perplexity"
	return (s.empty() || s.every() || slices.Contains(s.providers, provider)) &&
		!slices.Contains(s.without, provider) && (!s.major || is(strings.ToLower(provider), vendors))
}

const (
	everything  = "*"
	newest      = "newest"
	determiners = "all every each any both those these this that which what is whose"
	modelNouns  = "model models version versions one ones variant variants family families series llm llms " +
		"containing contain contains including named called"
	pronouns     = "it them they those these that this"
	prepositions = "on from by for at in across of under with"
)

// item is one phrase while it is read.
type item struct {
	words  []string // parts of names, and conditions
	all    bool     // every model
	some   bool     // "all" or "the" stood before it: of no words, every model
	noun   bool     // "models" followed: not just the one of this id
	newest []string // "newest" and how many
}

func (it item) nothing() bool { return len(it.words)+len(it.newest) == 0 && !it.all }

// phrase is the item as plan_rules and find_models take it.
func (it item) phrase() string {
	words := slices.Concat(it.newest, it.words)
	switch {
	case len(words) == 0:
		return everything
	case it.noun && slices.ContainsFunc(it.words, isName):
		words = append(words, "models")
	}
	return strings.Join(words, " ")
}

// isName reports whether a word is no condition.
func isName(word string) bool { return !conditions.MatchString(word) }

// reader reads a selection word by word.
type reader struct {
	*window
	words     []string
	sel       selection
	items     []item
	owners    []string // providers without a preposition: "openai models"
	cur       item
	joined    string   // the comma or conjunction before it
	newest    []string // "the newest Claude and GPT models" are the newest of both
	excepting bool
}

// selection reads which models words mean.
func (w *window) selection(words []string) selection {
	r := &reader{window: w, words: words}
	for len(r.words) > 0 {
		r.next()
	}
	r.flush("")
	for _, it := range r.items {
		r.sel.models = append(r.sel.models, it.phrase())
	}
	if r.sel.scope.empty() {
		if r.sel.scope.providers = unique(r.owners); len(r.owners) > 0 && len(r.items) == 0 {
			r.sel.models = []string{everything}
		}
	}
	return r.sel
}

// ahead is the next word, "" after the end.
func (r *reader) ahead() string { return append(slices.Clip(r.words), "")[0] }

// next reads one word, or the few that belong together.
func (r *reader) next() {
	word := r.words[0]
	r.words = r.words[1:]
	text, verbatim := strings.CutPrefix(word, quote)
	switch {
	case verbatim, isPattern(word) && word != everything, !isName(word):
		r.cur.words = append(r.cur.words, text)
	case is(word, "* everything anything"):
		r.cur.all = true
	case is(word, ", and or plus & +"):
		r.flush(word)
	case is(word, "except but not"):
		for is(r.ahead(), "for not on") {
			r.words = r.words[1:]
		}
		r.cur.all = r.cur.all || r.cur.noun || len(r.items)+len(r.owners) == 0 && !r.sel.pronoun
		r.flush("")
		r.excepting, r.newest = true, nil
	case is(word, prepositions) && r.place():
	case is(word, pronouns) && r.pronounHere():
		r.sel.pronoun = true
	case is(word, modelNouns):
		r.cur.noun = true
	case is(word, determiners):
		r.cur.some, r.newest = true, nil
	case is(word, "of with again instead"):
	case word == "useless": // "unused models"
		r.cur.words = append(r.cur.words, "unused:30d")
	case word == newest:
		r.newest = []string{newest}
		if number(r.ahead()) > 0 {
			r.newest, r.words = append(r.newest, r.ahead()), r.words[1:]
		}
		r.cur.newest = r.newest
	default:
		r.name(word)
	}
}

// name reads a word that is the name of a provider, or a part of the name of a model.
func (r *reader) name(word string) {
	owner, isOwner := r.providerNamed(word)
	switch {
	case isOwner && r.excepting && r.cur.nothing() && (r.ahead() == "" || is(r.ahead(), ", and model models")):
		r.sel.scope.without = append(r.sel.scope.without, owner)
	case isOwner && !r.excepting && len(r.sel.scope.providers) > 0: // "mini on openai gemini flash"
		r.sel.unclear = append(r.sel.unclear, owner)
	case isOwner && !r.excepting:
		r.owners = append(r.owners, owner)
	default:
		r.cur.words, r.cur.newest = append(r.cur.words, word), r.newest
	}
}

// flush ends an item; joiner is the word after it.
func (r *reader) flush(joiner string) {
	it, joined, n := r.cur, r.joined, len(r.items)
	r.cur, r.joined = item{}, joiner
	it.all = it.all || (it.noun || it.some) && len(it.words)+len(r.owners)+len(r.sel.scope.without) == 0
	fact := len(it.words) > 0 && !it.noun && !slices.ContainsFunc(it.words, isName)
	switch {
	case it.nothing():
	case r.excepting:
		r.sel.except = append(r.sel.except, it.phrase())
	case n > 0 && fact && (joined == "" || joined != "or" && slices.ContainsFunc(r.items[n-1].words, conditions.MatchString)):
		r.items[n-1].words = append(r.items[n-1].words, it.words...) // "with tools and 100k context"
	case n > 0 && joined == "" && len(r.sel.scope.providers) > 0: // "mini on openai gemini flash"
		r.sel.unclear = append(r.sel.unclear, it.phrase())
	default:
		r.items = append(r.items, it)
	}
}

// pronounHere reports whether a pronoun stands alone: that of "that contain x" does not.
func (r *reader) pronounHere() bool {
	alone := r.ahead() == "" || is(r.ahead(), prepositions+" , and or except but again instead "+modelNouns)
	return alone && len(r.cur.words)+len(r.cur.newest)+len(r.owners) == 0 && !r.cur.noun && !r.cur.some
}

// place reads providers after a preposition, "every provider" or "gemini and openai"; false,
// and nothing is read, when there is none.
func (r *reader) place() bool {
	var named scope
	rest := r.words
	for next := rest; ; next = rest {
		for len(next) > 0 && len(named.providers) > 0 && is(next[0], ", and or on") {
			next = next[1:]
		}
		if len(next) == 0 || len(named.providers) > 0 && len(next) == len(rest) {
			break
		}
		p, ok := r.providerNamed(next[0])
		if !ok {
			break
		}
		named.major = named.major || next[0] == "major-providers"
		named.providers, rest = append(named.providers, p), next[1:]
		if len(rest) > 0 && rest[0] == "provider" {
			rest = rest[1:]
		}
	}
	if len(named.providers) == 0 {
		return false
	}
	without := r.excepting && r.cur.nothing() && !r.cur.noun                 // "except on gemini"
	if !without && len(r.owners) == 1 && r.owners[0] != named.providers[0] { // "gemini models on openrouter"
		r.cur.words, r.owners = append(r.owners, r.cur.words...), nil
	}
	r.flush("")
	switch {
	case without:
		r.sel.scope.without = append(r.sel.scope.without, named.providers...)
	case !r.sel.scope.empty(): // "mini on openai except gpt-5-mini and flash on gemini"
		r.sel.unclear = append(r.sel.unclear, named.providers...)
	default:
		r.sel.scope = named
	}
	r.words = rest
	return true
}
