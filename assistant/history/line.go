package history

import (
	"fmt"
	"maps"
	"slices"

	"winnow/assistant"
	"winnow/assistant/filter"
)

// defaultCharsPerToken is the default of Env.CharsPerToken.
const defaultCharsPerToken = 3.5

// PairReader reads pairs for a Search from one consistent state of a store's database. A condition refers to a row p of
// the table pair and contains a ? for each argument. After the first error, which Err returns, the other methods return
// zero values.
type PairReader interface {
	PairQuery
	PairDialect
	SessionIDs() []string
	Err() error
}

// PairDialect describes how an engine evaluates conditions on texts.
type PairDialect interface {
	// Dialect generates conditions on the texts of the pairs with from < seq <= to. candidates returns a condition that
	// every match of the whole line meets; an engine that cannot match regular expressions in SQL tests them only on the
	// pairs that meet it.
	Dialect(from, to int64, candidates func() (where string, args []any)) filter.Dialect
	// Spans returns the Spans for a line that contains these regular expressions.
	Spans(regexps []string) Spans
}

// PairQuery finds the pairs that meet a condition.
type PairQuery interface {
	// Refs returns the pairs that meet the condition, in order.
	Refs(where string, args []any, charsPerToken float64) []assistant.Ref
	CountPairs(where string, args []any) int
	// SeqAt returns the seq of the nth newest pair that meets the condition, counted from 0, or 0 if there are not that
	// many pairs.
	SeqAt(where string, args []any, n int) int64
}

// Spans sets how many seqs each query of a stream covers. The first query covers First, few enough that the first
// screenful appears quickly. Each further query covers Factor times as many as the one before it, up to Max.
type Spans struct{ First, Factor, Max int64 }

// Names is what a Search needs to know about a database before it starts.
type Names struct {
	Saved          map[string]string           // lines of saved filters by name
	Topics, Models map[int64]string            // names by number; topic 0 is the root, ""
	Newest         int64                       // the highest seq, or 0
	Branches       map[string]assistant.Branch // the branches of sessions, by session id
}

// Search evaluates one line on one state of a database, in the same way for all engines.
type Search struct {
	db     PairReader
	env    Env
	expr   filter.Expr // nil matches all pairs
	base   filter.Expr // expr without the term o, which matches at least as many pairs; nil if expr does not contain o
	newest int64       // the highest seq, or 0
	source filter.Source
}

// NewSearch prepares the evaluation of a line; a nil line matches all pairs. The error is a *filter.Error if a saved
// filter in the line cannot be used.
func NewSearch(q *filter.Query, env Env, db PairReader, names Names) (*Search, error) {
	if env.CharsPerToken == 0 {
		env.CharsPerToken = defaultCharsPerToken
	}
	f := &Search{db: db, env: env, newest: names.Newest}
	f.source = filter.Source{Env: env.Env, Failed: StateError, Topics: names.Topics, Models: names.Models, Ancestors: ancestors(names.Branches)}
	if q == nil {
		return f, nil
	}
	if env.Saved == nil {
		env.Saved = Lookup(names.Saved)
	}
	var err error
	if f.expr, err = filter.Expand(q, env.Saved); err != nil {
		return nil, err
	}
	if filter.UsesBoundary(f.expr) {
		f.base = filter.Base(f.expr)
		f.findBoundary()
	}
	return f, nil
}

// ancestors returns, for each session that branches from another, the sessions that it continues.
func ancestors(branches map[string]assistant.Branch) map[string][]filter.Ancestor {
	all := make(map[string][]filter.Ancestor, len(branches))
	for id := range branches {
		for _, b := range assistant.Lineage(id, branches)[1:] {
			all[id] = append(all[id], filter.Ancestor{Session: b.Parent, UpTo: b.UpTo})
		}
	}
	return all
}

// SessionLine returns the line, and its Env, that matches the pairs of a session, including the pairs that it inherits
// from other sessions, or the pairs of all sessions if session is "".
func SessionLine(session string, charsPerToken float64) (*filter.Query, Env) {
	env := Env{CharsPerToken: charsPerToken, Env: filter.Env{Session: session}}
	if session == "" {
		return nil, env
	}
	return &filter.Query{Expr: filter.SessionCurrent{}}, env
}

// Result returns the pairs that the line matches, and hints for unknown names in the line.
func (f *Search) Result() Result {
	var pieces [][]assistant.Ref
	f.Stream(func(refs []assistant.Ref) bool {
		pieces = append(pieces, refs)
		return true
	})
	slices.Reverse(pieces)
	return Result{Refs: slices.Concat(pieces...), Hints: f.hints()}
}

// Count returns the number of pairs that the line matches.
func (f *Search) Count() int {
	return f.db.CountPairs(f.where(f.base, f.expr, 0, f.newest))
}

