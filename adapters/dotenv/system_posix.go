//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package dotenv

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// owner is whose a file is, and under how many names it is known.
type owner struct {
	uid, gid int
	links    uint64
}

func (o owner) same(other owner) bool { return o.uid == other.uid && o.gid == other.gid }

func ownerOf(info fs.FileInfo) owner {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return owner{-1, -1, 1}
	}
	return owner{int(st.Uid), int(st.Gid), uint64(st.Nlink)}
}

// giveTo makes f belong to o.
func giveTo(f *os.File, o owner) error {
	info, err := f.Stat()
	if err != nil || ownerOf(info).same(o) {
		return err
	}
	return f.Chown(o.uid, o.gid)
}

// openPlain opens a file for reading; it does not follow a symbolic link and does not
// wait for the other end of a pipe.
func openPlain(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW, 0)
}

// writable tells whether this process may write to the file: a mode without write
// permission is a wish that a rename would ignore.
func writable(path string) error {
	return unix.Access(path, unix.W_OK)
}

// syncFolder makes renames in a folder durable.
func syncFolder(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

// Another save takes milliseconds. Waiting looks again after lockPause and gives
// up after lockWait.
const (
	lockPause = 2 * time.Millisecond
	lockWait  = 10 * time.Second
)

// lockFolder waits until no other save works in a folder. The lock is the
// folder itself: it leaves no file behind and ends with the process.
func lockFolder(ctx context.Context, path string) (unlock func(), err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, lockWait, errors.New("another save holds the folder"))
	defer cancel()
	d, err := os.Open(path)
	if err != nil {
		return nil, &FileError{path, "cannot be locked", reason(err)}
	}
	for {
		err := unix.Flock(int(d.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case err == nil:
			return func() { d.Close() }, nil
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EWOULDBLOCK):
		case errors.Is(err, unix.ENOTSUP), errors.Is(err, unix.ENOLCK), errors.Is(err, unix.EBADF), errors.Is(err, unix.EINVAL):
			return func() { d.Close() }, nil // a file system without locks: the exchange still compares
		default:
			return nil, errors.Join(&FileError{path, "cannot be locked", err}, d.Close())
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(&FileError{path, "cannot be locked", context.Cause(ctx)}, d.Close())
		case <-time.After(lockPause):
		}
	}
}
