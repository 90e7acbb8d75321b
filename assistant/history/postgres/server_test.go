//go:build unix

package postgres

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"winnow/assistant/history"
)

// shared is the server of the tests that leave it running; nil when there is none.
var shared *server

// noServer says why the tests are skipped and what would run them.
var noServer string

func TestMain(m *testing.M) {
	if task := os.Getenv(writerEnv); task != "" {
		os.Exit(runWriter(task))
	}
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

// server is a private PostgreSQL server in a temporary folder, on a socket in it.
type server struct {
	dir      string
	bin      string
	settings []string
	attr     *syscall.SysProcAttr
	process  *exec.Cmd
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

// startServer makes and starts a server. Settings are added to a configuration that
// trades durability for speed.
func startServer(settings ...string) (*server, error) {
	bin, err := findServer()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("/tmp", "winnow-pg") // a short path: that of a socket is bounded
	if err != nil {
		return nil, err
	}
	s := &server{dir: dir, bin: bin, attr: &syscall.SysProcAttr{Setpgid: true}}
	s.settings = append([]string{
		"listen_addresses=", "unix_socket_directories=" + dir, "fsync=off", "full_page_writes=off",
		"max_connections=200", "log_min_messages=fatal", "shared_buffers=64MB",
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

// create runs initdb, as another user for root: PostgreSQL refuses root.
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
	initdb := exec.CommandContext(context.Background(), filepath.Join(s.bin, "initdb"), "-D", s.data(), "-U", "winnow", "-A", "trust", "-N", "-E", "UTF8", "--locale=C")
	initdb.SysProcAttr, initdb.Dir = s.attr, s.dir
	if out, err := initdb.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, out)
	}
	return nil
}

func (s *server) data() string { return filepath.Join(s.dir, "data") }

// start starts the server and waits until it answers.
func (s *server) start() error {
	args := []string{"-D", s.data()}
	for _, setting := range s.settings {
		args = append(args, "-c", setting)
	}
	log, err := os.Create(filepath.Join(s.dir, "log"))
	if err != nil {
		return err
	}
	defer log.Close()
	s.process = exec.CommandContext(context.Background(), filepath.Join(s.bin, "postgres"), args...)
	s.process.SysProcAttr, s.process.Dir, s.process.Stderr = s.attr, s.dir, log
	if err := s.process.Start(); err != nil {
		return err
	}
	deadline := time.Now().Add(time.Minute)
	for {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		conn, err := pgx.Connect(ctx, s.address("postgres"))
		if err == nil {
			conn.Close(ctx)
		}
		cancel()
		if err == nil {
			return nil
		}
		if time.Now().After(deadline) {
			text, _ := os.ReadFile(log.Name())
			return fmt.Errorf("the server does not answer: %w: %s", err, text)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// stop ends the server: with SIGINT after it has closed the connections, with
// SIGQUIT at once, without a checkpoint.
func (s *server) stop(signal os.Signal) {
	_ = s.process.Process.Signal(signal)
	_ = s.process.Wait()
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

var databases atomic.Int32

// newDatabase returns the address of a new and empty database of a server.
func (s *server) newDatabase(t testing.TB) string {
	t.Helper()
	name := fmt.Sprint("t", databases.Add(1))
	s.sql(t, "postgres", "CREATE DATABASE "+name)
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
	return openAt(t, needServer(t).newDatabase(t), Options{})
}

var _ history.Store = (*store)(nil)
