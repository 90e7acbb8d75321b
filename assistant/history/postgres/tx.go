package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"winnow/assistant/history"
)

// scanner reads the columns of a row.
type scanner func(into ...any)

// tx is a running transaction. After its first error all methods do nothing.
type tx struct {
	ctx context.Context
	tx  pgx.Tx
	err error
}

// fail makes err the error of the transaction, unless it has one.
func (t *tx) fail(err error) {
	if t.err == nil {
		t.err = err
	}
}

// each calls row for every row of the query.
func (t *tx) each(query string, args []any, row func(scanner)) {
	if t.err != nil {
		return
	}
	rows, err := t.tx.Query(t.ctx, query, args...)
	if err != nil {
		t.err = err
		return
	}
	defer rows.Close()
	for t.err == nil && rows.Next() {
		row(func(into ...any) { t.fail(rows.Scan(into...)) })
	}
	if t.err == nil {
		t.err = rows.Err()
	}
}

// numbered replaces each ? of a condition of package filter by its number.
func numbered(sql string) string {
	var b strings.Builder
	n := 0
	for part := range strings.SplitSeq(sql, "?") {
		if n > 0 {
			fmt.Fprintf(&b, "$%d", n)
		}
		b.WriteString(part)
		n++
	}
	return b.String()
}

// selectWhere calls row for the rows of a query with a condition of package filter. It
// is not prepared for reuse: each condition is another statement.
func (t *tx) selectWhere(query, where string, args []any, row func(scanner)) {
	t.each(query+numbered(where), append([]any{pgx.QueryExecModeDescribeExec}, args...), row)
}

// number reads one integer; found is false when there is no row.
func (t *tx) number(query string, args ...any) (n int64, found bool) {
	t.each(query, args, func(scan scanner) {
		found = true
		scan(&n)
	})
	return n, found && t.err == nil
}

// run executes a statement and returns how many rows it changed.
func (t *tx) run(query string, args ...any) int64 {
	if t.err != nil {
		return 0
	}
	tag, err := t.tx.Exec(t.ctx, query, args...)
	t.err = err
	return tag.RowsAffected()
}

// list reads a column.
func list[T any](t *tx, query string, args ...any) (all []T) {
	t.each(query, args, func(scan scanner) {
		var v T
		scan(&v)
		all = append(all, v)
	})
	return all
}

// keyed reads two columns into a map.
func keyed[K comparable, V any](t *tx, query string, args ...any) map[K]V {
	all := map[K]V{}
	t.each(query, args, func(scan scanner) {
		var k K
		var v V
		scan(&k, &v)
		all[k] = v
	})
	return all
}

const (
	// retryFor bounds how long an operation is tried again after the connection
	// broke: a server restarts within it.
	retryFor = 4 * time.Second
	// writeTimeout bounds a transaction that writes, which its caller cannot cancel.
	writeTimeout = 60 * time.Second
	retryPause   = 50 * time.Millisecond
)

// read runs f on one snapshot of the database. When the connection breaks, f may
// run again.
func (s *store) read(ctx context.Context, f func(*tx)) error {
	return s.retry(ctx, "read", func() error {
		return s.attempt(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, f)
	})
}

// write runs one transaction. Once f has begun, ctx no longer ends it: the caller
// always learns whether it was committed. When the connection breaks, f may run
// again, but only after it is certain that nothing was committed.
func (s *store) write(ctx context.Context, f func(*tx)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTimeout)
	defer cancel()
	return s.retry(ctx, "write", func() error { return s.attempt(ctx, pgx.TxOptions{}, f) })
}

// exec runs one statement as a transaction.
func (s *store) exec(ctx context.Context, query string, args ...any) error {
	return s.write(ctx, func(t *tx) { t.run(query, args...) })
}

// retry runs an operation again while the database cannot be reached, for a while.
func (s *store) retry(ctx context.Context, op string, try func() error) error {
	if s.ctx.Err() != nil {
		return history.ErrClosed
	}
	pause := retryPause
	for deadline := time.Now().Add(retryFor); ; pause *= 2 { // many programs wait for the same server
		err := try()
		if !transient(err) || time.Now().After(deadline) || ctx.Err() != nil {
			return s.explain(op, err)
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		case <-s.ctx.Done():
			return history.ErrClosed
		}
	}
}

// attempt runs f in one transaction and commits it.
func (s *store) attempt(ctx context.Context, o pgx.TxOptions, f func(*tx)) error {
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	begun, err := conn.BeginTx(ctx, o)
	if err != nil {
		return err
	}
	defer func() {
		end, cancel := context.WithTimeout(context.Background(), retryFor)
		defer cancel()
		_ = begun.Rollback(end) // fails after the commit, and where the connection is gone
	}()
	t := &tx{ctx: ctx, tx: begun}
	f(t)
	if o.AccessMode == pgx.ReadOnly || t.err != nil {
		return t.err
	}
	var id string
	t.each("SELECT pg_current_xact_id()::text", nil, func(scan scanner) { scan(&id) })
	if t.err != nil {
		return t.err
	}
	if err := begun.Commit(ctx); unknown(err) {
		return s.outcome(ctx, id, err)
	} else {
		return err
	}
}

// errAborted means that a transaction was not committed and can be run again.
var errAborted = errors.New("the connection broke before the commit")

// outcome asks what became of a transaction whose commit was not answered. Its
// error is nil when it was committed. lost is what broke the connection.
func (s *store) outcome(ctx context.Context, id string, lost error) error {
	for deadline := time.Now().Add(2 * retryFor); ; {
		status, err := s.transactionStatus(ctx, id)
		switch {
		case err == nil && status == "committed":
			return nil
		case err == nil && status == "aborted":
			return errAborted
		case time.Now().After(deadline) || ctx.Err() != nil || s.ctx.Err() != nil:
			return &unknownOutcomeError{lost}
		}
		time.Sleep(retryPause)
	}
}

func (s *store) transactionStatus(ctx context.Context, id string) (status string, err error) {
	err = s.pool.QueryRow(ctx, "SELECT coalesce(pg_xact_status($1::text::xid8), '')", id).Scan(&status)
	return status, err
}
