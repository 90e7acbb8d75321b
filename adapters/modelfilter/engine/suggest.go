package engine

import (
	"cmp"
	"container/heap"
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"winnow/assistant/glob"
)

// Suggest returns a few patterns that, as rules, together match all of wanted and none of
// others; both are model ids, with or without the provider. Besides exact names, a pattern
// has one of the forms *, abc*, *abc, abc*xyz and *abc*, cut between words of the names.
// Suggest repeatedly takes the pattern that matches the most remaining names, the shortest
// if several do; the result does not depend on the order of the input. An id in both sets,
// or an id that no rule can distinguish from an id in others, is left out.
func Suggest(wanted, others []string) []string {
	c := newCover(wanted, others)
	var out []string
	for text, matched := c.best(); text != ""; text, matched = c.best() {
		out = append(out, text)
		for _, i := range matched {
			delete(c.open, i)
		}
	}
	for i := range c.open {
		for _, exact := range []string{c.names[i], c.ids[i]} {
			if pattern := quoted(exact); !c.others.lists(exact) && (pattern == exact || matchesNone(pattern, others)) {
				out = append(out, pattern)
				break
			}
		}
	}
	return c.needed(out)
}

// cover is the state of the search for patterns.
type cover struct {
	ids, names []string     // wanted, with and without the provider
	open       map[int]bool // indexes of the ids that no pattern matches yet
	others     *idIndex
	candidates candidates // a heap
}

func newCover(wanted, others []string) *cover {
	excluded := make(map[string]bool, len(others))
	for _, id := range others {
		excluded[id] = true
	}
	c := &cover{open: map[int]bool{}, others: newIDIndex(others)}
	c.ids = slices.Compact(slices.Sorted(slices.Values(wanted)))
	c.ids = slices.DeleteFunc(c.ids, func(id string) bool { return excluded[id] })
	from := map[cut][]int{}
	most := int(math.Sqrt(2 * maxCandidates / float64(max(len(c.ids), 1))))
	for i, id := range c.ids {
		name := withoutProvider(id)
		c.names, c.open[i] = append(c.names, name), true
		for _, k := range cuts(name, min(max(most, minCuts), maxCuts)) {
			if n := len(from[k]); n == 0 || from[k][n-1] != i {
				from[k] = append(from[k], i)
			}
		}
	}
	for k, names := range from {
		if len(names) > 1 { // otherwise the exact name is better
			c.candidates = append(c.candidates, candidate{cut: k, text: k.pattern(), from: names, gain: len(names)})
		}
	}
	heap.Init(&c.candidates)
	return c
}

// best returns the pattern that matches the most open names, and the indexes of all names that
// it matches. It returns "" if no pattern matches at least two open names. Gains only
// shrink, so the first candidate with an up-to-date gain is the best.
func (c *cover) best() (text string, matched []int) {
	for c.candidates.Len() > 0 {
		k := heap.Pop(&c.candidates).(candidate)
		gain := 0
		for _, i := range k.from {
			if c.open[i] {
				gain++
			}
		}
		switch {
		case gain < 2 || c.others.matchesAny(k.cut):
		case gain < k.gain:
			k.gain = gain
			heap.Push(&c.candidates, k)
		case matchesNone(k.text, c.others.ids):
			return k.text, k.from
		}
	}
	return "", nil
}

// needed returns patterns, sorted, without the superfluous ones: each remaining pattern matches an
// id that no other remaining pattern matches.
func (c *cover) needed(patterns []string) []string {
	slices.Sort(patterns)
	patterns = slices.Compact(patterns)
	times := make([]int, len(c.ids)) // how many patterns match each id
	matched := make(map[string][]int, len(patterns))
	for _, text := range patterns {
		p := glob.Compile(text)
		for i, id := range c.ids {
			if p.MatchID(id) {
				matched[text], times[i] = append(matched[text], i), times[i]+1
			}
		}
	}
	return slices.DeleteFunc(patterns, func(text string) bool {
		if slices.ContainsFunc(matched[text], func(i int) bool { return times[i] == 1 }) {
			return false
		}
		for _, i := range matched[text] {
			times[i]--
		}
		return true
	})
}

// candidate is a pattern with the names that it was cut from, all of which it matches.
type candidate struct {
	cut
	text string
	from []int
	gain int // number of these names that were open at the last count
}

// candidates is a heap with the best candidate first. It implements heap.Interface.
type candidates []candidate

