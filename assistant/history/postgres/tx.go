package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"winnow/assistant/history"
	"winnow/assistant/history/sqlstore"
)

// conn is a transaction of the driver.
type conn struct{ pgx.Tx }

// numbered replaces each ? of a statement by its number.
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

// Query implements sqlstore.Conn. It does not prepare for reuse what comes only once.
func (c conn) Query(ctx context.Context, query string, args []any, once bool) (sqlstore.Rows, error) {
	if once {
		args = append([]any{pgx.QueryExecModeDescribeExec}, args...)
	}
	return c.Tx.Query(ctx, numbered(query), args...)
}

// Exec implements sqlstore.Conn.
func (c conn) Exec(ctx context.Context, query string, args []any) (changed int64, err error) {
	tag, err := c.Tx.Exec(ctx, numbered(query), args...)
	return tag.RowsAffected(), err
}

const (
	// retryFor bounds how long an operation is tried again after the connection
	// broke: a server restarts within it.
	retryFor = 4 * time.Second
	// writeTimeout bounds a transaction that writes, which its caller cannot cancel.
	writeTimeout = 60 * time.Second
	retryPause   = 50 * time.Millisecond
)

// Read implements sqlstore.Engine. When the connection breaks, f may run again.
func (s *store) Read(ctx context.Context, f func(*sqlstore.Tx)) error {
	return s.retry(ctx, "read", func() error {
		return s.attempt(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, f)
	})
}

// Write implements sqlstore.Engine. When the connection breaks, f may run again, but
// only after it is certain that nothing was committed.
func (s *store) Write(ctx context.Context, f func(*sqlstore.Tx)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTimeout)
	defer cancel()
	return s.retry(ctx, "write", func() error { return s.attempt(ctx, pgx.TxOptions{}, f) })
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
func (s *store) attempt(ctx context.Context, o pgx.TxOptions, f func(*sqlstore.Tx)) error {
	acquired, err := s.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer acquired.Release()
	pgTx, err := acquired.BeginTx(ctx, o)
	if err != nil {
		return err
	}
	defer func() {
		end, cancel := context.WithTimeout(context.Background(), retryFor)
		defer cancel()
		_ = pgTx.Rollback(end) // fails after the commit, and where the connection is gone
	}()
	t := sqlstore.NewTx(ctx, conn{pgTx})
	f(t)
	if o.AccessMode == pgx.ReadOnly || t.Err() != nil {
		return t.Err()
	}
	id := sqlstore.List[string](t, "SELECT pg_current_xact_id()::text")
	if t.Err() != nil {
		return t.Err()
	}
	if err := pgTx.Commit(ctx); unknown(err) {
		return s.outcome(ctx, id[0], err)
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
