package postgres

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"winnow/assistant/history"
)

func (s *store) TopicPaths(ctx context.Context) (paths []string, err error) {
	err = s.read(ctx, func(t *tx) { paths = list[string](t, "SELECT path FROM topic ORDER BY path") })
	return paths, err
}

func (s *store) Topics(ctx context.Context) (topics []history.Topic, err error) {
	const query = `SELECT path, coalesce(g.pairs, 0) FROM topic
		LEFT JOIN (SELECT topic, count(*) AS pairs FROM pair WHERE cut IS NULL GROUP BY topic) g ON g.topic = n ORDER BY path`
	all := map[string]int{}
	err = s.read(ctx, func(t *tx) {
		topics = []history.Topic{}
		clear(all)
		t.each(query, nil, func(scan scanner) {
			var v history.Topic
			scan(&v.Path, &v.Pairs)
			topics = append(topics, v)
			for _, ancestor := range history.TopicChain(v.Path) {
				all[ancestor] += v.Pairs
			}
		})
	})
	for i := range topics {
		topics[i].Total = all[topics[i].Path]
	}
	return topics, err
}

// errNoName refuses the root.
var errNoName = fmt.Errorf("%w: a topic needs a name", history.ErrTopic)

func (s *store) CreateTopic(ctx context.Context, path string) error {
	if history.TopicPath(path) == "" {
		return errNoName
	}
	return s.change(ctx, func(c *change) { c.topic(path) })
}

func (s *store) MoveTopic(ctx context.Context, path, to string) error {
	path, to = history.TopicPath(path), history.TopicPath(to)
	if to == "" {
		return errNoName
	}
	if strings.HasPrefix(to, path+history.TopicSeparator) {
		return fmt.Errorf("%w: %q cannot move below itself", history.ErrTopic, path)
	}
	return s.change(ctx, func(c *change) {
		moved := c.topicsAt(path)
		if _, exists := c.number("SELECT n FROM topic WHERE path = $1", to); exists && to != path {
			c.fail(fmt.Errorf("%w: %q exists already", history.ErrTopic, to))
		}
		c.topic(history.ParentTopic(to))
		for _, old := range moved {
			c.run("UPDATE topic SET path = $1 WHERE path = $2", to+strings.TrimPrefix(old, path), old)
		}
	})
}

func (s *store) DeleteTopic(ctx context.Context, path string) error {
	path = history.TopicPath(path)
	return s.change(ctx, func(c *change) {
		for _, old := range c.topicsAt(path) { // from the top down, so that a topic that takes a deleted path is a new one
			into := c.topic(history.ParentTopic(path) + history.TopicSeparator + strings.TrimPrefix(old, path))
			c.run("UPDATE pair SET topic = $1 WHERE topic = (SELECT n FROM topic WHERE path = $2)", into, old)
			c.run("DELETE FROM topic WHERE path = $1", old)
		}
	})
}

// topicsAt lists a topic, which must exist, and all below it, sorted.
func (c *change) topicsAt(path string) []string {
	paths := list[string](c.tx, "SELECT path FROM topic WHERE path = $1 OR starts_with(path, $1 || ' > ') ORDER BY path", path)
	if path == "" || !slices.Contains(paths, path) {
		c.fail(fmt.Errorf("%w: there is no topic %q", history.ErrTopic, path))
	}
	return paths
}

// topic returns the number of the topic at path, 0 for the root. It creates
// missing topics.
func (c *change) topic(path string) (n int64) {
	for _, path := range history.TopicChain(path) {
		var found bool
		if n, found = c.number("SELECT n FROM topic WHERE path = $1", path); !found {
			n, _ = c.number("INSERT INTO topic (path) VALUES ($1) RETURNING n", path)
			c.newTopics = append(c.newTopics, path)
		}
	}
	return n
}

// removeEmpty removes a topic that has no topic below it and no pair, not even a
// cut one.
func (c *change) removeEmpty(path string) {
	c.run(`DELETE FROM topic WHERE path = $1
		AND NOT EXISTS (SELECT 1 FROM pair WHERE pair.topic = topic.n)
		AND NOT EXISTS (SELECT 1 FROM topic below WHERE starts_with(below.path, $1 || ' > '))`, path)
}
