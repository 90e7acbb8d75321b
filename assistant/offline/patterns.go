package offline

import (
	"cmp"
	"slices"
	"strings"
)

// hasWildcard reports whether a pattern is more than an id.
func hasWildcard(pattern string) bool { return strings.ContainsAny(pattern, "*?[") }

// patterns returns patterns that match just the models of an item; nil when none do.
func (it item) patterns(cat *catalog, models []model) []string {
	switch it = it.in(cat); {
	case it.newest && (cat.unlisted > 0 || len(models) > maxExactNames): // one that is not listed may be newer
		return nil
	case it.newest:
		return choosePatterns(cat, models, [][]string{names(models)})
	case it.blank():
		return []string{"*"}
	case len(it.words) == 1 && it.words[0].verbatim && len(it.conds) == 0:
		return []string{it.words[0].text}
	case len(it.words) == 0:
		return choosePatterns(cat, models, [][]string{stems(cat, models)})
	case len(models) == 0:
		return nil
	}
	return choosePatterns(cat, models, append(it.spellings(models), stems(cat, models)))
}

// stems are patterns for models of which some share the beginning of their names: the
// shortest stem* that matches no other model, each, and the names of the rest.
func stems(cat *catalog, models []model) (out []string) {
	if cat.cut {
		return nil
	}
	others := without(cat.models, models)
	for left := models; len(left) > 0; {
		name, best := left[0].name, left[0].name
		for _, end := range separators.FindAllStringIndex(name, -1) {
			stem := name[:end[1]] + "*"
			match := matcher([]string{stem})
			if len(filter(left, match)) > 1 && !slices.ContainsFunc(others, match) {
				best = stem
				break
			}
		}
		out, left = append(out, best), without(left, append(filter(left, matcher([]string{best})), left[0]))
	}
	return out
}

// spellings lists the ways to write an item as a pattern, the best first.
func (it item) spellings(models []model) (out [][]string) {
	first := models[0]
	if len(models) == 1 && !it.family && len(it.words) == 1 && first.named(it.words[0].text) {
		return [][]string{{first.name}, {first.id}}
	}
	text := it.spelling(first.name)
	begin, _, _ := strings.Cut(text, "*")
	shapes := []string{"*%*", "%*", "*-%*", "*/%*", "*-%", "*-%-*"}
	if !slices.ContainsFunc(models, func(m model) bool { return !strings.HasPrefix(m.name, begin) }) {
		shapes[0], shapes[1] = shapes[1], shapes[0] // a family: all names begin with it
	}
	for _, shape := range shapes {
		out = append(out, []string{strings.ReplaceAll(shape, "%", text)})
	}
	return out
}

// spelling writes the words of an item as a name does, in its order: "gpt*mini".
func (it item) spelling(name string) string {
	position := map[string]int{}
	var texts []string
	for _, w := range it.words {
		text, place := strings.Trim(w.text, "*"), -1 // patterns come first
		if found := w.inName().FindStringSubmatchIndex(name); found != nil && !w.verbatim {
			place, text = found[2], name[found[2]:found[3]]
		}
		position[text], texts = place, append(texts, text)
	}
	slices.SortStableFunc(texts, func(a, b string) int { return cmp.Compare(position[a], position[b]) })
	return strings.Join(texts, "*")
}

// maxExactNames is the most models for which there is one rule each.
const maxExactNames = 60

// choosePatterns returns the first candidate whose patterns match just the models, else
// the models one by one; nil when that would be too many.
func choosePatterns(cat *catalog, models []model, candidates [][]string) []string {
	if len(models) == 0 {
		return nil
	}
	if len(models) <= maxExactNames && !cat.cut {
		candidates = append(candidates, unique(names(models)))
	}
	for _, patterns := range candidates {
		matches := matcher(patterns)
		if len(patterns) > 0 && len(patterns) <= maxExactNames && len(without(filter(cat.models, matches), models)) == 0 && len(filter(models, matches)) == len(models) {
			return patterns
		}
	}
	return nil
}
