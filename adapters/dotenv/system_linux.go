package dotenv

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// exchange swaps two names in one step.
func exchange(a, b string) error { return rename(a, b, unix.RENAME_EXCHANGE) }

// create moves a file to a name that must not exist.
func create(from, to string) error {
	err := rename(from, to, unix.RENAME_NOREPLACE)
	if errors.Is(err, errNoExchange) {
		return linkNew(from, to)
	}
	return err
}

func rename(from, to string, flags uint) error {
	err := unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, flags)
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP) {
		return errNoExchange
	}
	return err
}

// lease is a read lease: while it holds, nobody can open the file for writing
// without it being seen, and taking it fails while somebody has.
type lease struct {
	f       *os.File
	refused bool // somebody has the file open for writing
	active  bool // false where there are no leases
}

// takeLease leases a file opened for reading, and closes it at its release.
func takeLease(f *os.File) *lease {
	_, err := unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_RDLCK)
	return &lease{f: f, refused: errors.Is(err, unix.EAGAIN), active: err == nil}
}

// holds tells whether nobody waits to open the file for writing.
func (l *lease) holds() bool {
	if !l.active {
		return true
	}
	kind, err := unix.FcntlInt(l.f.Fd(), unix.F_GETLEASE, 0)
	return err == nil && kind == unix.F_RDLCK
}

func (l *lease) release() { l.f.Close() }
