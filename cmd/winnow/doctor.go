package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"winnow/adapters/config"
	"winnow/adapters/dotenv"
	"winnow/adapters/endpoints"
	"winnow/assistant"
	"winnow/tui/style"
)

func doctorCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use: "doctor", Short: "Check the terminal, files, endpoint and database", Args: args(0, 0),
		Long: "doctor changes nothing but modes of winnow's own files that let others read them.\n" +
			"--secrets reads all of them and names those that hold a key, in whatever encoding.",
	}
	secrets := c.Flags().Bool("secrets", false, "look for keys in winnow's own files")
	c.RunE = func(cmd *cobra.Command, _ []string) error { return a.doctor(cmd.Context(), *secrets) }
	c.AddCommand(keysCommand(a))
	return c
}

// The verdicts of a finding.
const (
	fine    = "ok"
	warning = "warning"
	broken  = "failed"
)

// finding is one thing that doctor looked at.
type finding struct {
	About  string `json:"about"`
	State  string `json:"state"` // "ok", "warning" or "failed"
	Detail string `json:"detail"`
	Next   string `json:"next,omitempty"` // what to do
}

// doctor looks at everything, whatever it finds on the way.
func (a *app) doctor(ctx context.Context, secrets bool) error {
	var found []finding
	found = append(found, a.examineTerminal(ctx)...)
	found = append(found, a.examineSettings())
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
	bad := 0
	for i := range found {
		found[i].Detail, found[i].Next = a.redactor.Redact(found[i].Detail), a.redactor.Redact(found[i].Next)
		if found[i].State == broken {
			bad++
		}
	}
	if err := a.printFound(found, bad); err != nil {
		return err
	}
	if bad > 0 {
		return statusError(statusFailed)
	}
	return nil
}

func (a *app) printFound(found []finding, bad int) error {
	if a.flags.json {
		return a.printJSON(map[string]any{"ok": bad == 0, "findings": found})
	}
	signs := map[string]string{fine: "✓", warning: "!", broken: "✗"}
	for _, f := range found {
		if err := a.print("%s %-9s %s", a.signs(signs[f.State]), f.About, f.Detail); err != nil {
			return err
		}
		if f.Next == "" {
			continue
		}
		for line := range strings.Lines(f.Next) {
			if err := a.print("            %s", strings.TrimRight(line, "\n")); err != nil {
				return err
			}
		}
	}
	return nil
}

// tmuxAdvice is what makes keys and the clipboard work inside tmux.
const tmuxAdvice = "put into ~/.tmux.conf:\nset -s extended-keys on\nset -as terminal-features 'xterm*:extkeys'\n" +
	"set -g focus-events on\nset -s set-clipboard on\nset -s escape-time 10"

func (a *app) examineTerminal(ctx context.Context) []finding {
	name := a.env("TERM")
	terminal := finding{About: "terminal", State: fine, Detail: fmt.Sprintf("TERM is %s", orUnset(name))}
	if program := a.env("TERM_PROGRAM"); program != "" {
		terminal.Detail += ", the program " + program
	}
	switch {
	case !isTerminal(a.stdout):
		terminal.Detail += "; standard output is no terminal"
	case name == "" || name == "dumb":
		terminal.State, terminal.Next = warning, "winnow --plain works here"
	default:
		terminal.Detail += fmt.Sprintf(", %d columns; winnow doctor keys shows which keys arrive here", a.width())
	}
	colours := map[style.Profile]string{style.True: "24 bit", style.Col256: "256", style.Col16: "16", style.None: "none"}[a.colours()]
	detail := "colours: " + colours
	if a.env("NO_COLOR") != "" {
		detail += " (NO_COLOR is set)"
	}
	if !a.unicode() {
		detail += "; the locale is not UTF-8, signs are ASCII"
	}
	found := []finding{terminal, {About: "colours", State: fine, Detail: detail}}
	if a.env("TMUX") != "" {
		found = append(found, a.examineTmux(ctx))
	}
	return found
}

func orUnset(s string) string {
	if s == "" {
		return "not set"
	}
	return s
}

// tmuxTime bounds a question to tmux, which answers at once or hangs.
const tmuxTime = 2 * time.Second

// slowEscape is the escape-time, in milliseconds, from which on Esc is felt to
// be late; tmux before 3.5 waits for 500.
const slowEscape = 100

// tmuxOptions are those on which keys and the clipboard depend, and when a
// value of them stands in the way. The last is what tmux knows of the terminal
// around it.
var tmuxOptions = []struct {
	name string
	ask  []string
	bad  func(value string) bool
}{
	{"extended-keys", []string{"show-options", "-sv", "extended-keys"}, func(v string) bool { return v == "off" }},
	{"set-clipboard", []string{"show-options", "-sv", "set-clipboard"}, func(v string) bool { return v == "external" || v == "off" }},
	{"focus-events", []string{"show-options", "-sv", "focus-events"}, func(v string) bool { return v == "off" }},
	{"escape-time", []string{"show-options", "-sv", "escape-time"}, func(v string) bool { ms, err := strconv.Atoi(v); return err == nil && ms >= slowEscape }},
	{"terminal-features", []string{"display-message", "-p", "#{client_termfeatures}"}, func(v string) bool { return v != "" && !strings.Contains(v, "extkeys") }},
}

