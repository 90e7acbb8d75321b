package checkpoint

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"winnow/checkpoint/privatefile"
)

const (
	// lockSuffix names the file that the writer locks. The lock is
	// not on the journal, because a rewritten journal is a new file.
	lockSuffix = ".lock"
	// aliveSuffix names the file on which each process that has the journal open has a
	// shared lock.
	aliveSuffix = ".alive"
	// newSuffix names a file that is to replace the journal.
	newSuffix = ".new"
)

// file is what the journal needs of its file. Tests replace it with a faulty one.
type file interface {
	io.WriterAt
	Truncate(size int64) error
	Sync() error
	Stat() (fs.FileInfo, error)
	Close() error
}

// openRegular opens a file, which must be a regular file and not a link. Where
// privatefile.NoFollow is 0, a link put in its place after the check is followed.
func openRegular(path string, flag int) (*os.File, error) {
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%w: %s is not a regular file", ErrUnsafe, path)
	}
	f, err := os.OpenFile(path, flag|privatefile.NoFollow, privatefile.FileMode)
	if err != nil {
		return nil, fmt.Errorf("checkpoint: open journal: %w", err)
	}
	return f, nil
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
	raw, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL|privatefile.NoFollow, privatefile.FileMode)
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
