package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"winnow/assistant"
	"winnow/assistant/filter"
	"winnow/assistant/history"
)

// Filter implements history.Store.
func (s *Store) Filter(ctx context.Context, q *filter.Query, env history.Env) (r history.Result, err error) {
	err = s.search(ctx, q, env, func(_ *Tx, f *history.Search) { r = f.Result() })
	if err != nil {
		return history.Result{}, err
	}
	return r, nil
}

// Count implements history.Store.
func (s *Store) Count(ctx context.Context, q *filter.Query, env history.Env) (n int, err error) {
	err = s.search(ctx, q, env, func(_ *Tx, f *history.Search) { n = f.Count() })
	return n, err
}

// ErrBroken is the error of a stream if the connection breaks after the first piece.
var ErrBroken = errors.New("the connection was lost while messages were being read")

// Stream implements history.Store. It calls yield while a transaction is open, and yields an error if the connection
// breaks after the first piece.
func (s *Store) Stream(ctx context.Context, q *filter.Query, env history.Env) iter.Seq2[[]assistant.Ref, error] {
	return func(yield func([]assistant.Ref, error) bool) {
		yielded, stopped := false, false
		err := s.search(ctx, q, env, func(t *Tx, f *history.Search) {
			if yielded {
				t.Fail(ErrBroken)
				return
			}
			f.Stream(func(refs []assistant.Ref) bool {
				yielded = true
				stopped = !yield(refs, nil)
				return !stopped
			})
		})
		if err != nil && !stopped {
			yield(nil, err)
		}
	}
}

// Refs implements assistant.Store.
func (s *Store) Refs(ctx context.Context, session string, charsPerToken float64) ([]assistant.Ref, error) {
	q, env := history.SessionLine(session, charsPerToken)
	r, err := s.Filter(ctx, q, env)
	return r.Refs, err
}

// search prepares a Search for a line and passes it to f.
func (s *Store) search(ctx context.Context, q *filter.Query, env history.Env, f func(*Tx, *history.Search)) error {
	if env.Now.IsZero() {
		env.Now = s.Now()
	}
	return s.Read(ctx, func(t *Tx) {
		env.User = s.Author(env.User)
		names := history.Names{
			Saved: savedFilters(t), Topics: Keyed[int64, string](t, "SELECT n, path FROM topic"), Models: Keyed[int64, string](t, "SELECT n, name FROM model"),
		}
		names.Topics[0], names.Branches = "", branches(t)
		names.Newest, _ = t.Number("SELECT coalesce(max(seq), 0) FROM pair")
		rev, _ := t.Number("SELECT rev FROM meta")
		if t.err != nil {
			return
		}
		s.NoticeRevision(rev)
		line, err := history.NewSearch(q, env, s.Reader(t), names)
		if t.Fail(err); err == nil {
			f(t, line)
		}
	})
}

// branches returns the Branch of each session that branches from another, by session id.
func branches(t *Tx) map[string]assistant.Branch {
	all := map[string]assistant.Branch{}
	t.Each("SELECT id, parent, upto FROM session WHERE parent <> ''", nil, func(scan Scanner) {
		var id string
		var b assistant.Branch
		scan(&id, &b.Parent, &b.UpTo)
		all[id] = b
	})
	return all
}

// Reader implements the methods of history.PairReader that are the same for every engine.
type Reader struct{ *Tx }

// CountPairs implements history.PairReader.
func (r Reader) CountPairs(where string, args []any) (n int) {
	r.EachOnce("SELECT count(*) FROM pair p WHERE "+where, args, func(scan Scanner) { scan(&n) })
	return n
}

// SeqAt implements history.PairReader.
func (r Reader) SeqAt(where string, args []any, n int) (seq int64) {
	order := fmt.Sprintf(" ORDER BY p.seq DESC LIMIT 1 OFFSET %d", n)
	r.EachOnce("SELECT p.seq FROM pair p WHERE "+where+order, args, func(scan Scanner) { scan(&seq) })
	return seq
}

// SessionIDs implements history.PairReader.
func (r Reader) SessionIDs() []string { return List[string](r.Tx, "SELECT id FROM session") }
