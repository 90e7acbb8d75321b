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

// Commit applies the batch in one transaction, fsynced when it returns nil:
// first Delete, then Uncut, Cut, Put, Marks and Requests. When it returns an
// error nothing has happened, the pairs keep Seq 0, and the same batch may be
// committed again.
//
// A new pair whose ID is known already is that pair: it gets its Seq and
// replaces it. An empty ID is filled in. A pair in state sending belongs to this
// store until it is put in another state; if this process dies first, the next
// Open ends it as interrupted.
func (s *SQLite) Commit(ctx context.Context, b *assistant.Batch) error {
	for _, p := range b.Put {
		if err := checkPair(p); err != nil {
			return err
		}
	}
	for _, m := range b.Marks {
		if err := checkStar(m.Star); err != nil {
			return err
		}
	}
	requests, err := s.packRequests(b.Requests)
	if err != nil {
		return fmt.Errorf("history: commit: %w", err)
	}
	placed := make([]assistant.Pair, len(b.Put)) // Seq, ID and marks as they are stored
	err = s.change(ctx, func(c *change) error {
		if b.Intent != "" {
			if _, done, err := c.number("SELECT 1 FROM intent WHERE name = ?", b.Intent); err != nil {
				return err
			} else if done {
				return c.knownPairs(b.Put, placed)
			}
		}
		if err := c.apply(b, placed); err != nil {
			return err
		}
		err := c.storeRequests(requests, func(p *assistant.Pair) int64 {
			if i := slices.Index(b.Put, p); i >= 0 {
				return placed[i].Seq
			}
			return p.Seq
		})
		if err != nil {
			return err
		}
		return c.remember(b.Intent)
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
	s     *SQLite
	rev   int64
	now   time.Time
	names map[name]int64 // numbers of sessions, models and topics met in it
}

// name is a name in a table that numbers names.
type name struct {
	table  string
	parent int64
	text   string
}

// change runs one transaction that changes what filters select.
func (s *SQLite) change(ctx context.Context, f func(*change) error) error {
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

func (s *SQLite) newChange(t *tx) (*change, error) {
	rev, _, err := t.number("UPDATE meta SET rev = rev + 1 RETURNING rev")
	return &change{tx: t, s: s, rev: rev, now: s.now(), names: map[name]int64{}}, err
}

// knownPairs gives the pairs of an intent that was carried out before the
// numbers they got then.
func (c *change) knownPairs(put []*assistant.Pair, placed []assistant.Pair) error {
	for i, p := range put {
		placed[i] = *p
		if p.Seq != 0 || p.ID == "" {
			continue
		}
		var err error
		if placed[i].Seq, _, err = c.number("SELECT seq FROM pair WHERE id = ?", p.ID); err != nil {
			return err
		}
	}
	return nil
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
	for i, p := range b.Put {
		placed[i] = *p
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
		return errors.New("a cut without a name could not be taken back")
	}
	for _, session := range cut.Sessions {
		err := c.run(`UPDATE pair SET cut = ?
			WHERE session = (SELECT n FROM session WHERE id = ?) AND seq >= ? AND cut IS NULL`,
			cut.Name, session, cut.From)
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *change) remember(intent string) error {
	if intent == "" {
		return nil
	}
	return errors.Join(c.run("INSERT INTO intent (name) VALUES (?)", intent),
		c.run("DELETE FROM intent WHERE n <= (SELECT max(n) FROM intent) - ?", storedIntents))
}

func (c *change) delete(seq int64) error {
	n, err := c.exec("DELETE FROM pair WHERE seq = ?", seq)
	if err != nil || n == 0 {
		return err
	}
	for _, table := range []string{"body", "unindexed", "request"} {
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
	if keepMarks && p.Seq != 0 {
		m, found, err := c.marks(p.Seq)
		if err != nil {
			return err
		}
		if found {
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
	session, err := c.session(p.Session, p.CreatedAt)
	if err != nil {
		return err
	}
	model, err := c.model(p.Model)
	if err != nil {
		return err
	}
	topic, err := c.topic(p.Topic)
	if err != nil {
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
	p.Seq, _, err = c.number(`INSERT INTO pair
		(seq, session, topic, model, star, flag, state, sec, nsec, zone, attachments, sends, parts, owner, id)
		VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)
		ON CONFLICT (seq) DO UPDATE SET session=excluded.session, topic=excluded.topic,
			model=excluded.model, star=excluded.star, flag=excluded.flag, state=excluded.state, sec=excluded.sec,
			nsec=excluded.nsec, zone=excluded.zone, attachments=excluded.attachments, sends=excluded.sends,
			parts=excluded.parts, owner=excluded.owner, id=excluded.id
		RETURNING seq`,
		given, session, topic, model, p.Star, p.Flag, max(slices.Index(states, p.State), 0),
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

// Append adds pairs to the stream in their order, in one transaction, but for
// those whose id is known, and counts them.
func (s *SQLite) Append(ctx context.Context, pairs []*assistant.Pair) (added int, err error) {
	err = s.change(ctx, func(c *change) error {
		added = 0
		for _, p := range pairs {
			if err := checkPair(p); err != nil {
				return err
			}
			if _, known, err := c.number("SELECT 1 FROM pair WHERE id = ?", p.ID); err != nil {
				return err
			} else if known {
				continue
			}
			if err := c.put(p, false); err != nil {
				return err
			}
			added++
		}
		return nil
	})
	return added, err
}
