package overlay

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"winnow/assistant/safetext"
	"winnow/tui/style"
	"winnow/tui/textline"
	"winnow/tui/textwidth"
)

// Entry is a line of a Picker. Its texts may come from anybody: they are drawn
// with invisible characters spelled out.
type Entry struct {
	Value string // what is chosen
	Text  string // what is shown and searched
	Extra string // at the right edge, not searched
	More  string // a second line under the text, not searched; "" is none
	Group string // a heading above the first entry of the group; "" is none
	Mark  string // one cell before the text
}

const (
	maxNow      = 2_000 // entries that are searched within a key; more are searched off the update loop
	maxMeasured = 1_000 // entries that the width of a picker is measured from
	maxVisible  = 400   // bytes of a text that are drawn
	maxQuery    = 200   // cells of a query
)

// Picker is a list to choose from, searched while one types.
type Picker struct {
	title   string
	entries []Entry
	lower   []string // their texts in lower case
	query   textline.Editor
	matches matches
	pending bool // matches are those of an earlier query
	at      int  // the selected entry, an index into matches
	top     int  // first line on the screen
	rows    int  // lines of entries on the screen
	queryW  int  // cells of the query on the screen
	widest  int  // cells of the widest entry
	lines   int  // lines of all entries without a query
	hint    string
	keys    []string // keys besides enter that choose
	newKey  string   // the key that chooses what is typed, also when nothing matches
}

// NewPicker makes a picker; at is the entry that is selected first. The picker
// owns entries.
func NewPicker(title string, entries []Entry, at int) *Picker {
	p := &Picker{title: title}
	p.load(entries)
	p.at = min(max(at, 0), max(0, len(entries)-1))
	return p
}

// load makes entries the content and searches them.
func (p *Picker) load(entries []Entry) {
	p.entries, p.lower, p.widest = entries, make([]string, len(entries)), 0
	for i, e := range entries {
		p.lower[i] = strings.ToLower(e.Text)
		if i < maxMeasured {
			const signs = 6 // cursor, mark and gaps
			p.widest = max(p.widest, ansi.StringWidth(visible(e.Text))+ansi.StringWidth(visible(e.Extra))+signs, ansi.StringWidth(visible(e.More))+signs)
		}
	}
	all := search(p.entries, p.lower, "")
	p.lines = all.starts[len(all.starts)-1]
	p.matches, p.pending = all, false
	if !p.query.Empty() {
		p.matches = search(p.entries, p.lower, p.query.Text())
	}
}

// WithKeys lets other keys choose as well as enter; hint names them in the last
// line.
func (p *Picker) WithKeys(hint string, keys ...string) *Picker {
	p.hint, p.keys = hint, keys
	return p
}

// WithNew lets a key choose what is typed, whether an entry matches or not:
// Query is the text then, Value the selected entry or "".
func (p *Picker) WithNew(key string) *Picker {
	p.newKey = key
	return p
}

// SetEntries shows other entries; the query and the selection stay.
func (p *Picker) SetEntries(entries []Entry) {
	p.searchNow()
	selected, ok := p.selected()
	p.load(entries)
	p.at = min(p.at, max(0, len(p.matches.found)-1))
	for n, i := range p.matches.found {
		if e := p.entries[i]; ok && e.Value == selected.Value && e.Group == selected.Group {
			p.at = n
			return
		}
	}
}

// Title implements Overlay.
func (p *Picker) Title() string { return p.title }

// Key implements Overlay.
func (p *Picker) Key(name, text string) Outcome {
	if slices.Contains(p.keys, name) {
		return p.choose(name)
	}
	if name == p.newKey && name != "" {
		c, _ := p.choose(name).(Chosen)
		return Chosen{Value: c.Value, Key: name, Query: p.query.Text()}
	}
	const page = 10
	switch name {
	case "esc":
		return Closed{}
	case "enter":
		return p.choose(name)
	case "up", "ctrl+p":
		p.Scroll(-1)
	case "down", "ctrl+n":
		p.Scroll(1)
	case "pgup":
		p.Scroll(-page)
	case "pgdown":
		p.Scroll(page)
	case "home":
		p.Scroll(-len(p.entries))
	case "end":
		p.Scroll(len(p.entries))
	default:
		before := p.query.Text()
		if !p.query.Key(name) {
			p.query.Insert(safetext.Line(text, maxQuery))
		}
		if p.query.Text() != before {
			return p.queryChanged()
		}
	}
	return Stay{}
}

