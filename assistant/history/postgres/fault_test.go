//go:build unix

package postgres

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/history"
	"winnow/assistant/safetext"
)

// writerEnv makes the test binary a writer: ADDRESS NAME FIRST COUNT.
const writerEnv = "WINNOW_POSTGRES_WRITER"

// runWriter commits pairs one after the other, each until it is stored, and prints
// the id of each once it is.
func runWriter(task string) int {
	fields := strings.Fields(task)
	from, _ := strconv.Atoi(fields[2])
	n, _ := strconv.Atoi(fields[3])
	ctx := context.Background()
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); {
		var s history.Store
		err := (&store{ctx: ctx}).retry(ctx, "open", func() (err error) {
			s, err = Open(ctx, fields[0], Options{User: fields[1]})
			return err
		})
		if err != nil {
			continue
		}
		for ; from < n && time.Now().Before(deadline); from++ {
			p := &assistant.Pair{ID: fmt.Sprint(fields[1], "-", from), Session: fields[1], UserText: safetext.Text(fmt.Sprint("text ", from)), State: assistant.PairComplete}
			for err := s.Commit(ctx, &assistant.Batch{Put: []*assistant.Pair{p}}); err != nil; err = s.Commit(ctx, &assistant.Batch{Put: []*assistant.Pair{p}}) {
				fmt.Fprintln(os.Stderr, err)
			}
			fmt.Println(p.ID)
		}
		s.Close()
		return 0
	}
	return 1
}

// writer is a writer process that is started again where it was killed.
type writer struct {
	mu      sync.Mutex
	process *exec.Cmd
	stored  []string // ids that it said are stored
}

func (w *writer) run(t *testing.T, address, name string, count int) {
	t.Helper()
	for len(w.stored) < count {
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), fmt.Sprint(writerEnv, "=", address, " ", name, " ", len(w.stored), " ", count))
		out, err := cmd.StdoutPipe()
		must(t, err, cmd.Start())
		w.mu.Lock()
		w.process = cmd
		w.mu.Unlock()
		for lines := bufio.NewScanner(out); lines.Scan(); {
			w.stored = append(w.stored, lines.Text())
		}
		_ = cmd.Wait() // killed, or done
		if t.Context().Err() != nil {
			return
		}
	}
}

func (w *writer) kill() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.process != nil {
		_ = w.process.Process.Kill()
	}
}

// What was reported as stored is there once, whatever is killed: writers, and the
// server at once. WINNOW_POSTGRES_FAULTS=1 runs the longest form.
func TestNothingStoredIsLostOrDoubled(t *testing.T) {
	t.Parallel()
	needServer(t)
	writers, pairs, restarts, pause := at.Rounds(3, 5), at.Rounds(20, 60), at.Rounds(1, 2), 300*time.Millisecond
	if os.Getenv("WINNOW_POSTGRES_FAULTS") != "" {
		writers, pairs, restarts, pause = 20, 500, 5, time.Second
	}
	s, err := startServer("fsync=on", "full_page_writes=on", "synchronous_commit=on")
	must(t, err)
	t.Cleanup(s.remove)
	address := s.newDatabase(t)
	all := make([]writer, writers)
	var group sync.WaitGroup
	for i := range all {
		group.Go(func() { all[i].run(t, address, fmt.Sprint("w", i), pairs) })
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		group.Wait()
	}()
	for i := 0; ; i++ {
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
			all[i%writers].kill()
			if i%2 == 1 && restarts > 0 {
				restarts--
				s.stop(syscall.SIGQUIT)
				must(t, s.start())
			}
			continue
		case <-done:
			timer.Stop()
		}
		break
	}
	store := openAt(t, address, Options{})
	refs, err := store.Refs(t.Context(), "", 3.5)
	must(t, err)
	found, err := store.Load(t.Context(), seqs(refs))
	must(t, err)
	times := map[string]int{}
	for _, p := range found {
		times[p.ID]++
	}
	for i := range all {
		for _, id := range all[i].stored {
			if times[id] != 1 {
				t.Errorf("pair %s is there %d times", id, times[id])
			}
		}
	}
	if len(found) != writers*pairs {
		t.Errorf("%d pairs, want %d", len(found), writers*pairs)
	}
	if r, err := store.Check(t.Context()); err != nil || len(r.Problems) > 0 {
		t.Errorf("Check = %+v, %v", r, err)
	}
}

