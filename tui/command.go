package tui

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"winnow/assistant"
	"winnow/assistant/filter"
	"winnow/assistant/history/transfer"
	"winnow/assistant/workspace"
	"winnow/tui/footerline"
	"winnow/tui/keymap"
	"winnow/tui/overlay"
	"winnow/tui/textline"
	"winnow/tui/textwidth"
	"winnow/tui/usecase"
)

// commandLine is COMMAND: the line that filters the conversation or executes a
// :command on the pairs it selects.
type commandLine struct {
	*shared
	line   footerline.Line
	offers lineCompletions
}

// lineCompletions is the list above the filter line: what can be inserted at its
// cursor. The zero value is closed.
type lineCompletions struct {
	list []filter.Completion
	at   int             // index of the one in the line; -1: none yet
	line textline.Editor // as it was typed
}

// maxCompletions is how many entries of a list above a text are on the screen at once.
const maxCompletions = 8

func (o *lineCompletions) open() bool { return len(o.list) > 0 }

// changed shows how many pairs the line selects, or what is wrong with it.
func (l *commandLine) changed() tea.Cmd {
	text := l.line.Text()
	l.offers = lineCompletions{}
	if _, err := filter.Parse(text); err != nil {
		l.line.Fail(err)
		return nil
	}
	if !l.commands.Stores() {
		l.line.SetHint("")
		return nil
	}
	l.line.Wrong, l.line.Column = false, 0 // the number stays until the new one is known
	return l.commands.CountFilter(l.query(), text)
}

// onCounted shows how many pairs the line selects, unless it has changed since, or was
// applied and refused.
func (l *commandLine) onCounted(o usecase.Counted) {
	switch {
	case o.Line != l.line.Text() || l.line.Wrong:
	case o.Err != nil:
		l.line.Fail(o.Err)
	default:
		l.line.SetHint(pairsCounted(o.N))
	}
}

// pairsCounted formats a number of pairs.
func pairsCounted(n int) string {
	if n == 0 {
		return "no pair"
	}
	return assistant.Counted(n, "pair")
}

// onCommandLine is an action of the filter line.
func onCommandLine(do func(*commandLine, int) tea.Cmd, step int) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd { return do(&m.command, step) }
}

// walk steps through the open list, or else through the lines that were applied.
func (l *commandLine) walk(step int) tea.Cmd {
	switch {
	case l.offers.open():
		return l.complete(step)
	case !l.line.Walk(step):
		return nil
	}
	return l.changed()
}

// complete opens the list and takes an entry; called again it takes the next one,
// or the one before.
func (l *commandLine) complete(step int) tea.Cmd {
	if !l.offers.open() && !l.offer() {
		return nil
	}
	o := l.offers
	n := len(o.list)
	if o.at < 0 && step < 0 {
		o.at = n
	}
	o.at = (o.at + step + n) % n
	c := o.list[o.at]
	l.line.Editor = o.line
	l.line.Replace(c.From, c.To, c.Text)
	cmd := l.changed()
	if n > 1 {
		l.offers = o
	}
	return cmd
}

// offer opens the list without taking anything; it reports whether there is one.
func (l *commandLine) offer() bool {
	list := filter.Complete(l.line.Text(), l.line.Cursor(), l.names())
	if len(list) == 0 {
		return false
	}
	l.offers = lineCompletions{list: list, at: -1, line: l.line.Editor}
	return true
}

// names are what completion offers.
func (s *shared) names() filter.Sources {
	from := s.stored
	for _, info := range s.commands.Models().Models() {
		from.Models = append(from.Models, info.ID)
	}
	return from
}

