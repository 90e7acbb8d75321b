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
	"time"
)

// MaxSize is the largest file that is read, in bytes. A `.env` file has a few
// kilobytes; what is a thousand times larger was named by mistake.
const MaxSize = 8 << 20

// newMode is the mode of a file that a save creates: it will hold keys.
const newMode fs.FileMode = 0o600

// maxLinks is how many symbolic links are followed to the real file, as Linux does.
const maxLinks = 40

// FileError is a file that is not read or not replaced, for a reason the user
// can do something about.
type FileError struct {
	Path   string
	Reason string // one clause
	Err    error  // what the system said; may be nil
}

func (e *FileError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("dotenv: %s %s: %v", printable(e.Path), e.Reason, e.Err)
	}
	return fmt.Sprintf("dotenv: %s %s", printable(e.Path), e.Reason)
}

func (e *FileError) Unwrap() error { return e.Err }

// Source is a `.env` file as it was when it was read. Saving makes another
// Source and leaves this one as it is.
type Source struct {
	Path    string // absolute, as it was asked for
	Real    string // behind all symbolic links
	File    *File
	Exists  bool        // false: nothing there yet, a save creates it with mode 0600
	Mode    fs.FileMode // permission bits; 0 when it does not exist
	UID     int         // owner and group, -1 when unknown
	GID     int
	ModTime time.Time
	Hash    [sha256.Size]byte // of the bytes
	Notices []string          // what the user should know, one sentence each

	seam *seam
}

// Load reads a file. A missing one is a Source that does not exist, when its folder
// does. What a killed save left beside it is cleaned up first. The error is a
// [*FileError] for what is no plain file, too large, or unreadable.
func Load(path string) (*Source, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("dotenv: %w", err)
	}
	target, err := resolve(path)
	if err != nil {
		return nil, err
	}
	notices, err := tidy(context.Background(), target)
	if err != nil {
		notices = append(notices, err.Error()) // a read-only folder can still be read
	}
	st, err := readState(target)
	if err != nil {
		return nil, err
	}
	s := st.source(path, target)
	s.Notices = append(notices, s.Notices...)
	return s, nil
}

// String names the file and none of its text.
func (s *Source) String() string { return fmt.Sprintf("%s: %v", printable(s.Path), s.File) }

// GoString is String: %#v must not print values either.
func (s *Source) GoString() string { return s.String() }

// state is a file on disk at one moment.
type state struct {
	data   []byte
	info   fs.FileInfo // nil: there is none
	owner  owner
	xattrs map[string][]byte
}

func (st state) exists() bool { return st.info != nil }

func (st state) hash() [sha256.Size]byte { return sha256.Sum256(st.data) }

// source makes a Source of what is there.
func (st state) source(path, target string) *Source {
	s := &Source{Path: path, Real: target, File: Parse(st.data), Exists: st.exists(), UID: -1, GID: -1, Hash: st.hash()}
	if !s.Exists {
		return s
	}
	s.Mode, s.ModTime = st.info.Mode().Perm(), st.info.ModTime()
	s.UID, s.GID = st.owner.uid, st.owner.gid
	if wide := s.Mode & 0o077; wide != 0 {
		s.Notices = append(s.Notices, fmt.Sprintf("%s can be read or changed by others (mode %04o); a save keeps that", printable(path), s.Mode))
	}
	return s
}

// resolve follows the symbolic links at path. The last one may lead to nothing.
func resolve(path string) (string, error) {
	at := path
	for range maxLinks {
		dir, err := filepath.EvalSymlinks(filepath.Dir(at))
		if err != nil {
			return "", &FileError{path, "lies in a folder that cannot be reached", reason(err)}
		}
		at = filepath.Join(dir, filepath.Base(at))
		info, err := os.Lstat(at)
		if errors.Is(err, fs.ErrNotExist) {
			return at, nil
		}
		if err != nil {
			return "", &FileError{path, "cannot be read", reason(err)}
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			return at, nil
		}
		to, err := os.Readlink(at)
		if err != nil {
			return "", &FileError{path, "cannot be read", reason(err)}
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(dir, to)
		}
		at = to
	}
	return "", &FileError{path, "is a symbolic link to itself", nil}
}

// readState reads a file that is not a symbolic link.
func readState(path string) (state, error) {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return state{}, nil
	}
	if err != nil {
		return state{}, &FileError{path, "cannot be read", reason(err)}
	}
	if err := plain(path, info); err != nil {
		return state{}, err // before opening: opening a device may do something
	}
	f, err := openPlain(path)
	if errors.Is(err, fs.ErrNotExist) {
		return state{}, nil
	}
	if err != nil {
		return state{}, &FileError{path, "cannot be read", reason(err)}
	}
	defer f.Close()
	return readOpen(path, f)
}

// readOpen reads an open file with its attributes.
func readOpen(path string, f *os.File) (state, error) {
	info, err := f.Stat()
	if err != nil {
		return state{}, &FileError{path, "cannot be read", reason(err)}
	}
	if err := plain(path, info); err != nil {
		return state{}, err
	}
	st := state{info: info, owner: ownerOf(info)}
	if st.data, err = io.ReadAll(io.LimitReader(f, MaxSize+1)); err != nil {
		return state{}, &FileError{path, "cannot be read", reason(err)}
	}
	if len(st.data) > MaxSize {
		return state{}, &FileError{path, tooLarge, nil}
	}
	if st.xattrs, err = readXattrs(f); err != nil {
		return state{}, &FileError{path, "has extended attributes that cannot be read", reason(err)}
	}
	return st, nil
}

var tooLarge = fmt.Sprintf("is larger than %d MiB: that is no .env file", MaxSize>>20)

// plain refuses everything that is not a regular file.
func plain(path string, info fs.FileInfo) error {
	kind := ""
	switch mode := info.Mode(); {
	case mode.IsRegular():
		if info.Size() > MaxSize {
			return &FileError{path, tooLarge, nil}
		}
		return nil
	case mode.IsDir():
		kind = "is a folder, not a file"
	case mode&fs.ModeNamedPipe != 0:
		kind = "is a named pipe: it cannot be read twice or replaced"
	case mode&fs.ModeDevice != 0:
		kind = "is a device, not a file"
	case mode&fs.ModeSocket != 0:
		kind = "is a socket, not a file"
	case mode&fs.ModeSymlink != 0:
		kind = "became a symbolic link just now"
	default:
		kind = "is not a regular file"
	}
	return &FileError{path, kind, nil}
}

// reason is what the system said, without the path that the caller tells.
func reason(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}
