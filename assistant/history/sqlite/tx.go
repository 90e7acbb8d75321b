package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"winnow/assistant/history"
)

// scanner reads the columns of a row, as sql.Rows.Scan does.
type scanner func(into ...any)

// tx is a running transaction: it sees one snapshot of the database. After its
// first error all methods do nothing.
type tx struct {
	ctx   context.Context
	conn  *sql.Conn
	stmts map[string]*sql.Stmt // prepared statements of the writer; nil: each is prepared when it runs
	err   error
}

// fail makes err the error of the transaction, unless it has one.
func (t *tx) fail(err error) {
	if t.err == nil {
		t.err = err
	}
}

// try runs f and returns its error, which does not end the transaction.
func (t *tx) try(f func()) error {
	f()
	err := t.err
	t.err = nil
	return err
}

// stmt prepares a statement of the writer once.
func (t *tx) stmt(query string) (*sql.Stmt, error) {
	if s, ok := t.stmts[query]; ok {
		return s, nil
	}
	s, err := t.conn.PrepareContext(t.ctx, query)
	if err == nil {
		t.stmts[query] = s
	}
	return s, err
}

func (t *tx) query(query string, args []any) (*sql.Rows, error) {
	if t.stmts == nil {
		return t.conn.QueryContext(t.ctx, query, args...)
	}
	s, err := t.stmt(query)
	if err != nil {
		return nil, err
	}
	return s.QueryContext(t.ctx, args...)
}

// each calls row for every row of the query. A value that cannot be scanned is
// errValue: the store wrote another type.
func (t *tx) each(query string, args []any, row func(scanner)) {
	if t.err != nil {
		return
	}
	rows, err := t.query(query, args)
	if err != nil {
		t.err = err
		return
	}
	defer rows.Close()
	scan := func(into ...any) {
		if err := rows.Scan(into...); err != nil {
			t.fail(fmt.Errorf("%w: %w", errValue, err))
		}
	}
	for t.err == nil && rows.Next() {
		row(scan)
	}
	t.fail(rows.Err())
}

// number reads one integer; found is false when there is no row.
func (t *tx) number(query string, args ...any) (n int64, found bool) {
	t.each(query, args, func(scan scanner) {
		found = true
		scan(&n)
	})
	return n, found && t.err == nil
}

// run executes a statement of the writer.
func (t *tx) run(query string, args ...any) {
	if t.err != nil {
		return
	}
	s, err := t.stmt(query)
	if err == nil {
		_, err = s.ExecContext(t.ctx, args...)
	}
	t.err = err
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

// read runs f on one snapshot of the database. Readers never wait for the writer.
func (s *store) read(ctx context.Context, f func(*tx)) error {
	if s.ctx.Err() != nil {
		return history.ErrClosed
	}
	conn, err := s.readDB.Conn(ctx)
	if err != nil {
		return s.explain("read", err)
	}
	defer conn.Close()
	// sql.Tx ends in a goroutine of its own when ctx does; a connection that is busy
	// while the store closes would keep SQLite from removing the WAL.
	if _, err := conn.ExecContext(ctx, "BEGIN"); err != nil {
		return s.explain("read", err)
	}
	defer func() {
		_, _ = conn.ExecContext(context.Background(), "ROLLBACK") // fails only where SQLite has ended it already
	}()
	t := &tx{ctx: ctx, conn: conn}
	f(t)
	return s.explain("read", t.err)
}

// write runs one transaction. Once f has begun, ctx no longer ends it: the
// caller always learns whether it was committed.
func (s *store) write(ctx context.Context, f func(*tx)) error {
	if s.writer == nil {
		return s.report.ReadOnly
	}
	if err := s.writer.lock(ctx, s.ctx.Done()); err != nil {
		return err
	}
	defer s.writer.unlock()
	err := s.writer.inTx(context.WithoutCancel(ctx), f)
	if err == nil {
		s.recordWrite()
	}
	return s.explain("write", err)
}

// exec runs one statement as a transaction.
func (s *store) exec(ctx context.Context, query string, args ...any) error {
	return s.write(ctx, func(t *tx) { t.run(query, args...) })
}

// writer is the one connection of this process that writes, behind a fair lock.
type writer struct {
	turn  chan struct{} // full while the writer is locked
	conn  *sql.Conn
	stmts map[string]*sql.Stmt
}

func newWriter(conn *sql.Conn) *writer {
	return &writer{turn: make(chan struct{}, 1), conn: conn, stmts: map[string]*sql.Stmt{}}
}

// lock waits for the connection until ctx ends or the store is closed.
func (w *writer) lock(ctx context.Context, closed <-chan struct{}) error {
	select {
	case w.turn <- struct{}{}: // Close locks it forever
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-closed:
		return history.ErrClosed
	}
}

func (w *writer) unlock() { <-w.turn }

// inTx runs f in one transaction, which is rolled back when it fails. BEGIN
// IMMEDIATE waits for another process before f reads anything.
func (w *writer) inTx(ctx context.Context, f func(*tx)) error {
	t := &tx{ctx: ctx, conn: w.conn, stmts: w.stmts}
	t.run("BEGIN IMMEDIATE")
	if t.err != nil {
		return t.err
	}
	f(t)
	t.run("COMMIT")
	if t.err == nil {
		return nil
	}
	undo := &tx{ctx: context.Background(), conn: w.conn, stmts: w.stmts}
	undo.run("ROLLBACK")
	if code(undo.err) != codeError { // it is codeError when SQLite has rolled back itself
		return errors.Join(t.err, undo.err)
	}
	return t.err
}

func (w *writer) close() error {
	for _, s := range w.stmts {
		s.Close()
	}
	return w.conn.Close()
}
