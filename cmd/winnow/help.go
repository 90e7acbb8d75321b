package main

import (
	"fmt"
	"slices"
	"strings"

	"charm.land/fang/v2"
	"github.com/spf13/cobra"

	"winnow/adapters/config"
	"winnow/adapters/doctor"
	"winnow/assistant/safetext"
	"winnow/cmd/winnow/topics"
	"winnow/tui/keymap"
	"winnow/tui/style"
)

// statuses are the exit statuses that `winnow help exit` lists.
var statuses = []topics.Exit{
	{Status: statusDone, Meaning: "done"},
	{Status: statusFailed, Meaning: "failed, or rules lint, doctor or config check found a problem"},
	{Status: statusUsage, Meaning: "the command line or a flag was wrong"},
	{Status: statusPending, Meaning: "changes are pending (rules diff, rules plan), a step needs confirmation, or rules check found a matching model"},
	{Status: statusCancelled, Meaning: "cancelled by ctrl+c; for any other signal, 128 plus its number"},
	{Status: statusPipe, Meaning: "the reader closed the pipe, as in winnow ask … | head -1"},
}

// showHelp prints the help of a command. fang is set up here because nothing else uses it.
func showHelp(a *app, cmd *cobra.Command) {
	root := newRoot(a)
	root.SetArgs(append(strings.Fields(cmd.CommandPath())[1:], "--help"))
	// Execute cannot fail: the command exists, and help takes no argument.
	_ = fang.Execute(a.ctx, root, fang.WithVersion(version()), fang.WithoutManpage())
}

// helpCommand returns the help command, which explains a topic or another command.
func helpCommand(a *app) *cobra.Command {
	var names []string
	for _, t := range topics.All() {
		names = append(names, t.Name)
	}
	c := command("help [TOPIC]", "Explain a topic: "+strings.Join(names, ", "), 0, -1, nil)
	c.ValidArgs = names
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return a.emit(map[string]any{"topics": names}, topics.List()...)
		}
		if i := slices.Index(names, args[0]); i >= 0 && len(args) == 1 {
			lines := topics.All()[i].Lines(a.facts(cmd.Root()))
			return a.emit(map[string]any{"topic": args[0], "lines": lines}, lines...)
		}
		found, rest, _ := cmd.Root().Find(args) // an unknown command stays in rest
		if len(rest) == 0 {
			return found.Help()
		}
		near := slices.Clone(names)
		for _, c := range found.Commands() {
			near = append(near, c.Name())
		}
		return advise(&usageError{found.CommandPath(), fmt.Sprintf("there is no topic or command %q", safetext.Line(rest[0], maxName)) + didYouMean(rest[0], near, "%q")},
			"winnow help lists the topics, %s --help the commands", found.CommandPath())
	}
	return c
}

// helpTopics returns the topics for the help of the screen.
func (a *app) helpTopics() (all []keymap.HelpTopic) {
	for _, t := range topics.All() {
		all = append(all, keymap.HelpTopic{Name: t.Name, Short: t.Short, Lines: func() []string {
			u := a.forRemote(a.environ) // a separate app, because building a root command resets the flags
			u.deferring = true
			root := newRoot(u)
			u.flags = a.flags
			return t.Lines(u.facts(root))
		}})
	}
	return all
}

// facts returns the input of the topic pages. If the settings cannot be read or their keys are invalid, it uses the
// default keys and prints a notice.
func (a *app) facts(root *cobra.Command) topics.Facts {
	f := topics.Facts{Settings: config.All(style.Themes()), Flags: settingFlags, Exits: statuses, Root: root}
	f.Home, _ = config.HomeAt(a.flagOrEnv(a.flags.home, "WINNOW_HOME")) // fails only if there is no working folder
	f.Config = f.Home.Settings()
	s, err := a.config()
	if err == nil {
		f.Config = s.Path
		f.Keys, err = keymap.Uses(s.SendKey == "enter", rebinds(s.Keys))
	}
	if err != nil {
		a.printErr("winnow: %s; these are the default keys", strings.Join(doctor.ErrorLines(err), "; "))
		f.Keys, _ = keymap.Uses(false, nil) // the default keys are always valid
	}
	return f
}
