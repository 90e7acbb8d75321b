package sqlite

import (
	"context"
	"encoding/hex"
	"iter"
	"slices"
	"strconv"
	"strings"

	"winnow/assistant"
	"winnow/assistant/filter"
	"winnow/assistant/history"
)

func (s *store) Filter(ctx context.Context, q *filter.Query, env history.Env) (r history.Result, err error) {
	err = s.search(ctx, q, env, func(f *history.Search) { r = f.Result() })
	if err != nil {
		return history.Result{}, err
	}
	return r, nil
}

func (s *store) Count(ctx context.Context, q *filter.Query, env history.Env) (n int, err error) {
	err = s.search(ctx, q, env, func(f *history.Search) { n = f.Count() })
	return n, err
}

func (s *store) Stream(ctx context.Context, q *filter.Query, env history.Env) iter.Seq2[[]assistant.Ref, error] {
	return history.StreamOf(func(each func([]assistant.Ref) bool) error {
		return s.search(ctx, q, env, func(f *history.Search) { f.Stream(each) })
	})
}

func (s *store) Refs(ctx context.Context, session string, charsPerToken float64) ([]assistant.Ref, error) {
	q, env := history.SessionLine(session, charsPerToken)
	r, err := s.Filter(ctx, q, env)
	return r.Refs, err
}

// search prepares the evaluation of a line and runs f with it.
func (s *store) search(ctx context.Context, q *filter.Query, env history.Env, f func(*history.Search)) error {
	if env.Now.IsZero() {
		env.Now = s.options.Now()
	}
	return s.read(ctx, func(t *tx) {
		names := history.Names{Saved: t.savedFilters(), Topics: t.topicPaths(), Models: keyed[int64, string](t, "SELECT n, name FROM model")}
		names.Newest, _ = t.number("SELECT coalesce(max(seq), 0) FROM pair")
		rev, _ := t.number("SELECT rev FROM meta")
		if t.err != nil {
			return
		}
		s.revision.Store(rev)
		line, err := history.NewSearch(q, env, t, names)
		if t.fail(err); err == nil {
			f(line)
		}
	})
}

// Dialect implements PairReader.
func (t *tx) Dialect(from, to int64, _ func() (string, []any)) filter.Dialect {
	return dialect{from, to}
}

// Refs implements PairReader. The query packs all rows into one text: a million rows
// through database/sql take seconds.
func (t *tx) Refs(where string, args []any, charsPerToken float64) (refs []assistant.Ref) {
	const query = "SELECT coalesce(group_concat(seq || ' ' || sends || ' ' || hex(parts), ';'), '') FROM pair p WHERE "
	t.each(query+where, args, func(scan scanner) {
		var text string
		scan(&text)
		if text == "" {
			return
		}
		refs = make([]assistant.Ref, 0, strings.Count(text, ";")+1)
		var parts []byte
		for row := range strings.SplitSeq(text, ";") {
			seq, rest, _ := strings.Cut(row, " ")
			sends, encoded, _ := strings.Cut(rest, " ")
			n, err := strconv.ParseInt(seq, 10, 64)
			t.fail(err)
			parts, err = hex.AppendDecode(parts[:0], []byte(encoded))
			t.fail(err)
			refs = append(refs, assistant.Ref{Seq: n, Contributes: sends == "1", Cost: history.Cost(parts, charsPerToken)})
		}
	})
	bySeq := func(a, b assistant.Ref) int { return int(a.Seq - b.Seq) }
	if !slices.IsSortedFunc(refs, bySeq) { // SQLite used an index
		slices.SortFunc(refs, bySeq)
	}
	return refs
}

// CountPairs implements PairReader.
func (t *tx) CountPairs(where string, args []any) int {
	n, _ := t.number("SELECT count(*) FROM pair p WHERE "+where, args...)
	return int(n)
}

// SeqAt implements PairReader.
func (t *tx) SeqAt(where string, args []any, n int) int64 {
	seq, _ := t.number("SELECT seq FROM pair p WHERE "+where+" ORDER BY seq DESC LIMIT 1 OFFSET ?", append(args, n)...)
	return seq
}

// SessionIDs implements PairReader.
func (t *tx) SessionIDs() []string { return list[string](t, "SELECT id FROM session") }

// Err implements PairReader.
func (t *tx) Err() error { return t.err }

func (s *store) Revision() int64 { return s.revision.Load() }

func (s *store) Refresh(ctx context.Context) (changed bool, err error) {
	err = s.read(ctx, func(t *tx) {
		if rev, found := t.number("SELECT rev FROM meta"); found {
			changed = s.revision.Swap(rev) != rev
		}
	})
	return changed, err
}
