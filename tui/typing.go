package tui

import (
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant/filter"
	"winnow/assistant/history"
	"winnow/tui/keymap"
	"winnow/tui/mention"
	"winnow/tui/pane"
	"winnow/tui/slash"
)

// word is what the list above the box completes: a command that is being typed, else the
// @word before the cursor; "" for none.
func (i *input) word() string {
	if text := i.draft.Shown(); strings.HasPrefix(text, "/") && i.draft.Before() == text {
		return text
	}
	if word := i.draft.Word(); strings.HasPrefix(word, "@") {
		return word
	}
	return ""
}

// completing reports whether the list is on the screen.
func (i *input) completing() bool { return i.mode == keymap.Input && i.list.Open(i.word()) }

// listing reports whether the list is being read.
func (i *input) listing() bool { return i.mode == keymap.Input && i.list.Reading(i.word()) }

// offer opens the list for what is typed: commands and their arguments after a slash,
// files and names of the pane, such as rules and models, after an @.
func (i *input) offer() tea.Cmd {
	word := i.word()
	stem, _ := mention.Split(word)
	isCommand := strings.HasPrefix(word, "/")
	if isCommand {
		stem = slash.Stem(word)
	}
	switch {
	case !i.list.Typed(word, stem):
		return nil
	case isCommand:
		entries, selected := slash.Complete(word, i.slashCommands(), slash.Sources{Sources: i.names(), Help: i.opts.Help})
		i.list.Show(word, entries, selected)
		return nil
	}
	var names []string
	if p, ok := i.pane.(pane.Completer); ok {
		names = p.Completions()
	}
	files := i.opts.Files
	return func() tea.Msg { return suggestedMsg{word, files.Suggest(word, names)} }
}

// onSuggested shows what completes a word, if it is still the word before the cursor.
func (i *input) onSuggested(msg suggestedMsg) tea.Cmd {
	if i.list.Show(msg.word, msg.entries, 0) {
		return i.acceptEntry()
	}
	return nil
}

// acceptEntry puts the selected entry into the box, and then lists what can follow it: of
// a folder what is inside, of a command its arguments.
func (i *input) acceptEntry() tea.Cmd {
	if !i.completing() {
		return nil
	}
	word, text := i.word(), i.list.Accept()
	if strings.HasPrefix(word, "@") && !strings.HasSuffix(text, "/") {
		text += " "
	}
	i.draft.ReplaceBefore(utf8.RuneCountInString(word), text)
	return tea.Batch(i.draftChanged(), i.offer())
}

// acceptsCommand reports whether enter accepts an entry of the list of commands.
func (i *input) acceptsCommand() bool {
	return i.completing() && i.list.At >= 0 && strings.HasPrefix(i.word(), "/")
}

// slashCommands are what can be typed after a slash.
func (s *shared) slashCommands() []slash.Command { return slash.Commands(s.plainChat()) }

// sendHint is what the key that sends does now, in a word.
func (m *Model) sendHint() string {
	if name, argument, ok := slash.Parse(m.input.draft.Shown()); ok {
		if _, err := slash.Find(m.slashCommands(), name, argument); err == nil {
			return "run"
		}
	}
	if m.turn.running {
		return "queue"
	}
	return "send"
}

// newLine breaks the line; in a command it accepts the selected entry, else runs it.
func (m *Model) newLine() tea.Cmd {
	if cmd, isCommand := m.runTyped(false); isCommand {
		return cmd
	}
	return m.input.newLine()
}

// runTyped runs the command in the box, or completes it with the selected entry. ok is
// false when there is none. One that is refused stays in the box. With sent, what only
// looks like a command is refused, too, as it would be sent.
func (m *Model) runTyped(sent bool) (cmd tea.Cmd, ok bool) {
	text := m.input.draft.Text()
	if m.input.acceptsCommand() {
		return m.input.acceptEntry(), true
	}
	name, argument, ok := slash.Parse(text)
	if !ok {
		return nil, false
	}
	run, err := m.typedAction(name, argument)
	if err != nil {
		if e, isSlash := errors.AsType[*slash.Error](err); isSlash && !sent && e.Unknown {
			return nil, false
		}
		if e, isLine := errors.AsType[*filter.Error](err); isLine {
			m.input.draft.SetColumn(utf8.RuneCountInString(text) - utf8.RuneCountInString(argument) + e.Column - 1)
		}
		return m.fail(err), true
	}
	m.input.draft.AddSent(m.input.draft.Reset())
	return tea.Batch(m.input.draftChanged(), run()), true
}

// typedAction is what a command does; nothing is done yet.
func (m *Model) typedAction(name, argument string) (run func() tea.Cmd, err error) {
	if n, err := strconv.Atoi(name); err == nil && n > 0 {
		return func() tea.Cmd { return m.choose(n - 1) }, nil
	}
	c, err := slash.Find(m.slashCommands(), name, argument)
	if err != nil || argument == "" {
		return func() tea.Cmd { return m.runAction(c.Action) }, err
	}
	switch c.Argument {
	case slash.Model:
		id, err := slash.ModelNamed(argument, m.names().Models)
		return func() tea.Cmd { return m.pickModel(id) }, err
	case slash.Line:
		_, err := filter.Parse(argument)
		return func() tea.Cmd { return m.runLineHere(argument) }, err
	case slash.Path:
		path := history.TopicPath(argument)
		if argument == "none" {
			path = ""
		}
		return func() tea.Cmd { return m.setTopic(path) }, nil
	case slash.Topic:
		topic, err := slash.TopicNamed(argument, m.opts.Help)
		return func() tea.Cmd { return m.openTopic(topic) }, err
	case slash.Text:
		return func() tea.Cmd {
			cmd := m.runAction(c.Action)
			return tea.Batch(cmd, m.onOutcome(m.overlay.Key("", argument)))
		}, nil
	case slash.None:
	}
	return nil, errors.ErrUnsupported
}

// runLineHere is runLine with the focus where it is.
func (m *Model) runLineHere(line string) tea.Cmd {
	here := m.mode
	cmd := m.runLine(line)
	m.setMode(here)
	return cmd
}

// openTopic shows a page of the help.
func (s *shared) openTopic(t slash.HelpTopic) tea.Cmd {
	return func() tea.Msg { return topicReadMsg{t, t.Lines()} }
}
