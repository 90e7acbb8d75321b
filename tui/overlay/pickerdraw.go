package overlay

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"winnow/assistant/safetext"
	"winnow/tui/keymap"
	"winnow/tui/style"
)

// Body implements Overlay. It draws only the visible entries.
func (p *Picker) Body(w, h int, st style.Styles) []string {
	o := st.Overlay
	p.queryW = w - searchPromptWidth
	query := o.Muted.Render("type to search")
	if !p.query.Empty() {
		query = o.Text.Render(p.query.View(p.queryW))
	}
	out := []string{o.Key.Render("/ ") + query, o.Muted.Render(strings.Repeat(st.Icons.Line, w))}[:p.head()]
	if p.inColumns() {
		return append(out, p.columnsBody(w, h, st)...)
	}
	hint := p.foot(w, st)
	if p.hint() == "" && len(hint) == 1 {
		hint = nil
	}
	room := min(max(1, h/4, h-p.head()-p.lines), max(0, h-p.head()-1))
	if p.full && len(hint) > room { // the keys matter more than the end of a text
		hint = hintLines(p.hint(), w, st)
	}
	hint = hint[:min(len(hint), room)]
	lines := p.matches.lines
	if len(lines) == 0 {
		var nothing safetext.Text = "nothing matches"
		if p.createsTyped() {
			nothing += p.keys.Clause(p.mode, ": %s creates “"+visible(strings.ReplaceAll(p.query.Text(), "%", "%%"))+"”", keymap.LineAccept)
		}
		out = append(out, o.Muted.Render(style.TruncateWords(string(nothing), w, st.Icons.Ellipsis)))
	}
	first, end := p.matches.span(p.cursor)
	p.shown.Scroll(h-p.head()-len(hint), first, end, len(lines))
	from, to := p.shown.Shown(len(lines))
	for _, l := range lines[from:to] {
		out = append(out, p.line(l, w, st))
	}
	for len(out) < h-len(hint) {
		out = append(out, "")
	}
	return append(out, hint...)
}

// foot returns the lines below the entries: the text about the selected entry, in as many
// lines as the longest such text takes, followed by the hint.
func (p *Picker) foot(w int, st style.Styles) []string {
	hint := hintLines(p.hint(), w, st)
	most := 0
	for _, e := range p.entries[:min(len(p.entries), maxMeasured)] {
		if about := p.about(e, w); about != "" {
			most = max(most, len(wrapRules(visible(about), w)))
		}
	}
	if most == 0 {
		return hint
	}
	e, _ := p.selected()
	about := append(wrapRules(visible(p.about(e, w)), w), make([]string, most)...)[:most]
	for i, line := range about {
		about[i] = st.Overlay.Text.Render(line)
	}
	return slices.Concat([]string{""}, about, hint)
}

// about returns the text that is shown below the entries while e is selected, in a picker of
// w cells; "" if there is none.
func (p *Picker) about(e Entry, w int) string {
	const lead, gap = 4, 1 // cells before the text and after it
	room := w - lead
	if e.Extra != "" {
		room -= gap + style.Width(visible(e.Extra))
	}
	if p.full && e.About == "" && style.Width(visible(e.Text)) > room {
		return e.Text
	}
	return e.About
}

// line draws a line of a match.
func (p *Picker) line(l matchLine, w int, st style.Styles) string {
	e, o := p.entries[p.matches.found[l.match]], st.Overlay
	switch l.kind {
	case headingLine:
		return o.Group.Render(style.TruncateWords(visible(e.Group), w, "…"))
	case detailLine:
		return o.Muted.Render(style.TruncateWords("    "+visible(e.Detail), w, "…"))
	case entryLine:
	}
	if !p.query.Empty() { // there are no headings in this case
		e.Text, e.Extra = cmp.Or(e.Full, e.Text), cmp.Or(e.Extra, e.Group)
	}
	return e.draw(l.match == p.cursor, cmp.Or(e.Mark, " ")+" ", visible(e.Text), p.query.Text(), w, st)
}

// draw draws an entry in w cells: the cursor, lead, text with the matches of query
// highlighted, and Extra.
func (e Entry) draw(selected bool, lead, text, query string, w int, st style.Styles) string {
	icon := " "
	if selected {
		icon = st.Icons.Selected
	}
	lead = icon + " " + lead
	left := lead + text
	if e.Short != "" && style.Width(left)+1+style.Width(visible(e.Extra)) > w {
		e.Extra = e.Short
	}
	extra := style.TruncateWords(visible(e.Extra), max(w*2/5, w-style.Width(left)-1), "…")
	room := w - style.Width(extra)
	left = style.Fit(style.TruncateWords(left, room-min(1, len(extra)), "…"), room, "")
	ink, muted := st.Overlay.Text, st.Overlay.Muted
	if selected {
		ink, muted = st.Overlay.Selected, st.Overlay.Selected
	}
	return mark(left, len([]rune(lead)), marked(text, query), ink) + muted.Render(extra)
}

// mark draws a line in which the runes at the given indexes are bold and underlined. The
// indexes count from rune number start of the line.
func mark(line string, start int, at map[int]bool, ink style.Style) string {
	if len(at) == 0 {
		return ink.Render(line)
	}
	var out strings.Builder
	runes, from := []rune(line), 0
	for i := 1; i <= len(runes); i++ {
		if i == len(runes) || at[i-start] != at[from-start] {
			piece := ink
			if at[from-start] {
				piece = ink.With(ansi.AttrUnderline, ansi.AttrBold)
			}
			out.WriteString(piece.Render(string(runes[from:i])))
			from = i
		}
	}
	return out.String()
}

// Position implements Overlay: selected entry / number of entries; "" if all are visible and
// nothing is searched.
func (p *Picker) Position() string {
	if p.inColumns() {
		return p.columnsPosition()
	}
	if len(p.matches.lines) <= p.shown.Rows && p.query.Empty() || len(p.matches.found) == 0 {
		return ""
	}
	return fmt.Sprintf("%d/%d", p.cursor+1, len(p.matches.found))
}

// Hints implements Overlay.
func (p *Picker) Hints() string {
	search := "type to search · "
	switch {
	case p.numbers:
		search = "type its number · "
	case p.fixed:
		search = ""
	}
	return search + p.keys.Hints(p.mode, keymap.To("move", keymap.LineUp, keymap.LineDown), keymap.To(p.accepts(), keymap.LineAccept), keymap.To("closes", keymap.LineClose))
}

// createsTyped reports whether LineAccept chooses the typed text, because nothing matches.
func (p *Picker) createsTyped() bool {
	return p.new != "" && !p.pending && len(p.matches.found) == 0 && strings.TrimSpace(p.query.Text()) != ""
}

// accepts says what LineAccept does, in the words of the line below the entries.
func (p *Picker) accepts() string {
	if p.createsTyped() {
		return "creates it"
	}
	for _, h := range p.offers {
		if slices.Contains(h.Actions, keymap.LineAccept) {
			return h.Text
		}
	}
	return "selects"
}
