package checkpoint

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// lockSuffix names the file that the writer holds a lock on. The lock is not
// on the journal, because a compacted journal is a new file. The lock file is
// never deleted: a name that comes and goes could be locked twice.
const lockSuffix = ".lock"

// errLocked is returned by lockFile when another holds the lock.
var errLocked = errors.New("locked")

// lock makes this process the one that writes.
func (p place) lock() (*os.File, error) {
	path := p.path + lockSuffix
	f, err := p.openLock(path)
	if errors.Is(err, errLocked) {
		return nil, &LockedError{PID: lockHolder(path), Path: p.path}
	}
	if err != nil {
		return nil, err
	}
	// The number only helps a person; the lock itself is the system's.
	pid := []byte(strconv.Itoa(os.Getpid()) + "\n")
	if _, err := f.WriteAt(pid, 0); err == nil {
		_ = f.Truncate(int64(len(pid))) // a longer number's rest is harmless
	}
	return f, nil
}

// lockHolder reads whose lock it is, 0 if that cannot be told.
func lockHolder(path string) int {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	first, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(first)
	if err != nil {
		return 0
	}
	return pid
}

// lockFailed closes f and says why it could not be locked.
func lockFailed(f *os.File, err error) error {
	return errors.Join(fmt.Errorf("checkpoint: lock journal: %w", err), f.Close())
}
