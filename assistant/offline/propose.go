package offline

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"winnow/assistant"
	"winnow/assistant/nearest"
)

const (
	maxProposals = 3  // requests that an answer proposes
	longestWord  = 60 // longer words are not checked for misspellings
)

// try adds a request that the user may have meant instead of one that is not possible.
func (c *conversation) try(request string) { c.tries = unique(append(c.tries, clean(request))) }

// propose suggests the possible requests in tries, with their effects, or else some
// examples. It suggests nothing after a change.
func (c *conversation) propose() {
	if c.waiting() || !c.lost || c.now.changed() != "" {
		return
	}
	var lines []string
	for i := 0; i < len(c.tries) && i < 2*maxProposals; i++ { // a request that fails may add others
		request := c.tries[i]
		if effect, ok := c.effectOf(request); ok && len(lines) < maxProposals {
			lines = append(lines, code(request)+effect)
			c.offer(request+effect, request)
		}
	}
	switch {
	case c.waiting():
	case len(lines) > 0:
		c.sayf("%s", bullets("Did you mean this?", lines))
	default:
		c.examples(maxProposals)
	}
}

// effectOf says what a request would do: ": hides 3 models on openai". ok is false if it is
// not possible or has no effect, and while tools are called to determine that.
func (c *conversation) effectOf(request string) (effect string, ok bool) {
	clauses, _ := complete(c.parse(request), clause{})
	var parts []string
	for _, s := range clauses {
		switch {
		case s.failed(), s.changesRules() && len(s.models) == 0:
			return "", false
		case !s.changesRules():
			ok = true
			continue
		}
		plans, refused, done := c.plans(s)
		if refused != nil && len(clauses) == 1 && s.scope.empty() {
			for _, p := range texts(refused.data.Get("unmatched.0.elsewhere")) {
				c.try(request + " on " + p)
			}
		}
		if refused != nil || !done {
			return "", false
		}
		for _, p := range plans {
			if p.effect() != "" {
				does, _, _ := strings.Cut(p.Get("effects.0").String(), ";")
				parts, ok = append(parts, withCode(does)+" on "+clean(p.provider)), true
			}
		}
	}
	if more := len(parts) - maxProposals; more > 0 {
		parts = append(parts[:maxProposals], assistant.Counted(more, "more provider"))
	}
	return strings.TrimSuffix(": "+strings.Join(parts, "; "), ": "), ok
}

// notUnderstood reports a request that was not understood, and adds similar ones to tries.
// The turn then changes nothing.
func (c *conversation) notUnderstood(s clause) {
	c.sayf("I did not understand %s. I understand short requests in English only. %s", code(s.text), nothingChanged)
	if s.kind == "" && len(s.left) > 0 {
		c.replace(s.left[0], closest(s.left[0]))
	}
	c.leaveOut(s, s.left)
}

// cannot reports that a tool knows no models for some words of a request, and adds similar
// requests to tries.
func (c *conversation) cannot(s clause, r *result) {
	missed := r.data.Get("unmatched").Array()
	if len(missed) == 0 {
		c.sayf("%s", outcome(r, "That cannot be done"))
		return
	}
	c.sayf("%s %s", sentence(r.message), nothingChanged)
	var left []string
	for _, m := range missed {
		for _, p := range texts(m.Get("elsewhere")) {
			c.try(s.text + " on " + p)
		}
		for _, w := range texts(m.Get("missing")) {
			for _, near := range texts(m.Get("near")) {
				c.replace(w, near)
			}
			left = append(left, w)
		}
	}
	c.leaveOut(s, left)
}

// replace adds the message with one word replaced by another to tries.
func (c *conversation) replace(word, by string) {
	if by != "" && len(by)+len(word) < longestWord {
		c.try(wordIn(word).ReplaceAllString(c.now.user, "${1}"+by+"${2}"))
	}
}

// leaveOut adds a shorter message to tries: the requests that were understood or, if the
// message is a single request, the message without the words that were not understood.
func (c *conversation) leaveOut(s clause, left []string) {
	c.lost = true
	said := c.now.user
	for _, w := range left {
		said = wordIn(w).ReplaceAllString(said, "$1$2")
	}
	if len(c.clauses) > 1 {
		var rest []string
		for _, o := range c.clauses {
			if o.text != s.text && !o.failed() && o.selects() {
				rest = append(rest, o.text)
			}
		}
		said = strings.Join(rest, " and ")
	}
	vague := func(s clause) bool { // such as "hide models" of "hide claud models"
		return s.failed() || len(s.models) == 0 || s.blank()
	}
	if len(c.clauses) > 1 || s.changesRules() && !slices.ContainsFunc(c.parse(said), vague) {
		c.try(strings.Join(strings.Fields(said), " "))
	}
}

// wordIn matches a word of a text, with an "and" before it.
func wordIn(word string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)(^|\s)(?:(?:and|or) )?` + regexp.QuoteMeta(word) + `($|[\s,.;!?])`)
}

// closest returns the first word of a request that word probably misspells, by one edit or,
// in a long word, two; "" if there is none.
func closest(word string) string {
	if len(word) < 4 || len(word) > longestWord {
		return ""
	}
	to := synonyms()
	for _, w := range slices.Sorted(maps.Keys(to)) {
		if begins(to[w]) && !strings.Contains(w, " ") && len(w) > 2 && nearest.Distance(word, w) <= max(1, len(word)/4) {
			return w
		}
	}
	return ""
}
