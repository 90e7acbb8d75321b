package checkpoint

import (
	"cmp"
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
	// defaultFullEvery is how many checkpoints share one full state.
	defaultFullEvery = 10
	// defaultCompactAbove is the size in bytes above which Open compacts a file.
	defaultCompactAbove = 8 << 20
	// keepSessions is the number of newest sessions whose checkpoints remain
	// when a journal is compacted.
	keepSessions = 20
)

// Options configures Open. The zero value is ready to use.
type Options struct {
	FullEvery int              // every how many checkpoints the full state is stored; 0 means 10
	Now       func() time.Time // nil means time.Now
	Log       *slog.Logger     // nil means no log
	ReadOnly  bool             // only read the journal, even while another process writes to it
	// Beside opens the journal even while another process writes to it, or nothing can be
	// written: it is read, and what would change it is refused with the *LockedError that
	// Locked returns.
	Beside  bool
	Program string // this one, for the LockedError of others
	// Author names the user who writes now and the session, for Changes; nil names
	// nobody. It is called while a record is written and must not call the Journal.
	Author func() (user, session string)

	wrap         func(*os.File) file // tests: nil means the file itself
	compactAbove int64               // tests: 0 means defaultCompactAbove
}

// Journal is the checkpoints of one window in a file; a nil one has none. Open returns one. Its
// methods may be called from any goroutine. A method that writes returns when
// its record is durable; on error nothing has changed. All others answer
// from memory and never wait for the disk.
type Journal struct {
	opts   Options
	path   string
	run    Run
	report Report
	locked *LockedError // who writes; nil: this journal does, or it is ReadOnly

	writing  sync.Mutex  // locked while a record is written
	file     file        // nil when ReadOnly and after Close
	info     fs.FileInfo // of file
	lockFile *os.File
	torn     bool // bytes follow the last whole record of the file

	mu      sync.RWMutex // held only briefly; guards the fields below
	index   *index
	current jsondelta.Document // the newest recorded state
	saved   string             // canonical form of the state that was last saved; "" when it is not known
}

// Run is what is known of the run of the program before this one.
type Run struct {
	// Closed: it called Close, or there was none. False after a crash.
	Closed bool
	// Session is the session it was in, "" for none.
	Session string
	// Turn is the newest checkpoint of a turn of that session; the zero
	// Checkpoint if there is none. After a crash that turn may not have ended.
	Turn Checkpoint
}

// Open opens the journal at path, and makes it and its folder if they are
// missing. It repairs what a crash or damage left; Report says what it did. Until
// Close no other process can open it except with ReadOnly, which makes and
// changes nothing and takes a missing file for an empty journal, or Beside.
//
// Errors are a *LockedError, a *VersionError, one that wraps ErrUnsafe, or
// the system's; in each case the file is as it was.
func Open(path string, opts Options) (*Journal, error) {
	opts.FullEvery = cmp.Or(opts.FullEvery, defaultFullEvery)
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
		err = j.openReader()
	} else if err = j.openWriter(); opts.Beside && (errors.As(err, &j.locked) || unwritable(err)) {
		if j.locked == nil {
			j.locked = &LockedError{Path: path, Err: err}
		}
		err = errors.Join(j.release(), j.openReader())
	}
	if err != nil {
		return nil, errors.Join(err, j.release())
	}
	j.startRun()
	return j, nil
}

// unwritable reports whether an error means that this user, or anybody, may only read.
func unwritable(err error) bool {
	return errors.Is(err, syscall.EROFS) || errors.Is(err, fs.ErrPermission)
}

// openReader reads the whole file into memory and closes it: it does not see what
// a writer appends or replaces later.
func (j *Journal) openReader() error {
	content, err := j.openFile(os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		_, err = j.load(content)
	}
	j.report.TornBytes = 0 // a writer may be at work on it right now
	return errors.Join(err, j.release())
}