// Paste implements Overlay.
func (p *Picker) Paste(text string) Outcome {
	p.query.Insert(safetext.Line(text, maxQuery))
	return p.queryChanged()
}

// queryChanged searches at once, or asks for a search when there are many entries.
func (p *Picker) queryChanged() Outcome {
	p.pending = true
	if len(p.entries) <= maxNow {
		p.searchNow()
		return Stay{}
	}
	entries, lower, query := p.entries, p.lower, p.query.Text()
	return Search{Run: func() Found { return Found{p, query, len(entries), search(entries, lower, query)} }}
}

// searchNow finishes a search that was asked for.
func (p *Picker) searchNow() {
	if p.pending {
		p.show(search(p.entries, p.lower, p.query.Text()))
	}
}

func (p *Picker) show(m matches) {
	p.matches, p.pending, p.at, p.top = m, false, 0, 0
}

// Click implements Overlay: it chooses the entry on the line.
func (p *Picker) Click(y int) Outcome {
	line := p.top + y - pickerHead
	if y < pickerHead || y >= pickerHead+p.rows {
		return Stay{}
	}
	n := p.entryAt(line)
	if n < 0 || p.isHeading(n, line) {
		return Stay{}
	}
	p.at = n
	return p.choose("enter")
}

// Scroll implements Overlay: it moves the selection.
func (p *Picker) Scroll(n int) { p.at = min(max(p.at+n, 0), max(0, len(p.matches.found)-1)) }

func (p *Picker) selected() (e Entry, ok bool) {
	if p.at >= len(p.matches.found) {
		return Entry{}, false
	}
	return p.entries[p.matches.found[p.at]], true
}

func (p *Picker) choose(key string) Outcome {
	p.searchNow()
	e, ok := p.selected()
	if !ok {
		return Stay{}
	}
	c := Chosen{Value: e.Value, Key: key}
	if key != "enter" {
		c.Query = p.query.Text()
	}
	return c
}

// entryAt is the match that a line belongs to, or -1.
func (p *Picker) entryAt(line int) int {
	starts := p.matches.starts
	if line < 0 || line >= starts[len(starts)-1] {
		return -1
	}
	return sort.SearchInts(starts, line+1) - 1
}

// isHeading reports whether a line of a match is the heading of its group.
func (p *Picker) isHeading(n, line int) bool {
	return p.heading(n) != "" && line == p.matches.starts[n]
}

// heading is the heading above a match; "" is none.
func (p *Picker) heading(n int) string {
	group := p.entries[p.matches.found[n]].Group
	if !p.query.Empty() && !p.pending || group == "" || n > 0 && p.entries[p.matches.found[n-1]].Group == group {
		return ""
	}
	lines := p.matches.starts[n+1] - p.matches.starts[n]
	if p.entries[p.matches.found[n]].More != "" {
		lines--
	}
	if lines < 2 { // found by a query
		return ""
	}
	return group
}

// Size implements Overlay.
func (p *Picker) Size(w, h int) (int, int) {
	const least = 48 // a search and a short line
	widest := min(max(least, p.widest, ansi.StringWidth(p.hint)), w*9/10)
	return widest, min(pickerHead+max(1, len(p.hintLines(widest)))+p.lines, h*4/5)
}

// Cursor implements Overlay.
func (p *Picker) Cursor() (x, y int, ok bool) {
	_, at := p.query.Scroll(p.queryW)
	return searchSign + at, 0, true
}

