package dotenv

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"winnow/checkpoint/privatefile"
)

// MaxVersions is the number of versions stored per file, in addition to OriginalVersion.
const MaxVersions = 20

// OriginalVersion is the ID of the version before the first save.
const OriginalVersion = "original"

// Maker says whether the user or the assistant made a save.
type Maker string

// The values of Maker.
const (
	User      Maker = "user"
	Assistant Maker = "assistant"
)

// Author describes who made a save, and in which session.
type Author struct {
	Who     Maker  `json:"who"`
	Session string `json:"session"`
	User    string `json:"user,omitempty"`   // the name of the user; "" if unknown
	Staged  string `json:"staged,omitempty"` // names of other users whose changes the save includes
}

// Version describes one save.
type Version struct {
	ID      string    `json:"id"` // a number that increases with each save of the file, or OriginalVersion
	Time    time.Time `json:"time"`
	Author  Author    `json:"author"`
	Changes []Change  `json:"changes"`
	Created bool      `json:"created"` // true if the save created the file
}

// ErrNoVersions means that no versions are stored.
var ErrNoVersions = errors.New("earlier versions of the rules are not stored")

// Versions stores the rule lines of the last saves of each `.env` file in a folder outside the project. It stores only
// a hash of all other lines, because they contain secrets. It may be used by several goroutines and processes at once.
// Use [OpenVersions].
type Versions struct {
	folder  string
	now     func() time.Time
	notices []string
	err     error // why nothing can be stored
}

// OpenVersions opens the store in a folder, which it creates with mode 0700 if the folder does not exist; wider modes
// are repaired. If that fails, or if other users could replace the folder, [Versions.Notices] contains the reason and
// each method returns it as an error. If folder is "", no versions are stored: Save then works like Source.Save, and
// the other methods return ErrNoVersions. If now is nil, time.Now is used.
func OpenVersions(folder string, now func() time.Time) *Versions {
	v := &Versions{folder: folder, now: now}
	if v.now == nil {
		v.now = time.Now
	}
	if folder == "" {
		v.err = ErrNoVersions
		return v
	}
	repaired, err := privatefile.DocumentFolder(folder)
	if err != nil {
		v.err = fileError(folder, "cannot be used to store versions, which every save requires", err)
		v.notices = append(v.notices, strings.TrimPrefix(v.err.Error(), "dotenv: "))
		return v
	}
	if repaired {
		v.notices = append(v.notices, "other users could read "+printable(folder)+"; they no longer can")
	}
	v.removeOldFormat()
	return v
}

// removeOldFormat removes the folders of an earlier format, which stored whole files including their secrets.
func (v *Versions) removeOldFormat() {
	old, err := filepath.Glob(filepath.Join(v.folder, "*", "*.json"))
	for _, name := range old {
		err = errors.Join(err, os.RemoveAll(filepath.Dir(name)))
	}
	switch {
	case err != nil:
		v.notices = append(v.notices, "Versions stored by an earlier winnow contain secrets and cannot be removed: "+err.Error())
	case len(old) > 0:
		v.notices = append(v.notices, "Versions stored by an earlier winnow were removed because they contained secrets.")
	}
}

// Notices returns the notices of OpenVersions, one sentence each.
func (v *Versions) Notices() []string { return slices.Clone(v.notices) }

// Save does the same as [Source.Save] and also stores a version. The version is durable before the file changes; if it
// cannot be stored, nothing is saved.
func (v *Versions) Save(ctx context.Context, s *Source, edits []Edit, by Author) (Saved, error) {
	after, err := s.File.With(edits...)
	if err != nil {
		return Saved{}, err
	}
	return v.replace(ctx, s, after, by)
}

func (v *Versions) replace(ctx context.Context, s *Source, after *File, by Author) (Saved, error) {
	if errors.Is(v.err, ErrNoVersions) {
		return s.replace(ctx, after.Bytes())
	}
	l, err := v.open(ctx, s)
	if errors.Is(err, privatefile.ErrDamaged) {
		if err = os.Rename(l.path, l.path+".damaged"); err == nil {
			l, err = v.open(ctx, s)
		}
	}
	if err != nil {
		return Saved{}, err
	}
	defer l.unlock()
	l.Pending = &record{
		Version{strconv.Itoa(l.Last + 1), v.now(), by, Changes(s.File, after), !s.Exists},
		ruleTextOf(s.File), ruleTextOf(after),
	}
	if err := privatefile.WriteDocument(l.path, l); err != nil {
		return Saved{}, fileError(l.path, "cannot be written, so nothing was saved: every save stores a version first", err)
	}
	saved, err := s.replace(ctx, after.Bytes())
	var storeErr error
	if saved.Written {
		storeErr = l.finish(true)
	} else {
		storeErr = l.resolve(s.Real) // even after an error, the new bytes may be in place
	}
	if storeErr != nil && saved.Written {
		warning := fmt.Sprintf("%s was saved, but its version could not be stored: %v", printable(s.Path), storeErr)
		saved.Warning = strings.TrimPrefix(saved.Warning+"; "+warning, "; ")
	}
	return saved, err
}

// Log lists the versions of a file, newest first and OriginalVersion last; it is empty before the first save.
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

// Files returns the rule lines before and after a version.
func (v *Versions) Files(ctx context.Context, s *Source, id string) (before, after *File, err error) {
	r, err := v.find(ctx, s, id)
	return Parse(r.Before.join(nil)), Parse(r.After.join(nil)), err
}

