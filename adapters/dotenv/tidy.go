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
)

// The names beside NAME that a save uses. None of them ends in ".env", so the
// proxy loads none of them.
const (
	leftover   = ".winnow-" // NAME.winnow-RANDOM…
	partial    = ".part"    // … being written: worth nothing
	exchanging = ".swap"    // …-NEW-OLD: the new bytes, or after the exchange what came out
	kept       = ".kept"    // a change of somebody else that lost its place
)

// tidy finishes or undoes what a killed save left beside target, and tells
// what the user should know.
func tidy(ctx context.Context, target string) ([]string, error) {
	names, err := leftovers(target)
	if err != nil || len(names) == 0 {
		return nil, err
	}
	// A save under way has the lock; when it is over its files are gone.
	unlock, err := lockFolder(ctx, filepath.Dir(target))
	if err != nil {
		return nil, err
	}
	defer unlock()
	return tidyLocked(target)
}

// leftovers lists the files of saves beside target.
func leftovers(target string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Dir(target))
	if errors.Is(err, fs.ErrPermission) {
		return nil, nil // a folder that can be entered but not listed
	}
	if err != nil {
		return nil, &FileError{target, "lies in a folder that cannot be read", reason(err)}
	}
	var names []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), filepath.Base(target)+leftover) {
			names = append(names, filepath.Join(filepath.Dir(target), e.Name()))
		}
	}
	return names, nil
}

// tidyLocked is tidy for who has the lock.
func tidyLocked(target string) ([]string, error) {
	names, err := leftovers(target)
	if err != nil {
		return nil, err
	}
	var notices []string
	for _, name := range names {
		switch filepath.Ext(name) {
		case partial:
			err = os.Remove(name)
		case exchanging:
			var notice string
			if notice, err = tidyExchange(target, name); notice != "" {
				notices = append(notices, notice)
			}
		case kept:
			notices = append(notices, printable(name)+" holds a change that a save had to put aside: compare it and delete it")
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return notices, &FileError{target, "has a file of a killed save beside it that cannot be removed", reason(err)}
		}
	}
	return notices, nil
}

// tidyExchange ends an exchange that was cut short. Under name lie the new
// bytes, which were never confirmed, or the old ones, which were to go; anything
// else is a change by somebody else that came out and has to go back.
func tidyExchange(target, name string) (string, error) {
	parts := strings.Split(strings.TrimSuffix(filepath.Base(name), exchanging), "-")
	out, err := readState(name)
	if err != nil || len(parts) < 3 {
		return "", err
	}
	newSum, oldSum := parts[len(parts)-2], parts[len(parts)-1]
	if sum := short(out.hash()); sum == newSum || sum == oldSum {
		return "", os.Remove(name)
	}
	at, err := readState(target)
	if err == nil && at.exists() && short(at.hash()) == newSum && exchange(name, target) == nil {
		notice := "a save was cut short while somebody else changed " + printable(target) + ": their change is back, the save was not made"
		return notice, errors.Join(syncFolder(filepath.Dir(target)), os.Remove(name))
	}
	aside, err := keepAside(target, name)
	return printable(aside) + " holds a change that a save which was cut short put aside: compare it and delete it", err
}

// keepAside renames a file to a name under which no save removes it.
func keepAside(target, name string) (string, error) {
	aside := target + leftover + rand.Text() + kept
	if err := os.Rename(name, aside); err != nil {
		return name, fmt.Errorf("dotenv: keep %s: %w", printable(name), err)
	}
	return aside, nil
}
