package overlay

import (
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/sahilm/fuzzy"

	"winnow/assistant/safetext"
	"winnow/tui/style"
	"winnow/tui/textline"
	"winnow/tui/textwidth"
)

// Entry is a line of a Picker.
type Entry struct {
	Value string // what is chosen
	Text  string // what is shown and searched
	Extra string // at the right edge, not searched
	More  string // a second line under the text, not searched; "" is none
	Group string // a heading above the first entry of the group; "" is none
	Mark  string // one cell before the text
}

// Picker is a list to choose from, searched while one types.
type Picker struct {
	title   string
	entries []Entry
	query   textline.Editor
	shown   []int // indices of entries that match, best first
	at      int   // in shown
	top     int   // first line on the screen
	owners  []int // which of shown each line belongs to, -1 for a heading; as drawn last
	rows    int   // of entries, as drawn last
	room    int   // cells of what is searched for, as drawn last
	hint    string
	keys    []string // keys besides enter that choose
	fresh   string   // the key that chooses what is typed, also when nothing matches
	empty   string
}

// NewPicker makes a picker; at is the entry that is selected first.
func NewPicker(title string, entries []Entry, at int) *Picker {
	p := &Picker{title: title, entries: cleaned(entries), empty: "nothing matches"}
	p.search()
	p.at = min(max(at, 0), max(0, len(p.shown)-1))
	return p
}

// cleaned makes the texts of entries safe to show.
func cleaned(entries []Entry) []Entry {
	for i := range entries {
		e := &entries[i]
		e.Text, e.Extra, e.More = safetext.Line(e.Text, 400), safetext.Line(e.Extra, 200), safetext.Line(e.More, 400)
		e.Group = safetext.Line(e.Group, 200)
	}
	return entries
}

// WithKeys lets other keys choose as well as enter; hint names them in the last line.
func (p *Picker) WithKeys(hint string, keys ...string) *Picker {
	p.hint, p.keys = hint, keys
	return p
}

// WithNew lets a key choose what is typed, whether an entry matches or not:
// Query is the text then, Value the entry that is selected or "".
func (p *Picker) WithNew(key string) *Picker {
	p.fresh = key
	return p
}

// SetEntries shows other entries; what is searched for and what is selected
// stay.
func (p *Picker) SetEntries(entries []Entry) {
	selected, at := Entry{}, p.at
	if p.at < len(p.shown) {
		selected = p.entries[p.shown[p.at]]
	}
	*p = Picker{title: p.title, entries: cleaned(entries), query: p.query, hint: p.hint, keys: p.keys, fresh: p.fresh, empty: p.empty}
	p.search()
	p.at = min(at, max(0, len(p.shown)-1))
	for n, i := range p.shown {
		if e := p.entries[i]; e.Value == selected.Value && e.Group == selected.Group {
			p.at = n
			return
		}
	}
}

// Title implements Overlay.
func (p *Picker) Title() string { return p.title }

// Key implements Overlay.
func (p *Picker) Key(name, text string) Outcome {
	for _, k := range p.keys {
		if k == name {
			return p.choose(name)
		}
	}
	if name == p.fresh && name != "" {
		c, _ := p.choose(name).(Chosen)
		return Chosen{Value: c.Value, Key: name, Query: p.query.Text()}
	}
	switch name {
	case "esc":
		return Closed{}
	case "enter":
		return p.choose(name)
	case "up", "ctrl+p":
		p.move(-1)
	case "down", "ctrl+n":
		p.move(1)
	case "pgup":
		p.move(-10)
	case "pgdown":
		p.move(10)
	case "home":
		p.move(-len(p.shown))
	case "end":
		p.move(len(p.shown))
	default:
		before := p.query.Text()
		if !p.query.Key(name) {
			p.Paste(text)
		} else if p.query.Text() != before {
			p.search()
		}
	}
	return Stay{}
}

// Paste implements Overlay.
func (p *Picker) Paste(text string) {
	if text = safetext.Line(text, 200); text != "" {
		p.query.Insert(text)
		p.search()
	}
}

// Click implements Overlay: it chooses the entry on the line.
func (p *Picker) Click(y int) Outcome {
	line := p.top + y - pickerHead
	if y < pickerHead || y >= pickerHead+p.rows || line >= len(p.owners) || p.owners[line] < 0 {
		return Stay{}
	}
	p.at = p.owners[line]
	return p.choose("enter")
}

// Scroll implements Overlay.
func (p *Picker) Scroll(n int) { p.move(n) }

func (p *Picker) choose(key string) Outcome {
	if p.at >= len(p.shown) {
		return Stay{}
	}
	c := Chosen{Value: p.entries[p.shown[p.at]].Value, Key: key}
	if key != "enter" {
		c.Query = p.query.Text()
	}
	return c
}

func (p *Picker) move(n int) { p.at = min(max(p.at+n, 0), max(0, len(p.shown)-1)) }

// search keeps the entries that match, in their order without a query and best
// first with one.
func (p *Picker) search() {
	p.shown, p.at, p.top = p.shown[:0], 0, 0
	if p.query.Empty() {
		for i := range p.entries {
			p.shown = append(p.shown, i)
		}
		return
	}
	query := strings.ToLower(p.query.Text())
	found := fuzzy.FindFrom(query, texts(p.entries))
	if len(found) == 0 { // perhaps the group was meant: "openai mini"
		found = fuzzy.FindFrom(query, groups(p.entries))
	}
	slices.SortStableFunc(found, func(a, b fuzzy.Match) int {
		return distance(a.Str, query) - distance(b.Str, query)
	})
	for _, m := range found {
		p.shown = append(p.shown, m.Index)
	}
}

