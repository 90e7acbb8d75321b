package tui

import (
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"winnow/assistant"
	"winnow/assistant/filter"
	"winnow/assistant/history/transfer"
	"winnow/tui/keymap"
	"winnow/tui/overlay"
	"winnow/tui/status"
	"winnow/tui/style"
	"winnow/tui/textline"
	"winnow/tui/usecase"
)

// commandLine is COMMAND: the line that filters the conversation or executes a
// :command on the pairs it selects.
type commandLine struct {
	keys   *keymap.Map
	line   status.InputLine
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

// changed shows what is wrong with the line, or asks how many pairs it selects.
func (l *commandLine) changed() intent {
	text := l.line.Text()
	l.offers = lineCompletions{}
	if _, err := filter.Parse(text); err != nil {
		l.line.Fail(err)
		return nil
	}
	l.line.Wrong, l.line.Column = false, 0 // the number stays until the new one is known
	return countPairs{text}
}

// edit gives the line an action of the mode Editing, or with "" what was typed or pasted.
func (l *commandLine) edit(a keymap.Action, text string) intent {
	if l.line.Edit(a, text) {
		return l.changed()
	}
	return nil
}

// escape closes the list, or else clears the line; empty reports that there is neither.
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
		return "no message"
	}
	return assistant.Counted(n, "message")
}

// walk steps through the open list, or else through the lines that were applied.
func (l *commandLine) walk(step int) intent {
	switch {
	case l.offers.open():
		return l.take(step)
	case !l.line.Walk(step):
		return nil
	}
	return l.changed()
}

// complete opens the list of what names and the language offer, and takes an entry; called
// again it takes the next one, or the one before.
func (l *commandLine) complete(step int, names filter.Sources) intent {
	if !l.offers.open() && !l.offer(names) {
		return nil
	}
	return l.take(step)
}

// take takes another entry of the open list.
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

// offer opens the list without taking anything; it reports whether there is one.
func (l *commandLine) offer(names filter.Sources) bool {
	list := filter.Complete(l.line.Text(), l.line.Cursor(), names)
	if len(list) == 0 {
		return false
	}
	l.offers = lineCompletions{list: list, at: -1, line: l.line.Editor}
	return true
}

// View draws the lines above the filter line: the completions, and below them what is
// wrong with the line, the usage of its command, or what its single letters match, and
// what escape does. topic is that of new messages.
func (l *commandLine) View(w, h int, topic string, now time.Time, st style.Styles) (rows []string) {
	text, tone := l.line.Hint, st.Footer.Bad
	if !l.line.Wrong {
		text, tone = l.usage(topic, now), st.Footer.Notice
	}
	lines := style.Wrap(oneLine(text), w-2)
	escape := "%s clears"
	switch {
	case l.offers.open():
		escape = "%s closes"
	case l.line.Empty():
		escape = "%s leaves"
	}
	escape = l.keys.Clause(keymap.Command, escape, keymap.Escape)
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
	return append(overlay.List(entries, l.offers.at, room, w, st), rows...)
}

// letterMeanings is what a term of one letter matches, and what an empty line does.
var letterMeanings = map[string]string{
	"x": "x: this session", "t": "t: the selected topic", "m": "m: the selected model", "o": "o: messages that are sent", "u": "u: your own messages",
	"b": "b: flagged", "g": "g: not flagged", "e": "e: ended in an error", "i": "i: has attachments", "": "empty: all sessions",
}

// usage is the usage of the command of the line, and without one what its terms of one
// letter match.
func (l *commandLine) usage(topic string, now time.Time) string {
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
		text += " · without a path: " + transfer.ExportPath(topic, q.Command.Format, now)
	}
	return text
}
