package offline

import (
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/tidwall/gjson"

	"winnow/assistant/nearest"
)

const maxProposals = 3 // maximum number of requests that an answer proposes

// propose suggests the possible requests in tries, with their effects, or else examples. It
// tries no more of them than it can suggest.
func (c *conversation) propose() {
	var found []suggestion
	waits := 0
	for i := 0; i < len(c.tries) && i < 2*maxProposals && len(found)+waits < maxProposals; i++ { // one that fails may add others
		request, made := c.tries[i], len(c.calls)
		effect, ok := c.effectOf(request)
		switch {
		case len(c.calls) > made:
			waits++
		case ok:
			found = append(found, suggestion{request + effect, request})
		}
	}
	switch {
	case len(c.calls) > 0:
	case len(found) > 0:
		c.suggest(didYouMean, found)
	default:
		c.suggestExamples()
	}
}

// suggest offers requests: below the answer if the prompt explains how, otherwise as a list in it.
func (c *conversation) suggest(head string, requests []suggestion) {
	var lines []string
	for _, r := range requests {
		c.offer(r.Label, r.Value)
		lines = append(lines, code(r.Value)+strings.TrimPrefix(r.Label, r.Value))
	}
	if !c.canSuggest() {
		c.sayf("%s", bullets(head, lines))
	} else if head == didYouMean { // "yes" refers to it
		c.sayf("%s", head)
	}
}

// canSuggest reports whether the prompt explains how an answer suggests messages.
func (c *conversation) canSuggest() bool { return strings.Contains(c.system, "SUGGESTED_VALUES") }

// suggestExamples suggests the first requests that work now.
func (c *conversation) suggestExamples() {
	var first []suggestion
	for _, r := range c.examples() {
		if len(first) < maxProposals && !strings.EqualFold(r, strings.TrimSpace(c.now.user)) {
			first = append(first, suggestion{r, r})
		}
	}
	c.suggest("These work:", first)
}

// examples returns the requests of the grammar that have a model or rule to work on.
func (w *window) examples() (out []string) {
	for _, r := range grammar()["requests"] {
		missing := false
		for slot, value := range w.slots {
			missing = missing || value == "" && strings.Contains(r, slot)
			r = strings.ReplaceAll(r, slot, value)
		}
		if !missing {
			out = append(out, clean(r))
		}
	}
	return out
}

// effectOf says what a request would do: ": hides 3 models on openai". ok is false if the
// request is not possible or has no effect, and until the tools that determine this have
// returned.
func (c *conversation) effectOf(request string) (effect string, ok bool) {
	clauses, _ := complete(c.parse(request), clause{})
	for _, s := range clauses {
		switch {
		case s.failed(), s.changesRules() && len(s.models) == 0:
			return "", false
		case !s.changesRules():
			ok = true
			continue
		}
		r := c.plans(s)
		if r != nil && len(clauses) == 1 && s.at == "" {
			c.tryElsewhere(request, r.data.Get("unmatched.0"))
		}
		if r == nil || !r.success {
			return "", false
		}
		for _, p := range r.data.Get("plans").Array() {
			does := p.Get("does").String()
			if s.at != "" { // the request says where
				does = strings.TrimSuffix(does, " on "+p.Get("provider").String())
			}
			if does != "" {
				effect, ok = effect+"; "+withCode(does), true
			}
		}
	}
	return strings.Replace(effect, "; ", ": ", 1), ok
}

// tryElsewhere adds the request to tries again for each provider on which its unmatched
// phrase would match.
func (c *conversation) tryElsewhere(request string, unmatched gjson.Result) {
	for _, p := range texts(unmatched.Get("elsewhere")) {
		c.tries = append(c.tries, request+" on "+p)
	}
}

