package chat

import (
	"strings"

	"winnow/assistant/safetext"
	"winnow/tui/keymap"
	"winnow/tui/style"
)

func (v *RequestView) searchKey(name keymap.Key, text string) {
	switch v.keys.Action(keymap.Line, name) {
	case keymap.LineAccept:
		v.searching = false
		v.search()
	case keymap.LineClose:
		v.endSearch()
	default:
		if !v.query.Do(v.keys.Action(keymap.Editing, name)) {
			v.query.Insert(string(safetext.Line(text, maxQuery)))
		}
	}
}

// search opens the sections that contain the text and goes to the first hit. In a large
// request it opens only as many sections as may be open at once.
func (v *RequestView) search() {
	query := strings.ToLower(v.query.Text())
	v.missed = false
	if query == "" {
		return
	}
	open := 0
	for _, s := range v.sections {
		if s.open || strings.Contains(s.lower, query) {
			open += len(s.lower)
		}
		if open <= maxOpen && strings.Contains(s.lower, query) {
			s.open, v.stale = true, true
		}
	}
	v.layout(v.width)
	v.cursor.MoveTo(0, v.lines)
	v.missed = !v.toHit(1)
}

// toHit moves the cursor to the next line with the text, or to the previous one if step is
// -1, and wraps around at the ends. It opens the section that contains the hit. If a soft
// line break splits the hit, the cursor goes to the section's title.
func (v *RequestView) toHit(step int) (found bool) {
	query := strings.ToLower(v.query.Text())
	if query == "" {
		return false
	}
	at := v.sectionAt(v.cursor.At)
	if v.hitIn(at, v.cursor.At, step, query) {
		return true
	}
	for n := 1; n <= len(v.sections); n++ {
		i := (at + step*n + n*len(v.sections)) % len(v.sections)
		if !strings.Contains(v.sections[i].lower, query) {
			continue
		}
		if !v.sections[i].open {
			v.openSection(i)
		}
		v.layout(v.width)
		from := v.starts[i]
		if step < 0 {
			from += v.sections[i].rows() + 1
		}
		if !v.hitIn(i, from, step, query) {
			v.cursor.MoveTo(v.starts[i], v.lines)
		}
		return true
	}
	return false
}

// hitIn does the same as toHit within section i, starting at line from, and does not wrap
// around. It reports whether there is a hit.
func (v *RequestView) hitIn(i, from, step int, query string) bool {
	s := v.sections[i]
	if !strings.Contains(s.lower, query) {
		return false
	}
	for n := from - v.starts[i] - 1 + step; n >= 0 && n < s.rows(); n += step {
		if text, _ := s.text.Line(n); strings.Contains(strings.ToLower(text), query) {
			v.cursor.MoveTo(v.starts[i]+1+n, v.lines)
			return true
		}
	}
	return false
}

// highlight draws a line with the first search hit highlighted.
func (v *RequestView) highlight(text string, plain, hit style.Style) string {
	query := strings.ToLower(v.query.Text())
	at := strings.Index(strings.ToLower(text), query)
	if query == "" || at < 0 || at+len(query) > len(text) || !strings.EqualFold(text[at:at+len(query)], query) {
		return plain.Render(text)
	}
	return plain.Render(text[:at]) + hit.Render(text[at:at+len(query)]) + plain.Render(text[at+len(query):])
}
