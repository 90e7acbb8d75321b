package modelfilter

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"winnow/adapters/modelfilter/condition"
	"winnow/assistant/glob"
)

// phrase selects models by words: the models that match every entry of names and meet every entry
// of facts. With newest, it selects only the newest of these models.
type phrase struct {
	text   string
	names  []string // patterns, and words to find between the separators of a name
	facts  []string // the words of the condition
	where  condition.Condition
	family bool // set for "gpt-4 models", which means more than the model called gpt-4
	newest bool
	count  int // how many of the newest models; 0 means all with the highest version
}

// readPhrase reads a phrase such as "mini", "gpt-4*", "newest 2 claude" or "price>10 tools".
func readPhrase(text string) (p phrase, err error) {
	p.text = strings.TrimSpace(text)
	for word := range strings.FieldsSeq(text) {
		n, _ := strconv.Atoi(word)
		last := len(p.names) - 1
		switch lower := strings.ToLower(word); {
		case lower == "model" || lower == "models":
			p.family = true
		case lower == "newest":
			p.newest = true
		case p.newest && n > 0 && last < 0 && p.count == 0:
			p.count = n
		case condition.IsKeyword(word):
			p.facts = append(p.facts, word)
		case last >= 0 && '0' <= word[0] && word[0] <= '9' && !hasWildcard(p.names[last]+word): // "gpt 4"
			p.names[last] += "-" + word
		default:
			p.names = append(p.names, word)
		}
	}
	p.where, err = condition.Parse(strings.Join(p.facts, " "))
	return p, err
}

func hasWildcard(pattern string) bool { return strings.ContainsAny(pattern, "*?[") }

// all reports whether the phrase means every model.
func (p phrase) all() bool {
	return len(p.facts) == 0 && !p.newest && (len(p.names) == 0 || len(p.names) == 1 && p.names[0] == "*")
}

// pattern returns the pattern that the phrase consists of, or * if it means every model;
// otherwise "".
func (p phrase) pattern() string {
	switch {
	case p.all():
		return "*"
	case len(p.names) == 1 && len(p.facts) == 0 && !p.newest && hasWildcard(p.names[0]):
		return p.names[0]
	}
	return ""
}

// in returns the models that the phrase selects, and the number of models for which a fact in the
// phrase is unknown. If no model is selected, missing contains the words that match no model. If
// each word matches one, missing contains all names or, if some model matches all names, all facts.
// A pattern that is the only name is never missing.
func (p phrase) in(models []FoundModel, now time.Time) (fit []FoundModel, unknown int, missing []string) {
	fit = models
	for _, name := range p.names {
		hits := named(models, name, len(p.names) == 1 && !p.family)
		if len(hits) == 0 && !hasWildcard(name) {
			missing = append(missing, name)
		}
		fit = common(fit, hits)
	}
	if len(missing) > 0 {
		return nil, 0, missing
	}
	if len(fit) == 0 && len(p.names) > 1 {
		return nil, 0, p.names // each word matches a model, but no model matches all words
	}
	before := len(fit)
	fit = kept(fit, func(m FoundModel) bool {
		answer := p.where.Match(&m.Model, now)
		if answer == condition.Unknown {
			unknown++
		}
		return answer == condition.Yes
	})
	if len(fit) == 0 && before > 0 && len(p.facts) > 0 {
		return nil, unknown, p.facts
	}
	if p.newest {
		fit = newestOf(fit, p.count, len(p.names) > 0)
	}
	return fit, unknown, nil
}

// called reports whether text is the model's id or name.
func (m FoundModel) called(text string) bool {
	return strings.EqualFold(m.Info.ID, text) || strings.EqualFold(displayName(m.Provider, m.Info.ID), text)
}

func kept(models []FoundModel, keep func(FoundModel) bool) (out []FoundModel) {
	for _, m := range models {
		if keep(m) {
			out = append(out, m)
		}
	}
	return out
}

// common returns the models of a that are also in b, and minus returns the others.
func common(a, b []FoundModel) []FoundModel { return split(a, b, true) }
func minus(a, b []FoundModel) []FoundModel  { return split(a, b, false) }

func split(a, b []FoundModel, in bool) []FoundModel {
	set := make(map[string]bool, len(b))
	for _, m := range b {
		set[m.Info.ID] = true
	}
	return kept(a, func(m FoundModel) bool { return set[m.Info.ID] == in })
}

