package dotenv

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"winnow/adapters/statefile"
)

// The names that a save uses beside the file NAME. None ends in ".env", so the
// proxy loads none of them. NAME.winnow-ID-NEW-OLD.swap stands for a save in
// progress: NEW and OLD are the hashes of the bytes to be written and replaced.
const (
	saveInfix     = ".winnow-" // NAME.winnow-ID…
	partialSuffix = ".part"    // … incomplete: may be removed
	swapSuffix    = ".swap"    // …-NEW-OLD: the new file before the exchange, the displaced one afterwards
	keptSuffix    = ".kept"    // another program's version that a save displaced
)

// lockFolder waits for other saves of files in the folder of target.
func lockFolder(ctx context.Context, target string) (unlock func(), err error) {
	folder := filepath.Dir(target)
	if unlock, err = statefile.Lock(ctx, lockPath(folder)); err != nil {
		return nil, fileError(folder, "cannot be locked", err)
	}
	return unlock, nil
}

// recoverUnlocked is recoverLocked for a caller without the lock. It acquires the
// lock only if there is something to do.
func recoverUnlocked(ctx context.Context, target string) ([]string, error) {
	names, err := leftovers(target)
	if err != nil || len(names) == 0 {
		return nil, err
	}
	unlock, err := lockFolder(ctx, target)
	if err != nil {
		return nil, err
	}
	defer unlock()
	return recoverLocked(target)
}

// leftovers lists the files of saves beside target.
func leftovers(target string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Dir(target))
	if errors.Is(err, fs.ErrPermission) {
		return nil, nil // a folder that can be entered but not listed
	}
	if err != nil {
		return nil, fileError(target, "lies in a folder that cannot be read", err)
	}
	var names []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), filepath.Base(target)+saveInfix) {
			names = append(names, filepath.Join(filepath.Dir(target), e.Name()))
		}
	}
	return names, nil
}

// recoverLocked finishes what a killed save left beside target and returns what the user
// should know. The exchange itself is atomic, so the target is always whole.
func recoverLocked(target string) ([]string, error) {
	names, err := leftovers(target)
	if err != nil {
		return nil, err
	}
	var notices []string
	for _, name := range names {
		switch filepath.Ext(name) {
		case partialSuffix:
			err = os.Remove(name)
		case swapSuffix:
			name, err = recoverExchange(target, name)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return notices, fileError(target, "has a file of an interrupted save beside it that cannot be removed", err)
		}
		if filepath.Ext(name) == keptSuffix {
			notices = append(notices, printable(name)+" is another program's change that a save displaced: compare it with the file and delete it")
		}
	}
	return notices, nil
}

// recoverExchange removes the file under name if its bytes are those that were
// to be written or replaced. Anything else is another program's version, which
// is renamed; the new name is returned.
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

// setAside renames another program's version to a name that no save removes.
func setAside(target, name string) (string, error) {
	aside := target + saveInfix + rand.Text() + keptSuffix
	if err := os.Rename(name, aside); err != nil {
		return name, fmt.Errorf("dotenv: rename %s: %w", printable(name), err)
	}
	return aside, nil
}
