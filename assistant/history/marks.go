package history

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"winnow/assistant"
)

// checkStar refuses what could not be a rating.
func checkStar(star *int) error {
	if star != nil && (*star < 0 || *star > maxStar) {
		return fmt.Errorf("history: %d stars; want 0 to %d", *star, maxStar)
	}
	return nil
}

// marks reads the marks of a pair; found is false when there is none.
func (c *change) marks(seq int64) (m assistant.PairMark, found bool, err error) {
	var star int
	var flag bool
	var topic int64
	err = c.each("SELECT star, flag, topic FROM pair WHERE seq = ?", []any{seq}, func(scan scanner) error {
		found = true
		return scan(&star, &flag, &topic)
	})
	if err != nil || !found {
		return m, false, err
	}
	paths, err := c.topicPaths()
	path := paths[topic]
	return assistant.PairMark{Seq: seq, Star: &star, Flag: &flag, Topic: &path}, true, err
}

// mark sets the marks of one pair that are not nil.
func (c *change) mark(m assistant.PairMark) error {
	var topic any // NULL: as it is
	if m.Topic != nil {
		var err error
		if topic, err = c.topic(*m.Topic); err != nil {
			return err
		}
	}
	return c.run("UPDATE pair SET star = coalesce(?, star), flag = coalesce(?, flag), topic = coalesce(?, topic) WHERE seq = ?",
		m.Star, m.Flag, topic, m.Seq)
}

// Mark sets stars, flags and topics of the pairs with these Seqs in one
// transaction. It returns what Restore needs to set them back; Restored.Marks
// has one entry for each pair that exists.
func (s *SQLite) Mark(ctx context.Context, seqs []int64, m Mark) (before Restored, err error) {
	if err := checkStar(m.Star); err != nil {
		return Restored{}, err
	}
	wanted, err := json.Marshal(seqs)
	if err != nil {
		return Restored{}, err
	}
	err = s.change(ctx, func(c *change) error {
		before = Restored{}
		paths, err := c.topicPaths()
		if err != nil {
			return err
		}
		err = c.each("SELECT p.seq, p.star, p.flag, p.topic FROM json_each(?) j JOIN pair p ON p.seq = j.value ORDER BY j.key",
			[]any{string(wanted)}, func(scan scanner) error {
				var topic int64
				had := assistant.PairMark{Star: new(int), Flag: new(bool)}
				err := scan(&had.Seq, had.Star, had.Flag, &topic)
				path := paths[topic]
				had.Topic = &path
				before.Marks = append(before.Marks, only(had, m))
				return err
			})
		if err != nil {
			return err
		}
		if m.Topic != nil {
			before.NewTopics = missingTopics(*m.Topic, paths)
		}
		for _, had := range before.Marks {
			if err := c.mark(assistant.PairMark{Seq: had.Seq, Star: m.Star, Flag: m.Flag, Topic: m.Topic}); err != nil {
				return err
			}
		}
		return nil
	})
	return before, err
}

// only leaves what m changes of the marks of a pair.
func only(had assistant.PairMark, m Mark) assistant.PairMark {
	if m.Star == nil {
		had.Star = nil
	}
	if m.Flag == nil {
		had.Flag = nil
	}
	if m.Topic == nil {
		had.Topic = nil
	}
	return had
}

// Restore sets back what Mark returned, in one transaction: marks, saved filters, and topics that were created, unless something is in them.
func (s *SQLite) Restore(ctx context.Context, to Restored) error {
	return s.change(ctx, func(c *change) error {
		for _, m := range to.Marks {
			if err := c.mark(m); err != nil {
				return err
			}
		}
		for _, path := range slices.Backward(to.NewTopics) {
			if err := c.removeEmpty(path); err != nil {
				return err
			}
		}
		for name, line := range to.Filters {
			if err := c.putFilter(name, line); err != nil {
				return err
			}
		}
		return nil
	})
}
