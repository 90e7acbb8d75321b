package dotenv

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"winnow/assistant/safetext"
	"winnow/checkpoint/privatefile"
)

// MaxSize is the maximum size of a file in bytes. A `.env` file is a few kilobytes, so a file a thousand times larger
// was named by mistake.
const MaxSize = 8 << 20

var tooLarge = fmt.Sprintf("is larger than %d MiB, too large for a .env file", MaxSize>>20)

// newMode is the mode of a file that a save creates. It is private, because the file will contain secrets.
const newMode fs.FileMode = 0o600

// maxLinks is the maximum number of symbolic links that are followed, the same as on Linux.
const maxLinks = 40

// FileError means that a file could not be read or replaced, for a reason that the user can act on.
type FileError struct {
	Path   string
	Reason string // one clause
	Err    error  // the system's error, without the path; may be nil
}

func (e *FileError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("dotenv: %s %s: %v", printable(e.Path), e.Reason, e.Err)
	}
	return fmt.Sprintf("dotenv: %s %s", printable(e.Path), e.Reason)
}

func (e *FileError) Unwrap() error { return e.Err }

func fileError(path, reason string, err error) *FileError {
	return &FileError{path, reason, privatefile.Cause(err)}
}

// printable returns text from a file with its invisible characters spelled out.
func printable(text string) string { return string(safetext.Visible(text)) }

// Source is a `.env` file as it was read from disk. It is immutable: a save returns another Source.
type Source struct {
	Path    string // the absolute form of the path given to Load
	Real    string // the path after following all symbolic links
	File    *File
	Exists  bool        // false if the file does not exist; a save then creates it with mode 0600
	Mode    fs.FileMode // permission bits; 0 if the file does not exist
	Hash    [sha256.Size]byte
	Notices []string // notices for the user, one sentence each

	hooks hooks
}

// Load reads a file, after cleaning up what a killed save left next to it. If the file is missing but its folder
// exists, the result is a Source with Exists false. The error is a [*FileError] if the file is not regular, too
// large, or unreadable.
func Load(path string) (*Source, error) { return loadWith(path, hooks{}) }

func loadWith(path string, h hooks) (*Source, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("dotenv: %w", err)
	}
	target, err := resolve(path)
	if err != nil {
		return nil, err
	}
	notices, err := recoverUnlocked(context.Background(), target, h)
	if err != nil {
		notices = append(notices, err.Error()) // continue, because the file can still be read
	}
	current, err := readSnapshot(target)
	if err != nil {
		return nil, err
	}
	s := current.source(path, target)
	s.hooks = h
	s.Notices = append(notices, s.Notices...)
	return s, nil
}

// Format prints the name of the file for every verb, without its text.
func (s *Source) Format(out fmt.State, _ rune) {
	_, _ = fmt.Fprintf(out, "%s: %v", printable(s.Path), s.File)
}

// snapshot is the state of a file on disk at one moment.
type snapshot struct {
	data   []byte
	info   fs.FileInfo // nil if there is no file
	xattrs map[string][]byte
}

func (snap snapshot) exists() bool { return snap.info != nil }

func (snap snapshot) hash() [sha256.Size]byte { return sha256.Sum256(snap.data) }

// sameAttributes reports whether two snapshots have the same owner and mode.
func (snap snapshot) sameAttributes(other snapshot) bool {
	return ownerOf(snap.info) == ownerOf(other.info) && snap.info.Mode() == other.info.Mode()
}

func (snap snapshot) source(path, target string) *Source {
	s := &Source{Path: path, Real: target, File: Parse(snap.data), Exists: snap.exists(), Hash: snap.hash()}
	if !s.Exists {
		return s
	}
	s.Mode = snap.info.Mode().Perm()
	return s
}

// ModeNotice returns a warning with advice if other users can read or change the file, whose values may be secret;
// otherwise it returns "". The warning is not part of Notices, because it would be repeated at every read.
func (s *Source) ModeNotice() string {
	others := s.OthersCan()
	if others == "" {
		return ""
	}
	return fmt.Sprintf("%s: other users can %s it (mode %04o): chmod 600 makes it private; saving does not change the mode", printable(s.Path), others, s.Mode)
}

// OthersCan returns what the mode of the file allows other users to do; see privatefile.OthersCan.
func (s *Source) OthersCan() string {
	if !s.Exists {
		return ""
	}
	return privatefile.OthersCan(s.Mode)
}

// resolve follows the symbolic links at path. The last link may point to a file that does not exist.
func resolve(path string) (string, error) {
	hops, err := links(path)
	if err != nil {
		return "", err
	}
	return hops[len(hops)-1], nil
}

// links lists path and the paths to which its symbolic links lead; the last path is the real file.
func links(path string) ([]string, error) {
	var hops []string
	at := path
	for range maxLinks {
		dir, err := filepath.EvalSymlinks(filepath.Dir(at))
		if err != nil {
			return nil, fileError(path, "is in a folder that cannot be reached", err)
		}
		at = filepath.Join(dir, filepath.Base(at))
		hops = append(hops, at)
		to, err := os.Readlink(at)
		if err != nil {
			return hops, nil //nolint:nilerr // not a link; an error shows up when the file is read
		}
		if at = to; !filepath.IsAbs(to) {
			at = filepath.Join(dir, to)
		}
	}
	return nil, &FileError{path, "is a symbolic link to itself", nil}
}

// readSnapshot reads a file that is not a symbolic link. A missing file is not an error.
func readSnapshot(path string) (snapshot, error) {
	info, err := os.Lstat(path)
	if err == nil && !info.Mode().IsRegular() {
		return snapshot{}, &FileError{path, notRegular, nil} // checked before opening, because opening a device may have side effects
	}
	f, err := openShared(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return snapshot{}, nil
	case err != nil:
		return snapshot{}, fileError(path, "cannot be read", err)
	}
	defer f.Close()
	return readOpen(path, f)
}

// openShared opens a file for reading. It waits while another save writes the file in place under a lease.
func openShared(path string) (f *os.File, err error) {
	for end := time.Now().Add(saveWait); ; time.Sleep(leaseRetry) {
		if f, err = openRegular(path); !errors.Is(err, syscall.EAGAIN) || time.Now().After(end) {
			return f, err
		}
	}
}

const notRegular = "is not a regular file"

// readOpen reads an open file from its beginning, with its attributes.
func readOpen(path string, f *os.File) (snap snapshot, err error) {
	if snap.info, err = f.Stat(); err == nil && !snap.info.Mode().IsRegular() {
		return snapshot{}, &FileError{path, notRegular, nil}
	}
	if err == nil {
		snap.data, err = io.ReadAll(io.NewSectionReader(f, 0, MaxSize+1))
	}
	if err != nil {
		return snapshot{}, fileError(path, "cannot be read", err)
	}
	if len(snap.data) > MaxSize {
		return snapshot{}, &FileError{path, tooLarge, nil}
	}
	if snap.xattrs, err = readXattrs(f); err != nil {
		return snapshot{}, fileError(path, "has extended attributes that cannot be read", err)
	}
	return snap, nil
}
