package dotenv

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"
)

// MaxVersions is the number of versions stored per file, besides OriginalVersion.
const MaxVersions = 20

// OriginalVersion is the ID of the file as it was before the first save.
const OriginalVersion = "original"

// Who made a save.
type Who string

// The two who save.
const (
	User      Who = "user"
	Assistant Who = "assistant"
)

// Author is who made a save, and in which session.
type Author struct {
	Who     Who    `json:"who"`
	Session string `json:"session"`
}

// Side is one of the two texts of a version.
type Side int

// A version has the file as its save found it and as it left it. Those of
// OriginalVersion are the same.
const (
	After Side = iota
	Before
)

// Version is one save.
type Version struct {
	ID      string    `json:"id"` // a number that grows with each save of the file, or OriginalVersion
	Time    time.Time `json:"time"`
	Author  Author    `json:"author"`
	Changes []Change  `json:"changes"`
	Created bool      `json:"created"` // there was no file before
}

// Versions stores the rule lines of the last saves of each `.env` file in a
// folder outside the project; of all other lines only a hash, because they contain
// keys. It may be shared, also between processes. Use [OpenVersions].
type Versions struct {
	folder  string
	now     func() time.Time
	notices []string
}

// VersionsOptions configures OpenVersions. The zero value is ready to use.
type VersionsOptions struct {
	Now func() time.Time // nil means time.Now
}

// folderMode is the mode of the folder of the versions.
const folderMode fs.FileMode = 0o700

// OpenVersions opens the store in a folder and makes the folder with mode 0700
// if it does not exist. Wider modes are repaired and reported by
// [Versions.Notices]; a folder that others could replace is refused with a [*FileError].
func OpenVersions(folder string, o VersionsOptions) (*Versions, error) {
	v := &Versions{folder: folder, now: o.Now}
	if v.now == nil {
		v.now = time.Now
	}
	if err := os.MkdirAll(folder, folderMode); err != nil {
		return nil, fileError(folder, "cannot be made", err)
	}
	parent, err := os.Stat(filepath.Dir(filepath.Clean(folder)))
	if err != nil {
		return nil, fileError(folder, "cannot be reached", err)
	}
	if parent.Mode()&0o002 != 0 && parent.Mode()&fs.ModeSticky == 0 {
		return nil, &FileError{folder, "lies in a folder that everybody may write to", nil}
	}
	return v, v.makePrivate()
}

// makePrivate removes the permissions of others on the folder, and the folders in
// it: an earlier format stored whole files there, keys included.
func (v *Versions) makePrivate() error {
	info, err := os.Stat(v.folder)
	if err == nil && info.Mode().Perm()&0o077 != 0 {
		v.notices = append(v.notices, fmt.Sprintf("%s could be read by others (mode %04o): repaired", printable(v.folder), info.Mode().Perm()))
		err = os.Chmod(v.folder, folderMode)
	}
	if err != nil {
		return fileError(v.folder, "cannot be made private", err)
	}
	old, err := filepath.Glob(filepath.Join(v.folder, "*", "*.json"))
	for _, name := range old {
		err = errors.Join(err, os.RemoveAll(filepath.Dir(name)))
	}
	if len(old) > 0 {
		v.notices = append(v.notices, "Versions of an earlier winnow were removed: they contained the keys of the file.")
	}
	return err
}

// Notices lists what OpenVersions repaired, one sentence each.
func (v *Versions) Notices() []string { return slices.Clone(v.notices) }

// Save is [Source.Save] that also stores a version. The version is durable before
// the file changes; if it cannot be stored, nothing is saved.
func (v *Versions) Save(ctx context.Context, s *Source, edits []Edit, by Author) (Saved, error) {
	after, err := s.File.With(edits...)
	if err != nil {
		return Saved{}, err
	}
	return v.replace(ctx, s, after.Bytes(), by)
}

func (v *Versions) replace(ctx context.Context, s *Source, data []byte, by Author) (Saved, error) {
	l, err := v.open(ctx, s)
	if errors.Is(err, errDamaged) {
		if err = os.Rename(l.path, l.path+".damaged"); err == nil {
			l, err = v.open(ctx, s)
		}
	}
	if err != nil {
		return Saved{}, err
	}
	defer l.unlock()
	after := Parse(data)
	l.Pending = &record{
		Version{strconv.Itoa(l.Last + 1), v.now(), by, Changes(s.File, after), !s.Exists},
		ruleTextOf(s.File), ruleTextOf(after),
	}
	if err := l.write(); err != nil {
		return Saved{}, fileError(l.path, "cannot be written: without a version nothing is saved", err)
	}
	saved, err := s.replace(ctx, data)
	var changed *ChangedError
	made := saved.Written || errors.As(err, &changed) && changed.Kept != ""
	if serr := l.finish(made); serr != nil && made {
		err = errors.Join(err, fmt.Errorf("dotenv: %s was saved, but not its version: %w", printable(s.Path), serr))
	}
	return saved, err
}

