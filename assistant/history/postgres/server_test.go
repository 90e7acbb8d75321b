//go:build unix

package postgres

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	at "winnow/assistant/assistanttest"
	"winnow/assistant/history"
	"winnow/assistant/history/sqlstore"
)

// shared is the server of the tests that leave it running; nil when there is none.
var shared *server

// noServer says why the tests are skipped and what would run them.
var noServer string

func TestMain(m *testing.M) {
	if task := os.Getenv(writerEnv); task != "" {
		os.Exit(runWriter(task))
	}
	if cluster = os.Getenv(panicEnv); cluster != "" {
		panicBesideAServer()
	}
	if err := flag.Set("test.parallel", "8"); err != nil { // the parallel tests mostly wait
		panic(err)
	}
	at.UseMemory()
	code := 1
	func() {
		var err error
		if shared, err = startServer(); err != nil {
			noServer = fmt.Sprintf("no PostgreSQL server (%v): install one, for example with apt-get install postgresql", err)
			if os.Getenv("WINNOW_POSTGRES") == "required" {
				fmt.Fprintln(os.Stderr, noServer)
				return
			}
		} else {
			defer shared.remove()
		}
		code = m.Run()
	}()
	os.Exit(code)
}

// panicEnv makes the test binary start a server, with a copy of the cluster that it names, print its folder and panic.
const panicEnv = "WINNOW_POSTGRES_PANIC"

func panicBesideAServer() {
	s, err := startServer()
	if err != nil {
		panic(err)
	}
	fmt.Println(s.dir)
	panic("a test panics")
}

// A test binary that panics leaves neither its server nor the folder of it.
func TestAServerEndsWithItsTests(t *testing.T) {
	t.Parallel()
	needServer(t)
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), panicEnv+"="+cluster)
	out, err := cmd.Output()
	dir := strings.TrimSpace(string(out))
	if err == nil || !strings.HasPrefix(filepath.Base(dir), "winnow-pg") {
		t.Fatalf("the binary printed %q, %v; want a folder and a panic", out, err)
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s is still there", dir)
		}
	}
	if conn, err := pgx.Connect(t.Context(), (&server{dir: dir}).address("postgres")); err == nil {
		conn.Close(t.Context())
		t.Error("the server still answers")
	}
}

// server is a private PostgreSQL server in a temporary folder, on a socket in it.
type server struct {
	dir      string
	bin      string
	settings []string
	attr     *syscall.SysProcAttr
	process  *exec.Cmd
	alive    io.WriteCloser // to the watchdog
}

// watchdog ends a server and removes its folder when the test binary that started it
// ends without having done so, as it does after a panic: then read meets the end of
// the pipe instead of a line.
const watchdog = `read line || { kill -QUIT "$0"; until rm -rf "$1"; do sleep 1; done; }`

// watch starts the watchdog of the server.
func (s *server) watch() error {
	dog := exec.CommandContext(context.Background(), "sh", "-c", watchdog, strconv.Itoa(s.process.Process.Pid), s.dir)
	dog.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // an interrupt of the terminal is not for it
	var err error
	if s.alive, err = dog.StdinPipe(); err != nil {
		return err
	}
	if err := dog.Start(); err != nil {
		return err
	}
	go func() { _ = dog.Wait() }() // ends after stop
	return nil
}

// findServer returns the folder of initdb and postgres.
func findServer() (string, error) {
	if path, err := exec.LookPath("initdb"); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil {
			return filepath.Dir(path), nil
		}
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	version := func(path string) int {
		n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(path))))
		return n
	}
	slices.SortFunc(found, func(a, b string) int { return version(b) - version(a) })
	if len(found) == 0 {
		return "", errors.New("no initdb in PATH or under /usr/lib/postgresql")
	}
	return filepath.Dir(found[0]), nil
}

// shortFolder makes a folder whose path is short enough for a socket, below a folder that every user may enter.
func shortFolder(name string) (string, error) {
	parent := "/tmp"
	if os.TempDir() == at.Memory {
		parent = at.Memory
	}
	return os.MkdirTemp(parent, name)
}

// startServer makes and starts a server. Settings are added to a configuration that
// trades durability for speed.
func startServer(settings ...string) (*server, error) {
	bin, err := findServer()
	if err != nil {
		return nil, err
	}
	dir, err := shortFolder("winnow-pg")
	if err != nil {
		return nil, err
	}
	s := &server{dir: dir, bin: bin, attr: &syscall.SysProcAttr{Setpgid: true}}
	s.settings = append([]string{
		"listen_addresses=", "unix_socket_directories=" + dir, "fsync=off", "full_page_writes=off",
		"max_connections=200", "log_min_messages=log", "shared_buffers=64MB", "min_wal_size=32MB", "max_wal_size=64MB",
	}, settings...)
	if err := s.create(); err != nil {
		os.RemoveAll(dir)
		return nil, err
	}
	if err := s.start(); err != nil {
		s.remove()
		return nil, err
	}
	return s, nil
}

// cluster is the folder that initdb made for the first server; the others get a copy.
var cluster string

