package history

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	"winnow/assistant"
	"winnow/assistant/filter"
	"winnow/assistant/history"
)

// What a pair has when nobody has marked it, and the value of a cleared flag.
const (
	noStars = "0"
	flagOn  = "blue"
	flagOff = "grey"
	noTopic = ""
)

// column holds one kind of mark: which pairs have which value. Pairs with the
// value plain are in no set; a set may be empty.
type column struct {
	plain string
	sets  map[string]seqs
}

// marked is all pairs that do not have the plain value.
func (c column) marked() seqs {
	var all seqs
	for _, s := range c.sets {
		all = append(all, s...)
	}
	slices.Sort(all)
	return all
}

// changes is what has to be given to which pairs to make to of c.
func (c column) changes(to column) map[string]seqs {
	out := map[string]seqs{}
	for value, pairs := range to.sets {
		if gained := pairs.minus(c.sets[value]); len(gained) > 0 {
			out[value] = gained
		}
	}
	if lost := c.marked().minus(to.marked()); len(lost) > 0 {
		out[c.plain] = lost
	}
	return out
}

// give sets the value of pairs.
func (c column) give(value string, pairs seqs) {
	for v, have := range c.sets {
		if v != value {
			c.sets[v] = have.minus(pairs)
		}
	}
	if value != c.plain {
		c.sets[value] = c.sets[value].or(pairs)
	}
}

// values tells the value of each of these pairs.
func (c column) values(pairs seqs) map[int64]string {
	out := make(map[int64]string, len(pairs))
	for _, s := range pairs {
		out[s] = c.plain
	}
	for value, have := range c.sets {
		for _, s := range pairs.and(have) {
			out[s] = value
		}
	}
	return out
}

func (c column) clone() column { return column{c.plain, maps.Clone(c.sets)} }

// marks are everything that the tools can change, at one moment.
type marks struct {
	pairs   seqs // uncut
	columns [kinds]column
	filters map[string]string
}

// The kinds of marks. The set names of topics are the tree.
const (
	stars = iota
	flags
	topics
	kinds
)

func noMarks() marks {
	m := marks{filters: map[string]string{}}
	for kind, plain := range [kinds]string{noStars, flagOn, noTopic} {
		m.columns[kind] = column{plain, map[string]seqs{}}
	}
	return m
}

func (m marks) clone() marks {
	for kind := range m.columns {
		m.columns[kind] = m.columns[kind].clone()
	}
	m.filters = maps.Clone(m.filters)
	return m
}

// newest is the number of the last pair; 0 when there is none.
func (m marks) newest() int64 {
	if len(m.pairs) == 0 {
		return 0
	}
	return m.pairs[len(m.pairs)-1]
}

// below is the pairs of a topic and of those under it.
func (m marks) below(topic string) seqs {
	var all seqs
	for path, pairs := range m.columns[topics].sets {
		if path == topic || strings.HasPrefix(path, topic+history.TopicSeparator) {
			all = append(all, pairs...)
		}
	}
	slices.Sort(all)
	return all
}

// tree is the topic under and those below it by path, counted; "" is all.
func (m marks) tree(under string) []ContextTopic {
	all := map[string]int{}
	for path, pairs := range m.columns[topics].sets {
		names := levels(path)
		for n := range names {
			all[strings.Join(names[:n+1], history.TopicSeparator)] += len(pairs)
		}
	}
	tree := make([]ContextTopic, 0, len(all))
	for _, path := range m.topicPaths() {
		if under != "" && path != under && !strings.HasPrefix(path, under+history.TopicSeparator) {
			continue
		}
		tree = append(tree, ContextTopic{shown(path), len(m.columns[topics].sets[path]), all[path]})
	}
	return tree
}

// topicPaths lists the tree in order.
func (m marks) topicPaths() []string { return slices.Sorted(maps.Keys(m.columns[topics].sets)) }

// mark is the store's word for a value of a kind.
func mark(kind int, value string) history.Mark {
	switch kind {
	case stars:
		n, _ := strconv.Atoi(value) // checked where values come from
		return history.Mark{Star: &n}
	case flags:
		on := value == flagOn
		return history.Mark{Flag: &on}
	}
	return history.Mark{Topic: &value}
}

// read returns the marks as they are now.
func (w *Window) read(ctx context.Context) (marks, error) {
	m := noMarks()
	paths, err := w.store.TopicPaths(ctx)
	if err != nil {
		return m, err
	}
	groups, err := w.store.MarkGroups(ctx)
	if err != nil {
		return m, err
	}
	for _, path := range paths {
		m.columns[topics].sets[path] = nil
	}
	for n := 1; n <= filter.MaxStars; n++ {
		m.columns[stars].sets[strconv.Itoa(n)] = nil
	}
	for _, g := range groups {
		m.pairs = append(m.pairs, g.Seqs...)
		for kind, value := range [kinds]string{strconv.Itoa(g.Star), flagValue(g.Flag), g.Topic} {
			if c := m.columns[kind]; value != c.plain {
				c.sets[value] = append(c.sets[value], g.Seqs...)
			}
		}
	}
	slices.Sort(m.pairs)
	for _, c := range m.columns {
		for _, set := range c.sets {
			slices.Sort(set)
		}
	}
	m.filters, err = w.store.SavedFilters(ctx)
	return m, err
}

// flagValue is the value of a flag.
func flagValue(on bool) string {
	if on {
		return flagOn
	}
	return flagOff
}

func numbers(refs []assistant.Ref) seqs {
	out := make(seqs, len(refs))
	for i, r := range refs {
		out[i] = r.Seq
	}
	return out
}
