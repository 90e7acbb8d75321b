package offline

import (
	"slices"
	"strings"
)

// selection is a set of models in words: all models that match a phrase and no exception, on
// some providers. What a phrase means is up to the window's tools.
type selection struct {
	models, except []string
	at             string   // the providers, as an argument of the tools; "" if none was named
	pronoun        bool     // "it", "them": what the previous request named
	unclear        []string // words that could name several things
}

// named reports whether a selection contains a phrase, an exception or a pronoun.
func (s selection) named() bool { return len(s.models)+len(s.except) > 0 || s.pronoun }

// blank reports whether a phrase of a selection is "*" or starts with "newest".
func (s selection) blank() bool {
	return slices.ContainsFunc(s.models, func(m string) bool { return m == everything || strings.HasPrefix(m, newest) })
}

const (
	everything = "*"
	newest     = "newest"
)

// item is a phrase that is being read.
type item struct {
	words  []string // parts of names, and conditions
	all    bool     // every model
	some   bool     // "all" or "the" precedes it: without words, it means every model
	noun   bool     // "models" follows, so the words mean more than the model with this id
	newest []string // "newest", and the count if one was given
}

func (it item) nothing() bool { return len(it.words)+len(it.newest) == 0 && !it.all }

// phrase returns the item in the syntax of plan_rules and find_models.
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

// isName reports whether a word is not a condition.
func isName(word string) bool { return !conditions.MatchString(word) }

// reader reads a selection word by word.
type reader struct {
	*window
	words     []string // what is still to be read, and "" for the end
	sel       selection
	items     []item
	owners    []string // providers without a preposition: "openai models"
	cur       item
	joined    string   // the comma or conjunction before the item
	newest    []string // "the newest Claude and GPT models" are the newest of both
	excepting bool
}

// selection reads the models that the words describe.
func (w *window) selection(words []string) selection {
	r := &reader{window: w, words: append(slices.Clone(words), "")}
	for len(r.words) > 1 {
		r.next()
	}
	r.flush("")
	for _, it := range r.items {
		r.sel.models = append(r.sel.models, it.phrase())
	}
	if r.sel.at == "" {
		if r.sel.at = strings.Join(r.owners, " "); len(r.owners) > 0 && len(r.items) == 0 {
			r.sel.models = []string{everything}
		}
	}
	return r.sel
}

// next reads one word, or several that belong together.
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
		for is(r.words[0], "for not on") {
			r.words = r.words[1:]
		}
		r.cur.all = r.cur.all || r.cur.noun || len(r.items)+len(r.owners) == 0 && !r.sel.pronoun
		r.flush("")
		r.excepting, r.newest = true, nil
	case in(word, "prepositions") && r.place():
	case in(word, "pronouns") && r.pronounHere():
		r.sel.pronoun = true
	case in(word, "nouns"):
		r.cur.noun = true
	case in(word, "determiners"):
		r.cur.some, r.newest = true, nil
	case is(word, "of with again instead"):
	case word == "useless": // "unused models"
		r.cur.words = append(r.cur.words, "unused:30d")
	case in(word, "functions"): // no name: the sentence is not one of ours
		r.sel.unclear = append(r.sel.unclear, text)
	case word == newest:
		r.newest = []string{newest}
		if number(r.words[0]) > 0 {
			r.newest, r.words = append(r.newest, r.words[0]), r.words[1:]
		}
		r.cur.newest = r.newest
	default:
		r.name(word)
	}
}

// name reads a word that is the name of a provider, or part of the name of a model.
func (r *reader) name(word string) {
	owner, isOwner := r.providerNamed(word)
	switch {
	case isOwner && r.excepting && r.cur.nothing() && (r.words[0] == "" || is(r.words[0], ", and model models")):
		r.sel.at += " -" + owner
	case isOwner && !r.excepting && r.sel.at != "": // "mini on openai gemini flash"
		r.sel.unclear = append(r.sel.unclear, owner)
	case isOwner && !r.excepting:
		r.owners = append(r.owners, owner)
	default:
		r.cur.words, r.cur.newest = append(r.cur.words, word), r.newest
	}
}

// flush ends the current item; joiner is the word after it.
func (r *reader) flush(joiner string) {
	it, joined, n := r.cur, r.joined, len(r.items)
	r.cur, r.joined = item{}, joiner
	it.all = it.all || (it.noun || it.some) && len(it.words)+len(r.owners) == 0 && !r.excepting
	fact := len(it.words) > 0 && !it.noun && !slices.ContainsFunc(it.words, isName)
	if fact && n > 0 && joined != "" {
		fact = joined != "or" && slices.ContainsFunc(r.items[n-1].words, conditions.MatchString)
	}
	switch {
	case it.nothing():
	case r.excepting:
		r.sel.except = append(r.sel.except, it.phrase())
	case n > 0 && fact: // "with tools and 100k context"
		r.items[n-1].words = append(r.items[n-1].words, it.words...)
	case n > 0 && joined == "" && r.sel.at != "": // "mini on openai gemini flash"
		r.sel.unclear = append(r.sel.unclear, it.phrase())
	default:
		r.items = append(r.items, it)
	}
}

// pronounHere reports whether the pronoun just read stands on its own, unlike "that" in
// "that contain x".
func (r *reader) pronounHere() bool {
	next := r.words[0]
	alone := next == "" || in(next, "prepositions") || in(next, "nouns") || is(next, ", and or except but again instead")
	return alone && len(r.cur.words)+len(r.cur.newest)+len(r.owners) == 0 && !r.cur.noun && !r.cur.some
}

// place reads providers after a preposition, such as "every provider" or "gemini and
// openai". It returns false, and reads nothing, if there are none.
func (r *reader) place() bool {
	var named []string
	n := 0 // words read
reading:
	for i, word := range r.words {
		p, ok := r.providerNamed(word)
		switch {
		case ok && (n == 0 || i > n):
			named, n = append(named, p), i+1
		case n > 0 && n == i && word == "provider":
			n++
		case n == 0 || !is(word, ", and or on"):
			break reading
		}
	}
	if n == 0 {
		return false
	}
	without := r.excepting && r.cur.nothing() && !r.cur.noun       // "except on gemini"
	if !without && len(r.owners) == 1 && r.owners[0] != named[0] { // "gemini models on openrouter"
		r.cur.words, r.owners = append(r.owners, r.cur.words...), nil
	}
	r.flush("")
	switch {
	case without:
		r.sel.at += " -" + strings.Join(named, " -")
	case r.sel.at != "": // "mini on openai except gpt-5-mini and flash on gemini"
		r.sel.unclear = append(r.sel.unclear, named...)
	default:
		r.sel.at = strings.Join(named, " ")
	}
	r.words = r.words[n:]
	return true
}