// openWriter locks, reads, repairs and compacts the file.
func (j *Journal) openWriter() error {
	dir := filepath.Dir(j.path)
	narrowed, err := privatefile.Folder(dir)
	if errors.Is(err, privatefile.ErrWritable) {
		return fmt.Errorf("%w: %s: %w", ErrUnsafe, dir, err)
	} else if err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	j.report.addNarrowed(dir, narrowed)
	if j.lockFile, err = lock(j.path, j.opts.Program, j.opts.Now()); err != nil {
		return err
	}
	content, err := j.openFile(os.O_RDWR | os.O_CREATE)
	if err != nil {
		return err
	}
	if narrowed, err = privatefile.Narrow(j.path, j.info); err != nil {
		return fmt.Errorf("checkpoint: narrow permissions: %w", err)
	}
	j.report.addNarrowed(j.path, narrowed)
	lost, err := j.load(content)
	switch {
	case err != nil:
		return err
	case j.report.Damaged:
		return j.repair(content, lost)
	case j.index.size == 0:
		if err := j.append(header(formatVersion)); err != nil {
			return err
		}
		j.index.size = int64(len(header(formatVersion)))
		return privatefile.SyncFolder(dir)
	case j.index.size > j.opts.compactAbove:
		if err := j.compact(); err != nil { // the large file remains usable
			j.opts.Log.Warn("checkpoint journal could not be compacted", "error", err)
		}
	}
	return j.cutTorn()
}

// openFile opens the file and returns all of it.
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

// startRun stores what is known of the run before and begins a new one.
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
	if j.locked != nil { // the other run goes on
		j.run = Run{Closed: true}
	}
	x.session, x.turn = "", ""
	for _, notice := range j.report.Notices() {
		j.opts.Log.Warn("checkpoint journal", "notice", notice)
	}
}

// Close records the end of this run and releases the lock. A second Close does
// nothing. On error the journal is closed all the same, and the next run will
// consider this one crashed.
func (j *Journal) Close() error {
	j.writing.Lock()
	defer j.writing.Unlock()
	var err error
	if j.file != nil && !j.index.closed {
		err = j.write(record{Op: opClose}, nil, "")
	}
	return errors.Join(err, j.release())
}

// release closes the files.
func (j *Journal) release() error {
	var err error
	if j.file != nil {
		err = j.file.Close()
		j.file = nil
	}
	if j.lockFile != nil {
		err = errors.Join(err, j.lockFile.Close())
		j.lockFile = nil
	}
	return err
}

// Report returns what Open found and did.
func (j *Journal) Report() Report { return j.report }

// Locked says which process writes to a journal that was opened Beside it; nil when
// this one does, and for a nil Journal.
func (j *Journal) Locked() *LockedError {
	if j == nil {
		return nil
	}
	return j.locked
}

// beside reports whether another process writes.
func (j *Journal) beside() bool { return j.locked != nil }

// LastRun returns what is known of the run before this one.
func (j *Journal) LastRun() Run { return j.run }

// Path returns the absolute path of the file.
func (j *Journal) Path() string { return j.path }

// Current returns the newest recorded state, nil when there is none. While a
// rollback is pending it is the state before it.
func (j *Journal) Current() json.RawMessage {
	j.mu.RLock()
	defer j.mu.RUnlock()
	return j.current.Raw()
}

// SavedState returns the state that the window's file was last known to
// contain; nil and false when Saved was never called.
func (j *Journal) SavedState() (json.RawMessage, bool) {
	j.mu.RLock()
	defer j.mu.RUnlock()
	if j.saved == "" {
		return nil, false
	}
	return json.RawMessage(j.saved), true
}

// Clean reports whether there is nothing to save: the newest state is the one
// that Saved was last called with, or no state but that one was ever recorded.
func (j *Journal) Clean() bool {
	j.mu.RLock()
	defer j.mu.RUnlock()
	return j.current.Text() == "" || j.current.Text() == j.saved
}
