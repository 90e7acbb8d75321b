package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"winnow/assistant/filter"
	"winnow/assistant/history"
	"winnow/tui/textline"
	"winnow/tui/textwidth"
)

// offers is the list above the filter line: what can stand at its cursor. The
// zero value is closed.
type offers struct {
	list []filter.Completion
	at   int             // which of them stands in the line; -1 is none yet
	line textline.Editor // as it was typed
}

// offersSeen is how many offers one sees at once.
const offersSeen = 8

func (o *offers) open() bool { return len(o.list) > 0 }

// completeLine opens the list and takes its first entry; pressed again it goes
// on to the next.
func (m *Model) completeLine() tea.Cmd { return m.nextOffer(1) }

// completeBack goes the other way.
func (m *Model) completeBack() tea.Cmd { return m.nextOffer(-1) }

func (m *Model) nextOffer(step int) tea.Cmd {
	if !m.line.offers.open() && !m.offer() {
		return nil
	}
	o := &m.line.offers
	switch n := len(o.list); {
	case o.at < 0 && step < 0:
		o.at = n - 1
	default:
		o.at = (o.at + step + n) % n
	}
	kept := *o
	c := o.list[o.at]
	m.line.Editor = o.line
	m.line.Replace(c.From, c.To, c.Text)
	cmd := m.lineChanged()
	if len(kept.list) > 1 {
		m.line.offers = kept
	}
	return cmd
}

// offer opens the list without taking anything; it reports whether there is one.
func (m *Model) offer() bool {
	var models []string
	for _, info := range m.session.Registry().Models() {
		models = append(models, info.ID)
	}
	var saved []string
	for name := range m.names.saved {
		saved = append(saved, name)
	}
	slices.Sort(saved)
	list := filter.Complete(m.line.Text(), m.line.Cursor(), filter.Sources{Topics: m.names.topics, Models: models, Saved: saved})
	if len(list) == 0 {
		return false
	}
	m.line.offers = offers{list: list, at: -1, line: m.line.Editor}
	return true
}

// closeOffers takes the list away and gives back what was typed.
func (m *Model) closeOffers() tea.Cmd {
	m.line.Editor = m.line.offers.line
	return m.lineChanged()
}

// commandRows are the lines above the filter line: what can stand in it, and
// what is wrong with it or what its command takes.
func (m *Model) commandRows(w, h int) []string {
	var rows []string
	st, f := m.styles, m.styles.Footer
	word, tone := m.line.hint, f.Bad
	if !m.line.wrong {
		word, tone = m.usage(), f.Notice
	}
	if word != "" {
		for _, l := range textwidth.Wrap(oneLine(word), w-2) {
			rows = append(rows, tone.Render(" "+l+strings.Repeat(" ", max(0, w-1-ansi.StringWidth(l)))))
		}
	}
	rows = rows[:min(len(rows), h)]
	if o := m.line.offers; o.open() && h-len(rows) > listFrame {
		lines := make([]listLine, len(o.list))
		for i, c := range o.list {
			lines[i] = listLine{oneLine(c.Label), c.Help}
		}
		rows = append(listBox(lines, o.at, min(offersSeen, h-len(rows)-listFrame), w, st), rows...)
	}
	return rows
}

// usage says what the command of the line takes and what it would do; "" for a
// line without one.
func (m *Model) usage() string {
	q, err := filter.Parse(m.line.Text())
	if err != nil || q.Command == nil {
		return ""
	}
	text := filter.Usage(q.Command.Verb)
	if q.Command.Verb == filter.Export && q.Command.Path == "" {
		text += " · without a path: " + history.ExportPath(m.session.Topic(), q.Command.Format, m.now())
	}
	return text
}
