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

// Modes of everything the store creates: its owner alone reads the history.
const (
	dirMode       fs.FileMode = 0o700
	fileMode      fs.FileMode = 0o600
	worldWritable fs.FileMode = 0o002 // lets anybody replace the files in a folder
)

// hasModes reports whether file modes have an effect on this system.
const hasModes = runtime.GOOS != "windows"

// suffixes of the files that belong to a database; the file itself is last.
var suffixes = []string{"-shm", "-wal", "-journal", ""}

// prepareFiles creates the folders, refuses anything but regular files and folders
// in their places, and removes the permissions of others.
func (s *store) prepareFiles() error {
	if info, err := os.Lstat(s.runDir); err == nil && !info.IsDir() { // a link included
		return &FileError{s.runDir, "is not a folder"}
	}
	for _, dir := range []string{filepath.Dir(s.path), s.runDir} {
		if err := os.MkdirAll(dir, dirMode); err != nil {
			return fmt.Errorf("history: create the folder: %w", err)
		}
		info, err := os.Stat(dir)
		if err != nil {
			return fmt.Errorf("history: %w", err)
		}
		if hasModes && info.Mode().Perm()&worldWritable != 0 {
			return &FileError{dir, fmt.Sprintf("anybody may write in this folder (mode %04o)", info.Mode().Perm())}
		}
		if err := s.narrowMode(dir, info, dirMode); err != nil {
			return err
		}
	}
	for _, suffix := range suffixes {
		path := s.path + suffix
		info, err := os.Lstat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return fmt.Errorf("history: %w", err)
		case !info.Mode().IsRegular(): // a link, which may lead anywhere, included
			return &FileError{path, "is not a regular file"}
		}
		if err := s.narrowMode(path, info, fileMode); err != nil {
			return err
		}
	}
	return nil
}

// narrowMode removes the permissions that allowed does not have, and reports it.
func (s *store) narrowMode(path string, info fs.FileInfo, allowed fs.FileMode) error {
	mode := info.Mode().Perm()
	if !hasModes || mode&^allowed == 0 {
		return nil
	}
	if err := os.Chmod(path, mode&allowed); err != nil {
		return &FileError{path, fmt.Sprintf("others may read it (mode %04o) and its mode cannot be changed: %v", mode, err)}
	}
	s.report.Repaired = append(s.report.Repaired, fmt.Sprintf("%s had mode %04o, others could read it: now %04o", path, mode, mode&allowed))
	return nil
}

// createFile creates an empty file, durably, unless it exists.
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

// syncFolder makes the creation and renaming of files in a folder durable.
func syncFolder(dir string) error {
	if !hasModes { // Windows cannot sync a folder, and need not
		return nil
	}
	return syncWith(dir, os.O_RDONLY)
}

// syncFile makes the bytes of a closed file durable.
func syncFile(path string) error { return syncWith(path, os.O_RDWR) }

func syncWith(path string, flag int) error {
	f, err := os.OpenFile(path, flag, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}

// fileSize returns the size of a file, -1 when there is none.
func fileSize(path string) int64 {
	info, err := os.Lstat(path)
	if err != nil {
		return -1
	}
	return info.Size()
}

// removeDatabase removes a database and the files that belong to it.
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
