package history

import (
	"fmt"
	"strings"
	"time"

	"winnow/assistant"
)

// TopicSeparator stands between the names of a topic's path.
const TopicSeparator = assistant.TopicSeparator

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

// session is the number of a session, made when it is new.
func (c *change) session(id string, started time.Time) (int64, error) {
	return c.named(name{"session", 0, id},
		"INSERT INTO session (id, started, used, touched) VALUES (?, ?, ?, ?)", id, started.UnixMilli(), c.now.UnixMilli(), c.rev)
}

// model is the number of a model, made when it is new.
func (c *change) model(text string) (int64, error) {
	return c.named(name{"model", 0, text}, "INSERT INTO model (name) VALUES (?)", text)
}

// topic is the number of the topic at path; the topics that lack on the way are made.
func (c *change) topic(path string) (int64, error) {
	at := int64(0)
	for _, n := range splitTopic(path) {
		var err error
		if at, err = c.named(name{"topic", at, n}, "INSERT INTO topic (parent, name) VALUES (?, ?)", at, n); err != nil {
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
	case "topic":
		return t.number("SELECT n FROM topic WHERE parent = ? AND name = ?", n.parent, n.text)
	}
	return 0, false, fmt.Errorf("no table of names %q", n.table)
}

func (c *change) named(n name, insert string, args ...any) (int64, error) {
	if at, ok := c.names[n]; ok {
		return at, nil
	}
	at, found, err := c.find(n)
	if err == nil && !found {
		at, err = c.insert(insert, args...)
	}
	if err == nil {
		c.names[n] = at
	}
	return at, err
}
