package sqlite

import (
	"database/sql"
	_ "embed"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"winnow/assistant"
	"winnow/assistant/filter"
	"winnow/assistant/history"
	"winnow/assistant/history/sqlstore"
)

//go:embed testdata/v7.sql
var olderVersion string

// rawDatabase makes a database with SQL, as another program would.
func rawDatabase(t testing.TB, statements ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "h", "history.db")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	raw(t, path, statements...)
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func raw(t testing.TB, path string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, q := range statements {
		if _, err := db.ExecContext(t.Context(), q); err != nil {
			t.Fatalf("%.80s: %v", q, err)
		}
	}
}

// checkOlder checks that everything of testdata/v7.sql is there.
func checkOlder(t *testing.T, s *store) {
	t.Helper()
	got := load(t, s, 1, 2)
	if len(got) != 2 {
		t.Fatalf("%d pairs", len(got))
	}
	p := got[0]
	if p.ID != "first" || p.Topic != "AI > Agents" || p.Star != 3 || p.UserText != "hello" || p.Page != "rules" ||
		len(p.Attachments) != 1 || len(p.ToolCalls) != 1 || p.ToolCalls[0].Result.Message != "ok" || p.CreatedAt.Format("-07:00") != "+01:00" {
		t.Errorf("pair 1 = %+v", p)
	}
	d, err := s.Draft(t.Context(), "d")
	if err != nil || d.Text != "typed" || len(d.Stash) != 1 {
		t.Errorf("Draft = %+v, %v", d, err)
	}
	q, _ := filter.Parse("c'worl'")
	if r, err := s.Filter(t.Context(), q, history.Env{}); err != nil || len(r.Refs) != 1 || r.Refs[0].Seq != 2 {
		t.Errorf("c'worl' finds %v, %v; want pair 2", r.Refs, err)
	}
	if report, err := s.Check(t.Context()); err != nil || len(report.Problems) > 0 {
		t.Errorf("Check = %+v, %v", report, err)
	}
}

// An older form is brought up to date after a copy that can be used.
func TestOlderVersionIsMigratedAfterACopy(t *testing.T) {
	path := rawDatabase(t, olderVersion)
	s := open(t, path, Options{})
	if r := s.Report(); r.Migrated != 7 || r.Backup != path+".v7.bak" || r.Salvage != nil {
		t.Fatalf("Report = %+v", r)
	}
	checkOlder(t, s)
	put(t, s, pair("new", "q", "a"))
	restored := filepath.Join(filepath.Dir(path), "restored.db")
	if err := os.Rename(s.Report().Backup, restored); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(restored); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the copy has mode %v, %v", info.Mode(), err)
	}
	checkOlder(t, open(t, restored, Options{}))
}

// A crash in the middle of a migration leaves the old version, whole.
func TestCrashInMigrationLeavesTheOldVersion(t *testing.T) {
	path := rawDatabase(t, olderVersion)
	c := startChild(t, "migrate", path)
	c.kill()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	var version, columns int
	err = db.QueryRowContext(t.Context(), "SELECT (SELECT user_version FROM pragma_user_version), (SELECT count(*) FROM pragma_table_info('meta') WHERE name = 'clean')").Scan(&version, &columns)
	if err != nil || version != 7 || columns != 0 {
		t.Errorf("after the crash: version %d, %d new columns, %v; want 7, 0", version, columns, err)
	}
	db.Close()
	s := open(t, path, Options{})
	if r := s.Report(); r.Migrated != 7 || r.Salvage != nil {
		t.Errorf("Report = %+v", r)
	}
	checkOlder(t, s)
}

// A newer form is refused, and not a byte of it changes.
func TestNewerVersionIsRefused(t *testing.T) {
	for name, inLog := range map[string]bool{"in the file": false, "in the log": true} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "h", "history.db")
			s := open(t, path, Options{})
			put(t, s, full())
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if inLog {
				db, err := sql.Open("sqlite", path)
				if err != nil {
					t.Fatal(err)
				}
				defer db.Close() // keeps the log from being checkpointed into the file
				if _, err := db.ExecContext(t.Context(), "PRAGMA wal_autocheckpoint = 0; UPDATE meta SET version = 99; PRAGMA user_version = 99"); err != nil {
					t.Fatal(err)
				}
			} else {
				raw(t, path, "UPDATE meta SET version = 99", "PRAGMA user_version = 99")
			}
			before := readAll(t, path)
			_, err := openStore(t.Context(), path, Options{})
			var newer *history.NewerSchemaError
			if !errors.As(err, &newer) || newer.Found != 99 || newer.Supported != schemaVersion || newer.Path != path {
				t.Fatalf("Open = %v; want a NewerSchemaError", err)
			}
			if !strings.Contains(err.Error(), "newer winnow") {
				t.Errorf("%q does not say what to do", err)
			}
			if after := readAll(t, path); before != after {
				t.Error("a refused database was changed")
			}
		})
	}
}

// readAll is the content of a database and its log.
func readAll(t testing.TB, path string) string {
	t.Helper()
	var all strings.Builder
	for _, suffix := range []string{"", "-wal"} {
		b, err := os.ReadFile(path + suffix)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		all.Write(b)
	}
	return all.String()
}

// On a full disk nothing changes, in memory neither, and the same batch
// works once there is room.
func TestFullDisk(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h", "history.db")
	s := open(t, path, Options{})
	before := pair("x", "before", "b")
	put(t, s, before)
	pages := func(max int) {
		t.Helper()
		err := s.Write(t.Context(), func(tx *sqlstore.Tx) { tx.Number("PRAGMA max_page_count = " + itoa(max)) })
		if err != nil {
			t.Fatal(err)
		}
	}
	pages(1) // SQLite makes it the present size
	big := pair("x", strings.Repeat("large ", 100_000), "a")
	changed := *before
	changed.UserText = "changed"
	batch := &assistant.Batch{Put: []*assistant.Pair{&changed, big}}
	for range 3 {
		var storage *history.StorageError
		if err := s.Commit(t.Context(), batch); !errors.As(err, &storage) || !strings.Contains(err.Error(), "cannot write "+path+": the disk is full") {
			t.Fatalf("Commit on a full disk: %v", err)
		}
		if got := seqs(t, s, "x"); len(got) != 1 || big.Seq != 0 || load(t, s, before.Seq)[0].UserText != "before" {
			t.Fatalf("after a failed Commit: pairs %v, Seq %d", got, big.Seq)
		}
	}
	pages(1 << 20)
	commit(t, s, batch)
	if got := seqs(t, s, "x"); len(got) != 2 || load(t, s, before.Seq)[0].UserText != "changed" {
		t.Errorf("after the retry: %v", got)
	}
	if r, err := s.Check(t.Context()); err != nil || len(r.Problems) > 0 {
		t.Errorf("Check = %+v, %v", r, err)
	}
}
