package dotenv

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// KeptVersions is how many saves of one file are kept.
const KeptVersions = 20

// Who made a save.
type Who string

// The two who save.
const (
	User      Who = "user"
	Assistant Who = "assistant"
)

// Author is who made a save, and in which session.
type Author struct {
	Who     Who
	Session string
}

// Side is one of the two texts of a version.
type Side int

// A version holds the file as its save found it and as it left it.
const (
	After Side = iota
	Before
)

// Version is one save, without the bytes: those hold keys.
type Version struct {
	ID      string // a number that grows with each save of the file
	Time    time.Time
	Author  Author
	Changes []Change
	Created bool // there was no file before
}

// Versions keeps what the last saves of each `.env` file replaced, in a folder
// outside the project. It may be shared, also between processes. Use
// [OpenVersions].
type Versions struct {
	folder  string
	now     func() time.Time
	notices []string
}

// VersionsOptions configures OpenVersions. The zero value is ready to use.
type VersionsOptions struct {
	Now func() time.Time // nil means time.Now
}

// OpenVersions opens the store in a folder and makes it if need be, with mode
// 0700. Wider modes in it are repaired and told by [Versions.Notices]; a folder that others
// could replace is refused with a [*FileError].
func OpenVersions(folder string, o VersionsOptions) (*Versions, error) {
	v := &Versions{folder: folder, now: o.Now}
	if v.now == nil {
		v.now = time.Now
	}
	if err := os.MkdirAll(folder, folderMode); err != nil {
		return nil, &FileError{folder, "cannot be made", reason(err)}
	}
	if err := private(folder); err != nil {
		return nil, err
	}
	err := filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.Type()&fs.ModeSymlink != 0 {
			return err
		}
		return v.repair(path, e)
	})
	if err != nil {
		return nil, &FileError{folder, "cannot be made private", reason(err)}
	}
	return v, nil
}

// Notices tells what OpenVersions repaired, one sentence each.
func (v *Versions) Notices() []string { return slices.Clone(v.notices) }

// Save is [Source.Save] that keeps a version. The old bytes are durable before
// the file changes; when they cannot be kept, nothing is saved.
func (v *Versions) Save(ctx context.Context, s *Source, edits []Edit, by Author) (Saved, error) {
	after, err := s.File.With(edits...)
	if err != nil {
		return Saved{}, err
	}
	return v.Replace(ctx, s, after.Bytes(), by)
}

// Replace is Save with all bytes of the file.
func (v *Versions) Replace(ctx context.Context, s *Source, data []byte, by Author) (Saved, error) {
	sh, err := v.shelf(ctx, s)
	if err != nil {
		return Saved{}, err
	}
	defer sh.unlock()
	before := s.File.Bytes()
	r := record{
		Format: recordFormat, Path: s.Real, Time: v.now(), Session: by.Session, Who: by.Who,
		Changes: Changes(s.File, Parse(data)), Created: !s.Exists, Before: before, After: data, Sum: sumOf(before, data),
	}
	waiting, err := sh.add(r)
	if err != nil {
		return Saved{}, err
	}
	saved, err := s.Replace(ctx, data)
	if err != nil || !saved.Written {
		return saved, errors.Join(err, os.Remove(waiting))
	}
	if err := sh.confirm(waiting); err != nil {
		return saved, fmt.Errorf("dotenv: %s is saved, its version only half: %w", printable(s.Path), err)
	}
	return saved, nil
}

// Log lists the versions of a file, newest first. An error tells of those that
// cannot be read; the others are listed all the same.
func (v *Versions) Log(ctx context.Context, s *Source) ([]Version, error) {
	sh, err := v.shelf(ctx, s)
	if err != nil {
		return nil, err
	}
	defer sh.unlock()
	ids, err := sh.ids(confirmed)
	var all []Version
	for _, id := range slices.Backward(ids) {
		r, rerr := sh.read(id, confirmed)
		if rerr != nil {
			err = errors.Join(err, rerr)
			continue
		}
		all = append(all, Version{strconv.Itoa(id), r.Time, Author{r.Who, r.Session}, r.Changes, r.Created})
	}
	return all, err
}

// Bytes is the file as a version holds it. It holds keys: show [Diff] instead.
func (v *Versions) Bytes(ctx context.Context, s *Source, id string, side Side) ([]byte, error) {
	sh, err := v.shelf(ctx, s)
	if err != nil {
		return nil, err
	}
	defer sh.unlock()
	n, err := strconv.Atoi(id)
	if err != nil {
		return nil, fmt.Errorf("dotenv: %q is no version: a number is wanted", printable(id))
	}
	r, err := sh.read(n, confirmed)
	switch {
	case err != nil:
		return nil, err
	case side == After:
		return r.After, nil
	case r.Created:
		return nil, fmt.Errorf("dotenv: version %d: there was no file before it", n)
	}
	return r.Before, nil
}

// Diff lists the lines that a version changed.
func (v *Versions) Diff(ctx context.Context, s *Source, id string) ([]DiffLine, error) {
	after, err := v.Bytes(ctx, s, id, After)
	if err != nil {
		return nil, err
	}
	before, err := v.Bytes(ctx, s, id, Before)
	if err != nil {
		before = nil // it created the file
	}
	return Diff(before, after), nil
}

// Restore gives the file the bytes of a version, as a save with a version of its own.
func (v *Versions) Restore(ctx context.Context, s *Source, id string, side Side, by Author) (Saved, error) {
	data, err := v.Bytes(ctx, s, id, side)
	if err != nil {
		return Saved{}, err
	}
	return v.Replace(ctx, s, data, by)
}

// shelf opens and locks the folder of one file, and settles what a killed
// process left in it.
func (v *Versions) shelf(ctx context.Context, s *Source) (*shelf, error) {
	name := sha256.Sum256([]byte(s.Real))
	sh := &shelf{folder: filepath.Join(v.folder, hex.EncodeToString(name[:16]))}
	if err := os.MkdirAll(sh.folder, folderMode); err != nil {
		return nil, &FileError{sh.folder, "cannot be made", reason(err)}
	}
	var err error
	if sh.unlock, err = lockFolder(ctx, sh.folder); err != nil {
		return nil, err
	}
	if err := sh.settle(s.Real); err != nil {
		sh.unlock()
		return nil, err
	}
	return sh, nil
}

// folderMode is the mode of the store: what lies in it holds keys.
const folderMode fs.FileMode = 0o700

// private refuses a folder that others could put another one in place of.
func private(folder string) error {
	parent, err := os.Stat(filepath.Dir(filepath.Clean(folder)))
	if err != nil {
		return &FileError{folder, "cannot be reached", reason(err)}
	}
	if parent.Mode()&0o002 != 0 && parent.Mode()&fs.ModeSticky == 0 {
		return &FileError{folder, "lies in a folder that everybody may write to", nil}
	}
	return nil
}

// repair takes permissions away that others have.
func (v *Versions) repair(path string, e fs.DirEntry) error {
	info, err := e.Info()
	if err != nil {
		return err
	}
	mode := info.Mode().Perm()
	if mode&0o077 == 0 || !strings.HasPrefix(path, v.folder) {
		return nil
	}
	v.notices = append(v.notices, fmt.Sprintf("%s could be read by others (mode %04o): repaired", printable(path), mode))
	return os.Chmod(path, mode&folderMode)
}
