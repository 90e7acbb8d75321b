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
	// lockSuffix is the suffix of the writer's lock file. The journal itself cannot be the lock file, because
	// rewriting it creates a new file.
	lockSuffix = ".lock"
	// aliveSuffix is the suffix of the file on which each process that has the journal open holds a shared lock.
	aliveSuffix = ".alive"
	// newSuffix is the suffix of a file that is about to replace the journal.
	newSuffix = ".new"
)

// file is the part of *os.File that the journal uses. Tests replace it with a faulty one.
type file interface {
	io.WriterAt
	Truncate(size int64) error
	Sync() error
	Stat() (fs.FileInfo, error)
	Close() error
}

// openRegular opens a regular file, not a link. If privatefile.NoFollow is 0, a link created after the check is
// followed.
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

// replaceFile replaces the journal with content, atomically and durably, and opens it again.
func (j *Journal) replaceFile(content []byte) error {
	temp := j.path + newSuffix
	_ = os.Remove(temp) // a crash may have left this file; create reports any other problem
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

// create durably creates a new file with content. If it fails, it leaves no new file behind.
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
		_ = os.Remove(path) // the file is incomplete
	}
	return err
}
