//go:build unix

package postgres

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"winnow/assistant"
	"winnow/assistant/history"
	"winnow/assistant/history/historytest"
	"winnow/assistant/history/sqlstore"
)

// pooler is pgbouncer in transaction mode before the shared server.
type pooler struct{ dir string }

const poolerPort = 6432

// findPooler returns the path of pgbouncer.
func findPooler() (string, error) {
	if path, err := exec.LookPath("pgbouncer"); err == nil {
		return path, nil
	}
	const debian = "/usr/sbin/pgbouncer" // not in the PATH of every user
	_, err := os.Stat(debian)
	return debian, err
}

// needPooler starts a pooler that ends with the test, and skips the test where there is none.
func needPooler(t *testing.T, users ...string) *pooler {
	t.Helper()
	s := needServer(t)
	path, err := findPooler()
	if err != nil {
		t.Skip("no pgbouncer: install it, for example with apt-get install pgbouncer")
	}
	dir, err := shortFolder("winnow-pool")
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	var known strings.Builder
	for _, user := range append(users, "winnow") {
		fmt.Fprintf(&known, "%q \"\"\n", user)
	}
	ini := filepath.Join(dir, "pgbouncer.ini")
	// Few connections to the server, so that clients share them.
	must(t, os.WriteFile(filepath.Join(dir, "users"), []byte(known.String()), 0o644), os.WriteFile(ini, fmt.Appendf(nil, `[databases]
* = host=%s
[pgbouncer]
listen_addr =
listen_port = %d
unix_socket_dir = %s
auth_type = trust
auth_file = %[3]s/users
pool_mode = transaction
default_pool_size = 3
max_client_conn = 500
server_idle_timeout = 1
`, s.dir, poolerPort, dir), 0o644))
	if c := s.attr.Credential; c != nil {
		must(t, os.Chown(dir, int(c.Uid), int(c.Gid)))
	}
	var log strings.Builder
	cmd := exec.CommandContext(context.Background(), path, ini)
	cmd.SysProcAttr, cmd.Stdout, cmd.Stderr = s.attr, &log, &log
	must(t, cmd.Start())
	process := &server{dir: dir, process: cmd}
	must(t, process.watch())
	stop := sync.OnceFunc(func() { process.stop(syscall.SIGKILL) })
	t.Cleanup(stop)
	p := &pooler{dir: dir}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		conn, err := pgx.Connect(t.Context(), p.address(s.address("postgres")))
		if err == nil {
			must(t, conn.Close(t.Context()))
			return p
		}
		if time.Now().After(deadline) {
			stop()
			t.Fatal(err, log.String())
		}
	}
}

// address returns the address of a database of the server through the pooler.
func (p *pooler) address(direct string) string {
	before, _, _ := strings.Cut(direct, "?host=")
	return fmt.Sprintf("%s?host=%s&port=%d", before, p.dir, poolerPort)
}

func TestConformanceBehindAPooler(t *testing.T) {
	t.Parallel()
	p := needPooler(t)
	historytest.Run(t, func(t *testing.T) history.Store {
		t.Helper()
		s := openAt(t, p.address(newHistory(t)), Options{})
		if !s.pooled.Load() {
			t.Error("the pooler isn't recognised")
		}
		return s
	})
}

// Behind a pooler a store asks for the changes of others; with a direct address it hears of them.
func TestChangesArriveBehindAPooler(t *testing.T) {
	t.Parallel()
	p := needPooler(t)
	for _, direct := range []bool{false, true} {
		address := shared.newDatabase(t)
		o := Options{}
		if direct {
			o.Listen = address
		}
		reader := openAt(t, p.address(address), o)
		for _, other := range []*store{openAt(t, address, Options{}), openAt(t, p.address(address), Options{})} {
			put := &assistant.Pair{Session: "s", UserText: "asked"}
			must(t, other.Commit(t.Context(), &assistant.Batch{Put: []*assistant.Pair{put}}))
			await(t, reader)
			must(t, other.Commit(t.Context(), &assistant.Batch{Delete: []int64{put.Seq}}))
			for deleted := await(t, reader).Deleted; deleted[put.Seq] == ""; deleted = await(t, reader).Deleted {
			}
		}
		listens := 0
		must(t, reader.Read(t.Context(), func(tx *sqlstore.Tx) {
			n, _ := tx.Number("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND classid = ? AND objid = ? AND database = (SELECT oid FROM pg_database WHERE datname = current_database())",
				lockClass, reader.owner.Load())
			listens = int(n)
		}))
		if (listens == 1) != direct {
			t.Errorf("with a direct address %v, the store has %d locks", direct, listens)
		}
	}
}

