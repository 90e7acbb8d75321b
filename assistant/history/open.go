package history

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"winnow/assistant"
)

const (
	// busyTimeout bounds the wait for another process's transaction. The
	// longest of ours, a batch of an import, takes a fraction of it.
	busyTimeout = 20 * time.Second
	maxReaders  = 4 // queries that run beside each other
	// backgroundDelay is how long after Open background work begins: the screen comes
	// first, and winnow ask is usually over by then.
	backgroundDelay = time.Second
)

// Options configures Open. The zero value is ready to use.
type Options struct {
	Now func() time.Time // nil means time.Now
	Log *slog.Logger     // nil means no log
	// OnDamage is called once, from a goroutine of the store, when the database
	// is found damaged while it is open. nil is not called.
	OnDamage func(*DamageError)
	// Redact takes secrets out of every text before it is stored. It is called from
	// any goroutine, also on JSON, which must stay JSON. nil changes nothing.
	Redact func(string) string

	step         func(name string) // called before each step of creation, migration and salvage
	noIndex      bool              // leaves texts out of the full-text index
	noDelay      bool              // begins background work at once
	noBackground bool              // begins no background work at all
}

// delay is how long background work waits.
func (o Options) delay() time.Duration {
	if o.noDelay {
		return 0
	}
	return backgroundDelay
}

// Report is what opening a store found and did.
type Report struct {
	Repaired    []string // files that others could read, a sentence each
	Interrupted int      // pairs that a dead process left in state sending
	Migrated    int      // the version of the schema before; 0: it was current or new
	Copy        string   // the copy made before migrating; "" is none
	Salvage     *Salvage // nil: there was no damage
	// LostLog says that the -wal file of a process that died is missing or empty:
	// what was committed last may be lost.
	LostLog bool
	// ReadOnly is why nothing can be written; nil: the store writes.
	ReadOnly error
}

// store is a Store in one SQLite file.
type store struct {
	path    string
	run     string // folder of owners, lock and state
	options Options
	report  Report
	inDoubt bool // a check of every page is due
	owner   *owner
	writer  *writer // nil: read-only
	readers *sql.DB
	writes  *sql.DB

	revision atomic.Int64  // meta.rev as this process knows it
	changed  chan struct{} // has a token after a commit

	background sync.WaitGroup
	closing    sync.Mutex      // between the start of a goroutine and Close
	ctx        context.Context // ends with Close
	cancel     context.CancelFunc
	damage     sync.Once
	firstWrite sync.Once
}

// Open opens the SQLite database at path and creates it when there is none. It
// repairs wide file modes, migrates an older schema after a copy, ends what dead
// processes left in state sending, and salvages a damaged file; see Report.
// Where nothing can be written it opens a sound database for reading.
//
// It returns a *NewerSchemaError, a *FileError or a *StorageError for what it
// cannot use, and ctx's error when another process takes too long to open the
// same database.
func Open(ctx context.Context, path string, o Options) (Store, error) {
	s, err := openStore(ctx, path, o)
	if err != nil {
		return nil, err
	}
	return s, nil
}

func openStore(ctx context.Context, path string, o Options) (*store, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("history: %w", err)
	}
	s := &store{path: path, run: path + ".run", options: o, changed: make(chan struct{}, 1)}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	if err := s.prepareFiles(); err != nil {
		return nil, err
	}
	lock, err := lockOpening(ctx, s.run)
	if err == nil {
		defer lock.Close()
		if s.owner, err = newOwner(s.run, o.Now()); err == nil {
			err = s.open(ctx)
		}
	}
	if err != nil {
		s.abandon()
		return s.openReadOnly(ctx, s.explain("open", err))
	}
	if !o.noBackground {
		s.start(s.runBackground)
	}
	return s, nil
}

func (s *store) Report() Report { return s.report }

func (s *store) Path() string { return s.path }

func (s *store) Redact(text string) string {
	if s.options.Redact == nil {
		return text
	}
	return s.options.Redact(text)
}

// step notifies a test of what comes next.
func (s *store) step(name string) {
	if s.options.step != nil {
		s.options.step(name)
	}
}

// open inspects the file, salvages it when it is damaged, and connects, under the open lock.
func (s *store) open(ctx context.Context) error {
	living, dead, err := countOwners(s.run, s.owner)
	if err != nil {
		return err
	}
	if living == 0 { // otherwise somebody has it open, and inspected it
		damage, err := s.inspect(ctx)
		if err == nil && damage != nil {
			err = s.salvage(ctx, damage)
		}
		if err != nil {
			return err
		}
	}
	s.step("create the file")
	if err := createFile(s.path); err != nil {
		return err
	}
	logged := size(s.path+"-wal") > 0
	err = s.connect(ctx)
	if c := code(err); living == 0 && (damaged(err) || c == codeError || c == codeConstraint) {
		// Nobody else changes the database, so a statement that fails met what the
		// inspection did not find.
		_ = s.disconnect() // the salvage goes on
		if err = s.salvage(ctx, err); err == nil {
			err = s.connect(ctx)
		}
	}
	if err != nil {
		return err
	}
	if living == 0 {
		state := fileState{Phase: phaseOpen}
		if logged {
			state.Phase = phaseWritten
		}
		s.writeState(state)
	}
	for _, path := range dead {
		os.Remove(path)
	}
	return nil
}

// dsn names a connection to the database.
func dsn(path string, pragmas ...string) string {
	q := url.Values{"_dqs": {"0"}, "_defensive": {"1"}}
	q["_pragma"] = append([]string{fmt.Sprintf("busy_timeout(%d)", busyTimeout.Milliseconds())}, pragmas...)
	return (&url.URL{Scheme: "file", Path: path, RawQuery: q.Encode()}).String()
}

