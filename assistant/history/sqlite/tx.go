package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"winnow/assistant/history"
	"winnow/assistant/history/sqlstore"
)

// conn implements sqlstore.Conn with a connection of database/sql.
type conn struct {
	*sql.Conn
	stmts map[string]*sql.Stmt // prepared statements of the writer; nil means that statements are not reused
}

// stmt returns the prepared statement for a query and keeps it for the next call.
func (c conn) stmt(ctx context.Context, query string) (*sql.Stmt, error) {
	if s, ok := c.stmts[query]; ok {
		return s, nil
	}
	s, err := c.PrepareContext(ctx, query)
	if err == nil {
		c.stmts[query] = s
	}
	return s, err
}

// Query implements sqlstore.Conn.
func (c conn) Query(ctx context.Context, query string, args []any, _ bool) (sqlstore.Rows, error) {
	if c.stmts == nil {
		found, err := c.QueryContext(ctx, query, args...)
		return rows{found}, err
	}
	s, err := c.stmt(ctx, query)
	if err != nil {
		return nil, err
	}
	found, err := s.QueryContext(ctx, args...)
	return rows{found}, err
}

// Exec implements sqlstore.Conn.
func (c conn) Exec(ctx context.Context, query string, args []any) (changed int64, err error) {
	s, err := c.stmt(ctx, query)
	if err != nil {
		return 0, err
	}
	result, err := s.ExecContext(ctx, args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// rows are the rows of a query.
type rows struct{ *sql.Rows }

// Scan returns errValue if a value cannot be scanned: the store always writes the expected type, so the value is
// damaged. When ctx ends, database/sql closes the rows from another goroutine; Scan then returns the error of ctx.
func (r rows) Scan(into ...any) error {
	err := r.Rows.Scan(into...)
	if err == nil {
		return nil
	}
	if closed := r.Err(); closed != nil {
		return closed
	}
	return fmt.Errorf("%w: %w", errValue, err)
}

// Close implements sqlstore.Rows.
func (r rows) Close() { _ = r.Rows.Close() } // Err has already returned any failure

// Read implements sqlstore.Engine. Readers never wait for the writer.
func (s *store) Read(ctx context.Context, f func(*sqlstore.Tx)) error {
	if s.ctx.Err() != nil {
		return history.ErrClosed
	}
	c, err := s.readDB.Conn(ctx)
	if err != nil {
		return s.explain("read", err)
	}
	defer c.Close()
	// sql.Tx is not used, because it would end the transaction in a separate goroutine when ctx ends. A connection that is
	// still busy while the store closes would prevent SQLite from removing the WAL.
	defer func() { // roll back even after a cancelled BEGIN, because it may have taken effect
		_, _ = c.ExecContext(context.Background(), "ROLLBACK") // fails only if there is no transaction
	}()
	if _, err := c.ExecContext(ctx, "BEGIN"); err != nil {
		return s.explain("read", err)
	}
	t := sqlstore.NewTx(ctx, conn{Conn: c})
	f(t)
	return s.explain("read", t.Err())
}

// Write implements sqlstore.Engine.
func (s *store) Write(ctx context.Context, f func(*sqlstore.Tx)) error {
	if s.writer == nil {
		return s.report.ReadOnly
	}
	if err := s.writer.lock(ctx, s.ctx.Done()); err != nil {
		return err
	}
	defer s.writer.unlock()
	ctx = context.WithoutCancel(ctx)
	err := s.writer.inTx(ctx, func(t *sqlstore.Tx) {
		s.markUnclean(t)
		f(t)
	})
	if err == nil {
		s.checkpointMark(ctx)
	}
	return s.explain("write", err)
}

// writer is the only connection of this process that writes. It is protected by a fair lock.
type writer struct {
	turn chan struct{} // full while the writer is locked
	conn
}

func newWriter(c *sql.Conn) *writer {
	return &writer{turn: make(chan struct{}, 1), conn: conn{c, map[string]*sql.Stmt{}}}
}

// lock waits for the connection until ctx ends or the store is closed.
func (w *writer) lock(ctx context.Context, closed <-chan struct{}) error {
	select {
	case w.turn <- struct{}{}: // Close takes the lock and keeps it
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-closed:
		return history.ErrClosed
	}
}

func (w *writer) unlock() { <-w.turn }

// inTx runs f in one transaction, and rolls the transaction back if f fails. BEGIN IMMEDIATE waits for other processes
// before f reads anything. Even a BEGIN whose context was cancelled is rolled back, because it may have taken effect.
func (w *writer) inTx(ctx context.Context, f func(*sqlstore.Tx)) error {
	t := sqlstore.NewTx(ctx, w.conn)
	t.Run("BEGIN IMMEDIATE")
	if t.Err() == nil {
		f(t)
		t.Run("COMMIT")
	}
	if t.Err() == nil {
		return nil
	}
	_, undone := w.Exec(context.Background(), "ROLLBACK", nil)
	if code(undone) != codeError { // codeError means that there is no transaction, or that SQLite has already rolled back
		return errors.Join(t.Err(), undone)
	}
	return t.Err()
}

func (w *writer) close() error {
	for _, s := range w.stmts {
		s.Close()
	}
	return w.Close()
}
