package chat

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"winnow/assistant/safetext"
	"winnow/tui/keymap"
	"winnow/tui/overlay"
	"winnow/tui/style"
)

// RequestView is the overlay for one request. The code that opens it must carry out
// CopyRequest, OlderRequest and NewerRequest, the actions in its Chosen.
type RequestView struct {
	title    string
	keys     *keymap.Map
	sections []*section
	raw      *overlay.Text // the exact bytes
	bytes    bool          // the exact bytes are shown
	several  bool          // there are other requests

	starts []int // line of each section's title, as laid out for width
	lines  int   // number of lines of all sections
	width  int
	stale  bool // the sections must be laid out again
	cursor overlay.ListCursor

	query     overlay.HistoryEditor
	searching bool // keys go to the query
	missed    bool // no hit
}

const (
	requestIndent = 4 // cells before the text of a section
	headLines     = 2 // lines above the sections: a summary and a gap
	maxFoot       = 3 // lines below the sections
	maxQuery      = 200
)

// NewRequestView returns the view of a request; estimate returns the number of tokens of a
// text. several means that there are other requests to switch to.
func NewRequestView(title string, body json.RawMessage, estimate func(string) int, several bool) *RequestView {
	v := &RequestView{title: title, several: several}
	var ok bool
	if v.sections, ok = parse(body, estimate); !ok {
		v.bytes = true
	}
	v.raw = overlay.NewText(safetext.Clean(title), safetext.Lines(beginning(pretty(string(body))), safetext.Visible))
	v.raw.WithHint(v.hint())
	v.layout(1)
	v.cursor.MoveTo(len(v.sections)-1, v.lines)
	return v
}

// Escape implements overlay.Overlay.
func (v *RequestView) Escape() overlay.Outcome {
	if !v.searching {
		return overlay.Closed{}
	}
	v.endSearch()
	return overlay.Stay{}
}

func (v *RequestView) endSearch() {
	v.searching = false
	v.query.Clear()
}

// SetKeys implements overlay.Overlay.
func (v *RequestView) SetKeys(keys *keymap.Map) {
	v.keys = keys
	v.raw.SetKeys(keys)
	v.raw.WithHint(v.hint())
}

// hint returns the keys shown below the request, with what they do.
func (v *RequestView) hint() string {
	var can []keymap.Hint
	if v.several {
		can = append(can, keymap.To("the others", keymap.OlderRequest, keymap.NewerRequest))
	}
	switch {
	case v.bytes && v.sections != nil:
		can = append(can, keymap.To("roles", keymap.ShowBytes))
	case !v.bytes:
		can = append(can, keymap.To("folds", keymap.FoldSection), keymap.To("all", keymap.FoldSections), keymap.To("search", keymap.SearchRequest), keymap.To("bytes", keymap.ShowBytes))
	}
	return v.keys.Hints(keymap.RequestText, append(can, keymap.To("copies", keymap.CopyRequest))...)
}

// Title implements overlay.Overlay.
func (v *RequestView) Title() string { return v.title }

// Hints implements overlay.Overlay.
func (v *RequestView) Hints() string {
	if v.searching {
		return v.keys.Hints(keymap.Line, keymap.To("searches", keymap.LineAccept), keymap.To("ends the search", keymap.LineClose))
	}
	return v.keys.Hints(keymap.RequestText, keymap.To("scroll", keymap.TextUp, keymap.TextDown), keymap.To("closes", keymap.TextClose))
}

// Key implements overlay.Overlay.
func (v *RequestView) Key(name keymap.Key, text string) overlay.Outcome {
	if v.searching {
		v.searchKey(name, text)
		return overlay.Stay{}
	}
	switch a := v.keys.Action(keymap.RequestText, name); {
	case a == keymap.ShowBytes && v.sections != nil:
		v.bytes = !v.bytes
		v.raw.WithHint(v.hint())
	case a == keymap.CopyRequest, v.several && (a == keymap.OlderRequest || a == keymap.NewerRequest):
		return overlay.Chosen{Action: a}
	case a == keymap.OlderRequest, a == keymap.NewerRequest:
	case v.bytes:
		return v.raw.Key(name, text)
	case a == keymap.TextClose:
		return overlay.Closed{}
	default:
		v.do(a)
	}
	return overlay.Stay{}
}

