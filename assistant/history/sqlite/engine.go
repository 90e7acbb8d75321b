package sqlite

import (
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"winnow/assistant"
	"winnow/assistant/filter"
	"winnow/assistant/history"
	"winnow/assistant/history/sqlstore"
)

// sqlDialect describes the SQL of SQLite and of this schema. A database file has a single user.
var sqlDialect = sqlstore.Dialect{
	Seqs:     "(SELECT value AS seq, key AS at FROM json_each(?))",
	IDs:      "(SELECT value FROM json_each(?))",
	SeqArray: "json_group_array",
	NewSeq:   "NULL", // SQLite assigns the seq
	// RETURNING opens a savepoint, and FTS5 flushes its index to the database at each savepoint.
	LastKey:  "SELECT last_insert_rowid()",
	UserText: "b.user",
	Exact:    "NULL",
	// This query runs at startup, so it reads only the most recent pairs.
	AuthorNames: `SELECT DISTINCT author FROM (SELECT json_extract(more, '$.author') AS author
		FROM (SELECT more FROM body ORDER BY seq DESC LIMIT 1000) WHERE more LIKE '%"author":%' AND json_valid(more))
		WHERE typeof(author) = 'text' AND author <> '' ORDER BY author`,
}

// Owner implements sqlstore.Engine.
func (s *store) Owner() any { return s.owner.token }

// Author implements sqlstore.Engine.
func (s *store) Author(user string) string { return user }

// PutBody implements sqlstore.Engine. It updates the full-text index if the texts have changed.
func (s *store) PutBody(t *sqlstore.Tx, seq int64, r *history.Row) {
	_, same := t.Number("SELECT 1 FROM body WHERE seq = ? AND user = ? AND answer = ?", seq, r.UserText, r.AssistantText)
	t.Run(`INSERT OR REPLACE INTO body (seq, user, answer, reasoning, error_code, error_message, more, sum) VALUES (?,?,?,?,?,?,?,?)`,
		seq, r.UserText, r.AssistantText, r.Reasoning, r.ErrorCode, r.ErrorMessage, r.More, r.Sum)
	if !same {
		t.Run("DELETE FROM words WHERE rowid = ?", seq)
		t.Run("INSERT INTO words (rowid, user, answer) VALUES (?, ?, ?)", seq, fold(r.UserText), fold(r.AssistantText))
	}
}

// Deleted implements sqlstore.Engine.
func (s *store) Deleted(c *sqlstore.Change, seqs []int64) {
	for _, seq := range seqs {
		for _, table := range []string{"body", "request"} {
			c.Run("DELETE FROM "+table+" WHERE seq = ?", seq)
		}
		c.Run("DELETE FROM words WHERE rowid = ?", seq)
	}
}

// Changed implements sqlstore.Engine. It does nothing, because other processes poll the revision.
func (s *store) Changed(*sqlstore.Change) {}

// Reader implements sqlstore.Engine.
func (s *store) Reader(t *sqlstore.Tx) history.PairReader { return reader{sqlstore.Reader{Tx: t}} }

// reader implements history.PairReader.
type reader struct{ sqlstore.Reader }

// Dialect implements history.PairReader.
func (r reader) Dialect(from, to int64, _ func() (string, []any)) filter.Dialect {
	return dialect{from, to}
}

// Spans implements history.PairReader. Its Max limits the memory that Refs uses.
func (r reader) Spans([]string) history.Spans {
	return history.Spans{First: 2048, Factor: 2, Max: 128 << 10}
}

// Refs implements history.PairReader. The query packs all rows into a single text, because reading a million rows
// through database/sql takes seconds.
func (r reader) Refs(where string, args []any, charsPerToken float64) (refs []assistant.Ref) {
	const query = "SELECT coalesce(group_concat(seq || ' ' || sends || ' ' || hex(parts), ';'), '') FROM pair p WHERE "
	r.EachOnce(query+where, args, func(scan sqlstore.Scanner) {
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
			r.Fail(err)
			parts, err = hex.AppendDecode(parts[:0], []byte(encoded))
			r.Fail(err)
			refs = append(refs, assistant.Ref{Seq: n, Contributes: sends == "1", Cost: history.Cost(parts, charsPerToken)})
		}
	})
	bySeq := func(a, b assistant.Ref) int { return int(a.Seq - b.Seq) }
	if !slices.IsSortedFunc(refs, bySeq) { // refs are not sorted by seq if SQLite used another index
		slices.SortFunc(refs, bySeq)
	}
	return refs
}
