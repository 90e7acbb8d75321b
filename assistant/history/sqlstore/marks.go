package sqlstore

import (
	"context"
	"encoding/json"
	"slices"

	"winnow/assistant"
	"winnow/assistant/history"
)

// marks reads the marks of the pairs with these seqs; it skips pairs that do not exist.
func (c *Change) marks(seqs []int64) (all []assistant.PairMark) {
	query := "SELECT p.seq, p.star, p.flag = 1, coalesce(t.path, '') FROM " + c.s.Seqs +
		" j JOIN pair p ON p.seq = j.seq LEFT JOIN topic t ON t.n = p.topic ORDER BY j.at"
	c.Each(query, []any{asArray(seqs)}, func(scan Scanner) {
		m := assistant.PairMark{Star: new(int), Flag: new(bool), Topic: new(string)}
		scan(&m.Seq, m.Star, m.Flag, m.Topic)
		all = append(all, m)
	})
	return all
}

// mark sets the non-nil marks in m on the pairs with these seqs; it skips pairs that do not exist.
func (c *Change) mark(seqs []int64, m history.Mark) {
	var topic, flag any // NULL means no change
	if m.Topic != nil {
		topic = c.topic(*m.Topic)
	}
	if m.Flag != nil {
		flag = bit(*m.Flag)
	}
	c.Run("UPDATE pair SET star = coalesce(?, star), flag = coalesce(?, flag), topic = coalesce(?, topic) WHERE seq IN (SELECT j.seq FROM "+
		c.s.Seqs+" j)", m.Star, flag, topic, asArray(seqs))
}

// Mark implements history.Store.
func (s *Store) Mark(ctx context.Context, seqs []int64, m history.Mark) (before history.Snapshot, err error) {
	if err := history.CheckStar(m.Star); err != nil {
		return history.Snapshot{}, err
	}
	err = s.change(ctx, func(c *Change) {
		c.require(seqs)
		before = history.Snapshot{Marks: c.marks(seqs)}
		c.mark(seqs, m)
		for i := range before.Marks {
			had := &before.Marks[i]
			if m.Star == nil {
				had.Star = nil
			}
			if m.Flag == nil {
				had.Flag = nil
			}
			if m.Topic == nil {
				had.Topic = nil
			}
		}
		before.NewTopics = c.newTopics
	})
	if err != nil {
		return history.Snapshot{}, err
	}
	return before, nil
}

// Restore implements history.Store.
func (s *Store) Restore(ctx context.Context, to history.Snapshot) error {
	return s.change(ctx, func(c *Change) {
		for _, m := range to.Marks {
			c.mark([]int64{m.Seq}, history.Mark{Star: m.Star, Flag: m.Flag, Topic: m.Topic})
		}
		for _, path := range to.Topics {
			c.topic(path)
		}
		for _, path := range slices.Backward(to.NewTopics) {
			c.removeEmpty(path)
		}
		for name, line := range to.Filters {
			c.putFilter(name, line)
		}
	})
}

// MarkGroups implements history.Store.
func (s *Store) MarkGroups(ctx context.Context) (groups []history.MarkGroup, err error) {
	query := "SELECT star, flag = 1, coalesce((SELECT path FROM topic WHERE n = pair.topic), ''), CAST(" + s.SeqArray + `(seq ORDER BY seq) AS text)
		FROM pair WHERE cut IS NULL GROUP BY star, flag, topic`
	err = s.Read(ctx, func(t *Tx) {
		groups = nil
		t.Each(query, nil, func(scan Scanner) {
			var g history.MarkGroup
			var seqs string
			scan(&g.Star, &g.Flag, &g.Topic, &seqs)
			if t.err == nil {
				t.Fail(json.Unmarshal([]byte(seqs), &g.Seqs))
			}
			groups = append(groups, g)
		})
	})
	return groups, err
}
