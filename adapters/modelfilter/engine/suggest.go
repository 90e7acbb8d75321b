package engine

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"winnow/assistant/glob"
)

// Suggest returns patterns that, as rules, together match all of wanted and
// none of others; both are model ids, with or without the provider. It is the
// shortest single pattern of the forms *, abc*, *abc, abc*xyz and *abc* if one
// will do, cut between words of the names and holding enough of them to be
// telling where that is possible; else a small set of them and of exact names. The answer is the same for the same sets, in
// any order. An id in both sets, or one that no rule can tell from one of
// others, is left out.
func Suggest(wanted, others []string) []string {
	s := newSuggester(wanted, others)
	if len(s.wanted) == 0 {
		return nil
	}
	for _, cut := range []cutter{{false}, {true}} {
		if p, ok := s.single(cut); ok {
			return []string{p}
		}
	}
	return s.several()
}

// suggester holds the question.
type suggester struct {
	wanted []string // sorted, each once
	names  []string // of wanted, without the first segment
	others []string // sorted, each once
}

func newSuggester(wanted, others []string) *suggester {
	s := &suggester{wanted: sortedSet(wanted), others: sortedSet(others)}
	s.wanted = slices.DeleteFunc(s.wanted, func(id string) bool {
		_, both := slices.BinarySearch(s.others, id)
		return both
	})
	for _, id := range s.wanted {
		s.names = append(s.names, nameOf(id))
	}
	return s
}

func sortedSet(ids []string) []string {
	out := slices.Clone(ids)
	slices.Sort(out)
	return slices.Compact(out)
}

func nameOf(id string) string {
	if _, name, ok := strings.Cut(id, "/"); ok {
		return name
	}
	return id
}

// spares reports whether pattern can be written and matches none of others.
func (s *suggester) spares(pattern string) bool {
	if unwritable(pattern) != "" || strings.TrimSpace(pattern) != pattern {
		return false
	}
	p := glob.Compile(pattern)
	return !slices.ContainsFunc(s.others, p.MatchID)
}

// single finds the shortest pattern for all of wanted.
func (s *suggester) single(cut cutter) (string, bool) {
	candidates := []string{"*"}
	if len(s.wanted) == 1 {
		candidates = []string{quoted(s.names[0]), quoted(s.wanted[0])}
	} else {
		candidates = append(candidates, s.common(cut)...)
	}
	slices.SortStableFunc(candidates, byLength)
	for _, c := range candidates {
		if s.spares(c) {
			return c, true
		}
	}
	return "", false
}

// common returns the patterns that match all of wanted.
func (s *suggester) common(cut cutter) []string {
	shortest := slices.MinFunc(s.names, func(a, b string) int { return cmp.Compare(len(a), len(b)) })
	cuts := cut.places(shortest)
	cuts = cuts[:min(len(cuts), maxCuts)]
	telling := func(part string, n int) bool { return cut.letters || lettersIn(part) >= n }
	every := func(match func(name, part string) bool, part string) bool {
		return !slices.ContainsFunc(s.names, func(name string) bool { return !match(name, part) })
	}
	var starts, ends, out []string
	for _, i := range cuts {
		if i > 0 && telling(shortest[:i], 2) && every(strings.HasPrefix, shortest[:i]) {
			starts = append(starts, shortest[:i])
			out = append(out, quoted(shortest[:i])+"*")
		}
		if i < len(shortest) && telling(shortest[i:], 3) && every(strings.HasSuffix, shortest[i:]) {
			ends = append(ends, shortest[i:])
			out = append(out, "*"+quoted(shortest[i:]))
		}
	}
	for _, a := range starts {
		for _, b := range ends {
			if len(a)+len(b) <= len(shortest) { // else they may overlap in a name
				out = append(out, quoted(a)+"*"+quoted(b))
			}
		}
	}
	for i, from := range cuts {
		for _, to := range cuts[i+1:] {
			if telling(shortest[from:to], 3) && every(strings.Contains, shortest[from:to]) {
				out = append(out, "*"+quoted(shortest[from:to])+"*")
			}
		}
	}
	return out
}

