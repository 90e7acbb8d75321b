package history

import (
	"context"
	"iter"

	"winnow/assistant"
	"winnow/assistant/filter"
)

// Env is what a line depends on besides the pairs.
type Env struct {
	// Env holds what is selected now and the clock. Its Included is not used.
	// A nil Saved means the saved filters of the store.
	filter.Env
	// CharsPerToken costs the Refs; 0 means 3.5.
	CharsPerToken float64
	// Fits returns how many of the newest pairs of base fit in a request: the
	// boundary of o. nil means all. Called once, and only for a line with o.
	Fits func(base []assistant.Ref) int
}

// defaultCharsPerToken is the setting of spec §8.4.
const defaultCharsPerToken = 3.5

// Result is what a line selects.
type Result struct {
	Refs  []assistant.Ref // in order
	Hints []filter.Hint   // names in the line that do not exist
}

// Filter returns the uncut pairs that q selects, exactly as filter.Eval would; a
// nil q selects all. The error is a *filter.Error at a saved filter, ctx's, or
// the database's.
func (s *Store) Filter(ctx context.Context, q *filter.Query, env Env) (Result, error) {
	f, err := s.newSearch(ctx, q, env)
	if err != nil {
		return Result{}, err
	}
	set, err := f.all()
	if err != nil {
		return Result{}, err
	}
	return Result{f.refs(set), f.hints()}, nil
}

// Count counts what Filter would return.
func (s *Store) Count(ctx context.Context, q *filter.Query, env Env) (int, error) {
	f, err := s.newSearch(ctx, q, env)
	if err != nil {
		return 0, err
	}
	set, err := f.all()
	return set.count(), err
}

// firstWindow is how many pairs Stream looks at before it first yields: enough
// for a screenful as a rule, read in some ms.
const firstWindow = 2048

// Stream yields what Filter would return in pieces, the newest piece first and
// each piece in order. Of a line that has to read texts the first piece comes
// long before the last. It ends after an error.
func (s *Store) Stream(ctx context.Context, q *filter.Query, env Env) iter.Seq2[[]assistant.Ref, error] {
	return func(yield func([]assistant.Ref, error) bool) {
		f, err := s.newSearch(ctx, q, env)
		if err != nil {
			yield(nil, err)
			return
		}
		if filter.UsesBoundary(f.expr) { // the boundary depends on all of the base
			set, err := f.all()
			if refs := f.refs(set); err != nil || len(refs) > 0 {
				yield(refs, err)
			}
			return
		}
		visible := f.visible()
		for to, n := f.n, firstWindow; to > 0; n *= 2 {
			from := max(to-n, 0)
			set, err := f.eval(f.expr, visible.window(from, to))
			if err != nil {
				yield(nil, err)
				return
			}
			if refs := f.refs(set); len(refs) > 0 && !yield(refs, nil) {
				return
			}
			to = from
		}
	}
}

// search is one evaluation of a line over one snapshot. The terms are judged by
// filter.EvalExpr on one example of each value that occurs, so that the language
// is defined in one place.
type search struct {
	s    *Store
	ctx  context.Context
	snap *snapshot
	env  Env
	expr filter.Expr // nil shows all
	n    int         // pairs in the snapshot
	from []int       // the position of each block's first pair

	rank  map[int]int           // places from the boundary; nil until the base is known
	found map[string]candidates // of the full-text index, by term
}

func (s *Store) newSearch(ctx context.Context, q *filter.Query, env Env) (*search, error) {
	snap, err := s.index.fresh(ctx)
	if err != nil {
		return nil, err
	}
	f := &search{s: s, ctx: ctx, snap: snap, env: env, found: map[string]candidates{}}
	if f.env.CharsPerToken == 0 {
		f.env.CharsPerToken = defaultCharsPerToken
	}
	if f.env.Now.IsZero() {
		f.env.Now = s.now()
	}
	for _, b := range snap.blocks {
		f.from = append(f.from, f.n)
		f.n += b.len()
	}
	if q == nil {
		return f, nil
	}
	saved := env.Saved
	if saved == nil {
		lines, err := s.SavedFilters(ctx)
		if err != nil {
			return nil, err
		}
		saved = lookUp(lines)
	}
	f.expr, err = filter.Expand(q, saved)
	return f, err
}

