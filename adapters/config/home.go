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

	"winnow/checkpoint/privatefile"
)

// Home contains the folders of winnow's files.
type Home struct {
	root string // the folder that contains the others; "" with XDG

	ConfigDir, DataDir, StateDir, CacheDir string
}

// HomeAt returns the home under dir or, if dir is "", in the XDG base directories. It returns an error if HOME is not
// set or is relative and one of the base directories depends on it.
func HomeAt(dir string) (Home, error) {
	if dir == "" {
		const name = "winnow"
		for _, variable := range []string{"XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"} {
			if !filepath.IsAbs(xdg.Home) && !filepath.IsAbs(os.Getenv(variable)) {
				return Home{}, fmt.Errorf("no home folder: HOME is %q, which is not an absolute path; set it, or choose a folder with --home or WINNOW_HOME", xdg.Home)
			}
		}
		return Home{
			ConfigDir: filepath.Join(xdg.ConfigHome, name), DataDir: filepath.Join(xdg.DataHome, name),
			StateDir: filepath.Join(xdg.StateHome, name), CacheDir: filepath.Join(xdg.CacheHome, name),
		}, nil
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return Home{}, fmt.Errorf("no home folder: %w", err)
	}
	return Home{
		root: dir, ConfigDir: filepath.Join(dir, "config"), DataDir: filepath.Join(dir, "data"),
		StateDir: filepath.Join(dir, "state"), CacheDir: filepath.Join(dir, "cache"),
	}, nil
}

// Settings returns the path of the settings file.
func (h Home) Settings() string { return filepath.Join(h.ConfigDir, "config.toml") }

// History returns the path of the database of message pairs.
func (h Home) History() string { return filepath.Join(h.DataDir, "history.db") }

// Log returns the path of the program's log.
func (h Home) Log() string { return filepath.Join(h.StateDir, "log", "winnow.log") }

// Typeahead returns the path of the file for text typed in runs that ended before the history was open.
func (h Home) Typeahead() string { return filepath.Join(h.StateDir, "typed.ndjson") }

// HostKey returns the path of the SSH server's host key.
func (h Home) HostKey() string { return filepath.Join(h.StateDir, "ssh_host_key") }

// Tokens returns the path of the file with the tokens of winnow serve.
func (h Home) Tokens() string { return filepath.Join(h.StateDir, "tokens.json") }

// Models returns the folder of the providers' model lists.
func (h Home) Models() string { return filepath.Join(h.CacheDir, "models") }

// Endpoints returns the folder of the endpoints' model lists.
func (h Home) Endpoints() string { return filepath.Join(h.CacheDir, "endpoints") }

// Versions returns the folder of the saved versions of .env files.
func (h Home) Versions() string { return filepath.Join(h.StateDir, "versions") }

// Journal returns the path of the journal of a .env file, in a folder of its own. A file with two names has one
// journal.
func (h Home) Journal(envFile string) string {
	return filepath.Join(h.StateDir, "journals", fileKey(envFile), "journal")
}

// HistoryJournal returns the path of the journal of the window for the chat history.
func (h Home) HistoryJournal() string {
	return filepath.Join(h.StateDir, "journals", "history", "journal")
}

// HomeFile is a file or folder that winnow stores.
type HomeFile struct {
	Path string `json:"path"` // ends with a separator if it is a folder
	Help string `json:"help"` // a clause that describes the content
}