func ids(models []FoundModel) (out []string) {
	for _, m := range models {
		out = append(out, m.Info.ID)
	}
	return out
}

// named returns the models whose names match a pattern, or contain a word or, if none does, its
// singular. If alone is set and some models are called exactly that, it returns only these.
func named(models []FoundModel, word string, alone bool) []FoundModel {
	if hasWildcard(word) {
		return matching(models, word)
	}
	if hits := kept(models, func(m FoundModel) bool { return m.called(word) }); alone && len(hits) > 0 {
		return hits
	}
	part := wordInName(word)
	hits := kept(models, func(m FoundModel) bool { return part.MatchString(displayName(m.Provider, m.Info.ID)) })
	if one := strings.TrimSuffix(strings.ToLower(word), "s"); len(hits) == 0 && len(one) > 2 && len(one) < len(word) {
		return named(models, one, false)
	}
	return hits
}

// matching returns the models that a pattern matches.
func matching(models []FoundModel, pattern string) []FoundModel {
	p := glob.Compile(pattern)
	return kept(models, func(m FoundModel) bool { return p.MatchID(m.Info.ID) })
}

var dotOrDash = regexp.MustCompile(`\\?\.|-`)

// wordInName matches names that contain a word between separators, or where letters meet
// digits: mini does not match gemini. It ignores case and treats . and - as equal. A single
// character matches no name.
func wordInName(word string) *regexp.Regexp {
	word = strings.ToLower(word)
	if len(word) < 2 {
		return regexp.MustCompile(`[^\s\S]`)
	}
	edge := func(c byte) string {
		switch {
		case '0' <= c && c <= '9':
			return "[^0-9]"
		case 'a' <= c && c <= 'z':
			return "[^a-z]"
		}
		return "(?s:.)"
	}
	return regexp.MustCompile("(?i)(?:^|" + edge(word[0]) + ")(" + dotOrDash.ReplaceAllString(regexp.QuoteMeta(word), "[.-]") + ")(?:$|" + edge(word[len(word)-1]) + ")")
}

// written returns a pattern such as *mini* or gpt-4* that matches exactly the models in fit, which
// the phrase selects; "" if no simple pattern does.
func (p phrase) written(models, fit []FoundModel) string {
	if text := p.pattern(); text != "" || len(p.names) == 0 || len(p.facts) > 0 || p.newest || len(fit) == 0 {
		return text
	}
	first := displayName(fit[0].Provider, fit[0].Info.ID)
	if len(fit) == 1 && !p.family && len(p.names) == 1 && fit[0].called(p.names[0]) {
		return glob.Quote(first)
	}
	type part struct {
		at   int
		text string
	}
	var parts []part
	for _, name := range p.names {
		at := wordInName(strings.Trim(name, "*")).FindStringSubmatchIndex(first)
		if at == nil {
			at = wordInName(strings.TrimSuffix(name, "s")).FindStringSubmatchIndex(first)
		}
		if at == nil {
			return ""
		}
		parts = append(parts, part{at[2], first[at[2]:at[3]]})
	}
	slices.SortStableFunc(parts, func(a, b part) int { return a.at - b.at })
	text := parts[0].text
	for _, next := range parts[1:] {
		text += "*" + next.text
	}
	shapes := []string{"*" + text + "*", text + "*"}
	if !slices.ContainsFunc(fit, func(m FoundModel) bool { return !strings.HasPrefix(displayName(m.Provider, m.Info.ID), parts[0].text) }) {
		slices.Reverse(shapes) // all names begin with the first part: prefer the pattern that says so
	}
	for _, shape := range append(shapes, "*-"+text+"*", "*/"+text+"*", "*-"+text, "*-"+text+"-*") {
		if len(matching(models, shape)) == len(fit) && len(matching(fit, shape)) == len(fit) {
			return shape
		}
	}
	return ""
}

// isFamily reports whether the phrase contains the name of one of a provider's models, or a word,
// such as claude, with which the names of at least half of them begin.
func (p phrase) isFamily(models []FoundModel) bool {
	return slices.ContainsFunc(p.names, func(word string) bool {
		begin := kept(models, func(m FoundModel) bool {
			return strings.HasPrefix(strings.ToLower(displayName(m.Provider, m.Info.ID)), strings.ToLower(word))
		})
		return 2*len(begin) >= len(models) || slices.ContainsFunc(begin, func(m FoundModel) bool { return m.called(word) })
	})
}
