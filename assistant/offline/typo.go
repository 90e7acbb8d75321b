package offline

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"winnow/assistant/nearest"
)

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
	known := slices.Concat(c.providers, slices.Collect(maps.Keys(families)), slices.Collect(maps.Keys(variants)), slices.Collect(maps.Values(variants)))
	for _, m := range c.shown.models {
		known = append(known, strings.FieldsFunc(strings.ToLower(m.name), func(r rune) bool { return r < 'a' || r > 'z' })...)
	}
	slices.Sort(known)
	return closest(word, known)
}

// corrected is the message with the misspelt word of a step replaced; "" when no word is,
// or when the message would not be understood either. Of a step without a kind the verb is
// misspelt, of another one a name.
func (c *conversation) corrected(s step, left []string) string {
	words, meant := left, c.meant
	if s.kind == unknown && len(left) > 0 {
		words, meant = left[:1], func(word string) string { return closest(word, verbs(c.forms)) }
	}
	for _, w := range words {
		to := meant(w)
		if to == "" {
			continue
		}
		request := regexp.MustCompile(`(?i)\b`+regexp.QuoteMeta(w)+`\b`).ReplaceAllLiteralString(c.now.User, to)
		fails := func(s step) bool { return s.kind == unknown || len(s.rest) > 0 }
		if request != c.now.User && !slices.ContainsFunc(c.parse(request), fails) {
			return clean(request)
		}
	}
	return ""
}

// verbs are the words with which requests of the forms can begin, and their synonyms.
func verbs(forms []form) (out []string) {
	for _, w := range synonymWords() {
		if begins(forms, canonical(tokenize(w))[0]) {
			out = append(out, w)
		}
	}
	for _, f := range forms {
		first, _, _ := strings.Cut(f.text, " ")
		out = append(out, strings.Split(first, "|")...)
	}
	return out
}