func (c candidates) Len() int      { return len(c) }
func (c candidates) Swap(i, j int) { c[i], c[j] = c[j], c[i] }
func (c candidates) Less(i, j int) bool {
	a, b := c[i], c[j]
	return cmp.Or(cmp.Compare(b.gain, a.gain), shorter(a.text, b.text)) < 0
}
func (c *candidates) Push(x any) { *c = append(*c, x.(candidate)) }
func (c *candidates) Pop() any {
	last := (*c)[len(*c)-1]
	*c = (*c)[:len(*c)-1]
	return last
}

// cut is a name cut into a pattern: start*end, or *part*.
type cut struct{ start, part, end string }

func (k cut) pattern() string {
	if k.part != "" {
		return "*" + quoted(k.part) + "*"
	}
	return quoted(k.start) + "*" + quoted(k.end)
}

// idIndex quickly determines whether a cut matches one of many ids.
type idIndex struct {
	ids    []string
	starts []string // the ids, with and without provider, sorted
	text   string   // the ids, separated by line breaks
}

func newIDIndex(ids []string) *idIndex {
	x := &idIndex{ids: ids, text: "\n" + strings.Join(ids, "\n") + "\n"}
	for _, id := range ids {
		x.starts = append(x.starts, id, withoutProvider(id))
	}
	slices.Sort(x.starts)
	return x
}

// lists reports whether name is one of the ids, with or without its provider.
func (x *idIndex) lists(name string) bool {
	_, found := slices.BinarySearch(x.starts, name)
	return found
}

// matchesAny reports whether the pattern of k matches one of the ids as a rule. It may miss
// a match if k contains a comma, because the pattern then has `?` in its place.
func (x *idIndex) matchesAny(k cut) bool {
	switch {
	case len(x.ids) == 0:
		return false
	case k.part != "":
		return strings.Contains(x.text, k.part)
	case k.start == "":
		return strings.Contains(x.text, k.end+"\n")
	}
	i, _ := slices.BinarySearch(x.starts, k.start)
	for ; i < len(x.starts) && strings.HasPrefix(x.starts[i], k.start); i++ {
		if len(x.starts[i]) >= len(k.start)+len(k.end) && strings.HasSuffix(x.starts[i], k.end) {
			return true
		}
	}
	return false
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

// Minimum lengths of the start of a name and of any other part, not counting punctuation at
// the ends. A shorter part is not specific enough.
const (
	minStart = 2
	minPart  = 3
)

// A name is cut at no more than maxCuts places, counted from its start. Each pair of places
// makes a candidate. In a long list, each name is cut at fewer places, but at least minCuts, so
// that all names together make about maxCandidates.
const (
	minCuts       = 6
	maxCuts       = 40
	maxCandidates = 200_000
)

// cuts lists the patterns made from a name: the name with a part replaced by *, and its
// parts between stars. The name is cut at up to n places.
func cuts(name string, n int) []cut {
	at := wordCuts(name)
	at = at[:min(len(at), n)]
	specific := func(part string, length int) bool {
		return part == "" || len(strings.Trim(part, "-_.:/ ")) >= length
	}
	var out []cut
	for i, from := range at {
		for _, to := range at[i:] {
			if specific(name[:from], minStart) && specific(name[to:], minPart) {
				out = append(out, cut{start: name[:from], end: name[to:]})
			}
			if part := name[from:to]; part != "" && specific(part, minPart) {
				out = append(out, cut{part: part})
			}
		}
	}
	return out
}

// shorter orders patterns by length, then by the number of stars, then by text.
func shorter(a, b string) int {
	return cmp.Or(cmp.Compare(utf8.RuneCountInString(a), utf8.RuneCountInString(b)), cmp.Compare(strings.Count(a, "*"), strings.Count(b, "*")), cmp.Compare(a, b))
}

// words matches runs of letters, digits or other characters in a name.
var words = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\pL+|\p{Nd}+|[^\pL\p{Nd}]+`) })

// wordCuts returns the places where a name can be cut, in order, including both ends.
func wordCuts(name string) []int {
	cuts := []int{0}
	for _, at := range words().FindAllStringIndex(name, -1) {
		cuts = append(cuts, at[1])
	}
	return cuts
}

// quoted returns text as part of a pattern. No pattern can contain a comma, so each comma
// becomes `?`.
func quoted(text string) string { return strings.ReplaceAll(glob.Quote(text), ",", "?") }
