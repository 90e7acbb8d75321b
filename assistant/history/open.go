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

	_ "modernc.org/sqlite" // the driver "sqlite"
)

const (
	// busyTimeout bounds the wait for another process's transaction. The
	// longest of ours, a batch of an import, takes a fraction of it.
	busyTimeout = 20 * time.Second
	// maxReaders is how many queries run beside each other: filter, list and counter.
	maxReaders = 4
	// settleTime is how long after Open background work begins: who just started
	// winnow waits for the screen, and winnow ask is over by then as a rule.
	settleTime = time.Second
	// walPages is when a commit copies the log into the database itself, in
	// pages of 4 KiB. The writer does so earlier, when it is idle.
	walPages = 16_000
)

// Options configures Open. The zero value is ready to use.
type Options struct {
	Now func() time.Time // nil means time.Now
	Log *slog.Logger     // nil means no log
	// OnDamage is told, once, from a goroutine of the store, that the database
	// was found damaged while it is open. nil tells nobody.
	OnDamage func(*DamageError)

	afterStep func(version int) // called inside the transaction of a step of migration
	noIndex   bool              // leaves texts out of the full-text index
	lookUpAll bool              // asks the full-text index even about few pairs
	restless  bool              // begins background work at once
}

// Report is what Open found and did.
type Report struct {
	Repaired    []string // modes that let others read, now repaired
	Interrupted int      // pairs that a dead process left in state sending
	Migrated    int      // the version the database had before; 0: it was current or new
	Copy        string   // the copy made before migrating; "" is none
	Salvage     *Salvage // what became of a damaged database; nil: there was no damage
	// LostLog says that the -wal file of a process that died is missing: what
	// it wrote last may be lost.
	LostLog bool
}

// Store is a database of pairs. Its methods are safe from any goroutine.
type Store struct {
	path    string
	run     string // folder of the owners
	options Options
	report  Report
	owner   *owner
	writer  *writer
	readers *sql.DB
	writes  *sql.DB
	index   *index

	background sync.WaitGroup
	leaving    sync.Mutex      // between later and Close
	ctx        context.Context // ends with Close
	cancel     context.CancelFunc
	damage     sync.Once
	vouched    atomic.Bool // this store found the file sound, when it opened it or later
}

// Open opens the database at path and makes it when there is none. It repairs
// wide file modes, migrates an older form after a copy, ends what dead processes
// left in state sending, and salvages a damaged file; Report tells.
//
// It returns a *NewerSchemaError or a *FileError for what it will not touch, and
// ctx's error when another process takes too long to open the same database.
func Open(ctx context.Context, path string, o Options) (*Store, error) {
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
	s := &Store{path: path, run: path + ".run", options: o}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	if err := s.prepareFiles(); err != nil {
		return nil, err
	}
	opening, err := lockOpening(ctx, s.run)
	if err != nil {
		return nil, err
	}
	defer opening.Close()
	if s.owner, err = newOwner(s.run, s.now()); err != nil {
		return nil, err
	}
	if err := s.open(ctx); err != nil {
		s.abandon()
		return nil, err
	}
	s.start()
	return s, nil
}

// Report tells what Open found and did.
func (s *Store) Report() Report { return s.report }

// Path is the absolute path of the database.
func (s *Store) Path() string { return s.path }

func (s *Store) now() time.Time { return s.options.Now() }

// prepareFiles makes the folders and checks names and modes.
func (s *Store) prepareFiles() error {
	for _, dir := range []string{filepath.Dir(s.path), s.run} {
		if info, err := os.Lstat(s.run); dir == s.run && err == nil && !info.IsDir() {
			return &FileError{s.run, "is not a folder"} // a link included
		}
		repaired, err := prepareFolder(dir)
		if err != nil {
			return err
		}
		s.noteRepair(repaired)
	}
	for _, suffix := range suffixes {
		repaired, err := prepareFile(s.path + suffix)
		if err != nil {
			return err
		}
		s.noteRepair(repaired)
	}
	return nil
}

func (s *Store) noteRepair(what string) {
	if what != "" {
		s.report.Repaired = append(s.report.Repaired, what)
	}
}

// open inspects the file, salvages it when it is damaged, and connects.
func (s *Store) open(ctx context.Context) error {
	users, err := count(s.run, s.owner)
	if err != nil {
		return err
	}
	background, inspected := false, users.alive == 0
	if inspected { // otherwise somebody has it open, and inspected it
		verdict, err := s.inspect(ctx, users)
		if err != nil {
			return err
		}
		if verdict.err != nil {
			if err := s.salvage(ctx, verdict); err != nil {
				return err
			}
		}
		background = verdict.unsure
	}
	if err := createFile(s.path); err != nil {
		return err
	}
	err = s.attach(ctx)
	if users.alive == 0 && damaged(err) {
		// What inspection let pass, working with it found.
		if err := s.disconnect(); err != nil {
			s.options.Log.Warn("history database close", "err", err) // no wonder; the salvage goes on
		}
		if err = s.salvage(ctx, verdict{err: err}); err == nil {
			err = s.attach(ctx)
		}
	}
	if err != nil {
		return err
	}
	for _, path := range users.dead {
		os.Remove(path)
	}
	switch {
	case background:
		s.later(s.checkLater)
	case inspected:
		s.vouch()
	}
	return nil
}

// checkLater checks a database in doubt when the store has settled.
func (s *Store) checkLater() {
	select {
	case <-s.settled():
		if s.checkQuietly() {
			s.vouch()
		}
	case <-s.ctx.Done():
	}
}

