package sqlite

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"winnow/assistant/filter"
	"winnow/assistant/history/sqlstore"
)

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
