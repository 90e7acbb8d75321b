package history

import (
	"context"
	"fmt"
	"slices"
	"time"

	"winnow/assistant"
)

// keptIntents is how many intents are remembered. One would do for a single
// process; several processes with a journal each share the database.
const keptIntents = 1000

// Commit applies the batch in one transaction, fsynced when it returns nil:
// first Delete, then Uncut, Cut, Put, Marks and Requests. When it returns an error nothing has
// happened, the pairs keep Seq 0, and the same batch may be committed again.
//
// A new pair whose ID is known already is that pair: it gets its Seq and
// replaces it. An empty ID is filled in. A pair in state sending belongs to this
// store until it is put in another state; if this process dies first, the next
// Open ends it as interrupted.
func (s *Store) Commit(ctx context.Context, b *assistant.Batch) error {
	for _, p := range b.Put {
		if err := checkPair(p); err != nil {
			return err
		}
	}
	for _, m := range b.Marks {
		if err := checkMark(m.Star); err != nil {
			return err
		}
	}
	requests, err := packRequests(b.Requests)
	if err != nil {
		return fmt.Errorf("history: commit: %w", err)
	}
	seqs := make([]int64, len(b.Put))
	ids := make([]string, len(b.Put))
	kept := map[int64]marks{}
	err = s.write(ctx, func(t *tx) error {
		if b.Intent != "" {
			if _, done, err := t.number("SELECT 1 FROM intent WHERE name = ?", b.Intent); err != nil {
				return err
			} else if done {
				return knownPairs(t, b.Put, seqs, ids)
			}
		}
		c, err := s.change(t)
		if err != nil {
			return err
		}
		c.kept = kept
		if err := c.apply(b, seqs, ids); err != nil {
			return err
		}
		if err := c.keepRequests(requests, placed(b.Put, seqs)); err != nil {
			return err
		}
		return c.remember(b.Intent)
	})
	if err != nil {
		return fmt.Errorf("history: commit: %w", err)
	}
	for i, p := range b.Put {
		p.Seq, p.ID = seqs[i], ids[i]
		if m, ok := kept[p.Seq]; ok {
			p.Star, p.Flag, p.Topic = m.star, m.flag, m.path
		}
	}
	return nil
}

// placed finds the seq of a pair, which put may just have got.
func placed(put []*assistant.Pair, seqs []int64) func(*assistant.Pair) int64 {
	return func(p *assistant.Pair) int64 {
		if i := slices.Index(put, p); i >= 0 {
			return seqs[i]
		}
		return p.Seq
	}
}

// knownPairs gives the pairs of an intent that was carried out before the
// numbers they got then.
func knownPairs(t *tx, put []*assistant.Pair, seqs []int64, ids []string) error {
	for i, p := range put {
		seqs[i], ids[i] = p.Seq, p.ID
		if p.Seq != 0 || p.ID == "" {
			continue
		}
		seq, _, err := t.number("SELECT seq FROM pair WHERE id = ?", p.ID)
		if err != nil {
			return err
		}
		seqs[i] = seq
	}
	return nil
}

// change is a running transaction that changes pairs, under its number rev.
type change struct {
	*tx
	rev   int64
	owner string
	now   time.Time
	names map[name]int64 // numbers of sessions, models and topics met in it

	keepMarks bool            // of pairs that are there already
	kept      map[int64]marks // by seq: those that were
}

// name is a name in a table that numbers names.
type name struct {
	table  string
	parent int64
	text   string
}

func (s *Store) change(t *tx) (*change, error) {
	rev, _, err := t.number("UPDATE counter SET rev = rev + 1 RETURNING rev")
	return &change{tx: t, rev: rev, owner: s.owner.token, now: s.now(), names: map[name]int64{}}, err
}

