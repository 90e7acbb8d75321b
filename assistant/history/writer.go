package history

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"time"
)

// writer is the one connection of this process that writes, and the goroutine
// that has it. SQLite lets one connection write at a time anyway; a queue in
// front of it is fair and never spins.
type writer struct {
	ctx   context.Context // of the store's life; statements are never cut in the middle
	conn  *sql.Conn
	stmts map[string]*sql.Stmt

	unfolded int // transactions since the log was last folded into the database

	jobs chan job
	quit chan struct{} // closed by stop
	done chan struct{} // closed when the goroutine has ended
	once sync.Once

	// idle does one small piece of background work and tells whether more is left.
	idle func() (more bool)
	// settled yields once, when background work may begin.
	settled <-chan time.Time
	// committed runs in the goroutine after a transaction that is durable.
	committed func()
}

// job is one transaction.
type job struct {
	ctx    context.Context // given up before it starts when this has ended
	work   func(*tx) error
	result chan error
}

func newWriter(conn *sql.Conn) *writer {
	return &writer{
		ctx: context.Background(), conn: conn, stmts: map[string]*sql.Stmt{},
		jobs: make(chan job), quit: make(chan struct{}), done: make(chan struct{}),
	}
}

// do runs work in one transaction in the writer's goroutine and waits. When it
// returns nil the transaction is durable. Once work has begun, ctx no longer
// ends it: the caller always learns what became of it.
func (w *writer) do(ctx context.Context, work func(*tx) error) error {
	j := job{ctx, work, make(chan error, 1)}
	select {
	case w.jobs <- j:
		return <-j.result
	case <-ctx.Done():
		return ctx.Err()
	case <-w.done:
		return ErrClosed
	}
}

// idlePause lies between two pieces of background work that no job separates: a
// piece takes some ms, so that at most half a core goes into it.
const idlePause = 5 * time.Millisecond

// run is the goroutine. Background work gets its turn only when nobody waits,
// not before the store has settled, and piece by piece: a job waits for the
// piece in hand at most. The pause before a piece ends with the next job.
func (w *writer) run() {
	defer close(w.done)
	settled := false
	var pause <-chan time.Time // of the next piece of background work; nil: none is due
	for {
		select {
		case j := <-w.jobs:
			w.serve(j)
		case <-w.quit:
			return
		case <-w.settled:
			settled = true // there may be background work left from last time
		case <-pause:
		}
		if !settled {
			continue
		}
		pause = nil
		select {
		case j := <-w.jobs: // first those who wait
			w.serve(j)
			pause = time.After(0)
		case <-w.quit:
			return
		default:
			if w.idle() {
				pause = time.After(idlePause)
			}
		}
	}
}

func (w *writer) serve(j job) {
	if err := j.ctx.Err(); err != nil {
		j.result <- err
		return
	}
	err := w.inTx(j.work)
	if err == nil {
		w.committed()
	}
	j.result <- err
}

// stop ends the goroutine after the job in hand.
func (w *writer) stop() {
	w.once.Do(func() { close(w.quit) })
	<-w.done
}

func (w *writer) close() error {
	for _, s := range w.stmts {
		s.Close()
	}
	return w.conn.Close()
}

// inTx runs f in one transaction, durable when inTx returns nil and undone when
// it returns an error. BEGIN IMMEDIATE waits for another process's transaction
// before f reads anything that may be about to change.
func (w *writer) inTx(f func(*tx) error) error {
	t := &tx{w}
	if err := t.exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	err := f(t)
	if err == nil {
		if err = t.exec("COMMIT"); err == nil {
			w.unfolded++
			return nil
		}
	}
	if undo := t.exec("ROLLBACK"); undo != nil && code(undo) != 1 { // 1: SQLite rolled back by itself
		return errors.Join(err, undo)
	}
	return err
}

// unhurried runs f in one transaction that a power cut may undo: for work that
// is done again then, and that no commit shall wait for while a disk flushes.
// The next durable transaction makes this one durable too.
func (w *writer) unhurried(f func(*tx) error) error {
	t := &tx{w}
	if err := t.exec("PRAGMA synchronous = NORMAL"); err != nil {
		return err
	}
	return errors.Join(w.inTx(f), t.exec("PRAGMA synchronous = FULL"))
}

// tx is a running transaction. Statements are prepared once and kept.
type tx struct{ w *writer }

func (t *tx) stmt(query string) (*sql.Stmt, error) {
	if s, ok := t.w.stmts[query]; ok {
		return s, nil
	}
	s, err := t.w.conn.PrepareContext(t.w.ctx, query)
	if err == nil {
		t.w.stmts[query] = s
	}
	return s, err
}

// exec runs a statement for its effect.
func (t *tx) exec(query string, args ...any) error {
	_, err := t.change(query, args...)
	return err
}

// change runs a statement and counts the rows it changed.
func (t *tx) change(query string, args ...any) (int64, error) {
	r, err := t.result(query, args...)
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

// insert runs an INSERT and returns the row's number.
func (t *tx) insert(query string, args ...any) (int64, error) {
	r, err := t.result(query, args...)
	if err != nil {
		return 0, err
	}
	return r.LastInsertId()
}

func (t *tx) result(query string, args ...any) (sql.Result, error) {
	s, err := t.stmt(query)
	if err != nil {
		return nil, err
	}
	return s.ExecContext(t.w.ctx, args...)
}

// query runs a SELECT.
func (t *tx) query(query string, args ...any) (*sql.Rows, error) {
	s, err := t.stmt(query)
	if err != nil {
		return nil, err
	}
	return s.QueryContext(t.w.ctx, args...)
}

// number reads one integer; found is false when there is no row.
func (t *tx) number(query string, args ...any) (n int64, found bool, err error) {
	s, err := t.stmt(query)
	if err != nil {
		return 0, false, err
	}
	err = s.QueryRowContext(t.w.ctx, args...).Scan(&n)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, false, nil
	}
	return n, err == nil, err
}
