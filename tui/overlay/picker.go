package overlay

import (
	"slices"
	"strconv"

	"charm.land/lipgloss/v2"

	"winnow/assistant/safetext"
	"winnow/tui/keymap"
	"winnow/tui/style"
)

// Entry is an entry of a Picker. Its texts are untrusted: they are drawn with invisible
// characters made visible.
type Entry struct {
	Value  string // Chosen.Value if the entry is chosen
	Text   string // text that is shown and searched
	Full   string // replaces Text in search results, which have no headings; "" if Text is clear without a heading
	Brief  string // replaces Text in a column that is too narrow for it; "" if Text is wrapped there
	Also   string // words that are searched but not shown, in lower case
	Extra  string // shown at the right edge, not searched
	Short  string // replaces Extra if Extra does not fit next to Text; if "", Extra is cut
	Detail string // a line below the text, not searched; "" if none
	About  string // shown below the entries while this entry is selected, not searched; "" if none
	Group  string // a heading above the first entry of the group; "" if none
	Mark   string // one cell, shown before the text
}

const (
	maxSyncSearch = 2_000 // maximum number of entries searched while handling a key; more are searched outside the update loop
	maxMeasured   = 1_000 // entries used to determine the width of a picker
	maxQuery      = 200   // maximum width of a query in cells
	minPicker     = 48    // minimum width in cells: a search and a short line
	page          = 10    // entries that a page key moves by
)

// Picker is a list to choose from, searched while the user types.
type Picker struct {
	title   string
	entries []Entry
	start   int // see WithStart; 0 if all entries are shown and searched
	query   Editor
	matches matches
	pending bool       // matches belongs to an earlier query
	cursor  int        // the selected entry, an index into matches.found
	shown   ListCursor // the visible lines, with the cursor on a line of the selected entry
	queryW  int        // width of the query on the screen
	widest  int        // width of the widest entry
	lines   int        // number of lines of all entries without a query
	keys    *keymap.Map
	mode    keymap.Mode   // List, or a mode that extends it
	offers  []keymap.Hint // what the user can do with the selected entry
	notice  string        // shown before the offers
	legend  string        // shown below the offers
	fixed   bool          // nothing can be searched
	numbers bool          // an entry is chosen by its number, from 1
	typed   int           // the number typed so far; 0 if none
	full    bool          // see WithFullText
	new     keymap.Action // action that chooses the typed text, see WithTypedChoice; "" if there is none

	column            int // minimum width of a column until the user types; 0 for one entry per line
	page, pages, rows int // current page, number of pages and rows per column, if there are columns
	columnW           int // width of each column
}

// NewPicker returns a picker; selected is the index of the initially selected entry. The
// picker owns entries.
func NewPicker(title string, entries []Entry, selected int) *Picker {
	p := &Picker{title: title, mode: keymap.List}
	p.load(entries)
	p.cursor = min(max(selected, 0), max(0, len(entries)-1))
	return p
}

// load sets the entries and searches them for the current query.
func (p *Picker) load(entries []Entry) {
	p.entries, p.widest = entries, 0
	for _, e := range entries[:min(len(entries), maxMeasured)] {
		const padding = 6 // cursor, mark and gaps
		p.widest = max(p.widest, max(style.Width(visible(e.Text)), style.Width(visible(e.Full)))+style.Width(visible(e.Extra))+padding, style.Width(visible(e.Detail))+padding)
	}
	p.matches, p.pending = search(p.entries, p.start, ""), false
	p.lines = len(p.matches.lines)
	if !p.query.Empty() {
		p.matches = search(p.entries, p.start, p.query.Text())
	}
}

// Offer lets other actions of a mode choose an entry too; the line below the entries shows
// their keys.
func (p *Picker) Offer(mode keymap.Mode, actions ...keymap.Hint) *Picker {
	p.mode, p.offers = mode, actions
	return p
}

// WithStart shows only the first n entries until the user types; a search covers only the
// other entries.
func (p *Picker) WithStart(n int) *Picker {
	p.start = n
	p.load(p.entries)
	return p
}

