//go:build unix

package postgres

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"winnow/assistant"
	"winnow/assistant/filter"
	"winnow/assistant/history"
	"winnow/assistant/history/sqlstore"
)

// A newer schema is refused, and stays as it is.
func TestANewerSchemaIsRefused(t *testing.T) {
	address := newHistory(t)
	s := openAt(t, address, Options{})
	run(t, s, "UPDATE meta SET version = version + 1")
	must(t, s.Close())
	_, err := Open(t.Context(), address, Options{})
	var newer *history.NewerSchemaError
	if !errors.As(err, &newer) || newer.Found != schemaVersion+1 || newer.Supported != schemaVersion {
		t.Errorf("Open = %v, want a *NewerSchemaError", err)
	}
}

// A schema before the base is refused, and stays as it is.
func TestAnOlderSchemaIsRefused(t *testing.T) {
	address := newHistory(t)
	s := openAt(t, address, Options{})
	run(t, s, fmt.Sprintf("UPDATE meta SET version = %d", baseVersion-1))
	for range 2 {
		_, err := Open(t.Context(), address, Options{})
		var older *history.OlderSchemaError
		if !errors.As(err, &older) || older.Found != baseVersion-1 || older.Supported != baseVersion {
			t.Errorf("Open = %v, want an *OlderSchemaError", err)
		}
	}
}

// A schema of the base version is brought up to date and keeps its pairs and the rights of its
// roles; one that never was older is the same. A row that refers to nothing doesn't keep it from opening.
func TestTheBaseIsMigrated(t *testing.T) {
	columns := func(s *store) (all []string) {
		must(t, s.Read(t.Context(), func(tx *sqlstore.Tx) {
			all = sqlstore.List[string](tx, `SELECT table_name || '.' || column_name || ' ' || data_type FROM information_schema.columns WHERE table_schema = 'winnow'
				UNION ALL SELECT conrelid::regclass || ' ' || conname || ' ' || pg_get_constraintdef(oid, true) FROM pg_constraint WHERE connamespace = 'winnow'::regnamespace
				ORDER BY 1`)
		}))
		return all
	}
	want := columns(newStore(t))
	base, err := migrations.ReadFile(fmt.Sprintf("migrations/%d.sql", baseVersion))
	must(t, err)
	address := needServer(t).newDatabase(t)
	name := strings.TrimPrefix(strings.Split(address, "?")[0], "postgres://winnow@/")
	shared.sql(t, name, "CREATE SCHEMA winnow; SET search_path TO winnow; CREATE ROLE anna_"+name+" LOGIN; "+string(base)+`
		INSERT INTO session (id, started, used) VALUES ('s', 1700000000123, 1700000000123);
		INSERT INTO model (name) VALUES ('m');
		INSERT INTO author (name) VALUES ('winnow');
		INSERT INTO pair (session, topic, model, author, version, star, flag, state, sec, nsec, zone, attachments, sends, parts, id)
			VALUES (1, 0, 1, 1, 1, 0, 0, 2, 1700000000, 500000000, 3600, 0, true, ' ', 'p1'), (1, 0, 77, 1, 1, 0, 0, 2, 9223372036854775807, 0, 0, 0, true, ' ', 'p2');
		GRANT USAGE ON SCHEMA winnow TO anna_`+name+"; GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA winnow TO anna_"+name+
		"; GRANT USAGE ON ALL SEQUENCES IN SCHEMA winnow TO anna_"+name)
	migrated := openAt(t, address, Options{})
	if r := migrated.Report(); r.Migrated != baseVersion {
		t.Errorf("migrated from %d", r.Migrated)
	}
	must(t, migrated.Read(t.Context(), func(tx *sqlstore.Tx) {
		times := sqlstore.List[string](tx, "SELECT coalesce(to_char(created AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.MS'), 'none') FROM pair ORDER BY seq")
		if !slices.Equal(times, []string{"2023-11-14 22:13:20.500", "none"}) {
			t.Errorf("the times are %q", times)
		}
	}))
	got := columns(migrated)
	broken := slices.IndexFunc(got, func(line string) bool { return strings.HasSuffix(line, " NOT VALID") })
	if broken < 0 || !strings.HasPrefix(got[broken], "pair pair_has_model ") {
		t.Errorf("the constraint that a row violates is %d of\n%s", broken, strings.Join(got, "\n"))
	} else {
		got[broken] = strings.TrimSuffix(got[broken], " NOT VALID")
	}
	if !slices.Equal(got, want) {
		t.Errorf("the columns are\n%v\nwant\n%v", got, want)
	}
	anna := openAt(t, strings.Replace(address, "winnow@", "anna_"+name+"@", 1), Options{})
	must(t, anna.Commit(t.Context(), &assistant.Batch{Put: []*assistant.Pair{{Session: "s", UserText: "asked"}}}))
}

