package sqlite

import (
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"

	modernc "modernc.org/sqlite"

	"winnow/assistant/filter"
)

// minNeedleRunes is the minimum length of a search term that the full-text index can find, because the index consists
// of trigrams.
const minNeedleRunes = 3

// ambiguous contains the runes that the index does not distinguish.
const ambiguous = "\x00\ufffd\ufffe\uffff"

// fold returns a text in the form that the index stores: in lower case, as the filter language compares it, and without
// zero bytes, because SQLite would end the text there.
func fold(text string) string {
	return strings.ReplaceAll(strings.ToLower(text), "\x00", "\ufffd")
}

// dialect writes the conditions on texts for SQLite. It uses the full-text index if possible, and otherwise SQL
// functions of this package that read each text.
type dialect struct{ from, to int64 }

// Content implements filter.Dialect. It searches the full-text index for the parts that are long enough. If a text must
// contain several parts in order, the condition also reads the texts of the pairs that the index finds.
func (d dialect) Content(parts []string) (sql string, args []any) {
	var phrases []string
	for _, part := range parts {
		if part = fold(part); utf8.RuneCountInString(part) >= minNeedleRunes && !strings.ContainsAny(part, ambiguous) {
			phrases = append(phrases, `"`+strings.ReplaceAll(part, `"`, `""`)+`"`)
		}
	}
	needle, _ := json.Marshal(parts)
	read := onTexts("contains_in_order")
	if len(phrases) == 0 {
		return read, []any{needle}
	}
	found := fmt.Sprintf("p.seq IN (SELECT rowid FROM words WHERE words MATCH ? AND rowid > %d AND rowid <= %d)", d.from, d.to)
	match := phrases[0]
	if len(phrases) > 1 {
		all := func(column string) string {
			return "(" + column + " : " + strings.Join(phrases, " AND "+column+" : ") + ")"
		}
		match = all("user") + " OR " + all("answer")
	}
	args = []any{match}
	if len(parts) > 1 {
		found += " AND " + read
		args = append(args, needle)
	}
	return found, args
}

// Word implements filter.Dialect. It searches the index like Content. For pairs that the index does not find, it reads
// the reasoning, which is not indexed.
func (d dialect) Word(text string) (sql string, args []any) {
	sql, args = d.Content([]string{text})
	needle, _ := json.Marshal([]string{text})
	const reasoning = "coalesce((SELECT contains_in_order(?, CAST(b.reasoning AS BLOB), x'') FROM body b WHERE b.seq = p.seq AND b.reasoning <> ''), 0)"
	return "((" + sql + ") OR " + reasoning + ")", append(args, needle)
}

// Regexp implements filter.Dialect. It reads every text.
func (d dialect) Regexp(source string) (sql string, args []any) {
	return onTexts("matches_regexp"), []any{[]byte(source)}
}

// Author implements filter.Dialect. It reads the author of every pair; only the pairs of a shared history have an
// author.
func (d dialect) Author(x filter.Author, user string) (sql string, args []any) {
	needle, _ := json.Marshal(authorNeedle{x, user})
	return "coalesce((SELECT matches_author(?, b.more, b.more) FROM body b WHERE b.seq = p.seq), 0)", []any{needle}
}

// authorNeedle is the argument of matches_author, as JSON.
type authorNeedle struct {
	Author filter.Author
	User   string
}

// onTexts returns the SQL that calls a function with an argument and the texts of the pair. The texts are passed as
// blobs, because SQLite would end a text at a zero byte.
func onTexts(function string) string {
	return "coalesce((SELECT " + function + "(?, CAST(b.user AS BLOB), CAST(b.answer AS BLOB)) FROM body b WHERE b.seq = p.seq), 0)"
}

func init() {
	modernc.MustRegisterDeterministicScalarFunction("fold_text", 1, func(_ *modernc.FunctionContext, args []driver.Value) (driver.Value, error) {
		return fold(textOf(args[0])), nil
	})
	modernc.MustRegisterDeterministicScalarFunction("contains_in_order", 3, onEither(func(needle string) (func(string) bool, error) {
		var parts []string
		err := json.Unmarshal([]byte(needle), &parts)
		return func(text string) bool { return filter.ContainsInOrder(strings.ToLower(text), parts) }, err
	}))
	modernc.MustRegisterDeterministicScalarFunction("matches_regexp", 3, onEither(func(source string) (func(string) bool, error) {
		re, err := filter.CompileRegexp(source)
		if err != nil {
			return nil, err
		}
		return re.MatchString, nil
	}))
	modernc.MustRegisterDeterministicScalarFunction("matches_author", 3, onEither(func(raw string) (func(string) bool, error) {
		var needle authorNeedle
		err := json.Unmarshal([]byte(raw), &needle)
		return func(more string) bool {
			var p struct{ Author string }
			if strings.Contains(more, `"author":`) {
				_ = json.Unmarshal([]byte(more), &p) // a damaged pair has no author
			}
			return needle.Author.Matches(p.Author, needle.User)
		}, err
	}))
}

// maxCompiled limits the number of compiled search terms that are cached.
const maxCompiled = 64

// onEither returns an SQL function that reports whether its first argument, a search term, matches one of the other two
// arguments. The function compiles each search term only once.
func onEither(compile func(string) (func(string) bool, error)) func(*modernc.FunctionContext, []driver.Value) (driver.Value, error) {
	var mu sync.Mutex
	compiled := map[string]func(string) bool{}
	return func(_ *modernc.FunctionContext, args []driver.Value) (driver.Value, error) {
		needle := textOf(args[0])
		mu.Lock()
		matches, ok := compiled[needle]
		mu.Unlock()
		if !ok {
			var err error
			if matches, err = compile(needle); err != nil {
				return nil, err
			}
			mu.Lock()
			if len(compiled) >= maxCompiled {
				clear(compiled)
			}
			compiled[needle] = matches
			mu.Unlock()
		}
		return matches(textOf(args[1])) || matches(textOf(args[2])), nil
	}
}

// textOf returns an SQLite value as text, and "" for other types.
func textOf(v driver.Value) string {
	switch v := v.(type) {
	case string:
		return v
	case []byte:
		return string(v)
	}
	return ""
}