const (
	searchSign = 2 // cells before the query
	pickerHead = 2 // lines above the entries: the query and a rule
)

// Body implements Overlay. It draws the entries on the screen alone.
func (p *Picker) Body(w, h int, st style.Styles) []string {
	o := st.Overlay
	p.queryW = w - searchSign
	query := o.Muted.Render("type to search")
	if !p.query.Empty() {
		query = o.Text.Render(p.query.View(p.queryW))
	}
	lines := []string{o.Key.Render("/ ") + query, o.Muted.Render(strings.Repeat(st.Icons.Rule, w))}
	hint := p.hintLines(w)
	hint = hint[:min(len(hint), max(0, h-pickerHead-1))]
	p.rows = h - pickerHead - len(hint)
	total := p.matches.starts[len(p.matches.starts)-1]
	if total == 0 {
		lines = append(lines, o.Muted.Render("nothing matches"))
	} else {
		p.top = max(p.top, p.matches.starts[p.at+1]-p.rows)
		p.top = max(0, min(p.top, p.matches.starts[p.at], total-p.rows))
	}
	for n := p.entryAt(p.top); n >= 0 && n < len(p.matches.found); n++ {
		for i, l := range p.entryLines(n, w, st) {
			if at := p.matches.starts[n] + i; at >= p.top && at < p.top+p.rows {
				lines = append(lines, l)
			}
		}
		if p.matches.starts[n+1] >= p.top+p.rows {
			break
		}
	}
	for len(lines) < h-len(hint) {
		lines = append(lines, "")
	}
	for _, l := range hint {
		lines = append(lines, o.Muted.Render(l))
	}
	return lines
}

// hintLines are the hint below the entries, in as many lines as it takes.
func (p *Picker) hintLines(w int) []string {
	if p.hint == "" {
		return nil
	}
	return textwidth.Wrap(p.hint, w)
}

// Place implements placer: the selected entry, of how many.
func (p *Picker) Place() string {
	if p.matches.starts[len(p.matches.starts)-1] <= p.rows {
		return ""
	}
	return fmt.Sprintf("%d/%d", p.at+1, len(p.matches.found))
}

// Hints implements hinter.
func (p *Picker) Hints() string {
	return "type to search · ↑ ↓ move · enter selects · esc closes"
}

// entryLines are the lines of a match: the heading, the entry, its second line.
func (p *Picker) entryLines(n, w int, st style.Styles) (lines []string) {
	e, o := p.entries[p.matches.found[n]], st.Overlay
	if group := p.heading(n); group != "" {
		lines = append(lines, o.Group.Render(textwidth.Truncate(visible(group), w, "…")))
	}
	sign, extra := " ", visible(e.Extra)
	if n == p.at {
		sign = st.Icons.Selected
	}
	if extra == "" && !p.query.Empty() {
		extra = visible(e.Group) // there are no headings then
	}
	left := sign + " " + cmp.Or(e.Mark, " ") + " " + visible(e.Text)
	extra = textwidth.Truncate(extra, max(w/3, w-ansi.StringWidth(left)-1), "…")
	left = textwidth.Truncate(left, w-ansi.StringWidth(extra)-1, "…")
	left += strings.Repeat(" ", max(1, w-ansi.StringWidth(left)-ansi.StringWidth(extra)))
	if n == p.at {
		lines = append(lines, o.Selected.Render(left+extra))
	} else {
		lines = append(lines, o.Text.Render(left)+o.Muted.Render(extra))
	}
	if e.More != "" {
		lines = append(lines, o.Muted.Render(textwidth.Truncate("    "+visible(e.More), w, "…")))
	}
	return lines
}

// visible is a text as it can be drawn on one line.
func visible(text string) string {
	if len(text) > maxVisible {
		text = strings.ToValidUTF8(text[:maxVisible], "")
	}
	return safetext.Visible(strings.NewReplacer("\r\n", " ", "\n", " ", "\t", " ").Replace(text))
}
