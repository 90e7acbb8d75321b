package dotenv

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
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

// recordFormat is the version of the files on a shelf.
const recordFormat = 1

// The endings of the files on a shelf: NUMBER.json is a version, NUMBER.pending
// one whose save is not known to be over, NUMBER.new one being written.
const (
	confirmed = ".json"
	pending   = ".pending"
	unwritten = ".new"
)

// record is a version on disk.
type record struct {
	Format  int       `json:"format"`
	Path    string    `json:"path"`
	Time    time.Time `json:"time"`
	Session string    `json:"session"`
	Who     Who       `json:"who"`
	Changes []Change  `json:"changes"`
	Created bool      `json:"created"`
	Before  []byte    `json:"before"`
	After   []byte    `json:"after"`
	Sum     string    `json:"sum"` // of Before and After
}

// sumOf is a checksum of both texts.
func sumOf(before, after []byte) string {
	a, b := sha256.Sum256(before), sha256.Sum256(after)
	return hex.EncodeToString(append(a[:], b[:]...))
}

// shelf is the folder of the versions of one file, locked.
type shelf struct {
	folder string
	unlock func()
}

func (sh *shelf) name(id int, ending string) string {
	return filepath.Join(sh.folder, fmt.Sprintf("%012d%s", id, ending))
}

// ids lists the numbers of the files with an ending, smallest first.
func (sh *shelf) ids(ending string) ([]int, error) {
	entries, err := os.ReadDir(sh.folder)
	if err != nil {
		return nil, &FileError{sh.folder, "cannot be read", reason(err)}
	}
	var all []int
	for _, e := range entries {
		if number, ok := strings.CutSuffix(e.Name(), ending); ok {
			if id, err := strconv.Atoi(number); err == nil {
				all = append(all, id)
			}
		}
	}
	slices.Sort(all)
	return all, nil
}

// read reads a version and checks that it is whole.
func (sh *shelf) read(id int, ending string) (record, error) {
	data, err := os.ReadFile(sh.name(id, ending))
	if errors.Is(err, fs.ErrNotExist) {
		return record{}, fmt.Errorf("dotenv: there is no version %d", id)
	}
	if err != nil {
		return record{}, fmt.Errorf("dotenv: version %d cannot be read: %w", id, reason(err))
	}
	var r record
	if err := json.Unmarshal(data, &r); err != nil || r.Sum != sumOf(r.Before, r.After) {
		return record{}, fmt.Errorf("dotenv: version %d is damaged", id)
	}
	if r.Format != recordFormat {
		return record{}, fmt.Errorf("dotenv: version %d has the unknown format %d", id, r.Format)
	}
	return r, nil
}

// add writes a version that is still to be confirmed, and answers its name.
func (sh *shelf) add(r record) (string, error) {
	ids, err := sh.ids(confirmed)
	if err != nil {
		return "", err
	}
	id := 1
	if len(ids) > 0 {
		id = ids[len(ids)-1] + 1
	}
	data, err := json.Marshal(r)
	if err != nil {
		return "", fmt.Errorf("dotenv: write a version: %w", err)
	}
	part := sh.name(id, unwritten)
	f, err := os.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, newMode)
	if err != nil {
		return "", &FileError{sh.folder, "cannot take a version", reason(err)}
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(part, sh.name(id, pending))
	}
	if err == nil {
		err = syncFolder(sh.folder)
	}
	if err != nil {
		return "", errors.Join(&FileError{sh.folder, "cannot take a version", reason(err)}, os.Remove(part))
	}
	return sh.name(id, pending), nil
}

// confirm makes a pending version one that counts, and lets the oldest go.
func (sh *shelf) confirm(name string) error {
	if err := os.Rename(name, strings.TrimSuffix(name, pending)+confirmed); err != nil {
		return err
	}
	ids, err := sh.ids(confirmed)
	if err != nil {
		return err
	}
	for _, id := range ids[:max(0, len(ids)-KeptVersions)] {
		if err := os.Remove(sh.name(id, confirmed)); err != nil {
			return err
		}
	}
	return syncFolder(sh.folder)
}

// settle decides what became of the saves of killed processes. A pending
// version is dropped only when the file still is what it was before.
func (sh *shelf) settle(target string) error {
	written, err := sh.ids(unwritten)
	if err != nil {
		return err
	}
	for _, id := range written {
		if err := os.Remove(sh.name(id, unwritten)); err != nil {
			return &FileError{sh.folder, "cannot be tidied", reason(err)}
		}
	}
	waiting, err := sh.ids(pending)
	if err != nil {
		return err
	}
	for _, id := range waiting {
		name := sh.name(id, pending)
		r, err := sh.read(id, pending)
		at, serr := readState(target)
		if err == nil && serr == nil && at.exists() != r.Created && string(at.data) == string(r.Before) {
			err = os.Remove(name)
		} else {
			err = sh.confirm(name)
		}
		if err != nil {
			return &FileError{sh.folder, "cannot be tidied", reason(err)}
		}
	}
	return nil
}
