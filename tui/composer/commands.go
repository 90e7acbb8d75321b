package composer

import (
	"slices"
	"strings"

	"winnow/assistant/filter"
	"winnow/tui/keymap"
	"winnow/tui/overlay"
)

// CommandSources holds the names that complete the arguments of commands.
type CommandSources struct {
	filter.Sources
	Help   []keymap.HelpTopic
	Window []string // patterns and models of the window
}

// maxOffered is the maximum number of entries offered: more would be too many to scroll
// through.
const maxOffered = 200

// CommandStem returns the part that all completions of a draft have in common: the slash
// or, after the command, everything up to the last space. The draft must not be empty.
func CommandStem(draft string) string { return draft[:max(1, strings.LastIndexByte(draft, ' ')+1)] }

// CompleteCommand lists completions, best first, of a command with the cursor at its end.
// The Value of each entry is a whole draft. selected is the index of the entry to select,
// or -1 if enter should run the command as typed.
func CompleteCommand(draft string, commands []keymap.SlashCommand, from CommandSources) (entries []overlay.Entry, selected int) {
	if !strings.HasPrefix(draft, "/") || strings.ContainsAny(draft, "\n\t") {
		return nil, -1
	}
	name, argument, named := strings.Cut(draft[1:], " ")
	name = strings.ToLower(name)
	if !named {
		return completeName(name, commands)
	}
	c, err := keymap.FindCommand(commands, name, "")
	if err != nil {
		return nil, -1
	}
	var values, extras []string
	switch c.Argument {
	case keymap.LineArgument:
		for _, o := range filter.Complete(argument, len([]rune(argument)), from.Sources) {
			line := string([]rune(argument)[:o.From]) + o.Text
			entries = append(entries, overlay.Entry{Value: "/" + name + " " + line, Text: o.Label, Extra: o.Help})
		}
		return entries[:min(len(entries), maxOffered)], -1
	case keymap.ModelArgument:
		values = from.Models
	case keymap.PathArgument:
		values = append([]string{"none"}, from.Topics...)
	case keymap.TopicArgument:
		for _, t := range from.Help {
			values, extras = append(values, t.Name), append(extras, t.Short)
		}
	case keymap.PatternArgument, keymap.FilteredModelArgument:
		values = from.Window
	case keymap.NoArgument, keymap.TextArgument, keymap.TitleArgument:
	}
	if slices.ContainsFunc(values, func(v string) bool { return strings.EqualFold(v, argument) }) {
		return nil, -1 // the argument is complete
	}
	for i, e := range offered(argument, values, extras) {
		e.Value = "/" + name + " " + e.Value
		if entries = append(entries, e); i+1 == maxOffered {
			break
		}
	}
	if argument == "" {
		return entries, -1
	}
	return entries, 0
}

// completeName lists the commands whose names contain the typed text. If a name is typed in
// full, no entry is selected, so that enter runs the command.
func completeName(typed string, commands []keymap.SlashCommand) (entries []overlay.Entry, selected int) {
	names, helps, byName := make([]string, len(commands)), make([]string, len(commands)), map[string]keymap.SlashCommand{}
	for i, c := range commands {
		names[i], helps[i], byName[c.Name] = c.Name, c.Help, c
	}
	entries = offered(typed, names, helps)
	if len(entries) == 1 && entries[0].Value == typed && byName[typed].Argument == keymap.NoArgument {
		return nil, -1
	}
	entries = withoutAliases(entries, typed, byName)
	for i, e := range entries {
		c := byName[e.Value]
		if entries[i].Text, entries[i].Value = c.Usage(), "/"+c.Name; c.Argument != keymap.NoArgument {
			entries[i].Value += " "
		}
		if c.Name == typed {
			selected = -1
		}
	}
	return entries, selected
}

// withoutAliases keeps one entry for each action: the entry that is typed in full, or else
// the first. Entries without an action stay.
func withoutAliases(entries []overlay.Entry, typed string, byName map[string]keymap.SlashCommand) (kept []overlay.Entry) {
	shown := map[keymap.Action]bool{byName[typed].Action: true}
	for _, e := range entries {
		action := byName[e.Value].Action
		if e.Value == typed || action == "" || !shown[action] {
			kept = append(kept, e)
		}
		shown[action] = true
	}
	return kept
}

// offered lists the values that contain the typed text, ignoring case: first the values
// that begin with it, then the values with a word that begins with it, then the others.
func offered(typed string, values, extras []string) (entries []overlay.Entry) {
	typed = strings.ToLower(typed)
	var groups [3][]overlay.Entry
	for i, v := range values {
		e := overlay.Entry{Value: v, Text: v}
		if i < len(extras) {
			e.Extra = extras[i]
		}
		lower := strings.ToLower(v) // the length of lower may differ from the length of v
		switch at := strings.Index(lower, typed); {
		case at < 0:
		case at == 0:
			groups[0] = append(groups[0], e)
		case strings.ContainsAny(lower[at-1:at], " /-"):
			groups[1] = append(groups[1], e)
		default:
			groups[2] = append(groups[2], e)
		}
	}
	return append(append(groups[0], groups[1]...), groups[2]...)
}
