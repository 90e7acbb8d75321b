package dotenv

import (
	"bytes"
	"errors"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// exchange swaps two names in one step.
func exchange(a, b string) error {
	err := unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP) {
		return errNoExchange
	}
	return err
}

// setLease requests a lease on f, which lasts until f is closed. While a read lease
// lasts, another program that opens the file for writing waits; with a write lease, for
// which f is open for writing, any other waits. busy means that another program has the
// file open, for a read lease: for writing. leased is then false, as it is where there
// are no leases.
func setLease(f *os.File, write bool) (leased, busy bool) {
	kind := unix.F_RDLCK
	if write {
		kind = unix.F_WRLCK
	}
	_, err := unix.FcntlInt(f.Fd(), unix.F_SETLEASE, kind)
	return err == nil, errors.Is(err, unix.EAGAIN)
}

// Mounted reports whether a file is mounted by itself, as a container may do: its name
// cannot be given to another file, so a save writes it in place.
func Mounted(path string) bool {
	var st unix.Statx_t
	err := unix.Statx(unix.AT_FDCWD, path, 0, unix.STATX_BASIC_STATS, &st)
	return err == nil && st.Attributes&unix.STATX_ATTR_MOUNT_ROOT != 0
}

// leaseBroken reports whether another program waits to open f, on which there
// is a lease, for writing.
func leaseBroken(f *os.File) bool {
	kind, err := unix.FcntlInt(f.Fd(), unix.F_GETLEASE, 0)
	return err != nil || kind != unix.F_RDLCK
}

// maxXattr is the largest extended attribute that is preserved, and the largest
// list of their names: the limits of Linux.
const maxXattr = 64 << 10

// readXattrs reads all extended attributes of an open file; access lists are
// among them.
func readXattrs(f *os.File) (map[string][]byte, error) {
	buf := make([]byte, maxXattr)
	n, err := unix.Flistxattr(int(f.Fd()), buf)
	if errors.Is(err, unix.ENOTSUP) || err == nil && n == 0 {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	all := map[string][]byte{}
	for _, name := range strings.Split(strings.TrimSuffix(string(buf[:n]), "\x00"), "\x00") {
		n, err := unix.Fgetxattr(int(f.Fd()), name, buf)
		if errors.Is(err, unix.ENODATA) {
			continue // just removed
		}
		if err != nil {
			return nil, err
		}
		all[name] = bytes.Clone(buf[:n])
	}
	return all, nil
}

// writeXattrs gives an open file exactly these attributes: a new file may have
// others from its folder.
func writeXattrs(f *os.File, want map[string][]byte) error {
	have, err := readXattrs(f)
	if err != nil {
		return err
	}
	for name := range have {
		if _, ok := want[name]; !ok {
			if err := unix.Fremovexattr(int(f.Fd()), name); err != nil && !errors.Is(err, unix.ENODATA) {
				return err
			}
		}
	}
	for name, value := range want {
		if old, ok := have[name]; ok && bytes.Equal(old, value) {
			continue
		}
		if err := unix.Fsetxattr(int(f.Fd()), name, value, 0); err != nil {
			return err
		}
	}
	return nil
}
