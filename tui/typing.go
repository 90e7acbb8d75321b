package tui

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant/filter"
	"winnow/assistant/history"
	"winnow/tui/composer"
	"winnow/tui/keymap"
	"winnow/tui/pane"
	"winnow/tui/terminal"
)

// completeWord lists completions of the word before the cursor of the box. Commands are
// listed at once; files are read outside the update loop.
func (m *Model) completeWord(word string) tea.Cmd {
	if strings.HasPrefix(word, "/") {
		from := composer.CommandSources{Sources: m.names(), Help: m.opts.Help}
		if p, ok := m.pane.(pane.Completer); ok {
			from.Window = p.Completions()
		}
		entries, selected := composer.CompleteCommand(word, m.slashCommands(), from)
		m.input.list.Show(word, entries, selected)
		return nil
	}
	var names []string
	if p, ok := m.pane.(pane.Completer); ok {
		names = p.Completions()
	}
	files := m.opts.Files
	return func() tea.Msg { return suggestedMsg{word, files.Suggest(word, names)} }
}

// slashCommands returns the available slash commands.
func (m *Model) slashCommands() []keymap.SlashCommand { return keymap.Commands(m.plainChat()) }

// sendHint says in a word what the send key does now.
func (m *Model) sendHint() string {
	if name, argument, ok := keymap.ParseCommand(m.input.draft.Shown()); ok {
		if _, err := keymap.FindCommand(m.slashCommands(), name, argument); err == nil {
			return "run"
		}
	}
	if m.turn.running {
		return "queue"
	}
	return "send"
}

// newLine inserts a line break. If the box contains a command, it accepts the selected
// entry or runs the command instead.
func (m *Model) newLine() tea.Cmd {
	if cmd, isCommand := m.runTyped(false); isCommand {
		return cmd
	}
	explain := !m.opts.EnterSends && !m.opts.AsksEnter // otherwise another key was pressed, or askEnter asks
	cmd := m.carryOut(m.input.newLine(explain))
	m.askEnter()
	return cmd
}

// runTyped runs the command in the box, or completes it with the selected entry. ok is
// false if the box contains no command. A rejected command stays in the box. If sent
// is true, text that only looks like a command is rejected too.
func (m *Model) runTyped(sent bool) (cmd tea.Cmd, ok bool) {
	text := m.input.draft.Text()
	if m.input.acceptsCommand() {
		return m.carryOut(m.input.acceptEntry()), true
	}
	name, argument, ok := keymap.ParseCommand(text)
	if !ok {
		return nil, false
	}
	run, err := m.typedAction(name, argument)
	if err != nil {
		if e, isSlash := errors.AsType[*keymap.CommandError](err); isSlash && !sent && e.Unknown {
			return nil, false
		}
		if e, isLine := errors.AsType[*filter.Error](err); isLine {
			m.input.draft.SetColumn(utf8.RuneCountInString(text) - utf8.RuneCountInString(argument) + e.Column - 1)
		}
		return m.fail(err), true
	}
	m.input.draft.AddSent(m.input.draft.Reset())
	return tea.Batch(m.carryOut(m.input.draftChanged()), run()), true
}

// typedAction returns what a command does, without running it.
func (m *Model) typedAction(name, argument string) (run func() tea.Cmd, err error) {
	if n, err := strconv.Atoi(name); err == nil && n > 0 {
		return func() tea.Cmd { return m.choose(n - 1) }, nil
	}
	c, err := keymap.FindCommand(m.slashCommands(), name, argument)
	if err != nil || argument == "" {
		return func() tea.Cmd { return m.runAction(c.Action) }, err
	}
	switch c.Argument {
	case keymap.ModelArgument:
		id, err := keymap.ModelNamed(argument, m.names().Models)
		return func() tea.Cmd { return m.pickModel(id) }, err
	case keymap.LineArgument:
		_, err := filter.Parse(argument)
		return func() tea.Cmd { return m.runLineHere(argument) }, err
	case keymap.PathArgument:
		path := history.TopicPath(argument)
		if argument == "none" {
			path = ""
		}
		return func() tea.Cmd { return m.carryOut(selectTopic(path)) }, nil
	case keymap.TopicArgument:
		topic, err := keymap.TopicNamed(argument, m.opts.Help)
		return func() tea.Cmd { return m.openTopic(topic) }, err
	case keymap.TitleArgument:
		return func() tea.Cmd { return m.setTitle(argument) }, nil
	case keymap.TextArgument:
		return func() tea.Cmd {
			cmd := m.runAction(c.Action)
			return tea.Batch(cmd, m.onOutcome(m.overlay.Key("", argument)))
		}, nil
	case keymap.PatternArgument, keymap.FilteredModelArgument:
		p, ok := m.pane.(pane.Arguer)
		if !ok {
			return func() tea.Cmd { return m.runAction(c.Action) }, nil
		}
		return func() tea.Cmd { return m.perform(p.DoWith(c.Action, argument)) }, nil
	case keymap.NoArgument:
	}
	return nil, errors.ErrUnsupported
}

// runLineHere is like runLine but does not move the focus.
func (m *Model) runLineHere(line string) tea.Cmd {
	here := m.mode
	cmd := m.runLine(line)
	m.setMode(here)
	return cmd
}

// openTopic shows a help page.
func (m *Model) openTopic(t keymap.HelpTopic) tea.Cmd {
	return func() tea.Msg { return topicReadMsg{t, t.Lines()} }
}

// openEditor opens the draft in the user's editor.
func (m *Model) openEditor() tea.Cmd {
	if m.opts.Editor == nil {
		return m.info("no editor: set VISUAL or EDITOR where winnow runs")
	}
	text := m.input.draft.Text()
	return func() tea.Msg {
		path, err := terminal.EditorFile(text)
		return editorFileMsg{path, err}
	}
}

// onEditorFile runs the editor in the terminal.
func (m *Model) onEditorFile(msg editorFileMsg) tea.Cmd {
	if msg.err != nil {
		return m.fail(msg.err)
	}
	return tea.ExecProcess(m.opts.Editor(msg.path), func(err error) tea.Msg {
		defer os.Remove(msg.path) // a temporary file that cannot be removed does no harm
		var text []byte
		if err == nil {
			text, err = os.ReadFile(msg.path)
		}
		return editedMsg{string(text), err}
	})
}

// onEdited puts the edited text into the box.
func (m *Model) onEdited(msg editedMsg) tea.Cmd {
	if msg.err != nil {
		return m.fail(msg.err)
	}
	m.setMode(keymap.Input)
	m.input.draft.Set(strings.TrimRight(msg.text, "\r\n")) // editors end a file with a line break
	return m.carryOut(m.input.draftChanged())
}