// WithNotice shows a sentence before the offered actions.
func (p *Picker) WithNotice(text string) *Picker {
	p.notice = text
	return p
}

// WithLegend shows an explanation of the entries below the offered actions.
func (p *Picker) WithLegend(text string) *Picker {
	p.legend = text
	return p
}

// WithTypedChoice lets an action choose the typed text, whether or not an entry matches:
// Chosen.Query is the typed text, and Chosen.Value the selected entry or "". If nothing
// matches, LineAccept chooses the typed text too.
func (p *Picker) WithTypedChoice(a keymap.Action) *Picker {
	p.new = a
	return p
}

// WithoutSearch hides the search line, because there are few entries.
func (p *Picker) WithoutSearch() *Picker {
	p.fixed = true
	return p
}

// WithFullText shows the text of the selected entry in full below the entries if it is cut
// in its line.
func (p *Picker) WithFullText() *Picker {
	p.full = true
	return p
}

// WithNumbers lets the user choose an entry by typing its number, from 1, instead of
// searching.
func (p *Picker) WithNumbers() *Picker {
	p.fixed, p.numbers = true, true
	return p
}

// number handles a digit in a picker set up by WithNumbers; ok is false for other keys and
// pickers. It selects the entry with the number typed so far, and chooses it once no further
// digit can follow.
func (p *Picker) number(text string) (out Outcome, ok bool) {
	digit, err := strconv.Atoi(text)
	n := p.typed*10 + digit
	p.typed = 0
	switch {
	case !p.numbers || err != nil:
		return nil, false
	case n < 1 || n > len(p.entries):
		return Stay{}, true
	}
	p.cursor = n - 1
	if n*10 <= len(p.entries) {
		p.typed = n
		return Stay{}, true
	}
	return p.choose(keymap.LineAccept), true
}

// head returns the number of lines above the entries.
func (p *Picker) head() int {
	if p.fixed {
		return 0
	}
	return pickerHeadLines
}

// Escape implements Overlay.
func (p *Picker) Escape() Outcome { return Closed{} }

// SetKeys implements Overlay.
func (p *Picker) SetKeys(keys *keymap.Map) { p.keys = keys }

// hint returns the text below the entries.
func (p *Picker) hint() string {
	hint, notice := p.keys.Hints(p.mode, p.offers...), p.notice
	if p.start > 0 && !p.query.Empty() {
		notice = "" // the notice is about the entries shown before the user types
	}
	if notice != "" && hint != "" {
		hint = " · " + hint
	}
	hint = notice + hint
	if p.legend != "" {
		hint += "\n" + p.legend
	}
	return hint
}

// offered reports whether an action is one of those given to Offer.
func (p *Picker) offered(a keymap.Action) bool {
	return slices.ContainsFunc(p.offers, func(h keymap.Hint) bool { return slices.Contains(h.Actions, a) })
}

// SetEntries replaces the entries; only the first start of them are shown until the user
// types, see WithStart. The query stays, and so does the selection if its entry still exists.
func (p *Picker) SetEntries(entries []Entry, start int) {
	p.searchNow()
	selected, ok := p.selected()
	p.start = start
	p.load(entries)
	p.cursor = min(p.cursor, max(0, len(p.matches.found)-1))
	same := func(i int) bool {
		return p.entries[i].Value == selected.Value && p.entries[i].Group == selected.Group
	}
	if n := slices.IndexFunc(p.matches.found, same); ok && n >= 0 {
		p.cursor = n
	}
}

// Query returns the typed search text.
func (p *Picker) Query() string { return p.query.Text() }

// Title implements Overlay.
func (p *Picker) Title() string { return p.title }

