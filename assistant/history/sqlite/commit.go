package sqlite

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"winnow/assistant"
	"winnow/assistant/history"
)

// storedIntents is how many intents are remembered. One is enough for a single
// process; several processes with a journal each can share the database.
const storedIntents = 1000

func (s *store) Commit(ctx context.Context, b *assistant.Batch) error {
	if err := history.CheckBatch(b); err != nil {
		return err
	}
	requests, err := history.PackRequests(b.Requests, s.Redact)
	if err != nil {
		return fmt.Errorf("history: commit: %w", err)
	}
	stored := make([]assistant.Pair, len(b.Put)) // copies: b.Put changes only after the commit
	for i, p := range b.Put {
		stored[i] = *p
	}
	err = s.change(ctx, func(c *change) {
		if _, done := c.number("SELECT 1 FROM intent WHERE name = ?", b.Intent); done {
			return
		}
		c.apply(b, stored)
		for i := range requests { // the copy of a new pair has its Seq
			if at := slices.Index(b.Put, requests[i].Pair); at >= 0 {
				requests[i].Pair = &stored[at]
			}
		}
		c.storeRequests(requests)
		if b.Intent != "" {
			c.run("INSERT INTO intent (name) VALUES (?)", b.Intent)
			c.run("DELETE FROM intent WHERE n <= (SELECT max(n) FROM intent) - ?", storedIntents)
		}
	})
	if err != nil {
		return fmt.Errorf("history: commit: %w", err)
	}
	for i, p := range b.Put {
		at := stored[i]
		p.Seq, p.ID, p.Star, p.Flag, p.Topic = at.Seq, at.ID, at.Star, at.Flag, at.Topic
	}
	return nil
}

// change is a running transaction that changes pairs, topics or filters, and
// increments meta.rev to rev.
type change struct {
	*tx
	s   *store
	rev int64
	now time.Time

	newTopics []string // paths that topic created, parents first
}

// change runs one transaction that changes what filters can match.
func (s *store) change(ctx context.Context, f func(*change)) error {
	var rev int64
	err := s.write(ctx, func(t *tx) {
		c := s.newChange(t)
		rev = c.rev
		f(c)
	})
	if err == nil {
		s.revision.Store(rev)
	}
	return err
}

func (s *store) newChange(t *tx) *change {
	rev, _ := t.number("UPDATE meta SET rev = rev + 1 RETURNING rev")
	return &change{tx: t, s: s, rev: rev, now: s.options.Now()}
}

func (c *change) apply(b *assistant.Batch, stored []assistant.Pair) {
	for _, seq := range b.Delete {
		for _, table := range []string{"pair", "body", "unindexed", "request"} {
			c.run("DELETE FROM "+table+" WHERE seq = ?", seq)
		}
		c.run("DELETE FROM words WHERE rowid = ?", seq)
	}
	if b.Uncut != "" {
		c.run("UPDATE pair SET cut = NULL WHERE cut = ?", b.Uncut)
	}
	if b.Cut != nil {
		if b.Cut.Name == "" {
			c.fail(errors.New("a cut without a name could not be undone"))
		}
		for _, session := range b.Cut.Sessions {
			c.run("UPDATE pair SET cut = ? WHERE session = (SELECT n FROM session WHERE id = ?) AND seq >= ? AND cut IS NULL",
				b.Cut.Name, session, b.Cut.From)
		}
	}
	for i := range stored {
		c.put(&stored[i], b.KeepMarks)
	}
	for _, m := range b.Marks {
		c.mark(m)
	}
}

// put inserts or replaces a pair and sets its Seq and ID. With keepMarks a pair
// that is replaced keeps its stored marks.
func (c *change) put(p *assistant.Pair, keepMarks bool) {
	if p.ID == "" {
		p.ID = assistant.NewID(c.now)
	}
	if p.Seq == 0 {
		p.Seq, _ = c.number("SELECT seq FROM pair WHERE id = ?", p.ID)
	}
	if keepMarks {
		for _, m := range c.marks([]int64{p.Seq}) {
			p.Star, p.Flag, p.Topic = *m.Star, *m.Flag, *m.Topic
		}
	}
	r, err := history.NewRow(p, c.s.Redact)
	c.fail(err)
	c.putRow(p, &r)
	c.putBody(p.Seq, &r)
}

