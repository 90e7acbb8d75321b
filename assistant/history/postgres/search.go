package postgres

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"winnow/assistant"
	"winnow/assistant/filter"
	"winnow/assistant/history"
	"winnow/assistant/history/sqlstore"
)

// Reader implements sqlstore.Engine.
func (s *store) Reader(t *sqlstore.Tx) history.PairReader { return reader{sqlstore.Reader{Tx: t}} }

// reader implements history.PairReader.
type reader struct{ sqlstore.Reader }

// Spans implements history.PairReader. It uses few spans, because each one is a round trip, and because a query that
// uses the text or time index costs the same for any span. Max limits the texts that are read for a regular expression;
// it is larger if the index can find texts that the expression requires, because few pairs then remain to be read.
func (r reader) Spans(regexps []string) history.Spans {
	spans := history.Spans{First: 2048, Factor: 8, Max: 32 << 20}
	for _, source := range regexps {
		spans.Max = min(spans.Max, 1<<20)
		re, err := filter.CompileRegexp(source)
		if err != nil {
			continue // the search itself will report the error
		}
		alternatives := required(re.String())
		if alternatives == nil || slices.ContainsFunc(alternatives, unindexed) {
			spans.Max = 128 << 10
		}
	}
	return spans
}

// unindexed reports whether all texts are too short to contain a trigram.
func unindexed(texts []string) bool {
	return !slices.ContainsFunc(texts, func(text string) bool { return utf8.RuneCountInString(text) >= 3 })
}

// Refs implements history.PairReader.
func (r reader) Refs(where string, args []any, charsPerToken float64) (refs []assistant.Ref) {
	const query = "SELECT p.seq, p.sends, p.parts FROM pair p WHERE "
	var parts []byte
	r.EachOnce(query+where+" ORDER BY p.seq", args, func(scan sqlstore.Scanner) {
		var ref assistant.Ref
		scan(&ref.Seq, &ref.Contributes, &parts)
		ref.Cost = history.Cost(parts, charsPerToken)
		refs = append(refs, ref)
	})
	return refs
}

// Dialect implements history.PairReader.
func (r reader) Dialect(from, to int64, candidates func() (string, []any)) filter.Dialect {
	return &dialect{Tx: r.Tx, from: from, to: to, candidates: candidates}
}

// dialect writes the conditions on texts for PostgreSQL. Words become LIKE on the lower-case texts, which uses the
// trigram index. Regular expressions are matched in Go on the pairs that contain the required texts, because the
// syntax of PostgreSQL differs; the condition then lists the matching pairs.
type dialect struct {
	*sqlstore.Tx
	from, to   int64
	candidates func() (where string, args []any)
	matched    map[string][]int64 // seqs of matching pairs, by the source of the regular expression
}

// likeEscapes escapes the wildcards of LIKE.
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

// Word implements filter.Dialect. The reasoning has no index. PostgreSQL lowers letters outside ASCII differently from
// Go, so reasoning that contains such letters is compared in this process.
func (d *dialect) Word(text string) (sql string, args []any) {
	sql, args = d.Content([]string{text})
	seqs := []int64{}
	const query = `SELECT b.seq, b.reasoning, b.exact FROM body b
		WHERE b.seq > ? AND b.seq <= ? AND b.reasoning <> '' AND (b.exact IS NOT NULL OR b.reasoning ILIKE ? OR b.reasoning ~ '[^\x01-\x7f]')`
	d.EachOnce(query, []any{d.from, d.to, "%" + likeEscapes.Replace(storable(text)) + "%"}, func(scan sqlstore.Scanner) {
		var r history.Row
		var exact []byte
		scan(&r.Seq, &r.Reasoning, &exact)
		d.Fail(r.SetExactTexts(exact))
		if strings.Contains(strings.ToLower(r.Reasoning), text) {
			seqs = append(seqs, r.Seq)
		}
	})
	return "((" + sql + ") OR p.seq = ANY(?::bigint[]))", append(args, seqs)
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
	for n, name := range sqlstore.Keyed[int64, string](d.Tx, "SELECT n, name FROM author") {
		if x.Matches(name, user) {
			numbers = append(numbers, n)
		}
	}
	return "p.author = ANY(?::bigint[])", []any{numbers}
}

// match returns the seqs of the candidates with a text that the regular expression matches.
func (d *dialect) match(source string) []int64 {
	seqs := []int64{}
	re, err := filter.CompileRegexp(source)
	if d.Fail(err); err != nil {
		return seqs
	}
	where, args := d.candidates()
	var found []string
	for _, parts := range required(re.String()) {
		sql, more := d.Content(parts)
		found, args = append(found, sql), append(args, more...)
	}
	if found != nil {
		where += " AND (" + strings.Join(found, " OR ") + ")"
	}
	d.EachOnce("SELECT b.seq, b.user_text, b.answer, b.exact FROM body b JOIN pair p ON p.seq = b.seq WHERE "+where, args, func(scan sqlstore.Scanner) {
		var r history.Row
		var exact []byte
		scan(&r.Seq, &r.UserText, &r.AssistantText, &exact)
		d.Fail(r.SetExactTexts(exact))
		if re.MatchString(r.UserText) || re.MatchString(r.AssistantText) {
			seqs = append(seqs, r.Seq)
		}
	})
	slices.Sort(seqs)
	return seqs
}
