package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"

	"charm.land/fang/v2"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"winnow/adapters/config"
	"winnow/assistant/safetext"
)

func main() {
	// Bubble Tea would write raw input and panics to files named by these.
	os.Unsetenv("TEA_TRACE")
	os.Unsetenv("TEA_DEBUG")
	os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run executes one command line and returns the exit status.
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

// newRoot is the table of all commands, over an app.
func newRoot(a *app) *cobra.Command {
	root := group("winnow", "A chat client whose assistant can see and change the window it lives in",
		askCommand(a),
		rulesCommand(a),
		group("env", "Set or remove one key of a .env file", envSetCommand(a), envUnsetCommand(a)),
		modelsCommand(a),
		group("history", "Search, export, import and check what was said",
			historySearchCommand(a), historyExportCommand(a), historyImportCommand(a),
			command("check", "Read the whole database and say whether it is sound", 0, 0, a.ofHistory(a.historyCheck)),
			command("sessions", "List the sessions, the last used first", 0, 0, a.ofHistory(a.historySessions))),
		group("checkpoints", "List the checkpoints of the rules and go back to one", checkpointsListCommand(a), rollbackCommand(a)),
		doctorCommand(a),
		group("config", "The settings: where they are, what they are",
			command("path", "Print the path of the settings file", 0, 0, a.configPath),
			command("show", "Print every setting and where its value comes from", 0, 0, a.configShow),
			command("edit", "Open the settings file in $VISUAL or $EDITOR", 0, 0, a.configEdit),
			command("check", "Say whether the settings are right", 0, 0, a.configCheck)),
		manCommand(a),
	)
	root.Long = "winnow shows which models an LLM proxy exposes to its clients, and an assistant\n" +
		"that changes that on your word. Without a command it opens the program."
	root.Example = "winnow\nwinnow ask \"hide every mini and nano model\"\nwinnow rules list"
	root.Version = version()
	root.SilenceErrors, root.SilenceUsage = true, true
	root.RunE = func(cmd *cobra.Command, _ []string) error { return a.launch(cmd.Context()) }
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	root.SetFlagErrorFunc(flagError)
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) { showHelp(a, cmd) })
	a.flags.bind(root)
	return root
}

// command is a command that takes between least and most arguments; most is -1
// where any number may follow.
func command(use, short string, least, most int, run func(ctx context.Context, args []string) error) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short,
		Args: func(cmd *cobra.Command, given []string) error {
			names := strings.Fields(cmd.Use)[1:]
			switch {
			case len(given) < least:
				return &usageError{cmd.CommandPath(), fmt.Sprintf("%s is missing: %s", strings.Trim(names[len(given)], "[]…"), cmd.UseLine())}
			case most >= 0 && len(given) > most:
				return &usageError{cmd.CommandPath(), fmt.Sprintf("%q is one argument too many: %s", safetext.Line(given[most], maxName), cmd.UseLine())}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return run(cmd.Context(), args) },
	}
}

// group is a command that only holds others.
func group(use, short string, commands ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{
		Use: use, Short: short,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			var names []string
			for _, c := range cmd.Commands() {
				names = append(names, c.Name())
			}
			return &usageError{cmd.CommandPath(), fmt.Sprintf("there is no command %q", safetext.Line(args[0], maxName)) + didYouMean(args[0], names, "%q")}
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	c.AddCommand(commands...)
	return c
}

// didYouMean suggests the name nearest to a mistyped one, "" when none is near.
func didYouMean(name string, names []string, verb string) string {
	near := config.Nearest(name, names)
	if near == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean "+verb+"?", near)
}

// flagError replaces the words of the flag parser.
func flagError(cmd *cobra.Command, err error) error {
	fault := safetext.Line(err.Error(), maxLine)
	if name, unknown := strings.CutPrefix(fault, "unknown flag: --"); unknown {
		var names []string
		add := func(f *pflag.Flag) { names = append(names, f.Name) }
		cmd.Flags().VisitAll(add)
		cmd.InheritedFlags().VisitAll(add)
		fault = fmt.Sprintf("there is no flag --%s", safetext.Line(name, maxName)) + didYouMean(name, names, "--%s")
	}
	return &usageError{cmd.CommandPath(), fault}
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

// showHelp prints the help of a command. fang is set up only here: it is not
// needed for anything else.
func showHelp(a *app, of *cobra.Command) {
	root := newRoot(a)
	root.SetArgs(append(strings.Fields(of.CommandPath())[1:], "--help"))
	// It cannot fail: the command exists, and help takes no argument.
	_ = fang.Execute(a.ctx, root, fang.WithVersion(version()), fang.WithoutManpage())
}

// version is the version that the build recorded.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "development build"
}
