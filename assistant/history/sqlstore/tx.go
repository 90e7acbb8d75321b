package sqlstore

import (
	"context"
)

// Conn runs the statements of a transaction.
type Conn interface {
	// Query runs a query. once means that the same query text is unlikely to be used again.
	Query(ctx context.Context, query string, args []any, once bool) (Rows, error)
	// Exec runs a statement and returns the number of changed rows.
	Exec(ctx context.Context, query string, args []any) (changed int64, err error)
}

// Queuer is implemented by a Conn that can send several statements in one round trip.
type Queuer interface {
	// Queue queues a statement. If too many statements are queued, Queue runs them.
	Queue(ctx context.Context, query string, args []any) error
	// Flush runs the queued statements in order.
	Flush(ctx context.Context) error
}

// Rows are the rows of a query.
type Rows interface {
	Next() bool
	Scan(into ...any) error
	Err() error
	Close()
}

// Scanner reads the columns of a row.
type Scanner func(into ...any)

// Tx is a running transaction. After its first error, its methods do nothing.
type Tx struct {
	Ctx  context.Context
	conn Conn
	err  error
}

// NewTx returns a transaction that has begun on a connection.
func NewTx(ctx context.Context, conn Conn) *Tx { return &Tx{Ctx: ctx, conn: conn} }

// Err returns the first error.
func (t *Tx) Err() error { return t.err }

// Fail sets the error of the transaction, unless it already has one.
func (t *Tx) Fail(err error) {
	if t.err == nil {
		t.err = err
	}
}

// Try runs f and returns its error without ending the transaction.
func (t *Tx) Try(f func()) error {
	f()
	err := t.err
	t.err = nil
	return err
}

// Each calls row for every row of the query.
func (t *Tx) Each(query string, args []any, row func(Scanner)) { t.each(query, args, false, row) }

// EachOnce does the same as Each for a query whose text is unlikely to be used again.
func (t *Tx) EachOnce(query string, args []any, row func(Scanner)) { t.each(query, args, true, row) }

func (t *Tx) each(query string, args []any, once bool, row func(Scanner)) {
	if t.flush(); t.err != nil {
		return
	}
	rows, err := t.conn.Query(t.Ctx, query, args, once)
	if err != nil {
		t.err = err
		return
	}
	defer rows.Close()
	for t.err == nil && rows.Next() {
		row(func(into ...any) { t.Fail(rows.Scan(into...)) })
	}
	t.Fail(rows.Err())
}

// Number reads one integer; found is false if there is no row.
func (t *Tx) Number(query string, args ...any) (n int64, found bool) {
	t.Each(query, args, func(scan Scanner) {
		found = true
		scan(&n)
	})
	return n, found && t.err == nil
}

// Later queues a statement. It is executed before the next statement that is not queued, and at the latest before the
// commit. If it fails, its error becomes the error of the transaction.
func (t *Tx) Later(query string, args ...any) {
	if q, ok := t.conn.(Queuer); !ok {
		t.Run(query, args...)
	} else if t.err == nil {
		t.err = q.Queue(t.Ctx, query, args)
	}
}

// flush executes the statements that Later has queued.
func (t *Tx) flush() {
	if q, ok := t.conn.(Queuer); ok && t.err == nil {
		t.err = q.Flush(t.Ctx)
	}
}

// Run executes a statement and returns the number of changed rows.
func (t *Tx) Run(query string, args ...any) (changed int64) {
	if t.flush(); t.err == nil {
		changed, t.err = t.conn.Exec(t.Ctx, query, args)
	}
	return changed
}

// List reads a column.
func List[T any](t *Tx, query string, args ...any) (all []T) {
	t.Each(query, args, func(scan Scanner) {
		var v T
		scan(&v)
		all = append(all, v)
	})
	return all
}

// Keyed reads two columns into a map.
func Keyed[K comparable, V any](t *Tx, query string, args ...any) map[K]V {
	all := map[K]V{}
	t.Each(query, args, func(scan Scanner) {
		var k K
		var v V
		scan(&k, &v)
		all[k] = v
	})
	return all
}
