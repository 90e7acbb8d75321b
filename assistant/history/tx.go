package history

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// querier is what a connection and a pool of them have in common.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// scanner reads the columns of a row, as sql.Rows.Scan does.
type scanner func(into ...any) error

// tx is a running transaction: it sees the database as it was at one moment.
type tx struct {
	ctx   context.Context
	conn  *sql.Conn
	stmts map[string]*sql.Stmt // prepared ones, of the connection; nil: none are stored
}

// stmt prepares a statement, once per connection where they are stored.
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

// each calls row for every row of the query.
func (t *tx) each(query string, args []any, row func(scanner) error) error {
	rows, err := t.query(query, args)
	if err != nil {
		return err
	}
	defer rows.Close()
	scan := func(into ...any) error {
		if err := rows.Scan(into...); err != nil { // the store wrote another type
			return fmt.Errorf("%w: %w", errValue, err)
		}
		return nil
	}
	for rows.Next() {
		if err := row(scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

// number reads one integer; found is false when there is no row.
func (t *tx) number(query string, args ...any) (n int64, found bool, err error) {
	err = t.each(query, args, func(scan scanner) error {
		found = true
		return scan(&n)
	})
	return n, found, err
}

// exec runs a statement of a writing transaction and counts the rows it changed.
func (t *tx) exec(query string, args ...any) (int64, error) {
	s, err := t.stmt(query)
	if err != nil {
		return 0, err
	}
	r, err := s.ExecContext(t.ctx, args...)
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

// run is exec for who does not count.
func (t *tx) run(query string, args ...any) error {
	_, err := t.exec(query, args...)
	return err
}

// list reads a column.
func list[T any](t *tx, query string, args ...any) ([]T, error) {
	var out []T
	err := t.each(query, args, func(scan scanner) error {
		var v T
		err := scan(&v)
		out = append(out, v)
		return err
	})
	return out, err
}

// keyed reads two columns into a map.
func keyed[K comparable, V any](t *tx, query string, args ...any) (map[K]V, error) {
	out := map[K]V{}
	err := t.each(query, args, func(scan scanner) error {
		var k K
		var v V
		err := scan(&k, &v)
		out[k] = v
		return err
	})
	return out, err
}

// read runs f on one state of the database. Readers never wait for the writer.
func (s *SQLite) read(ctx context.Context, f func(*tx) error) error {
	if s.ctx.Err() != nil {
		return ErrClosed
	}
	conn, err := s.readers.Conn(ctx)
	if err != nil {
		return s.explain("read", err)
	}
	defer conn.Close()
	// Not sql.Tx, which ends in a goroutine of its own when ctx does: a connection
	// that is busy while the store closes keeps SQLite from removing the log.
	if _, err := conn.ExecContext(ctx, "BEGIN"); err != nil {
		return s.explain("read", err)
	}
	defer func() {
		_, _ = conn.ExecContext(context.Background(), "ROLLBACK") // fails only where SQLite has ended it already
	}()
	return s.explain("read", f(&tx{ctx: ctx, conn: conn}))
}

// write runs one transaction. It is durable when write returns nil. Once f has
// begun, ctx no longer ends it: the caller always learns what became of it.
func (s *SQLite) write(ctx context.Context, f func(*tx) error) error {
	if s.writer == nil {
		return s.report.ReadOnly
	}
	if err := s.writer.lock(ctx, s.ctx.Done()); err != nil {
		return err
	}
	defer s.writer.unlock()
	err := s.writer.inTx(context.WithoutCancel(ctx), f)
	if err == nil {
		s.written()
	}
	return s.explain("write", err)
}

// writer is the one connection of this process that writes. SQLite lets one
// connection write at a time anyway; the queue in front of it is fair.
type writer struct {
	turn  chan struct{} // holds one token; who has it may use conn
	conn  *sql.Conn
	stmts map[string]*sql.Stmt
}

func newWriter(conn *sql.Conn) *writer {
	return &writer{turn: make(chan struct{}, 1), conn: conn, stmts: map[string]*sql.Stmt{}}
}

// lock waits for the connection until ctx ends or the store is closed.
func (w *writer) lock(ctx context.Context, closed <-chan struct{}) error {
	select {
	case w.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	case <-closed:
		return ErrClosed
	}
	select { // both were ready
	case <-closed:
		w.unlock()
		return ErrClosed
	default:
		return nil
	}
}

func (w *writer) unlock() { <-w.turn }

// inTx runs f in one transaction, durable when inTx returns nil and undone when
// it returns an error. BEGIN IMMEDIATE waits for another process's transaction
// before f reads anything that may be about to change.
func (w *writer) inTx(ctx context.Context, f func(*tx) error) error {
	t := &tx{ctx: ctx, conn: w.conn, stmts: w.stmts}
	if err := t.run("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	err := f(t)
	if err == nil {
		if err = t.run("COMMIT"); err == nil {
			return nil
		}
	}
	t.ctx = context.Background()
	if undo := t.run("ROLLBACK"); undo != nil && code(undo) != codeError { // SQLite rolled back by itself
		return errors.Join(err, undo)
	}
	return err
}

func (w *writer) close() error {
	for _, s := range w.stmts {
		s.Close()
	}
	return w.conn.Close()
}

// instant rebuilds a time with the offset it was written with.
func instant(sec, nsec int64, zone int) time.Time {
	t := time.Unix(sec, nsec)
	if zone == 0 {
		return t.UTC()
	}
	return t.In(time.FixedZone("", zone))
}
