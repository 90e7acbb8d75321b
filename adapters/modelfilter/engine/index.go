package engine

import (
	"cmp"
	"slices"
	"strings"

	"winnow/assistant/glob"
)

// index finds the models that a pattern matches without trying all of them. It is
// immutable.
type index struct {
	ids        []string         // in the caller's order, each once
	position   map[string]int32 // position of each id in ids
	names      []string         // ids without their first segment; "" if unfiltered
	unfiltered bitset

	// The filtered models, sorted by id, by name, and by id read backwards.
	byID, byName, byEnd []int32
	text                string  // the ids of byID, concatenated
	ends                []int32 // where each id ends in text
}

func newIndex(provider string, models []string) *index {
	x := &index{position: make(map[string]int32, len(models))}
	for _, id := range models {
		if _, twice := x.position[id]; !twice {
			x.position[id] = int32(len(x.ids))
			x.ids = append(x.ids, id)
		}
	}
	x.unfiltered = newBitset(len(x.ids))
	x.names = make([]string, len(x.ids))
	for i, id := range x.ids {
		name, ok := filteredName(provider, id)
		if !ok {
			x.unfiltered.set(int32(i))
			continue
		}
		x.names[i] = name
		x.byID = append(x.byID, int32(i))
	}
	x.byName = slices.Clone(x.byID)
	x.byEnd = slices.Clone(x.byID)
	slices.SortFunc(x.byID, func(a, b int32) int { return cmp.Compare(x.ids[a], x.ids[b]) })
	slices.SortFunc(x.byName, func(a, b int32) int { return cmp.Compare(x.names[a], x.names[b]) })
	slices.SortFunc(x.byEnd, func(a, b int32) int { return compareEnds(x.ids[a], x.ids[b]) })
	var text strings.Builder
	for _, i := range x.byID {
		text.WriteString(x.ids[i])
		x.ends = append(x.ends, int32(text.Len()))
	}
	x.text = text.String()
	return x
}

// filteredName returns the id without its first segment. ok is false if that segment is not
// exactly the provider. An id without a slash belongs to the provider.
func filteredName(provider, id string) (name string, ok bool) {
	first, name, slash := strings.Cut(id, "/")
	if !slash {
		return id, true
	}
	return name, first == provider
}

// compareEnds orders strings as if they were read backwards.
func compareEnds(a, b string) int {
	for i := 1; i <= len(a) && i <= len(b); i++ {
		if c := cmp.Compare(a[len(a)-i], b[len(b)-i]); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(a), len(b))
}

// matching returns the filtered models that p matches as a rule. It tries only models that
// start with, end with or contain the text that every match of p has, or all models if
// there is no such text.
func (x *index) matching(p *glob.Pattern) bitset {
	found := newBitset(len(x.ids))
	if start := p.Prefix(); start != "" {
		x.matchStart(found, p, start)
	} else if end := p.Suffix(); end != "" {
		x.matchEnd(found, p, end)
	} else if core := p.Core(); core != "" {
		x.matchCore(found, p, core)
	} else {
		for _, i := range x.byID {
			if x.matchesOne(p, i) {
				found.set(i)
			}
		}
	}
	return found
}

// matchesOne reports whether p, as a rule, matches model i.
func (x *index) matchesOne(p *glob.Pattern, i int32) bool {
	return p.Match(x.ids[i]) || !p.StartsWithStar() && p.Match(x.names[i])
}

func (x *index) matchStart(found bitset, p *glob.Pattern, start string) {
	scan := func(order []int32, text []string) {
		from, _ := slices.BinarySearchFunc(order, start, func(i int32, s string) int { return cmp.Compare(text[i], s) })
		for _, i := range order[from:] {
			if !strings.HasPrefix(text[i], start) {
				break
			}
			if p.Match(text[i]) {
				found.set(i)
			}
		}
	}
	scan(x.byName, x.names)
	scan(x.byID, x.ids)
}

func (x *index) matchEnd(found bitset, p *glob.Pattern, end string) {
	from, _ := slices.BinarySearchFunc(x.byEnd, end, func(i int32, s string) int { return compareEnds(x.ids[i], s) })
	for _, i := range x.byEnd[from:] {
		if !strings.HasSuffix(x.ids[i], end) {
			break
		}
		if x.matchesOne(p, i) {
			found.set(i)
		}
	}
}

// matchCore searches the text of all ids at once. A hit that extends past the id in which
// it starts is not a match. The search continues after that id in any case.
func (x *index) matchCore(found bitset, p *glob.Pattern, core string) {
	at, k := 0, 0 // at is an offset in text, and k is the index in byID of the id there
	for {
		hit := strings.Index(x.text[at:], core)
		if hit < 0 {
			return
		}
		for x.ends[k] <= int32(at+hit) {
			k++
		}
		if i := x.byID[k]; x.matchesOne(p, i) {
			found.set(i)
		}
		at = int(x.ends[k])
	}
}

// list returns the first n ids of m in order, or all if n is 0.
func (x *index) list(m bitset, n int) []string {
	if count := m.count(); n == 0 || n > count {
		n = count
	}
	out := make([]string, 0, n)
	m.each(func(i int) bool {
		if len(out) < n {
			out = append(out, x.ids[i])
		}
		return len(out) < n
	})
	return out
}
