package history

import (
	"context"
	"database/sql"
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
	// maxReaders is how many queries run beside each other: filter, list and counter.
	maxReaders = 4
	// quietTime is how long after Open background work begins: who just started
	// winnow waits for the screen, and winnow ask is over by then as a rule.
	quietTime = time.Second
	// walPages is when a commit copies the log into the database itself, in
	// pages of 4 KiB. Background work does so earlier.
	walPages = 16_000
)

// Options configures Open. The zero value is ready to use.
type Options struct {
	Now func() time.Time // nil means time.Now
	Log *slog.Logger     // nil means no log
	// OnDamage is called once, from a goroutine of the store, when the database
	// was found damaged while it is open. nil is not called.
	OnDamage func(*DamageError)
	// Redact takes secrets out of every text before it is stored: pairs,
	// requests, drafts, sent and queued messages. It is called from any
	// goroutine, also on JSON, which must stay JSON. nil changes nothing.
	Redact func(string) string

	step     func(name string) // called before each step of creation, migration and salvage
	noIndex  bool              // leaves texts out of the full-text index
	restless bool              // begins background work at once
}

// quiet is how long background work waits.
func (o Options) quiet() time.Duration {
	if o.restless {
		return 0
	}
	return quietTime
}

// Report is what Open found and did.
type Report struct {
	Repaired    []string // modes that let others read, now repaired
	Interrupted int      // pairs that a dead process left in state sending
	Migrated    int      // the version the database had before; 0: it was current or new
	Copy        string   // the copy made before migrating; "" is none
	Salvage     *Salvage // what became of a damaged database; nil: there was no damage
	// LostLog says that the -wal file of a process that died is missing or
	// empty: what it wrote last may be lost.
	LostLog bool
	// ReadOnly is why nothing can be written: the store only reads. nil: it writes.
	ReadOnly error
}

// SQLite is a Store in one database file. Its methods are safe from any goroutine.
type SQLite struct {
	path    string
	run     string // folder of owners, lock and state
	options Options
	report  Report
	owner   *owner
	writer  *writer
	readers *sql.DB
	writes  *sql.DB

	revision atomic.Int64  // meta.rev as this process knows it
	commits  atomic.Int64  // since the log was last copied into the database
	changed  chan struct{} // has a token after a commit

	background sync.WaitGroup
	leaving    sync.Mutex      // between start of a goroutine and Close
	ctx        context.Context // ends with Close
	cancel     context.CancelFunc
	damage     sync.Once
	firstWrite sync.Once
}

// Open opens the database at path and creates it when there is none. It repairs
// wide file modes, migrates an older form after a copy, ends what dead processes
// left in state sending, and salvages a damaged file; Report tells. Where nothing
// can be written it opens a database that is whole to be read.
//
// It returns a *NewerSchemaError, a *FileError or a *StorageError for what it
// cannot use, and ctx's error when another process takes too long to open the
// same database.
func Open(ctx context.Context, path string, o Options) (*SQLite, error) {
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
	s := &SQLite{path: path, run: path + ".run", options: o, changed: make(chan struct{}, 1)}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	if err := s.prepareFiles(); err != nil {
		return nil, err
	}
	opening, err := s.openLocked(ctx)
	if opening != nil {
		defer opening.Close()
	}
	if err != nil {
		s.abandon()
		return s.openReadOnly(ctx, s.explain("open", err))
	}
	s.start(s.runBackground)
	return s, nil
}

// Report tells what Open found and did.
func (s *SQLite) Report() Report { return s.report }

// Path is the absolute path of the database.
func (s *SQLite) Path() string { return s.path }

func (s *SQLite) now() time.Time { return s.options.Now() }

// step tells a test what comes next.
func (s *SQLite) step(name string) {
	if s.options.step != nil {
		s.options.step(name)
	}
}

// openLocked takes the open lock, which the caller closes, and opens.
func (s *SQLite) openLocked(ctx context.Context) (opening interface{ Close() error }, err error) {
	lock, err := lockOpening(ctx, s.run)
	if err != nil {
		return nil, err
	}
	if s.owner, err = newOwner(s.run, s.now()); err != nil {
		return lock, err
	}
	return lock, s.open(ctx)
}

