package sqlstore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"winnow/assistant"
	"winnow/assistant/history"
)

// storedIntents is the number of intents that are remembered. A single process needs only one, but several processes
// with separate journals may share the database.
const storedIntents = 1000

// Commit implements history.Store.
func (s *Store) Commit(ctx context.Context, b *assistant.Batch) error {
	if err := history.CheckBatch(b); err != nil {
		return err
	}
	requests, err := history.PackRequests(b.Requests, s.Redact)
	if err != nil {
		return fmt.Errorf("history: commit: %w", err)
	}
	put := b.Put // the pairs to put; the cancelled answer comes last
	if b.Cancelled != nil {
		put = append(slices.Clone(put), b.Cancelled)
	}
	ids := make([]string, len(put)) // the same ids at each attempt, so that no pair is added twice
	for i, p := range put {
		if ids[i] = p.ID; p.ID == "" {
			ids[i] = assistant.NewID(s.Now())
		}
	}
	var rev int64
	var stored []assistant.Pair // copies, so that the pairs passed to put change only after the commit
	err = s.change(ctx, func(c *Change) {
		stored, rev = make([]assistant.Pair, len(put)), c.Rev
		for i, p := range put {
			stored[i] = *p
			stored[i].ID = ids[i]
		}
		if b.Intent != "" {
			if c.Run("INSERT INTO intent (name) VALUES (?) ON CONFLICT DO NOTHING", b.Intent) == 0 {
				return
			}
			c.Run("DELETE FROM intent WHERE n <= (SELECT max(n) FROM intent) - ?", storedIntents)
		}
		c.apply(b, stored)
		c.storeRequests(b, stored, requests)
	})
	if err != nil {
		return fmt.Errorf("history: commit: %w", err)
	}
	for i, p := range put {
		at := stored[i]
		p.Seq, p.ID, p.Author, p.Star, p.Flag, p.Topic = at.Seq, at.ID, at.Author, at.Star, at.Flag, at.Topic
		s.noteVersion(at.Seq, rev)
	}
	for _, a := range b.Answers {
		s.noteVersion(a.Seq, rev)
	}
	return nil
}

// noteVersion records the version of a pair's texts that this process knows.
func (s *Store) noteVersion(seq, version int64) {
	if s.Shared {
		s.versions.set(seq, version)
	}
}

func (c *Change) apply(b *assistant.Batch, stored []assistant.Pair) {
	c.require(b.Delete)
	deleted := b.Delete
	if b.Forget != "" {
		deleted = append(slices.Clone(deleted), c.cancelled(b.Forget)...)
	}
	if len(deleted) > 0 {
		pictures := c.disconnectPictures(deleted)
		defer func() { c.dropPictures(pictures) }() // deferred, because a pair in Put may use them
		c.Run("DELETE FROM pair WHERE seq IN (SELECT j.seq FROM "+c.s.Seqs+" j)", asArray(deleted))
		c.s.Deleted(c, deleted)
	}
	if b.Keep != "" {
		c.Run("UPDATE pair SET cut = NULL WHERE cut = ?", assistant.CancelledCut(b.Keep))
	}
	if b.Uncut != "" {
		c.Run("UPDATE pair SET cut = NULL WHERE cut = ?", b.Uncut)
	}
	if b.Cut != nil {
		if b.Cut.Name == "" {
			c.Fail(errors.New("a cut needs a name, so that it can be undone"))
		}
		for _, session := range b.Cut.Sessions {
			c.Run("UPDATE pair SET cut = ? WHERE session = (SELECT n FROM session WHERE id = ?) AND seq >= ? AND cut IS NULL",
				b.Cut.Name, session, b.Cut.From)
		}
	}
	for i := range stored {
		c.Put(&stored[i], b.KeepMarks)
		c.use(&stored[i])
	}
	if b.Cancelled != nil {
		p := &stored[len(stored)-1]
		c.Run("UPDATE pair SET cut = ? WHERE seq = ?", assistant.CancelledCut(p.Session), p.Seq)
	}
	for _, a := range b.Answers {
		c.answer(a)
	}
	for _, session := range b.Queued {
		c.Run(clearQueued, session)
	}
	for _, m := range b.Marks {
		seqs := []int64{m.Seq}
		c.require(seqs)
		c.mark(seqs, history.Mark{Star: m.Star, Flag: m.Flag, Topic: m.Topic})
	}
}

