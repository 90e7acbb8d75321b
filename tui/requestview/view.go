package requestview

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"winnow/assistant/safetext"
	"winnow/tui/overlay"
	"winnow/tui/style"
	"winnow/tui/textline"
	"winnow/tui/textwidth"
)

// The keys that the owner of a View handles: its outcome is a Chosen with them.
const (
	Copy     = "y"
	Previous = "left"
	Next     = "right"
)

// View is the overlay of one request.
type View struct {
	title    string
	sections []*section
	raw      *overlay.Text // the bytes
	bytes    bool          // the bytes are shown
	several  bool          // there are other requests

	lines  []line // as laid out for width
	width  int
	stale  bool // they have to be laid out again
	cursor int  // a line
	top    int  // the first line on the screen
	rows   int  // lines on the screen

	query     textline.Line
	searching bool // keys go to the query
	missed    bool // nothing contains it
}

// line is a line of the layout: the title of a section, or a line of its text.
type line struct {
	section int
	text    string // "" for a title
	title   bool
}

const (
	indent    = 4 // cells before the text of a section
	headLines = 2 // above the sections: what there is, and a gap
	maxFoot   = 3 // lines below them
	maxQuery  = 200
)

// New makes the view of a request; estimate returns the tokens of a text. several says
// that the keys Previous and Next lead to others.
func New(title string, body json.RawMessage, estimate func(string) int, several bool) *View {
	v := &View{title: title, several: several}
	var ok bool
	if v.sections, ok = parse(body, estimate); !ok {
		v.bytes = true
	}
	v.raw = overlay.NewText(title, safetext.Lines(beginning(pretty(string(body))), safetext.Visible))
	v.raw.WithKeys(v.keys())
	v.layout(1)
	v.move(len(v.sections) - 1)
	return v
}

// keys names the keys.
func (v *View) keys() string {
	var words []string
	if v.several {
		words = append(words, "← → the others")
	}
	switch {
	case v.bytes && v.sections != nil:
		words = append(words, "r roles")
	case !v.bytes:
		words = append(words, "enter folds", "a all", "/ search", "r bytes")
	}
	return strings.Join(append(words, "y copies"), " · ")
}

// Title implements overlay.Overlay.
func (v *View) Title() string { return v.title }

// Hints implements overlay.Overlay.
func (v *View) Hints() string {
	if v.searching {
		return "enter searches · esc ends the search"
	}
	return "↑ ↓ scroll · esc closes"
}

// Key implements overlay.Overlay.
func (v *View) Key(name, text string) overlay.Outcome {
	switch {
	case v.searching:
		v.searchKey(name, text)
		return overlay.Stay{}
	case name == "r" && v.sections != nil:
		v.bytes = !v.bytes
		v.raw.WithKeys(v.keys())
		return overlay.Stay{}
	case name == Copy, v.several && (name == Previous || name == Next):
		return overlay.Chosen{Key: name}
	case name == Previous, name == Next:
		return overlay.Stay{}
	case v.bytes:
		return v.raw.Key(name, text)
	}
	page := max(1, v.rows-1)
	switch name {
	case "esc", "q":
		return overlay.Closed{}
	case "enter", "space":
		v.fold(v.lines[v.cursor].section)
	case "a":
		v.foldAll()
	case "/":
		v.searching, v.missed = true, false
		v.query.Begin("")
	case "n":
		v.toHit(1)
	case "N":
		v.toHit(-1)
	case "up", "k", "ctrl+p":
		v.move(v.cursor - 1)
	case "down", "j", "ctrl+n":
		v.move(v.cursor + 1)
	case "pgup", "ctrl+u":
		v.move(v.cursor - page)
	case "pgdown", "ctrl+d":
		v.move(v.cursor + page)
	case "home", "g":
		v.move(0)
	case "end", "G":
		v.move(len(v.lines))
	}
	return overlay.Stay{}
}

// move puts the cursor on a line, or the nearest there is.
func (v *View) move(to int) { v.cursor = max(0, min(to, len(v.lines)-1)) }

