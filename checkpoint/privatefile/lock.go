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

// ErrNotRegular refuses to lock what is no regular file; it is always wrapped.
var ErrNotRegular = errors.New("not a regular file")

// LockOptions configure Acquire. The zero value makes a private lock file if there is
// none, and does not wait.
type LockOptions struct {
	Name    string        // of the lock, in the error: "writer lock"
	Program string        // this one, for the HeldError of others; "" writes nothing into the file
	Since   time.Time     // when Program got the lock; zero means now
	Wait    time.Duration // for another holder
	Shared  bool          // several may hold the lock, each with Shared
	// Existing locks a file or folder that has another use: it is neither made nor
	// written to.
	Existing bool
	// Temporary removes the file on Release. Other users may lock it: its mode is 0644.
	Temporary bool
}

// HeldError is a lock that another process holds.
type HeldError struct {
	Lock    string    // its name
	Program string    // that holds it; "" when it is not known
	PID     int       // 0 when it is not known
	Since   time.Time // zero when it is not known
	Path    string
}

// Holder names who holds the lock.
func (e *HeldError) Holder() string {
	if e.PID == 0 {
		return cmp.Or(e.Program, "another program")
	}
	return fmt.Sprintf("%s (process %d)", cmp.Or(e.Program, "another program"), e.PID)
}

// Error names the lock and who holds it.
func (e *HeldError) Error() string {
	text := fmt.Sprintf("timed out waiting for the %s: %s holds it", cmp.Or(e.Lock, "lock"), e.Holder())
	if e.Since.IsZero() {
		return text
	}
	return text + " since " + e.Since.Local().Format("2006-01-02 15:04")
}

// Lock is a lock that this process holds. A nil Lock holds nothing.
type Lock struct {
	flock     *flock.Flock
	temporary bool
}

// Acquire gets the lock at path. The error is a *HeldError when another process holds
// it for longer than Options.Wait, that of ctx, or the system's.
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

// Holder returns who holds the lock at path; nil: no process does, or that cannot be
// found out. It makes no file.
func Holder(path, name string) *HeldError {
	l, err := try(path, LockOptions{Name: name, Existing: true})
	if _, held := errors.AsType[*HeldError](err); held {
		return LastHolder(path, name)
	}
	_ = l.Release()
	return nil
}

// LastHolder returns who got the lock at path last, whether or not it still holds it.
// What cannot be read is not known.
func LastHolder(path, name string) *HeldError {
	text, _ := os.ReadFile(path)
	words := append(strings.SplitN(strings.TrimSpace(string(text)), " ", 3), "", "")
	e := &HeldError{Lock: name, Program: words[2], Path: path}
	e.PID, _ = strconv.Atoi(words[0])
	e.Since, _ = time.Parse(time.RFC3339, words[1])
	return e
}

// try gets the lock or returns a *HeldError at once.
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
	case errors.Is(err, syscall.EAGAIN): // a lease on the file: it is being written in place
		return nil, &HeldError{Lock: o.Name, Path: path}
	case errors.Is(err, errors.ErrUnsupported), errors.Is(err, syscall.ENOLCK), errors.Is(err, syscall.EINVAL), errors.Is(err, syscall.EISDIR):
		return nil, nil
	case err != nil:
		return nil, err
	case !ok && o.Existing: // what is in the file says nothing of its lock
		return nil, &HeldError{Lock: o.Name, Path: path}
	case !ok:
		return nil, LastHolder(path, o.Name)
	}
	if !l.isAt(path) { // its last holder removed or replaced it
		return nil, errors.Join(l.Release(), &HeldError{Lock: o.Name, Path: path})
	}
	if o.Program != "" && !o.Existing {
		l.describe(path, o)
	}
	return l, nil
}

// isAt reports whether the locked file is the one at path now.
func (l *Lock) isAt(path string) bool {
	locked, err := l.flock.Stat()
	now, nowErr := os.Stat(path)
	return err == nil && nowErr == nil && os.SameFile(locked, now)
}

// describe writes who holds the lock into its file, for the HeldError of others. It
// is not the lock: a failure is ignored.
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

// Release ends the lock. A second call does nothing.
func (l *Lock) Release() error {
	if l == nil || !l.flock.Locked() && !l.flock.RLocked() {
		return nil
	}
	if l.temporary && l.isAt(l.flock.Path()) {
		_ = os.Remove(l.flock.Path()) // the next holder removes what stays
	}
	return l.flock.Unlock()
}
