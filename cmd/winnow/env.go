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

func envCommand(a *app) *cobra.Command {
	var file string
	set := &cobra.Command{
		Use: "set KEY [VALUE]", Short: "Give one key a value; every other byte stays", Args: args(1, 2),
		Long: "Without VALUE it is read from standard input, so that it stands in no list of processes.",
		RunE: func(cmd *cobra.Command, args []string) error {
			value, err := a.envValue(args)
			if err != nil {
				return err
			}
			return a.envEdit(cmd.Context(), file, dotenv.Set(args[0], value))
		},
	}
	unset := &cobra.Command{
		Use: "unset KEY", Short: "Remove one key; every other byte stays", Args: args(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.envEdit(cmd.Context(), file, dotenv.Unset(args[0]))
		},
	}
	c := group("env", "Set or remove one key of a .env file", set, unset)
	c.PersistentFlags().StringVar(&file, "file", "", "the FILE; that of --env-file without it")
	return c
}

// envValue is the value on the command line, or else what is typed or piped in.
func (a *app) envValue(args []string) (string, error) {
	if len(args) > 1 {
		return args[1], nil
	}
	if f, ok := a.stdin.(*os.File); ok && term.IsTerminal(f.Fd()) {
		fmt.Fprintf(a.stderr, "value of %s (not shown): ", shown(args[0]))
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
	if file == "" {
		if err := a.checkEnvFile(); err != nil {
			return err
		}
		file = a.envFile()
	}
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
	if a.flags.json {
		changes := saved.Changes
		if changes == nil {
			changes = []dotenv.Change{}
		}
		return a.printJSON(map[string]any{"path": source.Path, "written": saved.Written, "changes": changes})
	}
	if !saved.Written {
		return a.print("%s is as it was", source.Path)
	}
	for _, c := range saved.Changes {
		if err := a.print("%s: %s", source.Path, c); err != nil {
			return err
		}
	}
	return nil
}
