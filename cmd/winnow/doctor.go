package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"winnow/adapters/doctor"
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

// stateIcons are the icons of the states of a finding.
var stateIcons = map[string]string{doctor.OK: "✓", doctor.Warning: "!", doctor.Failed: "✗"}

// failed is a finding of an error.
func failed(about string, err error, next string) doctor.Finding {
	return doctor.Fail(about, errors.New(strings.Join(errorLines(err), "\n")), next)
}

// doctor looks at everything, whatever it finds on the way.
func (a *app) doctor(ctx context.Context, secrets bool) error {
	found := append(a.examineTerminal(ctx), a.examineSettings())
	found = append(found, a.examineFolders()...)
	found = append(found, doctor.EnvFile(a.envFile()))
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
		healthy = healthy && f.State != doctor.Failed
		lines = append(lines, fmt.Sprintf("%s %-9s %s", a.displayable(stateIcons[f.State]), f.About, f.Detail))
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

func (a *app) examineTerminal(ctx context.Context) []doctor.Finding {
	name := a.env("TERM")
	terminal := doctor.Pass("terminal", "TERM is %s", cmp.Or(name, "not set"))
	if program := a.env("TERM_PROGRAM"); program != "" {
		terminal.Detail += ", the program " + program
	}
	switch {
	case !isTerminal(a.stdout):
		terminal.Detail += "; standard output is not a terminal"
	case name == "" || name == "dumb":
		terminal.State, terminal.Next = doctor.Warning, "winnow --plain works here"
	default:
		terminal.Detail += fmt.Sprintf(", %d columns; winnow doctor keys shows which keys arrive here", a.width())
	}
	colours := doctor.Pass("colours", "colours: %s", map[style.Profile]string{style.TrueColor: "24 bit", style.ANSI256: "256", style.ANSI16: "16", style.NoColor: "none"}[a.colourProfile()])
	if a.env("NO_COLOR") != "" {
		colours.Detail += " (NO_COLOR is set)"
	}
	if !a.unicode() {
		colours.Detail += "; the locale is not UTF-8, signs are ASCII"
	}
	found := []doctor.Finding{terminal, colours}
	if a.env("TMUX") != "" {
		found = append(found, doctor.Tmux(ctx, a.environ))
	}
	return found
}

func (a *app) examineSettings() doctor.Finding {
	s, err := a.config()
	switch {
	case err != nil:
		return failed("settings", err, "winnow config edit")
	case !s.Found:
		return doctor.Pass("settings", "no %s, the defaults apply", s.Path)
	}
	return doctor.Pass("settings", "%s", s.Path)
}

// examineFolders looks for files that others can read and folders that cannot
// be written to.
func (a *app) examineFolders() []doctor.Finding {
	h, err := a.folders()
	if err != nil {
		return []doctor.Finding{failed("folders", err, "set WINNOW_HOME to a folder of your own")}
	}
	return []doctor.Finding{doctor.Folder(h.ConfigDir), doctor.Folder(h.DataDir), doctor.Folder(h.StateDir), doctor.Folder(h.CacheDir)}
}

// examineEndpoints asks the endpoints, the first choice first.
func (a *app) examineEndpoints(ctx context.Context) []doctor.Finding {
	set, err := a.openEndpoints(openOptions{})
	if err != nil {
		return []doctor.Finding{failed("endpoint", err, nextStep(err))}
	}
	var found []doctor.Finding
	for _, e := range set.All {
		if e.Remote {
			f := doctor.Pass("endpoint", "%s at %s is used only when you name it; it comes from %s", e.Name, e.BaseURL, e.From)
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

func examineEndpoint(ctx context.Context, e *endpoints.Endpoint) doctor.Finding {
	const limit = 10 * time.Second
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	f := doctor.Pass("endpoint", "%s at %s (%s)", e.Name, e.BaseURL, e.From)
	if e.Name == endpoints.OfflineName {
		f.Detail = e.Name + ", " + e.From
	}
	if e.Key != "" {
		f.Detail += ", key from " + e.Key
	}
	listed, err := e.List(ctx)
	if err != nil {
		return doctor.Fail("endpoint", errors.New(f.Detail+": "+requestText(err)), requestAdvice(string(llm.KindOf(err))))
	}
	f.Detail += ": " + assistant.Counted(len(listed), "model")
	return f
}

func (a *app) examineHistory(ctx context.Context) doctor.Finding {
	store, err := a.openHistory(ctx)
	if err != nil {
		return failed("history", err, nextStep(err))
	}
	r, err := store.Check(ctx)
	switch {
	case err != nil:
		return failed("history", err, "")
	case len(r.Problems) > 0:
		return doctor.Fail("history", errors.New(strings.Join(r.Problems, "; ")), "winnow history export saves what can be read")
	}
	return doctor.Pass("history", "%s is sound: %s in %s", store.Path(), assistant.Counted(r.Pairs, "pair"), assistant.Counted(r.Sessions, "session"))
}

// examineSecrets reads winnow's own files and looks for every key that is known:
// those of the environment, of the .env file and of the settings. The settings
// file may hold keys that the user wrote into it and is left out.
func (a *app) examineSecrets(ctx context.Context) []doctor.Finding {
	h, err := a.folders()
	if err != nil {
		return []doctor.Finding{failed("secrets", err, "")}
	}
	if set, err := a.openEndpoints(openOptions{}); err == nil { // else examineEndpoints has reported it
		for _, e := range set.All {
			_, _ = e.APIKey(ctx) // makes the key known to the redactor
		}
	}
	return doctor.Secrets(ctx, a.redactor, h.DataDir, h.StateDir, h.CacheDir)
}
