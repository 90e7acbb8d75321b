package rules

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"winnow/adapters/modelfilter"
	"winnow/assistant"
)

// note is a line of the foot. Where there is no room for all, those with the
// highest rank give way.
type note struct {
	rank int
	text string // exactly as wide as the pane
	para *para  // what the line is one of; nil when it stands alone
}

// para is a text of several lines.
type para struct {
	text  string
	short string // without the name that the row shows, for one line; "" is text
	st    ink
}

// in is the text in at most n lines of w cells.
func (t *para) in(w, n int, ellipsis string) []string {
	text := t.text
	if n == 1 && t.short != "" && ansi.StringWidth(text) > w {
		text = t.short
	}
	return wrap(text, w, n, ellipsis)
}

// foot is what stands below the list: at most half of the pane, and the line
// that is typed in any case. What is said of the row under the cursor grows into
// the lines that the list leaves empty; a long list loses none to it.
func (p *Pane) foot(w, h int) []string {
	if h <= 1 && p.line.what == lineNone {
		return nil
	}
	empty := h - len(p.views[p.tab].rows)
	most := max(h/2, h-rowsWanted, min(footWanted, empty), 1)
	if p.line.what != lineNone {
		return p.lay(p.typingNotes(w, h), w, most)
	}
	least := max(1, h/8)
	now := min(len(p.restNotes(w, least, least)), most)
	return p.lay(p.restNotes(w, least, h), w, max(now, min(empty, most, max(h/2, footWanted))))
}

// footWanted is how many lines the foot may take of those that the list of a
// low pane leaves empty.
const footWanted = 6

// lay lays notes into at most n lines. A text that loses lines ends with the
// sign of that.
func (p *Pane) lay(notes []note, w, n int) []string {
	for len(notes) > n {
		worst := 0
		for i, n := range notes {
			if n.rank >= notes[worst].rank {
				worst = i
			}
		}
		notes = append(notes[:worst], notes[worst+1:]...)
	}
	left := map[*para]int{}
	for _, n := range notes {
		left[n.para]++
	}
	paras := map[*para][]string{}
	lines := make([]string, len(notes))
	for i, n := range notes {
		lines[i] = n.text
		if n.para == nil {
			continue
		}
		if paras[n.para] == nil {
			paras[n.para] = n.para.in(w-1, left[n.para], p.st.Icons.Ellipsis)
		}
		lines[i], paras[n.para] = n.para.st.on(" "+paras[n.para][0]), paras[n.para][1:]
	}
	return lines
}

// rowsWanted is how many rows the list keeps before the foot may take more than
// half of the pane.
const rowsWanted = 12

// separator is the line across above the foot.
func (p *Pane) separator(rank, w int) note {
	return note{rank: rank, text: p.paint.Line.on(strings.Repeat(p.st.Icons.Rule, w))}
}

// one is a note of one line.
func (p *Pane) one(rank, w int, st ink, text string) note {
	return note{rank: rank, text: st.on(fit(text, w, p.st.Icons.Ellipsis))}
}

// several are notes of a text that is wrapped into at most n lines; the first
// line has the rank, the others give way before it.
func (p *Pane) several(rank, w, n int, st ink, text string) []note {
	return paraNotes(rank, w, n, &para{text: text, st: st})
}

func paraNotes(rank, w, n int, whole *para) []note {
	out := make([]note, len(wrap(whole.text, w-1, n, "")))
	for i := range out {
		out[i] = note{rank: rank + i, para: whole}
	}
	return out
}

// Ranks of what gives way first in the foot while nothing is typed.
const (
	rankMore   = 9  // what is said of the row beyond the lines it always has, and the line across
	rankSource = 10 // where the models come from
)

// restNotes are the foot while nothing is typed. What is said of the row under
// the cursor always has least lines, and more where the list leaves them.
func (p *Pane) restNotes(w, least, most int) []note {
	d, st, icons := &p.data, &p.paint, &p.st.Icons
	notes := []note{p.separator(rankMore, w)}
	if d.locked {
		notes = append(notes, p.one(1, w, st.Warn, " "+icons.Lock+" "+modelfilter.ErrLocked.Error()))
	}
	if n := len(p.marked); n > 0 {
		notes = append(notes, p.one(3, w, st.Pending, fmt.Sprintf(" %s %d selected · %s", icons.Ticked, n, p.markedHint())))
	}
	if p.query != "" {
		notes = append(notes, p.one(4, w, st.Text, fmt.Sprintf(" / %s · %s", shown(p.query), p.hits())))
	}
	whole, short := p.aboutRow()
	about := paraNotes(5, w, most, &para{text: whole, short: short, st: st.Muted})
	for i := range about {
		if i >= least {
			about[i].rank = rankMore
		}
	}
	notes = append(append(notes, about...), note{rank: 0, text: p.bar(w)})
	notes = append(notes, p.warnings(w)...)
	return append(notes, p.one(rankSource, w, st.Muted, " "+p.sourceWords(w-1)))
}