// connect opens the connections, brings the schema up to date and ends what dead
// processes left unfinished.
func (s *store) connect(ctx context.Context) (err error) {
	s.step("connect")
	s.writes, err = sql.Open("sqlite", dsn(s.path,
		"journal_mode(WAL)", "synchronous(FULL)", "secure_delete(FAST)"))
	if err != nil {
		return fmt.Errorf("history: open: %w", err)
	}
	s.writes.SetMaxOpenConns(1)
	conn, err := s.writes.Conn(ctx)
	if err != nil {
		return fmt.Errorf("history: open %s: %w", s.path, err)
	}
	s.writer = newWriter(conn)
	s.step("upgrade")
	if err := s.upgrade(ctx); err != nil {
		return err
	}
	if err := s.connectReaders(dsn(s.path, "query_only(1)"), maxReaders); err != nil {
		return err
	}
	s.step("end interrupted pairs")
	if err := s.writer.inTx(ctx, s.endInterrupted); err != nil {
		return fmt.Errorf("history: end interrupted pairs: %w", err)
	}
	_, err = s.Refresh(ctx) // so that Revision is known
	return err
}

func (s *store) connectReaders(dsn string, most int) (err error) {
	if s.readers, err = sql.Open("sqlite", dsn); err != nil {
		return fmt.Errorf("history: open: %w", err)
	}
	s.readers.SetMaxOpenConns(most)
	s.readers.SetMaxIdleConns(most)
	return nil
}

// endInterrupted ends the pairs whose owner died while sending them. An owner is
// alive before it owns a pair, so one that is not alive now never will be.
func (s *store) endInterrupted(t *tx) {
	var seqs []int64
	for seq, token := range keyed[int64, string](t, "SELECT seq, owner FROM pair WHERE owner IS NOT NULL") {
		lives, err := alive(s.run, token)
		t.fail(err)
		if !lives {
			seqs = append(seqs, seq)
		}
	}
	if len(seqs) == 0 {
		return
	}
	var ended []assistant.Pair
	t.pairs(seqs, func(p assistant.Pair, _ bool) {
		endInterrupted(&p)
		ended = append(ended, p)
	})
	c := s.newChange(t)
	for i := range ended {
		c.put(&ended[i], false)
	}
	s.report.Interrupted = len(ended)
}

// start runs f in a goroutine that Close waits for; once Close has begun, not at all.
func (s *store) start(f func()) {
	s.closing.Lock()
	defer s.closing.Unlock()
	if s.ctx.Err() == nil {
		s.background.Go(f)
	}
}

// written is called after each durable transaction, by who may use the writer.
func (s *store) written() {
	s.firstWrite.Do(func() { s.writeState(fileState{Phase: phaseWritten}) })
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// openReadOnly connects to a database that cannot be written, why being the
// error. Without a shared memory file, which cannot be created then, SQLite
// reads with the lock for itself.
func (s *store) openReadOnly(ctx context.Context, why error) (*store, error) {
	var storage *StorageError
	if !errors.As(why, &storage) || size(s.path) <= 0 || errors.Is(why, context.Canceled) {
		return nil, why
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.writer, s.writes, s.owner = nil, nil, nil
	s.report = Report{Repaired: s.report.Repaired, ReadOnly: why}
	for _, name := range []string{dsn(s.path, "query_only(1)") + "&mode=ro", dsn(s.path, "locking_mode(EXCLUSIVE)", "query_only(1)")} {
		if err := s.connectReaders(name, 1); err != nil {
			return nil, why
		}
		var version int
		err := s.readers.QueryRowContext(ctx, "SELECT version FROM meta").Scan(&version)
		if err == nil && version == schemaVersion {
			return s, nil
		}
		s.readers.Close()
	}
	return nil, why
}

// Close leaves a pair in state sending as it is: the next Open ends it.
func (s *store) Close() error {
	s.closing.Lock()
	closed := s.ctx.Err() != nil
	s.cancel()
	s.closing.Unlock()
	s.background.Wait()
	if closed || s.writer == nil {
		return s.disconnect()
	}
	s.writer.turn <- struct{}{} // for good: nobody writes any more
	defer s.owner.leave()
	ctx, cancel := context.WithTimeout(context.Background(), closeWait)
	defer cancel()
	opening, err := lockOpening(ctx, s.run)
	if err != nil { // another opens; it connects, so the log stays
		return s.disconnect()
	}
	defer opening.Close()
	return s.disconnectNoting()
}

// disconnectNoting closes the database and notes how it looks, under the open
// lock. The last to close copies the log of all into the database.
func (s *store) disconnectNoting() error {
	living, _, err := countOwners(s.run, s.owner)
	if err != nil || living > 0 {
		return errors.Join(err, s.disconnect())
	}
	s.writeState(fileState{Phase: phaseClosing})
	err = s.disconnect()
	if size(s.path+"-wal") < 0 && err == nil {
		s.writeState(fileState{phaseClosed, s.fingerprint()})
	}
	return err
}

func (s *store) disconnect() error {
	var errs []error
	if s.readers != nil {
		errs = append(errs, s.readers.Close())
	}
	if s.writer != nil {
		errs = append(errs, s.writer.close())
	}
	if s.writes != nil {
		errs = append(errs, s.writes.Close())
	}
	return errors.Join(errs...)
}

// abandon undoes an Open that failed, under the open lock if it was taken. After
// a lost log the state stays, so that the next Open reports it again.
func (s *store) abandon() {
	s.cancel()
	s.background.Wait()
	if s.owner == nil {
		return
	}
	if s.writes == nil || s.report.LostLog {
		_ = s.disconnect() // why Open failed says more
	} else {
		_ = s.disconnectNoting()
	}
	s.owner.leave()
}