// vouch notes that the file as it is now was found sound.
func (s *Store) vouch() {
	s.vouched.Store(true)
	if !s.markFits() {
		s.noteMark()
	}
}

// attach connects and ends what dead processes left unfinished.
func (s *Store) attach(ctx context.Context) error {
	if err := s.connect(ctx); err != nil {
		return err
	}
	if err := s.owner.say(ownerOpen); err != nil {
		return fmt.Errorf("history: %w", err)
	}
	return s.endInterrupted()
}

// dsn names a connection to the database.
func dsn(path, lock string, pragmas ...string) string {
	q := url.Values{"_txlock": {lock}, "_dqs": {"0"}, "_defensive": {"1"}}
	q["_pragma"] = append([]string{fmt.Sprintf("busy_timeout(%d)", busyTimeout.Milliseconds())}, pragmas...)
	return (&url.URL{Scheme: "file", Path: path, RawQuery: q.Encode()}).String()
}

// connect opens the connections and brings the schema up to date.
func (s *Store) connect(ctx context.Context) (err error) {
	s.writes, err = sql.Open("sqlite", dsn(s.path, "immediate",
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
	if err := s.upgrade(ctx); err != nil {
		return err
	}
	s.readers, err = sql.Open("sqlite", dsn(s.path, "deferred", "query_only(1)"))
	if err != nil {
		return fmt.Errorf("history: open: %w", err)
	}
	s.readers.SetMaxOpenConns(maxReaders)
	s.readers.SetMaxIdleConns(maxReaders)
	return nil
}

// endInterrupted ends the pairs whose owner died while sending them.
func (s *Store) endInterrupted() error {
	var n int64
	err := s.writer.inTx(func(t *tx) error {
		dead, err := s.deadOwners(t)
		if err != nil || len(dead) == 0 {
			return err
		}
		c, err := s.change(t)
		if err != nil {
			return err
		}
		for _, token := range dead {
			ended, err := c.interrupt(token)
			if err != nil {
				return err
			}
			n += ended
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("history: end interrupted pairs: %w", err)
	}
	s.report.Interrupted = int(n)
	return nil
}

// deadOwners lists the owners of pairs that no longer live. An owner is alive
// before it owns a pair, so one that is not alive now will never be.
func (s *Store) deadOwners(t *tx) ([]string, error) {
	rows, err := t.query("SELECT DISTINCT owner FROM pair WHERE owner IS NOT NULL")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var dead []string
	for rows.Next() {
		var token string
		if err := rows.Scan(&token); err != nil {
			return nil, err
		}
		lives, err := alive(s.run, token)
		if err != nil {
			return nil, err
		}
		if !lives {
			dead = append(dead, token)
		}
	}
	return dead, rows.Err()
}

// start begins the goroutines of an open store.
func (s *Store) start() {
	s.index = newIndex(s)
	s.writer.idle = s.idle
	s.writer.settled = s.settled()
	s.writer.committed = s.index.afterCommit
	s.later(s.writer.run)
}

// settled yields once, when background work may begin.
func (s *Store) settled() <-chan time.Time {
	if s.options.restless {
		return time.After(0)
	}
	return time.After(settleTime)
}

// later runs f in a goroutine that Close waits for; once Close has begun, not at all.
func (s *Store) later(f func()) {
	s.leaving.Lock()
	defer s.leaving.Unlock()
	if s.ctx.Err() == nil {
		s.background.Go(f)
	}
}

// write runs one transaction in the writer's goroutine, durable when it returns nil.
func (s *Store) write(ctx context.Context, work func(*tx) error) error {
	return s.seen(s.writer.do(ctx, work))
}

// seen passes an error on, and lets damage be known.
func (s *Store) seen(err error) error {
	if !damaged(err) {
		return err
	}
	return s.foundDamage(err)
}

// Close waits for what is being written and closes the database. A pair still
// in state sending stays so: the next Open ends it as interrupted.
func (s *Store) Close() error {
	s.leaving.Lock()
	s.cancel()
	s.leaving.Unlock()
	s.writer.stop()
	s.background.Wait()
	if err := s.owner.say(ownerClosing); err != nil {
		// A crash from here on is taken for one in use: the next Open looks closer.
		s.options.Log.Warn("history owner file", "err", err)
	}
	sound := s.vouched.Load() || s.markFits() // by another process
	err := s.foldAndDisconnect()
	if sound {
		s.leaveMark()
	} else {
		s.dropMark()
	}
	s.owner.leave()
	return err
}

// foldAndDisconnect closes the database and notes whose log that folded.
func (s *Store) foldAndDisconnect() error {
	ctx, cancel := context.WithTimeout(context.Background(), foldTime)
	defer cancel()
	opening, err := lockOpening(ctx, s.run)
	if err != nil {
		return s.disconnect()
	}
	defer opening.Close()
	return s.disconnectNoting()
}

// disconnectNoting is disconnect for who holds the open lock.
func (s *Store) disconnectNoting() error {
	before := folding(s.run, s.owner)
	err := s.disconnect()
	if noted := errors.Join(before, folding(s.run, s.owner)); noted != nil {
		s.options.Log.Warn("history owner files", "err", noted) // costs a false alarm, no more
	}
	return err
}

func (s *Store) disconnect() error {
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

// abandon undoes an Open that failed.
func (s *Store) abandon() {
	s.cancel()
	if s.writer != nil {
		s.writer.once.Do(func() { close(s.writer.quit) })
	}
	if s.writes == nil || s.report.LostLog { // nothing is folded, or the next Open is to say so again
		_ = s.disconnect() // why Open failed says more
	} else {
		_ = s.disconnectNoting()
	}
	s.owner.leave()
}
