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

// kind is a kind of mark. Each pair has exactly one value of each kind.
type kind string

// The kinds of marks, and the values of a flag.
const (
	stars  kind = "stars" // values "0" to "3"
	flags  kind = "flags"
	topics kind = "topics" // values are paths; "" means no topic

	flagOn  = "blue"
	flagOff = "grey"
)

// defaultMarks contains the marks of a new pair.
var defaultMarks = map[kind]string{stars: "0", flags: flagOn, topics: ""}

// mark is one value of a kind, such as 3 stars.
type mark struct {
	kind  kind
	value string
}

// pairKind identifies one mark of one pair.
type pairKind struct {
	kind kind
	seq  int64
}

func (m mark) isDefault() bool { return m.value == defaultMarks[m.kind] }

// storeMark returns m as an argument for Store.Mark.
func (m mark) storeMark() history.Mark {
	switch m.kind {
	case stars:
		n, _ := strconv.Atoi(m.value) // the callers have checked the value
		return history.Mark{Star: &n}
	case flags:
		on := m.value == flagOn
		return history.Mark{Flag: &on}
	default:
		return history.Mark{Topic: &m.value}
	}
}

// marks is a snapshot of everything that the tools can change.
type marks struct {
	pairs  seqs          // pairs that are not cut
	byMark map[mark]seqs // the pairs with each mark; it contains a key for every topic
	tree   []history.Topic
}

// readMarks reads the current marks.
func (w *Window) readMarks(ctx context.Context) (m marks, err error) {
	m.byMark = map[mark]seqs{}
	if m.tree, err = w.store.Topics(ctx); err != nil {
		return m, err
	}
	groups, err := w.store.MarkGroups(ctx)
	for _, t := range m.tree {
		m.byMark[mark{topics, t.Path}] = nil
	}
	for _, g := range groups {
		m.pairs = append(m.pairs, g.Seqs...)
		flag := flagOff
		if g.Flag {
			flag = flagOn
		}
		for _, key := range []mark{{stars, strconv.Itoa(g.Star)}, {flags, flag}, {topics, g.Topic}} {
			m.byMark[key] = append(m.byMark[key], g.Seqs...)
		}
	}
	slices.Sort(m.pairs)
	for _, set := range m.byMark {
		slices.Sort(set)
	}
	return m, err
}

// values groups pairs by their value of kind k.
func (m marks) values(k kind, pairs seqs) map[string]seqs {
	out := map[string]seqs{}
	for key, have := range m.byMark {
		if both := pairs.intersect(have); key.kind == k && len(both) > 0 {
			out[key.value] = both
		}
	}
	return out
}

// paths lists the topics in the order of the tree.
func (m marks) paths() []string {
	paths := make([]string, len(m.tree))
	for i, t := range m.tree {
		paths[i] = t.Path
	}
	return paths
}

// below lists the topic at path and the topics below it, or all topics if path is "".
func (m marks) below(path string) []ContextTopic {
	list := []ContextTopic{}
	for _, t := range m.tree {
		if path == "" || t.Path == path || strings.HasPrefix(t.Path, path+history.TopicSeparator) {
			list = append(list, ContextTopic{oneLine(t.Path), t.Pairs, t.Total})
		}
	}
	return list
}

// topic returns the path of the topic with this name, ignoring case. If there is no such topic, it returns the
// normalized name and false.
func (m marks) topic(name string) (path string, found bool) {
	path = history.TopicPath(name)
	if _, exact := m.byMark[mark{topics, path}]; exact && path != "" {
		return path, true
	}
	for _, p := range m.paths() {
		if strings.EqualFold(p, path) {
			return p, true
		}
	}
	return path, false
}

// unknownTopic returns a refusal that names an unknown topic and similar topics.
func (m marks) unknownTopic(path string) *refusal {
	r := refuse(assistant.CodeFailed, "there is no topic %s", quote(path))
	pattern := filter.Topic{}
	for _, level := range strings.Split(path, history.TopicSeparator) {
		pattern.Path = append(pattern.Path, filter.Pattern{Parts: []string{level}})
	}
	for _, h := range filter.Hints(pattern, m.paths(), nil) {
		if len(h.Nearest) > 0 {
			r.Message += "; nearest: " + oneLine(strings.Join(h.Nearest, ", "))
		}
	}
	return r
}

// seqs is a set of pairs, as sequence numbers in ascending order.
type seqs []int64

// split returns the elements of a that are in b, and those that are not.
func (a seqs) split(b seqs) (in, out seqs) {
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

// intersect returns the elements that are in both sets.
func (a seqs) intersect(b seqs) seqs {
	in, _ := a.split(b)
	return in
}

// minus returns the elements of a that are not in b.
func (a seqs) minus(b seqs) seqs {
	_, out := a.split(b)
	return out
}

// upTo returns the elements of a that are not greater than last.
func (a seqs) upTo(last int64) seqs {
	n, _ := slices.BinarySearch(a, last+1)
	return a[:n:n]
}

// newestFirst returns up to n of the newest pairs, newest first.
func newestFirst(pairs seqs, n int) seqs {
	out := slices.Clone(pairs[max(len(pairs)-n, 0):])
	slices.Reverse(out)
	return out
}

// ranges returns a as a list of ranges, such as "4", "6-9".
func (a seqs) ranges() []string {
	out := []string{}
	for i := 0; i < len(a); {
		j := i + 1
		for j < len(a) && a[j] == a[j-1]+1 {
			j++
		}
		text := strconv.FormatInt(a[i], 10)
		if j > i+1 {
			text += "-" + strconv.FormatInt(a[j-1], 10)
		}
		out = append(out, text)
		i = j
	}
	return out
}

// String returns the pairs as ranges, at most maxRanges of them.
func (a seqs) String() string {
	const maxRanges = 40
	ranges := a.ranges()
	if more := len(ranges) - maxRanges; more > 0 {
		return strings.Join(ranges[:maxRanges], ", ") + " and " + assistant.Counted(more, "more range")
	}
	return strings.Join(ranges, ", ")
}

// named returns the pairs as named in a sentence: "message 4" or "messages 4-6".
func (a seqs) named() string {
	if len(a) == 1 {
		return "message " + a.String()
	}
	return "messages " + a.String()
}

// parseRanges parses the result of ranges. It rejects numbers above last, which limits the memory that a damaged state
// can use.
func parseRanges(ranges []string, last int64) (seqs, error) {
	var out seqs
	at := int64(0)
	for _, text := range ranges {
		first, end, isRange := strings.Cut(text, "-")
		from, err := strconv.ParseInt(first, 10, 64)
		to := from
		if err == nil && isRange {
			to, err = strconv.ParseInt(end, 10, 64)
		}
		if err != nil || from <= at || to < from || to > last {
			return nil, fmt.Errorf("%q is not a range of messages between %d and %d", text, at+1, last)
		}
		for at = from; at < to; at++ {
			out = append(out, at)
		}
		out = append(out, at)
	}
	return out, nil
}

// MarshalJSON encodes the numbers as a list, never as null.
func (a seqs) MarshalJSON() ([]byte, error) { return json.Marshal(append([]int64{}, a...)) }