func seqs(refs []assistant.Ref) (all []int64) {
	for _, r := range refs {
		all = append(all, r.Seq)
	}
	return all
}

// A store that was opened before the server stopped works again when it is back.
func TestAServerThatComesBackIsUsedAgain(t *testing.T) {
	t.Parallel()
	needServer(t)
	s, err := startServer()
	must(t, err)
	t.Cleanup(s.remove)
	store := openAt(t, s.newDatabase(t), Options{})
	p := &assistant.Pair{Session: "s", UserText: "before"}
	must(t, store.Commit(t.Context(), &assistant.Batch{Put: []*assistant.Pair{p}}))
	s.stop(syscall.SIGQUIT)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err = store.Load(ctx, []int64{p.Seq})
	var storage *history.StorageError
	if !errors.As(err, &storage) || storage.Op != "read" {
		t.Errorf("without a server: %v, want a *StorageError", err)
	}
	must(t, s.start())
	got, err := store.Load(t.Context(), []int64{p.Seq})
	must(t, err, store.Commit(t.Context(), &assistant.Batch{Put: []*assistant.Pair{{Session: "s", UserText: "after"}}}))
	if len(got) != 1 || got[0].UserText != "before" {
		t.Errorf("Load = %+v", got)
	}
}

// A connection that fails says which part of the address may be wrong.
func TestWhyAServerCannotBeOpened(t *testing.T) {
	t.Parallel()
	own := newHistory(t)
	plain, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0") // a server without encryption
	must(t, err)
	t.Cleanup(func() { _ = plain.Close() })
	go func() {
		for {
			conn, err := plain.Accept()
			if err != nil {
				return
			}
			_, _ = io.CopyN(io.Discard, conn, 8) // the request for encryption
			_, _ = conn.Write([]byte("N"))
			_ = conn.Close()
		}
	}()
	for address, reason := range map[string]string{
		own + "&role=nobody": "the server refuses the connection: role \"nobody\" does not exist",
		"postgres://winnow@" + plain.Addr().String() + "/x?sslmode=require": "the server cannot be reached: it refuses encryption",
		"postgres://winnow@127.0.0.1:1/x":                                   "the server cannot be reached: the connection was refused",
		"postgres://winnow@winnow.invalid/x":                                "the server cannot be reached: its name could not be resolved",
	} {
		_, err := Open(t.Context(), address, Options{})
		var storage *history.StorageError
		if !errors.As(err, &storage) || storage.Reason != reason || storage.Op != "open" {
			t.Errorf("%s: %v, want %q", address, err, reason)
		}
	}
}

// What the server refuses is a *StorageError that says why; reading goes on.
func TestRefusalsOfTheServerAreNamed(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	put := func() error {
		return s.Commit(t.Context(), &assistant.Batch{Put: []*assistant.Pair{{Session: "s"}}})
	}
	must(t, put())
	for state, reason := range map[string]string{"53100": "the server's disk is full", "57014": "the server took too long", "25006": "the server is read-only"} {
		raise := fmt.Sprintf("CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'x' USING ERRCODE = '%s'; END $$", state)
		run(t, s, raise)
		run(t, s, "CREATE OR REPLACE TRIGGER refuse BEFORE INSERT ON pair EXECUTE FUNCTION refuse()")
		var storage *history.StorageError
		if err := put(); !errors.As(err, &storage) || storage.Reason != reason || storage.Op != "write" {
			t.Errorf("%s: %v, want %q", state, err, reason)
		}
		if refs, err := s.Refs(t.Context(), "s", 3.5); err != nil || len(refs) != 1 {
			t.Errorf("%s: %d pairs are read, %v", state, len(refs), err)
		}
	}
	run(t, s, "DROP TRIGGER refuse ON pair")
	must(t, put())
}

