package main

import (
	"context"
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

func (a *app) configPath(context.Context, []string) error {
	o, err := a.configOptions()
	if err != nil {
		return err
	}
	_, missing := os.Stat(o.Path)
	return a.emit(map[string]any{"path": o.Path, "exists": missing == nil}, o.Path)
}

// settingJSON is a setting as --json prints it.
type settingJSON struct {
	Key   string `json:"key"`
	Value string `json:"value"`
	From  string `json:"from"`
	Place string `json:"place,omitempty"`
	Help  string `json:"help"`
}

// endpointSetting is a [[provider]] as --json prints it, without its key.
type endpointSetting struct {
	Name    string   `json:"name"`
	BaseURL string   `json:"base_url"`
	Key     string   `json:"api_key,omitempty"`
	Models  []string `json:"models"`
	Line    int      `json:"line"`
}

func (a *app) configShow(context.Context, []string) error {
	s, err := a.config()
	if err != nil {
		return err
	}
	settings, providers := []settingJSON{}, []endpointSetting{}
	var rows [][]string
	for _, k := range config.All(style.Themes()) {
		o := s.Origins[k.Key]
		v := settingJSON{Key: k.Key, Value: k.Show(s), From: o.From, Help: k.Help}
		if o.Name != "" {
			v.Place = o.String()
		}
		settings = append(settings, v)
		rows = append(rows, []string{k.Key, v.Value, o.String()})
	}
	for _, p := range s.Providers {
		providers = append(providers, endpointSetting{p.Name, p.BaseURL, p.APIKey.String(), list(p.Models), p.Line})
		rows = append(rows, []string{"provider " + p.Name, p.BaseURL, fmt.Sprintf("%s:%d", s.Path, p.Line)})
	}
	return a.emit(map[string]any{"path": s.Path, "exists": s.Found, "settings": settings, "providers": providers},
		table("", []string{"setting", "value", "from"}, rows)...)
}

func (a *app) configCheck(context.Context, []string) error {
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
			faults, err = sentences(err), statusError(statusFailed)
		}
		o, _ := a.configOptions()
		return errors.Join(a.printJSON(map[string]any{"path": o.Path, "ok": err == nil, "faults": faults}), err)
	}
	switch {
	case err != nil:
		return err
	case !s.Found:
		return a.emit(nil, "there is no "+s.Path+": the defaults apply")
	}
	return a.emit(nil, s.Path+" is right")
}

// storeSetting writes a setting into the settings file for the next start, and
// says so when the environment or a flag overrides it all the same.
func (a *app) storeSetting(key, value string) error {
	s, err := a.config()
	if err != nil {
		return err
	}
	if err := config.Set(s.Path, key, value, style.Themes()); err != nil {
		return err
	}
	if o := s.Origins[key]; o.From == "environment" || o.From == "flag" {
		return fmt.Errorf("%s = %s is stored, but %s overrides it", key, value, o)
	}
	return nil
}

// configEdit opens the file, which it makes when there is none, and checks it
// afterwards.
func (a *app) configEdit(ctx context.Context, _ []string) error {
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
	c := exec.CommandContext(ctx, words[0], append(words[1:], o.Path)...)
	c.Env = config.WithoutKeys(a.environ)
	c.Stdin, c.Stdout, c.Stderr = a.stdin, a.stdout, a.stderr
	if err := c.Run(); err != nil {
		return advise(fmt.Errorf("the editor %s: %w", words[0], err), "set EDITOR to a program that can be run")
	}
	return a.configCheck(ctx, nil)
}

// editor is the user's editor in words.
func (a *app) editor() ([]string, error) {
	for _, name := range []string{"VISUAL", "EDITOR"} {
		words, err := config.Words(a.env(name))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if len(words) > 0 {
			return words, nil
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
	c := command("man", "Print the manual page", 0, 0, nil)
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		page, err := mango.NewManPage(1, cmd.Root())
		if err != nil {
			return err
		}
		_, err = fmt.Fprint(a.stdout, page.Build(roff.NewDocument()))
		return err
	}
	return c
}
