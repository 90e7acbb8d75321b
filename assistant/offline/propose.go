package offline

import (
	"maps"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"winnow/assistant/nearest"
)

const maxProposals = 3 // requests that an answer proposes

// propose suggests the possible requests in tries, with their effects, or else examples.
func (c *conversation) propose() {
	var lines []string
	for i := 0; i < len(c.tries) && i < 2*maxProposals; i++ { // a request that fails may add others
		request := c.tries[i]
		if effect, ok := c.effectOf(request); ok && len(lines) < maxProposals {
			lines = append(lines, code(request)+effect)
			c.offer(request+effect, request)
		}
	}
	switch {
	case len(c.calls) > 0:
	case len(lines) > 0:
		c.sayf("%s", bullets(didYouMean, lines))
	default:
		c.examples(maxProposals)
	}
}

// examples lists the first examples of requests, and suggests some of them.
func (c *conversation) examples(most int) {
	var lines []string
	for _, r := range grammar()["requests"][:most] {
		c.offer(r, r)
		lines = append(lines, code(r))
	}
	c.sayf("%s", bullets("These work:", lines))
}

// effectOf says what a request would do: ": hides 3 models on openai". ok is false if it is
// not possible or has no effect, and while tools are called to determine that.
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
		for _, does := range texts(r.data.Get("plans.#.does")) {
			effect, ok = effect+"; "+withCode(does), true
		}
	}
	return strings.Replace(effect, "; ", ": ", 1), ok
}

// tryElsewhere adds a request to tries for each provider on which its phrase that matched
// nothing would match.
func (c *conversation) tryElsewhere(request string, unmatched gjson.Result) {
	for _, p := range texts(unmatched.Get("elsewhere")) {
		c.tries = append(c.tries, request+" on "+p)
	}
}

// notUnderstood reports a request that was not understood, and adds similar ones to tries.
func (c *conversation) notUnderstood(s clause) {
	said := s.text
	if len(c.clauses) == 1 { // quote the user's own words
		said = c.now.user
	}
	c.sayf("I did not understand %s. I understand short requests in English only. %s", code(said), nothingChanged)
	if near := closest(s.left[0]); s.kind == "" && near != "" {
		c.try(s, s.left[:1], near)
	}
	c.try(s, s.left, "")
}

// cannot reports that a tool failed, and adds similar requests to tries.
func (c *conversation) cannot(s clause, r *result) {
	missed, text, left := r.data.Get("unmatched").Array(), outcome(r), []string(nil)
	if len(missed) > 0 || s.changesRules() {
		text += " " + nothingChanged
	}
	c.sayf("%s", text)
	for _, m := range missed {
		c.tryElsewhere(s.text, m)
		for _, word := range texts(m.Get("missing")) {
			left = append(left, word)
			for _, near := range texts(m.Get("near")) {
				c.try(s, left[len(left)-1:], near)
			}
		}
	}
	if len(missed) > 0 {
		c.try(s, left, "")
	}
}

// try adds the message to tries with some words of a clause replaced by another. If by is "",
// it leaves the words out or, if there are several requests, the whole clause, unless no name
// would be left.
func (c *conversation) try(s clause, words []string, by string) {
	c.lost = true
	var said []string
	for _, o := range c.clauses {
		switch {
		case o.text != s.text && !o.failed():
			said = append(said, o.text)
		case o.text == s.text && (by != "" || len(c.clauses) == 1):
			var kept []string
			for word := range strings.FieldsSeq(s.text) {
				switch {
				case !slices.Contains(words, strings.TrimRight(word, ",")):
					kept = append(kept, word)
				case by != "":
					kept = append(kept, by)
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
	if request != "" && (by != "" || len(c.clauses) > 1 || !slices.ContainsFunc(c.parse(request), vague)) {
		c.tries = unique(append(c.tries, request))
	}
}

// closest returns the first word of a request that word probably misspells, or "".
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