// A server that is read-only, such as a standby, is opened for reading.
func TestAReadOnlyServerIsRead(t *testing.T) {
	t.Parallel()
	address := needServer(t).newDatabase(t)
	var storage *history.StorageError
	if _, err := Open(t.Context(), address+"&default_transaction_read_only=on", Options{}); !errors.As(err, &storage) || !strings.Contains(storage.Reason, "it contains no history") {
		t.Errorf("Open of an empty database: %v", err)
	}
	p := &assistant.Pair{Session: "s", UserText: "q"}
	s := openAt(t, address, Options{})
	must(t, s.Commit(t.Context(), &assistant.Batch{Put: []*assistant.Pair{p}}))
	reader := openAt(t, address+"&default_transaction_read_only=on", Options{})
	if !errors.As(reader.Report().ReadOnly, &storage) {
		t.Errorf("ReadOnly = %v", reader.Report().ReadOnly)
	}
	got, err := reader.Load(t.Context(), []int64{p.Seq})
	if err != nil || len(got) != 1 || got[0].UserText != "q" {
		t.Errorf("Load = %+v, %v", got, err)
	}
	if err := reader.SaveDraft(t.Context(), "k", history.Draft{Text: "x"}); !errors.As(err, &storage) || storage.Op != "write" {
		t.Errorf("a write: %v, want a *StorageError", err)
	}
}

// A server that has vanished: connections are accepted, or open already, and nothing is
// answered. relay forwards to the server until it is silenced.
type relay struct {
	net.Listener
	silent chan struct{}
	once   sync.Once
}

func newRelay(t *testing.T, socket string) *relay {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	must(t, err)
	r := &relay{Listener: listener, silent: make(chan struct{})}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { _ = client.Close() })
			server, err := new(net.Dialer).DialContext(context.WithoutCancel(t.Context()), "unix", socket)
			if err != nil {
				return
			}
			t.Cleanup(func() { _ = server.Close() })
			go r.forward(server, client)
			go r.forward(client, server)
		}
	}()
	return r
}

// forward copies until the relay is silenced, and then nothing; the connection stays open.
func (r *relay) forward(to io.Writer, from io.Reader) {
	piece := make([]byte, 32<<10)
	for {
		n, err := from.Read(piece)
		select {
		case <-r.silent:
			return
		default:
		}
		if err != nil {
			return
		}
		if _, err := to.Write(piece[:n]); err != nil {
			return
		}
	}
}

func (r *relay) silence() { r.once.Do(func() { close(r.silent) }) }

// silencedStore is a store whose server answers until the relay is silenced, and what
// OnWait was called with.
func silencedStore(t *testing.T) (*store, *relay, chan bool) {
	t.Helper()
	own := newHistory(t)
	r := newRelay(t, filepath.Join(shared.dir, ".s.PGSQL.5432"))
	u, err := url.Parse(own)
	must(t, err)
	u.Host, u.RawQuery = r.Addr().String(), "sslmode=disable"
	waits := make(chan bool, 100)
	return openAt(t, u.String(), Options{OnWait: func(waiting bool) { waits <- waiting }}), r, waits
}