// Stream passes the matching pairs to yield in pieces, newest piece first, until yield returns false.
func (f *Search) Stream(yield func([]assistant.Ref) bool) { f.stream(f.base, f.expr, yield) }

// where returns the condition for uncut pairs with from < seq <= to that match both expressions.
func (f *Search) where(a, b filter.Expr, from, to int64) (sql string, args []any) {
	source := f.source
	source.Dialect = f.db.Dialect(from, to, func() (string, []any) {
		return all(withoutRegexp(a), withoutRegexp(b), from, to, source)
	})
	return all(a, b, from, to, source)
}

// all returns the condition for uncut pairs with from < seq <= to that match both expressions; nil matches every
// pair.
func all(a, b filter.Expr, from, to int64, source filter.Source) (sql string, args []any) {
	sql = fmt.Sprintf("p.seq > %d AND p.seq <= %d AND p.cut IS NULL", from, to)
	for _, x := range []filter.Expr{a, b} {
		if x != nil {
			where, more := filter.Where(x, source)
			sql += " AND (" + where + ")"
			args = append(args, more...)
		}
	}
	return sql, args
}

// withoutRegexp returns an expression without regular expressions that matches every pair that x matches. It returns
// nil, which matches every pair, if no other terms are left.
func withoutRegexp(x filter.Expr) filter.Expr {
	terms := []filter.Expr{x}
	if and, ok := x.(filter.And); ok {
		terms = slices.Clone(and.Terms)
	}
	terms = slices.DeleteFunc(terms, func(x filter.Expr) bool { return regexps(x) != nil })
	switch len(terms) {
	case 0:
		return nil
	case 1:
		return terms[0]
	}
	return filter.And{Terms: terms}
}

// regexps returns the regular expressions in an expression, which may be nil.
func regexps(x filter.Expr) (sources []string) {
	if x != nil {
		filter.Walk(x, func(x filter.Expr) {
			if re, ok := x.(filter.Regexp); ok {
				sources = append(sources, re.Source)
			}
		})
	}
	return sources
}

// stream passes the pairs that match both expressions to yield in pieces, newest piece first, until yield returns false.
func (f *Search) stream(a, b filter.Expr, yield func([]assistant.Ref) bool) {
	spans := f.db.Spans(append(regexps(a), regexps(b)...))
	for to, n := f.newest, spans.First; to > 0 && f.db.Err() == nil; n = min(spans.Factor*n, spans.Max) {
		from := max(to-n, 0)
		where, args := f.where(a, b, from, to)
		refs := f.db.Refs(where, args, f.env.CharsPerToken)
		if len(refs) > 0 && !yield(refs) {
			return
		}
		to = from
	}
}

// findBoundary reads pairs of the base, newest first, until not all of them fit in a request, and makes the term o match
// those that fit. If Env.Fits is nil, o matches all pairs.
func (f *Search) findBoundary() {
	firsts := map[int]int64{} // the first seq that o matches, by Boundary.Extra; 0 means all
	f.source.First = func(extra int) int64 { return firsts[extra] }
	if f.env.Fits == nil {
		return
	}
	var newest []assistant.Ref // the pairs of the base read so far
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

// boundarySeq returns the seq of the pair at an index of newest. A negative index counts back from the first of newest
// through the older pairs of the base; if there are too few, boundarySeq returns 0. For an index past the end, it
// returns a seq that does not exist yet.
func (f *Search) boundarySeq(newest []assistant.Ref, at int) int64 {
	switch {
	case at >= len(newest):
		return f.newest + 1
	case at >= 0:
		return newest[at].Seq
	case len(newest) == 0:
		return 0
	}
	where, args := f.where(f.base, nil, 0, newest[0].Seq-1)
	return f.db.SeqAt(where, args, -at-1)
}

// hints returns hints for the topics and sessions in the line that do not exist.
func (f *Search) hints() []filter.Hint {
	if f.expr == nil {
		return nil
	}
	var sessions []string
	filter.Walk(f.expr, func(x filter.Expr) {
		if _, ok := x.(filter.Session); ok && sessions == nil {
			sessions = f.db.SessionIDs()
		}
	})
	topics := maps.Clone(f.source.Topics)
	delete(topics, 0)
	return filter.Hints(f.expr, slices.Sorted(maps.Values(topics)), sessions)
}

// CheckFilter returns an error if the line cannot be saved, because it contains a command or cannot be evaluated with
// these saved filters.
func CheckFilter(saved map[string]string, line string) error {
	q, err := filter.Parse(line)
	if err != nil {
		return err
	}
	if q.Command != nil {
		return fmt.Errorf("a line with :%s cannot be saved", q.Command.Verb)
	}
	_, err = filter.Expand(q, Lookup(saved))
	return err
}

// Lookup returns the function with which filter.Expand finds saved filters by name.
func Lookup(saved map[string]string) func(name string) (string, bool) {
	return func(name string) (string, bool) {
		line, ok := saved[name]
		return line, ok
	}
}
