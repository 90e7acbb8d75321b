package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"winnow/assistant/history"
	"winnow/assistant/history/sqlstore"
	"winnow/checkpoint"
)

// logLock is the second number of the advisory lock that is held while changes to windows are added, so that their
// numbers increase in the order of the commits. No store has this number.
const logLock = -1

// AddWindowChanges implements history.WindowLog. It makes one attempt and stops if ctx is cancelled. The caller may
// add the same changes again, because a change is identified by its number in the journal.
func (s *store) AddWindowChanges(ctx context.Context, host, path string, changes []checkpoint.Change) error {
	const add = `INSERT INTO change (host, path, seq, sec, nsec, "user", session, kind, what, changed, more)
		SELECT $1, $2, seq, sec, nsec, "user", session, kind, what, changed::json, more
		FROM json_to_recordset($3) AS added (seq bigint, sec bigint, nsec integer, "user" text, session text, kind text, what text, changed text, more integer)
		ON CONFLICT DO NOTHING`
	text := func(v string) string { return storable(s.Redact(v)) }
	var rows []map[string]any
	for _, c := range changes {
		var changed strings.Builder
		e := json.NewEncoder(&changed)
		e.SetEscapeHTML(false)
		if err := e.Encode(c.Changed); err != nil {
			return err
		}
		rows = append(rows, map[string]any{
			"seq": c.Seq, "sec": c.Time.Unix(), "nsec": c.Time.Nanosecond(), "user": text(c.User), "session": text(c.Session),
			"kind": text(string(c.Kind)), "what": text(c.What), "changed": text(changed.String()), "more": c.More,
		})
	}
	return s.explain("write", s.transaction(ctx, func(t pgx.Tx) error {
		if _, err := t.Exec(ctx, fmt.Sprintf("SELECT pg_advisory_xact_lock(%d, %d)", lockClass, logLock)); err != nil {
			return err
		}
		_, err := t.Exec(ctx, add, pgx.QueryExecModeDescribeExec, text(host), text(path), rows)
		return err
	}))
}

// WindowChanges implements history.WindowLog.
func (s *store) WindowChanges(ctx context.Context, after int64, limit int) (changes []history.WindowChange, newest int64, err error) {
	const list = `SELECT n, host, path, seq, sec, nsec, "user", session, kind, what, changed::text, more
		FROM change WHERE n > ? ORDER BY sec DESC, nsec DESC, n DESC LIMIT ?`
	newest = after
	err = s.Read(ctx, func(t *sqlstore.Tx) {
		changes = nil
		n, _ := t.Number("SELECT coalesce(max(n), 0) FROM change")
		newest = max(newest, n)
		t.Each(list, []any{after, limit}, func(scan sqlstore.Scanner) {
			var c history.WindowChange
			var n, sec, nsec int64
			var changed string
			scan(&n, &c.Host, &c.Path, &c.Seq, &sec, &nsec, &c.User, &c.Session, &c.Kind, &c.What, &changed, &c.More)
			t.Fail(json.Unmarshal([]byte(changed), &c.Changed))
			c.Time = time.Unix(sec, nsec).UTC()
			changes = append(changes, c)
		})
	})
	slices.Reverse(changes)
	return changes, newest, err
}

var _ history.WindowLog = (*store)(nil)