// putRow writes the columns that filters use, and sets the Seq of a new pair.
func (c *change) putRow(p *assistant.Pair, r *history.Row) {
	session := c.session(p.Session, p.CreatedAt)
	model := c.findOrInsert("SELECT n FROM model WHERE name = ?", "INSERT INTO model (name) VALUES (?) RETURNING n", p.Model)
	topic := c.topic(p.Topic)
	var seq, owner any // NULL: SQLite assigns it; nobody is sending
	if p.Seq != 0 {
		seq = p.Seq
	}
	if p.State == assistant.PairSending {
		owner = c.s.owner.token
	}
	_, zone := p.CreatedAt.Zone()
	p.Seq, _ = c.number(`INSERT INTO pair
		(seq, session, topic, model, star, flag, state, sec, nsec, zone, attachments, sends, parts, owner, id)
		VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)
		ON CONFLICT (seq) DO UPDATE SET session=excluded.session, topic=excluded.topic,
			model=excluded.model, star=excluded.star, flag=excluded.flag, state=excluded.state, sec=excluded.sec,
			nsec=excluded.nsec, zone=excluded.zone, attachments=excluded.attachments, sends=excluded.sends,
			parts=excluded.parts, owner=excluded.owner, id=excluded.id
		RETURNING seq`,
		seq, session, topic, model, p.Star, p.Flag, r.StateNumber,
		p.CreatedAt.Unix(), p.CreatedAt.Nanosecond(), zone, len(p.Attachments), assistant.PairContributes(p), r.Parts, owner, p.ID)
}

// putBody writes the texts, and queues them for the full-text index if they changed.
func (c *change) putBody(seq int64, r *history.Row) {
	_, same := c.number("SELECT 1 FROM body WHERE seq = ? AND user = ? AND answer = ?", seq, r.UserText, r.AssistantText)
	c.run(`INSERT OR REPLACE INTO body (seq, user, answer, reasoning, error_code, error_message, more, sum) VALUES (?,?,?,?,?,?,?,?)`,
		seq, r.UserText, r.AssistantText, r.Reasoning, r.ErrorCode, r.ErrorMessage, r.More, r.Sum)
	if !same {
		c.run("INSERT OR IGNORE INTO unindexed (seq) VALUES (?)", seq)
	}
}

// findOrInsert returns the number that query finds by the first argument; when
// there is none, it inserts a row with all arguments.
func (c *change) findOrInsert(query, insert string, args ...any) int64 {
	n, found := c.number(query, args[0])
	if !found {
		n, _ = c.number(insert, args...)
	}
	return n
}

func (c *change) session(id string, started time.Time) int64 {
	return c.findOrInsert("SELECT n FROM session WHERE id = ?",
		"INSERT INTO session (id, started, used, touched) VALUES (?, ?, ?, ?) RETURNING n", id, started.UnixMilli(), c.now.UnixMilli(), c.rev)
}

func (s *store) Append(ctx context.Context, pairs []*assistant.Pair) (added int, err error) {
	err = s.change(ctx, func(c *change) {
		for _, p := range pairs {
			if _, known := c.number("SELECT 1 FROM pair WHERE id = ?", p.ID); !known {
				c.fail(history.CheckPair(p))
				c.put(p, false)
				added++
			}
		}
	})
	if err != nil {
		added = 0
	}
	return added, err
}

// marks reads the marks of those pairs that exist.
func (c *change) marks(seqs []int64) (all []assistant.PairMark) {
	const query = "SELECT p.seq, p.star, p.flag, coalesce(t.path, '') FROM " + requestedPairs + " LEFT JOIN topic t ON t.n = p.topic ORDER BY j.key"
	c.each(query, []any{asArray(seqs)}, func(scan scanner) {
		m := assistant.PairMark{Star: new(int), Flag: new(bool), Topic: new(string)}
		scan(&m.Seq, m.Star, m.Flag, m.Topic)
		all = append(all, m)
	})
	return all
}

// mark sets the marks of one pair that are not nil.
func (c *change) mark(m assistant.PairMark) {
	var topic any // NULL: no change
	if m.Topic != nil {
		topic = c.topic(*m.Topic)
	}
	c.run("UPDATE pair SET star = coalesce(?, star), flag = coalesce(?, flag), topic = coalesce(?, topic) WHERE seq = ?",
		m.Star, m.Flag, topic, m.Seq)
}

func (s *store) Mark(ctx context.Context, seqs []int64, m history.Mark) (before history.Snapshot, err error) {
	if err := history.CheckStar(m.Star); err != nil {
		return history.Snapshot{}, err
	}
	err = s.change(ctx, func(c *change) {
		before.Marks = c.marks(seqs)
		for i := range before.Marks {
			had := &before.Marks[i]
			c.mark(assistant.PairMark{Seq: had.Seq, Star: m.Star, Flag: m.Flag, Topic: m.Topic})
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

func (s *store) Restore(ctx context.Context, to history.Snapshot) error {
	return s.change(ctx, func(c *change) {
		for _, m := range to.Marks {
			c.mark(m)
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
