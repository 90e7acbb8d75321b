package history

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"winnow/assistant"
)

// TopicSeparator stands between the names of a topic's path.
const TopicSeparator = assistant.TopicSeparator

// Topic is a node of the tree of topics.
type Topic struct {
	Path  string // "AI > Agents"
	Pairs int    // uncut pairs of the topic itself
	All   int    // and of its descendants
}

// splitTopic returns the names of a path; none for the root.
func splitTopic(path string) []string {
	var names []string
	for _, n := range strings.Split(path, strings.TrimSpace(TopicSeparator)) {
		if n = strings.TrimSpace(n); n != "" {
			names = append(names, n)
		}
	}
	return names
}

// TopicPath is a path as a user has typed it, without empty names and needless
// space.
func TopicPath(typed string) string { return strings.Join(splitTopic(typed), TopicSeparator) }

// topicPaths gives the path of every topic by its number; 0 is the root, "". A
// row whose ancestors make a ring, as only damage can, ends where it began.
func (t *tx) topicPaths() (map[int64]string, error) {
	parents, names := map[int64]int64{}, map[int64]string{}
	err := t.each("SELECT n, parent, name FROM topic", nil, func(scan scanner) error {
		var n, parent int64
		var name string
		err := scan(&n, &parent, &name)
		parents[n], names[n] = parent, name
		return err
	})
	paths := map[int64]string{0: ""}
	for n := range names {
		var path []string
		for at, ok := n, true; ok && len(path) < len(names); at = parents[at] {
			var name string
			if name, ok = names[at]; ok {
				path = append(path, name)
			}
		}
		slices.Reverse(path)
		paths[n] = strings.Join(path, TopicSeparator)
	}
	return paths, err
}

// TopicPaths lists the paths of all topics, sorted. It looks at no pair: it
// takes as long as there are topics.
func (s *SQLite) TopicPaths(ctx context.Context) ([]string, error) {
	var paths []string
	err := s.read(ctx, func(t *tx) error {
		all, err := t.topicPaths()
		delete(all, 0)
		paths = slices.Sorted(maps.Values(all))
		return err
	})
	return paths, err
}

// Topics lists all topics with their counts, sorted by path. It looks at each pair.
func (s *SQLite) Topics(ctx context.Context) ([]Topic, error) {
	var paths map[int64]string
	var counts map[int64]int
	err := s.read(ctx, func(t *tx) (err error) {
		if paths, err = t.topicPaths(); err != nil {
			return err
		}
		counts, err = keyed[int64, int](t, "SELECT topic, count(*) FROM pair WHERE cut IS NULL GROUP BY topic")
		return err
	})
	if err != nil {
		return nil, err
	}
	all := map[string]int{}
	for n, count := range counts {
		for path := paths[n]; path != ""; path = path[:max(strings.LastIndex(path, TopicSeparator), 0)] {
			all[path] += count
		}
	}
	topics := make([]Topic, 0, len(paths))
	for n, path := range paths {
		if n != 0 {
			topics = append(topics, Topic{path, counts[n], all[path]})
		}
	}
	slices.SortFunc(topics, func(a, b Topic) int { return strings.Compare(a.Path, b.Path) })
	return topics, nil
}

// CreateTopic creates a topic and those that lack above it. One that exists stays.
func (s *SQLite) CreateTopic(ctx context.Context, path string) error {
	if len(splitTopic(path)) == 0 {
		return fmt.Errorf("%w: a topic needs a name", ErrTopic)
	}
	return s.change(ctx, func(c *change) error {
		_, err := c.topic(path)
		return err
	})
}

// RenameTopic gives the topic at path another name in the same place. A name
// with the separator in it is a path: see MoveTopic.
func (s *SQLite) RenameTopic(ctx context.Context, path, newName string) error {
	names, old := splitTopic(newName), splitTopic(path)
	if len(names) != 1 {
		return fmt.Errorf("%w: %q is not one name", ErrTopic, newName)
	}
	if len(old) == 0 {
		return fmt.Errorf("%w: the root has no name", ErrTopic)
	}
	return s.MoveTopic(ctx, path, strings.Join(append(old[:len(old)-1:len(old)-1], names[0]), TopicSeparator))
}

// MoveTopic gives the topic at path, with all below it, the path to. The topics
// that lack above to are created. It refuses to move a topic below itself or
// onto another one.
func (s *SQLite) MoveTopic(ctx context.Context, path, to string) error {
	names := splitTopic(to)
	if len(names) == 0 {
		return fmt.Errorf("%w: a topic needs a name", ErrTopic)
	}
	return s.change(ctx, func(c *change) error {
		at, err := c.existing(path)
		if err != nil {
			return err
		}
		parent, err := c.topic(strings.Join(names[:len(names)-1], TopicSeparator))
		if err != nil {
			return err
		}
		for up := parent; up != 0; {
			if up == at {
				return fmt.Errorf("%w: %q cannot move below itself", ErrTopic, path)
			}
			if up, _, err = c.number("SELECT parent FROM topic WHERE n = ?", up); err != nil {
				return err
			}
		}
		leaf := names[len(names)-1]
		if there, found, err := c.find(name{"topic", parent, leaf}); err != nil {
			return err
		} else if found && there != at {
			return fmt.Errorf("%w: %q exists already", ErrTopic, to)
		}
		return c.run("UPDATE topic SET parent = ?, name = ? WHERE n = ?", parent, leaf, at)
	})
}

