package offline

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"winnow/assistant"
	"winnow/assistant/nearest"
)

// maxProposals is how many requests an answer proposes.
const maxProposals = 3

// try notes a request that may be meant instead of one that cannot be done.
func (c *conversation) try(request string) { c.tries = append(c.tries, request) }

// propose offers those of the noted requests that can be done, with their effect, and when
// there is none some examples. Nothing is proposed after a change.
func (c *conversation) propose() {
	if c.waiting() || acted(c.now) || !c.lost && len(c.tries) == 0 {
		return
	}
	var lines []string
	for _, request := range unique(c.tries) {
		if effect, ok := c.effectOf(request); ok && len(lines) < maxProposals {
			lines = append(lines, code(request)+effect)
			c.offer(assistant.UpperFirst(request)+strings.ReplaceAll(effect, "`", ""), request)
		}
	}
	switch {
	case c.waiting():
	case len(lines) > 0:
		c.reportf("%s", bullets("Did you mean "+verbFor(len(lines), "this?", "one of these?"), lines))
	case c.lost:
		c.examples(c.steps[0].kind)
	}
}

// effectOf says what a request would do: " hides 3 models on openai". ok is false when it
// cannot be done, when it would do nothing, and while calls are made to find that out.
func (c *conversation) effectOf(request string) (effect string, ok bool) {
	sub := *c
	sub.paragraphs, sub.notes, sub.tries, sub.suggestions, sub.stuck = nil, nil, nil, nil, false
	sub.steps, _ = sub.complete(sub.parse(request), step{})
	defer func() { c.calls, c.stopped = sub.calls, sub.stopped }()
	if slices.ContainsFunc(sub.steps, step.failed) {
		return "", false
	}
	var edits []edit
	acts := false
	for _, s := range sub.steps {
		p := sub.planStep(s)
		if p == nil {
			return "", false
		}
		edits, acts = append(edits, p.edits...), acts || !s.kind.changesRules()
	}
	var parts, providers []string
	for _, e := range edits {
		if slices.Contains(providers, e.provider) {
			continue
		}
		providers = append(providers, e.provider)
		hidden, shown, n := sub.catalog(e.provider).effect(edits)
		if n > 0 {
			parts = append(parts, fmt.Sprintf("hides %s on %s", counted(max(n, len(hidden)), "model"), clean(e.provider)))
		}
		if len(shown) > 0 {
			parts = append(parts, fmt.Sprintf("shows %s on %s", counted(len(shown), "model"), clean(e.provider)))
		}
	}
	if len(parts) > maxProposals {
		parts = append(parts[:maxProposals-1], fmt.Sprintf("%d more", len(parts)-maxProposals+1))
	}
	return strings.TrimSuffix(": "+joinAnd(parts), ": "), len(edits) > 0 || acts
}