// examineTmux asks tmux for the options on which keys and the clipboard depend.
func (a *app) examineTmux(ctx context.Context) finding {
	ctx, cancel := context.WithTimeout(ctx, tmuxTime)
	defer cancel()
	var wrong, all []string
	for _, o := range tmuxOptions {
		ask := exec.CommandContext(ctx, "tmux", o.ask...)
		ask.Env = config.WithoutKeys(a.environ)
		out, err := ask.Output()
		value := strings.TrimSpace(string(out))
		if err != nil {
			value = "unknown"
		}
		all = append(all, o.name+" "+value)
		if err == nil && o.bad(value) {
			wrong = append(wrong, o.name)
		}
	}
	f := finding{About: "tmux", State: fine, Detail: strings.Join(all, ", ")}
	if len(wrong) > 0 {
		f.State, f.Detail, f.Next = warning, "in the way: "+strings.Join(wrong, ", ")+" ("+f.Detail+")", tmuxAdvice
	}
	return f
}

func (a *app) examineSettings() finding {
	s, err := a.config()
	if err != nil {
		return finding{"settings", broken, strings.Join(sentences(err), "; "), "winnow config edit"}
	}
	if !s.Found {
		return finding{About: "settings", State: fine, Detail: "no " + s.Path + ", the defaults are in force"}
	}
	return finding{About: "settings", State: fine, Detail: s.Path}
}

// examineFolders looks for files that others can read and folders that cannot
// be written to.
func (a *app) examineFolders() []finding {
	h, err := a.folders()
	if err != nil {
		return []finding{{"folders", broken, err.Error(), "set WINNOW_HOME to a folder of your own"}}
	}
	var found []finding
	for _, dir := range []string{h.config, h.data, h.state, h.cache} {
		found = append(found, examineFolder(dir))
	}
	return found
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
		return finding{About: "files", State: fine, Detail: dir + " is not there yet"}
	case err != nil:
		return finding{"files", broken, err.Error(), "check owner and mode"}
	case len(open) > 0:
		return finding{"files", warning, "others can read " + strings.Join(open, ", "), "chmod go-rwx"}
	}
	probe, err := os.CreateTemp(dir, ".winnow-*")
	if err != nil {
		return finding{"files", broken, err.Error(), "check owner, mode and free space"}
	}
	_ = probe.Close()
	if err := os.Remove(probe.Name()); err != nil {
		return finding{"files", broken, err.Error(), "check owner and mode"}
	}
	return finding{About: "files", State: fine, Detail: dir + " is writable, and readable by you alone"}
}

func (a *app) examineEnvFile() finding {
	source, err := dotenv.Load(a.envFile())
	if err != nil {
		return finding{".env", broken, err.Error(), "name another file with --env-file"}
	}
	if !source.Exists {
		return finding{About: ".env", State: fine, Detail: source.Path + " is not there; saving rules makes it"}
	}
	var notes []string
	for _, p := range source.File.Problems() {
		notes = append(notes, p.String())
	}
	notes = append(notes, source.Notices...)
	f := finding{About: ".env", State: fine, Detail: fmt.Sprintf("%s, %s, mode %04o", source.Path, assistant.Counted(len(source.File.Keys()), "key"), source.Mode.Perm())}
	if len(notes) > 0 {
		f.State, f.Next = warning, strings.Join(notes, "\n")
	}
	return f
}

// endpointTime bounds the question to each endpoint.
const endpointTime = 10 * time.Second

// examineEndpoints asks the endpoint that would be used, and says which others
// were found.
func (a *app) examineEndpoints(ctx context.Context) []finding {
	set, err := a.openEndpoints(0)
	if err != nil {
		return []finding{{"endpoint", broken, strings.Join(sentences(err), "; "), nextStep(err)}}
	}
	var found []finding
	used := false
	for _, e := range set.All {
		switch {
		case e.Remote:
			found = append(found, finding{"endpoint", fine, fmt.Sprintf("%s at %s is used only when you name it: %s does", e.Name, e.BaseURL, e.From), "winnow --provider " + e.Name})
			continue
		case e.Auto && !e.Answers(ctx):
			continue
		}
		f := examineEndpoint(ctx, e)
		if !used && f.State != broken {
			f.Detail += "; the first choice"
			used = true
		}
		found = append(found, f)
	}
	return found
}

func examineEndpoint(ctx context.Context, e *endpoints.Endpoint) finding {
	ctx, cancel := context.WithTimeout(ctx, endpointTime)
	defer cancel()
	f := finding{About: "endpoint", State: fine, Detail: fmt.Sprintf("%s at %s (%s)", e.Name, e.BaseURL, e.From)}
	if e.Name == endpoints.OfflineName {
		f.Detail = e.Name + ", " + e.From
	}
	if e.Key != "" {
		f.Detail += ", key from " + e.Key
	}
	listed, err := e.List(ctx)
	if err != nil {
		f.State, f.Detail, f.Next = broken, f.Detail+": "+requestWords(err), kindAdvice(string(assistant.KindOf(err)))
		return f
	}
	f.Detail += ": " + assistant.Counted(len(listed), "model")
	return f
}

func (a *app) examineHistory(ctx context.Context) finding {
	store, err := a.openHistory(ctx)
	if err != nil {
		return finding{"history", broken, err.Error(), nextStep(err)}
	}
	r, err := store.Check(ctx)
	if err != nil {
		return finding{"history", broken, err.Error(), ""}
	}
	if len(r.Problems) > 0 {
		return finding{"history", broken, strings.Join(r.Problems, "; "), "winnow history export saves what can be read"}
	}
	return finding{About: "history", State: fine, Detail: fmt.Sprintf("%s is sound: %s in %s", store.Path(), assistant.Counted(r.Pairs, "pair"), assistant.Counted(r.Sessions, "session"))}
}
