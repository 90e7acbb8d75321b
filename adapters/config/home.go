package config

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/adrg/xdg"
)

// Home is where winnow keeps its files.
type Home struct {
	root string // the folder that holds the others; "" with XDG

	ConfigDir, DataDir, StateDir, CacheDir string
}

// HomeAt is the home under dir or, when dir is "", in the XDG base directories. It fails where
// one of these would lie in the working folder, or in that of the whole system, because
// HOME is relative or not set.
func HomeAt(dir string) (Home, error) {
	if dir == "" {
		const name = "winnow"
		for _, variable := range []string{"XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"} {
			if !filepath.IsAbs(xdg.Home) && !filepath.IsAbs(os.Getenv(variable)) {
				return Home{}, fmt.Errorf("there is no home folder: HOME is %q, not an absolute path; set it, or name a folder with --home or WINNOW_HOME", xdg.Home)
			}
		}
		return Home{
			ConfigDir: filepath.Join(xdg.ConfigHome, name), DataDir: filepath.Join(xdg.DataHome, name),
			StateDir: filepath.Join(xdg.StateHome, name), CacheDir: filepath.Join(xdg.CacheHome, name),
		}, nil
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return Home{}, fmt.Errorf("home: %w", err)
	}
	return Home{
		root: dir, ConfigDir: filepath.Join(dir, "config"), DataDir: filepath.Join(dir, "data"),
		StateDir: filepath.Join(dir, "state"), CacheDir: filepath.Join(dir, "cache"),
	}, nil
}

// Settings is the settings file.
func (h Home) Settings() string { return filepath.Join(h.ConfigDir, "config.toml") }

// History is the database of message pairs.
func (h Home) History() string { return filepath.Join(h.DataDir, "history.db") }

// Log is the log of the program.
func (h Home) Log() string { return filepath.Join(h.StateDir, "log", "winnow.log") }

// Typeahead holds what was typed in runs that ended before the history was open.
func (h Home) Typeahead() string { return filepath.Join(h.StateDir, "typed.ndjson") }

// HostKey is the key of the SSH server.
func (h Home) HostKey() string { return filepath.Join(h.StateDir, "ssh_host_key") }

// Models is the folder of the model lists of providers.
func (h Home) Models() string { return filepath.Join(h.CacheDir, "models") }

// Endpoints is the folder of the model lists of endpoints.
func (h Home) Endpoints() string { return filepath.Join(h.CacheDir, "endpoints") }

// Versions is the folder of the saved versions of .env files.
func (h Home) Versions() string { return filepath.Join(h.StateDir, "versions") }

// Journal is the journal of one .env file, in a folder of its own. The same file
// under two names has one journal.
func (h Home) Journal(envFile string) string {
	return filepath.Join(h.StateDir, "journals", fileKey(envFile), "journal")
}

// HistoryJournal is the journal of the chat history as a window.
func (h Home) HistoryJournal() string {
	return filepath.Join(h.StateDir, "journals", "history", "journal")
}

// HomeFile is something that winnow stores.
type HomeFile struct {
	Path string `json:"path"` // ends with a separator where it is a folder
	Help string `json:"help"` // what it holds, a clause
}

