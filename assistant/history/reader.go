package history

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"

	"winnow/assistant"
)

// scanner reads the columns of a row, as sql.Rows.Scan does.
type scanner func(into ...any) error

// querier is a transaction or a connection.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// reader sees the database as it was at one moment.
type reader struct {
	ctx context.Context
	tx  querier
	// altered, when set, is told of texts that are not those that were written.
	altered func(seq int64)
	first   bool // the schema is of version 1, where bodies have no sum
}

// read runs f on one state of the database. Readers never wait for the writer.
func (s *Store) read(ctx context.Context, f func(*reader) error) error {
	if s.ctx.Err() != nil {
		return ErrClosed
	}
	conn, err := s.readers.Conn(ctx)
	if err != nil {
		return s.seen(err)
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, "BEGIN"); err != nil {
		return s.seen(err)
	}
	// Not sql.Tx, which ends in a goroutine of its own when ctx does: a
	// connection that is still busy when the store closes would keep SQLite
	// from folding the log.
	defer func() {
		if _, err := conn.ExecContext(context.Background(), "ROLLBACK"); err != nil {
			// The next reader must not get a connection that may still be in
			// this transaction: the pool closes one that is called bad.
			_ = conn.Raw(func(any) error { return driver.ErrBadConn })
		}
	}()
	return s.seen(f(&reader{ctx: ctx, tx: conn}))
}

// forgetPages gives back the memory in which the reader used last keeps pages.
func (s *Store) forgetPages() {
	// A failure costs memory, no more; damage is noticed by whoever reads.
	_ = s.read(s.ctx, func(r *reader) error { return r.each("PRAGMA shrink_memory", nil, func(scanner) error { return nil }) })
}

