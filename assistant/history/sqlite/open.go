package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gofrs/flock"
	modernc "modernc.org/sqlite"

	"winnow/assistant/history"
	"winnow/assistant/history/sqlstore"
)

const (
	// busyTimeout limits the wait for a transaction of another process. The longest transaction, a batch of an import,
	// takes a fraction of this time.
	busyTimeout = 20 * time.Second
	maxReaders  = 4 // the number of concurrent queries
	// checkDelay is the time after Open at which a large database is checked. By then the first screen has been
	// drawn, and a command such as winnow ask has usually ended.
	checkDelay = time.Second
)

// Options configures Open. The zero value is ready to use.
type Options struct {
	Now func() time.Time // nil means time.Now
	Log *slog.Logger     // nil means no log
	// OnDamage is called once, from a goroutine of the store, if the database is found damaged while it is open. It
	// may be nil.
	OnDamage func(*history.DamageError)
	// Redact removes secrets from every text before it is stored. It may be called from any goroutine. If the text is
	// JSON, it must return JSON. nil means that nothing is removed.
	Redact func(string) string

	step    func(name string) // for tests: called before each step of creation, migration and salvage
	noDelay bool              // for tests: check a large database immediately
}

// store is a history.Store in a single SQLite file.
type store struct {
	sqlstore.Store

	path    string
	runDir  string // the folder of the owner locks and the open lock
	options Options
	report  history.Report
	owner   *owner
	writer  *writer // nil if the store is read-only
	readDB  *sql.DB
	writeDB *sql.DB // holds the single connection of writer

	background sync.WaitGroup // runs checkLater
	closed     atomic.Bool
	ctx        context.Context // cancelled by Close
	cancel     context.CancelFunc
	damageOnce sync.Once

	usedBefore bool        // true if the run folder existed before this Open
	unread     bool        // true if the database is damaged and could not be salvaged
	checkDue   atomic.Bool // true if every page has to be checked in the background
	marked     bool        // true if the database is marked as not closed; guarded by writer
}