// cancelled returns the seqs of the cancelled answers of a session.
func (t *Tx) cancelled(session string) []int64 {
	return List[int64](t, "SELECT seq FROM pair WHERE cut = ? ORDER BY seq", assistant.CancelledCut(session))
}

// Cancelled implements assistant.CancelledStore.
func (s *Store) Cancelled(ctx context.Context, session string) (seq int64, err error) {
	err = s.Read(ctx, func(t *Tx) {
		for _, seq = range t.cancelled(session) { // the loop ends with the last seq, the newest
		}
	})
	return seq, err
}

// Put inserts or replaces a pair and sets its Seq and ID. If keepMarks is set, a replaced pair keeps its stored marks.
func (c *Change) Put(p *assistant.Pair, keepMarks bool) {
	if p.Seq == 0 {
		p.Seq, _ = c.Number("SELECT seq FROM pair WHERE id = ?", p.ID)
	}
	if keepMarks && p.Seq != 0 {
		for _, m := range c.marks([]int64{p.Seq}) {
			p.Star, p.Flag, p.Topic = *m.Star, *m.Flag, *m.Topic
		}
	}
	c.put(p)
}

// answer applies a to the stored pair, even if another program has changed that pair since this process read it.
func (c *Change) answer(a assistant.PairAnswer) {
	c.require([]int64{a.Seq})
	for _, r := range c.s.rows(c.Tx, []int64{a.Seq}) {
		if err := errors.Join(a.Apply(&r.Pair), history.CheckPair(&r.Pair)); err != nil {
			c.Fail(fmt.Errorf("message %d: %w", a.Seq, err))
			return
		}
		c.store(&r.Pair)
		c.use(&r.Pair)
	}
}

// use makes the session of a pair the most recently used one.
func (c *Change) use(p *assistant.Pair) {
	c.Later("UPDATE session SET used = ?, touched = ? WHERE n = ?", c.now.UnixMilli(), c.Rev, c.session(p.Session, p.CreatedAt))
}

// put inserts a pair, or replaces the stored pair with the same Seq. It sets a missing Seq and ID.
func (c *Change) put(p *assistant.Pair) {
	if p.ID == "" {
		p.ID = assistant.NewID(c.now)
	}
	if c.s.Shared {
		c.verify(p.Seq)
	}
	c.store(p)
}

// store writes a pair, redacted, to the tables of the database. It sets the pair's Author, and the Seq of a new pair.
func (c *Change) store(p *assistant.Pair) {
	p.Author = c.s.Author(p.Author)
	row, err := history.NewRow(p, c.s.Redact)
	if c.Fail(err); c.err == nil {
		c.putRow(p, &row)
		c.storePictures(p)
		c.s.PutBody(c.Tx, p.Seq, &row)
	}
}

// verify makes the change fail if it would replace texts that another program has changed since this process read them.
// A pair that another program has deleted may be stored again.
func (c *Change) verify(seq int64) {
	if seq == 0 {
		return
	}
	seen, known := c.s.versions.get(seq)
	now, found := c.Number("SELECT version FROM pair WHERE seq = ?", seq)
	switch {
	case !found:
		c.Run("DELETE FROM deleted WHERE seq = ?", seq)
	case known && seen != now:
		c.Fail(fmt.Errorf("message %d: %w", seq, history.ErrChanged))
	}
}

// putRow writes the columns that filters use, and sets the Seq of a new pair.
func (c *Change) putRow(p *assistant.Pair, r *history.Row) {
	session, model := c.session(p.Session, p.CreatedAt), c.name("model", p.Model)
	topic := c.number("topic", p.Topic, func() int64 { return c.topic(p.Topic) })
	var seq, owner any // a nil seq is assigned by the database; a nil owner means that the pair is not being sent
	if p.Seq != 0 {
		seq = p.Seq
	}
	if p.State == assistant.PairSending {
		owner = c.s.Owner()
	}
	_, zone := p.CreatedAt.Zone()
	args := []any{
		seq, session, topic, model, p.Star, bit(p.Flag), r.StateNumber, p.CreatedAt.Unix(), p.CreatedAt.Nanosecond(), zone,
		len(p.Attachments), assistant.PairContributes(p), r.Parts, owner, p.ID,
	}
	columns, values, version := "", "", "" // set only in a shared database
	if c.s.Shared {
		columns, values, version = ", author, version", ", ?, ?", ", version = excluded.version"
		args = append(args, c.name("author", p.Author), c.Rev)
	}
	insert := `INSERT INTO pair
		(seq, session, topic, model, star, flag, state, sec, nsec, zone, attachments, sends, parts, owner, id` + columns + `)
		VALUES (coalesce(?, ` + c.s.NewSeq + `),?,?,?,?,?,?,?,?,?,?,?,?,?,?` + values + `)
		ON CONFLICT (seq) DO UPDATE SET session = excluded.session, topic = excluded.topic, model = excluded.model,
			star = excluded.star, flag = excluded.flag, state = excluded.state, sec = excluded.sec, nsec = excluded.nsec,
			zone = excluded.zone, attachments = excluded.attachments, sends = excluded.sends, parts = excluded.parts,
			owner = excluded.owner, id = excluded.id` + version
	if p.Seq != 0 {
		c.Later(insert, args...)
	} else {
		p.Seq = c.insert(insert, "seq", args...)
	}
}