// rows are the lines above the filter line: the completions, and below them what is
// wrong with the line, the usage of its command, or what its single letters match, and
// what escape does.
func (l *commandLine) rows(w, h int) (rows []string) {
	text, tone := l.line.Hint, l.styles.Footer.Bad
	if !l.line.Wrong {
		text, tone = l.usage(), l.styles.Footer.Notice
	}
	lines := textwidth.Wrap(oneLine(text), w-2)
	escape := "%s clears"
	switch {
	case l.offers.open():
		escape = "%s closes"
	case l.line.Empty():
		escape = "%s leaves"
	}
	escape = l.hint(escape, keymap.Escape)
	if last := len(lines) - 1; escape != "" && lines[last] != "" && ansi.StringWidth(lines[last]+" · "+escape) <= w-2 {
		lines[last] += " · " + escape
	} else {
		lines = append([]string{escape}, lines...)
	}
	for _, line := range lines {
		if line != "" {
			rows = append(rows, tone.Render(" "+line+strings.Repeat(" ", max(0, w-1-ansi.StringWidth(line)))))
		}
	}
	rows = rows[:min(len(rows), h)]
	entries := make([]overlay.Entry, len(l.offers.list))
	for i, c := range l.offers.list {
		entries[i] = overlay.Entry{Text: c.Label, Extra: c.Help}
	}
	room := min(maxCompletions, h-len(rows)-overlay.ListFrame)
	return append(overlay.List(entries, l.offers.at, room, w, l.styles), rows...)
}

// letterMeanings is what a term of one letter matches, and what an empty line does.
var letterMeanings = map[string]string{
	"x": "x: this session", "t": "t: the selected topic", "m": "m: the selected model", "o": "o: pairs that are sent", "u": "u: your own pairs",
	"b": "b: flagged", "g": "g: not flagged", "e": "e: ended in an error", "i": "i: has attachments", "": "empty: all sessions",
}

// usage is the usage of the command of the line, and without one what its terms of one
// letter match.
func (l *commandLine) usage() string {
	q, err := filter.Parse(l.line.Text())
	if err != nil {
		return ""
	}
	if q.Command == nil {
		var texts, words []string
		filter.Walk(q.Expr, func(x filter.Expr) {
			if word, ok := x.(filter.Word); ok {
				words = append(words, word.Text)
			}
			if text, ok := letterMeanings[filter.PrintExpr(x)]; ok && !slices.Contains(texts, text) {
				texts = append(texts, text)
			}
		})
		if words != nil {
			texts = append(texts, "words: "+strings.Join(words, ", "))
		}
		if _, all := q.Expr.(filter.SessionCurrent); all || q.Expr == nil {
			texts = append(texts, letterMeanings[""])
		}
		return strings.Join(texts, " · ")
	}
	text := filter.Usage(q.Command.Verb)
	if q.Command.Verb == filter.Export && q.Command.Path == "" {
		text += " · without a path: " + transfer.ExportPath(l.topic(), q.Command.Format, l.now())
	}
	return text
}

// openCommand opens the filter line with a text.
func (m *Model) openCommand(text string) tea.Cmd {
	m.setMode(keymap.Command)
	m.command.line.Open(text)
	return m.command.changed()
}

// openFilter opens the filter line with the line of the view and a blank, so that a word
// that is typed next stays a word: x and mini are not xmini.
func (m *Model) openFilter(command string) tea.Cmd {
	return m.openCommand(strings.TrimLeft(m.filterLine()+" ", " ") + command)
}

// commandOnShown is the action that opens the filter line with a command for the
// shown pairs, and the completions of its argument.
func commandOnShown(command string) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		cmd := m.openFilter(command)
		if strings.HasSuffix(command, " ") || command == ":" {
			m.command.offer()
		}
		return cmd
	}
}

// applyLine applies the line; on an error the line stays and nothing is applied.
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

// runLine applies a line as if it had been typed: it filters, or plans a command.
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
		return m.fail(errors.New("pairs are not exported to files of the server"))
	case q.Command != nil:
		return m.act(func(request int64) tea.Cmd { return m.commands.PlanCommand(request, line) })
	}
	m.command.line.Remember(line)
	return m.act(func(request int64) tea.Cmd { return m.commands.SetFilter(request, line) })
}

