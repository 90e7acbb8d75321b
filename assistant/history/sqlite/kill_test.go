package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"winnow/assistant"
	"winnow/assistant/history"
)

// images copies the files of a database at each step of an Open: what a process
// that is killed there leaves behind.
type images struct {
	t     *testing.T
	dir   string
	names []string
	paths []string
}

func (m *images) take(name string) {
	m.t.Helper()
	to := filepath.Join(m.t.TempDir(), "h")
	if err := os.CopyFS(to, os.DirFS(m.dir)); err != nil {
		m.t.Error(err)
	}
	m.names, m.paths = append(m.names, name), append(m.paths, filepath.Join(to, "history.db"))
}

// killedAt opens a database and returns images of every step.
func killedAt(t *testing.T, path string, want ...string) *images {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	m := &images{t: t, dir: filepath.Dir(path)}
	s, err := openStore(t.Context(), path, Options{step: m.take})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, step := range want {
		if !slices.ContainsFunc(m.names, func(name string) bool { return strings.Contains(name, step) }) {
			t.Errorf("there is no step %q in %q", step, m.names)
		}
	}
	return m
}

// Killed at any step of its first start, winnow starts the next time.
func TestKilledWhileItIsCreated(t *testing.T) {
	m := killedAt(t, filepath.Join(t.TempDir(), "h", "history.db"), "create the file", fmt.Sprintf("version %d: commit", schemaVersion), "name the new", "upgrade")
	for i, path := range m.paths {
		s, err := openStore(t.Context(), path, Options{})
		if err != nil {
			t.Errorf("killed at %q: %v", m.names[i], err)
			continue
		}
		if r := s.Report(); r.Salvage != nil || r.LostWAL {
			t.Errorf("killed at %q: %+v", m.names[i], r)
		}
		put(t, s, pair("x", "q", "a"))
		s.Close()
	}
}

// Killed at any step of a migration, the next start has all of it (D9).
func TestKilledWhileItIsMigrated(t *testing.T) {
	m := killedAt(t, rawDatabase(t, olderVersion), "copy", "version 8: ALTER", "version 8: commit", "version 9: DROP", fmt.Sprintf("version %d: commit", schemaVersion))
	for i, path := range m.paths {
		s, err := openStore(t.Context(), path, Options{noDelay: true})
		if err != nil {
			t.Errorf("killed at %q: %v", m.names[i], err)
			continue
		}
		if r := s.Report(); r.Salvage != nil {
			t.Errorf("killed at %q: %+v", m.names[i], r.Salvage)
		}
		checkOlder(t, s)
		s.Close()
	}
}

// Killed at any step of a salvage, the next start carries it out, and its counts
// are reported.
func TestKilledWhileItIsSalvaged(t *testing.T) {
	const n = 40
	path := closedStore(t, n)
	original := damageFile(t, path, func(b []byte) []byte { b[63] ^= 8; return b })
	m := killedAt(t, path, fmt.Sprintf("version %d: commit", schemaVersion), "write the plan", "set aside -wal", "put the new", "remove salvage.json")
	for i, path := range m.paths {
		s, err := openStore(t.Context(), path, Options{})
		if err != nil {
			t.Errorf("killed at %q: %v", m.names[i], err)
			continue
		}
		got := len(seqs(t, s, ""))
		report := s.Report().Salvage
		later := i > slices.Index(m.names, "remove salvage.json") // it was all done
		if got != n || !later && (report == nil || report.Salvaged != n) {
			t.Errorf("killed at %q: %d pairs, %+v", m.names[i], got, report)
		}
		if report != nil {
			aside := filepath.Join(filepath.Dir(path), filepath.Base(report.SetAside))
			if readAll(t, aside) != original {
				t.Errorf("killed at %q: the file set aside was changed", m.names[i])
			}
		}
		s.Close()
	}
}

