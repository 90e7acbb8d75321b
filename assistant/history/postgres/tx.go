package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"winnow/assistant/history"
	"winnow/assistant/history/sqlstore"
)

// conn is a transaction of the driver. It calls answered for each answer from the server.
type conn struct {
	pgx.Tx
	answered func()
	queue    *pgx.Batch // statements that are sent together
}

// maxQueue limits the number of queued statements, and thus their memory.
const maxQueue = 100

// Queue implements sqlstore.Queuer.
func (c conn) Queue(ctx context.Context, query string, args []any) error {
	c.queue.Queue(numbered(query), args...)
	if c.queue.Len() < maxQueue {
		return nil
	}
	return c.Flush(ctx)
}

// Flush implements sqlstore.Queuer.
func (c conn) Flush(ctx context.Context) error {
	n := c.queue.Len()
	if n == 0 {
		return nil
	}
	sent := *c.queue
	*c.queue = pgx.Batch{}
	results := c.Tx.SendBatch(ctx, &sent)
	for range n {
		if _, err := results.Exec(); err != nil {
			_ = results.Close() // Close returns the same error
			return err
		}
		c.answered()
	}
	return results.Close()
}

// numbered replaces each ? in a statement with $ and its number.
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

// Query implements sqlstore.Conn. A query that is run only once is not prepared for reuse.
func (c conn) Query(ctx context.Context, query string, args []any, once bool) (sqlstore.Rows, error) {
	if once {
		args = append([]any{pgx.QueryExecModeDescribeExec}, args...)
	}
	found, err := c.Tx.Query(ctx, numbered(query), args...)
	if err != nil {
		return nil, err
	}
	return &rows{Rows: found, answered: c.answered}, nil
}

// rows iterates over the rows of a query.
type rows struct {
	pgx.Rows
	answered func()
	n        int
}

// Next implements sqlstore.Rows.
func (r *rows) Next() bool {
	const noted = 64 // one row out of this many counts as an answer from the server
	more := r.Rows.Next()
	if more && r.n%noted == 0 {
		r.answered()
	}
	r.n++
	return more
}

// Exec implements sqlstore.Conn.
func (c conn) Exec(ctx context.Context, query string, args []any) (changed int64, err error) {
	tag, err := c.Tx.Exec(ctx, numbered(query), args...)
	if err == nil {
		c.answered()
	}
	return tag.RowsAffected(), err
}

const (
	// retryFor limits how long an operation is retried after the connection broke. It is long enough for a server to
	// restart.
	retryFor   = 4 * time.Second
	retryPause = 50 * time.Millisecond
)

// Read implements sqlstore.Engine. If the connection breaks, f may be called again.
func (s *store) Read(ctx context.Context, f func(*sqlstore.Tx)) error {
	w, ctx := s.await(ctx)
	defer w.end()
	return s.retry(ctx, "read", func() error {
		return s.attempt(ctx, ctx, w, true, f)
	})
}

// Write implements sqlstore.Engine. If the connection breaks, f may be called again, but only after it is certain
// that nothing was committed. Cancelling ctx ends the operation only before the commit, so that the caller always
// learns the outcome of the commit.
func (s *store) Write(ctx context.Context, f func(*sqlstore.Tx)) error {
	if s.report.ReadOnly != nil {
		return s.report.ReadOnly
	}
	w, committing := s.await(context.WithoutCancel(ctx))
	defer w.end()
	running, cancel := context.WithCancelCause(committing)
	defer cancel(nil)
	defer context.AfterFunc(ctx, func() { cancel(ctx.Err()) })()
	if err := ctx.Err(); err != nil {
		return err
	}
	return s.retry(running, "write", func() error { return s.attempt(running, committing, w, false, f) })
}

// retry runs an operation, and runs it again for up to retryFor if it fails with a transient error.
func (s *store) retry(ctx context.Context, op string, try func() error) error {
	if s.ctx.Err() != nil {
		return history.ErrClosed
	}
	pause := retryPause
	for deadline := time.Now().Add(retryFor); ; pause *= 2 { // back off, because many programs may wait for the same server
		err := try()
		if err != nil && errors.Is(context.Cause(ctx), errNoAnswer) {
			return s.explain(op, errNoAnswer)
		}
		if cause := context.Cause(ctx); errors.Is(err, context.Canceled) && errors.Is(cause, context.DeadlineExceeded) {
			err = cause // Write cancels its own context when the deadline of the caller has passed
		}
		if errors.As(err, new(*pgconn.ConnectError)) && pgconn.Timeout(err) { // because the pool is small, a connection may have to be made first
			s.silent.Store(true)
			return s.explain(op, errNoAnswer)
		}
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

// attempt runs f in one transaction, with the context ctx, and commits the transaction with the context committing. If
// the commit gets no answer, attempt asks the server whether the transaction was committed.
func (s *store) attempt(ctx, committing context.Context, w *wait, readOnly bool, f func(*sqlstore.Tx)) error {
	id, err := s.try(ctx, committing, w, readOnly, f)
	if id != "" && unknown(err) { // the connection has been released, because outcome needs one
		return s.outcome(committing, id, err)
	}
	return err
}

// try runs f in one transaction. It returns the id of the transaction, or "" if it did not try to commit.
func (s *store) try(ctx, committing context.Context, w *wait, readOnly bool, f func(*sqlstore.Tx)) (id string, err error) {
	acquired, err := s.acquire(ctx)
	if err != nil {
		return "", err
	}
	var pgTx pgx.Tx
	defer func() {
		if ctx.Err() != nil { // the server may never answer on this connection
			_ = acquired.Hijack().PgConn().Conn().Close()
			return
		}
		if pgTx != nil {
			end, cancel := context.WithTimeout(context.Background(), retryFor)
			defer cancel()
			_ = pgTx.Rollback(end) // an error is expected after the commit, or if the connection is lost
		}
		acquired.Release()
	}()
	if pgTx, err = acquired.BeginTx(ctx, s.begin(readOnly)); err != nil {
		return "", err
	}
	w.answered()
	t := sqlstore.NewTx(ctx, conn{pgTx, w.answered, &pgx.Batch{}})
	f(t)
	if readOnly || t.Err() != nil {
		return "", t.Err()
	}
	ids := sqlstore.List[string](t, "SELECT pg_current_xact_id()::text")
	if t.Err() != nil {
		return "", t.Err()
	}
	return ids[0], pgTx.Commit(committing)
}

// errAborted means that a transaction was not committed and can be run again.
var errAborted = errors.New("the connection was lost before the commit")

// outcome determines whether a transaction was committed if the commit got no answer. It returns nil if the
// transaction was committed. lost is the error that broke the connection.
func (s *store) outcome(ctx context.Context, id string, lost error) error {
	for deadline := time.Now().Add(answerWait); ; {
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
	err = s.pool.QueryRow(ctx, "SELECT coalesce(pg_xact_status($1::text::xid8), '')", pgx.QueryExecModeDescribeExec, id).Scan(&status)
	return status, err
}
