package dotenv

import (
	"bytes"
	"errors"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// exchange atomically swaps two names.
func exchange(a, b string) error {
	err := unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP) {
		return errNoExchange
	}
	return err
}

// setLease requests a lease on f, which lasts until f is closed. With a read lease, a program that opens the file for
// writing has to wait. With a write lease, for which f must be open for writing, any program that opens the file has to
// wait. busy means that another program already has the file open (for a read lease: open for writing). leased is false
// if busy is true, and on systems without leases.
func setLease(f *os.File, write bool) (leased, busy bool) {
	kind := unix.F_RDLCK
	if write {
		kind = unix.F_WRLCK
	}
	_, err := unix.FcntlInt(f.Fd(), unix.F_SETLEASE, kind)
	return err == nil, errors.Is(err, unix.EAGAIN)
}

// Mounted reports whether a file is mounted on its own, as in a container. The name of such a file cannot be given to
// another file, so a save writes to the file in place.
func Mounted(path string) bool {
	var st unix.Statx_t
	err := unix.Statx(unix.AT_FDCWD, path, 0, unix.STATX_BASIC_STATS, &st)
	return err == nil && st.Attributes&unix.STATX_ATTR_MOUNT_ROOT != 0
}

// leaseBroken reports whether another program is waiting to open f for writing while f has a lease.
func leaseBroken(f *os.File) bool {
	kind, err := unix.FcntlInt(f.Fd(), unix.F_GETLEASE, 0)
	return err != nil || kind != unix.F_RDLCK
}

// maxXattr is the maximum size of an extended attribute, and of the list of attribute names, the same as on Linux.
const maxXattr = 64 << 10

// readXattrs reads all extended attributes of an open file, including access lists.
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
			continue // the attribute has been removed in the meantime
		}
		if err != nil {
			return nil, err
		}
		all[name] = bytes.Clone(buf[:n])
	}
	return all, nil
}

// writeXattrs sets exactly these attributes on an open file; it removes others, which a new file may have inherited
// from its folder.
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
