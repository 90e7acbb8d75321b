package checkpoint

import (
	"bytes"
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
	// compactAbove is the size from which Open compacts, 8 MiB: reading that
	// much takes Open about as long as the eye takes to see it.
	compactAbove = 8 << 20
	// compactGrowth: a file that is still large after a compaction is
	// compacted again only when it has grown by this factor.
	compactGrowth = 2
	// keepSessions is how many sessions keep their checkpoints when a journal
	// is compacted.
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

// Journal keeps the checkpoints of one window in a file. Open makes one. Its
// methods may be called from any goroutine. Those that write, and State and
// Intent-making ones, wait for the disk; all others answer from memory and
// never wait for those.
type Journal struct {
	opts   Options
	place  place
	run    Run
	report Report

	writing sync.Mutex // held while a record is written
	file    file       // nil when ReadOnly and after Close
	info    fs.FileInfo
	locked  *os.File
	size    int64 // end of the last whole record
	torn    bool  // bytes behind size could not be cut off
	given   string
	givenAs value // the state that given, as it came, was read as

	mu     sync.RWMutex // held only for moments
	src    readerAt
	ledger *ledger
	now    value // the current state
	saved  string
	closed bool
}

// Run is what the journal tells of the run of the program before this one.
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
	if opts.Every <= 0 {
		opts.Every = defaultEvery
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	if opts.compact == 0 {
		opts.compact = compactAbove
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("checkpoint: %w", err)
	}
	j := &Journal{opts: opts, place: place{path, opts.wrap}}
	if opts.ReadOnly {
		err = j.look()
	} else {
		err = j.take()
	}
	if err != nil {
		return nil, err
	}
	j.begin()
	return j, nil
}

// look opens for reading only. All is read at once: what a writer appends or
// replaces later is not seen.
func (j *Journal) look() error {
	f, err := j.place.open(j.place.path, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		j.ledger, j.src = newLedger(), bytes.NewReader(nil)
		return nil
	}
	if err != nil {
		return err
	}
	content, err := io.ReadAll(f)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("checkpoint: read journal: %w", err)
	}
	s, err := j.load(content)
	if err != nil {
		return err
	}
	j.report.Torn = 0 // a writer may be at work on it right now
	j.src = bytes.NewReader(content)
	if !s.damaged() {
		return nil
	}
	content, err = j.salvage(content, s)
	if err != nil {
		return err
	}
	_, err = j.load(content)
	j.src = bytes.NewReader(content)
	return err
}

// take opens for writing: lock, read, repair, compact.
func (j *Journal) take() error {
	if err := j.place.prepareFolder(&j.report); err != nil {
		return err
	}
	locked, err := j.place.lock()
	if err != nil {
		return err
	}
	j.locked = locked
	j.place.removeUnfinished()
	if err := j.takeFile(); err != nil {
		return errors.Join(err, j.release())
	}
	return nil
}

func (j *Journal) takeFile() error {
	content, err := j.openFile()
	if err != nil {
		return err
	}
	s, err := j.load(content)
	if err != nil {
		return err
	}
	if s.damaged() {
		content, err := j.salvage(content, s)
		if err != nil {
			return err
		}
		aside := j.place.path + ".damaged-" + j.opts.Now().UTC().Format("20060102T150405Z")
		if j.report.Aside, err = j.place.replace(content, aside); err != nil {
			return err
		}
		return j.reopen()
	}
	j.size, j.torn = s.end, s.torn > 0
	if s.fresh {
		if err := j.writeBytes(header(formatVersion)); err != nil {
			return err
		}
		return syncFolder(filepath.Dir(j.place.path))
	}
	if s.open {
		if err := j.writeBytes([]byte("\n")); err != nil {
			return err
		}
	}
	if err := j.cutTorn(); err != nil {
		return err
	}
	return j.compactIfLarge(content, s)
}

// openFile opens the file and returns all of it.
func (j *Journal) openFile() ([]byte, error) {
	raw, err := j.place.open(j.place.path, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, err
	}
	f := j.place.file(raw)
	if err := narrow(raw, &j.report); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	content, err := io.ReadAll(raw)
	if err == nil {
		j.info, err = raw.Stat()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("checkpoint: read journal: %w", err), f.Close())
	}
	j.file, j.src = f, f
	return content, nil
}

// reopen goes on with the file that has taken the place of the open one.
func (j *Journal) reopen() error {
	if err := j.file.Close(); err != nil {
		return fmt.Errorf("checkpoint: close journal: %w", err)
	}
	content, err := j.openFile()
	if err != nil {
		return err
	}
	s, err := j.load(content)
	if err == nil && s.damaged() {
		err = ErrDamaged
	}
	j.size = s.end
	return err
}

