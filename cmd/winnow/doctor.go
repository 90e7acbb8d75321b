package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/cobra"

	"winnow/adapters/doctor"
	"winnow/checkpoint"
	"winnow/tui/keymap"
	"winnow/tui/style"
)

func doctorCommand(a *app) *cobra.Command {
	var secrets bool
	c := command("doctor", "Check the terminal, files, endpoint and database", 0, 0, func(ctx context.Context, _ []string) error {
		return a.doctor(ctx, secrets)
	})
	c.Long = "doctor changes no rules, messages or settings. If others can read winnow's own files, it makes these private.\n" +
		"--secrets reads winnow's own files, except the settings, and names each one that contains a known key."
	c.Flags().BoolVar(&secrets, "secrets", false, "search winnow's own files for keys")
	c.AddCommand(keysCommand(a))
	return c
}

// stateIcons maps the state of a finding to its icon.
var stateIcons = map[string]string{doctor.OK: "✓", doctor.Warning: "!", doctor.Failed: "✗"}

// doctor runs all checks, whatever each of them finds. Checks that may hang run concurrently.
func (a *app) doctor(ctx context.Context, secrets bool) error {
	const limit = 10 * time.Second
	found := a.terminal().Examine(ctx)
	settings := a.examineSettings()
	found = append(found, settings)
	if settings.State != doctor.Failed { // all other checks need the settings
		found = append(found, doctor.Run(ctx, limit, a.checks(secrets)...)...)
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
		lines = append(lines, f.Lines(a.displayable(stateIcons[f.State]), a.displayable("→"))...)
	}
	err := a.emit(map[string]any{"ok": healthy, "findings": found}, lines...)
	if err == nil && !healthy {
		err = statusError(statusFailed)
	}
	return err
}

// checks returns the checks that need the settings.
func (a *app) checks(secrets bool) []doctor.Check {
	one := func(about string, do func(context.Context) doctor.Finding) doctor.Check {
		return doctor.Check{About: about, Do: func(ctx context.Context) []doctor.Finding { return []doctor.Finding{do(ctx)} }}
	}
	all := []doctor.Check{
		{About: "files", Do: func(context.Context) []doctor.Finding { return a.examineFolders() }},
		one(".env", func(context.Context) doctor.Finding { return doctor.EnvFile(a.envFile()) }),
	}
	set, err := a.openEndpoints(openOptions{})
	if err != nil {
		all = append(all, one("endpoint", func(context.Context) doctor.Finding {
			return doctor.Fail("endpoint", doctor.NoEndpoint, err, "")
		}))
	} else {
		for _, e := range set.All {
			all = append(all, doctor.Check{About: e.Name, Do: func(ctx context.Context) []doctor.Finding { return doctor.Endpoint(ctx, e, a.settings.Model) }})
		}
	}
	all = append(all, one("history", a.examineHistory), doctor.Check{About: "rules", Do: a.examineWindow})
	if len(a.settings.AfterSave) > 0 {
		all = append(all, one("after_save", a.examineAfterSave))
	}
	if len(a.settings.MCPServers) > 0 {
		all = append(all, doctor.Check{About: "MCP", Do: a.examineTools})
	}
	if secrets {
		all = append(all, doctor.Check{About: "secrets", Do: a.examineSecrets})
	}
	return all
}

// terminal describes the terminal as far as the environment and the streams reveal it.
func (a *app) terminal() doctor.Terminal {
	profile := a.colourProfile()
	in, _ := a.stdin.(*os.File)
	out, _ := a.stdout.(*os.File)
	return doctor.Terminal{
		In: in, Out: out, Send: a.sendKey(),
		Name: a.env("TERM"), Program: a.env("TERM_PROGRAM"), Tmux: a.env("TMUX") != "", Environ: a.environ, Known: a.redactor,
		Columns: a.width(), NoColor: a.env("NO_COLOR") != "", Unicode: a.unicode(),
		Colors: map[style.Profile]int{style.TrueColor: 1 << 24, style.ANSI256: 1 << 8, style.ANSI16: 1 << 4}[profile],
	}
}

// sendKey returns a function that names the send key, depending on whether ctrl+enter is known to arrive. If the
// settings cannot be read, it uses the default keys.
func (a *app) sendKey() func(ctrlEnter bool) string {
	keys, _ := keymap.New(false, nil) // the default keys are always valid
	if s, broken := a.config(); broken == nil {
		if bound, invalid := keymap.New(s.SendKey == "enter", rebinds(s.Keys)); invalid == nil {
			keys = bound
		}
	}
	return func(ctrlEnter bool) string {
		keys.CtrlEnter = ctrlEnter
		return keys.Key(keymap.Input, keymap.Send)
	}
}

func (a *app) examineSettings() doctor.Finding {
	s, err := a.config()
	switch {
	case err != nil:
		return doctor.Fail("settings", doctor.BadSettings, err, "")
	case !s.Found:
		return doctor.Pass("settings", "%s does not exist; the defaults apply", s.Path)
	}
	return doctor.Pass("settings", "%s", s.Path)
}

// examineFolders checks for files that others can read and folders that are not writable.
func (a *app) examineFolders() []doctor.Finding {
	h, err := a.folders()
	if err != nil {
		return []doctor.Finding{doctor.Fail("folders", doctor.UnsafeFolder, err, "")}
	}
	return []doctor.Finding{doctor.Folder(h.ConfigDir), doctor.Folder(h.DataDir), doctor.Folder(h.StateDir), doctor.Folder(h.CacheDir)}
}

// examineHistory opens and checks the history. It does not create the file.
func (a *app) examineHistory(ctx context.Context) doctor.Finding {
	if h, err := a.folders(); err == nil && a.settings.History == "" {
		if _, err := os.Lstat(h.History()); errors.Is(err, fs.ErrNotExist) {
			return doctor.Pass("history", "%s does not exist yet", h.History())
		}
	}
	store, err := a.openHistory(ctx)
	return doctor.History(ctx, store, err)
}

// examineSecrets searches winnow's own files for every known key: from the environment, the .env file and the
// settings. It skips the settings file, because the user may have written keys into it.
func (a *app) examineSecrets(ctx context.Context) []doctor.Finding {
	h, err := a.folders()
	if err != nil {
		return []doctor.Finding{doctor.Fail("secrets", doctor.UnsafeFolder, err, "")}
	}
	if set, err := a.openEndpoints(openOptions{}); err == nil { // otherwise checks reports the error
		for _, e := range set.All {
			_, _ = e.APIKey(ctx) // reading the key makes it known to the redactor
		}
	}
	return doctor.Secrets(ctx, a.redactor, h.DataDir, h.StateDir, h.CacheDir)
}

// examineWindow reports which program is changing the rules now, whether the proxy serves models that the rules hide,
// which rules hide models in use, and which shown models are not used.
func (a *app) examineWindow(ctx context.Context) []doctor.Finding {
	h, err := a.folders()
	if err != nil {
		return nil // examineFolders has already reported this error
	}
	w, err := a.openFilter(ctx, toRead)
	switch {
	case has[*checkpoint.VersionError](err):
		return []doctor.Finding{doctor.Fail("rules", doctor.NewerSchema, err, "")}
	case err != nil:
		return nil // doctor.EnvFile has already reported this error
	}
	found := append([]doctor.Finding{doctor.Journal(w.name, h.Journal(w.name))}, doctor.Proxy(ctx, w.filter, w.lists)...)
	return append(found, doctor.Use(w.filter)...)
}
