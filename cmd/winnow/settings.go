package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	mango "github.com/muesli/mango-cobra"
	"github.com/muesli/roff"
	"github.com/spf13/cobra"

	"winnow/adapters/config"
	"winnow/adapters/doctor"
	"winnow/adapters/dotenv"
	"winnow/assistant/safetext"
	"winnow/checkpoint/privatefile"
	"winnow/tui/keymap"
	"winnow/tui/plain"
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

func (a *app) configShow(context.Context, []string) error {
	s, err := a.config()
	if err != nil {
		return err
	}
	settings, providers := []map[string]string{}, nonNil(s.Providers)
	var rows [][]string
	for _, k := range config.All(style.Themes()) {
		o := s.Origins[k.Key]
		settings = append(settings, map[string]string{"key": k.Key, "value": k.Show(s), "from": o.From, "place": o.String(), "help": k.Help})
		rows = append(rows, []string{k.Key, k.Show(s), o.String()})
	}
	for i, p := range providers {
		providers[i].Models = nonNil(p.Models)
		rows = append(rows, []string{"provider " + p.Name, p.BaseURL, fmt.Sprintf("%s:%d", s.Path, p.Line)})
	}
	servers := nonNil(s.MCPServers)
	for _, m := range servers {
		rows = append(rows, []string{"mcp " + m.Name, cmp.Or(m.URL, config.Words(m.Command).String()), fmt.Sprintf("%s:%d", s.Path, m.Line)})
	}
	return a.emit(map[string]any{"path": s.Path, "exists": s.Found, "settings": settings, "providers": providers, "mcp": servers},
		plain.Table("", []string{"setting", "value", "from"}, rows)...)
}

func (a *app) configCheck(context.Context, []string) error {
	s, err := a.config()
	if err == nil {
		_, err = a.openEndpoints(openOptions{}) // opening the endpoints checks their addresses
	}
	if err == nil {
		_, err = keymap.New(s.SendKey == "enter", rebinds(s.Keys))
	}
	if err != nil && !a.flags.json {
		return err
	}
	messages, status := []string{}, error(nil)
	if err != nil {
		messages, status = doctor.ErrorLines(err), statusError(statusFailed)
	}
	o, _ := a.configOptions()
	text := o.Path + " is valid"
	if s != nil && !s.Found {
		text = "there is no " + o.Path + ": the defaults apply"
	}
	return errors.Join(a.emit(map[string]any{"path": o.Path, "ok": err == nil, "faults": messages}, text), status)
}

// storeSetting writes a setting to the settings file for the next start. It returns an error if the environment or a
// flag overrides the setting.
func (a *app) storeSetting(key, value string) error {
	s, err := a.config()
	if err != nil {
		return err
	}
	a.storing.Lock() // the screen and the session may both store a setting at the same time
	err = config.Set(s.Path, key, value, style.Themes())
	a.storing.Unlock()
	if err != nil {
		return err
	}
	if o := s.Origins[key]; o.From == "environment" || o.From == "flag" {
		return fmt.Errorf("%s = %s is stored, but %s overrides it", key, value, o)
	}
	return nil
}

// configEdit opens the settings file in the editor, creating it if necessary, and checks it afterwards.
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
		if err := config.MakePrivate(filepath.Dir(o.Path)); err != nil {
			return err
		}
		err := privatefile.Replace(o.Path, privatefile.FileMode, func(w io.Writer) error {
			_, err := io.WriteString(w, config.Template(style.Themes()))
			return err
		})
		if err != nil {
			return err
		}
	}
	c := exec.CommandContext(ctx, words[0], append(words[1:], o.Path)...)
	c.Env = config.WithoutKeys(a.environ, a.redactor)
	c.Stdin, c.Stdout, c.Stderr = a.stdin, a.stdout, a.stderr
	if err := c.Run(); err != nil {
		err = fmt.Errorf("the editor %s failed: %w", words[0], err)
		if c.Process == nil { // it did not start
			return advise(err, "set VISUAL or EDITOR to an installed editor")
		}
		return err
	}
	return a.configCheck(ctx, nil)
}