// fold opens or closes a section, whose title gets the cursor.
func (v *View) fold(i int) {
	v.sections[i].open = !v.sections[i].open
	v.stale = true
	v.goToSection(i)
}

// foldAll closes all sections, or opens them when all are closed.
func (v *View) foldAll() {
	at, open := v.lines[v.cursor].section, true
	for _, s := range v.sections {
		open = open && !s.open
	}
	for _, s := range v.sections {
		s.open = open
	}
	v.stale = true
	v.goToSection(at)
}

// goToSection puts the cursor on the title of a section.
func (v *View) goToSection(i int) {
	v.layout(v.width)
	v.move(slices.IndexFunc(v.lines, func(l line) bool { return l.section == i }))
}

func (v *View) searchKey(name, text string) {
	switch name {
	case "enter":
		v.searching = false
		v.search()
	case "esc":
		v.searching = false
		v.query.Clear()
	default:
		if !v.query.Key(name) {
			v.query.Insert(safetext.Line(text, maxQuery))
		}
	}
}

// search opens the sections that contain the text and goes to the first hit: to its
// section where the hit is broken over two lines.
func (v *View) search() {
	query := strings.ToLower(v.query.Text())
	v.missed = false
	if query == "" {
		return
	}
	first := -1
	for i, s := range v.sections {
		if strings.Contains(s.lower, query) {
			s.open = true
			if first < 0 {
				first = i
			}
		}
	}
	v.stale, v.missed = true, first < 0
	if first >= 0 {
		v.goToSection(first)
		v.toHit(1)
	}
}

// toHit puts the cursor on the next line with the text, or the one before, and goes on
// at the other end.
func (v *View) toHit(step int) {
	query := strings.ToLower(v.query.Text())
	for n := 1; query != "" && n <= len(v.lines); n++ {
		i := (v.cursor + step*n + len(v.lines)) % len(v.lines)
		if strings.Contains(strings.ToLower(v.lines[i].text), query) {
			v.cursor = i
			return
		}
	}
}

// layout lays the sections out for w cells.
func (v *View) layout(w int) {
	if v.width == w && !v.stale {
		return
	}
	v.lines, v.width, v.stale = v.lines[:0], w, false
	for i, s := range v.sections {
		v.lines = append(v.lines, line{section: i, title: true})
		if !s.open {
			continue
		}
		for text := range strings.SplitSeq(s.text, "\n") {
			for _, part := range textwidth.Wrap(text, max(1, w-indent)) {
				v.lines = append(v.lines, line{section: i, text: part})
			}
		}
	}
}

// Size implements overlay.Overlay: all there is, so that folding moves no border.
func (v *View) Size(w, h int) (int, int) { return w * 9 / 10, h * 9 / 10 }

// Body implements overlay.Overlay.
func (v *View) Body(w, h int, st style.Styles) []string {
	if v.bytes {
		lines := v.raw.Body(w, h, st)
		return lines[:min(len(lines), h)]
	}
	v.layout(w)
	o := st.Overlay
	tokens := 0
	for _, s := range v.sections {
		tokens += s.tokens
	}
	foot := v.foot(w, o)
	v.rows = max(1, h-headLines-len(foot))
	v.move(v.cursor)
	v.top = min(max(v.top, v.lastShown()-v.rows+1), v.cursor, max(0, len(v.lines)-v.rows))
	out := []string{o.Muted.Render(textwidth.Fit(fmt.Sprintf("~%d tokens in %d sections", tokens, len(v.sections)), w, "…")), ""}
	for i := v.top; i < min(len(v.lines), v.top+v.rows); i++ {
		out = append(out, v.draw(i, w, st))
	}
	for len(out) < h-len(foot) {
		out = append(out, "")
	}
	return append(out, foot...)[:h]
}

// lastShown is the last line to show with the cursor: of a title the end of its section.
func (v *View) lastShown() int {
	last := v.cursor
	for v.lines[v.cursor].title && last+1 < len(v.lines) && !v.lines[last+1].title {
		last++
	}
	return last
}

