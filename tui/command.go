package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"winnow/assistant/filter"
	"winnow/assistant/history"
	"winnow/assistant/workspace"
	"winnow/tui/textline"
	"winnow/tui/textwidth"
)

// commandLine is COMMAND: the line that filters the conversation or carries a
// :command out on the pairs it selects.
type commandLine struct {
	*shared
	line      textLine
	saved     map[string]string // filters by name, for completion
	undoStack [][]int64         // the pairs of commands that can be undone, the newest last
}

// completions is the list above the filter line: what can stand at its cursor.
// The zero value is closed.
type completions struct {
	list []filter.Completion
	at   int             // which of them stands in the line; -1 is none yet
	line textline.Editor // as it was typed
}

// completionsSeen is how many of them one sees at once.
const completionsSeen = 8

func (o *completions) open() bool { return len(o.list) > 0 }

// changed says what the line would leave, or what is wrong with it.
func (l *commandLine) changed([]string) tea.Cmd {
	text := l.line.Text()
	l.line.offers = completions{}
	if _, err := filter.Parse(text); err != nil {
		l.line.fail(err)
		return nil
	}
	if l.opts.History == nil {
		l.line.setHint("")
		return nil
	}
	l.line.wrong, l.line.column = false, 0 // the number stays until the new one is known
	return countFilter(l.work, text)
}

func (l *commandLine) onCount(msg filterCountedMsg) tea.Cmd {
	if msg.line != l.line.Text() || l.mode != modeCommand || l.line.wrong {
		return nil // the answer to a line that is not there any more, or that was applied since and failed
	}
	if msg.err != nil {
		l.line.fail(msg.err)
	} else {
		l.line.setHint(pairsCounted(msg.count))
	}
	return nil
}

// walk goes through the lines that worked, or through the list that is open.
func (l *commandLine) walk(step int, topics []string) tea.Cmd {
	switch {
	case l.line.offers.open():
		return l.complete(step, topics)
	case !l.line.walk(step):
		return nil
	}
	return l.changed(topics)
}

// complete opens the list and takes an entry; called again it goes on to the
// next, or back.
func (l *commandLine) complete(step int, topics []string) tea.Cmd {
	if !l.line.offers.open() && !l.offer(topics) {
		return nil
	}
	o := &l.line.offers
	switch n := len(o.list); {
	case o.at < 0 && step < 0:
		o.at = n - 1
	default:
		o.at = (o.at + step + n) % n
	}
	open := *o
	c := o.list[o.at]
	l.line.Editor = o.line
	l.line.Replace(c.From, c.To, c.Text)
	cmd := l.changed(topics)
	if len(open.list) > 1 {
		l.line.offers = open
	}
	return cmd
}

// offer opens the list without taking anything; it reports whether there is one.
func (l *commandLine) offer(topics []string) bool {
	from := filter.Sources{Topics: topics}
	for _, info := range l.session.Registry().Models() {
		from.Models = append(from.Models, info.ID)
	}
	for name := range l.saved {
		from.Saved = append(from.Saved, name)
	}
	slices.Sort(from.Saved)
	list := filter.Complete(l.line.Text(), l.line.Cursor(), from)
	if len(list) == 0 {
		return false
	}
	l.line.offers = completions{list: list, at: -1, line: l.line.Editor}
	return true
}

// closeOffers takes the list away and gives back what was typed.
func (l *commandLine) closeOffers(topics []string) tea.Cmd {
	l.line.Editor = l.line.offers.line
	return l.changed(topics)
}

// rows are the lines above the filter line: what can stand in it, and what is
// wrong with it or what its command takes.
func (l *commandLine) rows(w, h int) []string {
	var rows []string
	word, tone := l.line.hint, l.styles.Footer.Bad
	if !l.line.wrong {
		word, tone = l.usage(), l.styles.Footer.Notice
	}
	if word != "" {
		for _, text := range textwidth.Wrap(oneLine(word), w-2) {
			rows = append(rows, tone.Render(" "+text+strings.Repeat(" ", max(0, w-1-ansi.StringWidth(text)))))
		}
	}
	rows = rows[:min(len(rows), h)]
	if o := l.line.offers; o.open() && h-len(rows) > listFrame {
		lines := make([]listLine, len(o.list))
		for i, c := range o.list {
			lines[i] = listLine{oneLine(c.Label), c.Help}
		}
		rows = append(listBox(lines, o.at, min(completionsSeen, h-len(rows)-listFrame), w, l.styles), rows...)
	}
	return rows
}

// usage says what the command of the line takes and what it would do; "" for a
// line without one.
func (l *commandLine) usage() string {
	q, err := filter.Parse(l.line.Text())
	if err != nil || q.Command == nil {
		return ""
	}
	text := filter.Usage(q.Command.Verb)
	if q.Command.Verb == filter.Export && q.Command.Path == "" {
		text += " · without a path: " + history.ExportPath(l.session.Topic(), q.Command.Format, l.now())
	}
	return text
}

// onCommandLine is the action of the filter line.
func onCommandLine(do func(*commandLine, int, []string) tea.Cmd, step int) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd { return do(&m.command, step, m.pickers.topics) }
}

// openCommand opens the filter line with a text.
func (m *Model) openCommand(text string) tea.Cmd {
	m.setMode(modeCommand)
	m.command.line.open(text)
	return m.command.changed(m.pickers.topics)
}

func (m *Model) toCommand() tea.Cmd { return m.openCommand(m.session.Filter()) }

// commandOnShown is the action that opens the filter line with a command on the
// pairs that are shown, and the list of what it takes.
func commandOnShown(command string) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		line := m.session.Filter()
		if line != "" {
			line += " "
		}
		cmd := m.openCommand(line + command)
		if strings.HasSuffix(command, " ") || command == ":" {
			m.command.offer(m.pickers.topics)
		}
		return cmd
	}
}

// lineAgain opens the filter line with one that did not work, and says why.
func (m *Model) lineAgain(line string, err error) tea.Cmd {
	if m.mode != modeView || m.overlay.Open() {
		return m.fail(err) // the user has gone on to something else
	}
	m.setMode(modeCommand)
	m.command.line.open(line)
	m.command.line.fail(err)
	return nil
}

// applyLine applies the line; an error keeps it and applies nothing.
func (m *Model) applyLine() tea.Cmd {
	line := strings.TrimSpace(m.command.line.Text())
	q, err := filter.Parse(line)
	if err != nil {
		m.command.line.offers = completions{}
		m.command.line.fail(err)
		return nil
	}
	m.setMode(modeView)
	m.notice.clear()
	return m.runQuery(q, line)
}

// runLine carries a line out as if it had been typed.
func (m *Model) runLine(line string) tea.Cmd {
	q, err := filter.Parse(line)
	if err != nil {
		return m.fail(err)
	}
	m.setMode(modeView)
	return m.runQuery(q, line)
}

// runQuery filters, or prepares the command of a line.
func (m *Model) runQuery(q *filter.Query, line string) tea.Cmd {
	switch {
	case m.opts.History == nil:
		return m.fail(workspace.ErrNoHistory)
	case q.Command != nil:
		return planCommand(m.work, line)
	}
	return setFilter(m.work, line)
}