// A server that does not answer is given up in a bounded time, which is told; the next
// operations are given up sooner, and one whose user gives up ends at once.
func TestAServerThatDoesNotAnswerIsGivenUp(t *testing.T) {
	t.Parallel()
	s, r, waits := silencedStore(t)
	p := &assistant.Pair{Session: "s", UserText: "before"}
	put := func(ctx context.Context) error {
		return s.Commit(ctx, &assistant.Batch{Put: []*assistant.Pair{{Session: "s"}}})
	}
	must(t, s.Commit(t.Context(), &assistant.Batch{Put: []*assistant.Pair{p}}))
	r.silence()
	for len(waits) > 0 {
		<-waits
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- put(ctx) }()
	if !<-waits {
		t.Error("OnWait(false) came first")
	}
	cancel() // as Esc does
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("a write that was given up: %v", err)
	}
	if <-waits {
		t.Error("OnWait(true) came again before its end")
	}
	var took [2]time.Duration
	for i, op := range []func() error{
		func() error { return put(t.Context()) },
		func() error { _, err := s.Load(t.Context(), []int64{p.Seq}); return err },
	} {
		began := time.Now()
		err := op()
		took[i] = time.Since(began)
		var storage *history.StorageError
		if !errors.As(err, &storage) || storage.Reason != errNoAnswer.Error() {
			t.Errorf("operation %d: %v, want that the server does not answer", i, err)
		}
	}
	if n := s.pool.Stat().AcquiredConns(); n > 0 {
		t.Errorf("%d connections are in use after all has ended", n)
	}
	if took[1] > took[0]/2 {
		t.Errorf("the first operation was given up after %v, the next one after %v", took[0], took[1])
	}
}

// The same where nothing was ever answered.
func TestAnAddressThatDoesNotAnswerIsGivenUp(t *testing.T) {
	t.Parallel()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0") // nobody accepts
	must(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	_, err = Open(t.Context(), "postgres://winnow@"+listener.Addr().String()+"/x?sslmode=disable", Options{})
	var storage *history.StorageError
	if !errors.As(err, &storage) || storage.Op != "open" {
		t.Errorf("Open = %v, want a *StorageError", err)
	}
}

// A role that may only read opens and reads, hears of changes, and says why it does not
// write; before the schema is up to date it says who can bring it there.
func TestARoleThatMayOnlyReadReads(t *testing.T) {
	addresses := newTeam(t)
	owner := openAt(t, addresses.owner, Options{})
	u, err := url.Parse(addresses.anna)
	must(t, err)
	anna := u.User.Username()
	run(t, owner, "REVOKE ALL ON ALL TABLES IN SCHEMA winnow FROM "+anna)
	run(t, owner, "REVOKE ALL ON ALL SEQUENCES IN SCHEMA winnow FROM "+anna)
	run(t, owner, "GRANT SELECT ON ALL TABLES IN SCHEMA winnow TO "+anna)
	p := &assistant.Pair{Session: "s", UserText: "which models?", AssistantText: "these", State: assistant.PairComplete}
	must(t, owner.Commit(t.Context(), &assistant.Batch{Put: []*assistant.Pair{p}}))

	reader := openAt(t, addresses.anna, Options{})
	reason := "the database role " + anna + " may only read"
	var storage *history.StorageError
	if !errors.As(reader.Report().ReadOnly, &storage) || storage.Reason != reason {
		t.Errorf("ReadOnly = %v, want %q", reader.Report().ReadOnly, reason)
	}
	got, err := reader.Load(t.Context(), []int64{p.Seq})
	if err != nil || len(got) != 1 || got[0].UserText != "which models?" {
		t.Errorf("Load = %+v, %v", got, err)
	}
	if found := selects(t, reader, "c'models'"); len(found) != 1 {
		t.Errorf("a line finds %v", found)
	}
	if _, err := reader.Requests(t.Context(), p.Seq); err != nil {
		t.Error(err)
	}
	if err := reader.SaveDraft(t.Context(), "k", history.Draft{Text: "x"}); !errors.As(err, &storage) || storage.Op != "write" || storage.Reason != reason {
		t.Errorf("a write: %v, want %q", err, reason)
	}
	must(t, owner.Commit(t.Context(), &assistant.Batch{Put: []*assistant.Pair{{Session: "s", UserText: "later"}}}))
	<-reader.Changes()
	if refs, err := reader.Refs(t.Context(), "s", 3.5); err != nil || len(refs) != 2 {
		t.Errorf("after a change there are %d pairs, %v", len(refs), err)
	}

	run(t, owner, "UPDATE meta SET version = version - 1")
	if _, err := Open(t.Context(), addresses.anna, Options{}); !errors.As(err, &storage) || !strings.Contains(storage.Reason, "open it once with write access") {
		t.Errorf("an older schema: %v", err)
	}
}
