//go:build unix

package postgres

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/history"
	"winnow/assistant/history/sqlstore"
	"winnow/assistant/serve"
	"winnow/assistant/serve/servetest"
	"winnow/checkpoint"
	"winnow/checkpoint/jsondelta"
)

// allChanges are the changes of all windows, as JSON, oldest first.
func allChanges(t *testing.T, s *store) (lines []string) {
	t.Helper()
	all, _, err := s.WindowChanges(t.Context(), 0, 1000)
	must(t, err)
	for _, c := range all {
		raw, err := json.Marshal(c)
		must(t, err)
		lines = append(lines, string(raw))
	}
	return lines
}

// serveWords serves a list of words whose journal is in dir, with its log in s, until stop.
func serveWords(t *testing.T, s *store, dir, host string) (hub *servetest.Rig, stop func()) {
	t.Helper()
	hub = servetest.Start(t, servetest.Options{
		Dir: dir, Model: at.NewScript(at.Answer{at.Call{Name: "add_word", Arguments: `{"word":"cat"}`}}, at.Answer{at.Say("added")}),
		Change: func(o *serve.Options) { o.History = s },
	})
	journal := hub.Journal()
	wait := serve.RecordChanges(serve.RecordOptions{
		Changes: hub.Changes(), History: s, Host: host, Path: "/srv/.env", Log: slog.New(slog.DiscardHandler),
		Read: func() []checkpoint.Change { return checkpoint.Changes(journal) },
	})
	return hub, func() { must(t, hub.Close(t.Context()), journal.Close()); wait() }
}

// edit adds a word by hand.
func edit(t *testing.T, s *serve.Session, hub *servetest.Rig, word string) {
	t.Helper()
	must(t, s.Edit("add "+word, func() error { return hub.Words.Type(word) }))
}

// journalLines are the changes of a journal as the log of a host.
func journalLines(t *testing.T, hub *servetest.Rig, host string) (lines []string) {
	t.Helper()
	for _, c := range checkpoint.Changes(hub.Journal()) {
		raw, err := json.Marshal(history.WindowChange{Host: host, Path: "/srv/.env", Change: c})
		must(t, err)
		lines = append(lines, string(raw))
	}
	return lines
}

