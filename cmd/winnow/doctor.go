package main

import (
	"bytes"
	"cmp"
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

	"github.com/spf13/cobra"

	"winnow/adapters/config"
	"winnow/adapters/dotenv"
	"winnow/adapters/endpoints"
	"winnow/assistant"
	"winnow/assistant/llm"
	"winnow/tui/style"
)

func doctorCommand(a *app) *cobra.Command {
	var secrets bool
	c := command("doctor", "Check the terminal, files, endpoint and database", 0, 0, func(ctx context.Context, _ []string) error {
		return a.doctor(ctx, secrets)
	})
	c.Long = "doctor changes nothing but the mode of winnow's own files that others can read.\n" +
		"--secrets reads all of them and names those that hold a key, in any encoding."
	c.Flags().BoolVar(&secrets, "secrets", false, "look for keys in winnow's own files")
	c.AddCommand(keysCommand(a))
	return c
}

// The states of a finding, and their signs.
const (
	stateOK      = "ok"
	stateWarning = "warning"
	stateFailed  = "failed"
)

var stateSigns = map[string]string{stateOK: "✓", stateWarning: "!", stateFailed: "✗"}

// finding is one thing that doctor looked at.
type finding struct {
	About  string `json:"about"`
	State  string `json:"state"` // "ok", "warning" or "failed"
	Detail string `json:"detail"`
	Next   string `json:"next,omitempty"` // what to do
}

// pass is a finding without a problem.
func pass(about, format string, args ...any) finding {
	return finding{About: about, State: stateOK, Detail: fmt.Sprintf(format, args...)}
}

// failed is a finding of an error.
func failed(about string, err error, next string) finding {
	return finding{about, stateFailed, strings.Join(errorLines(err), "; "), next}
}

// doctor looks at everything, whatever it finds on the way.
func (a *app) doctor(ctx context.Context, secrets bool) error {
	found := append(a.examineTerminal(ctx), a.examineSettings())
	found = append(found, a.examineFolders()...)
	found = append(found, a.examineEnvFile())
	found = append(found, a.examineEndpoints(ctx)...)
	found = append(found, a.examineHistory(ctx))
	if secrets {
		found = append(found, a.examineSecrets(ctx)...)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	healthy := true
	var lines []string
	for i := range found {
		f := &found[i]
		f.Detail, f.Next = a.redactor.Redact(f.Detail), a.redactor.Redact(f.Next)
		healthy = healthy && f.State != stateFailed
		lines = append(lines, fmt.Sprintf("%s %-9s %s", a.signs(stateSigns[f.State]), f.About, f.Detail))
		for line := range strings.Lines(f.Next) {
			lines = append(lines, "            "+strings.TrimRight(line, "\n"))
		}
	}
	err := a.emit(map[string]any{"ok": healthy, "findings": found}, lines...)
	if err == nil && !healthy {
		err = statusError(statusFailed)
	}
	return err
}

func (a *app) examineTerminal(ctx context.Context) []finding {
	name := a.env("TERM")
	terminal := pass("terminal", "TERM is %s", cmp.Or(name, "not set"))
	if program := a.env("TERM_PROGRAM"); program != "" {
		terminal.Detail += ", the program " + program
	}
	switch {
	case !isTerminal(a.stdout):
		terminal.Detail += "; standard output is not a terminal"
	case name == "" || name == "dumb":
		terminal.State, terminal.Next = stateWarning, "winnow --plain works here"
	default:
		terminal.Detail += fmt.Sprintf(", %d columns; winnow doctor keys shows which keys arrive here", a.width())
	}
	colours := pass("colours", "colours: %s", map[style.Profile]string{style.TrueColor: "24 bit", style.ANSI256: "256", style.ANSI16: "16", style.NoColor: "none"}[a.colourProfile()])
	if a.env("NO_COLOR") != "" {
		colours.Detail += " (NO_COLOR is set)"
	}
	if !a.unicode() {
		colours.Detail += "; the locale is not UTF-8, signs are ASCII"
	}
	found := []finding{terminal, colours}
	if a.env("TMUX") != "" {
		found = append(found, a.examineTmux(ctx))
	}
	return found
}

// tmuxOptions are those on which keys and the clipboard depend, with the values
// that are in the way. The last is what tmux knows of the terminal around it; Esc
// is felt to be late from 100 ms on, and tmux before 3.5 waits for 500.
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

func (a *app) examineTmux(ctx context.Context) finding {
	const limit = 2 * time.Second // tmux answers at once or hangs
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var format []string
	for _, o := range tmuxOptions {
		format = append(format, "#{"+o.name+"}")
	}
	ask := exec.CommandContext(ctx, "tmux", "display-message", "-p", strings.Join(format, "\n"))
	ask.Env = config.WithoutKeys(a.environ)
	out, err := ask.Output()
	if err != nil {
		return failed("tmux", fmt.Errorf("tmux does not tell its settings: %w", err), tmuxAdvice)
	}
	var wrong, all []string
	for i, value := range strings.SplitN(strings.TrimSuffix(string(out), "\n"), "\n", len(tmuxOptions)) {
		o := tmuxOptions[i]
		if o.bad.MatchString(value) && !strings.Contains(value, "extkeys") {
			wrong = append(wrong, o.name)
		}
		all = append(all, o.name+" "+value)
	}
	f := pass("tmux", "%s", strings.Join(all, ", "))
	if len(wrong) > 0 {
		f = finding{"tmux", stateWarning, "to be changed: " + strings.Join(wrong, ", ") + " (" + f.Detail + ")", tmuxAdvice}
	}
	return f
}

func (a *app) examineSettings() finding {
	s, err := a.config()
	switch {
	case err != nil:
		return failed("settings", err, "winnow config edit")
	case !s.Found:
		return pass("settings", "no %s, the defaults apply", s.Path)
	}
	return pass("settings", "%s", s.Path)
}

// examineFolders looks for files that others can read and folders that cannot
// be written to.
func (a *app) examineFolders() []finding {
	h, err := a.folders()
	if err != nil {
		return []finding{failed("folders", err, "set WINNOW_HOME to a folder of your own")}
	}
	return []finding{examineFolder(h.ConfigDir), examineFolder(h.DataDir), examineFolder(h.StateDir), examineFolder(h.CacheDir)}
}

func examineFolder(dir string) finding {
	var open []string
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 && info.Mode()&fs.ModeSymlink == 0 {
			open = append(open, fmt.Sprintf("%s (%04o)", path, info.Mode().Perm()))
		}
		return err
	})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return pass("files", "%s does not exist yet", dir)
	case err != nil:
		return failed("files", err, "check owner and mode")
	case len(open) > 0:
		return finding{"files", stateWarning, "others can read " + strings.Join(open, ", "), "chmod go-rwx"}
	}
	probe, err := os.CreateTemp(dir, ".winnow-*")
	if err == nil {
		err = errors.Join(probe.Close(), os.Remove(probe.Name()))
	}
	if err != nil {
		return failed("files", err, "check owner, mode and free space")
	}
	return pass("files", "%s is writable, and readable by you alone", dir)
}

