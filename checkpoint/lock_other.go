//go:build !(darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd)

package checkpoint

import (
	"errors"
	"io/fs"
	"os"

	"winnow/checkpoint/privatefile"
)

// noFollow has no equivalent here; the check before opening must be enough.
const noFollow = 0

// openLock removes the file and creates it again. On Windows a file that a process
// has open cannot be removed, so that fails while another process writes; Plan 9
// enforces ModeExclusive. The other systems have no lock that the standard library
// can take and that is released when its process ends.
func openLock(path string) (*os.File, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, errors.Join(errLocked, err)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, privatefile.FileMode|os.ModeExclusive)
	if errors.Is(err, fs.ErrExist) {
		err = errLocked
	}
	return f, err
}
