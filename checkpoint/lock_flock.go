//go:build darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd

package checkpoint

import (
	"errors"
	"os"
	"syscall"
)

// openLock opens and locks the file. The system drops the lock when the file
// is closed, also by the death of the process.
func (p place) openLock(path string) (*os.File, error) {
	f, err := p.open(path, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, err
	}
	for {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, errors.Join(errLocked, f.Close())
	}
	if err != nil {
		return nil, lockFailed(f, err)
	}
	return f, nil
}