// The log of a served window is in the database once: what its users change, also while
// the database is away, and after the server was started again. No message is in it.
func TestTheLogOfAServedWindowIsStoredOnce(t *testing.T) {
	t.Parallel()
	needServer(t)
	server, err := startServer()
	must(t, err)
	t.Cleanup(server.remove)
	address, dir := server.newDatabase(t), t.TempDir()
	s := openAt(t, address, Options{})
	hub, stop := serveWords(t, s, dir, "alpha")
	anna, err := hub.Open(t.Context(), serve.Join{User: "anna"})
	must(t, err)
	events, err := at.Send(t.Context(), anna, assistant.Prompt{Text: "a message that nobody logs"})
	must(t, err)
	at.Events(t, events)
	edit(t, anna, hub, "dog")
	_, err = anna.Rollback(t.Context(), hub.Journal().List("")[1].ID, "window", anna.Newest())
	must(t, err)
	server.stop(syscall.SIGQUIT)
	edit(t, anna, hub, "bird") // is not held up
	must(t, server.start())
	edit(t, anna, hub, "fish")
	stop()
	want := journalLines(t, hub, "alpha")
	if got := allChanges(t, s); !slices.Equal(got, want) || len(want) != 5 {
		t.Errorf("the database has\n%s\nthe journal\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	hub, stop = serveWords(t, s, dir, "alpha")
	bob, err := hub.Open(t.Context(), serve.Join{User: "bob"})
	must(t, err)
	must(t, bob.Edit("nothing", func() error { return nil }))
	edit(t, bob, hub, "cow")
	stop()
	got, want := allChanges(t, s), journalLines(t, hub, "alpha")
	if !slices.Equal(got, want) || len(got) < 6 {
		t.Errorf("after a restart the database has\n%s\nthe journal\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for i, part := range []string{`"user":"anna"`, `"kind":"turn","what":"added cat"`, `"user":"bob"`} {
		if !strings.Contains(strings.Join(got, "\n"), part) || strings.Contains(got[i], "nobody logs") {
			t.Errorf("%s is missing, or a message is there: %s", part, strings.Join(got, "\n"))
		}
	}
}

// Two hosts that serve a file of the same name have logs of their own.
func TestTheLogsOfTwoHostsStayApart(t *testing.T) {
	s := newStore(t)
	var want []string
	for _, host := range []string{"alpha", "beta"} {
		hub, stop := serveWords(t, s, t.TempDir(), host)
		anna, err := hub.Open(t.Context(), serve.Join{User: "anna"})
		must(t, err)
		edit(t, anna, hub, "dog")
		stop()
		want = append(want, journalLines(t, hub, host)...)
	}
	if got := allChanges(t, s); !slices.Equal(got, want) || len(got) != 2 || !strings.Contains(got[1], `"host":"beta"`) {
		t.Errorf("the database has\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// logged is a change with the number n, n seconds after an instant.
func logged(n int64, what string) checkpoint.Change {
	after, _ := json.Marshal(what) // of a string it does not fail
	return checkpoint.Change{
		Seq: n, Time: time.Unix(1_800_000_000+n, 123_456_789).UTC(), User: "anna", Session: "s", Kind: checkpoint.EditChange, What: what, More: 7,
		Changed: []jsondelta.Difference{{Path: "rules", Before: json.RawMessage(`"<a>"`), After: after}},
	}
}

// Changes are returned as they were added, without secrets; the newest by time, and then
// those that are added, in whichever order.
func TestWindowChanges(t *testing.T) {
	s := openAt(t, newHistory(t), Options{Redact: func(text string) string { return strings.ReplaceAll(text, "sk-secret", "[key]") }})
	var changes []checkpoint.Change
	for n := range int64(10) {
		changes = append(changes, logged(n, fmt.Sprint("change ", n)))
	}
	must(t, s.AddWindowChanges(t.Context(), "b", "/p", changes[5:]), s.AddWindowChanges(t.Context(), "a", "/p", changes))
	all, newest, err := s.WindowChanges(t.Context(), 0, 6)
	must(t, err)
	var got []checkpoint.Change
	for _, c := range all {
		got = append(got, c.Change)
	}
	if fmt.Sprint(got) != fmt.Sprint(changes[4:]) || all[0].Host != "a" || all[5].Host != "b" {
		t.Errorf("the newest are\n%+v\nwant\n%+v", all, changes[4:])
	}
	must(t, s.AddWindowChanges(t.Context(), "c", "/q", []checkpoint.Change{logged(1, "sk-secret \x00\xff")})) // an old one
	later, last, err := s.WindowChanges(t.Context(), newest, 100)
	if err != nil || len(later) != 1 || last <= newest || later[0].Path != "/q" || later[0].What != "[key] \uffff\ufffd" {
		t.Errorf("later there are %+v up to %d, %v", later, last, err)
	}
	must(t, s.Read(t.Context(), func(tx *sqlstore.Tx) {
		if rows := sqlstore.List[string](tx, "SELECT c::text FROM change c"); strings.Contains(strings.Join(rows, ""), "sk-secret") {
			t.Errorf("a secret is stored: %s", rows)
		}
	}))
	if none, again, err := s.WindowChanges(t.Context(), last, 100); len(none) != 0 || again != last || err != nil {
		t.Errorf("then there are %+v up to %d, %v", none, again, err)
	}
}

// Who reads on from the newest number misses no change that was added before it and
// committed later: the numbers grow in the order of commits.
func TestAReaderMissesNoChange(t *testing.T) {
	address := newHistory(t)
	s, done := openAt(t, address, Options{}), make(chan error, 1)
	must(t, s.Write(t.Context(), func(slow *sqlstore.Tx) {
		slow.Run("SELECT pg_advisory_xact_lock(?, ?)", lockClass, logLock)
		slow.Run(`INSERT INTO change (host, path, seq, sec, nsec, "user", session, kind, what, changed, more) VALUES ('h', '/slow', 1, 1, 1, '', '', '', '', '[]', 0)`)
		go func() {
			done <- openAt(t, address, Options{}).AddWindowChanges(t.Context(), "h", "/fast", []checkpoint.Change{logged(1, "x")})
		}()
		for waits := int64(0); waits == 0 && len(done) == 0; {
			waits, _ = slow.Number("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND NOT granted")
		}
		if all, newest, err := s.WindowChanges(t.Context(), 0, 10); len(all) != 0 || newest != 0 || err != nil {
			t.Errorf("before the first commit there are %+v up to %d, %v", all, newest, err)
		}
	}))
	must(t, <-done)
	if all, _, err := s.WindowChanges(t.Context(), 0, 10); len(all) != 2 || err != nil {
		t.Errorf("in the end there are %+v, %v", all, err)
	}
}
