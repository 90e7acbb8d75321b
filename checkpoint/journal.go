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
	"time"
)

const (
	// defaultEvery is how many checkpoints share one full state.
	defaultEvery = 10
	// compactAbove is the size in bytes from which Open compacts.
	compactAbove = 8 << 20
	// keepSessions is the number of newest sessions whose checkpoints remain
	// when a journal is compacted.
	keepSessions = 20
)

// Options configures Open. The zero value is ready to use.
type Options struct {
	Every    int              // a full state each Every checkpoints; 0 means 10
	Now      func() time.Time // nil means time.Now
	Log      *slog.Logger     // nil means no log
	ReadOnly bool             // look at the journal, also beside a writer

	wrap    func(*os.File) file // tests: nil means the file itself
	compact int64               // tests: 0 means compactAbove
}

// Journal is the checkpoints of one window in a file. Open makes one. Its
// methods may be called from any goroutine. What those that write have written
// is durable when they return; on error nothing has changed. All others answer
// from memory and never wait for the disk.
type Journal struct {
	opts   Options
	path   string
	run    Run
	report Report

	writing sync.Mutex // locked while a record is written
	file    file       // nil when ReadOnly and after Close
	info    fs.FileInfo
	locked  *os.File
	torn    bool // the file is longer than its whole records

	mu    sync.RWMutex // locked only for moments; guards all below
	index *index
	now   document // the current state
	saved string   // canonical form of the saved state
}

// Run is the run of the program before this one.
type Run struct {
	// Closed: it ended in order, or there was none. False after a crash.
	Closed bool
	// Session is the session it was in, "" for none.
	Session string
	// Turn is the newest checkpoint of a turn of that session; the zero
	// Checkpoint if there is none. After a crash it may not have ended.
	Turn Checkpoint
}

// Open opens the journal at path, and makes it and its folder if need be. It
// repairs what a crash or damage left; Report says what it did. Until Close no
// other process can open it, but ReadOnly: then nothing is made or changed,
// and a missing file is an empty journal.
//
// Errors are a *LockedError, a *VersionError, one that wraps ErrUnsafe, or
// the system's; in each case the file is as it was.
func Open(path string, opts Options) (*Journal, error) {
	opts.Every = cmp.Or(opts.Every, defaultEvery)
	opts.Log = cmp.Or(opts.Log, slog.New(slog.DiscardHandler))
	opts.compact = cmp.Or(opts.compact, compactAbove)
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
	} else {
		err = j.openWriter()
	}
	if err != nil {
		return nil, errors.Join(err, j.release())
	}
	j.startRun()
	return j, nil
}

// openReader reads all of the file at once: what a writer appends or replaces
// later is not seen.
func (j *Journal) openReader() error {
	content, err := j.openFile(os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		_, err = j.load(content)
	}
	j.report.Torn = 0 // a writer may be at work on it right now
	return errors.Join(err, j.release())
}

// openWriter locks, reads, repairs and compacts the file.
func (j *Journal) openWriter() error {
	if err := prepareFolder(filepath.Dir(j.path), &j.report); err != nil {
		return err
	}
	var err error
	if j.locked, err = lock(j.path); err != nil {
		return err
	}
	content, err := j.openFile(os.O_RDWR | os.O_CREATE)
	if err != nil {
		return err
	}
	if err := narrow(j.path, j.info, fileMode, &j.report); err != nil {
		return err
	}
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
		return syncFolder(filepath.Dir(j.path))
	case j.index.size > j.opts.compact:
		if err := j.compact(); err != nil { // the large file is as good as before
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

// startRun stores what the run before was and begins a new one.
func (j *Journal) startRun() {
	x := j.index
	j.run = Run{Closed: x.closed, Session: x.session}
	if x.session != "" {
		for _, e := range x.list(x.session) {
			if e.Kind == KindTurn {
				j.run.Turn = e.public()
			}
		}
	}
	x.session, x.turn = "", ""
	for _, notice := range j.report.Notices() {
		j.opts.Log.Warn("checkpoint journal", "notice", notice)
	}
}

// Close records the orderly end of this run and lets the next process in. A
// second Close does nothing. On error the journal is closed all the same, and
// the next run will consider this one crashed.
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
	if j.locked != nil {
		err = errors.Join(err, j.locked.Close())
		j.locked = nil
	}
	return err
}

// Report returns what Open found and did.
func (j *Journal) Report() Report { return j.report }

// LastRun returns what is known of the run before this one.
func (j *Journal) LastRun() Run { return j.run }

// Path returns the absolute path of the file.
func (j *Journal) Path() string { return j.path }

// Current returns the newest recorded state, nil when there is none. While a
// rollback is pending it is the state before it.
func (j *Journal) Current() json.RawMessage {
	j.mu.RLock()
	defer j.mu.RUnlock()
	if j.now.text == "" {
		return nil
	}
	return j.now.raw()
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

// Clean reports whether nothing is unsaved: the newest state is the one that
// Saved was last called with, or nothing was ever recorded, whatever Saved recorded.
func (j *Journal) Clean() bool {
	j.mu.RLock()
	defer j.mu.RUnlock()
	return j.now.text == "" || j.now.text == j.saved
}
