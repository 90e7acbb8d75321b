package history

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"winnow/assistant"
)

// storedIntents is how many intents are remembered. One would do for a single
// process; several processes with a journal each share the database.
const storedIntents = 1000

func (s *store) Commit(ctx context.Context, b *assistant.Batch) error {
	var faults []error
	for _, p := range b.Put {
		faults = append(faults, checkPair(p))
	}
	for _, m := range b.Marks {
		faults = append(faults, checkStar(m.Star))
	}
	if err := errors.Join(faults...); err != nil {
		return err
	}
	requests, err := s.packRequests(b.Requests)
	if err != nil {
		return fmt.Errorf("history: commit: %w", err)
	}
	placed := make([]assistant.Pair, len(b.Put)) // what is stored: b.Put changes only when it is
	for i, p := range b.Put {
		placed[i] = *p
	}
	err = s.change(ctx, func(c *change) error {
		_, done, err := c.number("SELECT 1 FROM intent WHERE name = ?", b.Intent)
		if err != nil {
			return err
		}
		if done {
			return c.placeKnown(placed)
		}
		err = c.apply(b, placed)
		for i := range requests {
			if at := slices.Index(b.Put, requests[i].Pair); err == nil && at >= 0 {
				requests[i].Pair = &placed[at]
			}
		}
		if err == nil {
			err = c.storeRequests(requests)
		}
		if err == nil && b.Intent != "" {
			err = errors.Join(c.run("INSERT INTO intent (name) VALUES (?)", b.Intent),
				c.run("DELETE FROM intent WHERE n <= (SELECT max(n) FROM intent) - ?", storedIntents))
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("history: commit: %w", err)
	}
	for i, p := range b.Put {
		at := placed[i]
		p.Seq, p.ID, p.Star, p.Flag, p.Topic = at.Seq, at.ID, at.Star, at.Flag, at.Topic
	}
	return nil
}

// change is a running transaction that changes pairs, topics or filters, under
// its number rev.
type change struct {
	*tx
	s   *store
	rev int64
	now time.Time
}

// change runs one transaction that changes what filters select.
func (s *store) change(ctx context.Context, f func(*change) error) error {
	var rev int64
	err := s.write(ctx, func(t *tx) error {
		c, err := s.newChange(t)
		if err != nil {
			return err
		}
		rev = c.rev
		return f(c)
	})
	if err == nil {
		s.revision.Store(rev)
	}
	return err
}

func (s *store) newChange(t *tx) (*change, error) {
	rev, _, err := t.number("UPDATE meta SET rev = rev + 1 RETURNING rev")
	return &change{tx: t, s: s, rev: rev, now: s.options.Now()}, err
}

// placeKnown gives the pairs of an intent that was committed before the numbers
// they got then.
func (c *change) placeKnown(pairs []assistant.Pair) (err error) {
	for i := range pairs {
		if p := &pairs[i]; p.Seq == 0 && p.ID != "" && err == nil {
			p.Seq, _, err = c.number("SELECT seq FROM pair WHERE id = ?", p.ID)
		}
	}
	return err
}

func (c *change) apply(b *assistant.Batch, placed []assistant.Pair) error {
	for _, seq := range b.Delete {
		if err := c.delete(seq); err != nil {
			return err
		}
	}
	if b.Uncut != "" {
		if err := c.run("UPDATE pair SET cut = NULL WHERE cut = ?", b.Uncut); err != nil {
			return err
		}
	}
	if b.Cut != nil {
		if err := c.cut(*b.Cut); err != nil {
			return err
		}
	}
	for i := range placed {
		if err := c.put(&placed[i], b.KeepMarks); err != nil {
			return err
		}
	}
	for _, m := range b.Marks {
		if err := c.mark(m); err != nil {
			return err
		}
	}
	return nil
}

func (c *change) cut(cut assistant.Cut) error {
	if cut.Name == "" {
		return errors.New("a cut without a name could not be undone")
	}
	for _, session := range cut.Sessions {
		err := c.run("UPDATE pair SET cut = ? WHERE session = (SELECT n FROM session WHERE id = ?) AND seq >= ? AND cut IS NULL",
			cut.Name, session, cut.From)
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *change) delete(seq int64) error {
	for _, table := range []string{"pair", "body", "unindexed", "request"} {
		if err := c.run("DELETE FROM "+table+" WHERE seq = ?", seq); err != nil {
			return err
		}
	}
	return c.run("DELETE FROM words WHERE rowid = ?", seq)
}

// put inserts or replaces a pair and sets its Seq and ID. With keepMarks a pair
// that is there already gets its marks from the store.
func (c *change) put(p *assistant.Pair, keepMarks bool) error {
	if p.ID == "" {
		p.ID = assistant.NewID(c.now)
	}
	if p.Seq == 0 {
		var err error
		if p.Seq, _, err = c.number("SELECT seq FROM pair WHERE id = ?", p.ID); err != nil {
			return err
		}
	}
	if keepMarks {
		had, err := c.marks([]int64{p.Seq})
		if err != nil {
			return err
		}
		for _, m := range had {
			p.Star, p.Flag, p.Topic = *m.Star, *m.Flag, *m.Topic
		}
	}
	if err := c.putRow(p); err != nil {
		return err
	}
	return c.putBody(p)
}

// putRow writes what filters ask about.
func (c *change) putRow(p *assistant.Pair) error {
	session, sessionErr := c.session(p.Session, p.CreatedAt)
	model, modelErr := c.find("SELECT n FROM model WHERE name = ?", "INSERT INTO model (name) VALUES (?) RETURNING n", p.Model)
	topic, topicErr := c.topic(p.Topic)
	if err := errors.Join(sessionErr, modelErr, topicErr); err != nil {
		return err
	}
	var given, owner any // NULL: not known yet, nobody
	if p.Seq != 0 {
		given = p.Seq
	}
	if p.State == assistant.PairSending {
		owner = c.s.owner.token
	}
	_, zone := p.CreatedAt.Zone()
	var err error
	p.Seq, _, err = c.number(`INSERT INTO pair
		(seq, session, topic, model, star, flag, state, sec, nsec, zone, attachments, sends, parts, owner, id)
		VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)
		ON CONFLICT (seq) DO UPDATE SET session=excluded.session, topic=excluded.topic,
			model=excluded.model, star=excluded.star, flag=excluded.flag, state=excluded.state, sec=excluded.sec,
			nsec=excluded.nsec, zone=excluded.zone, attachments=excluded.attachments, sends=excluded.sends,
			parts=excluded.parts, owner=excluded.owner, id=excluded.id
		RETURNING seq`,
		given, session, topic, model, p.Star, p.Flag, stateNumber(p),
		p.CreatedAt.Unix(), p.CreatedAt.Nanosecond(), zone, len(p.Attachments), assistant.PairSends(p), partRunes(p), owner, p.ID)
	return err
}

// putBody writes the texts, and queues them for the full-text index if they changed.
func (c *change) putBody(p *assistant.Pair) error {
	b, err := c.s.body(p)
	if err != nil {
		return err
	}
	_, same, err := c.number("SELECT 1 FROM body WHERE seq = ? AND user = ? AND answer = ?", p.Seq, b.user, b.answer)
	if err != nil {
		return err
	}
	err = c.run(`INSERT OR REPLACE INTO body (seq, user, answer, reasoning, error_code, error_message, more, sum)
		VALUES (?,?,?,?,?,?,?,?)`, p.Seq, b.user, b.answer, b.reasoning, b.errorCode, b.errorMessage, b.more, b.sum(p))
	if err != nil || same {
		return err
	}
	return c.run("INSERT OR IGNORE INTO unindexed (seq) VALUES (?)", p.Seq)
}

// find is the number of what a query finds by its first argument, inserted with
// all arguments when there is none.
func (c *change) find(query, insert string, args ...any) (n int64, err error) {
	n, found, err := c.number(query, args[0])
	if err == nil && !found {
		n, _, err = c.number(insert, args...)
	}
	return n, err
}

func (c *change) session(id string, started time.Time) (int64, error) {
	return c.find("SELECT n FROM session WHERE id = ?",
		"INSERT INTO session (id, started, used, touched) VALUES (?, ?, ?, ?) RETURNING n", id, started.UnixMilli(), c.now.UnixMilli(), c.rev)
}

func (s *store) Append(ctx context.Context, pairs []*assistant.Pair) (added int, err error) {
	err = s.change(ctx, func(c *change) error {
		added = 0
		for _, p := range pairs {
			_, known, err := c.number("SELECT 1 FROM pair WHERE id = ?", p.ID)
			if err == nil && !known {
				added++
				if err = checkPair(p); err == nil {
					err = c.put(p, false)
				}
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	return added, err
}

// checkStar refuses what could not be a rating.
func checkStar(star *int) error {
	if star != nil && (*star < 0 || *star > maxStar) {
		return fmt.Errorf("history: %d stars; want 0 to %d", *star, maxStar)
	}
	return nil
}

// marks reads the marks of the pairs that exist.
func (c *change) marks(seqs []int64) (all []assistant.PairMark, err error) {
	const query = "SELECT p.seq, p.star, p.flag, coalesce(t.path, '') FROM " + inOrder + " LEFT JOIN topic t ON t.n = p.topic ORDER BY j.key"
	err = c.each(query, []any{asArray(seqs)}, func(scan scanner) error {
		m := assistant.PairMark{Star: new(int), Flag: new(bool), Topic: new(string)}
		all = append(all, m)
		return scan(&all[len(all)-1].Seq, m.Star, m.Flag, m.Topic)
	})
	return all, err
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

func (s *store) Mark(ctx context.Context, seqs []int64, m Mark) (before Restored, err error) {
	if err := checkStar(m.Star); err != nil {
		return Restored{}, err
	}
	err = s.change(ctx, func(c *change) error {
		had, err := c.marks(seqs)
		if err != nil {
			return err
		}
		paths, err := c.topicPaths()
		if err != nil {
			return err
		}
		before = Restored{Marks: had}
		if m.Topic != nil {
			before.NewTopics = missingTopics(*m.Topic, paths)
		}
		for i := range had {
			if err := c.mark(assistant.PairMark{Seq: had[i].Seq, Star: m.Star, Flag: m.Flag, Topic: m.Topic}); err != nil {
				return err
			}
			if m.Star == nil {
				had[i].Star = nil
			}
			if m.Flag == nil {
				had[i].Flag = nil
			}
			if m.Topic == nil {
				had[i].Topic = nil
			}
		}
		return nil
	})
	return before, err
}

func (s *store) Restore(ctx context.Context, to Restored) error {
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