// Open opens the SQLite database at path, and creates it if it does not exist. Open restricts file modes that are too
// permissive, upgrades an older schema after a backup, marks as interrupted the pairs that crashed processes left in
// state sending, and salvages a damaged file; see Report. If nothing can be written, it opens an undamaged database for
// reading only.
//
// If Open cannot use the database, it returns a *history.NewerSchemaError, a *history.OlderSchemaError, a
// *history.FileError or a *history.StorageError. If ctx ends while another process is opening or closing the same
// database, the error wraps the error of ctx.
func Open(ctx context.Context, path string, o Options) (history.Store, error) {
	s, err := openStore(ctx, path, o)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// unopened returns a store that is not connected.
func unopened(path string, o Options) *store {
	s := &store{path: path, runDir: path + ".run", options: o}
	s.Engine, s.Dialect, s.Options = s, sqlDialect, sqlstore.Options{Now: o.Now, Redact: o.Redact}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	return s
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
	s := unopened(path, o)
	if err = s.prepareFiles(); err == nil {
		var lock *flock.Flock
		if lock, err = lockOpening(ctx, s.runDir); err == nil {
			defer lock.Close()
			if s.owner, err = newOwner(s.runDir, o.Now()); err == nil {
				err = s.open(ctx)
			}
		}
	}
	if err != nil {
		s.abandon()
		return s.openReadOnly(ctx, s.explain("open", err))
	}
	if s.checkDue.Load() {
		s.background.Go(s.checkLater)
	}
	return s, nil
}

func (s *store) Report() history.Report { return s.report }

func (s *store) Path() string { return s.path }

// step announces the next step to a test.
func (s *store) step(name string) {
	if s.options.step != nil {
		s.options.step(name)
	}
}

// open inspects the file, salvages it if it is damaged, and connects. The caller holds the open lock.
func (s *store) open(ctx context.Context) error {
	others, dead, err := listOwners(s.runDir, s.owner)
	if err != nil {
		return err
	}
	if others == 0 { // if there are others, one of them has already inspected the database
		damage, err := s.inspect(ctx)
		if err == nil && damage != nil {
			err = s.salvage(ctx, damage)
		}
		if err != nil {
			return err
		}
	}
	if fileSize(s.path) <= 0 {
		if err := s.create(ctx); err != nil {
			return err
		}
	}
	err = s.connect(ctx)
	if c := code(err); others == 0 && (damaged(err) || c == codeError || c == codeConstraint) {
		// No other process changes the database, so the failed statement found damage that the inspection missed.
		s.recordDamage(err) // if the salvage fails, the next Open must not find a missing WAL, which disconnect removes
		_ = s.disconnect()  // salvage must not have a connection open
		if err = s.salvage(ctx, err); err == nil {
			err = s.connect(ctx)
		}
	}
	if err != nil {
		return err
	}
	for _, path := range dead {
		os.Remove(path)
	}
	return nil
}

// writableSchema is a pragma that makes SQLite read a truncated file to its end.
const writableSchema = "writable_schema(1)"

// dsn returns the data source name of a connection to the database.
func dsn(path string, pragmas ...string) string {
	q := url.Values{"_dqs": {"0"}, "_defensive": {"1"}}
	if slices.Contains(pragmas, writableSchema) { // SQLite ignores the pragma in defensive mode
		q.Set("_defensive", "0")
	}
	q["_pragma"] = append([]string{fmt.Sprintf("busy_timeout(%d)", busyTimeout.Milliseconds())}, pragmas...)
	return (&url.URL{Scheme: "file", Path: path, RawQuery: q.Encode()}).String()
}

// connect opens the connections, upgrades the schema, and marks as interrupted the pairs that crashed processes left
// unfinished.
func (s *store) connect(ctx context.Context) (err error) {
	s.step("connect")
	s.writeDB, err = sql.Open("sqlite", dsn(s.path,
		"journal_mode(WAL)", "synchronous(FULL)", "secure_delete(FAST)"))
	if err != nil {
		return fmt.Errorf("history: open: %w", err)
	}
	s.writeDB.SetMaxOpenConns(1)
	c, err := s.writeDB.Conn(ctx)
	if err != nil {
		return fmt.Errorf("history: open %s: %w", s.path, err)
	}
	s.writer = newWriter(c)
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
	_, err = s.Refresh(ctx) // initialises Revision
	return err
}

func (s *store) connectReaders(dsn string, maxConns int) (err error) {
	if s.readDB, err = sql.Open("sqlite", dsn); err != nil {
		return fmt.Errorf("history: open: %w", err)
	}
	s.readDB.SetMaxOpenConns(maxConns)
	s.readDB.SetMaxIdleConns(maxConns)
	return nil
}

// endInterrupted marks as interrupted the pairs of processes that died while they were sending them. An owner locks its
// file before it owns a pair, so an owner that is not alive now will never be alive again.
func (s *store) endInterrupted(t *sqlstore.Tx) {
	var seqs []int64
	for seq, token := range sqlstore.Keyed[int64, string](t, "SELECT seq, owner FROM pair WHERE owner IS NOT NULL") {
		isAlive, err := alive(s.runDir, token)
		t.Fail(err)
		if !isAlive {
			seqs = append(seqs, seq)
		}
	}
	if len(seqs) == 0 {
		return
	}
	s.markUnclean(t)
	s.report.Interrupted, s.report.InterruptedIn = s.NewChange(t).EndInterrupted(seqs)
}

// openReadOnly connects to a database that cannot be written because of cause. If the shared memory file is missing and
// cannot be created, SQLite can read the database only in exclusive locking mode or, if the database was closed, as an
// immutable file.
func (s *store) openReadOnly(ctx context.Context, cause error) (*store, error) {
	var storage *history.StorageError
	if !errors.As(cause, &storage) || s.unread || fileSize(s.path) <= 0 || errors.Is(cause, context.Canceled) {
		return nil, cause
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.writer, s.writeDB, s.owner = nil, nil, nil
	s.report.ReadOnly = &history.StorageError{Op: "write", Path: s.path, Reason: storage.Reason, Err: cause}
	names := []string{dsn(s.path, "query_only(1)") + "&mode=ro", dsn(s.path, "locking_mode(EXCLUSIVE)", "query_only(1)")}
	if fileSize(s.path+"-wal") <= 0 && fileSize(s.path+"-journal") <= 0 {
		names = append(names, dsn(s.path, "query_only(1)")+"&mode=ro&immutable=1")
	}
	for _, name := range names {
		if err := s.connectReaders(name, 1); err != nil {
			return nil, cause
		}
		var version int
		err := s.readDB.QueryRowContext(ctx, "SELECT version FROM meta").Scan(&version)
		if err == nil && version == schemaVersion {
			_, err = s.Refresh(ctx)
			return s, err
		}
		s.readDB.Close()
		if err == nil { // the version differs, so the database would have to be upgraded first
			return nil, cause
		}
	}
	return nil, cause
}

// Close does not change a pair in state sending; the next Open marks the pair as interrupted.
func (s *store) Close() error {
	if s.closed.Swap(true) {
		return nil
	}
	s.cancel()
	s.background.Wait()
	if s.writer == nil {
		return s.disconnect()
	}
	s.writer.turn <- struct{}{} // never released, so that no more writes can begin
	defer s.owner.release()
	ctx, cancel := context.WithTimeout(context.Background(), closeWait)
	defer cancel()
	opening, err := lockOpening(ctx, s.runDir)
	if err != nil { // for example, another process is opening the database and will use the WAL
		s.keepWAL()
		return s.disconnect()
	}
	defer opening.Close()
	return s.disconnectAndRecord()
}

// disconnectAndRecord closes the database. The last process records that the database was closed and copies the WAL
// into the database. The caller holds the open lock.
func (s *store) disconnectAndRecord() error {
	others, _, err := listOwners(s.runDir, s.owner)
	if err == nil && others > 0 {
		return s.disconnect()
	}
	if err == nil {
		err = s.markClean()
	}
	if err != nil {
		s.options.Log.Warn("history: the database could not be marked as closed", "err", err)
		s.keepWAL()
	}
	return s.disconnect()
}

// keepWAL makes disconnect leave the WAL in place. The next Open would report a database that is not marked as closed
// and has no WAL as one that has lost its WAL.
func (s *store) keepWAL() {
	err := s.writer.Raw(func(c any) error {
		_, err := c.(modernc.FileControl).FileControlPersistWAL("main", 1)
		return err
	})
	if err != nil {
		s.options.Log.Warn("history: the -wal file may be removed", "err", err)
	}
}

func (s *store) disconnect() error {
	var errs []error
	if s.readDB != nil {
		errs = append(errs, s.readDB.Close())
	}
	if s.writer != nil {
		errs = append(errs, s.writer.close())
	}
	if s.writeDB != nil {
		errs = append(errs, s.writeDB.Close())
	}
	return errors.Join(errs...)
}

// abandon cleans up after a failed Open. If the store took the open lock, abandon must be called before the lock is
// released. After the loss of a WAL, the unclean mark stays, so that the next Open reports the loss again.
func (s *store) abandon() {
	s.cancel()
	if s.owner == nil {
		return
	}
	if s.writer == nil || s.report.LostWAL {
		_ = s.disconnect() // Open returns the more useful error
	} else {
		_ = s.disconnectAndRecord()
	}
	s.owner.release()
}
