package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"winnow/adapters/config"
	"winnow/adapters/doctor"
	"winnow/adapters/endpoints"
	"winnow/assistant/safetext"
)

func main() {
	// Bubble Tea would write raw input and panics to the files that these variables name.
	os.Unsetenv("TEA_TRACE")
	os.Unsetenv("TEA_DEBUG")
	a := newApp(context.Background(), os.Stdin, os.Stdout, os.Stderr)
	a.endStart = delayGC()
	os.Exit(a.run(os.Args[1:]))
}

// run executes one command line and returns the exit status.
func (a *app) run(args []string) int {
	root := newRoot(a)
	root.SetArgs(args)
	err := root.ExecuteContext(a.ctx)
	if closed := a.close(); err == nil {
		err = closed
	}
	return a.report(err)
}

// newRoot builds the root command and all subcommands of the app.
func newRoot(a *app) *cobra.Command {
	root := group("winnow", "A chat client whose assistant can see and change the window it lives in",
		askCommand(a),
		rulesCommand(a),
		group("env", "Set or remove one key of a .env file", envSetCommand(a), envUnsetCommand(a)),
		modelsCommand(a),
		group("history", "Search, export, import and check the chat history",
			historySearchCommand(a), historyExportCommand(a), historyImportCommand(a), historyMigrateCommand(a),
			command("check", "Read the whole database and report any damage", 0, 0, a.withHistory(a.historyCheck)),
			command("sessions", "List the sessions, most recently used first", 0, 0, a.withHistory(a.historySessions))),
		group("checkpoints", "List the checkpoints of the rules and roll back to one", checkpointsListCommand(a), rollbackCommand(a)),
		serveCommand(a),
		mcpCommand(a),
		toolsCommand(a),
		tokenCommand(a),
		command("api", "Print the OpenAPI document of winnow serve --http", 0, 0, a.printAPI),
		logCommand(a),
		doctorCommand(a),
		group("config", "Show, edit and check the settings",
			command("path", "Print the path of the settings file", 0, 0, a.configPath),
			command("show", "Print every setting and where its value comes from", 0, 0, a.configShow),
			command("edit", "Open the settings file in $VISUAL or $EDITOR", 0, 0, a.configEdit),
			command("check", "Check whether the settings are valid", 0, 0, a.configCheck),
			connectCommand(a)),
		manCommand(a),
	)
	root.Long = "winnow shows which models an LLM proxy exposes to its clients, and an assistant\n" +
		"changes them when you ask it to. Without a command, winnow opens the program;\n" +
		"winnow help lists the help topics."
	root.Example = "winnow\nwinnow ask \"hide every mini and nano model\"\nwinnow rules list"
	root.Version = version()
	root.RunE = func(cmd *cobra.Command, _ []string) error { return a.launch(cmd.Context()) }
	root.SetHelpCommand(helpCommand(a))
	root.InitDefaultCompletionCmd()
	if c, _, err := root.Find([]string{"completion"}); err == nil {
		asGroup(c)
		for _, shell := range c.Commands() {
			shell.Args = command(shell.Use, "", 0, 0, nil).Args
		}
	}
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) { showHelp(a, cmd) })
	a.attach(root)
	root.PersistentPreRun = func(cmd *cobra.Command, _ []string) {
		if a.program = cmd.CommandPath(); cmd != root && cmd.Name() != "ask" { // launch calls endStart itself, and ask creates too little garbage to need it
			a.endStart(commandGC)
		}
	}
	a.flags.bind(root)
	return root
}

// attach connects root to the standard streams of the app. The method report prints its errors.
func (a *app) attach(root *cobra.Command) {
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	root.SetFlagErrorFunc(flagError)
}

// command returns a command that takes between minArgs and maxArgs arguments; a maxArgs of -1 means no upper limit.
func command(use, short string, minArgs, maxArgs int, run func(ctx context.Context, args []string) error) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short,
		Args: func(cmd *cobra.Command, args []string) error {
			names := strings.Fields(cmd.Use)[1:]
			switch {
			case len(args) < minArgs:
				return &usageError{cmd.CommandPath(), fmt.Sprintf("%s is missing: %s", strings.Trim(names[len(args)], "[]…"), cmd.UseLine())}
			case maxArgs >= 0 && len(args) > maxArgs:
				return &usageError{cmd.CommandPath(), fmt.Sprintf("unexpected argument %q: %s", safetext.Line(args[maxArgs], maxName), cmd.UseLine())}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return run(cmd.Context(), args) },
	}
}

// group returns a command that only contains other commands.
func group(use, short string, commands ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{Use: use, Short: short}
	asGroup(c)
	c.AddCommand(commands...)
	return c
}

// asGroup makes a command print its help and reject unknown subcommands.
func asGroup(c *cobra.Command) {
	c.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		return &usageError{cmd.CommandPath(), fmt.Sprintf("there is no command %q", safetext.Line(args[0], maxName)) + suggestCommand(cmd, args[0])}
	}
	c.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
}