// Programs that start at once on an empty database create one schema.
func TestManyCreateOneSchema(t *testing.T) {
	address := needServer(t).newDatabase(t)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			s, err := Open(t.Context(), address, Options{})
			if err != nil {
				t.Error(err)
				return
			}
			defer s.Close()
			if err := s.Commit(t.Context(), &assistant.Batch{Put: []*assistant.Pair{{Session: "s"}}}); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if refs, err := openAt(t, address, Options{}).Refs(t.Context(), "s", 3.5); err != nil || len(refs) != 8 {
		t.Errorf("%d pairs, %v; want 8", len(refs), err)
	}
}

// Without the extension, and without the right to install it, texts are found all
// the same, and the user is told once.
func TestWithoutTrigramsTextsAreRead(t *testing.T) {
	address := needServer(t).newDatabase(t)
	name := strings.TrimPrefix(strings.Split(address, "?")[0], "postgres://winnow@/")
	role := "plain_" + name
	shared.sql(t, name, "CREATE ROLE "+role+" LOGIN", "CREATE SCHEMA winnow AUTHORIZATION "+role)
	address = strings.Replace(address, "winnow@", role+"@", 1)
	first, second := openAt(t, address, Options{}), openAt(t, address, Options{})
	if got := first.Report().Notices; len(got) != 1 || !strings.Contains(got[0], "pg_trgm") {
		t.Errorf("the first start said %q", got)
	}
	if got := second.Report().Notices; len(got) != 0 {
		t.Errorf("the second start said %q", got)
	}
	must(t, first.Commit(t.Context(), &assistant.Batch{Put: []*assistant.Pair{{Session: "s", UserText: "Kubernetes"}, {Session: "s"}}}))
	q, err := filter.Parse("c'KUBE'")
	must(t, err)
	if n, err := second.Count(t.Context(), q, history.Env{}); n != 1 || err != nil {
		t.Errorf("Count = %d, %v; want 1", n, err)
	}
	// Another owner installs it later: the next start makes the index.
	shared.sql(t, name, "CREATE EXTENSION pg_trgm")
	third := openAt(t, address, Options{})
	must(t, third.Read(t.Context(), func(t *sqlstore.Tx) {
		if n, _ := t.Number("SELECT count(*) FROM pg_indexes WHERE indexname = 'body_trigrams'"); n != 1 {
			t.Fail(errors.New("there is no index"))
		}
	}))
}

// Only a pair whose program is gone is interrupted by the next Open.
func TestOnlyAPairOfAProgramThatEndedIsInterrupted(t *testing.T) {
	address := newHistory(t)
	s := openAt(t, address, Options{})
	p := &assistant.Pair{Session: "s", State: assistant.PairSending, UserText: "asked"}
	must(t, s.Commit(t.Context(), &assistant.Batch{Put: []*assistant.Pair{p}}))
	other := openAt(t, address, Options{})
	if n := other.Report().Interrupted; n != 0 {
		t.Errorf("%d pairs of a living program were interrupted", n)
	}
	must(t, s.Close())
	other = openAt(t, address, Options{})
	got, err := other.Load(t.Context(), []int64{p.Seq})
	must(t, err)
	if n := other.Report().Interrupted; n != 1 || got[0].State != assistant.PairError || got[0].ErrorCode != assistant.CodeInterrupted || got[0].UserText != "asked" {
		t.Errorf("%d interrupted: %+v", n, got[0])
	}
}
