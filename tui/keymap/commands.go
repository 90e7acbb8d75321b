package keymap

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"winnow/assistant/nearest"
)

// Argument is the argument of a screen command, as the usage of the command shows it. It is
// always optional.
type Argument string

// The arguments.
const (
	NoArgument    Argument = ""
	TopicArgument Argument = "TOPIC" // name of a help topic
	ModelArgument Argument = "NAME"
	LineArgument  Argument = "LINE"  // a line of the filter language
	PathArgument  Argument = "PATH"  // path of a topic of pairs; may be empty
	TextArgument  Argument = "TEXT"  // text to search for
	TitleArgument Argument = "TITLE" // title of the session

	PatternArgument       Argument = "PATTERN" // pattern of a rule
	FilteredModelArgument Argument = "MODEL"   // a model of the window
)

// SlashCommand is a command that the user types after a slash.
type SlashCommand struct {
	Name     string // without the slash
	Console  string // how the command is typed in the console, with its arguments; "" if only the screen has the command
	Help     string
	Action   Action // action of the key table; "" if only the console has the command
	Argument Argument
}

// CommandTable lists three kinds of commands: commands that the screen and the console
// share, commands that only the console has, and screen commands that are not named after
// their action. Both front ends show them in this order.
func CommandTable() []SlashCommand {
	return []SlashCommand{
		{"help", "help [TOPIC]", "show the help, or the page about TOPIC", Help, TopicArgument},
		{"model", "model [N|NAME]", "list the models, or choose one for the next message; if NAME matches several models, list the matches", Models, ModelArgument},
		{"connect", "connect", "connect a model: an endpoint, its key, one of its models", Connect, NoArgument},
		{"models", "", "list the models, or only those whose name contains TEXT", Models, TextArgument},
		{"filter", "filter [LINE|all]", "show and send only the messages that LINE matches; a LINE that ends with :star 2, :flag, :topic NAME, :delete, :export … acts on these messages", Filter, LineArgument},
		{"all", "", "", AllPairs, NoArgument},
		{"new", "", "", NewSession, NoArgument},
		{"save", "save", "show what would be written, ask, then write it", Save, NoArgument},
		{"undo", "undo [rollback|messages]", "undo the newest change to the rules, no matter who made it; or undo the last rollback, or the last command of a filter line, such as :star 2", Undo, NoArgument},
		{"hide", "hide PATTERN", "hide models of the provider, as in /hide *mini*", AddIgnore, PatternArgument},
		{"allow", "allow PATTERN", "show models even if an ignore rule hides them, as in /allow gpt-5-mini", AddAllow, PatternArgument},
		{"why", "why MODEL", "explain why a model is hidden or shown", WhyModel, FilteredModelArgument},
		{"discard", "discard", "discard the unsaved changes", Discard, NoArgument},
		{"checkpoints", "", "", Checkpoints, NoArgument},
		{"rollback", "rollback [N [rules|conversation]]", "list the checkpoints, or roll back the rules, the conversation or both to before checkpoint N", Checkpoints, NoArgument},
		{"undo-rollback", "", "", UndoRollback, NoArgument},
		{"cancel", "", "", Cancel, NoArgument},
		{"retry", "retry [TEXT]", "send a failed or cancelled message again, or TEXT in its place; otherwise regenerate the last answer", Retry, NoArgument},
		{"answer", "answer [N]", "list the answers to the last message, or choose answer N", "", NoArgument},
		{"reask", "", "", ReAsk, NoArgument},
		{"queue", "", "", Queued, NoArgument},
		{"topic", "", "show or set the topic of new messages", Topics, PathArgument},
		{"sessions", "", "", Sessions, NoArgument},
		{"session", "session [N|new|TEXT]", "list the sessions, or only those whose title or folder contains TEXT; resume session N, or start a new one", Sessions, NoArgument},
		{"title", "title [TEXT]", "show or change the title of the session; - restores the first message as its title", NameSession, TitleArgument},
		{"cost", "cost", "show the tokens and the cost of the session's answers", SessionCost, NoArgument},
		{"keep", "keep", "keep the partial answer that was cancelled", KeepCancelled, NoArgument},
		{"again", "again", "send the cancelled message again", AskAgain, NoArgument},
		{"branch", "branch [N]", "start a new session that continues from message N, or from the last one", Branch, NoArgument},
		{"undo-messages", "", "", UndoPairs, NoArgument},
		{"message-topic", "", "", Topic, NoArgument},
		{"delete-message", "", "", DeletePair, NoArgument},
		{"copy-message", "", "", CopyPair, NoArgument},
		{"rules", "rules", "list the rules of the window", GoToPane, NoArgument},
		{"status", "status", "show the model, the context, the filter and whether there are unsaved changes", ContextHUD, NoArgument},
		{"messages", "messages [N]", "list the last 10 messages, or the last N, with their numbers", "", NoArgument},
		{"message", "message [N]", "read message N, or the last one, with its answer and reasoning", "", NoArgument},
		{"quit", "quit", "quit winnow", Quit, NoArgument},
	}
}

// Commands lists the commands that the user can type on the screen: the actions of the
// palette and their aliases. plainChat leaves out the commands about rules.
func Commands(plainChat bool) []SlashCommand {
	var actions []SlashCommand
	for _, e := range (*Map)(nil).Palette(plainChat) {
		actions = append(actions, SlashCommand{Action: e.Action, Help: e.Text})
	}
	return screenCommands(actions)
}