// Log lists the versions of a file, newest first; the last is OriginalVersion.
func (v *Versions) Log(ctx context.Context, s *Source) ([]Version, error) {
	l, err := v.open(ctx, s)
	if err != nil {
		return nil, err
	}
	defer l.unlock()
	var all []Version
	for _, r := range slices.Backward(l.Records) {
		all = append(all, r.Version)
	}
	if l.Original != nil {
		all = append(all, l.Original.Version)
	}
	return all, nil
}

// Diff lists the rule lines that a version changed.
func (v *Versions) Diff(ctx context.Context, s *Source, id string) ([]DiffLine, error) {
	r, err := v.record(ctx, s, id)
	if err != nil {
		return nil, err
	}
	return Diff(Parse(r.Before.join(nil)), Parse(r.After.join(nil))), nil
}

// RestoreDiff lists the lines that Restore would change.
func (v *Versions) RestoreDiff(ctx context.Context, s *Source, id string, side Side) ([]DiffLine, error) {
	data, err := v.restored(ctx, s, id, side)
	if err != nil {
		return nil, err
	}
	return Diff(s.File, Parse(data)), nil
}

// Restore gives the rule lines of the file those of a version, as a save with a
// version of its own. All other lines stay as they are.
func (v *Versions) Restore(ctx context.Context, s *Source, id string, side Side, by Author) (Saved, error) {
	data, err := v.restored(ctx, s, id, side)
	if err != nil {
		return Saved{}, err
	}
	return v.replace(ctx, s, data, by)
}

// restored is the file with the rule lines of a version.
func (v *Versions) restored(ctx context.Context, s *Source, id string, side Side) ([]byte, error) {
	r, err := v.record(ctx, s, id)
	if err != nil {
		return nil, err
	}
	text := r.After
	if side == Before {
		text = r.Before
	}
	return text.applyTo(s.File)
}

func (v *Versions) record(ctx context.Context, s *Source, id string) (*record, error) {
	l, err := v.open(ctx, s)
	if err != nil {
		return nil, err
	}
	defer l.unlock()
	for _, r := range append(l.Records, l.Original) {
		if r != nil && r.ID == id {
			return r, nil
		}
	}
	return nil, fmt.Errorf("dotenv: there is no version %s of %s", printable(id), printable(s.Path))
}

// versionFormat is the version of the log files.
const versionFormat = 2

// versionLog is the file with the versions of one `.env` file, locked.
type versionLog struct {
	Format   int       `json:"format"`
	Path     string    `json:"path"`
	Last     int       `json:"last"` // the number of the newest version
	Original *record   `json:"original,omitempty"`
	Records  []*record `json:"records"`           // oldest first
	Pending  *record   `json:"pending,omitempty"` // its save is not known to be over

	path   string
	unlock func()
}

// record is a version on disk.
type record struct {
	Version
	Before ruleText `json:"before"`
	After  ruleText `json:"after"`
}

// errDamaged is a log that is not what was written.
var errDamaged = errors.New("the stored versions are damaged")

// open locks and reads the log of a file and finishes the version of a save that
// was killed. With errDamaged it returns a log that has only a path.
func (v *Versions) open(ctx context.Context, s *Source) (*versionLog, error) {
	path := filepath.Join(v.folder, sum([]byte(s.Real))[:32]+".log")
	unlock, err := lock(ctx, path+".lock")
	if err != nil {
		return nil, err
	}
	l := &versionLog{Format: versionFormat, Path: s.Real, path: path, unlock: unlock}
	if err = l.read(); err != nil {
		unlock()
		return l, err
	}
	if r := l.Pending; r != nil { // a save was killed: it was not made if the file still has the bytes from before
		current, err := readSnapshot(s.Real)
		made := err != nil || current.exists() == r.Created || sum(current.data) != r.Before.Sum
		_ = l.finish(made) // if the log cannot be written, the next open tries again
	}
	return l, nil
}

// read reads the log: a line with the hash of what follows, then JSON.
func (l *versionLog) read() error {
	data, err := os.ReadFile(l.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fileError(l.path, "cannot be read", err)
	}
	head, body, _ := bytes.Cut(data, []byte("\n"))
	if string(head) != sum(body) || json.Unmarshal(body, l) != nil || l.Format != versionFormat {
		return fmt.Errorf("%w: %s", errDamaged, printable(l.path))
	}
	return nil
}

// write replaces the log.
func (l *versionLog) write() error {
	body, err := json.Marshal(l)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(l.path+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, newMode)
	if err != nil {
		return err
	}
	_, err = f.WriteString(sum(body) + "\n" + string(body))
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(l.path+".new", l.path)
}

// finish adds the pending version to the list if its save was made, and drops it otherwise.
func (l *versionLog) finish(made bool) error {
	r := l.Pending
	l.Pending = nil
	if made {
		if l.Original == nil {
			l.Original = &record{Version{ID: OriginalVersion, Time: r.Time, Created: r.Created}, r.Before, r.Before}
		}
		l.Last++
		l.Records = append(l.Records, r)
		l.Records = l.Records[max(0, len(l.Records)-MaxVersions):]
	}
	return l.write()
}
