package list

import (
	"strings"

	"winnow/tui/textwidth"

	"github.com/charmbracelet/x/ansi"
)

// Resize tells the list its size in cells, as View does. While the user is
// away from the end the same item stays first, at the same share of its lines.
func (l *List) Resize(width, height int) {
	width, height = max(width, 0), max(height, 0)
	if width != l.width {
		before := 0
		if l.away && l.Len() > 0 {
			before = int(l.heights.each[l.anchor.item])
		}
		l.width = width
		if before > 0 && width > 0 {
			l.anchor.line = l.anchor.line * l.heightOf(l.anchor.item) / before
		}
	}
	l.height = height
}

// View draws the list: exactly height lines, each exactly width cells wide.
func (l *List) View(width, height int) string {
	l.Resize(width, height)
	if l.height == 0 {
		return ""
	}
	l.rows = l.rows[:0]
	l.cache.frame++
	if l.width > 0 && l.Len() > 0 {
		l.updateAnchor()
	}
	var b strings.Builder
	b.Grow((l.width + 8) * l.height)
	if l.width > 0 && l.Len() > 0 {
		l.draw(&b)
	}
	space := strings.Repeat(" ", l.width)
	for n := len(l.rows); n < l.height; n++ {
		if n > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(space)
	}
	return b.String()
}

// draw writes the lines from the anchor on.
func (l *List) draw(b *strings.Builder) {
	for i, line := l.anchor.item, l.anchor.line; i < l.Len() && len(l.rows) < l.height; i, line = i+1, 0 {
		d := l.lines(i)
		for ; line < len(d.lines) && len(l.rows) < l.height; line++ {
			if len(l.rows) > 0 {
				b.WriteByte('\n')
			}
			b.WriteString(d.line(line, l.width))
			l.rows = append(l.rows, row{i, line})
		}
	}
}

// updateAnchor makes the anchor the first line to draw, and finds out whether the
// end is on the screen.
func (l *List) updateAnchor() {
	if l.away {
		l.anchor.item = min(l.anchor.item, l.Len()-1)
		l.anchor.line = max(0, min(l.anchor.line, l.heightOf(l.anchor.item)-1))
		left, end := l.leftBelow(l.anchor)
		if l.slack && end && left < 0 || !l.slack && (!end || left > 0) {
			return
		}
		l.away, l.slack = false, false
	}
	l.anchor = l.end()
	last := l.Len() - 1
	l.seen = seen{items: l.Len(), lines: l.heightOf(last), version: l.source.At(last).Version()}
}

// leftBelow is how many lines the list has below the screen when a is its first
// line; end is false when the last item is not even on the screen.
func (l *List) leftBelow(a anchor) (lines int, end bool) {
	lines = -a.line - l.height
	for i := a.item; i < l.Len(); i++ {
		if lines >= 0 {
			return lines, false
		}
		lines += l.heightOf(i)
	}
	return lines, true
}

// end is the first line on the screen when the last line of all is on the last
// row, or the very first when all fits.
func (l *List) end() anchor {
	last := l.Len() - 1
	return l.up(anchor{last, l.heightOf(last) - 1}, l.height-1)
}

// up is the line n lines above a, or the first.
func (l *List) up(a anchor, n int) anchor {
	a.line -= n
	for a.line < 0 {
		if a.item == 0 {
			return anchor{}
		}
		a.item--
		a.line += l.heightOf(a.item)
	}
	return a
}

// down is the line n lines below a, or the last.
func (l *List) down(a anchor, n int) anchor {
	a.line += n
	for {
		h := l.heightOf(a.item)
		switch {
		case a.line < h:
			return a
		case a.item == l.Len()-1:
			return anchor{a.item, h - 1}
		}
		a.line -= h
		a.item++
	}
}

// tabWidth is how many cells a tab takes.
const tabWidth = 4

// reset ends every style.
const reset = "\x1b[m"

// fit cuts or pads s to exactly width cells. A style left open is closed;
// control characters, which have no width a terminal would agree with, go.
func fit(s string, width int) string {
	if strings.ContainsFunc(s, isControl) {
		s = strings.ReplaceAll(s, "\t", strings.Repeat(" ", tabWidth))
		s = withoutControls(s)
	}
	n := ansi.StringWidth(s)
	if n > width {
		s = textwidth.Truncate(s, width, "")
		n = ansi.StringWidth(s)
	}
	if strings.Contains(s, "\x1b[") && !strings.HasSuffix(s, reset) {
		s += reset
	}
	if n < width {
		s += strings.Repeat(" ", width-n)
	}
	return s
}

// withoutControls drops control characters, but for the BEL that ends a link:
// without it the terminal would take the text for a part of the address.
func withoutControls(s string) string {
	var before rune
	link := false
	return strings.Map(func(r rune) rune {
		link = link && r != '\x1b' || before == '\x1b' && r == ']'
		before = r
		switch {
		case link && r == '\a':
			link = false
			return r
		case isControl(r):
			return -1
		}
		return r
	}, s)
}

// isControl reports whether r is a control character other than ESC, which
// begins the sequences of the styles.
func isControl(r rune) bool {
	return r < ' ' && r != '\x1b' || r >= 0x7f && r <= 0x9f
}