func (c *change) apply(b *assistant.Batch, seqs []int64, ids []string) error {
	for _, seq := range b.Delete {
		if err := c.delete(seq); err != nil {
			return err
		}
	}
	if b.Uncut != "" {
		if err := c.exec("UPDATE pair SET cut = NULL, rev = ? WHERE cut = ?", c.rev, b.Uncut); err != nil {
			return err
		}
	}
	if b.Cut != nil {
		if err := c.cut(*b.Cut); err != nil {
			return err
		}
	}
	c.keepMarks = b.KeepMarks
	for i, p := range b.Put {
		var err error
		if seqs[i], ids[i], err = c.put(p); err != nil {
			return err
		}
	}
	for _, m := range b.Marks {
		if _, err := c.mark([]int64{m.Seq}, Mark{m.Star, m.Flag, m.Topic}); err != nil {
			return err
		}
	}
	return nil
}

// interrupt ends the pairs that a dead owner was sending, and counts them.
func (c *change) interrupt(owner string) (int64, error) {
	r := &reader{ctx: c.w.ctx, tx: c.w.conn}
	nodes, err := r.topics()
	if err != nil {
		return 0, err
	}
	var seqs []int64
	err = r.each("SELECT seq FROM pair WHERE owner = ?", []any{owner}, func(scan scanner) error {
		var seq int64
		err := scan(&seq)
		seqs = append(seqs, seq)
		return err
	})
	if err != nil {
		return 0, err
	}
	found := map[int64]assistant.Pair{}
	if err := r.pairs(seqs, topicPaths(nodes), found); err != nil {
		return 0, err
	}
	for _, p := range found {
		endInterrupted(&p)
		if _, _, err := c.put(&p); err != nil {
			return 0, err
		}
	}
	return int64(len(found)), nil
}

// endInterrupted gives a pair that nobody sends any more its end.
func endInterrupted(p *assistant.Pair) {
	if p.State != assistant.PairSending {
		return
	}
	p.State, p.ErrorCode = assistant.PairError, assistant.CodeInterrupted
	p.ErrorMessage = "winnow ended before the answer was whole"
}

