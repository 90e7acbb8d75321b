package history

import (
	"context"
	"encoding/hex"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	"winnow/assistant"
	"winnow/assistant/filter"
)

// defaultCharsPerToken is the default of section 8.4 of the specification.
const defaultCharsPerToken = 3.5

func (s *store) Filter(ctx context.Context, q *filter.Query, env Env) (r Result, err error) {
	err = s.search(ctx, q, env, func(f *search) {
		r.Refs = f.all()
		r.Hints = f.hints()
	})
	if err != nil {
		return Result{}, err
	}
	return r, nil
}

func (s *store) Count(ctx context.Context, q *filter.Query, env Env) (n int, err error) {
	err = s.search(ctx, q, env, func(f *search) {
		where, args := f.where(f.base, f.expr, span{0, f.newest})
		count, _ := f.number("SELECT count(*) FROM pair p WHERE "+where, args...)
		n = int(count)
	})
	return n, err
}

func (s *store) Stream(ctx context.Context, q *filter.Query, env Env) iter.Seq2[[]assistant.Ref, error] {
	return func(yield func([]assistant.Ref, error) bool) {
		stopped := false
		err := s.search(ctx, q, env, func(f *search) {
			f.stream(f.base, f.expr, func(refs []assistant.Ref) bool {
				stopped = !yield(refs, nil)
				return !stopped
			})
		})
		if err != nil && !stopped {
			yield(nil, err)
		}
	}
}

func (s *store) Refs(ctx context.Context, session string, charsPerToken float64) ([]assistant.Ref, error) {
	env := Env{CharsPerToken: charsPerToken, Env: filter.Env{Session: session}}
	q := &filter.Query{Expr: filter.SessionCurrent{}}
	if session == "" {
		q = nil
	}
	r, err := s.Filter(ctx, q, env)
	return r.Refs, err
}

// search is one evaluation of a line on one snapshot of the database.
type search struct {
	*tx
	env    Env
	expr   filter.Expr // nil matches all
	base   filter.Expr // expr without the term o: matches all that expr does, and more
	newest int64       // the greatest seq
	source filter.Source
}

// search prepares the evaluation of a line and runs f with it.
func (s *store) search(ctx context.Context, q *filter.Query, env Env, f func(*search)) error {
	if env.CharsPerToken == 0 {
		env.CharsPerToken = defaultCharsPerToken
	}
	if env.Now.IsZero() {
		env.Now = s.options.Now()
	}
	return s.read(ctx, func(t *tx) {
		line := &search{tx: t, env: env}
		if q != nil {
			if env.Saved == nil {
				env.Saved = lookup(t.savedFilters())
			}
			var err error
			line.expr, err = filter.Expand(q, env.Saved)
			t.fail(err)
		}
		line.source = filter.Source{Env: env.Env, Failed: stateError, Topics: t.topicPaths()}
		line.source.Models = keyed[int64, string](t, "SELECT n, name FROM model")
		line.newest, _ = t.number("SELECT coalesce(max(seq), 0) FROM pair")
		rev, _ := t.number("SELECT rev FROM meta")
		if t.err != nil {
			return
		}
		s.revision.Store(rev)
		if filter.UsesBoundary(line.expr) {
			line.base = filter.Base(line.expr)
			line.findBoundary()
		}
		f(line)
	})
}

// span is the pairs with from < seq <= to.
type span struct{ from, to int64 }

// where returns the condition for the uncut pairs of a span that both expressions
// match.
func (f *search) where(a, b filter.Expr, in span) (sql string, args []any) {
	source := f.source
	source.Dialect = dialect{in}
	sql = fmt.Sprintf("p.seq > %d AND p.seq <= %d AND p.cut IS NULL", in.from, in.to)
	for _, x := range []filter.Expr{a, b} {
		if x != nil {
			where, more := filter.Where(x, source)
			sql += " AND (" + where + ")"
			args = append(args, more...)
		}
	}
	return sql, args
}

// The number of seqs that one query of a stream covers: few at first, so that the
// first screenful comes fast, then doubled up to a bound for the memory.
const (
	firstSpan = 2048
	maxSpan   = 128 << 10
)