// reopenLine opens the filter line with a line that was refused, and shows why.
func (m *Model) reopenLine(line string, err error) tea.Cmd {
	if m.mode != keymap.View || m.overlay.Open() {
		return m.fail(err) // the user has turned to something else
	}
	m.setMode(keymap.Command)
	m.command.line.Open(line)
	m.command.line.Fail(err)
	return nil
}

// onFiltered shows the pairs that a line selects.
func (m *Model) onFiltered(o usecase.Filtered) tea.Cmd {
	if o.Err != nil {
		return m.reopenLine(o.Line, o.Err)
	}
	refs := o.Result.Refs
	for _, r := range refs[max(0, len(refs)-2):] {
		m.conv.chat.SetNotInFilter(r.Seq, false) // the line shows it after all
	}
	m.conv.chat.Bottom()
	text := pairsCounted(len(refs))
	if o.Line == "" {
		text += " · all sessions"
	}
	for _, hint := range o.Result.Hints {
		text += " · " + hint.String()
	}
	m.notice.Info(text)
	return m.conv.loadMissing()
}

// onCommandPlanned executes a planned command. It asks first when the command changes
// many pairs, or deletes for good. An export changes nothing and may take long: it holds up
// no key.
func (m *Model) onCommandPlanned(o usecase.CommandPlanned) tea.Cmd {
	if o.Err != nil {
		return m.reopenLine(o.Line, o.Err)
	}
	c := o.Command
	do := func() tea.Cmd {
		if c.Verb == filter.Export {
			return m.commands.Execute(m.query(), o)
		}
		return m.act(func(request int64) tea.Cmd { return m.commands.Execute(request, o) })
	}
	yes, what := string(c.Verb), oneLine(c.Describe())
	if c.Verb == filter.SetTopic {
		yes = "move"
	}
	title, lines := assistant.UpperFirst(what), []string(nil)
	switch c.Confirm() {
	case transfer.ConfirmNewTopic:
		title, lines = "There is no topic "+oneLine(c.Topic)+". Create it?", []string{title + "."}
	case transfer.ConfirmDelete:
		title += " for good?"
	case transfer.ConfirmMany:
		title += "?"
	default:
		return do()
	}
	return m.ask(title, lines, yes, "don't "+yes, do)
}

// onExecuted shows what a command has done, and the pairs as they are now.
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
	return m.conv.showMarks()
}

// undoCommand undoes the newest command on pairs.
func (c *conversation) undoCommand() tea.Cmd { return c.act(c.commands.UndoCommand) }

// onCommandUndone shows what was undone.
func (c *conversation) onCommandUndone(o usecase.CommandUndone) tea.Cmd {
	switch {
	case o.Nothing:
		return c.info("there is no :command to undo")
	case o.Err != nil && o.Outcome.Text == "":
		return c.fail(o.Err)
	}
	c.notice.Info("undone: " + o.Outcome.Text)
	c.failView(o.Err)
	return c.showMarks()
}

// showMarks shows the marks of pairs as they are now, and the pairs that the active
// filter selects, which the workspace has evaluated again.
func (c *conversation) showMarks() tea.Cmd {
	return tea.Batch(c.loadNames(), c.load(c.chat.Loaded()...))
}

// openFilters lists the saved filters, to apply or to delete one.
func (m *Model) openFilters(all []transfer.SavedFilter) tea.Cmd {
	entries := make([]overlay.Entry, len(all))
	for i, f := range all {
		entries[i] = overlay.Entry{Value: f.Name, Text: "@" + f.Name, Extra: f.Line}
	}
	p := overlay.NewPicker("Saved filters", entries, 0).Offer(keymap.FilterList,
		keymap.To("shows its pairs", keymap.LineAccept), keymap.To("deletes it", keymap.ForgetFilter))
	return m.open(overlay.Filters, p, func(c overlay.Chosen) tea.Cmd {
		if c.Action == keymap.ForgetFilter {
			return m.runLine(":forget " + c.Value)
		}
		return m.runLine("@" + c.Value)
	})
}