// foot is a gap, and below it the keys, the search, or that it has found nothing.
func (v *View) foot(w int, o style.Overlay) []string {
	switch {
	case v.searching:
		return []string{"", textwidth.Truncate(o.Key.Render("/ ")+o.Text.Render(v.query.View(max(1, w-2))), w, "")}
	case v.missed:
		return []string{"", o.Text.Render(textwidth.Truncate("nothing here contains “"+v.query.Text()+"”", w, "…"))}
	}
	lines := []string{"", ""}
	for clause := range strings.SplitSeq(v.keys(), " · ") {
		last := &lines[len(lines)-1]
		switch longer := strings.TrimPrefix(*last+" · "+clause, " · "); {
		case ansi.StringWidth(longer) <= w:
			*last = longer
		case len(lines) < maxFoot:
			lines = append(lines, clause)
		}
	}
	for i, line := range lines {
		lines[i] = o.Muted.Render(textwidth.Truncate(line, w, "…"))
	}
	return lines
}

// draw draws a line of the layout.
func (v *View) draw(i, w int, st style.Styles) string {
	o, l := st.Overlay, v.lines[i]
	mark, text := "  ", o.Text
	if i == v.cursor {
		mark, text = textwidth.Fit(st.Icons.Selected, 1, "")+" ", o.Selected
	}
	if !l.title {
		return textwidth.Truncate(o.Text.Render(mark+"  ")+v.highlight(l.text, text, o.Key), w, "")
	}
	s := v.sections[l.section]
	fold := st.Icons.Folded
	if s.open {
		fold = st.Icons.Open
	}
	head := fmt.Sprintf("%s%s %s", mark, fold, safetext.Visible(s.title))
	cost := fmt.Sprintf("  ~%d", s.tokens)
	head = textwidth.Truncate(head, max(1, w-ansi.StringWidth(cost)), "…")
	cost = textwidth.Truncate(cost, max(0, w-ansi.StringWidth(head)), "")
	preview := ""
	if room := w - ansi.StringWidth(head) - ansi.StringWidth(cost) - 2; !s.open && room > 0 {
		preview = "  " + textwidth.TruncateWords(s.preview, room, "…")
	}
	return text.Render(head) + o.Muted.Render(cost+preview)
}

// highlight draws a line with the first hit of the search in it.
func (v *View) highlight(text string, plain, hit lipgloss.Style) string {
	query := strings.ToLower(v.query.Text())
	at := strings.Index(strings.ToLower(text), query)
	if query == "" || at < 0 || at+len(query) > len(text) || !strings.EqualFold(text[at:at+len(query)], query) {
		return plain.Render(text)
	}
	return plain.Render(text[:at]) + hit.Render(text[at:at+len(query)]) + plain.Render(text[at+len(query):])
}

// Cursor implements overlay.Overlay.
func (v *View) Cursor() (x, y int, ok bool) {
	if !v.searching {
		return 0, 0, false
	}
	_, x = v.query.Scroll(max(1, v.width-2))
	return 2 + x, headLines + v.rows + 1, true
}

// Click implements overlay.Overlay: a click on a title folds its section.
func (v *View) Click(y int) overlay.Outcome {
	i := v.top + y - headLines
	if v.bytes || y < headLines || y >= headLines+v.rows || i >= len(v.lines) {
		return overlay.Stay{}
	}
	v.move(i)
	if v.lines[i].title {
		v.fold(v.lines[i].section)
	}
	return overlay.Stay{}
}

// Scroll implements overlay.Overlay.
func (v *View) Scroll(n int) {
	if v.bytes {
		v.raw.Scroll(n)
		return
	}
	v.move(v.cursor + n)
}

// Position implements overlay.Overlay: the section of the cursor, of how many.
func (v *View) Position() string {
	if v.bytes {
		return v.raw.Position()
	}
	return fmt.Sprintf("%d/%d", v.lines[v.cursor].section+1, len(v.sections))
}
