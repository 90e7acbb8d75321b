package engine

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"

	"winnow/assistant/glob"
)

// Suggest returns patterns that, as rules, together match all of wanted and
// none of others; both are model ids, with or without the provider. It is the
// shortest single pattern of the forms *, abc*, *abc, abc*xyz and *abc*, cut
// between words of the names, if one will do, else the exact names. The answer
// is the same for the same sets, in any order. An id in both sets, or one that
// no rule can tell from one of others, is left out.
func Suggest(wanted, others []string) []string {
	excluded := make(map[string]bool, len(others))
	for _, id := range others {
		excluded[id] = true
	}
	wanted = slices.Compact(slices.Sorted(slices.Values(wanted)))
	wanted = slices.DeleteFunc(wanted, func(id string) bool { return excluded[id] })
	var names []string
	for _, id := range wanted {
		names = append(names, withoutProvider(id))
	}
	if len(names) > 1 {
		for _, text := range candidates(names) {
			p := glob.Compile(text)
			if !slices.ContainsFunc(names, func(name string) bool { return !p.Match(name) }) && matchesNone(text, others) {
				return []string{text}
			}
		}
	}
	var out []string
	for i, id := range wanted {
		for _, exact := range []string{quoted(names[i]), quoted(id)} {
			if matchesNone(exact, others) {
				out = append(out, exact)
				break
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func withoutProvider(id string) string {
	if _, name, ok := strings.Cut(id, "/"); ok {
		return name
	}
	return id
}

// matchesNone reports whether pattern can be written and matches none of ids.
func matchesNone(pattern string, ids []string) bool {
	return unwritable(pattern) == "" && strings.TrimSpace(pattern) == pattern && !slices.ContainsFunc(ids, glob.Compile(pattern).MatchID)
}

// The least length of the start of a name and of another part of it, without
// punctuation at the ends: a shorter part is not specific enough.
const (
	minStart = 2
	minPart  = 3
)

// maxCuts is how many cuts of a name are tried: their pairs are candidates.
const maxCuts = 40

// candidates lists the patterns that may match all of names, the shortest first:
// the shortest name with a part replaced by *, and its parts between stars.
func candidates(names []string) []string {
	shortest := slices.MinFunc(names, func(a, b string) int { return cmp.Compare(len(a), len(b)) })
	cuts := wordCuts(shortest)
	cuts = cuts[:min(len(cuts), maxCuts)]
	specific := func(part string, length int) bool {
		return part == "" || len(strings.Trim(part, "-_.:/ ")) >= length
	}
	var out []string
	for i, from := range cuts {
		for _, to := range cuts[i:] {
			start, part, end := shortest[:from], shortest[from:to], shortest[to:]
			if specific(start, minStart) && specific(end, minPart) {
				out = append(out, quoted(start)+"*"+quoted(end))
			}
			if part != "" && specific(part, minPart) {
				out = append(out, "*"+quoted(part)+"*")
			}
		}
	}
	slices.SortStableFunc(out, func(a, b string) int {
		return cmp.Or(cmp.Compare(len([]rune(a)), len([]rune(b))), cmp.Compare(strings.Count(a, "*"), strings.Count(b, "*")))
	})
	return out
}

// words finds the letters, the digits and the other characters of a name.
var words = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\pL+|\p{Nd}+|[^\pL\p{Nd}]+`) })

// wordCuts returns where name can be cut, in order and with both ends.
func wordCuts(name string) []int {
	cuts := []int{0}
	for _, at := range words().FindAllStringIndex(name, -1) {
		cuts = append(cuts, at[1])
	}
	return cuts
}

// quoted writes text as part of a pattern: a comma, which no pattern can contain,
// becomes `?`.
func quoted(text string) string { return strings.ReplaceAll(glob.Quote(text), ",", "?") }
