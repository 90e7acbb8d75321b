package privatefile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/gofrs/flock"
)

// retryAfter is the time between two attempts to get a lock.
const retryAfter = 2 * time.Millisecond

// ErrNotRegular means that the path to lock is not a regular file; it is always wrapped.
var ErrNotRegular = errors.New("not a regular file")

// LockOptions configures Acquire. The zero value creates a private lock file if necessary and does not wait.
type LockOptions struct {
	Name    string        // name of the lock in errors, such as "writer lock"
	Program string        // name of this program in the HeldError of other processes; "" writes nothing to the file
	Since   time.Time     // when this process got the lock, also for the HeldError; zero means now
	Wait    time.Duration // how long to wait while another process holds the lock
	Shared  bool          // share the lock with others that set Shared
	// Existing locks a file or folder that has another purpose; it is neither created nor written to.
	Existing bool
	// Temporary removes the file on Release. Its mode is 0644, so that other users can lock it too.
	Temporary bool
}

// HeldError means that another process holds a lock.
type HeldError struct {
	Lock    string    // name of the lock
	Program string    // the holder; "" if unknown
	PID     int       // 0 if unknown
	Since   time.Time // zero if unknown
	Path    string
}

// Holder returns the program and process that hold the lock, for display.
func (e *HeldError) Holder() string {
	if e.PID == 0 {
		return cmp.Or(e.Program, "another program")
	}
	return fmt.Sprintf("%s (process %d)", cmp.Or(e.Program, "another program"), e.PID)
}

// Error implements error.
func (e *HeldError) Error() string {
	text := fmt.Sprintf("timed out waiting for the %s: %s ", cmp.Or(e.Lock, "lock"), e.Holder())
	if e.Since.IsZero() {
		return text + "holds it"
	}
	return text + "has held it since " + e.Since.Local().Format("2006-01-02 15:04")
}

// Lock is a lock held by this process. A nil Lock holds nothing.
type Lock struct {
	flock     *flock.Flock
	temporary bool
}

// Acquire gets the lock at path. It returns a *HeldError if another process holds the lock for longer than
// LockOptions.Wait, ctx.Err() if ctx ends first, or an error of the system.
func Acquire(ctx context.Context, path string, o LockOptions) (*Lock, error) {
	for end := time.Now().Add(o.Wait); ; {
		l, err := try(path, o)
		var held *HeldError
		if !errors.As(err, &held) {
			return l, err
		}
		if !time.Now().Before(end) {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(retryAfter):
		}
	}
}

// Holder returns who holds the lock at path, or nil if the lock is free or its state cannot be determined. It does
// not create a file.
func Holder(path, name string) *HeldError {
	l, err := try(path, LockOptions{Name: name, Existing: true})
	if _, held := errors.AsType[*HeldError](err); held {
		return LastHolder(path, name)
	}
	_ = l.Release()
	return nil
}

// LastHolder returns who got the lock at path last, whether or not it is still held. Fields that cannot be read stay
// zero.
func LastHolder(path, name string) *HeldError {
	text, _ := os.ReadFile(path)
	words := append(strings.SplitN(strings.TrimSpace(string(text)), " ", 3), "", "")
	e := &HeldError{Lock: name, Program: words[2], Path: path}
	e.PID, _ = strconv.Atoi(words[0])
	e.Since, _ = time.Parse(time.RFC3339, words[1])
	return e
}

// try gets the lock, or returns a *HeldError at once.
func try(path string, o LockOptions) (*Lock, error) {
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() && !(o.Existing && info.IsDir()) {
		return nil, &fs.PathError{Op: "lock", Path: path, Err: ErrNotRegular}
	}
	flag, mode := os.O_RDONLY|NoFollow, FileMode
	if !o.Existing {
		flag |= os.O_CREATE
	}
	if o.Temporary {
		mode = 0o644
	}
	l := &Lock{flock.New(path, flock.SetFlag(flag), flock.SetPermissions(mode)), o.Temporary}
	lock := l.flock.TryLock
	if o.Shared {
		lock = l.flock.TryRLock
	}
	ok, err := lock()
	switch {
	case errors.Is(err, syscall.EAGAIN): // a lease: another process is writing the file in place
		return nil, &HeldError{Lock: o.Name, Path: path}
	case errors.Is(err, errors.ErrUnsupported), errors.Is(err, syscall.ENOLCK), errors.Is(err, syscall.EINVAL), errors.Is(err, syscall.EISDIR):
		return nil, nil
	case err != nil:
		return nil, err
	case !ok && o.Existing: // the content of the file does not describe the lock
		return nil, &HeldError{Lock: o.Name, Path: path}
	case !ok:
		return nil, LastHolder(path, o.Name)
	}
	if !l.isAt(path) { // the previous holder removed or replaced the file
		return nil, errors.Join(l.Release(), &HeldError{Lock: o.Name, Path: path})
	}
	if o.Program != "" && !o.Existing {
		l.describe(path, o)
	}
	return l, nil
}

// isAt reports whether the locked file is still the one at path.
func (l *Lock) isAt(path string) bool {
	locked, err := l.flock.Stat()
	now, nowErr := os.Stat(path)
	return err == nil && nowErr == nil && os.SameFile(locked, now)
}

// describe writes the holder to the file, for the HeldError of other processes. Failures are ignored, because the lock
// works without the description.
func (l *Lock) describe(path string, o LockOptions) {
	if o.Since.IsZero() {
		o.Since = time.Now()
	}
	f, err := os.OpenFile(path, os.O_WRONLY|NoFollow, 0)
	if err != nil {
		return
	}
	if f.Truncate(0) == nil {
		_, _ = f.WriteAt(fmt.Appendln(nil, os.Getpid(), o.Since.UTC().Format(time.RFC3339), o.Program), 0)
	}
	_ = f.Close()
}

// Release releases the lock. Later calls do nothing.
func (l *Lock) Release() error {
	if l == nil || !l.flock.Locked() && !l.flock.RLocked() {
		return nil
	}
	if l.temporary && l.isAt(l.flock.Path()) {
		_ = os.Remove(l.flock.Path()) // if this fails, the next holder removes the file
	}
	return l.flock.Unlock()
}
