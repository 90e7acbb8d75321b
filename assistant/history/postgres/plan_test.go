//go:build unix

package postgres

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"winnow/assistant/filter"
	"winnow/assistant/history"
	"winnow/assistant/history/sqlstore"
)

// recorder is a connection that remembers the queries for pairs.
type recorder struct {
	conn
	queries []string
	args    [][]any
}

func (r *recorder) Query(ctx context.Context, query string, args []any, once bool) (sqlstore.Rows, error) {
	if strings.Contains(query, "FROM pair p") || strings.Contains(query, "JOIN pair p") {
		r.queries, r.args = append(r.queries, query), append(r.args, args)
	}
	return r.conn.Query(ctx, query, args, once)
}

// plan returns how the server executes a query.
func (r *recorder) plan(t *testing.T, i int) string {
	t.Helper()
	rows, err := r.conn.Query(t.Context(), "EXPLAIN "+r.queries[i], r.args[i], true)
	must(t, err)
	defer rows.Close()
	var plan strings.Builder
	for rows.Next() {
		var line string
		must(t, rows.Scan(&line))
		plan.WriteString(line + "\n")
	}
	must(t, rows.Err())
	return plan.String()
}

// A line over a million seqs costs few queries, and the last one, which covers most
// of them, reads what an index finds.
func TestAMillionPairsCostFewQueries(t *testing.T) {
	const pairs, newest = 8000, 1_000_000
	s := newStore(t)
	run(t, s, fmt.Sprintf("ALTER TABLE pair ALTER COLUMN seq SET INCREMENT BY %d", newest/pairs))
	fill(t, s, pairs)
	for name, index := range map[string]string{"selective": "pair_time", "text": "body_trigrams", "session": "pair_session", "regexp": "body_trigrams"} {
		q, err := filter.Parse(benchLines[name])
		must(t, err)
		env := benchEnvOf(pairs)
		env.Now = env.Now.Add(46 * time.Hour) // the pairs of two hours are not two days old
		must(t, pgx.BeginFunc(t.Context(), s.pool, func(begun pgx.Tx) error {
			record := &recorder{conn: conn{begun, func() {}, &pgx.Batch{}}}
			names := history.Names{Topics: map[int64]string{0: ""}, Models: map[int64]string{1: "openai/gpt-5"}, Newest: newest}
			line, err := history.NewSearch(q, env, s.Reader(sqlstore.NewTx(t.Context(), record)), names)
			must(t, err)
			if got := line.Result(); len(got.Refs) == 0 {
				t.Errorf("%s matches nothing", name)
			}
			most, last := 4, len(record.queries)-1
			if name == "regexp" { // each reads its candidates first
				most, last = 2*most, last-1
			}
			if n := len(record.queries); n > most {
				t.Errorf("%s: %d queries, want at most %d", name, n, most)
			}
			if plan := record.plan(t, last); !strings.Contains(plan, index) {
				t.Errorf("%s does not use %s:\n%s", name, index, plan)
			}
			return nil
		}))
	}
}