func (a *app) examineEnvFile() finding {
	source, err := dotenv.Load(a.envFile())
	if err != nil {
		return failed(".env", err, "name another file with --env-file")
	}
	if !source.Exists {
		return pass(".env", "%s does not exist; saving rules creates it", source.Path)
	}
	f := pass(".env", "%s, %s, mode %04o", source.Path, assistant.Counted(len(source.File.Keys()), "key"), source.Mode.Perm())
	notes := source.Notices
	for _, p := range source.File.Problems() {
		notes = append(notes, p.String())
	}
	if len(notes) > 0 {
		f.State, f.Next = stateWarning, strings.Join(notes, "\n")
	}
	return f
}

// examineEndpoints asks the endpoints, the first choice first.
func (a *app) examineEndpoints(ctx context.Context) []finding {
	set, err := a.openEndpoints(openOptions{})
	if err != nil {
		return []finding{failed("endpoint", err, nextStep(err))}
	}
	var found []finding
	for _, e := range set.All {
		if e.Remote {
			f := pass("endpoint", "%s at %s is used only when you name it; it comes from %s", e.Name, e.BaseURL, e.From)
			f.Next = "winnow --provider " + e.Name
			found = append(found, f)
			continue
		}
		if e.Auto && !e.Answers(ctx) {
			continue
		}
		found = append(found, examineEndpoint(ctx, e))
	}
	return found
}

func examineEndpoint(ctx context.Context, e *endpoints.Endpoint) finding {
	const limit = 10 * time.Second
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	f := pass("endpoint", "%s at %s (%s)", e.Name, e.BaseURL, e.From)
	if e.Name == endpoints.OfflineName {
		f.Detail = e.Name + ", " + e.From
	}
	if e.Key != "" {
		f.Detail += ", key from " + e.Key
	}
	listed, err := e.List(ctx)
	if err != nil {
		return finding{"endpoint", stateFailed, f.Detail + ": " + requestText(err), requestAdvice(string(llm.KindOf(err)))}
	}
	f.Detail += ": " + assistant.Counted(len(listed), "model")
	return f
}

func (a *app) examineHistory(ctx context.Context) finding {
	store, err := a.openHistory(ctx)
	if err != nil {
		return failed("history", err, nextStep(err))
	}
	r, err := store.Check(ctx)
	switch {
	case err != nil:
		return failed("history", err, "")
	case len(r.Problems) > 0:
		return finding{"history", stateFailed, strings.Join(r.Problems, "; "), "winnow history export saves what can be read"}
	}
	return pass("history", "%s is sound: %s in %s", store.Path(), assistant.Counted(r.Pairs, "pair"), assistant.Counted(r.Sessions, "session"))
}

// examineSecrets reads winnow's own files and looks for every key that is known:
// those of the environment, of the .env file and of the settings. The settings
// file may hold keys that the user wrote into it and is left out.
func (a *app) examineSecrets(ctx context.Context) []finding {
	h, err := a.folders()
	if err != nil {
		return []finding{failed("secrets", err, "")}
	}
	if set, err := a.openEndpoints(openOptions{}); err == nil { // else examineEndpoints has reported it
		for _, e := range set.All {
			_, _ = e.APIKey(ctx) // makes the key known to the redactor
		}
	}
	files := 0
	var found []finding
	for _, dir := range []string{h.DataDir, h.StateDir, h.CacheDir} {
		err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err = errors.Join(err, ctx.Err()); err != nil || !e.Type().IsRegular() {
				return err
			}
			files++
			holds, err := a.holdsSecret(path)
			if holds {
				found = append(found, finding{"secrets", stateFailed, path + " holds a key", "replace the key at its provider, then remove the file"})
			}
			return err
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			found = append(found, failed("secrets", err, "check owner and mode"))
		}
	}
	if len(found) == 0 {
		found = []finding{pass("secrets", "no known key in %s", assistant.Counted(files, "file"))}
	}
	return found
}

// holdsSecret reports whether a file holds a known key in any form the redactor
// knows: whether it differs from itself redacted.
func (a *app) holdsSecret(path string) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	original, redacted := sha256.New(), sha256.New()
	w := a.redactor.NewWriter(redacted)
	_, err = io.Copy(io.MultiWriter(original, w), f)
	err = errors.Join(err, w.Flush())
	return !bytes.Equal(original.Sum(nil), redacted.Sum(nil)), err
}
