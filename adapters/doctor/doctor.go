// Package doctor examines what winnow depends on outside of its own code: tmux, the
// folders and the .env file, and whether winnow's files hold keys.
//
// Each function returns Findings and changes nothing. They do I/O, and are safe from
// any goroutine.
package doctor

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"winnow/adapters/config"
	"winnow/adapters/dotenv"
	"winnow/assistant"
	"winnow/assistant/safetext"
)

// The states of a Finding.
const (
	OK      = "ok"
	Warning = "warning"
	Failed  = "failed"
)

// Finding is one thing that was examined.
type Finding struct {
	About  string `json:"about"`
	State  string `json:"state"` // OK, Warning or Failed
	Detail string `json:"detail"`
	Next   string `json:"next,omitempty"` // what to do, in lines
}

// Pass is a finding without a problem.
func Pass(about, format string, args ...any) Finding {
	return Finding{About: about, State: OK, Detail: fmt.Sprintf(format, args...)}
}

// Fail is a finding of an error.
func Fail(about string, err error, next string) Finding {
	return Finding{about, Failed, strings.ReplaceAll(err.Error(), "\n", "; "), next}
}

// tmuxOptions are the options on which keys and the clipboard depend, with their bad
// values. The last is what tmux knows of the terminal around it. A delay of Esc is
// noticed from 100 ms on; tmux before 3.5 waits for 500.
var tmuxOptions = []struct {
	name string
	bad  *regexp.Regexp
}{
	{"extended-keys", regexp.MustCompile("^off$")},
	{"set-clipboard", regexp.MustCompile("^(external|off)$")},
	{"focus-events", regexp.MustCompile("^(0|off)$")},
	{"escape-time", regexp.MustCompile(`^\d{3,}$`)},
	{"client_termfeatures", regexp.MustCompile(".")}, // bad unless it holds extkeys
}

// tmuxAdvice is what makes keys and the clipboard work inside tmux.
const tmuxAdvice = "put into ~/.tmux.conf:\nset -s extended-keys on\nset -as terminal-features 'xterm*:extkeys'\n" +
	"set -g focus-events on\nset -s set-clipboard on\nset -s escape-time 10"

// Tmux examines the settings of the tmux around the terminal; environ is that of winnow.
func Tmux(ctx context.Context, environ []string) Finding {
	const limit = 2 * time.Second // tmux answers at once or hangs
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var format []string
	for _, o := range tmuxOptions {
		format = append(format, "#{"+o.name+"}")
	}
	ask := exec.CommandContext(ctx, "tmux", "display-message", "-p", strings.Join(format, "\n"))
	ask.Env = config.WithoutKeys(environ)
	out, err := ask.Output()
	if err != nil {
		return Fail("tmux", fmt.Errorf("tmux does not tell its settings: %w", err), tmuxAdvice)
	}
	var wrong, all []string
	for i, value := range strings.SplitN(strings.TrimSuffix(string(out), "\n"), "\n", len(tmuxOptions)) {
		o := tmuxOptions[i]
		if o.bad.MatchString(value) && !strings.Contains(value, "extkeys") {
			wrong = append(wrong, o.name)
		}
		all = append(all, o.name+" "+value)
	}
	f := Pass("tmux", "%s", strings.Join(all, ", "))
	if len(wrong) > 0 {
		f = Finding{"tmux", Warning, "to be changed: " + strings.Join(wrong, ", ") + " (" + f.Detail + ")", tmuxAdvice}
	}
	return f
}

// Folder looks for files that others can read, and whether the folder can be written
// to. It creates and removes an empty file.
func Folder(dir string) Finding {
	var readable []string
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 && info.Mode()&fs.ModeSymlink == 0 {
			readable = append(readable, fmt.Sprintf("%s (%04o)", path, info.Mode().Perm()))
		}
		return err
	})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Pass("files", "%s does not exist yet", dir)
	case err != nil:
		return Fail("files", err, "check owner and mode")
	case len(readable) > 0:
		return Finding{"files", Warning, "others can read " + strings.Join(readable, ", "), "chmod go-rwx"}
	}
	probe, err := os.CreateTemp(dir, ".winnow-*")
	if err == nil {
		err = errors.Join(probe.Close(), os.Remove(probe.Name()))
	}
	if err != nil {
		return Fail("files", err, "check owner, mode and free space")
	}
	return Pass("files", "%s is writable, and readable by you alone", dir)
}

// EnvFile examines the .env file at path, which need not exist.
func EnvFile(path string) Finding {
	source, err := dotenv.Load(path)
	if err != nil {
		return Fail(".env", errors.New(strings.TrimPrefix(err.Error(), "dotenv: ")), "name another file with --env-file")
	}
	if !source.Exists {
		return Pass(".env", "%s does not exist; saving rules creates it", source.Path)
	}
	f := Pass(".env", "%s, %s, mode %04o", source.Path, assistant.Counted(len(source.File.Keys()), "key"), source.Mode.Perm())
	notes := source.Notices
	for _, p := range source.File.Problems() {
		notes = append(notes, p.String())
	}
	if len(notes) > 0 {
		f.State, f.Next = Warning, strings.Join(notes, "\n")
	}
	return f
}

// Secrets reads all files of the folders and looks for the keys that the redactor
// knows.
func Secrets(ctx context.Context, redactor *safetext.Redactor, dirs ...string) []Finding {
	files := 0
	var found []Finding
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err = errors.Join(err, ctx.Err()); err != nil || !e.Type().IsRegular() {
				return err
			}
			files++
			holds, err := holdsSecret(path, redactor)
			if holds {
				found = append(found, Finding{"secrets", Failed, path + " holds a key", "replace the key at its provider, then remove the file"})
			}
			return err
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			found = append(found, Fail("secrets", err, "check owner and mode"))
		}
	}
	if len(found) == 0 {
		found = []Finding{Pass("secrets", "no known key in %s", assistant.Counted(files, "file"))}
	}
	return found
}

// holdsSecret reports whether a file holds a known key in any form the redactor
// knows: whether it differs from itself redacted.
func holdsSecret(path string, redactor *safetext.Redactor) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	original, redacted := sha256.New(), sha256.New()
	w := redactor.NewWriter(redacted)
	_, err = io.Copy(io.MultiWriter(original, w), f)
	err = errors.Join(err, w.Flush())
	return !bytes.Equal(original.Sum(nil), redacted.Sum(nil)), err
}
