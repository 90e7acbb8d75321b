package checkpoint

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"winnow/checkpoint/jsondelta"
	"winnow/checkpoint/privatefile"
)

const (
	// defaultFullEvery is the number of checkpoints per full state.
	defaultFullEvery = 10
	// defaultCompactAbove is the size in bytes above which Open compacts a file.
	defaultCompactAbove = 8 << 20
	// keepSessions is the number of newest sessions whose checkpoints survive a compaction.
	keepSessions = 20
)

// Options configures Open. The zero value is ready to use.
type Options struct {
	FullEvery int              // number of checkpoints per full state; 0 means 10
	Now       func() time.Time // nil means time.Now
	Log       *slog.Logger     // nil means no log
	ReadOnly  bool             // only read the journal, even while another process writes to it
	Program   string           // this program's name, as shown in the LockedError of other processes
	// Wait is how long Lock waits for another process; 0 means 5 s.
	Wait time.Duration
	// Author returns the user and the session on whose behalf the program is writing, for the change log; nil means
	// unknown. It is called while a record is written and must not call the Journal.
	Author func() (user, session string)
	// Adopt applies the newest state of the journal to the window after another process has changed it. Lock calls it
	// with the writer lock held and returns its error. It must not write to the Journal. It may be nil.
	Adopt func(*Journal) error

	wrap         func(*os.File) file // set only by tests; nil means the file itself
	compactAbove int64               // set only by tests; 0 means defaultCompactAbove
}

// Journal stores the checkpoints of one window in a file. It is returned by Open; a nil Journal is empty. Its methods
// may be called from any goroutine. Methods that write take the writer lock for their record, unless Lock already
// holds it, and return when the record is durable; if they return an error, nothing has changed. All other methods
// answer from memory and never wait for the disk.
type Journal struct {
	opts  Options
	path  string
	run   Run
	found Report            // the report of Open
	alive *privatefile.Lock // shared by the processes that have the journal open
	alone bool              // no other process had the journal open at Open
	// unwritable is the reason why this process can only read; nil if it can write.
	unwritable *UnwritableError

	locking sync.Mutex        // held while the writer lock is acquired or released; acquired before the mutex writing
	lock    *privatefile.Lock // the writer lock
	holds   int               // number of holds of the writer lock in this process
	stale   bool              // another process has changed the state and Adopt has not succeeded since
	closed  bool

	writing sync.Mutex  // held while a record is written or the file is read
	file    file        // nil while the writer lock is not held
	info    fs.FileInfo // describes the file as last read or written
	report  Report      // report of the last read
	torn    bool        // there are bytes after the last complete record
	turn    string      // id of the checkpoint that Record adds tools to

	sessions []string // sessions passed to Start; guarded by writing

	mu      sync.RWMutex // held only briefly; guards the fields below
	index   *index
	current jsondelta.Document // the newest recorded state
	saved   string             // canonical form of the last saved state; "" if unknown
}

// Run describes the previous run of the program.
type Run struct {
	// Closed is false after a crash. It is true if the run called Close, if there was no
	// previous run, or if another process has the journal open.
	Closed bool
	// Session is the session that the run was in, or "".
	Session string
	// Turn is the newest checkpoint of a turn of that session, or the zero Checkpoint. After a crash, that turn may
	// not have ended.
	Turn Checkpoint
}

// Open opens the journal at path, creating it and its folder if they are missing. It repairs what a crash or damage
// left; Report lists the repairs. Several processes may have a journal open: if another process holds the writer
// lock, Open only reads, and the first write makes the repairs. With ReadOnly, or if writing is impossible, Open
// neither creates nor changes anything and treats a missing file as an empty journal.
//
// An error is a *VersionError, wraps ErrUnsafe, or comes from the system. In each case the file is unchanged.
func Open(path string, opts Options) (*Journal, error) {
	opts.FullEvery = cmp.Or(opts.FullEvery, defaultFullEvery)
	opts.Wait = cmp.Or(opts.Wait, DefaultWait)
	opts.Log = cmp.Or(opts.Log, slog.New(slog.DiscardHandler))
	opts.compactAbove = cmp.Or(opts.compactAbove, defaultCompactAbove)
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.wrap == nil {
		opts.wrap = func(f *os.File) file { return f }
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("checkpoint: %w", err)
	}
	j := &Journal{opts: opts, path: path, index: newIndex()}
	if opts.ReadOnly {
		err = j.read()
	} else if err = j.openWriter(); unwritable(err) {
		j.unwritable = &UnwritableError{path, err}
		err = j.read()
	}
	if err != nil {
		return nil, errors.Join(err, j.alive.Release())
	}
	j.found = j.report
	j.startRun()
	return j, nil
}

// unwritable reports whether err means that the file can only be read.
func unwritable(err error) bool {
	return errors.Is(err, syscall.EROFS) || errors.Is(err, fs.ErrPermission)
}

// read reads the whole file into memory.
func (j *Journal) read() error {
	content, err := j.openFile(os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		_, err = j.load(content)
	}
	j.report.TornBytes = 0 // another process may be writing this record
	return errors.Join(err, j.closeFile())
}