// do carries out an action that moves, folds or searches.
func (v *RequestView) do(a keymap.Action) {
	switch a {
	case keymap.FoldSection:
		v.fold(v.sectionAt(v.cursor.At))
	case keymap.FoldSections:
		v.foldAll()
	case keymap.SearchRequest:
		v.searching, v.missed = true, false
		v.query.Begin("")
	case keymap.NextFound:
		v.toHit(1)
	case keymap.PreviousFound:
		v.toHit(-1)
	default:
		v.cursor.Do(a, v.lines)
	}
}

// sectionAt returns the section that contains line i.
func (v *RequestView) sectionAt(i int) int { return sort.SearchInts(v.starts, i+1) - 1 }

// isTitle reports whether line i is the title of a section.
func (v *RequestView) isTitle(i int) bool { return v.starts[v.sectionAt(i)] == i }

// fold opens or closes a section and moves the cursor to its title.
func (v *RequestView) fold(i int) {
	if v.sections[i].open {
		v.sections[i].open, v.stale = false, true
	} else {
		v.openSection(i)
	}
	v.goToSection(i)
}

// openSection opens a section. If more than maxOpen bytes would then be open, it closes all
// other sections.
func (v *RequestView) openSection(i int) {
	open := len(v.sections[i].lower)
	for _, s := range v.sections {
		if s.open {
			open += len(s.lower)
		}
	}
	for _, s := range v.sections {
		s.open = s.open && open <= maxOpen
	}
	v.sections[i].open, v.stale = true, true
}

// foldAll closes all sections or, if all are closed, opens them. In a large request it opens
// only as many as may be open at once, from the cursor on.
func (v *RequestView) foldAll() {
	at := v.sectionAt(v.cursor.At)
	close, open := slices.ContainsFunc(v.sections, func(s *section) bool { return s.open }), 0
	for n := range v.sections {
		s := v.sections[(at+n)%len(v.sections)]
		open += len(s.lower)
		s.open = !close && (n == 0 || open <= maxOpen)
	}
	v.stale = true
	v.goToSection(at)
}

// goToSection moves the cursor to the title of a section.
func (v *RequestView) goToSection(i int) {
	v.layout(v.width)
	v.cursor.MoveTo(v.starts[i], v.lines)
}

// rows returns how many lines of a section's text are shown.
func (s *section) rows() int {
	if !s.open {
		return 0
	}
	return s.text.Len()
}

// layout lays out the sections for w cells.
func (v *RequestView) layout(w int) {
	if v.width == w && !v.stale {
		return
	}
	v.starts, v.lines, v.width, v.stale = v.starts[:0], 0, w, false
	for _, s := range v.sections {
		if s.open {
			s.text.LayOut(max(1, w-requestIndent), math.MaxInt)
		}
		v.starts = append(v.starts, v.lines)
		v.lines += 1 + s.rows()
	}
}

// Size implements overlay.Overlay. The size does not depend on the content, so that folding
// does not move the border.
func (v *RequestView) Size(w, h int) (int, int) { return w * 9 / 10, h * 9 / 10 }

// Body implements overlay.Overlay.
func (v *RequestView) Body(w, h int, st style.Styles) []string {
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
	v.cursor.MoveTo(v.cursor.At, v.lines)
	v.cursor.Scroll(max(1, h-headLines-len(foot)), v.cursor.At, v.lastShown()+1, v.lines)
	out := []string{o.Muted.Render(style.Fit(fmt.Sprintf("~%d tokens in %d sections", tokens, len(v.sections)), w, "…")), ""}
	from, to := v.cursor.Shown(v.lines)
	for i := from; i < to; i++ {
		out = append(out, v.draw(i, w, st))
	}
	for len(out) < h-len(foot) {
		out = append(out, "")
	}
	return append(out, foot...)[:h]
}

