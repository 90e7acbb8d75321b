package history

import (
	"cmp"
	"slices"
	"unicode/utf8"

	"winnow/assistant"
	"winnow/assistant/budget"
	"winnow/assistant/history"
)

// cutNote tells the model what to do about a cut context.
const cutNote = "The lists are cut to fit; every count is exact. search_pairs, list_topics and list_sessions give the rest."

// The parts of a cut context, in percent of what is left after the parts before.
const (
	percentTopics = 35
	percentModels = 15
	percentSaved  = 30
	percentNewest = 100
)

// otherModels names the pairs of the models that are not listed one by one.
const otherModels = "(others)"

// lists are what goes into the lists of a context, all of it.
type lists struct {
	topics []ContextTopic
	models []ContextModel
	saved  map[string]string
	newest []PairLine
	room   int // characters that are left
}

// fill returns c with its lists, all of them if they fit into the tokens.
func (f *lists) fill(c Context, tokens int) Context {
	limit := charsOf(tokens)
	parts := []struct {
		percent int
		put     func(*Context) bool
	}{{percentTopics, f.putTopics}, {percentModels, f.putModels}, {percentSaved, f.putSaved}, {percentNewest, f.putNewest}}
	whole, fits := c, true
	f.room = limit - size(c)
	for _, p := range parts {
		fits = fits && p.put(&whole)
	}
	if fits {
		return whole
	}
	c.Truncated, c.Note = true, cutNote
	left := limit - size(c)
	for _, p := range parts {
		f.room = left * p.percent / 100
		given := f.room
		p.put(&c)
		left -= given - f.room
	}
	return c
}

// add adds items to a list as long as there is room; false when some are left out.
func add[T any](f *lists, list *[]T, items []T) bool {
	for _, item := range items {
		cost := size(item) + len(",")
		if cost > f.room {
			return false
		}
		f.room -= cost
		*list = append(*list, item)
	}
	return true
}

// putTopics begins with the topics that hold most, and lists them by path.
func (f *lists) putTopics(c *Context) bool {
	tree := slices.Clone(f.topics)
	slices.SortStableFunc(tree, func(a, b ContextTopic) int { return cmp.Compare(b.All, a.All) })
	all := add(f, &c.Topics, tree)
	slices.SortFunc(c.Topics, func(a, b ContextTopic) int { return cmp.Compare(a.Topic, b.Topic) })
	return all
}

func (f *lists) putModels(c *Context) bool { return add(f, &c.Models, f.models) }

func (f *lists) putSaved(c *Context) bool {
	items := make([]ContextSaved, 0, len(f.saved))
	for _, name := range sortedKeys(f.saved) {
		items = append(items, ContextSaved{shown(name), shown(f.saved[name])})
	}
	return add(f, &c.Saved, items)
}

func (f *lists) putNewest(c *Context) bool { return add(f, &c.Newest, f.newest) }

// mostUsed lists the models that answered most, the most used first, and the
// pairs of the rest as one.
func mostUsed(groups []history.Group) []ContextModel {
	slices.SortFunc(groups, func(a, b history.Group) int {
		return cmp.Or(cmp.Compare(b.Pairs, a.Pairs), cmp.Compare(a.Value, b.Value))
	})
	rest := 0
	list := []ContextModel{}
	for i, g := range groups {
		if i < maxModelsShown {
			list = append(list, ContextModel{shown(g.Value), g.Pairs})
		} else {
			rest += g.Pairs
		}
	}
	if rest > 0 {
		list = append(list, ContextModel{otherModels, rest})
	}
	return list
}

// size is how many characters v takes as JSON.
func size(v any) int {
	text, err := assistant.PlainJSON(v)
	if err != nil {
		return 0 // only what encodes is put in
	}
	return utf8.RuneCount(text)
}

// charsOf is how many characters are estimated as so many tokens.
func charsOf(tokens int) int { return int(float64(tokens) * budget.Params{}.CPT()) }
