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
//
// The file says how far its owner came; what it says is read only once its
// owner is dead.
type owner struct {
	token string
	lock  *flock.Flock
}

// What an owner file says.
const (
	ownerStarting = "starting" // has not touched the database yet
	ownerOpen     = "open"     // the database is open, hence a -wal file exists
	ownerClosing  = "closing"  // the database may be closed already
	ownerFolded   = "folded"   // died with the database open; another owner closed it since, and its -wal file may be gone
)

const (
	ownerPrefix = "owner-"
	openLock    = "open.lock" // held while a store opens: one inspects, migrates or salvages at a time
	// lockEvery is how often a wait for another's lock looks again.
	lockEvery = 5 * time.Millisecond
)

func ownerPath(run, token string) string { return filepath.Join(run, ownerPrefix+token) }

// newOwner makes and locks a file of its own in the run folder.
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
	return o, o.say(ownerStarting)
}

// say writes how far the owner came.
func (o *owner) say(state string) error {
	return os.WriteFile(o.lock.Path(), []byte(state), fileMode)
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

// census is who uses the database, and how those who died left it.
type census struct {
	alive   int
	dead    []string // files of the dead
	unclean bool     // one died with the database open
	logged  bool     // and its -wal file must be there
}

// count looks at all owner files but me's. The caller holds the open lock, so
// no file is between being made and being locked.
func count(run string, me *owner) (census, error) {
	var c census
	entries, err := os.ReadDir(run)
	if err != nil {
		return c, fmt.Errorf("history: %w", err)
	}
	for _, e := range entries {
		token, ok := strings.CutPrefix(e.Name(), ownerPrefix)
		if !ok || token == me.token {
			continue
		}
		lives, err := alive(run, token)
		switch {
		case err != nil:
			return c, fmt.Errorf("history: %w", err)
		case lives:
			c.alive++
			continue
		}
		path := ownerPath(run, token)
		state, err := os.ReadFile(path)
		c.logged = c.logged || err == nil && string(state) == ownerOpen
		c.unclean = c.unclean || c.logged || err == nil && string(state) == ownerFolded
		c.dead = append(c.dead, path)
	}
	return c, nil
}

// lockOpening waits until this store alone opens the database.
func lockOpening(ctx context.Context, run string) (*flock.Flock, error) {
	l := flock.New(filepath.Join(run, openLock), flock.SetPermissions(fileMode))
	if _, err := l.TryLockContext(ctx, lockEvery); err != nil {
		return nil, fmt.Errorf("history: another winnow is opening the database: %w", err)
	}
	return l, nil
}

// foldTime bounds the wait of a store that closes for another that opens. The
// one that opens connects, so the log stays.
const foldTime = 250 * time.Millisecond

// folding notes on the files of the dead that their log need not be there any
// more: who closes a database last folds the log of all into it and removes it.
// It is called before and after: an owner may die in between. The caller holds
// the open lock, as for count.
func folding(run string, me *owner) error {
	users, err := count(run, me)
	if err != nil || !users.logged {
		return err
	}
	var errs []error
	for _, path := range users.dead {
		state, err := os.ReadFile(path)
		if err != nil || string(state) != ownerOpen {
			continue
		}
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, fileMode) // never creates
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			_, err = f.WriteString(ownerFolded)
			err = errors.Join(err, f.Close())
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
