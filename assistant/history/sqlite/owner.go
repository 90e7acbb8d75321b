package sqlite

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

// owner represents an open store. It is alive as long as it holds the lock on its file in the run folder. The kernel
// releases this lock when the process ends.
type owner struct {
	token string
	lock  *flock.Flock
}

const (
	ownerPrefix      = "owner-"
	openLock         = "open.lock"            // held while a store opens or closes, so that only one store inspects, upgrades or salvages at a time
	lockPollInterval = 5 * time.Millisecond   // the interval between attempts to take the open lock
	closeWait        = 250 * time.Millisecond // how long Close waits for the open lock
)

// newOwner creates and locks a new owner file in the run folder.
func newOwner(runDir string, now time.Time) (*owner, error) {
	token := assistant.NewID(now)
	o := &owner{token, flock.New(filepath.Join(runDir, ownerPrefix+token), flock.SetFlag(os.O_RDWR|os.O_CREATE|os.O_EXCL), flock.SetPermissions(fileMode))}
	ok, err := o.lock.TryLock()
	if err == nil && !ok {
		err = errors.New("another program holds the lock")
	}
	if err != nil {
		return nil, fmt.Errorf("history: lock %s: %w", o.lock.Path(), err)
	}
	return o, nil
}

// release removes the file and releases the lock.
func (o *owner) release() {
	os.Remove(o.lock.Path())
	o.lock.Close()
}

// alive reports whether the owner with this token still holds the lock on its file.
func alive(runDir, token string) (bool, error) {
	l := flock.New(filepath.Join(runDir, ownerPrefix+token), flock.SetFlag(os.O_RDWR)) // without O_CREATE
	got, err := l.TryLock()
	l.Close()
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return !got && err == nil, err
}

// listOwners counts the other owners that are alive and lists the files of dead owners. The caller holds the open lock,
// so no other store can have created its file without having locked it.
func listOwners(runDir string, me *owner) (others int, dead []string, err error) {
	entries, err := os.ReadDir(runDir)
	if err != nil {
		return 0, nil, fmt.Errorf("history: %w", err)
	}
	for _, e := range entries {
		token, ok := strings.CutPrefix(e.Name(), ownerPrefix)
		if !ok || token == me.token {
			continue
		}
		isAlive, err := alive(runDir, token)
		switch {
		case err != nil:
			return 0, nil, fmt.Errorf("history: %w", err)
		case isAlive:
			others++
		default:
			dead = append(dead, filepath.Join(runDir, e.Name()))
		}
	}
	return others, dead, nil
}

// lockOpening waits for the open lock, which a store holds while it opens or closes the database.
func lockOpening(ctx context.Context, runDir string) (*flock.Flock, error) {
	l := flock.New(filepath.Join(runDir, openLock), flock.SetPermissions(fileMode))
	_, err := l.TryLockContext(ctx, lockPollInterval)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, fmt.Errorf("history: another winnow is opening or closing the database: %w", err)
	case err != nil:
		return nil, fmt.Errorf("history: lock %s: %w", l.Path(), err)
	}
	return l, nil
}
