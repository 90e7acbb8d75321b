package privatefile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// The modes of private files and folders.
const (
	FileMode   fs.FileMode = 0o600
	FolderMode fs.FileMode = 0o700
)

// HasModes reports whether file modes have an effect on this system.
const HasModes = runtime.GOOS != "windows"

// ErrWritable means that anyone can replace files in a folder.
var ErrWritable = errors.New("anyone can write to this folder")

// Folder creates a folder and its parents, or removes the permissions of other users from an existing one; could is
// then as in Narrow. The error wraps ErrWritable or is an *fs.PathError.
func Folder(dir string) (could string, err error) {
	if err := os.MkdirAll(dir, FolderMode); err != nil {
		return "", err
	}
	info, err := os.Stat(dir)
	if err != nil {
		return "", err
	}
	const worldWritable = 0o002
	if HasModes && info.Mode().Perm()&worldWritable != 0 {
		return "", fmt.Errorf("%w (mode %04o)", ErrWritable, info.Mode().Perm())
	}
	return Narrow(dir, info)
}

// Narrow removes the permissions of other users from a file or folder. could says what they allowed, as a verb: see
// OthersCan; "" if they allowed nothing.
func Narrow(path string, info fs.FileInfo) (could string, err error) {
	mode := FileMode
	if info.IsDir() {
		mode = FolderMode
	}
	if !HasModes || info.Mode().Perm()&^mode == 0 {
		return "", nil
	}
	could = OthersCan(info.Mode())
	if could == "" && info.IsDir() {
		could = "enter"
	}
	return could, os.Chmod(path, info.Mode().Perm()&mode)
}

// OthersCan returns what the mode of a file allows other users to do: "read", "change", "read and change", or "" if they
// can do neither.
func OthersCan(mode fs.FileMode) string {
	const read, write = 0o044, 0o022
	switch {
	case mode&read != 0 && mode&write != 0:
		return "read and change"
	case mode&read != 0:
		return "read"
	case mode&write != 0:
		return "change"
	}
	return ""
}

// Replace creates or replaces the file at path with what fill writes and gives it mode. After a crash, either the old
// or the new file is there, complete and durable. An *fs.PathError names path, not the temporary file.
func Replace(path string, mode fs.FileMode, fill func(io.Writer) error) error {
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, ".winnow-*") // created with FileMode
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		failed.Path = path
	}
	if err != nil {
		return err
	}
	if err = fill(f); err == nil && mode != FileMode {
		err = f.Chmod(mode)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // the file may be incomplete
		return named(err, f.Name(), path)
	}
	return SyncFolder(dir)
}

// named replaces the path of the temporary file in an error with path. Errors about other files, which fill may return,
// stay unchanged.
func named(err error, temp, path string) error {
	var failed *fs.PathError
	var rename *os.LinkError
	switch {
	case errors.As(err, &rename) && rename.Old == temp:
		return &fs.PathError{Op: rename.Op, Path: path, Err: rename.Err}
	case errors.As(err, &failed) && failed.Path == temp:
		failed.Path = path
	}
	return err
}

// SyncFolder makes the creation, renaming and removal of files in a folder durable.
func SyncFolder(dir string) error {
	if !HasModes { // Windows cannot sync a folder and does not need to
		return nil
	}
	return syncPath(dir, os.O_RDONLY)
}

// SyncFile makes the content of a closed file durable.
func SyncFile(path string) error { return syncPath(path, os.O_RDWR) }

func syncPath(path string, flag int) error {
	f, err := os.OpenFile(path, flag, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