func (p *Pane) markedHint() string {
	if p.tab == tabRules {
		return "x deletes them"
	}
	return "i hides, w keeps them"
}

// hits says how many rows the search left.
func (p *Pane) hits() string {
	n := p.views[p.tab].hits
	if p.tab == tabModels {
		return fmt.Sprintf("%d of %s", n, assistant.Counted(len(p.data.models), "model"))
	}
	return assistant.Counted(n, "rule")
}

// barCells is how wide the bar of the share is where there is room; with less
// than a third of it the numbers say more.
const barCells = 12

// bar is the share of models that is available, with the numbers.
func (p *Pane) bar(w int) string {
	c, st, icons := p.data.counts, &p.paint, &p.st.Icons
	if c.Total == 0 {
		return st.Muted.on(fit(" no models known", w, icons.Ellipsis))
	}
	short := fmt.Sprintf("%d of %d available", c.Available, c.Total)
	text := short
	if c.Hidden > 0 {
		text += fmt.Sprintf(" · %d hidden", c.Hidden)
	}
	cells := min(barCells, w-ansi.StringWidth(text)-2)
	if cells < barCells/3 {
		return st.Count.on(fit(" "+longest(w-1, text, short), w, icons.Ellipsis))
	}
	full := c.Available * cells / c.Total
	switch { // one model is seen, on either side
	case full == 0 && c.Available > 0:
		full = 1
	case full == cells && c.Hidden > 0:
		full = cells - 1
	}
	return spread(w, fit, icons.Ellipsis, []piece{
		{" ", st.Text},
		{strings.Repeat(icons.BarFull, full), st.BarAvailable},
		{strings.Repeat(icons.BarEmpty, cells-full), st.BarHidden},
		{" " + text, st.Count},
	}, nil)
}

// warnings are what the user should not overlook.
func (p *Pane) warnings(w int) []note {
	d, st, icons := &p.data, &p.paint, &p.st.Icons
	var notes []note
	if p.inbox.theirs() != nil {
		notes = append(notes, p.one(2, w, st.Warn, " "+icons.Warn+" "+shown(base(d.file))+" was changed by someone else · D"))
	}
	if drift := p.inbox.driftOf(d.provider); drift.Any() {
		notes = append(notes, p.one(6, w, st.Warn, fmt.Sprintf(" %s proxy serves others: %d missing, %d extra · restart it",
			icons.Warn, len(drift.Missing), len(drift.Extra))))
	}
	if n := d.counts.Unfiltered; n > 0 {
		notes = append(notes, p.one(6, w, st.Warn, fmt.Sprintf(" %s %s not filtered: not %s/…", icons.Warn, assistant.Counted(n, "model"), shown(d.provider))))
	}
	if d.source.Err != "" {
		notes = append(notes, p.one(7, w, st.Warn, " "+icons.Warn+" "+shown(d.source.Err)))
	}
	if n := d.counts.New; n > 0 && p.tab != tabModels {
		notes = append(notes, p.one(8, w, st.Pending, fmt.Sprintf(" %s %s · ] shows them", icons.New, assistant.Counted(n, "new model"))))
	}
	return notes
}

// sourceBuiltIn is where models come from when nobody could be asked.
const sourceBuiltIn = "catalogue"

// sourceNames say where models come from.
var sourceNames = map[string]string{
	"live": "from the provider", "proxy": "from the proxy", "cache": "as they were", sourceBuiltIn: "of the built-in list",
}

// sourceWords say in w cells where the list of models comes from.
func (p *Pane) sourceWords(w int) string {
	s := p.data.source
	from := sourceNames[s.Source]
	if from == "" {
		return "ctrl+r asks for the models"
	}
	words := from
	if !s.At.IsZero() {
		words += " " + s.At.Local().Format("2006-01-02 15:04")
	}
	if s.Partial {
		words += ", maybe not all"
	}
	return longest(w, "models "+words, words)
}