// A direct address that goes through a pooler, or reaches no server, is reported, and the store polls.
func TestADirectAddressThatIsNone(t *testing.T) {
	t.Parallel()
	p := needPooler(t)
	address := newHistory(t)
	for listen, says := range map[string]string{
		p.address(address): "the connection goes through a pooler", "postgres://winnow@127.0.0.1:1/x": "connection refused",
	} {
		s := openAt(t, p.address(address), Options{Listen: listen})
		if notices := s.Report().Notices; len(notices) == 0 || !strings.Contains(notices[len(notices)-1], says) {
			t.Errorf("%s: the notices are %q, want %q", listen, notices, says)
		}
		put := &assistant.Pair{Session: "s"}
		must(t, openAt(t, address, Options{}).Commit(t.Context(), &assistant.Batch{Put: []*assistant.Pair{put}}))
		await(t, s)
	}
	if _, err := Open(t.Context(), address, Options{Listen: "postgres://a:secret@x/y"}); !errors.Is(err, errPassword) || !strings.HasPrefix(err.Error(), "history_listen: ") {
		t.Errorf("an address with a password: %v", err)
	}
}

// No transaction leaves anything on a connection that another client may have next.
func TestNothingRemainsOnAPooledConnection(t *testing.T) {
	t.Parallel()
	p := needPooler(t)
	address := newHistory(t)
	s := openAt(t, p.address(address)+"&role=winnow", Options{})
	must(t, s.Commit(t.Context(), &assistant.Batch{Put: []*assistant.Pair{{Session: "s", UserText: "asked"}}}))
	selects(t, s, "c'asked' c/ask/")
	for range 10 {
		conn, err := pgx.Connect(t.Context(), p.address(address))
		must(t, err)
		rows, err := conn.Query(t.Context(), `SELECT name FROM pg_prepared_statements
			UNION ALL SELECT name || '=' || setting FROM pg_settings WHERE source = 'session' AND name NOT IN ('application_name', 'client_encoding', 'DateStyle', 'TimeZone', 'standard_conforming_strings')
			UNION ALL SELECT locktype FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()`, pgx.QueryExecModeSimpleProtocol)
		must(t, err)
		left, err := pgx.CollectRows(rows, pgx.RowTo[string])
		must(t, err, conn.Close(t.Context()))
		if len(left) > 0 {
			t.Errorf("left on the connection: %q", left)
		}
	}
}

// Behind a pooler, the pair of a program that is open is left alone, and that of one that ended is interrupted: by the
// next start if the row of the program is too old by then, else as soon as it is.
func TestInterruptedBehindAPooler(t *testing.T) {
	t.Parallel()
	p := needPooler(t)
	address := newHistory(t)
	s := openAt(t, p.address(address), Options{})
	sending := func() *assistant.Pair {
		pair := &assistant.Pair{Session: "s", State: assistant.PairSending, UserText: "asked"}
		must(t, s.Commit(t.Context(), &assistant.Batch{Put: []*assistant.Pair{pair}}))
		return pair
	}
	state := func(s *store, pair *assistant.Pair) assistant.PairState {
		got, err := s.Load(t.Context(), []int64{pair.Seq})
		must(t, err)
		return got[0].State
	}
	first := sending()
	for _, address := range []string{address, p.address(address)} {
		if other := openAt(t, address, Options{}); other.Report().Interrupted != 0 || state(other, first) != assistant.PairSending {
			t.Errorf("the pair of an open program was interrupted by %s", address)
		}
	}
	run(t, s, "UPDATE store SET seen = now() - interval '1 minute'") // as if its program had been killed
	if other := openAt(t, address, Options{}); other.Report().Interrupted != 1 || state(other, first) != assistant.PairError {
		t.Error("the pair of a program that ended was not interrupted")
	}
	s.beaten.Store(0)
	must(t, s.beat(t.Context()))
	second := sending()
	run(t, s, "UPDATE store SET seen = now() + interval '1 hour'")
	other := openAt(t, address, Options{deadAfter: time.Millisecond})
	if other.Report().Interrupted != 0 {
		t.Error("the pair was interrupted too early")
	}
	run(t, s, "UPDATE store SET seen = now() - interval '1 minute'")
	for await(t, other); state(other, second) != assistant.PairError; {
		await(t, other)
	}
	must(t, s.Close())
	must(t, other.Read(t.Context(), func(tx *sqlstore.Tx) {
		if n, _ := tx.Number("SELECT count(*) FROM store"); n != 0 {
			t.Errorf("%d rows of closed stores remain", n)
		}
	}))
}

