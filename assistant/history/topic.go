package history

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Topic is a node of the tree of topics.
type Topic struct {
	Path  string // "AI > Agents"
	Pairs int    // uncut pairs of the topic itself
	All   int    // and of its descendants
}

// topicNode is a row of the tree.
type topicNode struct {
	n, parent int64
	name      string
}

// topicPaths gives the path of every topic by its number; 0 is the root, "". A
// row whose ancestors make a ring, as only damage can, hangs below the root.
func topicPaths(nodes []topicNode) map[int64]string {
	byNumber := make(map[int64]topicNode, len(nodes))
	for _, t := range nodes {
		byNumber[t.n] = t
	}
	paths := make(map[int64]string, len(nodes)+1)
	paths[0] = ""
	for _, t := range nodes {
		var names []string
		for at, ok := t, true; ok && len(names) <= len(nodes); at, ok = byNumber[at.parent] {
			names = append(names, at.name)
		}
		slices.Reverse(names)
		paths[t.n] = strings.Join(names, TopicSeparator)
	}
	return paths
}

// TopicPaths lists the paths of all topics, sorted. It looks at no pair: it
// takes as long as there are topics.
func (s *Store) TopicPaths(ctx context.Context) ([]string, error) {
	var paths []string
	err := s.read(ctx, func(r *reader) error {
		nodes, err := r.topics()
		for n, path := range topicPaths(nodes) {
			if n != 0 {
				paths = append(paths, path)
			}
		}
		return err
	})
	slices.Sort(paths)
	return paths, err
}

// TopicPath is a path as a user has typed it, without empty names and needless
// space.
func TopicPath(typed string) string {
	var names []string
	for _, name := range strings.Split(typed, strings.TrimSpace(TopicSeparator)) {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return strings.Join(names, TopicSeparator)
}

// Topics lists all topics with their counts, sorted by path. Until the index of
// all pairs is read it has the database count, which looks at each pair.
func (s *Store) Topics(ctx context.Context) ([]Topic, error) {
	var paths map[int64]string
	var counts map[int64]int
	var err error
	if s.index.current.Load() != nil {
		paths, counts, err = s.countedInMemory(ctx)
	} else {
		paths, counts, err = s.countedOnDisk(ctx)
	}
	if err != nil {
		return nil, err
	}
	all := map[string]int{}
	for n, count := range counts {
		for path := paths[n]; path != ""; path = aboveTopic(path) {
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

// aboveTopic is the path of the topic above; "" is the root.
func aboveTopic(path string) string { return path[:max(strings.LastIndex(path, TopicSeparator), 0)] }

// countedInMemory counts the uncut pairs of each topic in the index.
func (s *Store) countedInMemory(ctx context.Context) (paths map[int64]string, counts map[int64]int, err error) {
	snap, err := s.index.fresh(ctx)
	if err != nil {
		return nil, nil, err
	}
	counts = map[int64]int{}
	for _, b := range snap.blocks {
		for i, bits := range b.bits {
			if bits&cutBit == 0 {
				counts[int64(b.topic[i])]++
			}
		}
	}
	return snap.names.topics, counts, nil
}

// countedOnDisk has the database count them.
func (s *Store) countedOnDisk(ctx context.Context) (paths map[int64]string, counts map[int64]int, err error) {
	counts = map[int64]int{}
	err = s.read(ctx, func(r *reader) error {
		nodes, err := r.topics()
		if err != nil {
			return err
		}
		paths = topicPaths(nodes)
		return r.each("SELECT topic, count(*) FROM pair WHERE cut IS NULL GROUP BY topic", nil, func(scan scanner) error {
			var topic int64
			var n int
			err := scan(&topic, &n)
			counts[topic] = n
			return err
		})
	})
	return paths, counts, err
}

// CreateTopic makes a topic and those that lack above it. One that exists stays.
func (s *Store) CreateTopic(ctx context.Context, path string) error {
	if len(splitTopic(path)) == 0 {
		return fmt.Errorf("%w: a topic needs a name", ErrTopic)
	}
	return s.write(ctx, func(t *tx) error {
		c, err := s.change(t)
		if err != nil {
			return err
		}
		_, err = c.topic(path)
		return err
	})
}

// RenameTopic gives the topic at path another name in the same place. A name
// with the separator in it is a path: see MoveTopic.
func (s *Store) RenameTopic(ctx context.Context, path, newName string) error {
	names := splitTopic(newName)
	if len(names) != 1 {
		return fmt.Errorf("%w: %q is not one name", ErrTopic, newName)
	}
	old := splitTopic(path)
	if len(old) == 0 {
		return fmt.Errorf("%w: the root has no name", ErrTopic)
	}
	return s.MoveTopic(ctx, path, strings.Join(append(old[:len(old)-1:len(old)-1], names[0]), TopicSeparator))
}

// MoveTopic gives the topic at path, with all below it, the path to. The topics
// that lack above to are made. It refuses to move a topic below itself or onto
// another one.
func (s *Store) MoveTopic(ctx context.Context, path, to string) error {
	names := splitTopic(to)
	if len(names) == 0 {
		return fmt.Errorf("%w: a topic needs a name", ErrTopic)
	}
	return s.write(ctx, func(t *tx) error {
		c, err := s.change(t)
		if err != nil {
			return err
		}
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
		return c.exec("UPDATE topic SET parent = ?, name = ? WHERE n = ?", parent, leaf, at)
	})
}

// DeleteTopic removes the topic; its pairs and the topics below it go to its
// parent. A topic of the same name there takes over the pairs of its namesake.
func (s *Store) DeleteTopic(ctx context.Context, path string) error {
	return s.write(ctx, func(t *tx) error {
		c, err := s.change(t)
		if err != nil {
			return err
		}
		at, err := c.existing(path)
		if err != nil {
			return err
		}
		parent, _, err := c.number("SELECT parent FROM topic WHERE n = ?", at)
		if err != nil {
			return err
		}
		return c.dissolve(at, parent)
	})
}

// dissolve moves everything in topic at to topic into and removes it.
func (c *change) dissolve(at, into int64) error {
	nodes, err := c.below(at)
	if err != nil {
		return err
	}
	// The topic goes first: a child of the same name can then take its place.
	if err := c.exec("DELETE FROM topic WHERE n = ?", at); err != nil {
		return err
	}
	if err := c.exec("UPDATE pair SET topic = ?, rev = ? WHERE topic = ?", into, c.rev, at); err != nil {
		return err
	}
	for _, child := range nodes {
		namesake, found, err := c.find(name{"topic", into, child.name})
		if err == nil && found {
			err = c.dissolve(child.n, namesake)
		} else if err == nil {
			err = c.exec("UPDATE topic SET parent = ? WHERE n = ?", into, child.n)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *change) below(parent int64) ([]topicNode, error) {
	rows, err := c.query("SELECT n, name FROM topic WHERE parent = ? ORDER BY n", parent)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var nodes []topicNode
	for rows.Next() {
		t := topicNode{parent: parent}
		if err := rows.Scan(&t.n, &t.name); err != nil {
			return nil, err
		}
		nodes = append(nodes, t)
	}
	return nodes, rows.Err()
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
