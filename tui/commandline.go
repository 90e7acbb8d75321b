package tui

import (
	"strings"
	"time"

	"winnow/assistant"
	"winnow/assistant/filter"
	"winnow/assistant/history/transfer"
	"winnow/assistant/safetext"
	"winnow/tui/keymap"
	"winnow/tui/overlay"
	"winnow/tui/pane"
	"winnow/tui/status"
	"winnow/tui/style"
	"winnow/tui/usecase"
)

// commandLine is the state of COMMAND mode: the line that filters the conversation or
// executes a :command on the selected pairs.
type commandLine struct {
	keys    *keymap.Map
	line    status.InputLine
	offers  lineCompletions
	hasHelp bool // the help has a page about the filter language
}

// lineCompletions is the list above the filter line. Its entries can be inserted at the
// cursor of the line. The zero value is closed.
type lineCompletions struct {
	list []filter.Completion
	at   int            // index of the entry that is inserted in the line; -1 if none
	line overlay.Editor // the line as the user typed it
}

// maxCompletions is how many entries of a completion list are visible at once.
const maxCompletions = 8

func (o *lineCompletions) open() bool { return len(o.list) > 0 }

// changed closes the list of completions, and shows what is wrong with the line or counts the
// pairs that the line selects.
func (l *commandLine) changed() intent {
	text := l.line.Text()
	l.offers = lineCompletions{}
	if _, err := filter.Parse(text); err != nil {
		l.line.Fail(err)
		return nil
	}
	l.line.Wrong, l.line.Column = false, 0 // the old count stays visible until the new count is known
	return countPairs{text}
}

// edit performs an action of the mode Editing on the line, or inserts typed or pasted text
// if a is "".
func (l *commandLine) edit(a keymap.Action, text string) intent {
	if l.line.Edit(a, text) {
		return l.changed()
	}
	return nil
}

// escape closes the list of completions and restores the line as the user typed it. If no
// list is open, it clears the line. empty reports that no list was open and the line was
// already empty.
func (l *commandLine) escape() (do intent, empty bool) {
	switch {
	case l.offers.open():
		l.line.Editor = l.offers.line
	case !l.line.Empty():
		l.line.Clear()
	default:
		return nil, true
	}
	return l.changed(), false
}

// onCounted shows how many pairs the line selects, or why they cannot be counted. It does
// nothing if the line is already marked as wrong or has changed in the meantime.
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
func pairsCounted(n int) safetext.Text {
	if n == 0 {
		return "no messages"
	}
	return safetext.Sprintf("%s", assistant.Counted(n, "message"))
}

// walk moves through the open list of completions or, if no list is open, through earlier
// lines.
func (l *commandLine) walk(step int) intent {
	switch {
	case l.offers.open():
		return l.take(step)
	case !l.line.Walk(step):
		return nil
	}
	return l.changed()
}

// complete opens the list of completions from names and the filter language, and inserts an
// entry. Further calls insert the next or previous entry.
func (l *commandLine) complete(step int, names filter.Sources) intent {
	if !l.offers.open() && !l.offer(names) {
		return nil
	}
	return l.take(step)
}

// take replaces the inserted entry with the next entry of the open list or, if step is
// negative, with the previous one. A list of one entry then closes.
func (l *commandLine) take(step int) intent {
	o := l.offers
	n := len(o.list)
	if o.at < 0 && step < 0 {
		o.at = n
	}
	o.at = (o.at + step + n) % n
	c := o.list[o.at]
	l.line.Editor = o.line
	l.line.Replace(c.From, c.To, c.Text)
	do := l.changed()
	if n > 1 {
		l.offers = o
	}
	return do
}

// offer opens the list without inserting an entry. It reports whether there are entries.
func (l *commandLine) offer(names filter.Sources) bool {
	list := filter.Complete(l.line.Text(), l.line.Cursor(), names)
	if len(list) == 0 {
		return false
	}
	l.offers = lineCompletions{list: list, at: -1, line: l.line.Editor}
	return true
}

// View draws the lines above the filter line: the completions and, below them, the error, the
// usage of the command or what the line selects, with what escape does. topic is the topic
// of new messages; the default file of an export is named after it.
func (l *commandLine) View(w, h int, topic string, now time.Time, st style.Styles) (rows []string) {
	text, tone := l.line.Hint, st.Footer.Bad
	if !l.line.Wrong {
		text, tone = oneLine(l.usage(topic, now)), st.Footer.Notice
	}
	lines := style.Wrap(string(text), w-2)
	format := "%s clears"
	switch {
	case l.offers.open():
		format = "%s closes"
	case l.line.Empty():
		format = "%s leaves"
	}
	escape := string(l.keys.Clause(keymap.Command, format, keymap.Escape))
	if l.hasHelp {
		escape = pane.Join(escape, string(l.keys.Clause(keymap.Command, "%s explains the language", keymap.Help)))
	}
	if last := len(lines) - 1; escape != "" && lines[last] != "" && style.Width(lines[last]+" · "+escape) <= w-2 {
		lines[last] += " · " + escape
	} else {
		lines = append([]string{escape}, lines...)
	}
	for _, line := range lines {
		if line != "" {
			rows = append(rows, tone.Render(" "+line+strings.Repeat(" ", max(0, w-1-style.Width(line)))))
		}
	}
	rows = rows[:min(len(rows), h)]
	entries := make([]overlay.Entry, len(l.offers.list))
	for i, c := range l.offers.list {
		entries[i] = overlay.Entry{Text: c.Label, Extra: c.Help}
	}
	room := min(maxCompletions, h-len(rows)-overlay.ListFrame)
	return append(overlay.List(entries, l.offers.at, room, w, st), rows...)
}

// usage returns the usage of the command in the line or, if the line has no command, says
// which messages the line selects.
func (l *commandLine) usage(topic string, now time.Time) string {
	q, err := filter.Parse(l.line.Text())
	if err != nil {
		return ""
	}
	if q.Command == nil {
		if _, all := q.Expr.(filter.SessionCurrent); all { // every session starts with this filter
			return "this session · empty: all sessions"
		}
		return filter.Describe(q.Expr)
	}
	text := filter.Usage(q.Command.Verb)
	if q.Command.Verb == filter.Export && q.Command.Path == "" {
		text += " · without a path: " + transfer.ExportPath(topic, q.Command.Format, now)
	}
	return text
}
