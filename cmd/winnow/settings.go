package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"

	mango "github.com/muesli/mango-cobra"
	"github.com/muesli/roff"
	"github.com/spf13/cobra"

	"winnow/adapters/config"
	"winnow/tui"
	"winnow/tui/style"
)

func configCommand(a *app) *cobra.Command {
	return group("config", "The settings: where they are, what they are",
		&cobra.Command{Use: "path", Short: "Print the path of the settings file", Args: args(0, 0), RunE: func(*cobra.Command, []string) error { return a.configPath() }},
		&cobra.Command{Use: "show", Short: "Print every setting and where its value comes from", Args: args(0, 0), RunE: func(*cobra.Command, []string) error { return a.configShow() }},
		&cobra.Command{Use: "edit", Short: "Open the settings file in $VISUAL or $EDITOR", Args: args(0, 0), RunE: func(cmd *cobra.Command, _ []string) error { return a.configEdit(cmd) }},
		&cobra.Command{Use: "check", Short: "Say whether the settings are right", Args: args(0, 0), RunE: func(*cobra.Command, []string) error { return a.configCheck() }},
	)
}

func (a *app) configPath() error {
	o, err := a.configOptions()
	if err != nil {
		return err
	}
	if a.flags.json {
		_, err := os.Stat(o.Path)
		return a.printJSON(map[string]any{"path": o.Path, "exists": err == nil})
	}
	return a.print("%s", o.Path)
}

// settingView is a setting as config show --json prints it.
type settingView struct {
	Key   string `json:"key"`
	Value string `json:"value"`
	From  string `json:"from"`
	Place string `json:"place,omitempty"`
	Help  string `json:"help"`
}

// providerView is a [[provider]] as config show --json prints it, without its key.
type providerView struct {
	Name    string   `json:"name"`
	BaseURL string   `json:"base_url"`
	Key     string   `json:"api_key,omitempty"`
	Models  []string `json:"models"`
	Line    int      `json:"line"`
}

func (a *app) configShow() error {
	s, err := a.config()
	if err != nil {
		return err
	}
	views := []settingView{}
	rows := [][]string{}
	for _, k := range config.All(style.Themes()) {
		o := s.Origins[k.Key]
		v := settingView{Key: k.Key, Value: k.Show(s), From: o.From, Help: k.Help}
		if o.Name != "" {
			v.Place = o.String()
		}
		views = append(views, v)
		rows = append(rows, []string{k.Key, v.Value, o.String()})
	}
	providers := []providerView{}
	for _, p := range s.Providers {
		providers = append(providers, providerView{p.Name, p.BaseURL, p.APIKey.String(), append([]string{}, p.Models...), p.Line})
		rows = append(rows, []string{"provider " + p.Name, p.BaseURL, fmt.Sprintf("%s:%d", s.Path, p.Line)})
	}
	if a.flags.json {
		return a.printJSON(map[string]any{"path": s.Path, "exists": s.Found, "settings": views, "providers": providers})
	}
	return a.table([]column{{title: "setting"}, {title: "value"}, {title: "from"}}, rows)
}

func (a *app) configCheck() error {
	s, err := a.config()
	if err == nil {
		_, err = a.openEndpoints(0) // their addresses
	}
	if err == nil {
		_, err = tui.Keys(rebinds(s.Keys), s.SendKey == "enter")
	}
	if a.flags.json {
		faults := []string{}
		if err != nil {
			faults = sentences(err)
		}
		o, _ := a.configOptions()
		if printed := a.printJSON(map[string]any{"path": o.Path, "ok": err == nil, "faults": faults}); printed != nil {
			return printed
		}
		if err != nil {
			return statusError(statusFailed)
		}
		return nil
	}
	if err != nil {
		return err
	}
	if !s.Found {
		return a.print("there is no %s: the defaults are in force", s.Path)
	}
	return a.print("%s is right", s.Path)
}

// keepSetting writes a setting into the settings file for the next start, and
// says so when the environment or a flag has the last word all the same.
func (a *app) keepSetting(key, value string) error {
	s, err := a.config()
	if err != nil {
		return err
	}
	if err := config.Set(s.Path, key, value, style.Themes()); err != nil {
		return err
	}
	if o := s.Origins[key]; o.From == "environment" || o.From == "flag" {
		return fmt.Errorf("%s = %s is kept, but %s has the last word", key, value, o)
	}
	return nil
}

// configEdit opens the file, which it makes when there is none, and checks it
// afterwards.
func (a *app) configEdit(cmd *cobra.Command) error {
	o, err := a.configOptions()
	if err != nil {
		return err
	}
	words, err := a.editor()
	if err != nil {
		return err
	}
	if _, err := os.Stat(o.Path); errors.Is(err, fs.ErrNotExist) {
		if err := makePrivate(filepath.Dir(o.Path)); err != nil {
			return err
		}
		if err := os.WriteFile(o.Path, []byte(config.Template(style.Themes())), 0o600); err != nil {
			return err
		}
	}
	c := exec.CommandContext(cmd.Context(), words[0], append(words[1:], o.Path)...)
	c.Env = config.WithoutKeys(a.environ)
	c.Stdin, c.Stdout, c.Stderr = a.stdin, a.stdout, a.stderr
	if err := c.Run(); err != nil {
		return advise(fmt.Errorf("the editor %s: %w", words[0], err), "set EDITOR to a program that can be run")
	}
	return a.configCheck()
}

// editor is the user's editor in words.
func (a *app) editor() ([]string, error) {
	for _, name := range []string{"VISUAL", "EDITOR"} {
		if v := a.env(name); v != "" {
			words, err := config.Words(v)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			if len(words) > 0 {
				return words, nil
			}
		}
	}
	for _, name := range []string{"nano", "vi"} {
		if path, err := exec.LookPath(name); err == nil {
			return []string{path}, nil
		}
	}
	return nil, advise(errors.New("no editor is set"), "set EDITOR, for example EDITOR=vi")
}

func manCommand(a *app) *cobra.Command {
	return &cobra.Command{Use: "man", Short: "Print the manual page", Args: args(0, 0), RunE: func(cmd *cobra.Command, _ []string) error {
		page, err := mango.NewManPage(1, cmd.Root())
		if err != nil {
			return err
		}
		_, err = fmt.Fprint(a.stdout, page.Build(roff.NewDocument()))
		return err
	}}
}
