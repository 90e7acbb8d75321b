package history

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"winnow/assistant"
)

// An owner is a process (more exactly, an open store) that is alive as long as
// it holds the lock of its file in the run folder. The kernel drops the lock
// with the process, however it ends, so nobody needs to trust a process number.
type owner struct {
	token string
	lock  *flock.Flock
}

const (
	ownerPrefix = "owner-"
	openLock    = "open.lock" // held while a store opens: one inspects, migrates or salvages at a time
	// lockEvery is how often a wait for another's lock looks again.
	lockEvery = 5 * time.Millisecond
	// closeWait bounds the wait of a store that closes for another that opens.
	// The one that opens connects, so the log stays.
	closeWait = 250 * time.Millisecond
)

func ownerPath(run, token string) string { return filepath.Join(run, ownerPrefix+token) }

// newOwner creates and locks a file of its own in the run folder.
func newOwner(run string, now time.Time) (*owner, error) {
	token := assistant.NewID(now)
	path := ownerPath(run, token)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return nil, fmt.Errorf("history: %w", err)
	}
	f.Close()
	o := &owner{token, flock.New(path, flock.SetPermissions(fileMode))}
	if ok, err := o.lock.TryLock(); err != nil || !ok {
		return nil, fmt.Errorf("history: lock %s: %w", path, errors.Join(err, errors.New("the lock is taken")))
	}
	return o, nil
}

// leave removes the file and the lock.
func (o *owner) leave() {
	os.Remove(o.lock.Path())
	o.lock.Close()
}

// alive tells whether the owner of token still lives.
func alive(run, token string) (bool, error) {
	path := ownerPath(run, token)
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	l := flock.New(path, flock.SetFlag(os.O_RDWR)) // never creates
	got, err := l.TryLock()
	l.Close()
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return !got && err == nil, err
}

// countOwners counts the owners but me that live, and lists the files of the
// dead. The caller holds the open lock, so no file is between being created and
// being locked.
func countOwners(run string, me *owner) (living int, dead []string, err error) {
	entries, err := os.ReadDir(run)
	if err != nil {
		return 0, nil, fmt.Errorf("history: %w", err)
	}
	for _, e := range entries {
		token, ok := strings.CutPrefix(e.Name(), ownerPrefix)
		if !ok || me != nil && token == me.token {
			continue
		}
		lives, err := alive(run, token)
		switch {
		case err != nil:
			return 0, nil, fmt.Errorf("history: %w", err)
		case lives:
			living++
		default:
			dead = append(dead, ownerPath(run, token))
		}
	}
	return living, dead, nil
}

// lockOpening waits until this store alone opens or closes the database.
func lockOpening(ctx context.Context, run string) (*flock.Flock, error) {
	l := flock.New(filepath.Join(run, openLock), flock.SetPermissions(fileMode))
	if _, err := l.TryLockContext(ctx, lockEvery); err != nil {
		return nil, fmt.Errorf("history: another winnow is opening the database: %w", err)
	}
	return l, nil
}

// phase is how far the processes that have the database open came. It is
// written in the run folder, under the open lock but for phaseWritten.
type phase string

const (
	phaseNone    phase = ""        // no database was here
	phaseOpen    phase = "open"    // open; nothing need be in the log
	phaseWritten phase = "written" // open, and the log holds what the database lacks
	phaseClosing phase = "closing" // may be closed already, and its log gone
	phaseClosed  phase = "closed"  // closed, as its fingerprint says
)

// fileState is what the run folder tells of the database file.
type fileState struct {
	phase phase
	// unchecked says that a check of every page is still due.
	unchecked bool
	// fingerprint is size and time of the file of phaseClosed.
	fingerprint string
}

func (s *SQLite) statePath() string { return filepath.Join(s.run, "state") }

// readState reads the state; one that cannot be read is phaseNone.
func (s *SQLite) readState() fileState {
	raw, _ := os.ReadFile(s.statePath())
	var f fileState
	for i, line := range strings.Split(string(raw), "\n") {
		switch {
		case i == 0:
			f.phase = phase(line)
		case line == "unchecked":
			f.unchecked = true
		default:
			f.fingerprint = line
		}
	}
	return f
}

// writeState replaces the state. Losing it costs a check, no more.
func (s *SQLite) writeState(f fileState) {
	lines := []string{string(f.phase)}
	if f.unchecked {
		lines = append(lines, "unchecked")
	}
	if f.fingerprint != "" {
		lines = append(lines, f.fingerprint)
	}
	if err := os.WriteFile(s.statePath(), []byte(strings.Join(lines, "\n")), fileMode); err != nil {
		s.options.Log.Warn("history state file", "err", err)
	}
}

// fingerprint is what the folder tells of the database file.
func (s *SQLite) fingerprint() string {
	info, err := os.Lstat(s.path)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%d %d", info.Size(), info.ModTime().UnixNano())
}
