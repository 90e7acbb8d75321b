package history

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"winnow/assistant"
)

// marks are what a user sets on a pair.
type marks struct {
	star  int
	flag  bool
	topic int64
	path  string // of topic
}

// marksOf reads the marks of a pair; found is false when there is none.
func (c *change) marksOf(seq int64) (m marks, found bool, err error) {
	stmt, err := c.stmt("SELECT star, flag, topic FROM pair WHERE seq = ?")
	if err != nil {
		return m, false, err
	}
	err = stmt.QueryRowContext(c.w.ctx, seq).Scan(&m.star, &m.flag, &m.topic)
	if errors.Is(err, sql.ErrNoRows) {
		return m, false, nil
	}
	if err == nil {
		m.path, err = c.path(m.topic)
	}
	return m, err == nil, err
}

// path is the path of a topic, "" for the root. It ends at a row that is
// missing, or met a second time, as only damage can make it.
func (c *change) path(topic int64) (string, error) {
	stmt, err := c.stmt("SELECT parent, name FROM topic WHERE n = ?")
	if err != nil {
		return "", err
	}
	var names []string
	for met := map[int64]bool{}; topic != 0 && !met[topic]; {
		met[topic] = true
		var name string
		err := stmt.QueryRowContext(c.w.ctx, topic).Scan(&topic, &name)
		if errors.Is(err, sql.ErrNoRows) {
			break
		}
		if err != nil {
			return "", err
		}
		names = append(names, name)
	}
	slices.Reverse(names)
	return strings.Join(names, TopicSeparator), nil
}

// marksFor are the marks that p gets: those that the store has, when they are
// to be kept, else its own.
func (c *change) marksFor(p *assistant.Pair, seq int64) (marks, error) {
	if c.keepMarks && seq != 0 {
		if m, found, err := c.marksOf(seq); err != nil || found {
			if found {
				c.kept[seq] = m
			}
			return m, err
		}
	}
	topic, err := c.topic(p.Topic)
	return marks{star: p.Star, flag: p.Flag, topic: topic}, err
}

// checkMark refuses what could not be a mark.
func checkMark(star *int) error {
	if star != nil && (*star < 0 || *star > maxStar) {
		return fmt.Errorf("history: %d stars; want 0 to %d", *star, maxStar)
	}
	return nil
}

// mark sets marks of pairs and counts those that exist.
func (c *change) mark(seqs []int64, m Mark) (n int, err error) {
	var topic any
	if m.Topic != nil {
		if topic, err = c.topic(*m.Topic); err != nil {
			return 0, err
		}
	}
	for _, seq := range seqs {
		changed, err := c.tx.change(`UPDATE pair SET rev = ?, star = coalesce(?, star),
			flag = coalesce(?, flag), topic = coalesce(?, topic) WHERE seq = ?`, c.rev, m.Star, m.Flag, topic, seq)
		if err != nil {
			return n, err
		}
		n += int(changed)
	}
	return n, nil
}
