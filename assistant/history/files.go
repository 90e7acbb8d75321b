package history

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// Modes of everything the store creates: history is for its owner's eyes only.
const (
	dirMode  fs.FileMode = 0o700
	fileMode fs.FileMode = 0o600
)

// worldWritable is the bit that lets anybody put a file of theirs in our place.
const worldWritable fs.FileMode = 0o002

// hasModes tells whether file modes mean something here.
const hasModes = runtime.GOOS != "windows"

// suffixes of the files that belong to a database.
var suffixes = []string{"", "-wal", "-shm", "-journal"}

// prepareFolder creates dir for its owner only. It returns what it repaired, "" for nothing.
func prepareFolder(dir string) (string, error) {
	if err := os.MkdirAll(dir, dirMode); err != nil {
		return "", fmt.Errorf("history: create the folder: %w", err)
	}
	info, err := os.Stat(dir)
	if err != nil {
		return "", fmt.Errorf("history: %w", err)
	}
	mode := info.Mode().Perm()
	switch {
	case !info.IsDir():
		return "", &FileError{dir, "is not a folder"}
	case !hasModes || mode&^dirMode == 0:
		return "", nil
	case mode&worldWritable != 0:
		return "", &FileError{dir, fmt.Sprintf("anybody may write in this folder (mode %04o): choose another, or chmod 700 it", mode)}
	}
	return tighten(dir, mode, dirMode)
}

// prepareFile checks one file that may exist. It returns what it repaired.
func prepareFile(path string) (string, error) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	case err != nil:
		return "", fmt.Errorf("history: %w", err)
	case info.Mode()&fs.ModeSymlink != 0:
		return "", &FileError{path, "is a symbolic link: refused, for the link may lead anywhere"}
	case !info.Mode().IsRegular():
		return "", &FileError{path, "is not a regular file"}
	case !hasModes || info.Mode().Perm()&^fileMode == 0:
		return "", nil
	}
	return tighten(path, info.Mode().Perm(), fileMode)
}

func tighten(path string, from, to fs.FileMode) (string, error) {
	if err := os.Chmod(path, from&to); err != nil {
		return "", &FileError{path, fmt.Sprintf("others may read it (mode %04o) and its mode cannot be changed: %v", from, err)}
	}
	return fmt.Sprintf("%s had mode %04o, others could read it: now %04o", path, from, from&to), nil
}

// createFile creates an empty file that nobody else can read, and makes the
// folder's entry durable.
func createFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, fileMode)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("history: create the database: %w", err)
	}
	if err := f.Close(); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(path))
}

// syncFolder makes the entries of a folder durable.
func syncFolder(dir string) error {
	if !hasModes { // Windows cannot flush a folder, and need not
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

// syncFile makes the bytes of a closed file durable.
func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}

// size is the size of a file, -1 when there is none.
func size(path string) int64 {
	info, err := os.Lstat(path)
	if err != nil {
		return -1
	}
	return info.Size()
}

// removeDatabase removes a file of ours and its companions.
func removeDatabase(path string) {
	for _, suffix := range suffixes {
		os.Remove(path + suffix)
	}
}

// copyFile copies a file that may not exist.
func copyFile(from, to string) error {
	in, err := os.Open(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, fileMode)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// prepareFiles creates the folders and checks names and modes.
func (s *SQLite) prepareFiles() error {
	if info, err := os.Lstat(s.run); err == nil && !info.IsDir() {
		return &FileError{s.run, "is not a folder"} // a link included
	}
	check := func(repaired string, err error) error {
		if repaired != "" {
			s.report.Repaired = append(s.report.Repaired, repaired)
		}
		return err
	}
	for _, dir := range []string{filepath.Dir(s.path), s.run} {
		if err := check(prepareFolder(dir)); err != nil {
			return err
		}
	}
	for _, suffix := range suffixes {
		if err := check(prepareFile(s.path + suffix)); err != nil {
			return err
		}
	}
	return nil
}