// notUnderstood reports which words of a request were not understood, and notes what may
// be meant. The turn then changes nothing.
func (c *conversation) notUnderstood(s step, left []string) {
	if c.lost = true; s.kind.in(unknown, followUp) {
		c.reportf("I did not understand %s: I know short requests in English only. %s", code(s.text), nothingChanged)
	} else {
		where := "here"
		if named := s.selection.scope.providers; len(named) > 0 {
			where = "on " + joinAnd(named)
		}
		c.reportf("Nothing %s matches %s. %s", clean(where), codes(unique(left)), nothingChanged)
	}
	replaced := func(word, by string) string {
		return clean(spaces.ReplaceAllString(regexp.MustCompile(`(?i)(^|[\s"'(,])`+regexp.QuoteMeta(word)+`($|[\s"'),.;!?])`).ReplaceAllString(c.now.User, "${1}"+strings.ReplaceAll(by, "$", "$$")+"${2}"), " "))
	}
	words, meant := left, c.meant
	if s.kind == unknown && len(left) > 0 {
		words, meant = left[:1], func(word string) string { return closest(word, verbs(c.forms)) }
	}
	for _, w := range words {
		if to := meant(w); to != "" {
			c.try(replaced(w, to))
		}
	}
	for _, w := range left {
		canon := strings.ToLower(w)
		if to := standsFor(canon); to != "" {
			canon = to
		}
		for _, cond := range strings.Fields(hints[canon]) {
			c.try(replaced(w, cond))
		}
		if pattern := "*" + strings.Trim(w, `"*`) + "*"; len(pattern) > 4 && len(c.shown.matching(pattern)) > 0 {
			c.try(replaced(w, `"`+pattern+`"`))
		}
	}
	var rest []string // the requests that can be done
	for _, o := range c.steps {
		if o.text != s.text && !o.failed() && o.kind.selects() {
			rest = append(rest, clean(o.text))
		}
	}
	if len(c.steps) > 1 {
		c.try(strings.Join(rest, " and "))
		return
	}
	said := c.now.User
	for _, w := range left {
		said = strings.TrimSpace(spaces.ReplaceAllString(regexp.MustCompile(`(?i)(^|\s)(?:(?:and|or) )?`+regexp.QuoteMeta(w)+`($|[\s,.;!?])`).ReplaceAllString(said, "$1$2"), " "))
	}
	specific := func(s step) bool { // "hide models" of "hide claud models" is not meant
		return len(s.selection.items) > 0 && !slices.ContainsFunc(s.selection.items, item.blank)
	}
	if steps := c.parse(said); !s.kind.in(unknown, followUp) && !slices.ContainsFunc(steps, func(s step) bool { return s.failed() || !specific(s) }) {
		c.try(clean(said))
	}
}

var spaces = regexp.MustCompile(`\s+`)

// hints are conditions that a word may stand for.
var hints = map[string]string{
	"expensive": "price>10 price>5", "cheap": "price<1", "old": "status:deprecated unused:90d", "outdated": "status:deprecated unused:90d", "legacy": "status:deprecated unused:90d",
	"stale": "unused:90d", "unpopular": "unused:30d", "obsolete": "status:deprecated", "popular": "used:7d", "big": "ctx>=200k", "large": "ctx>=200k", "small": "ctx<32k", "multimodal": "vision",
}

// lettersOnly matches words that can be misspelt: an id has digits or separators.
var lettersOnly = regexp.MustCompile(`^[a-z]{4,}$`)

// closest is the one of the known words that a word is a misspelling of: one edit, or
// two of a long word, away; "" when there is none. Known words and longer ones that
// begin with them, such as imagen, are not misspelt.
func closest(word string, known []string) string {
	word = strings.ToLower(word)
	if !lettersOnly.MatchString(word) {
		return ""
	}
	best, limit := "", 1+max(1, len(word)/4)
	for _, k := range known {
		if !lettersOnly.MatchString(k) {
			continue
		}
		if strings.HasPrefix(word, k) {
			return ""
		}
		if d := nearest.Distance(word, k); d < limit {
			best, limit = k, d
		}
	}
	return best
}

// meant is the word of a model's or a provider's name that a word is a misspelling of;
// "" when there is none.
func (c *conversation) meant(word string) string {
	known := slices.Concat(c.providers, slices.Collect(maps.Keys(families)), slices.Collect(maps.Keys(variants)), slices.Collect(maps.Values(variants)), []string{"models", "every", "provider"})
	for _, m := range c.shown.models {
		known = append(known, strings.FieldsFunc(strings.ToLower(m.name), func(r rune) bool { return r < 'a' || r > 'z' })...)
	}
	slices.Sort(known)
	return closest(word, known)
}

// verbs are the words with which requests of the forms can begin, and their synonyms.
func verbs(forms []form) (out []string) {
	synonyms, _ := synonyms()
	for _, w := range slices.Sorted(maps.Keys(synonyms)) {
		if synonyms[w] != filler && !strings.Contains(w, " ") && begins(forms, canonical(tokenize(w))[0]) {
			out = append(out, w)
		}
	}
	for _, f := range forms {
		out = append(out, strings.Split(f.parts[0], "|")...)
	}
	return out
}
