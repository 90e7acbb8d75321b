package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"winnow/assistant/history"
	"winnow/checkpoint/privatefile"
)

// fileMode is the mode of all files that the store creates.
const fileMode = privatefile.FileMode

// suffixes are the suffixes of the files that belong to a database; the database file itself is last.
var suffixes = []string{"-shm", "-wal", "-journal", ""}

// prepareFiles creates the folders and removes the permissions of other users. It returns an error if a file of the
// database is not a regular file or the run folder is not a folder.
func (s *store) prepareFiles() error {
	info, err := os.Lstat(s.runDir)
	if err == nil && !info.IsDir() { // symbolic links are not allowed either
		return &history.FileError{Path: s.runDir, Reason: "not a folder"}
	}
	s.usedBefore = err == nil
	there := map[string]fs.FileInfo{}
	for _, suffix := range suffixes {
		path := s.path + suffix
		switch info, err := os.Lstat(path); {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return fmt.Errorf("history: %w", err)
		case !info.Mode().IsRegular(): // symbolic links, which may point anywhere, are not allowed either
			return &history.FileError{Path: path, Reason: "not a regular file"}
		default:
			there[path] = info
		}
	}
	for _, dir := range []string{filepath.Dir(s.path), s.runDir} {
		could, err := privatefile.Folder(dir)
		if errors.Is(err, privatefile.ErrWritable) {
			return &history.FileError{Path: dir, Reason: err.Error()}
		} else if err != nil {
			return fmt.Errorf("history: %w", err)
		}
		s.reportNarrowed(dir, could)
	}
	for path, info := range there {
		could, err := privatefile.Narrow(path, info)
		if errors.Is(err, syscall.EROFS) {
			return fmt.Errorf("history: %w", err)
		} else if err != nil {
			return &history.FileError{Path: path, Reason: "other users can " + cmp.Or(could, "run") + " it, and its mode cannot be changed: " + err.Error()}
		}
		s.reportNarrowed(path, could)
	}
	return nil
}

func (s *store) reportNarrowed(path, could string) {
	if could != "" {
		s.report.Repaired = append(s.report.Repaired, "other users could "+could+" "+path+"; they no longer can")
	}
}

// create creates a new database. The database is renamed to its final name only when it is complete, so that an Open
// that fails or is killed leaves no database behind.
func (s *store) create(ctx context.Context) error {
	err := s.build(ctx, func(*writer) error { return nil })
	if err == nil {
		s.step("name the new database")
		err = errors.Join(os.Rename(s.path+salvageNew, s.path), privatefile.SyncFolder(filepath.Dir(s.path)))
	}
	if err != nil {
		removeDatabase(s.path + salvageNew)
		return fmt.Errorf("history: create the database: %w", err)
	}
	return nil
}

// build creates a database next to the store's path and calls fill to fill it.
func (s *store) build(ctx context.Context, fill func(*writer) error) error {
	path := s.path + salvageNew
	removeDatabase(path)
	s.step("create the file")
	if err := createFile(path); err != nil {
		return err
	}
	db, err := sql.Open("sqlite", dsn(path, "synchronous(FULL)"))
	if err != nil {
		return err
	}
	defer db.Close()
	c, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	w := newWriter(c)
	if err := migrate(ctx, w, 0, s.step); err != nil {
		return err
	}
	if err := fill(w); err != nil {
		return err
	}
	return errors.Join(w.close(), db.Close(), privatefile.SyncFile(path))
}

// createFile creates an empty file and syncs its folder, unless the file exists.
func createFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, fileMode)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return privatefile.SyncFolder(filepath.Dir(path))
}

// fileSize returns the size of a file in bytes, or -1 if Lstat fails, for example because the file does not exist.
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

// copyFile copies a file. It does nothing if the file does not exist.
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
