// Package doctor examines winnow's environment: the terminal and tmux, the folders and the .env file, the endpoints,
// the history, the proxy, and whether winnow's files contain keys.
//
// Each check returns Findings and repairs nothing. The Kind of a problem determines the advice in its Finding. The
// functions do I/O and may be called from any goroutine; Run makes several Checks concurrently.
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

// Finding is the result of one check.
type Finding struct {
	About  string `json:"about"`
	State  string `json:"state"` // OK, Warning or Failed
	Detail string `json:"detail"`
	Next   string `json:"next,omitempty"` // what to do, one step per line
}

// Pass returns a finding without a problem.
func Pass(about, format string, args ...any) Finding {
	return Finding{About: about, State: OK, Detail: fmt.Sprintf(format, args...)}
}

// tmuxOptions are the options that keys and the clipboard depend on, with their bad values. The last one lists the
// features of the terminal that tmux runs in. A delay after Esc is noticeable from 100 ms on; tmux before 3.5 waits 500
// ms.
var tmuxOptions = []struct {
	name string
	bad  *regexp.Regexp
}{
	{"extended-keys", regexp.MustCompile("^off$")},
	{"set-clipboard", regexp.MustCompile("^(external|off)$")},
	{"focus-events", regexp.MustCompile("^(0|off)$")},
	{"escape-time", regexp.MustCompile(`^\d{3,}$`)},
	{"client_termfeatures", regexp.MustCompile(".")}, // bad unless it contains extkeys
}

// Tmux examines the settings of the tmux that winnow runs in. environ is winnow's environment; tmux gets it without
// the known keys.
func Tmux(ctx context.Context, environ []string, known *safetext.Redactor) Finding {
	const limit = 2 * time.Second // tmux either responds at once or hangs
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var format []string
	for _, o := range tmuxOptions {
		format = append(format, "#{"+o.name+"}")
	}
	ask := exec.CommandContext(ctx, "tmux", "display-message", "-p", strings.Join(format, "\n"))
	ask.Env = config.WithoutKeys(environ, known)
	out, err := ask.Output()
	if err != nil {
		return Fail("tmux", TmuxSilent, fmt.Errorf("tmux does not report its settings: %w", err), "")
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
		f = Problem("tmux", Warning, TmuxSettings, "change these: "+strings.Join(wrong, ", ")+" ("+f.Detail+")", "")
	}
	return f
}

// quoted returns a path quoted for a shell if necessary.
func quoted(path string) string {
	if plainPath.MatchString(path) {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

var plainPath = regexp.MustCompile(`^[\w@%+=:,./-]+$`)

// Folder checks that other users cannot access the files in a folder, and that the folder is writable; for this, it
// creates and removes an empty file.
func Folder(dir string) Finding {
	var open, paths []string
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 && info.Mode()&fs.ModeSymlink == 0 {
			open, paths = append(open, fmt.Sprintf("%s (%04o)", path, info.Mode().Perm())), append(paths, quoted(path))
		}
		return err
	})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Pass("files", "%s does not exist yet", dir)
	case err != nil:
		return Fail("files", Unreadable, err, quoted(dir))
	case len(open) > 0:
		return Problem("files", Warning, AccessibleFiles, "other users have access to "+strings.Join(open, ", "), strings.Join(paths, " "))
	}
	probe, err := os.CreateTemp(dir, ".winnow-*")
	if err == nil {
		err = errors.Join(probe.Close(), os.Remove(probe.Name()))
	}
	if err != nil {
		return Fail("files", NotWritable, err, quoted(dir))
	}
	return Pass("files", "%s is writable, and only you can read it", dir)
}

// EnvFile examines the .env file at path, which need not exist.
func EnvFile(path string) Finding {
	source, err := dotenv.Load(path)
	if err != nil {
		return Fail(".env", BadEnvFile, err, "")
	}
	if !source.Exists {
		return Pass(".env", "%s does not exist; saving rules creates it", source.Path)
	}
	f := Pass(".env", "%s, %s, mode %04o", source.Path, assistant.Counted(len(source.File.Keys()), "variable"), source.Mode.Perm())
	if dotenv.Mounted(source.Real) {
		f.Detail += "; mounted as a single file: a save writes it in place"
	}
	if err := source.CheckFolder(); err != nil {
		return Fail(".env", BadEnvFile, err, "")
	}
	var lines []string
	for _, p := range source.File.Problems() {
		lines = append(lines, p.String())
	}
	switch {
	case source.OthersCan() != "":
		f = Problem(".env", Warning, AccessibleFiles, f.Detail+": other users can "+source.OthersCan()+" it", quoted(source.Path))
		if len(lines) > 0 {
			f.Next += "\n" + adviceFor(EnvLines, strings.Join(lines, "\n"))
		}
	case len(lines) > 0:
		f = Problem(".env", Warning, EnvLines, f.Detail, strings.Join(lines, "\n"))
	}
	return f
}

// Secrets searches all files in the folders for the keys that the redactor knows.
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
				found = append(found, Problem("secrets", Failed, KeyInFile, path+" contains a key", quoted(path)))
			}
			return err
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			found = append(found, Fail("secrets", Unreadable, err, quoted(dir)))
		}
	}
	if len(found) == 0 {
		found = []Finding{Pass("secrets", "no known key in %s", assistant.Counted(files, "file"))}
	}
	return found
}

// holdsSecret reports whether redacting the file would change it, that is, whether it contains a known key in any
// form.
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