// openWriter reads the file. Unless another process holds the writer lock, it also repairs and compacts the file.
func (j *Journal) openWriter() error {
	dir := filepath.Dir(j.path)
	dirCould, err := privatefile.Folder(dir)
	if errors.Is(err, privatefile.ErrWritable) {
		return fmt.Errorf("%w: %s: %w", ErrUnsafe, dir, err)
	} else if err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	if err := j.lockFile(context.Background(), 0); errors.As(err, new(*LockedError)) {
		if j.alive, err = privatefile.Acquire(context.Background(), j.path+aliveSuffix, privatefile.LockOptions{Shared: true, Wait: DefaultWait}); err != nil {
			return fmt.Errorf("checkpoint: lock journal: %w", err)
		}
		return j.read()
	} else if err != nil {
		return err
	}
	if j.index.size > j.opts.compactAbove {
		if err := j.compact(); err != nil { // the large file remains usable
			j.opts.Log.Warn("checkpoint journal could not be compacted", "error", err)
		}
	}
	j.report.addNarrowed(dir, dirCould)
	could, err := privatefile.Narrow(j.path, j.info)
	if err == nil {
		j.report.addNarrowed(j.path, could)
		err = j.joinAlive()
	}
	return errors.Join(err, j.unlockFile())
}

// joinAlive determines whether another process has the journal open, and registers this process. The writer lock
// is held, so that two processes cannot both conclude that they are alone.
func (j *Journal) joinAlive() error {
	only, err := privatefile.Acquire(context.Background(), j.path+aliveSuffix, privatefile.LockOptions{})
	j.alone = err == nil
	if err = only.Release(); err == nil {
		j.alive, err = privatefile.Acquire(context.Background(), j.path+aliveSuffix, privatefile.LockOptions{Shared: true, Wait: DefaultWait})
	}
	if err != nil {
		return fmt.Errorf("checkpoint: lock journal: %w", err)
	}
	return nil
}

// openFile opens the file and returns its content.
func (j *Journal) openFile(flag int) (content []byte, err error) {
	f, err := openRegular(j.path, flag)
	if err != nil {
		return nil, err
	}
	j.file = j.opts.wrap(f)
	if j.info, err = f.Stat(); err == nil {
		content, err = io.ReadAll(f)
	}
	if err != nil {
		return nil, fmt.Errorf("checkpoint: read journal: %w", err)
	}
	return content, nil
}

// closeFile closes the file if it is open.
func (j *Journal) closeFile() error {
	if j.file == nil {
		return nil
	}
	err := j.file.Close()
	j.file = nil
	return err
}

// startRun records what is known about the previous run and starts a new one.
func (j *Journal) startRun() {
	x := j.index
	j.run = Run{Closed: x.closed, Session: x.session}
	if x.session != "" {
		for _, e := range x.list(x.session) {
			if e.Kind == KindTurn {
				j.run.Turn = e.described()
			}
		}
	}
	if !j.opts.ReadOnly && j.unwritable == nil && !j.alone { // the other run is still active
		j.run = Run{Closed: true}
	}
	x.session, x.open = "", nil
	for _, notice := range j.report.Notices() {
		j.opts.Log.Warn("checkpoint journal", "notice", notice)
	}
}

// Close records the end of this run and releases the locks. Later calls do nothing. If it returns an error, the
// journal is closed anyway, and the next run will consider this run crashed.
func (j *Journal) Close() error {
	j.locking.Lock()
	defer j.locking.Unlock()
	if j.closed || j.opts.ReadOnly || j.unwritable != nil {
		j.closed = true
		return nil
	}
	j.closed = true
	err := j.alive.Release()
	last, others := privatefile.Acquire(context.Background(), j.path+aliveSuffix, privatefile.LockOptions{})
	end := record{Op: OpClose}
	if others != nil {
		end = record{Op: OpLeave, Left: j.sessions}
	}
	if others != nil && len(j.sessions) == 0 {
		return errors.Join(err, j.unlockFile())
	}
	var lockErr error
	if j.lock == nil {
		lockErr = j.lockFile(context.Background(), 0)
	}
	if lockErr == nil {
		j.writing.Lock()
		if !j.index.closed {
			err = errors.Join(err, j.write(end, nil, ""))
		}
		j.writing.Unlock()
	} else if !errors.As(lockErr, new(*LockedError)) { // another process is still using the journal, so this run will not count as crashed
		err = errors.Join(err, lockErr)
	}
	return errors.Join(err, j.unlockFile(), last.Release())
}

// Alone reports whether no other process had the journal open at Open. It is also true if j is nil, or if Unwritable
// returns a reason.
func (j *Journal) Alone() bool { return j == nil || j.alone || j.unwritable != nil }

// Unwritable returns the reason why this process can only read the journal, or nil if it can write or j is nil.
func (j *Journal) Unwritable() *UnwritableError {
	if j == nil {
		return nil
	}
	return j.unwritable
}

// Report returns what Open found and repaired.
func (j *Journal) Report() Report { return j.found }

// LastRun describes the previous run.
func (j *Journal) LastRun() Run { return j.run }

// Path returns the absolute path of the file.
func (j *Journal) Path() string { return j.path }

// Current returns the newest recorded state, or nil if there is none. While a rollback is pending, it is the state
// before the rollback.
func (j *Journal) Current() json.RawMessage {
	j.mu.RLock()
	defer j.mu.RUnlock()
	return j.current.Raw()
}

// SavedState returns the state that the window's file was last known to contain, or nil and false if Saved was never
// called.
func (j *Journal) SavedState() (json.RawMessage, bool) {
	j.mu.RLock()
	defer j.mu.RUnlock()
	if j.saved == "" {
		return nil, false
	}
	return json.RawMessage(j.saved), true
}

// Clean reports whether there is nothing to save: the newest state was passed to Saved, or no state has ever been
// recorded.
func (j *Journal) Clean() bool {
	j.mu.RLock()
	defer j.mu.RUnlock()
	return j.current.Text() == "" || j.current.Text() == j.saved
}