// suggestCommand suggests what to use instead of an unknown command. In order of preference: a subcommand of that name
// in a group (such as rules save), at the root a flag of that name, a command with a similar name, and at the root ask.
func suggestCommand(cmd *cobra.Command, name string) string {
	var names, inner []string
	for _, c := range cmd.Commands() {
		names = append(names, c.Name())
		for _, sub := range c.Commands() {
			if sub.Name() == name {
				inner = append(inner, sub.CommandPath())
			}
		}
	}
	switch near := didYouMean(name, names, "%q"); {
	case len(inner) > 0:
		return "; did you mean " + strings.Join(inner, " or ") + "?"
	case cmd.Flags().Lookup(name) != nil && !cmd.HasParent():
		return "; did you mean --" + name + "?"
	case near == "" && !cmd.HasParent():
		return "; to send a message, use winnow ask"
	default:
		return near
	}
}

// didYouMean suggests the name in names that is closest to name, formatted with format. It returns "" if none is close.
func didYouMean(name string, names []string, format string) string {
	near := config.Nearest(name, names)
	if near == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean "+format+"?", near)
}

// flagValues describes the values that a flag accepts, by the type of the flag.
var flagValues = map[string]string{"int": "a whole number", "duration": "a time such as 30m or 1h30m", "bool": "true or false"}

// flagError converts an error of the flag parser to a usageError.
func flagError(cmd *cobra.Command, err error) error {
	message := string(safetext.Line(err.Error(), maxLine))
	if name, unknown := strings.CutPrefix(message, "unknown flag: --"); unknown {
		var names []string
		add := func(f *pflag.Flag) { names = append(names, f.Name) }
		cmd.Flags().VisitAll(add)
		cmd.InheritedFlags().VisitAll(add)
		message = fmt.Sprintf("there is no flag --%s", safetext.Line(name, maxName)) + didYouMean(name, names, "--%s")
	}
	if invalid, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		f := invalid.GetFlag()
		if expected := flagValues[f.Value.Type()]; expected != "" {
			message = fmt.Sprintf("--%s: %q is not %s", f.Name, safetext.Line(invalid.GetValue(), maxName), expected)
		}
	}
	return &usageError{cmd.CommandPath(), message}
}

// exclusive makes c reject command lines that give more than one of the named flags.
func exclusive(c *cobra.Command, names ...string) {
	c.PreRunE = func(cmd *cobra.Command, _ []string) error {
		var given []string
		for _, name := range names {
			if cmd.Flags().Changed(name) {
				given = append(given, "--"+name)
			}
		}
		if len(given) > 1 {
			return &usageError{cmd.CommandPath(), strings.Join(given, " and ") + " cannot be used together"}
		}
		return nil
	}
}

// stamped is the version set by the package build with -ldflags -X.
var stamped string

// version returns the stamped version or, if that is empty, the version in the build information.
func version() string {
	if stamped != "" {
		return stamped
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "development build"
}

// Exit statuses; their meanings are listed in statuses.
const (
	statusDone      = 0
	statusFailed    = 1
	statusUsage     = 2
	statusPending   = 3
	statusCancelled = 130
	statusPipe      = 141
)

// maxLine and maxName limit the width in cells of a line on standard error and of a name in it, because text from
// files and servers can be of any length.
const (
	maxLine = 2000
	maxName = 120
)

// usageError reports an invalid command line.
type usageError struct{ command, message string }

func (e *usageError) Error() string { return e.message }

// signalError is the cancellation cause of app.ctx after a signal.
type signalError struct{ syscall.Signal }

func (e signalError) Error() string { return e.String() }

// statusError makes a command exit with this status without printing a message.
type statusError int

func (e statusError) Error() string { return fmt.Sprintf("status %d", int(e)) }

const errPending = statusError(statusPending)

// report prints err with advice for the user and returns the exit status.
func (a *app) report(err error) int {
	status, isStatus := errors.AsType[statusError](err)
	usage, isUsage := errors.AsType[*usageError](err)
	setting, isSetting := errors.AsType[*config.Error](err)
	address, isNamed := errors.AsType[*endpoints.EndpointError](err)
	switch {
	case err == nil:
		return statusDone
	case isStatus:
		return int(status)
	case isNamed && address.What == "--base-url":
		usage, isUsage = &usageError{"winnow", address.Error()}, true
	}
	switch {
	case isUsage:
		a.printErr("winnow: %s", usage.message)
		a.printErr("%s", cmp.Or(nextStep(err), "see "+usage.command+" --help"))
		return statusUsage
	case errors.Is(err, context.Canceled):
		a.printErr("cancelled")
		a.printErr("%s", nextStep(err))
		if ended, isSignal := errors.AsType[signalError](context.Cause(a.ctx)); isSignal {
			return 128 + int(ended.Signal)
		}
		return statusCancelled
	}
	for _, line := range doctor.ErrorLines(err) {
		a.printErr("winnow: %s", line)
	}
	a.printErr("%s", nextStep(err))
	if isSetting && strings.HasPrefix(setting.Where, "--") {
		return statusUsage
	}
	return statusFailed
}