// stream calls each with the refs that both expressions match, the newest piece
// first, until it returns false.
func (f *search) stream(a, b filter.Expr, each func([]assistant.Ref) bool) {
	for to, n := f.newest, int64(firstSpan); to > 0 && f.err == nil; n = min(2*n, maxSpan) {
		in := span{max(to-n, 0), to}
		refs := f.refs(f.where(a, b, in))
		if len(refs) > 0 && !each(refs) {
			return
		}
		to = in.from
	}
}

// refs reads the refs of the pairs for which a condition is true, in order. The
// query packs all rows into one text: a million rows through database/sql take seconds.
func (f *search) refs(where string, args []any) (refs []assistant.Ref) {
	const query = "SELECT coalesce(group_concat(seq || ' ' || sends || ' ' || hex(parts), ';'), '') FROM pair p WHERE "
	f.each(query+where, args, func(scan scanner) {
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
			f.fail(err)
			parts, err = hex.AppendDecode(parts[:0], []byte(encoded))
			f.fail(err)
			refs = append(refs, assistant.Ref{Seq: n, Contributes: sends == "1", Cost: cost(parts, f.env.CharsPerToken)})
		}
	})
	bySeq := func(a, b assistant.Ref) int { return int(a.Seq - b.Seq) }
	if !slices.IsSortedFunc(refs, bySeq) { // SQLite used an index
		slices.SortFunc(refs, bySeq)
	}
	return refs
}

// all collects a stream in order.
func (f *search) all() []assistant.Ref {
	var pieces [][]assistant.Ref
	f.stream(f.base, f.expr, func(refs []assistant.Ref) bool {
		pieces = append(pieces, refs)
		return true
	})
	slices.Reverse(pieces)
	return slices.Concat(pieces...)
}

// findBoundary reads the newest pairs of the base until one of them does not
// fit, and makes the term o match those after it.
func (f *search) findBoundary() {
	firsts := map[int]int64{} // the first seq that o matches, by Boundary.Extra; 0: all
	f.source.First = func(extra int) int64 { return firsts[extra] }
	if f.env.Fits == nil {
		return
	}
	var newest []assistant.Ref // of the base, those read so far
	fits := 0
	f.stream(f.base, nil, func(refs []assistant.Ref) bool {
		newest = append(refs, newest...)
		fits = min(max(f.env.Fits(newest), 0), len(newest))
		return fits == len(newest)
	})
	filter.Walk(f.expr, func(x filter.Expr) {
		if o, ok := x.(filter.Boundary); ok {
			firsts[o.Extra] = f.boundarySeq(newest, len(newest)-fits-o.Extra)
		}
	})
}

// boundarySeq returns the seq of the pair at an index of newest. A negative index
// counts back in the base from newest; one after the last gives a seq that no pair
// has yet.
func (f *search) boundarySeq(newest []assistant.Ref, at int) int64 {
	switch {
	case at >= len(newest):
		return f.newest + 1
	case at >= 0:
		return newest[at].Seq
	case len(newest) == 0:
		return 0
	}
	where, args := f.where(f.base, nil, span{0, newest[0].Seq - 1})
	seq, _ := f.number("SELECT seq FROM pair p WHERE "+where+" ORDER BY seq DESC LIMIT 1 OFFSET ?", append(args, -at-1)...)
	return seq
}

// hints returns the topics and sessions of the line that do not exist.
func (f *search) hints() []filter.Hint {
	if f.expr == nil {
		return nil
	}
	var sessions []string
	filter.Walk(f.expr, func(x filter.Expr) {
		if _, ok := x.(filter.Session); ok && sessions == nil {
			sessions = list[string](f.tx, "SELECT id FROM session")
		}
	})
	topics := maps.Clone(f.source.Topics)
	delete(topics, 0)
	return filter.Hints(f.expr, slices.Sorted(maps.Values(topics)), sessions)
}

func (s *store) Revision() int64 { return s.revision.Load() }

func (s *store) Refresh(ctx context.Context) (changed bool, err error) {
	err = s.read(ctx, func(t *tx) {
		if rev, found := t.number("SELECT rev FROM meta"); found {
			changed = s.revision.Swap(rev) != rev
		}
	})
	return changed, err
}