// create makes the folder of the data, as another user for root: PostgreSQL refuses root.
func (s *server) create() error {
	if os.Getuid() == 0 {
		account, err := user.Lookup("postgres")
		if err != nil {
			account, err = user.Lookup("nobody")
		}
		if err != nil {
			return err
		}
		uid, _ := strconv.Atoi(account.Uid)
		gid, _ := strconv.Atoi(account.Gid)
		s.attr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		if err := os.Chown(s.dir, uid, gid); err != nil {
			return err
		}
	}
	run := func(name string, args ...string) error {
		cmd := exec.CommandContext(context.Background(), name, args...)
		cmd.SysProcAttr, cmd.Dir = s.attr, s.dir
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w: %s", name, err, out)
		}
		return nil
	}
	if cluster == "" {
		made := filepath.Join(s.dir, "cluster")
		if err := run(filepath.Join(s.bin, "initdb"), "-D", made, "-U", "winnow", "-A", "trust", "-N", "-E", "UTF8", "--locale=C"); err != nil {
			return err
		}
		cluster = made
	}
	return run("cp", "-R", cluster, s.data())
}

func (s *server) data() string { return filepath.Join(s.dir, "data") }

// start starts the server and waits until it says that it is ready.
func (s *server) start() error {
	args := []string{"-D", s.data()}
	for _, setting := range s.settings {
		args = append(args, "-c", setting)
	}
	log, toLog, err := os.Pipe()
	if err != nil {
		return err
	}
	s.process = exec.CommandContext(context.Background(), filepath.Join(s.bin, "postgres"), args...)
	s.process.SysProcAttr, s.process.Dir, s.process.Stderr = s.attr, s.dir, toLog
	err = s.process.Start()
	toLog.Close()
	if err == nil {
		err = s.watch()
	}
	if err != nil {
		log.Close()
		return err
	}
	ready := make(chan error, 2) // the second, of its end, is for nobody
	go func() {
		defer log.Close()
		var said strings.Builder
		for lines := bufio.NewScanner(log); lines.Scan(); {
			fmt.Fprintln(&said, lines.Text())
			if strings.HasSuffix(lines.Text(), "ready to accept connections") {
				ready <- nil
			}
		}
		ready <- fmt.Errorf("the server has ended: %s", &said)
	}()
	select {
	case err := <-ready:
		return err
	case <-time.After(time.Minute):
		return errors.New("the server is not ready after a minute")
	}
}

// stop ends the server: with SIGINT after it has closed the connections, with
// SIGQUIT at once, without a checkpoint.
func (s *server) stop(signal os.Signal) {
	_ = s.process.Process.Signal(signal)
	_ = s.process.Wait()
	_, _ = io.WriteString(s.alive, "stopped\n") // before another process can have the number
	_ = s.alive.Close()
}

func (s *server) remove() {
	if s.process != nil {
		s.stop(syscall.SIGQUIT)
	}
	os.RemoveAll(s.dir)
}

func (s *server) address(database string) string {
	return "postgres://winnow@/" + database + "?host=" + s.dir
}

var (
	databases    atomic.Int32
	makeOriginal sync.Once
)

// newDatabase returns the address of a new and empty database of a server.
func (s *server) newDatabase(t testing.TB) string {
	t.Helper()
	name := fmt.Sprint("t", databases.Add(1))
	s.sql(t, "postgres", "CREATE DATABASE "+name)
	return s.address(name)
}

// newHistory returns the address of a new database of the shared server with an empty history, a copy of one that
// Open made. It is dropped when the test ends: memory may have no room for all.
func newHistory(t testing.TB) string {
	t.Helper()
	s := needServer(t)
	const original = "history"
	makeOriginal.Do(func() {
		s.sql(t, "postgres", "CREATE DATABASE "+original)
		store, err := Open(context.Background(), s.address(original), Options{})
		must(t, err)
		must(t, store.Close())
	})
	name := fmt.Sprint("t", databases.Add(1))
	s.sql(t, "postgres", "CREATE DATABASE "+name+" TEMPLATE "+original)
	t.Cleanup(func() { s.sql(t, "postgres", "DROP DATABASE "+name+" WITH (FORCE)") })
	return s.address(name)
}

// sql runs statements as the owner of the server.
func (s *server) sql(t testing.TB, database string, statements ...string) {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), s.address(database))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	for _, sql := range statements {
		if _, err := conn.Exec(context.Background(), sql); err != nil {
			t.Fatal(sql, err)
		}
	}
}

// needServer skips a test where there is no server.
func needServer(t testing.TB) *server {
	t.Helper()
	if shared == nil {
		t.Skip(noServer)
	}
	return shared
}

// openAt opens the store of an address until the test ends.
func openAt(t testing.TB, address string, o Options) *store {
	t.Helper()
	s, err := Open(context.Background(), address, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s.(*store)
}

// newStore opens a new and empty store.
func newStore(t testing.TB) *store {
	t.Helper()
	return openAt(t, newHistory(t), Options{})
}

var _ history.Store = (*store)(nil)

// run executes one statement as a transaction.
func run(t testing.TB, s *store, sql string) {
	t.Helper()
	must(t, s.Write(t.Context(), func(tx *sqlstore.Tx) { tx.Run(sql) }))
}