// open inspects the file, salvages it when it is damaged, and connects.
func (s *SQLite) open(ctx context.Context) error {
	living, dead, err := countOwners(s.run, s.owner)
	if err != nil {
		return err
	}
	var found inspection
	if living == 0 { // otherwise somebody has it open, and inspected it
		if found, err = s.inspect(ctx); err != nil {
			return err
		}
		if found.damage != nil {
			if err := s.salvage(ctx, found.damage); err != nil {
				return err
			}
		}
	}
	s.step("create the file")
	if err := createFile(s.path); err != nil {
		return err
	}
	logged := size(s.path+"-wal") > 0
	err = s.attach(ctx)
	if living == 0 && err != nil && (damaged(err) || code(err) == codeError || code(err) == codeConstraint) {
		// What inspection let pass, working with it found: a migration that fails
		// is one of a schema that is not what its version says.
		_ = s.disconnect() // the salvage goes on
		if err = s.salvage(ctx, err); err == nil {
			err = s.attach(ctx)
		}
	}
	if err != nil {
		return err
	}
	if living == 0 {
		state := fileState{phase: phaseOpen, unchecked: found.unsure}
		if logged {
			state.phase = phaseWritten
		}
		s.writeState(state)
	}
	for _, path := range dead {
		os.Remove(path)
	}
	if found.unsure {
		s.start(s.checkLater)
	}
	return nil
}

// attach connects and ends what dead processes left unfinished.
func (s *SQLite) attach(ctx context.Context) error {
	if err := s.connect(ctx); err != nil {
		return err
	}
	s.step("end interrupted pairs")
	if err := s.endInterrupted(ctx); err != nil {
		return err
	}
	_, err := s.Refresh(ctx) // so that Revision is known
	return err
}

// dsn names a connection to the database.
func dsn(path string, pragmas ...string) string {
	q := url.Values{"_dqs": {"0"}, "_defensive": {"1"}}
	q["_pragma"] = append([]string{fmt.Sprintf("busy_timeout(%d)", busyTimeout.Milliseconds())}, pragmas...)
	return (&url.URL{Scheme: "file", Path: path, RawQuery: q.Encode()}).String()
}

// connect opens the connections and brings the schema up to date.
func (s *SQLite) connect(ctx context.Context) (err error) {
	s.step("connect")
	s.writes, err = sql.Open("sqlite", dsn(s.path,
		"journal_mode(WAL)", "synchronous(FULL)", fmt.Sprintf("wal_autocheckpoint(%d)", walPages), "secure_delete(FAST)"))
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
	return s.connectReaders(dsn(s.path, "query_only(1)"), maxReaders)
}

func (s *SQLite) connectReaders(dsn string, most int) (err error) {
	if s.readers, err = sql.Open("sqlite", dsn); err != nil {
		return fmt.Errorf("history: open: %w", err)
	}
	s.readers.SetMaxOpenConns(most)
	s.readers.SetMaxIdleConns(most)
	return nil
}

// endInterrupted ends the pairs whose owner died while sending them. An owner is
// alive before it owns a pair, so one that is not alive now will never be.
func (s *SQLite) endInterrupted(ctx context.Context) error {
	err := s.writer.inTx(ctx, func(t *tx) error {
		owned, err := keyed[int64, string](t, "SELECT seq, owner FROM pair WHERE owner IS NOT NULL")
		var seqs []int64
		for seq, token := range owned {
			lives, err := alive(s.run, token)
			if err != nil {
				return err
			}
			if !lives {
				seqs = append(seqs, seq)
			}
		}
		if err != nil || len(seqs) == 0 {
			return err
		}
		c, err := s.newChange(t)
		if err != nil {
			return err
		}
		paths, err := t.topicPaths()
		if err != nil {
			return err
		}
		var ended []assistant.Pair
		err = t.pairs(seqs, paths, func(p assistant.Pair, damaged bool) error {
			endInterrupted(&p)
			if damaged { // it gets a new sum
				p.Notice = DamagedText
			}
			ended = append(ended, p)
			return nil
		})
		for i := range ended {
			if err == nil {
				err = c.put(&ended[i], false)
			}
		}
		s.report.Interrupted = len(ended)
		return err
	})
	if err != nil {
		return fmt.Errorf("history: end interrupted pairs: %w", err)
	}
	return nil
}

// start runs f in a goroutine that Close waits for; once Close has begun, not at all.
func (s *SQLite) start(f func()) {
	s.leaving.Lock()
	defer s.leaving.Unlock()
	if s.ctx.Err() == nil {
		s.background.Go(f)
	}
}

// written is called after each durable transaction, by who may use the writer.
func (s *SQLite) written() {
	s.commits.Add(1)
	s.firstWrite.Do(func() {
		state := s.readState()
		state.phase = phaseWritten
		s.writeState(state)
	})
	select {
	case s.changed <- struct{}{}:
	default:
	}
}