// distance is how far a text is from what was typed: it begins so, a word of it
// does, it holds the letters together, or scattered.
func distance(text, query string) int {
	text = strings.ToLower(text)
	switch at := strings.Index(text, query); {
	case at == 0:
		return 0
	case at < 0:
		return 3
	case strings.Contains(text, " "+query):
		return 1
	}
	return 2
}

// texts searches what is shown of an entry, groups its heading as well.
type (
	texts  []Entry
	groups []Entry
)

func (s texts) String(i int) string  { return s[i].Text }
func (s texts) Len() int             { return len(s) }
func (s groups) String(i int) string { return s[i].Group + "/" + s[i].Text }
func (s groups) Len() int            { return len(s) }

// Size implements Overlay.
func (p *Picker) Size(w, h int) (int, int) {
	const least = 48 // a search and a short line
	widest := max(least, ansi.StringWidth(p.hint))
	for _, e := range p.entries {
		widest = max(widest, ansi.StringWidth(e.Text)+ansi.StringWidth(e.Extra)+6, ansi.StringWidth(e.More)+6)
	}
	rows := pickerHead + max(1, len(p.hintLines(min(widest, w*9/10))))
	for i := range p.entries {
		rows += p.rowsOf(i, i == 0 || p.entries[i-1].Group != p.entries[i].Group)
	}
	return min(widest, w*9/10), min(rows, h*4/5)
}

func (p *Picker) rowsOf(i int, heads bool) int {
	n := 1
	if p.entries[i].More != "" {
		n++
	}
	if heads && p.entries[i].Group != "" {
		n++
	}
	return n
}

// Cursor implements Overlay.
func (p *Picker) Cursor() (x, y int, ok bool) {
	_, at := p.query.Scroll(p.room)
	return searchSign + at, 0, true
}

// searchSign is the cells before what is searched for.
const searchSign = 2

// pickerHead is the lines above the entries: the search and a rule.
const pickerHead = 2

// Body implements Overlay.
func (p *Picker) Body(w, h int, st style.Styles) []string {
	o := st.Overlay
	p.room = w - searchSign
	search := o.Muted.Render("type to search")
	if !p.query.Empty() {
		search = o.Text.Render(p.query.View(p.room))
	}
	lines := []string{o.Key.Render("/ ") + search, o.Muted.Render(strings.Repeat(st.Icons.Rule, w))}
	rows := h - pickerHead
	hint := p.hintLines(w)
	hint = hint[:min(len(hint), max(0, rows-1))]
	rows -= len(hint)
	body, selected := p.lines(w, st)
	if len(body) == 0 {
		body = []string{o.Muted.Render(p.empty)}
	}
	p.rows = rows
	p.scroll(selected, rows, len(body))
	lines = append(lines, body[p.top:min(len(body), p.top+rows)]...)
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

// Place implements placer: the entry that is selected, of how many.
func (p *Picker) Place() string {
	if len(p.owners) <= p.rows {
		return ""
	}
	return fmt.Sprintf("%d/%d", p.at+1, len(p.shown))
}

// Hints implements hinter.
func (p *Picker) Hints() string { return "type to search · ↑ ↓ move · enter takes · esc closes" }

// scroll keeps the selected lines on the screen.
func (p *Picker) scroll(selected [2]int, rows, total int) {
	if selected[1] >= p.top+rows {
		p.top = selected[1] - rows + 1
	}
	if selected[0] < p.top {
		p.top = selected[0]
	}
	p.top = min(max(p.top, 0), max(0, total-rows))
}

// lines draws all entries that match; selected is the first and last line of
// the one that is selected.
func (p *Picker) lines(w int, st style.Styles) (out []string, selected [2]int) {
	o, group := st.Overlay, ""
	p.owners = p.owners[:0]
	for n, i := range p.shown {
		e := p.entries[i]
		first := len(out)
		if p.query.Empty() && e.Group != "" && e.Group != group {
			group = e.Group
			out = append(out, o.Group.Render(textwidth.Truncate(e.Group, w, "…")))
			p.owners = append(p.owners, -1)
		}
		out = append(out, p.line(e, n == p.at, w, st))
		if e.More != "" {
			out = append(out, o.Muted.Render(textwidth.Truncate("    "+e.More, w, "…")))
		}
		for len(p.owners) < len(out) {
			p.owners = append(p.owners, n)
		}
		if n == p.at {
			selected = [2]int{first, len(out) - 1}
		}
	}
	return out, selected
}

func (p *Picker) line(e Entry, selected bool, w int, st style.Styles) string {
	sign := " "
	if selected {
		sign = st.Icons.Selected
	}
	mark := e.Mark
	if mark == "" {
		mark = " "
	}
	left := sign + " " + mark + " " + e.Text
	extra := e.Extra
	if extra == "" && !p.query.Empty() {
		extra = e.Group // its heading is not shown then
	}
	extra = textwidth.Truncate(extra, max(w/3, w-ansi.StringWidth(left)-1), "…")
	left = textwidth.Truncate(left, w-ansi.StringWidth(extra)-1, "…")
	line := left + strings.Repeat(" ", max(1, w-ansi.StringWidth(left)-ansi.StringWidth(extra))) + extra
	if selected {
		return st.Overlay.Selected.Render(line)
	}
	return st.Overlay.Text.Render(strings.TrimSuffix(line, extra)) + st.Overlay.Muted.Render(extra)
}
