package postgres

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"winnow/assistant/history"
	"winnow/assistant/history/sqlstore"
)

// sqlDialect describes the SQL of PostgreSQL and of this schema.
var sqlDialect = sqlstore.Dialect{
	Seqs:        "(SELECT value::bigint AS seq, at FROM json_array_elements_text(CAST(? AS json)) WITH ORDINALITY e (value, at))",
	IDs:         "(SELECT json_array_elements_text(CAST(? AS json)))",
	NewSeqs:     "SELECT nextval(pg_get_serial_sequence('pair', 'seq')) FROM generate_series(1, ?)",
	SeqArray:    "json_agg",
	NewSeq:      "nextval(pg_get_serial_sequence('pair', 'seq'))",
	UserText:    "b.user_text",
	Exact:       "b.exact",
	AuthorNames: `SELECT name FROM author ORDER BY name COLLATE "C"`,
	Shared:      true,
}

// storedDeleted is the number of deleted pairs that are remembered. Other programs learn of deletions soon, so a
// limited number is sufficient.
const storedDeleted = 1000

// Owner implements sqlstore.Engine.
func (s *store) Owner() any { return int32(s.owner.Load()) }

// Author implements sqlstore.Engine.
func (s *store) Author(user string) string { return cmp.Or(user, s.User) }

// storable returns a text in a form that PostgreSQL can store, without zero bytes or invalid UTF-8.
func storable(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\ufffd"), "\x00", "\uffff")
}

// PutBody implements sqlstore.Engine.
func (s *store) PutBody(t *sqlstore.Tx, seq int64, r *history.Row) {
	exact, err := r.ExactTexts(storable)
	t.Fail(err)
	t.Later(`INSERT INTO body (seq, user_text, answer, reasoning, error_code, error_message, more, exact, sum, user_low, answer_low)
		VALUES (?,?,?,?,?,?,?,?,?,?,?)
		ON CONFLICT (seq) DO UPDATE SET user_text=excluded.user_text, answer=excluded.answer, reasoning=excluded.reasoning,
			error_code=excluded.error_code, error_message=excluded.error_message, more=excluded.more, exact=excluded.exact, sum=excluded.sum,
			user_low=excluded.user_low, answer_low=excluded.answer_low`,
		seq, storable(r.UserText), storable(r.AssistantText), storable(r.Reasoning), storable(r.ErrorCode), storable(r.ErrorMessage), r.More, exact, r.Sum.Int64,
		storable(strings.ToLower(r.UserText)), storable(strings.ToLower(r.AssistantText)))
}

// Deleted implements sqlstore.Engine. It records who deleted the pairs, and keeps only the newest storedDeleted
// records.
func (s *store) Deleted(c *sqlstore.Change, seqs []int64) {
	c.Run("INSERT INTO deleted SELECT unnest(CAST(? AS bigint[])), ?, ?, ? ON CONFLICT DO NOTHING", seqs, c.Rev, s.Owner(), s.User)
	c.Run("DELETE FROM deleted WHERE seq IN (SELECT seq FROM deleted ORDER BY rev DESC, seq DESC OFFSET ?)", storedDeleted)
}

// Changed implements sqlstore.Engine. It notifies the other programs.
func (s *store) Changed(c *sqlstore.Change) {
	c.Run("SELECT pg_notify(?, ?)", channel, fmt.Sprint(c.Rev, " ", s.owner.Load(), " ", s.schema))
}

// inconsistencies is a query that returns a row for each problem: a seq and a sentence in which %d stands for the seq.
const inconsistencies = `
	SELECT p.seq, 'the texts of message %d are missing' FROM pair p WHERE NOT EXISTS (SELECT 1 FROM body b WHERE b.seq = p.seq)
	UNION ALL SELECT seq, 'the session of message %d does not exist' FROM pair p WHERE NOT EXISTS (SELECT 1 FROM session WHERE n = p.session)
	UNION ALL SELECT seq, 'the model of message %d does not exist' FROM pair p WHERE NOT EXISTS (SELECT 1 FROM model WHERE n = p.model)
	UNION ALL SELECT seq, 'the topic of message %d does not exist' FROM pair p WHERE topic <> 0 AND NOT EXISTS (SELECT 1 FROM topic WHERE n = p.topic)
	LIMIT ?`

// Check verifies every checksum and reference.
func (s *store) Check(ctx context.Context) (report history.CheckReport, err error) {
	err = s.Read(ctx, func(t *sqlstore.Tx) { report = s.CheckRows(t, inconsistencies) })
	return report, err
}