// Key implements Overlay.
func (p *Picker) Key(name keymap.Key, text string) Outcome {
	if out, ok := p.number(text); ok {
		return out
	}
	a := p.keys.Action(p.mode, name)
	switch {
	case a == "":
	case a == p.new:
		c, _ := p.choose(a).(Chosen)
		return Chosen{Value: c.Value, Action: a, Query: p.query.Text()}
	case a == keymap.LineAccept, p.offered(a):
		return p.choose(a)
	}
	switch a {
	case keymap.LineClose:
		return Closed{}
	case keymap.LineUp:
		p.Scroll(-1)
	case keymap.LineDown:
		p.Scroll(1)
	case keymap.LinePageUp:
		p.Scroll(-page)
	case keymap.LinePageDown:
		p.Scroll(page)
	case keymap.ListFirst:
		p.Scroll(-len(p.entries))
	case keymap.ListLast:
		p.Scroll(len(p.entries))
	default:
		if p.fixed {
			return Stay{}
		}
		if edit := p.keys.Action(keymap.Editing, name); p.inColumns() && (edit == keymap.EditLeft || edit == keymap.EditRight) {
			p.across(map[keymap.Action]int{keymap.EditLeft: -1, keymap.EditRight: 1}[edit])
			return Stay{}
		}
		before := p.query.Text()
		if !p.query.Do(p.keys.Action(keymap.Editing, name)) {
			p.query.Insert(string(safetext.Line(text, maxQuery)))
		}
		if p.query.Text() != before {
			return p.queryChanged()
		}
	}
	return Stay{}
}

// queryChanged searches at once or, if there are many entries, in the background.
func (p *Picker) queryChanged() Outcome {
	p.pending = true
	if len(p.entries) <= maxSyncSearch {
		p.searchNow()
		return Stay{}
	}
	entries, start, query := p.entries, p.start, p.query.Text()
	return Work{Run: func() (show func()) {
		found := search(entries, start, query)
		return func() {
			if p.pending && p.query.Text() == query && len(p.entries) == len(entries) {
				p.show(found)
			}
		}
	}}
}

// searchNow runs the pending search, if any.
func (p *Picker) searchNow() {
	if p.pending {
		p.show(search(p.entries, p.start, p.query.Text()))
	}
}

func (p *Picker) show(m matches) { p.matches, p.pending, p.cursor, p.shown.Top = m, false, 0, 0 }

// Click implements Overlay: it chooses the entry on the line. Columns ignore clicks.
func (p *Picker) Click(y int) Outcome {
	line := p.shown.Top + y - p.head()
	if p.inColumns() || y < p.head() || y >= p.head()+p.shown.Rows || line >= len(p.matches.lines) || p.matches.lines[line].kind == headingLine {
		return Stay{}
	}
	p.cursor = p.matches.lines[line].match
	return p.choose(keymap.LineAccept)
}

// Scroll implements Overlay: it moves the selection.
func (p *Picker) Scroll(n int) { p.cursor = min(max(p.cursor+n, 0), max(0, len(p.matches.found)-1)) }

func (p *Picker) selected() (e Entry, ok bool) {
	if p.cursor >= len(p.matches.found) {
		return Entry{}, false
	}
	return p.entries[p.matches.found[p.cursor]], true
}

func (p *Picker) choose(a keymap.Action) Outcome {
	p.searchNow()
	e, ok := p.selected()
	switch {
	case !ok && a == keymap.LineAccept && p.createsTyped():
		return Chosen{Action: p.new, Query: p.query.Text()}
	case !ok:
		return Stay{}
	}
	c := Chosen{Value: e.Value, Action: a}
	if a != keymap.LineAccept {
		c.Query = p.query.Text()
	}
	return c
}

// Size implements Overlay.
func (p *Picker) Size(w, h int) (int, int) {
	if p.column > 0 { // the size does not change while the user types
		return p.columnsSize(w, h)
	}
	hint := p.hint()
	widest := min(max(minPicker, p.widest, lipgloss.Width(hint)), w*9/10)
	inner := w // see bodySize
	if widest <= narrowWidth {
		inner = min(w, narrowWidth)
	}
	return widest, min(p.head()+len(p.foot(inner, style.Styles{}))+p.lines, h*4/5)
}

// Cursor implements Overlay.
func (p *Picker) Cursor() (x, y int, ok bool) {
	_, x = p.query.Scroll(p.queryW)
	return searchPromptWidth + x, 0, !p.fixed
}

const (
	searchPromptWidth = 2 // cells before the query
	pickerHeadLines   = 2 // lines above the entries: the query and a rule
)
