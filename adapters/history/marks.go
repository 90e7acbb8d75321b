package history

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"winnow/assistant"
	"winnow/assistant/filter"
	"winnow/assistant/history"
)

// kind is what can be marked of a pair, which has one value of each.
type kind string

// The kinds, and the values of a flag.
const (
	stars  kind = "stars" // "0" to "3"
	flags  kind = "flags"
	topics kind = "topics" // path; "" is none

	flagOn  = "blue"
	flagOff = "grey"
)

// plainMarks are those of a pair that nobody has marked.
var plainMarks = map[kind]string{stars: "0", flags: flagOn, topics: ""}

// mark is a value of a kind.
type mark struct {
	kind  kind
	value string
}

// marked is a pair in respect of a kind.
type marked struct {
	kind kind
	seq  int64
}

func (m mark) plain() bool { return m.value == plainMarks[m.kind] }

// set is the mark as the store sets it.
func (m mark) set() history.Mark {
	switch m.kind {
	case stars:
		n, _ := strconv.Atoi(m.value) // checked where values come from
		return history.Mark{Star: &n}
	case flags:
		on := m.value == flagOn
		return history.Mark{Flag: &on}
	default:
		return history.Mark{Topic: &m.value}
	}
}

// marks are all that the tools can change, at one moment.
type marks struct {
	pairs seqs          // uncut
	sets  map[mark]seqs // the pairs of each mark; every topic is there
	tree  []history.Topic
}

// read returns the marks as they are now.
func (w *Window) read(ctx context.Context) (m marks, err error) {
	m.sets = map[mark]seqs{}
	if m.tree, err = w.store.Topics(ctx); err != nil {
		return m, err
	}
	groups, err := w.store.MarkGroups(ctx)
	for _, t := range m.tree {
		m.sets[mark{topics, t.Path}] = nil
	}
	for _, g := range groups {
		m.pairs = append(m.pairs, g.Seqs...)
		flag := flagOff
		if g.Flag {
			flag = flagOn
		}
		for _, of := range []mark{{stars, strconv.Itoa(g.Star)}, {flags, flag}, {topics, g.Topic}} {
			m.sets[of] = append(m.sets[of], g.Seqs...)
		}
	}
	slices.Sort(m.pairs)
	for _, set := range m.sets {
		slices.Sort(set)
	}
	return m, err
}

// values divides pairs by their value of a kind.
func (m marks) values(k kind, pairs seqs) map[string]seqs {
	out := map[string]seqs{}
	for of, have := range m.sets {
		if both := pairs.and(have); of.kind == k && len(both) > 0 {
			out[of.value] = both
		}
	}
	return out
}

// paths lists the topics in order.
func (m marks) paths() []string {
	paths := make([]string, len(m.tree))
	for i, t := range m.tree {
		paths[i] = t.Path
	}
	return paths
}

// below lists the topic under and those below it by path; "" is all.
func (m marks) below(under string) []ContextTopic {
	list := []ContextTopic{}
	for _, t := range m.tree {
		if under == "" || t.Path == under || strings.HasPrefix(t.Path, under+history.TopicSeparator) {
			list = append(list, ContextTopic{shown(t.Path), t.Pairs, t.All})
		}
	}
	return list
}

// topic is the path that a name means: the topic of that path, whatever the
// case of its letters, else the path itself as the store writes it.
func (m marks) topic(name string) (path string, found bool) {
	path = history.TopicPath(name)
	if _, exact := m.sets[mark{topics, path}]; exact && path != "" {
		return path, true
	}
	for _, p := range m.paths() {
		if strings.EqualFold(p, path) {
			return p, true
		}
	}
	return path, false
}

// unknownTopic says that there is no such topic, and which were likely meant.
func (m marks) unknownTopic(path string) *refusal {
	r := refuse(assistant.CodeFailed, "there is no topic %s", quote(path))
	pattern := filter.Topic{}
	for _, level := range strings.Split(path, history.TopicSeparator) {
		pattern.Path = append(pattern.Path, filter.Pattern{Parts: []string{level}})
	}
	for _, h := range filter.Hints(pattern, m.paths(), nil) {
		if len(h.Nearest) > 0 {
			r.Message += "; nearest: " + shown(strings.Join(h.Nearest, ", "))
		}
	}
	return r
}

// seqs is a set of pairs by their numbers, rising.
type seqs []int64

// divide tells what of a is in b and what is not.
func (a seqs) divide(b seqs) (in, out seqs) {
	j := 0
	for _, s := range a {
		for j < len(b) && b[j] < s {
			j++
		}
		if j < len(b) && b[j] == s {
			in = append(in, s)
		} else {
			out = append(out, s)
		}
	}
	return in, out
}

// and is what is in both.
func (a seqs) and(b seqs) seqs {
	in, _ := a.divide(b)
	return in
}

// minus is a without what is in b.
func (a seqs) minus(b seqs) seqs {
	_, out := a.divide(b)
	return out
}

// upTo is the part of a up to and including last.
func (a seqs) upTo(last int64) seqs {
	n, _ := slices.BinarySearch(a, last+1)
	return a[:n:n]
}

// backwards is up to n of the last pairs, the newest first.
func backwards(pairs seqs, n int) seqs {
	out := slices.Clone(pairs[max(len(pairs)-n, 0):])
	slices.Reverse(out)
	return out
}

// runs writes a as runs of neighbours: "4", "6-9".
func (a seqs) runs() []string {
	out := []string{}
	for i := 0; i < len(a); {
		j := i + 1
		for j < len(a) && a[j] == a[j-1]+1 {
			j++
		}
		run := strconv.FormatInt(a[i], 10)
		if j > i+1 {
			run += "-" + strconv.FormatInt(a[j-1], 10)
		}
		out = append(out, run)
		i = j
	}
	return out
}

// String names the pairs, the first ones of a long list.
func (a seqs) String() string {
	const most = 40
	runs := a.runs()
	if more := len(runs) - most; more > 0 {
		return strings.Join(runs[:most], ", ") + fmt.Sprintf(" and %d more runs", more)
	}
	return strings.Join(runs, ", ")
}

// readRuns reads what runs writes. No number may be above last, which bounds
// what a damaged text can ask for.
func readRuns(runs []string, last int64) (seqs, error) {
	var out seqs
	at := int64(0)
	for _, run := range runs {
		first, end, isRun := strings.Cut(run, "-")
		from, err := strconv.ParseInt(first, 10, 64)
		to := from
		if err == nil && isRun {
			to, err = strconv.ParseInt(end, 10, 64)
		}
		if err != nil || from <= at || to < from || to > last {
			return nil, fmt.Errorf("%q is no run of pairs between %d and %d", run, at+1, last)
		}
		for at = from; at < to; at++ {
			out = append(out, at)
		}
		out = append(out, at)
	}
	return out, nil
}

// MarshalJSON writes the numbers as a list, never null.
func (a seqs) MarshalJSON() ([]byte, error) { return json.Marshal(append([]int64{}, a...)) }