// DeleteTopic removes the topic; its pairs and the topics below it go to its
// parent. A topic of the same name there takes over the pairs of its namesake.
func (s *SQLite) DeleteTopic(ctx context.Context, path string) error {
	return s.change(ctx, func(c *change) error {
		at, err := c.existing(path)
		if err != nil {
			return err
		}
		parent, _, err := c.number("SELECT parent FROM topic WHERE n = ?", at)
		if err != nil {
			return err
		}
		return c.mergeTopic(at, parent)
	})
}

// mergeTopic moves everything in topic at to topic into and removes it.
func (c *change) mergeTopic(at, into int64) error {
	children, err := keyed[int64, string](c.tx, "SELECT n, name FROM topic WHERE parent = ?", at)
	if err != nil {
		return err
	}
	// The topic goes first: a child of the same name can then take its place.
	if err := c.run("DELETE FROM topic WHERE n = ?", at); err != nil {
		return err
	}
	if err := c.run("UPDATE pair SET topic = ? WHERE topic = ?", into, at); err != nil {
		return err
	}
	for _, child := range slices.Sorted(maps.Keys(children)) {
		namesake, found, err := c.find(name{"topic", into, children[child]})
		if err == nil && found {
			err = c.mergeTopic(child, namesake)
		} else if err == nil {
			err = c.run("UPDATE topic SET parent = ? WHERE n = ?", into, child)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// existing is the number of the topic at path, which must exist and not be the root.
func (c *change) existing(path string) (int64, error) {
	at, found := int64(0), false
	for _, n := range splitTopic(path) {
		var err error
		if at, found, err = c.find(name{"topic", at, n}); err != nil {
			return 0, err
		}
		if !found {
			break
		}
	}
	if !found {
		return 0, fmt.Errorf("%w: there is no topic %q", ErrTopic, path)
	}
	return at, nil
}

// missingTopics lists the topics that a path needs and that do not exist, those
// above first.
func missingTopics(path string, paths map[int64]string) (missing []string) {
	existing := map[string]bool{}
	for _, p := range paths {
		existing[p] = true
	}
	names := splitTopic(path)
	for n := range names {
		if p := strings.Join(names[:n+1], TopicSeparator); !existing[p] {
			missing = append(missing, p)
		}
	}
	return missing
}

// removeEmpty removes a topic in which there is nothing, not even a pair that
// was cut. One that is gone, or has another name by now, is left.
func (c *change) removeEmpty(path string) error {
	at, err := c.existing(path)
	if errors.Is(err, ErrTopic) {
		return nil
	}
	if err != nil {
		return err
	}
	return c.run(`DELETE FROM topic WHERE n = ?1
		AND NOT EXISTS (SELECT 1 FROM pair WHERE topic = ?1)
		AND NOT EXISTS (SELECT 1 FROM topic WHERE parent = ?1)`, at)
}

// session is the number of a session, created when it is new.
func (c *change) session(id string, started time.Time) (int64, error) {
	return c.named(name{"session", 0, id},
		"INSERT INTO session (id, started, used, touched) VALUES (?, ?, ?, ?) RETURNING n", id, started.UnixMilli(), c.now.UnixMilli(), c.rev)
}

// model is the number of a model, created when it is new.
func (c *change) model(text string) (int64, error) {
	return c.named(name{"model", 0, text}, "INSERT INTO model (name) VALUES (?) RETURNING n", text)
}

// topic is the number of the topic at path; the topics that lack on the way are created.
func (c *change) topic(path string) (at int64, err error) {
	for _, n := range splitTopic(path) {
		if at, err = c.named(name{"topic", at, n}, "INSERT INTO topic (parent, name) VALUES (?, ?) RETURNING n", at, n); err != nil {
			return 0, err
		}
	}
	return at, nil
}

// find is the number of n; found is false when there is none.
func (t *tx) find(n name) (at int64, found bool, err error) {
	switch n.table {
	case "session":
		return t.number("SELECT n FROM session WHERE id = ?", n.text)
	case "model":
		return t.number("SELECT n FROM model WHERE name = ?", n.text)
	default:
		return t.number("SELECT n FROM topic WHERE parent = ? AND name = ?", n.parent, n.text)
	}
}

func (c *change) named(n name, insert string, args ...any) (int64, error) {
	if at, ok := c.names[n]; ok {
		return at, nil
	}
	at, found, err := c.find(n)
	if err == nil && !found {
		at, _, err = c.number(insert, args...)
	}
	if err == nil {
		c.names[n] = at
	}
	return at, err
}
