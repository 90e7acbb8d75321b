package rules

import (
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"winnow/assistant/safetext"
	"winnow/tui/textwidth"
)

// piece is text in one ink.
type piece struct {
	text string
	st   ink
}

// maxShown is how many bytes of an id or a pattern are looked at: no line is
// that long.
const maxShown = 2000

// shown is an id or a pattern as it can be drawn: nothing in it is hidden.
func shown(text string) string {
	if len(text) > maxShown {
		end := maxShown
		for end > maxShown-utf8.UTFMax && !utf8.RuneStart(text[end]) {
			end--
		}
		text = text[:end]
	}
	return safetext.Visible(text)
}

func quote(text string) string { return "“" + shown(text) + "”" }

// fit cuts text to w cells, or fills it up.
func fit(text string, w int, ellipsis string) string {
	if w <= 0 {
		return ""
	}
	n := ansi.StringWidth(text)
	if n > w {
		text = textwidth.Truncate(text, w, ellipsis)
		n = ansi.StringWidth(text)
	}
	return text + strings.Repeat(" ", max(0, w-n))
}

// fitName is fit for names, which often differ at their ends alone: one that is
// too long loses its middle.
func fitName(text string, w int, ellipsis string) string {
	n, tail := ansi.StringWidth(text), (w-ansi.StringWidth(ellipsis))/2
	if n <= w || tail <= 0 {
		return fit(text, w, ellipsis)
	}
	end := textwidth.TruncateLeft(text, n-tail, "")
	if ansi.StringWidth(end) > tail { // a wide character was cut through
		end = textwidth.TruncateLeft(text, n-tail+1, "")
	}
	head := textwidth.Truncate(text, w-ansi.StringWidth(ellipsis)-ansi.StringWidth(end), "")
	return fit(head+ellipsis+end, w, "")
}

// longest is the first of some texts that fits into w cells; the last one when
// none does.
func longest(w int, texts ...string) string {
	for _, t := range texts[:len(texts)-1] {
		if ansi.StringWidth(t) <= w {
			return t
		}
	}
	return texts[len(texts)-1]
}

// spread sets left and right into w cells. Left gives way: its last piece that
// is too long is cut by cut. Right is left out where it would take more than half.
func spread(w int, cut func(text string, w int, ellipsis string) string, ellipsis string, left, right []piece) string {
	wide := 0
	for _, r := range right {
		wide += ansi.StringWidth(r.text)
	}
	if wide+1 > w/2 {
		right, wide = nil, 0
	}
	room := w - wide
	if wide > 0 {
		room-- // a gap before what stands at the right
	}
	var b strings.Builder
	for _, l := range left {
		n := ansi.StringWidth(l.text)
		if n > room {
			l.text = cut(l.text, room, ellipsis)
			n = room
		}
		b.WriteString(l.st.on(l.text))
		room -= n
	}
	if wide > 0 {
		room++
	}
	b.WriteString(strings.Repeat(" ", max(0, room)))
	for _, r := range right {
		b.WriteString(r.st.on(r.text))
	}
	return b.String()
}

// wrap breaks text into at most n lines of w cells; what is over is cut.
func wrap(text string, w, n int, ellipsis string) []string {
	if w <= 0 || n <= 0 || text == "" {
		return nil
	}
	lines := textwidth.Wrap(text, w)
	if len(lines) > n {
		lines[n-1] = textwidth.Truncate(strings.TrimRight(lines[n-1], " "), w-ansi.StringWidth(ellipsis), "") + ellipsis
		lines = lines[:n]
	}
	for i, l := range lines {
		lines[i] = fit(l, w, ellipsis)
	}
	return lines
}

func base(path string) string { return filepath.Base(path) }
