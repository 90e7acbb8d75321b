package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
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

// Stream calls yield while a transaction is open, and does not repeat it when the
// connection breaks after the first piece.
func (s *store) Stream(ctx context.Context, q *filter.Query, env history.Env) iter.Seq2[[]assistant.Ref, error] {
	return history.StreamOf(func(each func([]assistant.Ref) bool) error {
		begun, broken := false, false
		err := s.search(ctx, q, env, func(f *history.Search) {
			if broken = begun; broken {
				return
			}
			f.Stream(func(refs []assistant.Ref) bool {
				begun = true
				return each(refs)
			})
		})
		if broken {
			return s.explain("read", errAborted)
		}
		return err
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
	env.User = s.user
	return s.read(ctx, func(t *tx) {
		names := history.Names{
			Saved: t.savedFilters(), Topics: keyed[int64, string](t, "SELECT n, path FROM topic"), Models: keyed[int64, string](t, "SELECT n, name FROM model"),
		}
		names.Topics[0] = ""
		names.Newest, _ = t.number("SELECT coalesce(max(seq), 0) FROM pair")
		rev, _ := t.number("SELECT rev FROM meta")
		if t.err != nil {
			return
		}
		s.revision.Store(max(rev, s.revision.Load()))
		line, err := history.NewSearch(q, env, t, names)
		if t.fail(err); err == nil {
			f(line)
		}
	})
}

// Refs implements history.PairReader.
func (t *tx) Refs(where string, args []any, charsPerToken float64) (refs []assistant.Ref) {
	const query = "SELECT p.seq, p.sends, p.parts FROM pair p WHERE "
	var parts []byte
	t.selectWhere(query, where+" ORDER BY p.seq", args, func(scan scanner) {
		var r assistant.Ref
		scan(&r.Seq, &r.Contributes, &parts)
		r.Cost = history.Cost(parts, charsPerToken)
		refs = append(refs, r)
	})
	return refs
}

// CountPairs implements history.PairReader.
func (t *tx) CountPairs(where string, args []any) (n int) {
	t.selectWhere("SELECT count(*) FROM pair p WHERE ", where, args, func(scan scanner) { scan(&n) })
	return n
}

// SeqAt implements history.PairReader.
func (t *tx) SeqAt(where string, args []any, n int) (seq int64) {
	order := fmt.Sprintf(" ORDER BY p.seq DESC LIMIT 1 OFFSET %d", n)
	t.selectWhere("SELECT p.seq FROM pair p WHERE ", where+order, args, func(scan scanner) { scan(&seq) })
	return seq
}

// SessionIDs implements history.PairReader.
func (t *tx) SessionIDs() []string { return list[string](t, "SELECT id FROM session") }

// Err implements history.PairReader.
func (t *tx) Err() error { return t.err }

// Dialect implements history.PairReader.
func (t *tx) Dialect(from, to int64, candidates func() (string, []any)) filter.Dialect {
	return &dialect{tx: t, from: from, to: to, candidates: candidates}
}

// dialect writes the conditions on texts for PostgreSQL: LIKE on the texts in lower
// case, which the trigrams of the index serve, and for a regular expression the
// pairs that it matches in Go, because PostgreSQL's expressions are other ones.
type dialect struct {
	*tx
	from, to   int64
	candidates func() (where string, args []any)
	matched    map[string][]int64 // by source
}

// likeEscapes makes the characters of LIKE literal.
var likeEscapes = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)

// Content implements filter.Dialect.
func (d *dialect) Content(parts []string) (sql string, args []any) {
	pattern := "%"
	for _, part := range parts {
		pattern += likeEscapes.Replace(storable(part)) + "%"
	}
	sql = fmt.Sprintf("p.seq IN (SELECT b.seq FROM body b WHERE b.seq > %d AND b.seq <= %d AND (b.user_low LIKE ? OR b.answer_low LIKE ?))", d.from, d.to)
	return sql, []any{pattern, pattern}
}

// Regexp implements filter.Dialect.
func (d *dialect) Regexp(source string) (sql string, args []any) {
	seqs, done := d.matched[source]
	if !done {
		seqs = d.match(source)
		if d.matched == nil {
			d.matched = map[string][]int64{}
		}
		d.matched[source] = seqs
	}
	return "p.seq = ANY(?::bigint[])", []any{seqs}
}

// Author implements filter.Dialect.
func (d *dialect) Author(x filter.Author, user string) (sql string, args []any) {
	numbers := []int64{}
	for n, name := range keyed[int64, string](d.tx, "SELECT n, name FROM author") {
		if x.Matches(name, user) {
			numbers = append(numbers, n)
		}
	}
	return "p.author = ANY(?::bigint[])", []any{numbers}
}

// match returns the candidates whose texts an expression matches.
func (d *dialect) match(source string) []int64 {
	seqs := []int64{}
	re, err := filter.CompileRegexp(source)
	if d.fail(err); err != nil {
		return seqs
	}
	where, args := d.candidates()
	d.selectWhere("SELECT b.seq, b.user_text, b.answer, b.exact FROM body b JOIN pair p ON p.seq = b.seq WHERE ", where, args, func(scan scanner) {
		var r history.Row
		var exact []byte
		scan(&r.Seq, &r.UserText, &r.AssistantText, &exact)
		d.fail(restoreExact(&r, exact))
		if re.MatchString(r.UserText) || re.MatchString(r.AssistantText) {
			seqs = append(seqs, r.Seq)
		}
	})
	slices.Sort(seqs)
	return seqs
}

// restoreExact puts back the texts that PostgreSQL could not store.
func restoreExact(r *history.Row, exact []byte) error {
	if exact == nil {
		return nil
	}
	var original exactTexts
	if err := json.Unmarshal(exact, &original); err != nil {
		return fmt.Errorf("history: pair %d: %w", r.Seq, err)
	}
	for i, text := range texts(r) {
		*text = string(original[i])
	}
	return nil
}
