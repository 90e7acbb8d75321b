package models

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

const (
	fileMode   = 0o600
	folderMode = 0o700
	// formatVersion is the form of the files. Others are not read, and replaced.
	formatVersion = 1
	// maxFile bounds what is read: 200,000 models of 200 characters and as many
	// names that are gone stay below it.
	maxFile = 256 << 20
	// lockPatience is how long a save waits for another process, which locks
	// the folder for one write.
	lockPatience = 5 * time.Second
	lockPause    = 10 * time.Millisecond
)

// errDamaged is a stored file that is not what was written.
var errDamaged = errors.New("the stored list is damaged and not used")

// disk stores records in a folder, one file a provider. The zero value stores nothing.
type disk struct{ dir string }

// envelope is a file: a record and its sum.
type envelope struct {
	Version int             `json:"version"`
	Sum     string          `json:"sha256"`
	Record  json.RawMessage `json:"record"`
}

// plainName reports whether a provider's name can be that of a file everywhere.
func plainName(provider string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789"
	return provider != "" && len(provider) <= 64 &&
		strings.Trim(provider, letters+"_-") == "" && strings.ContainsAny(provider[:1], letters)
}

// path names the file of a provider. Providers with unusual names get a number
// for a name, which no plain name can be.
func (d disk) path(provider string) string {
	if !plainName(provider) {
		sum := sha256.Sum256([]byte(provider))
		provider = "+" + hex.EncodeToString(sum[:16])
	}
	return filepath.Join(d.dir, provider+".json")
}

// load reads the record of a provider: nil without an error when there is none.
func (d disk) load(provider string) (*record, error) {
	if d.dir == "" {
		return nil, nil
	}
	data, err := readRegular(d.path(provider))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read the stored list: %w", withoutPath(err))
	}
	return decode(data, provider)
}

// decode reads a file. The file is not trusted: names are checked as those of
// an endpoint are, and sorted.
func decode(data []byte, provider string) (*record, error) {
	var e envelope
	if err := json.Unmarshal(data, &e); err != nil || e.Version != formatVersion {
		return nil, errDamaged
	}
	if sum := sha256.Sum256(e.Record); e.Sum != hex.EncodeToString(sum[:]) {
		return nil, errDamaged
	}
	var r record
	if err := json.Unmarshal(e.Record, &r); err != nil || r.Provider != provider || len(r.Models) > maxModels {
		return nil, errDamaged
	}
	if r.Source != SourceLive && r.Source != SourceProxy {
		return nil, errDamaged
	}
	r.Models = tidy(slices.DeleteFunc(r.Models, func(m model) bool { return !usable(m.Name) }))
	if len(r.Models) == 0 {
		return nil, errDamaged
	}
	slices.Sort(r.Seen)
	return &r, nil
}

// readRegular reads a file that is no link, pipe or device.
func readRegular(path string) ([]byte, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if opened, err := f.Stat(); err != nil || !os.SameFile(info, opened) {
		return nil, errors.New("it was replaced while it was opened")
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(data) > maxFile {
		err = errDamaged
	}
	return data, err
}

// update changes the record of base's provider under the folder's lock: what is
// on disk, or base when nothing readable is there or newest is set. It returns
// the changed record also when it could not be written.
func (d disk) update(ctx context.Context, base *record, newest bool, change func(*record)) (*record, error) {
	r := base.clone()
	if d.dir == "" {
		change(r)
		return r, nil
	}
	unlock, err := d.lock(ctx)
	if err == nil {
		defer unlock()
		var stored *record
		if stored, err = d.load(base.Provider); stored != nil && !newest {
			r = stored
		}
		if errors.Is(err, errDamaged) {
			err = os.Rename(d.path(base.Provider), d.path(base.Provider)+".damaged")
		}
	}
	change(r)
	if err == nil {
		err = d.save(r)
	}
	if err != nil {
		err = fmt.Errorf("the list was not saved: %w", withoutPath(err))
	}
	return r, err
}

func (d disk) lock(ctx context.Context) (unlock func(), err error) {
	if err := d.prepare(); err != nil {
		return nil, err
	}
	// A list that was fetched is saved also when its caller no longer waits.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lockPatience)
	defer cancel()
	l := flock.New(filepath.Join(d.dir, ".lock"), flock.SetPermissions(fileMode))
	if _, err := l.TryLockContext(ctx, lockPause); err != nil {
		return nil, err
	}
	return func() { _ = l.Unlock() }, nil // the file is closed with it
}

// prepare makes the folder, and refuses one that others can write to.
func (d disk) prepare() error {
	if err := os.MkdirAll(d.dir, folderMode); err != nil {
		return err
	}
	if runtime.GOOS == "windows" {
		return nil // modes have no meaning there
	}
	info, err := os.Stat(d.dir)
	switch {
	case err != nil:
		return err
	case info.Mode().Perm()&0o022 != 0:
		return errors.New("others can write to its folder")
	case info.Mode().Perm()&0o077 != 0:
		return os.Chmod(d.dir, folderMode)
	}
	return nil
}

// save replaces the file of r's provider: readers see the old one or the new one.
func (d disk) save(r *record) error {
	inner, err := json.Marshal(r)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(inner)
	var data bytes.Buffer
	fmt.Fprintf(&data, `{"version":%d,"sha256":"%x","record":`, formatVersion, sum)
	data.Write(inner)
	data.WriteString("}\n")

	f, err := os.CreateTemp(d.dir, ".new-*") // mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(data.Bytes())
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), d.path(r.Provider))
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// withoutPath drops the path from a file error: it names the user's folders,
// and the message says which list it is about.
func withoutPath(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return fmt.Errorf("%s: %w", path.Op, path.Err)
	}
	var link *os.LinkError
	if errors.As(err, &link) {
		return fmt.Errorf("%s: %w", link.Op, link.Err)
	}
	return err
}
