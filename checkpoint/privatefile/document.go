package privatefile

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"
)

const (
	// maxDocument is the maximum size of a document in bytes.
	maxDocument = 256 << 20
	// documentLockWait is how long LockDocument waits for other processes, which hold the lock for one write.
	documentLockWait = 10 * time.Second
)

// ErrDamaged means that a file does not contain what WriteDocument wrote.
var ErrDamaged = errors.New("the file is damaged")

// ReadDocument decodes the document at path into v. The error wraps fs.ErrNotExist if there is no file and is
// ErrDamaged if the file is not a document. Links, pipes and devices are rejected.
func ReadDocument(path string, v any) error {
	info, err := os.Lstat(path)
	if err != nil {
		return Cause(err)
	}
	if !info.Mode().IsRegular() {
		return errors.New("it is not a regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return Cause(err)
	}
	defer f.Close()
	if opened, err := f.Stat(); err != nil || !os.SameFile(info, opened) {
		return errors.New("it was replaced while being opened")
	}
	data, err := io.ReadAll(io.LimitReader(f, maxDocument))
	if err != nil {
		return Cause(err)
	}
	sum, document, _ := bytes.Cut(data, []byte("\n"))
	if string(sum) != Sum(document) || json.Unmarshal(document, v) != nil {
		return ErrDamaged
	}
	return nil
}

// WriteDocument replaces the document at path; readers see either the old or the new one.
func WriteDocument(path string, v any) error {
	document, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return Cause(Replace(path, FileMode, func(w io.Writer) error {
		_, err := w.Write(append([]byte(Sum(document)+"\n"), document...))
		return err
	}))
}

// Sum returns the SHA-256 of data in hexadecimal.
func Sum(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// DocumentFolder creates a folder that only its owner can enter. If other users can read or enter an existing
// folder, it removes their permissions and returns true. It rejects a folder that others can replace or write to.
func DocumentFolder(dir string) (repaired bool, err error) {
	if err := os.MkdirAll(dir, FolderMode); err != nil {
		return false, Cause(err)
	}
	parent, err := os.Stat(filepath.Dir(filepath.Clean(dir)))
	if err != nil {
		return false, Cause(err)
	}
	info, err := os.Stat(dir)
	if err != nil {
		return false, Cause(err)
	}
	switch mode := info.Mode().Perm(); {
	case runtime.GOOS == "windows":
		return false, nil
	case parent.Mode()&0o002 != 0 && parent.Mode()&fs.ModeSticky == 0:
		return false, errors.New("anyone can write to the folder " + filepath.Dir(filepath.Clean(dir)))
	case mode&0o022 != 0:
		return false, errors.New("other users can write to the folder " + dir)
	case mode&0o077 == 0:
		return false, nil
	}
	return true, Cause(os.Chmod(dir, FolderMode))
}

// LockDocument waits for the lock at path, which is released by unlock or when the process ends. On a file system
// without locks it succeeds without locking. If the wait is too long, it returns a *HeldError.
func LockDocument(ctx context.Context, path string) (unlock func(), err error) {
	l, err := Acquire(ctx, path, LockOptions{Program: "winnow", Wait: documentLockWait})
	if err != nil {
		return nil, Cause(err)
	}
	return func() { _ = l.Release() }, nil // the caller could not act on an error
}

// Cause returns an error of the file system without its operation and path.
func Cause(err error) error {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		return path.Err
	case errors.As(err, &link):
		return link.Err
	}
	return err
}
