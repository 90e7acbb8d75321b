package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/adrg/xdg"
)

// home is where winnow keeps its files. The folders need not exist.
type home struct {
	root                       string // the folder that holds the others; "" with XDG
	config, data, state, cache string
}

// privateMode is the mode of every folder that winnow makes.
const privateMode = 0o700

// homeAt is everything under one folder, or the folders of the XDG base
// directories for "".
func homeAt(dir string) (home, error) {
	if dir == "" {
		const name = "winnow"
		return home{
			config: filepath.Join(xdg.ConfigHome, name), data: filepath.Join(xdg.DataHome, name),
			state: filepath.Join(xdg.StateHome, name), cache: filepath.Join(xdg.CacheHome, name),
		}, nil
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return home{}, fmt.Errorf("home: %w", err)
	}
	return home{
		config: filepath.Join(dir, "config"), data: filepath.Join(dir, "data"),
		state: filepath.Join(dir, "state"), cache: filepath.Join(dir, "cache"), root: dir,
	}, nil
}

func (h home) settings() string  { return filepath.Join(h.config, "config.toml") }
func (h home) history() string   { return filepath.Join(h.data, "history.db") }
func (h home) log() string       { return filepath.Join(h.state, "log", "winnow.log") }
func (h home) crash() string     { return filepath.Join(h.state, "log", "crash.txt") }
func (h home) typeahead() string { return filepath.Join(h.state, "typed.ndjson") }
func (h home) models() string    { return filepath.Join(h.cache, "models") }
func (h home) endpoints() string { return filepath.Join(h.cache, "endpoints") }
func (h home) versions() string  { return filepath.Join(h.state, "versions") }

// journal is the journal of one .env file, in a folder of its own: the same
// file under two names has one journal.
func (h home) journal(envFile string) string {
	return filepath.Join(h.state, "journals", fileKey(envFile), "journal")
}

// historyJournal is the journal of the chat history as a window.
func (h home) historyJournal() string {
	return filepath.Join(h.state, "journals", "history", "journal")
}

// fileKey names a file by its real path, in a form that fits a folder's name.
func fileKey(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	} else if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		path = filepath.Join(dir, filepath.Base(path)) // the file does not exist yet
	}
	sum := sha256.Sum256([]byte(path))
	return hex.EncodeToString(sum[:12]) // 96 bits: no two files share one
}

// makePrivate makes a folder for this user alone.
func makePrivate(dir string) error {
	if err := os.MkdirAll(dir, privateMode); err != nil {
		return err
	}
	return os.Chmod(dir, privateMode)
}

// checkPrivate makes sure that no other user can replace what is in a folder of
// winnow: one that others can write to is repaired, which notice reports; one
// whose parent lets everybody rename it is an error. A folder that does not
// exist is fine.
func checkPrivate(dir string) (notice string, err error) {
	const others, everybody = 0o022, 0o002
	info, err := os.Stat(dir)
	switch {
	case dir == "" || errors.Is(err, fs.ErrNotExist) || runtime.GOOS == "windows": // where modes say nothing
		return "", nil
	case err != nil:
		return "", err
	}
	if parent, err := os.Stat(filepath.Dir(dir)); err == nil && parent.Mode().Perm()&everybody != 0 && parent.Mode()&fs.ModeSticky == 0 {
		return "", advise(fmt.Errorf("everybody can replace %s, because everybody can write to %s", dir, filepath.Dir(dir)),
			"use another folder with --home, or chmod o-w %s", filepath.Dir(dir))
	}
	if info.Mode().Perm()&others == 0 {
		return "", nil
	}
	if err := os.Chmod(dir, info.Mode().Perm()&^0o077); err != nil {
		return "", advise(fmt.Errorf("others can write to %s: %w", dir, err), "use another folder with --home")
	}
	return "others could write to " + dir + "; its mode was repaired", nil
}
