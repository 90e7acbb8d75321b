package checkpoint

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"winnow/checkpoint/privatefile"
)

const (
	// lockSuffix names the file that the writer locks. The lock is
	// not on the journal, because a rewritten journal is a new file.
	lockSuffix = ".lock"
	// newSuffix names a file that is to replace the journal.
	newSuffix = ".new"
)

// file is what the journal needs of its file. Tests replace it with a faulty one.
type file interface {
	io.WriterAt
	Truncate(size int64) error
	Sync() error
	Close() error
}

// openRegular opens a file, which must be a regular file and not a link. Where
// noFollow is 0, a link put in its place after the check is followed.
func openRegular(path string, flag int) (*os.File, error) {
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%w: %s is not a regular file", ErrUnsafe, path)
	}
	f, err := os.OpenFile(path, flag|noFollow, privatefile.FileMode)
	if err != nil {
		return nil, fmt.Errorf("checkpoint: open journal: %w", err)
	}
	return f, nil
}

// errLocked is returned by openLock when another process has locked it.
var errLocked = errors.New("locked")

// lock makes this process the one that writes to the journal at path. The lock
// file is never deleted, or two processes could each lock a file of that name.
func lock(path, program string, since time.Time) (*os.File, error) {
	f, err := openLock(path + lockSuffix)
	if errors.Is(err, errLocked) {
		return nil, lockedBy(path)
	}
	if err != nil {
		return nil, fmt.Errorf("checkpoint: lock journal: %w", err)
	}
	// The content is only for the message of LockedError; it is not the lock.
	if f.Truncate(0) == nil {
		_, _ = f.WriteAt(fmt.Appendln(nil, os.Getpid(), since.UTC().Format(time.RFC3339), program), 0)
	}
	return f, nil
}

// lockedBy is who has locked the journal at path. What cannot be read is not known.
func lockedBy(path string) *LockedError {
	text, _ := os.ReadFile(path + lockSuffix)
	words := append(strings.SplitN(strings.TrimSpace(string(text)), " ", 3), "", "")
	e := &LockedError{Program: words[2], Path: path}
	e.PID, _ = strconv.Atoi(words[0])
	e.Since, _ = time.Parse(time.RFC3339, words[1])
	return e
}

// Writer says which process writes to the journal at path now; nil is none, or that it
// cannot be found out. It makes no file.
func Writer(path string) *LockedError {
	if info, _ := os.Stat(path + lockSuffix); info == nil {
		return nil
	}
	f, err := openLock(path + lockSuffix)
	if errors.Is(err, errLocked) {
		return lockedBy(path)
	}
	if err == nil {
		_ = f.Close()
	}
	return nil
}

// replaceFile replaces the journal by content, atomically and durably, and opens
// it again.
func (j *Journal) replaceFile(content []byte) error {
	temp := j.path + newSuffix
	_ = os.Remove(temp) // a crash may have left one; create reports anything else
	err := j.create(temp, content)
	if err == nil {
		err = os.Rename(temp, j.path)
	}
	if err == nil {
		err = errors.Join(privatefile.SyncFolder(filepath.Dir(j.path)), j.file.Close())
	}
	if err != nil {
		return fmt.Errorf("checkpoint: replace journal: %w", err)
	}
	if content, err = j.openFile(os.O_RDWR); err == nil {
		_, err = j.load(content)
	}
	return err
}

// create makes a new file with content, durably, or none.
func (j *Journal) create(path string, content []byte) error {
	raw, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL|noFollow, privatefile.FileMode)
	if err != nil {
		return err
	}
	f := j.opts.wrap(raw)
	_, err = f.WriteAt(content, 0)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		_ = os.Remove(path) // half a file is of no use
	}
	return err
}