func (c *change) cut(cut assistant.Cut) error {
	if cut.Name == "" {
		return fmt.Errorf("a cut without a name could not be taken back")
	}
	for _, session := range cut.Sessions {
		err := c.exec(`UPDATE pair SET cut = ?, rev = ?
			WHERE session = (SELECT n FROM session WHERE id = ?) AND seq >= ? AND cut IS NULL`,
			cut.Name, c.rev, session, cut.From)
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
	n, err := c.insert("INSERT INTO intent (name) VALUES (?)", intent)
	if err != nil {
		return err
	}
	return c.exec("DELETE FROM intent WHERE n <= ?", n-keptIntents)
}

// children are the tables that hold parts of a pair by its seq.
var children = []string{"body", "attachment", "tool_call", "payload", "unindexed", "request"}

func (c *change) delete(seq int64) error {
	n, err := c.tx.change("DELETE FROM pair WHERE seq = ?", seq)
	if err != nil || n == 0 {
		return err
	}
	for _, table := range children {
		if err := c.exec("DELETE FROM "+table+" WHERE seq = ?", seq); err != nil {
			return err
		}
	}
	if err := c.exec("DELETE FROM words WHERE rowid = ?", seq); err != nil {
		return err
	}
	return c.exec("INSERT INTO gone (rev, seq) VALUES (?, ?)", c.rev, seq)
}

// put inserts or replaces a pair and returns its seq and id.
func (c *change) put(p *assistant.Pair) (int64, string, error) {
	id := p.ID
	if id == "" {
		id = assistant.NewID(c.now)
	}
	seq := p.Seq
	if seq == 0 {
		var err error
		if seq, _, err = c.number("SELECT seq FROM pair WHERE id = ?", id); err != nil {
			return 0, "", err
		}
	}
	fresh := seq == 0
	seq, err := c.putRow(p, seq, id)
	if err == nil {
		err = c.putBody(p, seq)
	}
	if err == nil {
		err = c.putChildren(p, seq, fresh)
	}
	return seq, id, err
}

// putRow writes what filters ask about.
func (c *change) putRow(p *assistant.Pair, seq int64, id string) (int64, error) {
	session, err := c.session(p.Session, p.CreatedAt)
	if err != nil {
		return 0, err
	}
	model, err := c.model(p.Model)
	if err != nil {
		return 0, err
	}
	set, err := c.marksFor(p, seq)
	if err != nil {
		return 0, err
	}
	var given, owner any
	if seq != 0 {
		given = seq
	}
	if p.State == assistant.PairSending {
		owner = c.owner
	}
	_, zone := p.CreatedAt.Zone()
	seq, _, err = c.number(`INSERT INTO pair
		(seq, rev, session, topic, model, star, flag, state, sec, nsec, zone, attachments, sends, parts, owner, id)
		VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)
		ON CONFLICT (seq) DO UPDATE SET rev=excluded.rev, session=excluded.session, topic=excluded.topic,
			model=excluded.model, star=excluded.star, flag=excluded.flag, state=excluded.state, sec=excluded.sec,
			nsec=excluded.nsec, zone=excluded.zone, attachments=excluded.attachments, sends=excluded.sends,
			parts=excluded.parts, owner=excluded.owner, id=excluded.id
		RETURNING seq`,
		given, c.rev, session, set.topic, model, set.star, set.flag, stateNumber(p.State),
		p.CreatedAt.Unix(), p.CreatedAt.Nanosecond(), zone, len(p.Attachments), assistant.PairSends(p), partRunes(p), owner, id)
	return seq, err
}

// putBody writes the texts, and queues them for the full-text index if the
// words changed.
func (c *change) putBody(p *assistant.Pair, seq int64) error {
	more, err := moreOf(p)
	if err != nil {
		return err
	}
	_, same, err := c.number("SELECT 1 FROM body WHERE seq = ? AND user = ? AND answer = ?", seq, p.UserText, p.AssistantText)
	if err != nil {
		return err
	}
	sum := bodySum(p.UserText, p.AssistantText, p.Reasoning, p.ErrorCode, p.ErrorMessage, more)
	err = c.exec(`INSERT OR REPLACE INTO body (seq, user, answer, reasoning, error_code, error_message, more, sum)
		VALUES (?,?,?,?,?,?,?,?)`,
		seq, p.UserText, p.AssistantText, p.Reasoning, p.ErrorCode, p.ErrorMessage, more, sum)
	if err != nil || same {
		return err
	}
	return c.exec("INSERT OR IGNORE INTO unindexed (seq) VALUES (?)", seq)
}

func (c *change) putChildren(p *assistant.Pair, seq int64, fresh bool) error {
	if !fresh {
		for _, table := range []string{"attachment", "tool_call", "payload"} {
			if err := c.exec("DELETE FROM "+table+" WHERE seq = ?", seq); err != nil {
				return err
			}
		}
	}
	for n, a := range p.Attachments {
		if err := c.exec("INSERT INTO attachment VALUES (?,?,?,?,?)", seq, n, a.Name, a.Type, a.Size); err != nil {
			return err
		}
	}
	for n, call := range p.ToolCalls {
		result, err := encodeResult(call.Result)
		if err != nil {
			return fmt.Errorf("the result of %s: %w", call.Name, err)
		}
		if err := c.exec("INSERT INTO tool_call VALUES (?,?,?,?,?,?,?,?,?)", seq, n, call.ID, call.Name,
			blob(call.Arguments), result, call.Response, int64(call.Took), call.Silent); err != nil {
			return err
		}
	}
	for n, l := range p.Payloads {
		if err := c.exec("INSERT INTO payload VALUES (?,?,?,?,?,?,?)", seq, n, l.ID, l.Type, blob(l.Data), l.Summary, l.Decision); err != nil {
			return err
		}
	}
	return nil
}
