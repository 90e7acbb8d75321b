package dotenv

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"winnow/checkpoint/privatefile"
)

// The names of the files that a save creates next to the file NAME. None of them ends in ".env", so the proxy loads
// none of them. NAME.winnow-ID-NEW-OLD.swap represents a save in progress: NEW and OLD are the hashes of the new and
// the replaced bytes.
const (
	saveInfix     = ".winnow-" // NAME.winnow-ID…
	lockSuffix    = saveInfix + "lock"
	partialSuffix = ".part"  // an incomplete file, which can be removed
	swapSuffix    = ".swap"  // with -NEW-OLD: before the exchange, the new file; afterwards, the displaced file
	placeSuffix   = ".place" // with -NEW-OLD: both versions, while the file is written in place
	keptSuffix    = ".kept"  // another program's version, displaced by a save
	// previousSuffix is the suffix of the version from before an interrupted save.
	previousSuffix = "-previous" + keptSuffix
)

// saveWait is how long a save waits for another save, which takes milliseconds.
const saveWait = 10 * time.Second

// saveLock is the lock of a save. It consists of a lock on a file next to the target and of a lock on the target
// itself, for programs that see the target in another folder, such as in a container. If no file can be created next to
// the target, only the target is locked.
type saveLock struct {
	adjacent, target *privatefile.Lock
}

// lockFile locks target for a save, after waiting for other saves. If they take too long, the error is a
// *privatefile.HeldError, which names the program that is saving.
func lockFile(ctx context.Context, target string, wait time.Duration) (*saveLock, error) {
	o := privatefile.LockOptions{Name: "save lock of " + printable(target), Program: "winnow", Wait: wait, Temporary: true}
	adjacent, err := privatefile.Acquire(ctx, target+lockSuffix, o)
	l := &saveLock{adjacent: adjacent}
	if _, held := errors.AsType[*privatefile.HeldError](err); held || ctx.Err() != nil {
		return nil, fmt.Errorf("dotenv: nothing was saved: %w", err)
	}
	if locksTarget {
		targetErr := l.lockTarget(ctx, target, wait)
		_, held := errors.AsType[*privatefile.HeldError](targetErr)
		switch {
		case held, targetErr != nil && ctx.Err() != nil:
			l.release()
			return nil, fmt.Errorf("dotenv: nothing was saved: %w", targetErr)
		case targetErr == nil:
			return l, nil // the target is locked, even if no file can be created next to it
		case errors.Is(targetErr, fs.ErrNotExist):
		default: // the file cannot be read, which the save will report
		}
	}
	if err != nil {
		return nil, fileError(target, "was not saved: no lock could be created in its folder", err)
	}
	return l, nil
}

func (l *saveLock) lockTarget(ctx context.Context, target string, wait time.Duration) (err error) {
	l.target, err = privatefile.Acquire(ctx, target, privatefile.LockOptions{Name: "save lock of " + printable(target), Wait: wait, Existing: true})
	return err
}

// release releases the locks. It ignores errors, because the caller could not act on them.
func (l *saveLock) release() {
	_ = l.target.Release()
	_ = l.adjacent.Release()
}

// recoverUnlocked does the same as recoverLocked for a caller without the lock. It acquires the lock only if there is
// something to recover. If another program is replacing the file now, there is nothing to recover; if that program may
// be writing the file in place, recoverUnlocked waits.
func recoverUnlocked(ctx context.Context, target string, h hooks) ([]string, error) {
	names, err := leftovers(target)
	if err != nil || len(names) == 0 {
		return nil, err
	}
	wait := time.Duration(0)
	if slices.ContainsFunc(names, func(name string) bool { return filepath.Ext(name) == placeSuffix }) {
		wait = saveWait // a save in place may have left the file incomplete
	}
	lock, err := lockFile(ctx, target, wait)
	if _, held := errors.AsType[*privatefile.HeldError](err); held && wait == 0 {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer lock.release()
	return recoverLocked(target, h)
}

// leftovers lists the files next to target that were left by saves.
func leftovers(target string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Dir(target))
	if errors.Is(err, fs.ErrPermission) {
		return nil, nil // the folder cannot be listed
	}
	if err != nil {
		return nil, fileError(target, "is in a folder that cannot be read", err)
	}
	var names []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), filepath.Base(target)+saveInfix) {
			names = append(names, filepath.Join(filepath.Dir(target), e.Name()))
		}
	}
	return names, nil
}