// lastShown returns the last line that should be visible together with the cursor: if the
// cursor is on a title, the end of its section.
func (v *RequestView) lastShown() int {
	last := v.cursor.At
	if i := v.sectionAt(last); v.starts[i] == last {
		last += v.sections[i].rows()
	}
	return last
}

// foot returns a blank line, followed by the search, a message that nothing was found, or
// the keys.
func (v *RequestView) foot(w int, o style.Overlay) []string {
	switch {
	case v.searching:
		return []string{"", style.Truncate(o.Key.Render("/ ")+o.Text.Render(v.query.View(max(1, w-2))), w, "")}
	case v.missed:
		return []string{"", o.Text.Render(style.Truncate("nothing here contains “"+v.query.Text()+"”", w, "…"))}
	}
	lines := []string{"", ""}
	for clause := range strings.SplitSeq(v.hint(), " · ") {
		last := &lines[len(lines)-1]
		switch longer := strings.TrimPrefix(*last+" · "+clause, " · "); {
		case style.Width(longer) <= w:
			*last = longer
		case len(lines) < maxFoot:
			lines = append(lines, clause)
		}
	}
	for i, line := range lines {
		lines[i] = o.Muted.Render(style.Truncate(line, w, "…"))
	}
	return lines
}

// draw draws line i: a section's title or a line of its text.
func (v *RequestView) draw(i, w int, st style.Styles) string {
	o, section := st.Overlay, v.sectionAt(i)
	s := v.sections[section]
	mark, text := "  ", o.Text
	if i == v.cursor.At {
		mark, text = style.Fit(st.Icons.Selected, 1, "")+" ", o.Selected
	}
	if n := i - v.starts[section]; n > 0 {
		line, _ := s.text.Line(n - 1)
		return style.Truncate(o.Text.Render(mark+"  ")+v.highlight(line, text, o.Key), w, "")
	}
	fold := st.Icons.Folded
	if s.open {
		fold = st.Icons.Open
	}
	head := fmt.Sprintf("%s%s %s", mark, fold, safetext.Visible(s.title))
	cost := fmt.Sprintf("  ~%d", s.tokens)
	head = style.Truncate(head, max(1, w-style.Width(cost)), "…")
	cost = style.Truncate(cost, max(0, w-style.Width(head)), "")
	preview := ""
	if room := w - style.Width(head) - style.Width(cost) - 2; !s.open && room > 0 {
		preview = "  " + style.TruncateWords(s.preview, room, "…")
	}
	return text.Render(head) + o.Muted.Render(cost+preview)
}

// Cursor implements overlay.Overlay.
func (v *RequestView) Cursor() (x, y int, ok bool) {
	if !v.searching {
		return 0, 0, false
	}
	_, x = v.query.Scroll(max(1, v.width-2))
	return 2 + x, headLines + v.cursor.Rows + 1, true
}

// Click implements overlay.Overlay: a click on a title folds its section.
func (v *RequestView) Click(y int) overlay.Outcome {
	i := v.cursor.Top + y - headLines
	if v.bytes || y < headLines || y >= headLines+v.cursor.Rows || i >= v.lines {
		return overlay.Stay{}
	}
	v.cursor.MoveTo(i, v.lines)
	if v.isTitle(i) {
		v.fold(v.sectionAt(i))
	}
	return overlay.Stay{}
}

// Scroll implements overlay.Overlay.
func (v *RequestView) Scroll(n int) {
	if v.bytes {
		v.raw.Scroll(n)
		return
	}
	v.cursor.MoveTo(v.cursor.At+n, v.lines)
}

// Position implements overlay.Overlay: section of the cursor / number of sections.
func (v *RequestView) Position() string {
	if v.bytes {
		return v.raw.Position()
	}
	return fmt.Sprintf("%d/%d", v.sectionAt(v.cursor.At)+1, len(v.sections))
}
