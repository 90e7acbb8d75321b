package tui

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant/filter"
	"winnow/assistant/history/transfer"
	"winnow/assistant/safetext"
	"winnow/assistant/workspace"
	"winnow/tui/keymap"
	"winnow/tui/overlay"
	"winnow/tui/usecase"
)

// walkLine returns the action that moves through the open list of completions or, if no
// list is open, through earlier lines.
func walkLine(step int) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd { return m.carryOut(m.command.walk(step)) }
}

// completeLine returns the action that opens the list of completions and inserts an entry.
func completeLine(step int) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd { return m.carryOut(m.command.complete(step, m.names())) }
}

// names returns the names that completion offers.
func (m *Model) names() filter.Sources {
	from := m.stored
	for _, info := range m.commands.Models().Models() {
		from.Models = append(from.Models, info.ID)
	}
	return from
}

// openCommand opens the filter line with a text.
func (m *Model) openCommand(text string) tea.Cmd {
	m.setMode(keymap.Command)
	m.command.line.Open(text)
	_, m.command.hasHelp = m.filterTopic()
	return m.carryOut(m.command.changed())
}

// filterTopic returns the help page about the filter language, if there is one.
func (m *Model) filterTopic() (keymap.HelpTopic, bool) {
	t, err := keymap.TopicNamed("filter", m.opts.Help)
	return t, err == nil
}

// openFilter opens the filter line with the active filter, a space and command. The space
// keeps the next word separate: "x mini", not "xmini".
func (m *Model) openFilter(command string) tea.Cmd {
	return m.openCommand(strings.TrimLeft(m.parts.filterLine()+" ", " ") + command)
}

// commandOnShown returns the action that opens the filter line with a command for the shown
// pairs. If a name or an argument must follow, the action also lists completions.
func commandOnShown(command string) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		cmd := m.openFilter(command)
		if strings.HasSuffix(command, " ") || command == ":" {
			m.command.offer(m.names())
		}
		return cmd
	}
}

// applyLine applies the filter line. If the line has an error, it stays in place and
// nothing is applied.
func (m *Model) applyLine() tea.Cmd {
	line := strings.TrimSpace(m.command.line.Text())
	m.command.offers = lineCompletions{}
	if _, err := filter.Parse(line); err != nil {
		m.command.line.Fail(err)
		return nil
	}
	m.notice.Clear()
	return m.runLine(line)
}

// runLine applies a line as if the user had typed it: it filters, or plans a command.
func (m *Model) runLine(line string) tea.Cmd {
	q, err := filter.Parse(line)
	if err != nil {
		return m.fail(err)
	}
	m.setMode(keymap.View)
	switch {
	case !m.commands.Stores():
		return m.fail(workspace.ErrNoHistory)
	case q.Command != nil && q.Command.Verb == filter.Export && m.opts.Files.None:
		return m.fail(errors.New("messages cannot be exported to files on the server"))
	case q.Command != nil:
		return m.acts.add(func(request int64) tea.Cmd { return m.commands.PlanCommand(request, line) })
	}
	m.command.line.Remember(line)
	return m.acts.add(func(request int64) tea.Cmd { return m.commands.SetFilter(request, line) })
}

// reopenLine opens the filter line with a rejected line and shows the error. If the user has
// left the conversation in the meantime, it only shows the error.
func (m *Model) reopenLine(line string, err error) tea.Cmd {
	if m.mode != keymap.View || m.overlay.Open() {
		return m.fail(err) // the user has left the filter line
	}
	m.setMode(keymap.Command)
	m.command.line.Open(line)
	m.command.line.Fail(err)
	return nil
}

// onFiltered shows the end of the filtered view and says how many pairs the line selects.
func (m *Model) onFiltered(o usecase.Filtered) tea.Cmd {
	if o.Err != nil {
		return m.reopenLine(o.Line, o.Err)
	}
	m.conv.chat.Bottom()
	text := pairsCounted(len(o.Result.Refs))
	if o.Line == "" {
		text += " · all sessions"
	}
	for _, hint := range o.Result.Hints {
		text += safetext.Sprintf(" · %v", hint)
	}
	m.notice.Info(text)
	return m.loadMissing()
}

// onCommandPlanned executes a planned command. It asks first if the command changes many
// pairs or deletes pairs permanently. An export changes no pairs and may take long, so keys
// do not wait for it.
func (m *Model) onCommandPlanned(o usecase.CommandPlanned) tea.Cmd {
	if o.Err != nil {
		return m.reopenLine(o.Line, o.Err)
	}
	c := o.Command
	do := func() tea.Cmd {
		if c.Verb == filter.Export {
			return m.commands.Execute(m.acts.query(), o)
		}
		return m.acts.add(func(request int64) tea.Cmd { return m.commands.Execute(request, o) })
	}
	title, lines := c.Question()
	if title == "" {
		return do()
	}
	yes := string(c.Verb)
	if c.Verb == filter.SetTopic {
		yes = "move"
	}
	return m.ask(title, lines, yes, "don't "+yes, do)
}

// onExecuted reports what a command did and shows the pairs in their new state.
func (m *Model) onExecuted(o usecase.Executed) tea.Cmd {
	out, err := o.Outcome, o.Err
	if errors.Is(err, fs.ErrExist) {
		err = fmt.Errorf("%w; --force overwrites it", err)
	}
	if err != nil && out.Text == "" {
		return m.reopenLine(o.Line, err)
	}
	notice := out.Text
	if out.CanUndo() {
		notice += m.hint(" · %s undoes it", keymap.UndoPairs)
	}
	m.notice.Info(notice)
	if err != nil {
		return m.failView(err)
	}
	m.command.line.Remember(o.Line)
	if len(out.Filters) > 0 {
		m.openFilters(out.Filters)
	}
	if o.Command.DryRun {
		return nil
	}
	return m.showMarks()
}

// undoCommand undoes the newest command on pairs.
func (m *Model) undoCommand() tea.Cmd { return m.acts.add(m.commands.UndoCommand) }

// onCommandUndone reports what was undone.
func (m *Model) onCommandUndone(o usecase.CommandUndone) tea.Cmd {
	switch {
	case o.Nothing:
		return m.info("there is no filter-line command, such as :star 2, to undo")
	case o.Err != nil && o.Outcome.Text == "":
		return m.fail(o.Err)
	}
	m.notice.Info("undone: " + o.Outcome.Text)
	m.failView(o.Err)
	return m.showMarks()
}

// showMarks reads the names and the loaded pairs again, because a command may have changed
// marks and topics.
func (m *Model) showMarks() tea.Cmd {
	return tea.Batch(m.loadNames(), m.load(m.conv.chat.Loaded()...))
}

// openFilters lists the saved filters; the user can apply or delete one.
func (m *Model) openFilters(all []transfer.SavedFilter) tea.Cmd {
	entries := make([]overlay.Entry, len(all))
	for i, f := range all {
		entries[i] = overlay.Entry{Value: f.Name, Text: "@" + f.Name, Extra: f.Line}
	}
	p := overlay.NewPicker("Saved filters", entries, 0).Offer(keymap.FilterList,
		keymap.To("shows its messages", keymap.LineAccept), keymap.To("deletes it", keymap.ForgetFilter))
	return m.open(overlay.Filters, p, func(c overlay.Chosen) tea.Cmd {
		if c.Action == keymap.ForgetFilter {
			return m.runLine(":forget " + c.Value)
		}
		return m.runLine("@" + c.Value)
	})
}