// load reads content into the ledger and makes the states that are kept in
// memory. States that cannot be made count as damage.
func (j *Journal) load(content []byte) (*scanned, error) {
	s := &scanned{}
	if err := s.scan(content, j.place.path); err != nil {
		return s, err
	}
	j.report.Torn += s.torn
	j.ledger, j.now, j.saved = s.replay(), value{}, ""
	if s.damaged() {
		return s, nil
	}
	src := bytes.NewReader(content)
	var err error
	if j.ledger.has() {
		j.now, err = j.ledger.stateAt(src, len(j.ledger.lines)-1)
	}
	if err == nil && j.ledger.saved >= 0 {
		j.saved, err = j.ledger.savedText(src)
	}
	if err != nil {
		s.bad++
	}
	return s, nil
}

// salvage makes a new journal of what a damaged one still holds.
func (j *Journal) salvage(content []byte, s *scanned) ([]byte, error) {
	m, err := rewrite(bytes.NewReader(content), j.ledger, s.records, selection{all: true}, j.opts.Every)
	if err != nil {
		return nil, err
	}
	j.report.Damaged, j.report.Torn = true, 0
	j.report.Unreadable, j.report.Kept, j.report.Lost = s.bad, m.kept, m.lost
	j.report.StateLost = m.sum != j.ledger.sum() || s.badEnd
	return m.out, nil
}

// compactIfLarge rewrites a large file with what is still needed. That it
// cannot is reported and does no harm.
func (j *Journal) compactIfLarge(content []byte, s *scanned) error {
	if j.size <= max(j.opts.compact, compactGrowth*j.ledger.image) {
		return nil
	}
	m, err := rewrite(bytes.NewReader(content), j.ledger, s.records, choose(j.ledger, keepSessions), j.opts.Every)
	if err == nil && m.lost == 0 {
		_, err = j.place.replace(m.out, "")
	}
	if err != nil {
		j.report.Failed = err
		return nil //nolint:nilerr // reported; the large file is as good as before
	}
	j.report.Compacted = j.size - int64(len(m.out))
	return j.reopen()
}

// begin ends what was left of the run before and notes what it was.
func (j *Journal) begin() {
	l := j.ledger
	j.run = Run{Closed: l.closed, Session: l.session}
	if l.session != "" {
		for _, e := range l.live(l.session) {
			if e.Kind == KindTurn {
				j.run.Turn = e.public()
			}
		}
	}
	l.session, l.turn = "", ""
	for _, notice := range j.report.Notices() {
		j.opts.Log.Warn("checkpoint journal", "notice", notice)
	}
}

// Close records the orderly end of this run and lets the next process in. A
// second Close does nothing. On error the journal is closed all the same, and
// the next run will take this one for crashed.
func (j *Journal) Close() error {
	j.writing.Lock()
	defer j.writing.Unlock()
	if j.isClosed() {
		return nil
	}
	var err error
	if j.file != nil && !j.ledger.closed {
		err = j.write(plain(record{Op: opClose}))
	}
	j.mu.Lock()
	j.closed = true
	j.mu.Unlock()
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

func (j *Journal) isClosed() bool {
	j.mu.RLock()
	defer j.mu.RUnlock()
	return j.closed
}

// Report returns what Open found and did.
func (j *Journal) Report() Report { return j.report }

// Notices returns the report as sentences for the user, none when all is well.
func (j *Journal) Notices() []string { return j.report.Notices() }

// LastRun returns what is known of the run before this one.
func (j *Journal) LastRun() Run {
	run := j.run
	run.Turn.Tools = append([]ToolSummary(nil), run.Turn.Tools...)
	return run
}

// Path returns the absolute path of the file.
func (j *Journal) Path() string { return j.place.path }

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
// hold; nil and false when Saved was never called.
func (j *Journal) SavedState() (json.RawMessage, bool) {
	j.mu.RLock()
	defer j.mu.RUnlock()
	if j.saved == "" {
		return nil, false
	}
	return json.RawMessage(j.saved), true
}

// Clean reports whether nothing is unsaved: the newest state is the one that
// Saved was last called with, or nothing was ever recorded, whatever Saved said.
func (j *Journal) Clean() bool {
	j.mu.RLock()
	defer j.mu.RUnlock()
	return j.now.text == "" || j.now.text == j.saved
}