// all evaluates the whole line.
func (f *search) all() (set, error) {
	visible := f.visible()
	if !filter.UsesBoundary(f.expr) {
		return f.eval(f.expr, visible)
	}
	base, err := f.eval(filter.Base(f.expr), visible)
	if err != nil {
		return nil, err
	}
	total := base.count()
	included := total
	if f.env.Fits != nil {
		included = min(max(f.env.Fits(f.refs(base)), 0), total)
	}
	f.rank = make(map[int]int, total)
	for pos := range base.each() {
		f.rank[pos] = len(f.rank) - (total - included)
	}
	return f.eval(f.expr, base)
}

// eval returns the pairs of within for which x is true.
func (f *search) eval(x filter.Expr, within set) (set, error) {
	switch x := x.(type) {
	case nil:
		return within, nil
	case filter.And:
		return f.every(x.Terms, within)
	case filter.Or:
		return f.some(x.Terms, within)
	case filter.Not:
		inner, err := f.eval(x.X, within)
		return within.without(inner), err
	case filter.Content, filter.Regexp:
		return f.text(x, within)
	case filter.Boundary:
		return within.where(func(pos int) bool { return f.rank[pos] >= -x.Extra }), f.ctx.Err()
	case filter.Recent:
		return within.and(f.visible().last(x.N)), nil
	case filter.TopicLast:
		below := f.judgeTopics(x, true)
		return within.and(f.columns(f.visible(), func(b *block, i int) bool { return below[b.topic[i]] }).last(x.N)), nil
	default:
		return f.columns(within, f.column(x)), f.ctx.Err()
	}
}

// every narrows within term by term, those that read texts last.
func (f *search) every(terms []filter.Expr, within set) (set, error) {
	for _, reads := range []bool{false, true} {
		for _, t := range terms {
			if filter.NeedsText(t) != reads {
				continue
			}
			var err error
			if within, err = f.eval(t, within); err != nil {
				return nil, err
			}
		}
	}
	return within, nil
}

// some asks each term only about what the terms before it left out.
func (f *search) some(terms []filter.Expr, within set) (set, error) {
	result := make(set, len(within))
	for _, reads := range []bool{false, true} {
		for _, t := range terms {
			if filter.NeedsText(t) != reads {
				continue
			}
			more, err := f.eval(t, within.without(result))
			if err != nil {
				return nil, err
			}
			result.add(more)
		}
	}
	return result, nil
}

// visible is the set of all uncut pairs.
func (f *search) visible() set {
	return f.columns(everything(f.n), func(b *block, i int) bool { return b.bits[i]&cutBit == 0 })
}

// columns keeps the pairs of within whose columns pass the test.
func (f *search) columns(within set, test func(b *block, i int) bool) set {
	result := make(set, len(within))
	for n, b := range f.snap.blocks {
		from := f.from[n]
		for i := range b.len() {
			if pos := from + i; within.has(pos) && test(b, i) {
				result.put(pos)
			}
		}
	}
	return result
}

// at is the block and place of a position.
func (f *search) at(pos int) (*block, int) {
	lo, hi := 0, len(f.from)
	for hi-lo > 1 {
		if mid := (lo + hi) / 2; f.from[mid] <= pos {
			lo = mid
		} else {
			hi = mid
		}
	}
	return f.snap.blocks[lo], pos - f.from[lo]
}

func (f *search) refs(s set) []assistant.Ref {
	refs := make([]assistant.Ref, 0, s.count())
	for n, b := range f.snap.blocks {
		for i := range b.len() {
			if s.has(f.from[n] + i) {
				refs = append(refs, b.ref(i, f.env.CharsPerToken))
			}
		}
	}
	return refs
}

func (f *search) hints() []filter.Hint {
	var topics []string
	for n, path := range f.snap.names.topics {
		if n != 0 {
			topics = append(topics, path)
		}
	}
	return filter.Hints(f.expr, topics, f.snap.names.sessions)
}