// each calls row for every row of the query.
func (r *reader) each(query string, args []any, row func(scanner) error) error {
	rows, err := r.tx.QueryContext(r.ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := row(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

// number reads one integer; 0 when there is no row.
func (r *reader) number(query string, args ...any) (n int64, err error) {
	err = r.tx.QueryRowContext(r.ctx, query, args...).Scan(&n)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return n, err
}

func (r *reader) topics() ([]topicNode, error) {
	var nodes []topicNode
	err := r.each("SELECT n, parent, name FROM topic ORDER BY n", nil, func(scan scanner) error {
		var t topicNode
		err := scan(&t.n, &t.parent, &t.name)
		nodes = append(nodes, t)
		return err
	})
	return nodes, err
}

// loadAtOnce is how many pairs one query of Load asks for.
const loadAtOnce = 500

// Load returns the pairs with these Seqs, in the order asked for; cut ones too.
// One that is unknown is left out.
func (s *Store) Load(ctx context.Context, seqs []int64) ([]assistant.Pair, error) {
	found := make(map[int64]assistant.Pair, len(seqs))
	err := s.read(ctx, func(r *reader) error {
		nodes, err := r.topics()
		if err != nil {
			return err
		}
		paths := topicPaths(nodes)
		for rest := seqs; len(rest) > 0; {
			n := min(len(rest), loadAtOnce)
			if err := r.pairs(rest[:n], paths, found); err != nil {
				return err
			}
			rest = rest[n:]
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	pairs := make([]assistant.Pair, 0, len(seqs))
	for _, seq := range seqs {
		if p, ok := found[seq]; ok {
			pairs = append(pairs, p)
		}
	}
	return pairs, nil
}

// IDs returns the ids of the pairs with these Seqs, in the order asked for, and
// reads nothing else of them. One that is unknown is left out.
func (s *Store) IDs(ctx context.Context, seqs []int64) ([]string, error) {
	list, err := json.Marshal(seqs)
	if err != nil {
		return nil, err
	}
	ids := make([]string, 0, len(seqs))
	err = s.read(ctx, func(r *reader) error {
		const query = "SELECT p.id FROM json_each(?) j JOIN pair p ON p.seq = j.value ORDER BY j.key"
		return r.each(query, []any{string(list)}, func(scan scanner) error {
			var id string
			err := scan(&id)
			ids = append(ids, id)
			return err
		})
	})
	return ids, err
}

// pairs adds the pairs with these seqs to found.
func (r *reader) pairs(seqs []int64, paths map[int64]string, found map[int64]assistant.Pair) error {
	list, err := json.Marshal(seqs)
	if err != nil {
		return err
	}
	args := []any{string(list)}
	kids := false
	sum := "b.sum"
	if r.first {
		sum = "NULL"
	}
	err = r.each(`SELECT p.seq, p.id, coalesce(s.id, ''), p.topic, coalesce(m.name, ''), p.star, p.flag, p.state, p.sec, p.nsec, p.zone,
			b.user, b.answer, b.reasoning, b.error_code, b.error_message, b.more, `+sum+`,
			p.attachments > 0
				OR EXISTS (SELECT 1 FROM tool_call t WHERE t.seq = p.seq)
				OR EXISTS (SELECT 1 FROM payload y WHERE y.seq = p.seq)
		FROM json_each(?) j JOIN pair p ON p.seq = j.value JOIN body b ON b.seq = p.seq
		LEFT JOIN session s ON s.n = p.session LEFT JOIN model m ON m.n = p.model`, args, func(scan scanner) error {
		var p assistant.Pair
		var topic, sec, nsec int64
		var state, zone int
		var more string
		var has bool
		var sum sql.NullInt64
		if err := scan(&p.Seq, &p.ID, &p.Session, &topic, &p.Model, &p.Star, &p.Flag, &state, &sec, &nsec, &zone,
			&p.UserText, &p.AssistantText, &p.Reasoning, &p.ErrorCode, &p.ErrorMessage, &more, &sum, &has); err != nil {
			return err
		}
		if r.altered != nil && sum.Valid && sum.Int64 != bodySum(p.UserText, p.AssistantText, p.Reasoning, p.ErrorCode, p.ErrorMessage, more) {
			r.altered(p.Seq)
		}
		if more != "" {
			if err := json.Unmarshal([]byte(more), &p); err != nil {
				return fmt.Errorf("pair %d: %w", p.Seq, err)
			}
		}
		p.Topic, p.State, p.CreatedAt = paths[topic], states[state&3], instant(sec, nsec, zone)
		kids = kids || has
		found[p.Seq] = p
		return nil
	})
	if err != nil || !kids {
		return err
	}
	return r.children(args, found)
}

// children adds attachments, tool calls and payloads to the pairs in found.
func (r *reader) children(args []any, found map[int64]assistant.Pair) error {
	const of = " FROM json_each(?) j JOIN %[1]s t ON t.seq = j.value ORDER BY t.seq, t.n"
	err := r.each(fmt.Sprintf("SELECT t.seq, t.name, t.type, t.size"+of, "attachment"), args, func(scan scanner) error {
		var seq int64
		var a assistant.Attachment
		err := scan(&seq, &a.Name, &a.Type, &a.Size)
		p := found[seq]
		p.Attachments = append(p.Attachments, a)
		found[seq] = p
		return err
	})
	if err != nil {
		return err
	}
	err = r.each(fmt.Sprintf("SELECT t.seq, t.id, t.name, t.arguments, t.result, t.response, t.took, t.silent"+of, "tool_call"), args, func(scan scanner) error {
		var seq int64
		var c assistant.ToolCall
		var arguments, result []byte
		if err := scan(&seq, &c.ID, &c.Name, &arguments, &result, &c.Response, &c.Took, &c.Silent); err != nil {
			return err
		}
		var err error
		c.Arguments = arguments
		if c.Result, err = decodeResult(result); err != nil {
			return fmt.Errorf("pair %d: result of %s: %w", seq, c.Name, err)
		}
		p := found[seq]
		p.ToolCalls = append(p.ToolCalls, c)
		found[seq] = p
		return nil
	})
	if err != nil {
		return err
	}
	return r.each(fmt.Sprintf("SELECT t.seq, t.id, t.type, t.data, t.summary, t.decision"+of, "payload"), args, func(scan scanner) error {
		var seq int64
		var l assistant.Payload
		var data []byte
		err := scan(&seq, &l.ID, &l.Type, &data, &l.Summary, &l.Decision)
		l.Data = data
		p := found[seq]
		p.Payloads = append(p.Payloads, l)
		found[seq] = p
		return err
	})
}

// Newest returns the Seqs of up to n uncut pairs before the pair before (0: from
// the end), of one session or, with "", of all, in order. It does not wait for
// the index: it is for the first screenful.
func (s *Store) Newest(ctx context.Context, session string, before int64, n int) ([]int64, error) {
	query := "SELECT seq FROM pair WHERE cut IS NULL AND (? = 0 OR seq < ?) ORDER BY seq DESC LIMIT ?"
	args := []any{before, before, n}
	if session != "" {
		query = `SELECT seq FROM pair WHERE session = (SELECT n FROM session WHERE id = ?)
			AND cut IS NULL AND (? = 0 OR seq < ?) ORDER BY seq DESC LIMIT ?`
		args = append([]any{session}, args...)
	}
	seqs := make([]int64, n)
	at := n
	err := s.read(ctx, func(r *reader) error {
		return r.each(query, args, func(scan scanner) error {
			at--
			return scan(&seqs[at])
		})
	})
	return seqs[at:], err
}