// editor returns the command line of the user's editor. Without a terminal it only uses a configured editor, which
// may work without a screen.
func (a *app) editor() ([]string, error) {
	for _, name := range []string{"VISUAL", "EDITOR"} {
		words, err := config.SplitWords(a.env(name))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if len(words) > 0 {
			return words, nil
		}
	}
	if isTerminal(a.stdin) && isTerminal(a.stdout) {
		for _, name := range []string{"nano", "vi"} {
			if path, err := exec.LookPath(name); err == nil {
				return []string{path}, nil
			}
		}
	}
	return nil, advise(errors.New("no editor is set"), "set EDITOR, for example EDITOR=vi")
}

func manCommand(a *app) *cobra.Command {
	return command("man", "Print the manual page", 0, 0, func(context.Context, []string) error {
		root := newRoot(a)
		root.Long = strings.ReplaceAll(root.Long, "\n", " ") // in the manual page, each line would be a paragraph
		page, err := mango.NewManPage(1, root)
		if err != nil {
			return err
		}
		text := page.Build(roff.NewDocument()) // the title must not be the description, which is too long
		_, err = fmt.Fprint(a.stdout, strings.Replace(text, fmt.Sprintf("%q", root.Short), `"winnow manual"`, 1))
		return err
	})
}

func envSetCommand(a *app) *cobra.Command {
	c := envCommand(a, "set KEY [VALUE]", "Set one key; every other byte of the file stays unchanged", 2, func(args []string) (dotenv.Edit, error) {
		value, err := a.envValue(args)
		return dotenv.Set(args[0], value), err
	})
	c.Long = "Without VALUE, the value is read from standard input and so does not appear in the process list."
	return c
}

func envUnsetCommand(a *app) *cobra.Command {
	return envCommand(a, "unset KEY", "Remove one key; every other byte of the file stays unchanged", 1, func(args []string) (dotenv.Edit, error) {
		return dotenv.Unset(args[0]), nil
	})
}

// envCommand returns a command that edits one key of a .env file.
func envCommand(a *app, use, short string, maxArgs int, edit func(args []string) (dotenv.Edit, error)) *cobra.Command {
	var file string
	c := command(use, short, 1, maxArgs, func(ctx context.Context, args []string) error {
		e, err := edit(args)
		if err != nil {
			return err
		}
		if file == "" {
			if err := a.checkEnvFile(); err != nil {
				return err
			}
			file = a.envFile()
		}
		return a.envEdit(ctx, file, e)
	})
	c.Flags().StringVar(&file, "file", "", "the FILE to edit (default: the file of --env-file)")
	return c
}

// envValue returns the value from the command line, from a prompt, or from a pipe.
func (a *app) envValue(args []string) (string, error) {
	if len(args) > 1 {
		return args[1], nil
	}
	if isTerminal(a.stdin) {
		value, err := askOnTerminal(a.stdin.(*os.File), a.stderr)(a.ctx, safetext.Sprintf("value of %s (not shown): ", args[0]), true)
		return strings.TrimRight(value, "\r\n"), err
	}
	data, err := io.ReadAll(io.LimitReader(plain.Input(a.ctx, a.stdin), dotenv.MaxSize))
	if err != nil {
		return "", fmt.Errorf("standard input: %w", err)
	}
	value := strings.TrimSuffix(strings.TrimSuffix(string(data), "\n"), "\r")
	if value == "" {
		return "", &usageError{"winnow env set", "there is no value: give it as an argument or on standard input"}
	}
	return value, nil
}

func (a *app) envEdit(ctx context.Context, file string, edit dotenv.Edit) error {
	if dotenv.LooksSecret(edit.Key) {
		a.redactor.Add(edit.Value)
	}
	source, err := dotenv.Load(file)
	if err != nil {
		return err
	}
	saved, err := source.Save(ctx, []dotenv.Edit{edit})
	if err != nil {
		return err
	}
	lines := []string{source.Path + " is unchanged"}
	switch {
	case edit.Unset && !saved.Written:
		lines = []string{source.Path + " does not set " + edit.Key}
	case saved.Written:
		lines = nil
		for _, c := range saved.Changes {
			lines = append(lines, source.Path+": "+c.String())
		}
	}
	return a.emit(map[string]any{"path": source.Path, "written": saved.Written, "changes": nonNil(saved.Changes)}, lines...)
}