// Restore sets the rule lines of the file to those of a version. It is a save and therefore also stores a version. All
// other lines of s stay unchanged.
func (v *Versions) Restore(ctx context.Context, s *Source, id string, by Author) (Saved, error) {
	r, err := v.find(ctx, s, id)
	if err != nil {
		return Saved{}, err
	}
	restored, err := r.After.applyTo(s.File)
	if err != nil {
		return Saved{}, err
	}
	return v.replace(ctx, s, restored, by)
}

func (v *Versions) find(ctx context.Context, s *Source, id string) (record, error) {
	l, err := v.open(ctx, s)
	if err != nil {
		return record{}, err
	}
	defer l.unlock()
	for _, r := range append(l.Records, l.Original) {
		if r != nil && r.ID == id {
			return *r, nil
		}
	}
	return record{}, fmt.Errorf("dotenv: there is no version %s of %s", printable(id), printable(s.Path))
}

// versionLog is the locked file that contains the versions of one `.env` file.
type versionLog struct {
	Path     string    `json:"path"`
	Last     int       `json:"last"` // the number of the newest version
	Original *record   `json:"original,omitempty"`
	Records  []*record `json:"records"`           // oldest first
	Pending  *record   `json:"pending,omitempty"` // a version whose save may not have finished

	path   string
	unlock func()
}

// record is a version as stored on disk.
type record struct {
	Version
	Before ruleText `json:"before"`
	After  ruleText `json:"after"`
}

// open locks and reads the log of a file, and resolves the pending version of a killed save. If the error is
// privatefile.ErrDamaged, the returned log contains only its path.
func (v *Versions) open(ctx context.Context, s *Source) (*versionLog, error) {
	if v.err != nil {
		return nil, v.err
	}
	path := filepath.Join(v.folder, privatefile.Sum([]byte(s.Real))[:32]+".log")
	unlock, err := privatefile.LockDocument(ctx, path+".lock")
	if err != nil {
		return nil, fileError(path, "cannot be locked", err)
	}
	l := &versionLog{Path: s.Real, path: path, unlock: unlock}
	if err = privatefile.ReadDocument(path, l); err != nil && !errors.Is(err, fs.ErrNotExist) {
		unlock()
		return l, fileError(path, "cannot be read", err)
	}
	_ = l.resolve(s.Real) // if the log cannot be written, the next open tries again
	return l, nil
}

// resolve decides whether the save of the pending version was made, after the save was killed or failed. It was made if
// the file has the bytes that were to be written or, after a change by another program, the same rule lines. If the
// file cannot be read, the version stays pending.
func (l *versionLog) resolve(target string) error {
	r := l.Pending
	if r == nil {
		return nil
	}
	current, err := readSnapshot(target)
	if err != nil {
		return err
	}
	now := ruleTextOf(Parse(current.data))
	return l.finish(current.exists() && now.Sum != r.Before.Sum && (now.Sum == r.After.Sum || now.sameLines(r.After) && !now.sameLines(r.Before)))
}

// finish adds the pending version to the list if its save was made, and otherwise drops it.
func (l *versionLog) finish(wasSaved bool) error {
	r := l.Pending
	l.Pending = nil
	if wasSaved {
		if l.Original == nil {
			l.Original = &record{Version{ID: OriginalVersion, Time: r.Time, Created: r.Created}, r.Before, r.Before}
		}
		l.Last++
		l.Records = append(l.Records, r)
		l.Records = l.Records[max(0, len(l.Records)-MaxVersions):]
	}
	return privatefile.WriteDocument(l.path, l)
}

// ruleText contains the rule lines of a file, a hash of the file, and a hash of all other lines.
type ruleText struct {
	Sum   string     `json:"sum"`
	Rest  string     `json:"rest"`
	Lines []ruleLine `json:"lines"`
}

// ruleLine is a line that sets a rule list. At is the offset of the line in the text of all other lines.
type ruleLine struct {
	At   int    `json:"at"`
	Text string `json:"text"`
}

func ruleTextOf(f *File) ruleText {
	lines, rest := splitRules(f)
	return ruleText{Sum: privatefile.Sum(f.Bytes()), Rest: privatefile.Sum(rest), Lines: lines}
}

// sameLines reports whether two files have the same rule lines.
func (t ruleText) sameLines(other ruleText) bool {
	return slices.EqualFunc(t.Lines, other.Lines, func(a, b ruleLine) bool { return a.Text == b.Text })
}

// splitRules separates the rule lines of a file from the rest. A line that may contain a secret belongs to the rest.
func splitRules(f *File) (lines []ruleLine, rest []byte) {
	for _, b := range f.bindings {
		if !isRuleKey(b.key) || b.mayContainSecret() {
			rest = append(rest, b.text...)
			continue
		}
		rest = append(rest, f.text[b.start:b.lineStart]...)
		lines = append(lines, ruleLine{len(rest), f.text[b.lineStart:b.end()]})
	}
	return lines, rest
}

// join inserts the rule lines into the other lines.
func (t ruleText) join(rest []byte) []byte {
	var out []byte
	at := 0
	for _, l := range t.Lines {
		to := min(max(l.At, at), len(rest))
		out = append(append(out, rest[at:to]...), l.Text...)
		at = to
	}
	return append(out, rest[at:]...)
}

// applyTo returns f with these rule lines: at their old places if all other lines are unchanged, and otherwise where
// File.With puts them.
func (t ruleText) applyTo(f *File) (*File, error) {
	current, rest := splitRules(f)
	if privatefile.Sum(rest) == t.Rest {
		return Parse(t.join(rest)), nil
	}
	wanted := Parse(t.join(nil))
	var edits []Edit
	for _, key := range keysOf(Parse(ruleText{Lines: current}.join(nil)), wanted) {
		value, ok := wanted.Raw(key)
		edits = append(edits, Edit{Key: key, Value: value, Unset: !ok})
	}
	return f.With(edits...)
}