// A store that polls renews its row, and so stays open for the others.
func TestAPollingStoreStaysOpen(t *testing.T) {
	t.Parallel()
	s := openAt(t, needPooler(t).address(newHistory(t)), Options{deadAfter: time.Millisecond})
	seen := func() (at string) {
		must(t, s.Read(t.Context(), func(tx *sqlstore.Tx) {
			at = sqlstore.List[string](tx, "SELECT seen::text FROM store WHERE owner = ?", s.owner.Load())[0]
		}))
		return at
	}
	first := seen()
	for deadline := time.Now().Add(time.Minute); seen() == first; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the row isn't renewed")
		}
	}
}

// A store has at most the connections that it may have, whatever runs at once.
func TestConnectionsAreLimited(t *testing.T) {
	t.Parallel()
	for name, limit := range map[string]int{"program": 0, "hub": 6} {
		address := newHistory(t)
		s := openAt(t, address+"&application_name="+name, Options{Connections: limit})
		most := 0
		var mu sync.Mutex
		var group sync.WaitGroup
		for n := range 40 {
			group.Go(func() {
				if n%4 == 0 {
					if err := s.Commit(t.Context(), &assistant.Batch{Put: []*assistant.Pair{{Session: fmt.Sprint(n)}}}); err != nil {
						t.Error(err)
					}
				}
				err := s.Read(t.Context(), func(tx *sqlstore.Tx) {
					open, _ := tx.Number("SELECT count(*) FROM pg_stat_activity WHERE application_name = ? AND datname = current_database()", name)
					tx.Run("SELECT pg_sleep(0.01)")
					mu.Lock()
					defer mu.Unlock()
					most = max(most, int(open))
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		want := max(limit, connections)
		if most != want {
			t.Errorf("%s: %d connections at once, want %d", name, most, want)
		}
	}
}

// A role that may only read reads through a pooler too.
func TestAReadingRoleBehindAPooler(t *testing.T) {
	t.Parallel()
	address := needServer(t).newDatabase(t)
	database, _, _ := strings.Cut(strings.TrimPrefix(address, "postgres://winnow@/"), "?")
	role := "reader_" + database
	p := needPooler(t, role)
	owner := openAt(t, p.address(address), Options{})
	must(t, owner.Commit(t.Context(), &assistant.Batch{Put: []*assistant.Pair{{Session: "s", UserText: "which models?"}}}))
	shared.sql(t, database, "CREATE ROLE "+role+" LOGIN", "GRANT USAGE ON SCHEMA winnow TO "+role, "GRANT SELECT ON ALL TABLES IN SCHEMA winnow TO "+role)
	reader := openAt(t, strings.Replace(p.address(address), "winnow@", role+"@", 1), Options{})
	var storage *history.StorageError
	if err := reader.SaveDraft(t.Context(), "k", history.Draft{Text: "x"}); !errors.As(err, &storage) || storage.Reason != "the database role "+role+" may only read" {
		t.Errorf("a write: %v", err)
	}
	if found := selects(t, reader, "c'models'"); len(found) != 1 {
		t.Errorf("a line finds %v", found)
	}
	var refused *pgconn.PgError
	err := owner.Write(t.Context(), func(tx *sqlstore.Tx) { tx.Run("INSERT INTO pair_picture SELECT seq, 99, '' FROM pair") })
	if !errors.As(err, &refused) || refused.ConstraintName != "pair_picture_author" {
		t.Errorf("a row that refers to nothing: %v", err)
	}
}