// several covers wanted step by step with the pattern that takes the most of
// what is left; what only a pattern of its own would take is named exactly.
func (s *suggester) several() []string {
	takes := s.partial()
	order := make([]string, 0, len(takes))
	for c := range takes {
		order = append(order, c)
	}
	left := slices.Repeat([]bool{true}, len(s.names))
	var out []string
	for len(order) > 0 {
		worth := make(map[string]int, len(order))
		for _, c := range order {
			for _, i := range takes[c] {
				if left[i] {
					worth[c]++
				}
			}
		}
		order = slices.DeleteFunc(order, func(c string) bool { return worth[c] < 2 })
		slices.SortFunc(order, func(a, b string) int {
			return cmp.Or(cmp.Compare(worth[b], worth[a]), byLength(a, b), cmp.Compare(a, b))
		})
		best := slices.IndexFunc(order, s.spares)
		if best < 0 {
			break
		}
		out = append(out, order[best])
		p := glob.Compile(order[best])
		for i, id := range s.wanted {
			left[i] = left[i] && !p.MatchID(id)
		}
		order = order[best+1:] // those before it match others, now and later
	}
	for i, id := range s.wanted {
		if !left[i] {
			continue
		}
		for _, exact := range []string{quoted(s.names[i]), quoted(id)} {
			if s.spares(exact) {
				out = append(out, exact)
				break
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// partial returns the patterns cut between words of single names and, for
// each, the wanted names it was cut from.
func (s *suggester) partial() map[string][]int {
	takes := map[string][]int{}
	for k, name := range s.names {
		put := func(pattern string) {
			if t := takes[pattern]; len(t) == 0 || t[len(t)-1] != k {
				takes[pattern] = append(t, k)
			}
		}
		cuts := cutter{}.places(name)
		cuts = cuts[:min(len(cuts), maxCuts)]
		for i, from := range cuts {
			if lettersIn(name[:from]) >= 2 {
				put(quoted(name[:from]) + "*")
			}
			if lettersIn(name[from:]) >= 3 {
				put("*" + quoted(name[from:]))
			}
			for _, to := range cuts[i+1:] {
				if lettersIn(name[from:to]) >= 3 {
					put("*" + quoted(name[from:to]) + "*")
				}
			}
		}
	}
	return takes
}

// maxCuts is how many cuts of one name are tried: their pairs are candidates.
const maxCuts = 40

// byLength orders patterns by their characters, and as long ones by their form.
func byLength(a, b string) int {
	form := func(p string) int {
		switch first, last := strings.HasPrefix(p, "*"), strings.HasSuffix(p, "*"); {
		case !first && !last:
			return 2
		case first && last:
			return 3
		case first:
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(len([]rune(a)), len([]rune(b))), cmp.Compare(form(a), form(b)))
}

// cutter cuts names: between words, or between all letters.
type cutter struct{ letters bool }

// places returns where name can be cut, in order and with both ends. Words end
// where a letter, a digit and anything else meet.
func (c cutter) places(name string) []int {
	cuts := []int{0}
	var before rune
	for i, r := range name {
		if i > 0 && (c.letters || charKind(before) != charKind(r)) {
			cuts = append(cuts, i)
		}
		before = r
	}
	if name == "" {
		return cuts
	}
	return append(cuts, len(name))
}

// lettersIn counts letters and digits: a part with few of them says little.
func lettersIn(part string) int {
	n := 0
	for _, r := range part {
		if charKind(r) != other {
			n++
		}
	}
	return n
}

const (
	other = iota
	digit
	letter
)

func charKind(r rune) int {
	switch {
	case unicode.IsDigit(r):
		return digit
	case unicode.IsLetter(r):
		return letter
	}
	return other
}

// quoted writes text as part of a pattern: a comma, which no pattern can hold,
// becomes `?`.
func quoted(text string) string { return strings.ReplaceAll(glob.Quote(text), ",", "?") }
