package sqlite

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"winnow/assistant"
	"winnow/assistant/filter"
	"winnow/assistant/history/sqlstore"
)

// unindexedStore makes a database of n pairs in two sessions, none of them in the
// full-text index, with answers of so many words.
func unindexedStore(t testing.TB, path string, n, words int) {
	t.Helper()
	s, err := openStore(t.Context(), path, Options{noBackground: true})
	if err != nil {
		t.Fatal(err)
	}
	pairs := make([]*assistant.Pair, n)
	for i := range pairs {
		pairs[i] = pair([]string{"even", "odd"}[i%2], fmt.Sprint("question ", i), strings.Repeat("answer ", words))
	}
	put(t, s, pairs...)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func waitingForIndex(t testing.TB, s *store) (n int64) {
	t.Helper()
	err := s.Read(t.Context(), func(r *sqlstore.Tx) { n, _ = r.Number("SELECT count(*) FROM unindexed") })
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// No query of a start looks at every pair: those of a session are found by an
// index of the database, and those that a dead process was sending, too.
func TestAStartScansNoPairs(t *testing.T) {
	s := newStore(t)
	session, args := filter.Where(filter.SessionCurrent{}, filter.Source{Dialect: dialect{0, 100_000}})
	session = "p.seq > 0 AND p.seq <= 100000 AND p.cut IS NULL AND (" + session + ")"
	for _, query := range []struct {
		sql  string
		args []any
	}{
		{"SELECT seq FROM pair p WHERE " + session, args},
		{"SELECT seq, owner FROM pair WHERE owner IS NOT NULL", nil},
	} {
		err := s.Read(t.Context(), func(r *sqlstore.Tx) {
			r.Each("EXPLAIN QUERY PLAN "+query.sql, query.args, func(scan sqlstore.Scanner) {
				var id, parent, unused int
				var detail string
				scan(&id, &parent, &unused, &detail)
				byKey := strings.Contains(detail, "INTEGER PRIMARY KEY") && strings.HasPrefix(detail, "SEARCH p ")
				if byKey || strings.HasPrefix(detail, "SCAN p") && !strings.Contains(detail, "pair_owner") {
					t.Errorf("%s: %s", query.sql, detail)
				}
			})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// One transaction of background indexing is small, whatever waits.
func TestIndexingTransactionsAreSmall(t *testing.T) {
	const mostPairs, mostBytes = 64, 8 << 10
	for _, words := range []int{1, 20, 500} {
		path := filepath.Join(t.TempDir(), "h", "history.db")
		unindexedStore(t, path, 200, words)
		s, err := openStore(t.Context(), path, Options{noBackground: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		for left := waitingForIndex(t, s); left > 0; {
			s.indexSome()
			now := waitingForIndex(t, s)
			if indexed := left - now; indexed < 1 || indexed > mostPairs || indexed*int64(words*len("answer ")) > mostBytes {
				t.Fatalf("%d pairs of %d words in one transaction", indexed, words)
			}
			left = now
		}
		var synchronous int
		if err := s.writer.conn.QueryRowContext(t.Context(), "PRAGMA synchronous").Scan(&synchronous); err != nil || synchronous != 2 {
			t.Errorf("synchronous = %d, %v after background work; want FULL", synchronous, err)
		}
	}
}

// Background work that is under way does not keep the store from being used or closed.
func TestTheStoreIsUsedWhileItIndexes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h", "history.db")
	unindexedStore(t, path, 2000, 50)
	s := open(t, path, Options{})
	for i := range 20 {
		put(t, s, pair("late", fmt.Sprint(i), "answer"))
	}
	if waitingForIndex(t, s) == 0 {
		t.Skip("indexing was over before the commits")
	}
	if got := seqs(t, s, "late"); len(got) != 20 {
		t.Errorf("%d pairs", len(got))
	}
}

// A migrated database has the form of a new one.
func TestMigrationsLeadToTheSchema(t *testing.T) {
	form := func(s *store) (all []string) {
		t.Helper()
		err := s.Read(t.Context(), func(r *sqlstore.Tx) {
			r.Each(`SELECT t.name, coalesce(c.name, ''), coalesce(c.type, ''), coalesce(c."notnull", 0), coalesce(c.pk, 0)
				FROM sqlite_schema t LEFT JOIN pragma_table_info(t.name) c WHERE t.name NOT LIKE 'words%'`, nil, func(scan sqlstore.Scanner) {
				var table, column, kind string
				var notNull, key int
				scan(&table, &column, &kind, &notNull, &key)
				all = append(all, fmt.Sprintln(table, column, kind, notNull, key))
			})
		})
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(all)
		return all
	}
	want := form(newStore(t))
	if got := form(open(t, rawDatabase(t, olderVersion), Options{})); !slices.Equal(got, want) {
		t.Errorf("migrated:\n%s\nnew:\n%s", got, want)
	}
}