// A process that was killed while SQLite changed the database by its rollback
// journal, as it does before a new one is in WAL mode, leaves one that has to be
// rolled back before anything can be read.
func TestAJournalIsRolledBack(t *testing.T) {
	path := closedStore(t, 10)
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=journal_mode(DELETE)&_pragma=cache_size(1)")
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	for _, q := range []string{"BEGIN", "UPDATE body SET user = user || hex(zeroblob(100000))"} {
		if _, err := db.ExecContext(t.Context(), q); err != nil {
			t.Fatal(err)
		}
	}
	m := &images{t: t, dir: filepath.Dir(path)}
	m.take("in a transaction")
	db.Close()
	killed := m.paths[0]
	if fileSize(killed+"-journal") <= 0 {
		t.Fatal("there is no journal: this test shows nothing")
	}
	s := open(t, killed, Options{})
	if r := s.Report(); r.Salvage != nil {
		t.Errorf("Report = %+v", r.Salvage)
	}
	for i, p := range load(t, s, seqs(t, s, "")...) {
		if string(p.UserText) != fmt.Sprint("question ", i) {
			t.Errorf("pair %d is %.40q", i, p.UserText)
		}
	}
	put(t, s, pair("x", "q", "a"))
}

// Killed at any instant of its first start, not only between steps.
func TestKilledAtAnyInstantOfTheFirstStart(t *testing.T) {
	for round := range 12 {
		path := filepath.Join(t.TempDir(), "h", "history.db")
		c := startChildUnready(t, "hold", path)
		time.AfterFunc(time.Duration(round*round)*500*time.Microsecond, func() { _ = c.Process.Kill() })
		_ = c.Wait() // says that it was killed
		s, err := openStore(t.Context(), path, Options{})
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		if r := s.Report(); r.Salvage != nil {
			t.Errorf("round %d: %+v", round, r.Salvage)
		}
		put(t, s, pair("x", "q", "a"))
		s.Close()
	}
}

// What is redacted is nowhere in the files: not in pairs, requests, drafts, sent
// and queued messages.
func TestSecretsAreNotStored(t *testing.T) {
	const key = "sk-secret-0123456789"
	path := filepath.Join(t.TempDir(), "h", "history.db")
	s := open(t, path, Options{Redact: func(text string) string { return strings.ReplaceAll(text, key, "[redacted]") }})
	p := full()
	p.UserText, p.AssistantText, p.Reasoning, p.ErrorMessage, p.Notice = key, key, key, key, key
	p.ToolCalls[0].Arguments = []byte(`{"key":"` + key + `"}`)
	p.ToolCalls[0].Result.Message = "the key is " + key
	commit(t, s, &assistant.Batch{Put: []*assistant.Pair{p}, Requests: []assistant.PairRequest{sentOf(p, 0, key)}})
	err := errors.Join(
		s.SaveDraft(t.Context(), "k", history.Draft{Text: key, Stash: []string{key}}), s.AddSent(t.Context(), key), s.AddFilterLine(t.Context(), "c'"+key+"'"),
		s.SaveQueued(t.Context(), "s1", assistant.Prompt{Text: key}), s.Set(t.Context(), "k", key), s.SaveFilter(t.Context(), "f", "c'"+key+"'"),
		s.SetSessionState(t.Context(), "s1", []byte(`{"a":"`+key+`"}`)),
	)
	if err != nil {
		t.Fatal(err)
	}
	if got := load(t, s, p.Seq)[0]; got.UserText != "[redacted]" || !strings.Contains(string(got.ToolCalls[0].Arguments), "[redacted]") || got.Notice != "[redacted]" {
		t.Errorf("Load = %+v", got)
	}
	if r := requests(t, s, p.Seq); len(r) != 1 || strings.Contains(string(r[0].Body), key) {
		t.Errorf("Requests = %s", r[0].Body)
	}
	if strings.Contains(readAll(t, path), key) {
		t.Error("the key is in the files")
	}
}

// Where nothing can be written, what is stored is read, and every write says why.
func TestReadingGoesOnWhenNothingCanBeWritten(t *testing.T) {
	path := closedStore(t, 5)
	s, err := unopened(path, Options{Now: time.Now}).openReadOnly(t.Context(), &history.StorageError{Op: "open", Path: path, Reason: "the disk is full", Err: nil})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if got := load(t, s, seqs(t, s, "")...); len(got) != 5 || s.Report().ReadOnly == nil {
		t.Errorf("%d pairs, %+v", len(got), s.Report())
	}
	var storage *history.StorageError
	err = s.Commit(context.Background(), &assistant.Batch{Put: []*assistant.Pair{pair("x", "q", "a")}})
	if !errors.As(err, &storage) || !strings.Contains(err.Error(), "the disk is full") {
		t.Errorf("Commit = %v", err)
	}
}
