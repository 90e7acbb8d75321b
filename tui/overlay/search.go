package overlay

import (
	"cmp"
	"slices"
	"strings"
)

// matches are the entries that a query finds, best first, and the line on which
// each begins; starts ends with the number of lines.
type matches struct{ found, starts []int }

// search finds the entries that match a query: all in their order without one,
// and else the nearest first. It takes some 10 ms for 100,000 entries.
func search(entries []Entry, lower []string, query string) (m matches) {
	query = strings.ToLower(query)
	letters := strings.ReplaceAll(query, " ", "")
	type hit struct{ at, distance int }
	var hits []hit
	for i, text := range lower {
		if d := distance(text, query, letters); d >= 0 {
			hits = append(hits, hit{i, d})
		}
	}
	if len(hits) == 0 { // the group may be meant: "openai mini"
		for i, text := range lower {
			if d := distance(strings.ToLower(entries[i].Group)+"/"+text, query, letters); d >= 0 {
				hits = append(hits, hit{i, d})
			}
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Compare(a.distance, b.distance) })
	m.found, m.starts = make([]int, len(hits)), make([]int, len(hits)+1)
	group := ""
	for n, h := range hits {
		lines := 1
		if e := entries[h.at]; e.More != "" {
			lines++
		}
		if g := entries[h.at].Group; query == "" && g != "" && g != group {
			group = g
			lines++
		}
		m.found[n], m.starts[n+1] = h.at, m.starts[n]+lines
	}
	return m
}

// distance is how far a text is from a query: 0 begins with it, 1 has a word that
// does, 2 contains it, more when the letters are scattered; -1 is no match.
func distance(text, query, letters string) int {
	switch at := strings.Index(text, query); {
	case at == 0:
		return 0
	case at > 0 && strings.Contains(text, " "+query):
		return 1
	case at > 0:
		return 2
	}
	first, from := -1, 0
	for _, r := range letters {
		at := strings.IndexRune(text[from:], r)
		if at < 0 {
			return -1
		}
		if first < 0 {
			first = from + at
		}
		from += at + len(string(r))
	}
	return 3 + from - first
}