// Files lists what winnow stores, including the journal for the .env file in the working folder.
func (h Home) Files() []HomeFile {
	const folder = string(filepath.Separator)
	return []HomeFile{
		{h.Settings(), "the settings"},
		{h.History(), "sessions and messages, unless the history setting names a PostgreSQL database; its lock files are in the same folder"},
		{filepath.Dir(h.Journal(".env")) + folder, "unsaved rules and checkpoints of the .env file in this folder; for winnow serve, also the responses to requests that can be repeated"},
		{filepath.Dir(h.HistoryJournal()) + folder, "checkpoints of changes to the chat history"},
		{h.Versions() + folder, "the first and the last 20 saved versions of each .env file; winnow rules log lists them"},
		{h.Log(), "the log: events and errors, never keys, and conversations only with --log-level debug"},
		{h.HostKey(), "the SSH host key of winnow serve"},
		{h.Tokens(), "users and roles of winnow serve, with the hashes of their tokens"},
		{h.Typeahead(), "text typed in a run that ended before the history was open"},
		{h.Models() + folder, "the most recent list of models of each provider"},
		{h.Endpoints() + folder, "the most recent list of models of each endpoint"},
	}
}

// fileKey returns the name of a folder for a file, derived from the real path of the file.
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
	return hex.EncodeToString(sum[:12]) // 96 bits are enough to avoid collisions
}

// MakePrivate creates a folder and its parents with access for this user only.
func MakePrivate(dir string) error {
	const mode = 0o700
	if err := os.MkdirAll(dir, mode); err != nil {
		return err
	}
	return os.Chmod(dir, mode)
}

// UnsafeError means that other users can replace a folder or the files in it.
type UnsafeError struct {
	Dir    string
	Parent string // the folder in which anyone can rename Dir; "" if Dir itself could not be repaired
	Err    error  // why Dir could not be repaired
}

func (e *UnsafeError) Error() string {
	if e.Parent != "" {
		return fmt.Sprintf("anyone can replace %s, because anyone can write to %s", e.Dir, e.Parent)
	}
	return fmt.Sprintf("other users can write to %s, and this could not be changed: %v", e.Dir, e.Err)
}

func (e *UnsafeError) Unwrap() error { return e.Err }

// Check ensures that no other user can replace the current or future contents of the folders. It returns an
// *UnsafeError if anyone can write to a folder above them, unless that folder is sticky like /tmp. It repairs the
// mode of a folder that others can write to, or returns an *UnsafeError if that fails. If others have access to the
// settings, the logs or typed text, it repairs the modes of these files, too. notices reports the repairs, those of
// files that failed, and a log that cannot be written.
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
		notices = append(notices, "nothing is logged: "+h.Log()+" is a symbolic link or not a regular file")
	}
	for _, path := range h.private() {
		if notice := RepairFile(path); notice != "" {
			notices = append(notices, notice)
		}
	}
	return notices, nil
}

// private lists the files that other users must not read: the settings (also through a symbolic link), the logs
// (including rotated ones), and typed text.
func (h Home) private() []string {
	paths, dir := []string{h.Typeahead()}, filepath.Dir(h.Log())
	entries, _ := os.ReadDir(dir) // the folder does not exist before the first run
	for _, e := range entries {
		paths = append(paths, filepath.Join(dir, e.Name()))
	}
	paths = slices.DeleteFunc(paths, func(path string) bool {
		info, err := os.Lstat(path)
		return err != nil || !info.Mode().IsRegular()
	})
	return append(paths, h.Settings())
}

// CanLog reports whether the log is a regular file or does not exist yet. A symbolic link is not written to.
func (h Home) CanLog() bool {
	info, err := os.Lstat(h.Log())
	return err != nil || info.Mode().IsRegular()
}

// RepairFile removes other users' access to a file that may contain secrets. It returns a notice that they could read
// or change the file and, if this could not be repaired, why.
func RepairFile(path string) (notice string) {
	const others = 0o077
	info, err := os.Stat(path)
	if err != nil || runtime.GOOS == "windows" || !info.Mode().IsRegular() {
		return ""
	}
	can := privatefile.OthersCan(info.Mode())
	if can == "" {
		return ""
	}
	if err := os.Chmod(path, info.Mode().Perm()&^others); err != nil {
		return fmt.Sprintf("other users can %s %s, and its mode cannot be changed: %v", can, path, err)
	}
	return "other users could " + can + " " + path + "; they no longer can"
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
	return "other users could write to " + dir + "; they no longer can", nil
}
