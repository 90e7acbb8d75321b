//go:build linux || darwin

package dotenv

import (
	"bytes"
	"errors"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// readXattrs reads all extended attributes of an open file; access lists are
// among them.
func readXattrs(f *os.File) (map[string][]byte, error) {
	names, err := listXattrs(f)
	if err != nil || len(names) == 0 {
		return nil, err
	}
	all := make(map[string][]byte, len(names))
	for _, name := range names {
		value, err := grow(func(buf []byte) (int, error) { return unix.Fgetxattr(int(f.Fd()), name, buf) })
		if errors.Is(err, noXattr) {
			continue // removed just now
		}
		if err != nil {
			return nil, err
		}
		all[name] = value
	}
	return all, nil
}

// writeXattrs gives an open file just these attributes: a new file may have
// some from its folder.
func writeXattrs(f *os.File, want map[string][]byte) error {
	have, err := readXattrs(f)
	if err != nil {
		return err
	}
	for name := range have {
		if _, ok := want[name]; !ok {
			if err := unix.Fremovexattr(int(f.Fd()), name); err != nil && !errors.Is(err, noXattr) {
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

func listXattrs(f *os.File) ([]string, error) {
	list, err := grow(func(buf []byte) (int, error) { return unix.Flistxattr(int(f.Fd()), buf) })
	if errors.Is(err, unix.ENOTSUP) || err == nil && len(list) == 0 {
		return nil, nil
	}
	return strings.Split(strings.TrimSuffix(string(list), "\x00"), "\x00"), err
}

// grow calls read with a buffer that is large enough: its size is asked for
// first and may have changed by then.
func grow(read func([]byte) (int, error)) ([]byte, error) {
	for {
		size, err := read(nil)
		if err != nil || size == 0 {
			return nil, err
		}
		buf := make([]byte, size)
		n, err := read(buf)
		if errors.Is(err, unix.ERANGE) {
			continue
		}
		if err != nil {
			return nil, err
		}
		return buf[:n], nil
	}
}
