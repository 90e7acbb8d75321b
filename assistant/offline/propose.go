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
	longestWord  = 60 // no word that is misspelt is longer
)

// try notes a request that may be meant instead of one that cannot be done.
func (c *conversation) try(request string) { c.tries = unique(append(c.tries, clean(request))) }

// propose offers those of the noted requests that can be done, with their effect, and when
// there is none some examples. Nothing is proposed after a change.
func (c *conversation) propose() {
	if c.waiting() || !c.lost || c.now.changed() != "" {
		return
	}
	var lines []string
	for i := 0; i < len(c.tries) && i < 2*maxProposals; i++ { // one that fails may add others
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

// effectOf says what a request would do: ": hides 3 models on openai". ok is false when it
// cannot be done, when it would do nothing, and while calls are made to find that out.
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

// notUnderstood reports a request that was not understood, and notes what may be meant. The
// turn then changes nothing.
func (c *conversation) notUnderstood(s clause) {
	c.sayf("I did not understand %s. I understand short requests in English only. %s", code(s.text), nothingChanged)
	if s.kind == "" && len(s.left) > 0 {
		c.replace(s.left[0], closest(s.left[0]))
	}
	c.leaveOut(s, s.left)
}

// cannot reports that a tool knows no models for some words of a request, and notes what may
// be meant.
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

// replace notes the message with a word replaced by another.
func (c *conversation) replace(word, by string) {
	if by != "" && len(by)+len(word) < longestWord {
		c.try(wordIn(word).ReplaceAllString(c.now.user, "${1}"+by+"${2}"))
	}
}

// leaveOut notes the message without the words of a request that were not understood, and of
// several requests those that were.
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
	vague := func(s clause) bool { return s.failed() || len(s.models) == 0 || s.blank() } // "hide models" of "hide claud models"
	if len(c.clauses) > 1 || s.changesRules() && !slices.ContainsFunc(c.parse(said), vague) {
		c.try(strings.Join(strings.Fields(said), " "))
	}
}

// wordIn matches a word of a text, with an "and" before it.
func wordIn(word string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)(^|\s)(?:(?:and|or) )?` + regexp.QuoteMeta(word) + `($|[\s,.;!?])`)
}

// closest is the word that begins requests of which a word is a misspelling, one edit or two of a
// long word away; "" for none.
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