// screenCommands lists the commands of the screen. actions are the actions of the palette, with
// their titles as Help. The commands are those in the table that run one of these actions and,
// for each action that no command in the table runs, a command named after the action. A
// command in the table gets the title of its action as Help too, unless it has an argument and
// an earlier command has the same action.
func screenCommands(actions []SlashCommand) (all []SlashCommand) {
	title, named := map[Action]string{}, map[Action]bool{}
	for _, a := range actions {
		title[a.Action] = a.Help
	}
	for _, c := range CommandTable() {
		if title[c.Action] == "" {
			continue
		}
		if !named[c.Action] || c.Argument == NoArgument {
			c.Help = title[c.Action]
		}
		named[c.Action] = true
		all = append(all, c)
	}
	for _, a := range actions {
		if !named[a.Action] {
			a.Name = string(a.Action)
			all = append(all, a)
		}
	}
	return all
}

// Usage returns the command as the user types it on the screen.
func (c SlashCommand) Usage() string {
	if c.Argument == NoArgument {
		return "/" + c.Name
	}
	return fmt.Sprintf("/%s [%s]", c.Name, c.Argument)
}

var firstWord = regexp.MustCompile(`^/([A-Za-z0-9][A-Za-z0-9-]*)(?:[ \t]+(.*))?$`)

// ParseCommand splits a draft into the name of a command, in lower case, and its argument.
// ok is false if the draft is a message.
func ParseCommand(draft string) (name, argument string, ok bool) {
	words := firstWord.FindStringSubmatch(strings.TrimRight(draft, " \t\r\n"))
	if words == nil {
		return "", "", false
	}
	return strings.ToLower(words[1]), words[2], true
}

// MessageOf returns the message that a draft stands for: two slashes at its beginning
// become one, and line breaks at its beginning are removed.
func MessageOf(draft string) string {
	draft = strings.TrimLeft(draft, "\n")
	if strings.HasPrefix(draft, "//") {
		return draft[1:]
	}
	return draft
}

// CommandError reports a draft that looks like a command but is not a valid command.
type CommandError struct {
	Text    string   // what is wrong
	Near    []string // what the user probably meant, as the user would type it
	Unknown bool     // there is no such command
}

// Error says what is wrong and how to send the draft as a message.
func (e *CommandError) Error() string {
	text := e.Text
	if len(e.Near) > 0 {
		text += " · did you mean " + strings.Join(e.Near, " or ") + "?"
	}
	return text + " · to send it as a message, begin it with //"
}

// FindCommand returns the command with the given name, or else the command whose action has
// this name. It returns a *CommandError if there is no such command, or if the command
// takes no argument but argument is not empty.
func FindCommand(commands []SlashCommand, name, argument string) (SlashCommand, error) {
	var names []string
	i := slices.IndexFunc(commands, func(c SlashCommand) bool { return c.Name == name })
	if i < 0 {
		i = slices.IndexFunc(commands, func(c SlashCommand) bool { return string(c.Action) == name })
	}
	switch {
	case i < 0:
		for _, c := range commands {
			names = append(names, c.Name)
		}
		return SlashCommand{}, &CommandError{"there is no command /" + name, near(name, names, "/"), true}
	case commands[i].Argument == NoArgument && argument != "":
		return SlashCommand{}, &CommandError{Text: "/" + name + " takes no argument"}
	}
	return commands[i], nil
}

// near lists the known names that the user probably meant, each with prefix in front; nil if
// name is too long to compare.
func near(name string, known []string, prefix string) []string {
	const most, longest = 2, 60
	if len(name) > longest {
		return nil
	}
	names := nearest.Names(name, known, most)
	for i := range names {
		names[i] = prefix + names[i]
	}
	return names
}

// ModelNamed returns the id of the model that an argument names: by the whole id, the name
// without the provider, or a part that no other id contains. An id with a provider is
// accepted even if the model is unknown. For any other argument it returns a *CommandError.
func ModelNamed(argument string, ids []string) (string, error) {
	var named, parts []string
	for _, id := range ids {
		_, name, _ := strings.Cut(id, "/")
		switch {
		case id == argument:
			return id, nil
		case strings.EqualFold(name, argument), strings.EqualFold(id, argument):
			named = append(named, id)
		case strings.Contains(strings.ToLower(id), strings.ToLower(argument)):
			parts = append(parts, id)
		}
	}
	switch {
	case len(named) == 1:
		return named[0], nil
	case len(named) == 0 && len(parts) == 1:
		return parts[0], nil
	case len(named)+len(parts) > 0:
		found := append(named, parts...)
		return "", &CommandError{Text: fmt.Sprintf("%d models match %s", len(found), argument), Near: found[:min(len(found), 2)]}
	case strings.Contains(argument, "/"):
		return argument, nil
	}
	return "", &CommandError{Text: "there is no model " + argument, Near: near(argument, ids, "")}
}

// HelpTopic is a page of the help.
type HelpTopic struct {
	Name  string          // in lower case
	Short string          // what the page is about, in a few words
	Lines func() []string // returns the lines of the page; may take long
}

// TopicNamed returns the help topic that an argument names, ignoring case. If there is no
// such topic, the error is a *CommandError.
func TopicNamed(argument string, topics []HelpTopic) (HelpTopic, error) {
	var names []string
	for _, t := range topics {
		if t.Name == strings.ToLower(argument) {
			return t, nil
		}
		names = append(names, t.Name)
	}
	return HelpTopic{}, &CommandError{Text: "the help has no topic " + argument, Near: near(argument, names, "")}
}