// recoverLocked finishes what a killed save left next to target, and returns notices for the user. The target is
// complete if names were exchanged, because an exchange is atomic. A target that was being written in place may be
// incomplete, and recoverLocked restores it.
func recoverLocked(target string, h hooks) ([]string, error) {
	names, err := leftovers(target)
	if err != nil {
		return nil, err
	}
	var notices []string
	for _, name := range names {
		notice := ""
		switch filepath.Ext(name) {
		case partialSuffix:
			err = os.Remove(name)
		case swapSuffix:
			name, err = recoverExchange(target, name)
		case placeSuffix:
			name, notice, err = recoverInPlace(target, name, h)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return notices, fileError(target, "has a file next to it that an interrupted save left and that cannot be cleaned up: "+printable(name), err)
		}
		if notice == "" && filepath.Ext(name) == keptSuffix {
			notice = printable(name) + " is " + keptReason(name) + ": compare it with the file and delete it"
		}
		if notice != "" {
			notices = append(notices, notice)
		}
	}
	return notices, nil
}

// keptReason describes which version a kept file contains.
func keptReason(name string) string {
	if strings.HasSuffix(name, previousSuffix) {
		return "the version from before an interrupted save, kept because another program has changed the file since then"
	}
	return "another program's version of the file, which a save displaced"
}

// recoverExchange removes the file called name if it contains the new or the replaced bytes of the save. Otherwise the
// file is another program's version: recoverExchange renames it and returns the new name.
func recoverExchange(target, name string) (string, error) {
	parts := strings.Split(strings.TrimSuffix(filepath.Base(name), swapSuffix), "-")
	out, err := readSnapshot(name)
	if err != nil || len(parts) < 3 {
		return name, err
	}
	if sum := shortHash(out.hash()); sum == parts[len(parts)-1] || sum == parts[len(parts)-2] {
		return name, os.Remove(name)
	}
	return setAside(target, name)
}

// checkDisplaced reads the file displaced by the exchange. If that file is not what was loaded, or if another program
// is about to write to it, it remains next to the target. If it cannot be read, the exchange is undone.
func (w *writer) checkDisplaced(old *os.File, leased bool, folder *os.File) error {
	var out snapshot
	err := w.hooks.do(atDisplaced, func() (err error) { out, err = w.readDisplaced(old); return err })
	var refused *FileError
	if err != nil && !(errors.As(err, &refused) && refused.Err == nil) { // a file that is not regular cannot be the file that was loaded
		return w.undoExchange(err, folder)
	}
	if err == nil && out.hash() == w.Hash && out.sameAttributes(w.loaded) && !(leased && leaseBroken(old)) {
		return nil
	}
	changed := w.changedError(out)
	changed.Missing, changed.Err = false, nil
	changed.Kept, err = setAside(w.Real, w.temp)
	return errors.Join(changed, err, folder.Sync())
}

// readDisplaced reads the file that now has the temporary name. Usually old is a handle for that file. If old is not,
// another file was renamed over the target before the exchange.
func (w *writer) readDisplaced(old *os.File) (snapshot, error) {
	before, err := old.Stat()
	if err != nil {
		return snapshot{}, err
	}
	if now, err := os.Lstat(w.temp); err == nil && os.SameFile(before, now) {
		return readOpen(w.temp, old)
	}
	return readSnapshot(w.temp)
}

// undoExchange moves back a displaced file that could not be read, because that file may differ from what was loaded.
// If it cannot be moved back, it keeps its temporary name and the next Load or save reads it.
func (w *writer) undoExchange(why error, folder *os.File) error {
	if err := w.hooks.do(atRestore, func() error { return exchange(w.temp, w.Real) }); err != nil {
		w.warn("was saved, but its previous version, %s, could not be read (%v): it may be newer than the version that was loaded", printable(w.temp), why)
		_ = folder.Sync() // a failure is covered by the warning
		return nil        //nolint:nilerr // the file was saved: the warning says the rest
	}
	if out, err := readSnapshot(w.temp); err != nil || out.hash() != sha256.Sum256(w.data) { // another program has changed the file since the exchange
		changed := w.changedError(out)
		changed.Missing = false
		changed.Kept, err = setAside(w.Real, w.temp)
		return errors.Join(changed, err)
	}
	return errors.Join(w.notSaved("read its previous version", why), folder.Sync())
}

// setAside renames another program's version to a name that no save removes.
func setAside(target, name string) (string, error) {
	aside := target + saveInfix + rand.Text() + keptSuffix
	if err := os.Rename(name, aside); err != nil {
		return name, fmt.Errorf("dotenv: rename %s: %w", printable(name), err)
	}
	return aside, nil
}
