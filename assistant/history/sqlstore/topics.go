package sqlstore

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"winnow/assistant/history"
)

// TopicPaths implements history.Store.
func (s *Store) TopicPaths(ctx context.Context) (paths []string, err error) {
	err = s.Read(ctx, func(t *Tx) { paths = topicPaths(t) })
	return paths, err
}

func topicPaths(t *Tx) []string { return List[string](t, "SELECT path FROM topic ORDER BY path") }

// Authors implements history.Store.
func (s *Store) Authors(ctx context.Context) (names []string, err error) {
	err = s.Read(ctx, func(t *Tx) { names = List[string](t, s.AuthorNames) })
	return names, err
}

// Topics implements history.Store.
func (s *Store) Topics(ctx context.Context) (topics []history.Topic, err error) {
	const query = `SELECT path, coalesce(g.pairs, 0) FROM topic
		LEFT JOIN (SELECT topic, count(*) AS pairs FROM pair WHERE cut IS NULL GROUP BY topic) g ON g.topic = n ORDER BY path`
	all := map[string]int{}
	err = s.Read(ctx, func(t *Tx) {
		topics = []history.Topic{}
		clear(all)
		t.Each(query, nil, func(scan Scanner) {
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

// errNoName is returned if the root was given as a topic.
var errNoName = fmt.Errorf("%w: a topic needs a name", history.ErrTopic)

// CreateTopic implements history.Store.
func (s *Store) CreateTopic(ctx context.Context, path string) error {
	if history.TopicPath(path) == "" {
		return errNoName
	}
	return s.change(ctx, func(c *Change) { c.topic(path) })
}

// MoveTopic implements history.Store.
func (s *Store) MoveTopic(ctx context.Context, path, to string) error {
	path, to = history.TopicPath(path), history.TopicPath(to)
	if to == "" {
		return errNoName
	}
	if isBelow(to, path) {
		return fmt.Errorf("%w: %q cannot be moved below itself", history.ErrTopic, path)
	}
	return s.change(ctx, func(c *Change) {
		moved := c.topicsAt(path)
		if _, exists := c.Number("SELECT n FROM topic WHERE path = ?", to); exists && to != path {
			c.Fail(fmt.Errorf("%w: %q already exists", history.ErrTopic, to))
		}
		c.topic(history.ParentTopic(to))
		for _, old := range moved {
			c.Run("UPDATE topic SET path = ? WHERE path = ?", to+strings.TrimPrefix(old, path), old)
		}
	})
}

// DeleteTopic implements history.Store.
func (s *Store) DeleteTopic(ctx context.Context, path string) error {
	path = history.TopicPath(path)
	return s.change(ctx, func(c *Change) {
		for _, old := range c.topicsAt(path) { // from the top down, so that a topic that gets a deleted path is a new topic
			into := c.topic(history.ParentTopic(path) + history.TopicSeparator + strings.TrimPrefix(old, path))
			c.Run("UPDATE pair SET topic = ? WHERE topic = (SELECT n FROM topic WHERE path = ?)", into, old)
			c.Run("DELETE FROM topic WHERE path = ?", old)
		}
	})
}

// isBelow reports whether a topic is a descendant of another.
func isBelow(path, ancestor string) bool {
	return strings.HasPrefix(path, ancestor+history.TopicSeparator)
}

// topicsAt lists a topic, which must exist, and all topics below it, sorted.
func (c *Change) topicsAt(path string) []string {
	paths := slices.DeleteFunc(topicPaths(c.Tx), func(other string) bool { return other != path && !isBelow(other, path) })
	if path == "" || !slices.Contains(paths, path) {
		c.Fail(fmt.Errorf("%w: there is no topic %q", history.ErrTopic, path))
	}
	return paths
}

// topic returns the number of the topic at path (0 for the root), creating missing topics.
func (c *Change) topic(path string) (n int64) {
	for _, path := range history.TopicChain(path) {
		var found bool
		if n, found = c.Number("SELECT n FROM topic WHERE path = ?", path); !found {
			n = c.insert("INSERT INTO topic (path) VALUES (?)", "n", path)
			c.newTopics = append(c.newTopics, path)
		}
	}
	return n
}

// removeEmpty removes a topic if it has no topics below it and no pairs, not even cut ones.
func (c *Change) removeEmpty(path string) {
	if !slices.ContainsFunc(topicPaths(c.Tx), func(other string) bool { return isBelow(other, path) }) {
		c.Run("DELETE FROM topic WHERE path = ? AND NOT EXISTS (SELECT 1 FROM pair WHERE pair.topic = topic.n)", path)
	}
}
