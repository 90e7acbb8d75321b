//go:build unix

package postgres

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"winnow/assistant"
	"winnow/assistant/filter"
	"winnow/assistant/history"
)

// benchEnv is set where the benchmarks of a million pairs are to run too; those of
// package sqlite keep their databases in the folder that it names.
const benchEnv = "WINNOW_HISTORY_BENCH"

// benchStores are the stores that were filled, by the number of their pairs.
var benchStores = map[int]string{}

// benchStore opens a store of n pairs like those that package sqlite measures.
func benchStore(b *testing.B, n int) *store {
	b.Helper()
	if n > 100_000 && os.Getenv(benchEnv) == "" {
		b.Skip("set " + benchEnv + " to measure this")
	}
	s := needServer(b)
	if benchStores[n] == "" {
		benchStores[n] = s.newDatabase(b)
		fill(b, openAt(b, benchStores[n], Options{}), n)
	}
	return openAt(b, benchStores[n], Options{})
}

// fill adds n pairs of some two hundred characters with SQL.
func fill(b testing.TB, s *store, n int) {
	b.Helper()
	seed := &assistant.Pair{Session: "session0", Model: "openai/gpt-5", Topic: "AI > Agents", UserText: "q", AssistantText: "a", Flag: true}
	must(b, s.Commit(b.Context(), &assistant.Batch{Put: []*assistant.Pair{seed}}))
	for _, sql := range []string{
		"DROP INDEX IF EXISTS body_trigrams",
		fmt.Sprintf("INSERT INTO session (id, started, used) SELECT 'session' || i, 0, 0 FROM generate_series(1, %d) i", n/50),
		fmt.Sprintf(`INSERT INTO pair (session, topic, model, author, version, star, flag, state, sec, nsec, zone, attachments, sends, parts, id)
			SELECT 1 + i / 50, i %% 3, 1, 1, 1, i %% 4, 1, 2, 1700000000 + i * 36, 0, 0, 0, true, '\x20', 'id' || i FROM generate_series(2, %d) i`, n),
		`INSERT INTO body SELECT seq, t, t, '', '', '', '', NULL, 0, t, t FROM pair p, LATERAL
			(SELECT string_agg(md5((p.seq * 31 + w)::text), ' ') || CASE WHEN p.id LIKE 'id%000' THEN ' kubernetes' ELSE '' END
				FROM generate_series(1, 4) w) AS made (t) WHERE NOT EXISTS (SELECT 1 FROM body b WHERE b.seq = p.seq)`,
		"CREATE INDEX body_trigrams ON body USING gin (user_low gin_trgm_ops, answer_low gin_trgm_ops)",
		"SELECT setval(pg_get_serial_sequence('pair', 'seq'), (SELECT max(seq) FROM pair))",
	} {
		err := s.pool.AcquireFunc(b.Context(), func(conn *pgxpool.Conn) error {
			_, err := conn.Exec(b.Context(), "SET statement_timeout = 0; "+sql, pgx.QueryExecModeSimpleProtocol)
			return err
		})
		if err != nil {
			b.Fatalf("%s: %v", sql, err)
		}
	}
	_, err := s.pool.Exec(b.Context(), "VACUUM ANALYZE")
	must(b, err)
}

// benchLines are lines of every kind; the selective ones leave few pairs.
var benchLines = map[string]string{
	"all": "", "selective": "s3 d<2d m'gpt-5'", "session": "x", "text": "c'kubernetes'", "two": "c'kubernetes' s0", "recent": "r50", "regexp": "d<2d c/kube.*es/", "either": "d<2d c/kube.*es|helm/",
}

var benchNow = time.Unix(1700000000, 0)

func benchEnvOf(n int) history.Env {
	return history.Env{Env: filter.Env{Now: benchNow.Add(time.Duration(n) * 36 * time.Second), Location: time.UTC, Session: "session0", SelectedTopic: "AI"}}
}

// BenchmarkFirstScreen is the newest piece of a line: what is drawn first.
func BenchmarkFirstScreen(b *testing.B) {
	benchLine(b, func(s *store, q *filter.Query, env history.Env) error {
		for _, err := range s.Stream(b.Context(), q, env) {
			return err
		}
		return nil
	})
}

// BenchmarkFilter is the whole result of a line.
func BenchmarkFilter(b *testing.B) {
	benchLine(b, func(s *store, q *filter.Query, env history.Env) error {
		_, err := s.Filter(b.Context(), q, env)
		return err
	})
}

func benchLine(b *testing.B, run func(*store, *filter.Query, history.Env) error) {
	b.Helper()
	for _, n := range []int{100_000, 1_000_000} {
		for name, line := range benchLines {
			b.Run(fmt.Sprint(n, "/", name), func(b *testing.B) {
				s := benchStore(b, n)
				q, err := filter.Parse(line)
				must(b, err)
				for b.Loop() {
					must(b, run(s, q, benchEnvOf(n)))
				}
			})
		}
	}
}
