package sqlstore

import (
	"context"
	"testing"
)

// twice is an Engine whose connection breaks at the end of every first attempt.
type twice struct {
	Engine
	conn Conn
}

func (e twice) Read(ctx context.Context, f func(*Tx)) error {
	f(NewTx(ctx, e.conn))
	f(NewTx(ctx, e.conn))
	return nil
}

// revision is a Conn with this revision in meta.
type revision int64

func (r revision) Query(context.Context, string, []any, bool) (Rows, error) {
	return &oneRow{value: int64(r)}, nil
}

func (revision) Exec(context.Context, string, []any) (int64, error) { return 0, nil }

type oneRow struct {
	value int64
	read  bool
}

func (r *oneRow) Next() bool {
	first := !r.read
	r.read = true
	return first
}

func (r *oneRow) Scan(into ...any) error {
	*into[0].(*int64) = r.value
	return nil
}

func (*oneRow) Err() error { return nil }
func (*oneRow) Close()     {}

// A change by another program is noticed also when the connection breaks meanwhile.
func TestRefreshAfterABrokenConnection(t *testing.T) {
	s := &Store{Engine: twice{conn: revision(7)}}
	for _, want := range []bool{true, false} {
		if changed, err := s.Refresh(t.Context()); changed != want || err != nil || s.Revision() != 7 {
			t.Errorf("Refresh = %v, %v at revision %d, want %v at 7", changed, err, s.Revision(), want)
		}
	}
}
