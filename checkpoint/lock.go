package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"winnow/checkpoint/privatefile"
)

const (
	// lockName is the name of the lock in messages.
	lockName = "writer lock"
	// DefaultWait is the default of Options.Wait.
	DefaultWait = 5 * time.Second
)

// Lock acquires the writer lock until unlock is called. It updates the Journal and, through Options.Adopt, the window
// with what other processes have written. It waits up to Options.Wait for another process and then returns a
// *LockedError. Locks of one process nest: the last unlock releases the lock. Lock does nothing on a nil Journal.
func (j *Journal) Lock(ctx context.Context) (unlock func(), err error) {
	if j == nil {
		return func() {}, nil
	}
	unlock, _, err = j.acquire(ctx, j.opts.Wait)
	return unlock, err
}

// TryLock is like Lock but does not wait.
func (j *Journal) TryLock() (unlock func(), err error) {
	if j == nil {
		return func() {}, nil
	}
	unlock, _, err = j.acquire(context.Background(), 0)
	return unlock, err
}

// acquire implements Lock; moved reports whether it found records of another process.
func (j *Journal) acquire(ctx context.Context, wait time.Duration) (unlock func(), moved bool, err error) {
	j.locking.Lock()
	defer j.locking.Unlock()
	switch {
	case j.opts.ReadOnly:
		return nil, false, ErrReadOnly
	case j.unwritable != nil:
		return nil, false, j.unwritable
	case j.closed:
		return nil, false, ErrClosed
	case j.holds == 0:
		before := j.version()
		if err := j.lockFile(ctx, wait); err != nil {
			return nil, false, err
		}
		moved = j.version() != before
		if err := j.adopt(moved); err != nil {
			return nil, false, errors.Join(err, j.unlockFile())
		}
	}
	j.holds++
	var once sync.Once
	return func() { once.Do(j.release) }, moved, nil
}

// adopt calls Options.Adopt if another process has changed the state.
func (j *Journal) adopt(moved bool) error {
	j.stale = j.stale || moved
	if j.stale && j.opts.Adopt != nil {
		if err := j.opts.Adopt(j); err != nil {
			return fmt.Errorf("another program changed the window, but the new state could not be read: %w", err)
		}
	}
	j.stale = false
	return nil
}

// version identifies the newest record.
func (j *Journal) version() string {
	j.mu.RLock()
	defer j.mu.RUnlock()
	return fmt.Sprint(j.index.lastSeq, j.index.sum())
}

// release ends one hold of the writer lock.
func (j *Journal) release() {
	j.locking.Lock()
	defer j.locking.Unlock()
	if j.holds--; j.holds == 0 && !j.closed { // after Close the lock is already released
		if err := j.unlockFile(); err != nil {
			j.opts.Log.Warn("checkpoint journal", "error", err)
		}
	}
}

// lockFile acquires the writer lock and reads what other processes have written. The caller holds locking.
func (j *Journal) lockFile(ctx context.Context, wait time.Duration) (err error) {
	if j.lock, err = privatefile.Acquire(ctx, j.path+lockSuffix, privatefile.LockOptions{
		Name: lockName, Program: j.opts.Program, Since: j.opts.Now(), Wait: wait,
	}); err != nil {
		switch {
		case errors.As(err, new(*LockedError)), ctx.Err() != nil:
			return err
		case errors.Is(err, privatefile.ErrNotRegular):
			return fmt.Errorf("%w: %w", ErrUnsafe, err)
		}
		return fmt.Errorf("checkpoint: lock journal: %w", err)
	}
	j.writing.Lock()
	err = j.update()
	j.writing.Unlock()
	if err != nil {
		err = errors.Join(err, j.unlockFile())
		j.writing.Lock()
		j.info = nil // the next update reads the file
		j.writing.Unlock()
	}
	return err
}

// unlockFile closes the file and releases the writer lock if it is held.
func (j *Journal) unlockFile() error {
	j.writing.Lock()
	defer j.writing.Unlock()
	if j.file != nil {
		if info, err := j.file.Stat(); err == nil {
			j.info = info
		}
	}
	err := errors.Join(j.closeFile(), j.lock.Release())
	j.lock = nil
	return err
}

// update opens the file, and reads it if it has changed since this process last read or wrote it. It repairs damage
// and cuts off an unfinished record. The caller holds the writer lock.
func (j *Journal) update() error {
	known := j.info
	if _, err := os.Lstat(j.path); known != nil && errors.Is(err, fs.ErrNotExist) {
		return ErrMoved
	}
	f, err := openRegular(j.path, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return err
	}
	j.file = j.opts.wrap(f)
	if j.info, err = f.Stat(); err == nil && known != nil && os.SameFile(known, j.info) && known.Size() == j.info.Size() && known.ModTime().Equal(j.info.ModTime()) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("checkpoint: read journal: %w", err)
	}
	if err := j.closeFile(); err != nil {
		return err
	}
	content, err := j.openFile(os.O_RDWR)
	if err != nil {
		return err
	}
	j.report = Report{}
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
		j.mu.Lock()
		j.index.size = int64(len(header(formatVersion)))
		j.mu.Unlock()
		return privatefile.SyncFolder(filepath.Dir(j.path))
	}
	return j.cutTorn()
}

// Follow reads what other processes have written since the last read, without the writer lock, and calls
// Options.Adopt. It reports whether there was anything new. While this process holds the writer lock, Follow does
// nothing.
func (j *Journal) Follow() (moved bool, err error) {
	j.locking.Lock()
	defer j.locking.Unlock()
	if j.holds > 0 || j.closed || j.opts.ReadOnly || j.unwritable != nil {
		return false, nil
	}
	before := j.version()
	j.writing.Lock()
	info, err := os.Lstat(j.path)
	if err == nil && !(j.info != nil && os.SameFile(info, j.info) && info.Size() == j.info.Size() && info.ModTime().Equal(j.info.ModTime())) {
		err = j.read()
	}
	j.writing.Unlock()
	if err != nil {
		return false, err
	}
	moved = j.version() != before
	return moved || j.stale, j.adopt(moved)
}

// exclusive holds the writer lock for one record, until done is called. If unchanged is set and another process has
// changed the journal since it was last read, it returns ErrStale; this cannot happen while Lock holds the lock.
func (j *Journal) exclusive(unchanged bool) (done func(), err error) {
	unlock, moved, err := j.acquire(context.Background(), j.opts.Wait)
	if err != nil {
		return nil, err
	}
	if moved && unchanged {
		unlock()
		return nil, ErrStale
	}
	j.writing.Lock()
	return func() { j.writing.Unlock(); unlock() }, nil
}

// Writer returns the process that holds the writer lock of the journal at path, or nil if the lock is free or its state
// cannot be determined. It does not create a file.
func Writer(path string) *LockedError { return privatefile.Holder(path+lockSuffix, lockName) }

// LastWriter returns the process that acquired the writer lock last.
func (j *Journal) LastWriter() *LockedError {
	return privatefile.LastHolder(j.path+lockSuffix, lockName)
}