// Files lists what winnow stores, for the .env file of the working folder.
func (h Home) Files() []HomeFile {
	const folder = string(filepath.Separator)
	return []HomeFile{
		{h.Settings(), "the settings"},
		{h.History(), "sessions and message pairs, unless the setting history names a PostgreSQL database; its locks are in the same folder"},
		{filepath.Dir(h.Journal(".env")) + folder, "unsaved rules and checkpoints of the .env file here"},
		{filepath.Dir(h.HistoryJournal()) + folder, "checkpoints of the chat history as a window"},
		{h.Versions() + folder, "the last 20 saved versions of each .env file, and the first: winnow rules log lists them"},
		{h.Log(), "the log: events and failures, never a key, and no conversation unless --log-level debug"},
		{h.Typeahead(), "what was typed in a run that ended before the history was open"},
		{h.Models() + folder, "the models of each provider, as last seen"},
		{h.Endpoints() + folder, "the models of each endpoint, as last listed"},
	}
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

// MakePrivate makes a folder, and those above it, for this user alone.
func MakePrivate(dir string) error {
	const mode = 0o700
	if err := os.MkdirAll(dir, mode); err != nil {
		return err
	}
	return os.Chmod(dir, mode)
}

// UnsafeError is a folder in which other users can replace files.
type UnsafeError struct {
	Dir    string
	Parent string // lets everybody rename Dir; "" when Dir itself could not be repaired
	Err    error  // why not
}

func (e *UnsafeError) Error() string {
	if e.Parent != "" {
		return fmt.Sprintf("everybody can replace %s, because everybody can write to %s", e.Dir, e.Parent)
	}
	return fmt.Sprintf("others can write to %s: %v", e.Dir, e.Err)
}

func (e *UnsafeError) Unwrap() error { return e.Err }

// Check makes sure that no other user can replace what is in the folders, or will be: none
// above them may be one that everybody can write to, unless it is sticky, as /tmp is. One
// of the folders that others can write to is repaired, which a notice reports; one that
// cannot be made safe is an *UnsafeError. The settings, the logs and what was typed are
// repaired where others can read them.
func (h Home) Check() (notices []string, err error) {
	for _, dir := range []string{h.root, h.ConfigDir, h.DataDir, h.StateDir, h.CacheDir} {
		notice, err := checkFolder(dir)
		if err != nil {
			return nil, err
		}
		if notice != "" {
			notices = append(notices, notice)
		}
	}
	if !h.CanLog() {
		notices = append(notices, "nothing is logged: "+h.Log()+" is a symbolic link or no file")
	}
	for _, path := range h.private() {
		if notice := RepairFile(path); notice != "" {
			notices = append(notices, notice)
		}
	}
	return notices, nil
}

// private are the files with what other users must not read: the settings, also through a
// symbolic link, the logs, also those that were rotated, and what was typed.
func (h Home) private() []string {
	paths, dir := []string{h.Typeahead()}, filepath.Dir(h.Log())
	entries, _ := os.ReadDir(dir) // before the first run there is none
	for _, e := range entries {
		paths = append(paths, filepath.Join(dir, e.Name()))
	}
	paths = slices.DeleteFunc(paths, func(path string) bool {
		info, err := os.Lstat(path)
		return err != nil || !info.Mode().IsRegular()
	})
	return append(paths, h.Settings())
}

// CanLog reports whether the log is a file, or can become one: what a symbolic link names
// is not written to.
func (h Home) CanLog() bool {
	info, err := os.Lstat(h.Log())
	return err != nil || info.Mode().IsRegular()
}

// RepairFile takes a file that may contain secrets from other users; notice reports it.
func RepairFile(path string) (notice string) {
	const others = 0o077
	info, err := os.Stat(path)
	if err != nil || runtime.GOOS == "windows" || !info.Mode().IsRegular() || info.Mode().Perm()&others == 0 {
		return ""
	}
	if err := os.Chmod(path, info.Mode().Perm()&^others); err != nil {
		return fmt.Sprintf("others can read %s: %v", path, err)
	}
	return "others could read " + path + "; its mode was repaired"
}

func checkFolder(dir string) (notice string, err error) {
	const othersWrite, everybodyWrites, allOthers = 0o022, 0o002, 0o077
	if dir == "" || runtime.GOOS == "windows" {
		return "", nil
	}
	for above := filepath.Dir(dir); ; above = filepath.Dir(above) {
		if parent, err := os.Stat(above); err == nil && parent.Mode().Perm()&everybodyWrites != 0 && parent.Mode()&fs.ModeSticky == 0 {
			return "", &UnsafeError{Dir: dir, Parent: above}
		}
		if above == filepath.Dir(above) {
			break
		}
	}
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	case err != nil:
		return "", err
	}
	if info.Mode().Perm()&othersWrite == 0 {
		return "", nil
	}
	if err := os.Chmod(dir, info.Mode().Perm()&^allOthers); err != nil {
		return "", &UnsafeError{Dir: dir, Err: err}
	}
	return "others could write to " + dir + "; its mode was repaired", nil
}
