package postgres

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"winnow/assistant"
	"winnow/assistant/history"
)

// storedDeleted is how many deleted pairs are remembered: others hear of them soon.
const storedDeleted = 1000

// storedIntents is how many intents are remembered: each program has a journal.
const storedIntents = 1000

func (s *store) Commit(ctx context.Context, b *assistant.Batch) error {
	if err := history.CheckBatch(b); err != nil {
		return err
	}
	requests, err := history.PackRequests(b.Requests, s.Redact)
	if err != nil {
		return fmt.Errorf("history: commit: %w", err)
	}
	ids := make([]string, len(b.Put)) // the same at each attempt, so that none is added twice
	for i, p := range b.Put {
		if ids[i] = p.ID; p.ID == "" {
			ids[i] = assistant.NewID(s.options.Now())
		}
	}
	var rev int64
	var stored []assistant.Pair // copies: b.Put changes only after the commit
	err = s.change(ctx, func(c *change) {
		stored, rev = nil, c.rev
		for i, p := range b.Put {
			stored = append(stored, *p)
			stored[i].ID = ids[i]
		}
		if b.Intent != "" {
			if c.run("INSERT INTO intent (name) VALUES ($1) ON CONFLICT DO NOTHING", b.Intent) == 0 {
				return
			}
			c.run("DELETE FROM intent WHERE n <= (SELECT max(n) FROM intent) - $1", storedIntents)
		}
		c.apply(b, stored)
		c.storeRequests(b, stored, requests)
	})
	if err != nil {
		return fmt.Errorf("history: commit: %w", err)
	}
	for i, p := range b.Put {
		at := stored[i]
		p.Seq, p.ID, p.Author, p.Star, p.Flag, p.Topic = at.Seq, at.ID, at.Author, at.Star, at.Flag, at.Topic
		s.versions.set(at.Seq, rev)
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

// change runs one transaction that changes what filters can match, and notifies
// the other programs.
func (s *store) change(ctx context.Context, f func(*change)) error {
	var rev int64
	err := s.write(ctx, func(t *tx) {
		c := s.newChange(t)
		rev = c.rev
		f(c)
		t.run("SELECT pg_notify($1, $2)", channel, fmt.Sprint(rev, " ", s.owner.Load(), " ", s.schema))
	})
	if err == nil {
		s.revision.Store(max(rev, s.revision.Load()))
	}
	return err
}

func (s *store) newChange(t *tx) *change {
	rev, _ := t.number("UPDATE meta SET rev = rev + 1 RETURNING rev")
	return &change{tx: t, s: s, rev: rev, now: s.options.Now()}
}

func (c *change) apply(b *assistant.Batch, stored []assistant.Pair) {
	if len(b.Delete) > 0 {
		c.run(`WITH gone AS (DELETE FROM pair WHERE seq = ANY($1) RETURNING seq)
			INSERT INTO deleted SELECT seq, $2, $3, $4 FROM gone ON CONFLICT DO NOTHING`, b.Delete, c.rev, c.s.owner.Load(), c.s.user)
		c.run("DELETE FROM deleted WHERE seq IN (SELECT seq FROM deleted ORDER BY rev DESC, seq DESC OFFSET $1)", storedDeleted)
	}
	if b.Uncut != "" {
		c.run("UPDATE pair SET cut = NULL WHERE cut = $1", b.Uncut)
	}
	if b.Cut != nil {
		if b.Cut.Name == "" {
			c.fail(errors.New("a cut without a name could not be undone"))
		}
		c.run("UPDATE pair SET cut = $1 WHERE session IN (SELECT n FROM session WHERE id = ANY($2)) AND seq >= $3 AND cut IS NULL",
			b.Cut.Name, b.Cut.Sessions, b.Cut.From)
	}
	for i := range stored {
		c.put(&stored[i], b.KeepMarks)
	}
	for _, m := range b.Marks {
		c.mark(m)
	}
}

// put inserts or replaces a pair and sets its Seq. With keepMarks a pair that is
// replaced keeps its stored marks.
func (c *change) put(p *assistant.Pair, keepMarks bool) {
	if p.Seq == 0 {
		p.Seq, _ = c.number("SELECT seq FROM pair WHERE id = $1", p.ID)
	}
	if keepMarks && p.Seq != 0 {
		for _, m := range c.marks([]int64{p.Seq}) {
			p.Star, p.Flag, p.Topic = *m.Star, *m.Flag, *m.Topic
		}
	}
	if p.Seq != 0 {
		c.verify(p.Seq)
	}
	p.Author = cmp.Or(p.Author, c.s.user)
	row, err := history.NewRow(p, c.s.Redact)
	if c.fail(err); c.err == nil {
		c.putRow(p, &row)
		c.putBody(p.Seq, &row)
	}
}

// verify refuses to replace texts that this process has not seen: another program
// has changed them since.
func (c *change) verify(seq int64) {
	seen, known := c.s.versions.get(seq)
	now, found := c.number("SELECT version FROM pair WHERE seq = $1", seq)
	if known && found && seen != now {
		c.fail(fmt.Errorf("pair %d: %w", seq, history.ErrChanged))
	}
}

// putRow writes the columns that filters use.
func (c *change) putRow(p *assistant.Pair, r *history.Row) {
	if p.Seq == 0 {
		p.Seq, _ = c.number("SELECT nextval(pg_get_serial_sequence('pair', 'seq'))")
	}
	var owner *int32 // nil: nobody is sending it
	if p.State == assistant.PairSending {
		n := int32(c.s.owner.Load())
		owner = &n
	}
	_, zone := p.CreatedAt.Zone()
	c.run(`INSERT INTO pair
		(seq, session, topic, model, author, version, star, flag, state, sec, nsec, zone, attachments, sends, parts, owner, id)
		VALUES ($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13,$14,$15,$16,$17)
		ON CONFLICT (seq) DO UPDATE SET session=excluded.session, topic=excluded.topic, model=excluded.model, version=excluded.version,
			star=excluded.star, flag=excluded.flag, state=excluded.state, sec=excluded.sec, nsec=excluded.nsec, zone=excluded.zone,
			attachments=excluded.attachments, sends=excluded.sends, parts=excluded.parts, owner=excluded.owner, id=excluded.id`,
		p.Seq, c.session(p.Session, p.CreatedAt), c.topic(p.Topic), c.name("model", p.Model), c.name("author", p.Author), c.rev, p.Star, bit(p.Flag),
		r.StateNumber, p.CreatedAt.Unix(), p.CreatedAt.Nanosecond(), zone, len(p.Attachments), assistant.PairContributes(p), r.Parts, owner, p.ID)
}

// bit returns a bool as filters compare it.
func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// exactTexts are the texts of a pair byte for byte.
type exactTexts [5][]byte

// texts are the columns of exactTexts, in their order.
func texts(r *history.Row) [5]*string {
	return [5]*string{&r.UserText, &r.AssistantText, &r.Reasoning, &r.ErrorCode, &r.ErrorMessage}
}

// storable returns a text as a column holds it: PostgreSQL stores no zero bytes
// and no invalid UTF-8.
func storable(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\ufffd"), "\x00", "\uffff")
}

func (c *change) putBody(seq int64, r *history.Row) {
	var exact []byte
	if all := texts(r); slices.ContainsFunc(all[:], func(text *string) bool { return storable(*text) != *text || !utf8.ValidString(*text) }) {
		var original exactTexts
		for i, text := range all {
			original[i] = []byte(*text)
		}
		var err error
		exact, err = json.Marshal(original)
		c.fail(err)
	}
	c.run(`INSERT INTO body (seq, user_text, answer, reasoning, error_code, error_message, more, exact, sum, user_low, answer_low)
		VALUES ($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11)
		ON CONFLICT (seq) DO UPDATE SET user_text=excluded.user_text, answer=excluded.answer, reasoning=excluded.reasoning,
			error_code=excluded.error_code, error_message=excluded.error_message, more=excluded.more, exact=excluded.exact, sum=excluded.sum,
			user_low=excluded.user_low, answer_low=excluded.answer_low`,
		seq, storable(r.UserText), storable(r.AssistantText), storable(r.Reasoning), storable(r.ErrorCode), storable(r.ErrorMessage), r.More, exact, r.Sum.Int64,
		storable(strings.ToLower(r.UserText)), storable(strings.ToLower(r.AssistantText)))
}

// name returns the number of a model or author, which it creates when it is new.
func (c *change) name(table, name string) int64 {
	n, found := c.number("SELECT n FROM "+table+" WHERE name = $1", name)
	if !found {
		n, _ = c.number("INSERT INTO "+table+" (name) VALUES ($1) RETURNING n", name)
	}
	return n
}

func (c *change) session(id string, started time.Time) int64 {
	n, found := c.number("SELECT n FROM session WHERE id = $1", id)
	if !found {
		n, _ = c.number("INSERT INTO session (id, started, used, touched, author) VALUES ($1, $2, $3, $4, $5) RETURNING n",
			id, started.UnixMilli(), c.now.UnixMilli(), c.rev, c.s.user)
	}
	return n
}

func (s *store) Append(ctx context.Context, pairs []*assistant.Pair) (added int, err error) {
	var all []string
	for _, p := range pairs {
		if err := history.CheckPair(p); err != nil {
			return 0, err
		}
		all = append(all, p.ID)
	}
	err = s.change(ctx, func(c *change) {
		added = 0
		known := map[string]bool{}
		for _, id := range list[string](c.tx, "SELECT id FROM pair WHERE id = ANY($1)", all) {
			known[id] = true
		}
		for _, p := range pairs {
			if !known[p.ID] {
				known[p.ID] = true
				p.Seq = 0
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
	const query = `SELECT p.seq, p.star, p.flag = 1, coalesce(t.path, '') FROM unnest($1::bigint[]) WITH ORDINALITY j (seq, at)
		JOIN pair p ON p.seq = j.seq LEFT JOIN topic t ON t.n = p.topic ORDER BY j.at`
	c.each(query, []any{seqs}, func(scan scanner) {
		m := assistant.PairMark{Star: new(int), Flag: new(bool), Topic: new(string)}
		scan(&m.Seq, m.Star, m.Flag, m.Topic)
		all = append(all, m)
	})
	return all
}

// mark sets the marks of one pair that are not nil.
func (c *change) mark(m assistant.PairMark) {
	var topic *int64 // nil: no change
	if m.Topic != nil {
		n := c.topic(*m.Topic)
		topic = &n
	}
	var flag *int
	if m.Flag != nil {
		n := bit(*m.Flag)
		flag = &n
	}
	c.run("UPDATE pair SET star = coalesce($1::smallint, star), flag = coalesce($2::smallint, flag), topic = coalesce($3, topic) WHERE seq = $4",
		m.Star, flag, topic, m.Seq)
}

func (s *store) Mark(ctx context.Context, seqs []int64, m history.Mark) (before history.Snapshot, err error) {
	if err := history.CheckStar(m.Star); err != nil {
		return history.Snapshot{}, err
	}
	err = s.change(ctx, func(c *change) {
		before = history.Snapshot{Marks: c.marks(seqs)}
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