// insert executes an INSERT and returns the key that the database assigned to the row.
func (c *Change) insert(insert, key string, args ...any) (n int64) {
	if c.s.LastKey == "" {
		n, _ = c.Number(insert+" RETURNING "+key, args...)
		return n
	}
	c.Run(insert, args...)
	n, _ = c.Number(c.s.LastKey)
	return n
}

// bit returns b as the integer that filters compare with.
func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// name returns the number of a model or author, creating it if necessary.
func (c *Change) name(table, name string) int64 {
	return c.number(table, name, func() int64 {
		n, found := c.Number("SELECT n FROM "+table+" WHERE name = ?", name)
		if !found {
			n = c.insert("INSERT INTO "+table+" (name) VALUES (?)", "n", name)
		}
		return n
	})
}

// session returns the number of a session, creating it if necessary.
func (c *Change) session(id string, started time.Time) int64 {
	return c.number("session", id, func() int64 {
		n, found := c.Number("SELECT n FROM session WHERE id = ?", id)
		if !found {
			insert, args := c.s.insertOwn("session", "id, started, used, touched", id, started.UnixMilli(), started.UnixMilli(), c.Rev)
			n = c.insert(insert, "n", args...)
		}
		return n
	})
}

// unknown returns the pairs whose IDs are not in the database: the first pair with each ID, and every pair without an
// ID.
func (c *Change) unknown(pairs []*assistant.Pair) (unknown []*assistant.Pair) {
	ids := make([]string, len(pairs))
	for i, p := range pairs {
		ids[i] = p.ID
	}
	raw, _ := json.Marshal(ids) // cannot fail for texts
	known := Keyed[string, bool](c.Tx, "SELECT id, TRUE FROM pair WHERE id IN "+c.s.IDs, string(raw))
	for _, p := range pairs {
		if !known[p.ID] {
			known[p.ID] = p.ID != ""
			unknown = append(unknown, p)
		}
	}
	return unknown
}

// Append implements history.Store.
func (s *Store) Append(ctx context.Context, pairs []*assistant.Pair) (added int, err error) {
	err = s.change(ctx, func(c *Change) {
		added = 0
		unknown, newest := c.unknown(pairs), map[string]int64{} // newest is the time of each session's newest pair
		var seqs []int64
		if s.NewSeqs != "" {
			seqs = List[int64](c.Tx, s.NewSeqs, len(unknown))
		}
		for i, p := range unknown {
			c.Fail(history.CheckPair(p))
			if p.Seq = 0; i < len(seqs) {
				p.Seq = seqs[i]
			}
			if p.ID == "" {
				p.ID = assistant.NewID(c.now)
			}
			c.store(p)
			newest[p.Session] = max(newest[p.Session], p.CreatedAt.UnixMilli())
			added++
		}
		for session, used := range newest {
			c.Run("UPDATE session SET used = ? WHERE id = ? AND used < ?", used, session, used)
		}
	})
	if err != nil {
		added = 0
	}
	return added, err
}

// EndInterrupted marks as interrupted the given pairs, which are in state sending although their process has died. It
// returns how many of the pairs exist, and the session of the newest one.
func (c *Change) EndInterrupted(seqs []int64) (ended int, session string) {
	newest, rows := int64(0), c.s.rows(c.Tx, seqs)
	for _, r := range rows {
		if r.Seq > newest {
			newest, session = r.Seq, r.Session
		}
		r.Interrupt()
		c.Put(&r.Pair, false)
		if c.s.Shared {
			c.Run("UPDATE pair SET version = ? WHERE seq = ?", r.version, r.Seq) // keep the version, so that the store that sent the pair can still replace it
		}
	}
	return len(rows), session
}
