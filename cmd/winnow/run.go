package main

import (
	"context"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strings"

	"charm.land/fang/v2"
	"github.com/spf13/cobra"

	"winnow/adapters/config"
	"winnow/assistant/safetext"
)

// run carries out one command line and returns the exit status.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	a := newApp(ctx, stdin, stdout, stderr)
	root := newRoot(a)
	root.SetArgs(args)
	err := root.ExecuteContext(a.ctx)
	if closed := a.close(); err == nil {
		err = closed
	}
	return a.report(err)
}

// newRoot builds the commands over an app.
func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:   "winnow",
		Short: "A chat client whose assistant can see and change the window it lives in",
		Long: "winnow shows which models an LLM proxy exposes to its clients, and an assistant\n" +
			"that changes that on your word. Without a command it opens the program.",
		Example:       "winnow\nwinnow ask \"hide every mini and nano model\"\nwinnow rules list",
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return unknownCommand(cmd, args[0])
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return a.launch(cmd.Context()) },
	}
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return &usageError{cmd.CommandPath(), flagFault(cmd, err)} })
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) { showHelp(a, cmd) })
	a.flags.bind(root)
	root.AddCommand(
		askCommand(a), rulesCommand(a), envCommand(a), modelsCommand(a), historyCommand(a),
		checkpointsCommand(a), doctorCommand(a), configCommand(a), manCommand(a),
	)
	return root
}

// showHelp draws the help of a command. fang is set up only here: it is not
// needed for anything else.
func showHelp(a *app, of *cobra.Command) {
	root := newRoot(a)
	path := strings.Fields(of.CommandPath())[1:]
	root.SetArgs(append(path, "--help"))
	// An error is impossible: the command exists, and help takes no argument.
	_ = fang.Execute(a.ctx, root, fang.WithVersion(version()), fang.WithoutManpage())
}

// group is a command that only holds others.
func group(use, short string, commands ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{Use: use, Short: short, Args: func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		return unknownCommand(cmd, args[0])
	}, RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	c.AddCommand(commands...)
	return c
}

func unknownCommand(cmd *cobra.Command, name string) error {
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	fault := fmt.Sprintf("there is no command %q", safetext.Line(name, maxName))
	if near := config.Nearest(name, names); near != "" {
		fault += fmt.Sprintf("; did you mean %q?", near)
	}
	return &usageError{cmd.CommandPath(), fault}
}

// flagFault makes a sentence of what the flag parser says.
func flagFault(cmd *cobra.Command, err error) string {
	fault := err.Error()
	name, unknown := strings.CutPrefix(fault, "unknown flag: --")
	if !unknown {
		return safetext.Line(fault, maxLine)
	}
	fault = fmt.Sprintf("there is no flag --%s", safetext.Line(name, maxName))
	if near := config.Nearest(name, flagNames(cmd)); near != "" {
		fault += fmt.Sprintf("; did you mean --%s?", near)
	}
	return fault
}

// args checks how many arguments a command has. need and most are counts; most
// is -1 where any number may follow. A fault names the missing argument as the
// usage line of the command does.
func args(need, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, given []string) error {
		names := strings.Fields(cmd.Use)[1:]
		switch {
		case len(given) < need && len(given) < len(names):
			name := strings.Trim(names[len(given)], "[]…")
			return &usageError{cmd.CommandPath(), fmt.Sprintf("%s is missing: %s", name, cmd.UseLine())}
		case most >= 0 && len(given) > most:
			return &usageError{cmd.CommandPath(), fmt.Sprintf("%q is one argument too many: %s", safetext.Line(given[most], maxName), cmd.UseLine())}
		}
		return nil
	}
}

// exclusive refuses command lines that give more than one of these flags.
func exclusive(c *cobra.Command, names ...string) {
	c.PreRunE = func(cmd *cobra.Command, _ []string) error {
		var given []string
		for _, name := range names {
			if cmd.Flags().Changed(name) {
				given = append(given, "--"+name)
			}
		}
		if len(given) > 1 {
			return &usageError{cmd.CommandPath(), strings.Join(given, " and ") + " exclude each other"}
		}
		return nil
	}
}

// version is what the build says of itself.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	v := info.Main.Version
	if v == "" || v == "(devel)" {
		v = "development build"
	}
	at := slices.IndexFunc(info.Settings, func(s debug.BuildSetting) bool { return s.Key == "vcs.revision" })
	if at >= 0 && len(info.Settings[at].Value) >= shortHash && !strings.Contains(v, info.Settings[at].Value[:shortHash]) {
		v += " (" + info.Settings[at].Value[:shortHash] + ")"
	}
	return v
}

// shortHash is how much of a commit's hash names it to people.
const shortHash = 12