// notUnderstood reports a request that was not understood, and adds similar ones to tries.
func (c *conversation) notUnderstood(s clause) {
	said := s.text
	if len(c.clauses) == 1 || !strings.Contains(strings.ToLower(c.now.user), said) { // in the user's own words
		said = c.now.user
	}
	language := ""
	if !english(c.now.user) {
		language = "I understand short requests in English only. "
	}
	c.sayf("I did not understand %s. %s%s", code(said), language, nothingChanged)
	if s.kind == "" {
		if near := closest(s.left[0]); near != "" {
			c.try(s, s.left[:1], near)
		}
	}
	c.try(s, s.left, "")
}

// cannot reports that a tool failed, and adds similar requests to tries.
func (c *conversation) cannot(s clause, r *result) {
	missed, text, left := r.data.Get("unmatched").Array(), outcome(r), []string(nil)
	for _, word := range texts(r.data.Get("unmatched.#.missing|@flatten")) {
		text = strings.ReplaceAll(text, code(word), code(c.wrote(word)))
	}
	if len(missed) > 0 || s.changesRules() {
		text += " " + nothingChanged
	}
	c.sayf("%s", text)
	for _, m := range missed {
		c.tryElsewhere(s.text, m)
		left = append(left, texts(m.Get("missing"))...)
		for _, near := range texts(m.Get("near")) {
			c.try(s, []string{m.Get("instead_of").String()}, near)
		}
	}
	if len(missed) > 0 {
		c.try(s, left, "")
	}
}

// try adds the message to tries with some words of a clause replaced. If replacement is "",
// it leaves out the words or, if there are several requests, the whole clause, unless no
// name would be left.
func (c *conversation) try(s clause, words []string, replacement string) {
	c.lost = true
	var said []string
	for _, o := range c.clauses {
		switch {
		case o.text != s.text && !o.failed():
			said = append(said, o.text)
		case o.text == s.text && (replacement != "" || len(c.clauses) == 1):
			var kept []string
			for word := range strings.FieldsSeq(s.text) {
				switch {
				case !slices.Contains(words, strings.TrimRight(word, ",")):
					kept = append(kept, word)
				case replacement != "":
					kept = append(kept, replacement)
				case len(kept) > 0 && is(kept[len(kept)-1], "and or"):
					kept = kept[:len(kept)-1]
				}
			}
			said = append(said, strings.Join(kept, " "))
		}
	}
	request := clean(strings.Join(said, " and "))
	vague := func(s clause) bool { // such as "hide models" of "hide claud models"
		return s.failed() || !s.changesRules() || len(s.models) == 0 || s.blank()
	}
	if request != "" && (replacement != "" || len(c.clauses) > 1 || !slices.ContainsFunc(c.parse(request), vague)) {
		c.tries = unique(append(c.tries, request))
	}
}

// wrote returns the user's own word for a word of the grammar.
func (c *conversation) wrote(word string) string {
	own := split(c.now.user)
	i := slices.IndexFunc(own, func(w string) bool { return synonyms()[w] == word })
	if i < 0 || slices.Contains(own, word) {
		return word
	}
	return own[i]
}

// english reports whether text contains a word of the grammar and only ASCII letters.
func english(text string) bool {
	foreign := func(r rune) bool { return r > unicode.MaxASCII && unicode.IsLetter(r) }
	known := func(w string) bool {
		return len(w) > 2 && (synonyms()[w] != "" || in(w, "nouns") || in(w, "determiners") || in(w, "functions") || in(w, "openings"))
	}
	return !strings.ContainsFunc(text, foreign) && slices.ContainsFunc(split(text), known)
}

// closest returns a word that can begin a request and that word probably misspells, or "".
func closest(word string) string {
	if len(word) < 4 || len(word) > 60 { // too short to tell, too long to compare
		return ""
	}
	to := synonyms()
	for _, w := range slices.Sorted(maps.Keys(to)) {
		if in(to[w], "begins") && !strings.Contains(w, " ") && len(w) > 2 && nearest.Distance(word, w) <= max(1, len(word)/4) {
			return w
		}
	}
	return ""
}
