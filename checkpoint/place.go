package checkpoint

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

const (
	folderMode = 0o700
	fileMode   = 0o600
	// othersMode are the permission bits that nobody but the owner may have.
	othersMode = 0o077
	// everyoneWrites is the permission of others to write.
	everyoneWrites = 0o002
)

// file is what the journal needs of its file. Tests put a faulty one here.
type file interface {
	io.ReaderAt
	io.WriterAt
	Truncate(size int64) error
	Sync() error
	Close() error
}

// place is where a journal is.
type place struct {
	path string
	wrap func(*os.File) file // nil: the file itself
}

func (p place) file(f *os.File) file {
	if p.wrap != nil {
		return p.wrap(f)
	}
	return f
}

// prepareFolder makes the folder, or narrows its permissions.
func (p place) prepareFolder(report *Report) error {
	dir := filepath.Dir(p.path)
	if err := os.MkdirAll(dir, folderMode); err != nil {
		return fmt.Errorf("checkpoint: make folder: %w", err)
	}
	info, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	if runtime.GOOS == "windows" {
		return nil // permissions are inherited there, mode bits mean nothing
	}
	if info.Mode().Perm()&everyoneWrites != 0 {
		return fmt.Errorf("%w: everyone may write to the folder %s", ErrUnsafe, dir)
	}
	if info.Mode().Perm()&othersMode == 0 {
		return nil
	}
	if err := os.Chmod(dir, folderMode); err != nil {
		return fmt.Errorf("checkpoint: narrow permissions: %w", err)
	}
	report.Repaired = append(report.Repaired, dir)
	return nil
}

// open opens the file at path, which must be a regular file and no link.
func (p place) open(path string, flag int) (*os.File, error) {
	before, err := os.Lstat(path)
	if err == nil && !before.Mode().IsRegular() {
		return nil, fmt.Errorf("%w: %s is no regular file", ErrUnsafe, path)
	}
	f, err := os.OpenFile(path, flag|noFollow, fileMode)
	if err != nil {
		return nil, fmt.Errorf("checkpoint: open journal: %w", err)
	}
	info, err := f.Stat()
	if err == nil && (!info.Mode().IsRegular() || before != nil && !os.SameFile(before, info)) {
		err = fmt.Errorf("%w: %s was replaced while it was opened", ErrUnsafe, path)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// narrow takes the permissions of others off f.
func narrow(f *os.File, report *Report) error {
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	if runtime.GOOS == "windows" || info.Mode().Perm()&othersMode == 0 {
		return nil
	}
	if err := f.Chmod(fileMode); err != nil {
		return fmt.Errorf("checkpoint: narrow permissions: %w", err)
	}
	report.Repaired = append(report.Repaired, f.Name())
	return nil
}

// newSuffix begins the name of a file that is to become the journal.
const newSuffix = ".new-"

// removeUnfinished deletes what a crash during replace left. Only the holder
// of the lock may call it.
func (p place) removeUnfinished() {
	left, err := filepath.Glob(escapeGlob(p.path) + newSuffix + "*")
	if err != nil {
		return
	}
	for _, path := range left {
		_ = os.Remove(path) // only room on the disk is at stake
	}
}

// escapeGlob makes a pattern that matches only path.
func escapeGlob(path string) string {
	if runtime.GOOS == "windows" {
		return path // \ separates there; [ and * are rare or not allowed
	}
	var out []byte
	for i := range len(path) {
		switch path[i] {
		case '*', '?', '[', '\\':
			out = append(out, '\\')
		}
		out = append(out, path[i])
	}
	return string(out)
}

// replace makes content the journal: all of it, durably, or none of it. With
// aside the old file stays under a name of its own, which is returned.
func (p place) replace(content []byte, aside string) (string, error) {
	temp := p.path + newSuffix + newID()
	if err := p.create(temp, content); err != nil {
		return "", errors.Join(fmt.Errorf("checkpoint: write new journal: %w", err), removed(temp))
	}
	if aside != "" {
		var err error
		if aside, err = p.setAside(aside); err != nil {
			return "", errors.Join(fmt.Errorf("checkpoint: set damaged journal aside: %w", err), removed(temp))
		}
	}
	if err := os.Rename(temp, p.path); err != nil {
		return "", errors.Join(fmt.Errorf("checkpoint: replace journal: %w", err), removed(temp))
	}
	return aside, syncFolder(filepath.Dir(p.path))
}

// removed deletes path; that it never existed is no error.
func removed(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// create writes a new file, durably.
func (p place) create(path string, content []byte) error {
	raw, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL|noFollow, fileMode)
	if err != nil {
		return err
	}
	f := p.file(raw)
	_, err = f.WriteAt(content, 0)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// setAside gives the journal a second name: wanted, or wanted-1, and so on.
// Where a file cannot have two, it is copied.
func (p place) setAside(wanted string) (string, error) {
	const attempts = 1000
	name := wanted
	for i := 1; i <= attempts; i++ {
		err := os.Link(p.path, name)
		if err != nil && !errors.Is(err, fs.ErrExist) {
			var content []byte
			if content, err = os.ReadFile(p.path); err == nil {
				err = p.create(name, content)
			}
		}
		if !errors.Is(err, fs.ErrExist) {
			return name, err
		}
		name = fmt.Sprintf("%s-%d", wanted, i)
	}
	return "", fs.ErrExist
}

// syncFolder makes a new name in a folder durable.
func syncFolder(dir string) error {
	if runtime.GOOS == "windows" {
		return nil // the file system does it with the file
	}
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	err = d.Sync()
	if err = errors.Join(err, d.Close()); err != nil {
		return fmt.Errorf("checkpoint: make folder durable: %w", err)
	}
	return nil
}
