package rules

import (
	"fmt"
	"strconv"
	"strings"

	"winnow/assistant"
	"winnow/tui/pane"
	"winnow/tui/style"
)

// Widths in cells from which a table has additional columns.
const (
	spelledFrom = 56 // the word after the number of unsaved changes
	savingFrom  = 72 // the effect of saving the unsaved changes
	allowedFrom = 92 // the number of models shown by an allow rule
)

// overviewTable draws numbers as lines of a table of W cells. The columns have no headings,
// because a heading would scroll away in a long list; a word follows each number instead.
type overviewTable struct {
	W     int
	Ink   styles
	Icons *style.Icons
}

// countColumn is a cell of a line: a number and its word, right-aligned in width cells.
type countColumn struct {
	number, word string
	ink          style.Style
	width        int
}

// Line returns the line of a provider with its numbers; name is drawn unchanged.
func (t overviewTable) Line(name string, n providerNumbers) []pane.Piece {
	lead, ink := "  ", t.Ink
	if n.Current {
		lead = signProvider.in(t.Icons) + " "
	}
	digits := 4 // the width of a number, including the gap before it
	if t.W >= spelledFrom {
		digits = 5
	}
	counted := func(count int, word string, ink style.Style) countColumn {
		return countColumn{strconv.Itoa(count), " " + word, ink, digits + len(" "+word)}
	}
	columns := []countColumn{counted(n.Counts.Shown, "shown", ink.BarShown), counted(n.Counts.Hidden, "hidden", ink.BarHidden)}
	if t.W >= allowedFrom {
		columns = append(columns, counted(n.Counts.Allowed, "allowed", ink.Text))
	}
	if word := n.word(t.Icons); word != "" {
		for i := range columns {
			columns[i].number, columns[i].word = "", ""
		}
		columns[1].word = word
	}
	return t.line(lead+name, append(columns, t.unsaved(n)...))
}

// unsaved returns the columns of the unsaved changes; they are empty if there are none.
func (t overviewTable) unsaved(n providerNumbers) []countColumn {
	changes := countColumn{ink: t.Ink.Pending, width: 4}
	saving := countColumn{ink: t.Ink.Pending, width: len(": hides 999, shows 999")}
	if t.W >= spelledFrom {
		changes.width = len("  999 unsaved") + 1
	}
	if n.Changes > 0 {
		changes.number = signChanges.in(t.Icons) + strconv.Itoa(n.Changes)
		if t.W >= spelledFrom {
			changes.word = " unsaved"
		}
		saving.number = style.Fit(": "+n.SavingText(), saving.width, t.Icons.Ellipsis)
	}
	if t.W < savingFrom {
		return []countColumn{changes}
	}
	return []countColumn{changes, saving}
}

// line returns a name and its columns.
func (t overviewTable) line(name string, columns []countColumn) []pane.Piece {
	room := t.W
	for _, c := range columns {
		room -= c.width
	}
	line := []pane.Piece{{Text: pane.FitName(name, max(0, room), t.Icons.Ellipsis), Style: t.Ink.Text}}
	for _, c := range columns {
		gap := strings.Repeat(" ", max(0, c.width-style.Width(c.number+c.word)))
		line = append(line, pane.Piece{Text: gap + c.number, Style: c.ink}, pane.Piece{Text: c.word, Style: t.Ink.Muted})
	}
	return line
}

// word returns the text that replaces the numbers while they are unknown; "" if they are
// known.
func (n providerNumbers) word(icons *style.Icons) string {
	switch {
	case n.Asking:
		return "asking" + icons.Ellipsis
	case !n.Read:
		return "loading" + icons.Ellipsis
	case n.Counts.Total == 0:
		return "unknown"
	}
	return ""
}

// SavingText describes in a few words the effect of saving the unsaved changes.
func (n providerNumbers) SavingText() string {
	hidden, shown := len(n.Effect.Hidden), len(n.Effect.Shown)
	switch {
	case !n.Effect.Known:
		return "no models are known"
	case hidden > 0 && shown > 0:
		return fmt.Sprintf("hides %d, shows %d", hidden, shown)
	case hidden > 0:
		return fmt.Sprintf("hides %d", hidden)
	case shown > 0:
		return fmt.Sprintf("shows %d", shown)
	}
	return "affects no model"
}

// Remarks returns what else a list of providers says about a provider: how many rules it
// has, whether the proxy has no key for it, and whether the environment decides its rules.
func (n providerNumbers) Remarks() string {
	var remarks [3]string
	if n.Rules > 0 {
		remarks[0] = assistant.Counted(n.Rules, "rule")
	}
	if !n.Key {
		remarks[1] = "no key"
	}
	if n.Fixed {
		remarks[2] = "environment"
	}
	return pane.Join(remarks[:]...)
}
