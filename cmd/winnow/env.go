package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"winnow/adapters/dotenv"
)

func envSetCommand(a *app) *cobra.Command {
	c := envCommand(a, "set KEY [VALUE]", "Give one key a value; every other byte stays", 2, func(args []string) (dotenv.Edit, error) {
		value, err := a.envValue(args)
		return dotenv.Set(args[0], value), err
	})
	c.Long = "Without VALUE it is read from standard input, so that it stands in no list of processes."
	return c
}

func envUnsetCommand(a *app) *cobra.Command {
	return envCommand(a, "unset KEY", "Remove one key; every other byte stays", 1, func(args []string) (dotenv.Edit, error) {
		return dotenv.Unset(args[0]), nil
	})
}

// envCommand edits one key of a .env file.
func envCommand(a *app, use, short string, most int, edit func(args []string) (dotenv.Edit, error)) *cobra.Command {
	var file string
	c := command(use, short, 1, most, func(ctx context.Context, args []string) error {
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
	c.Flags().StringVar(&file, "file", "", "the FILE; that of --env-file without it")
	return c
}

// envValue is the value on the command line, else what is typed or piped in.
func (a *app) envValue(args []string) (string, error) {
	if len(args) > 1 {
		return args[1], nil
	}
	if f, ok := a.stdin.(*os.File); ok && term.IsTerminal(f.Fd()) {
		fmt.Fprintf(a.stderr, "value of %s (not shown): ", visible(args[0]))
		value, err := term.ReadPassword(f.Fd())
		fmt.Fprintln(a.stderr)
		return string(value), err
	}
	data, err := io.ReadAll(io.LimitReader(a.stdin, dotenv.MaxSize))
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
	lines := []string{source.Path + " is as it was"}
	if saved.Written {
		lines = nil
		for _, c := range saved.Changes {
			lines = append(lines, source.Path+": "+c.String())
		}
	}
	return a.emit(map[string]any{"path": source.Path, "written": saved.Written, "changes": list(saved.Changes)}, lines...)
}
