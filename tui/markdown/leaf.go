package markdown

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// leaf is a piece of a block that is laid out by itself: a paragraph, a heading,
// code, a table, a line across. It is styled already and fits any width, so
// another width costs no more than breaking the lines anew.
type leaf struct {
	kind        leafKind
	first, rest string // what the first line and the others begin with: bullets, bars, indents
	gap         bool   // a blank line before it
	gapLead     string // what that line begins with
	text        string // leafText: one line per "\n"
	lines       []string
	table       *table
}

type leafKind int

const (
	leafText leafKind = iota
	leafCode          // lines are kept, and broken where the line ends
	leafTable
	leafRule // text, repeated over the whole width
)

// leastInner is how many cells the text of a leaf keeps when bullets and bars
// would take them all.
const leastInner = 8

// layout adds the lines of the leaf at width, at least one cell, to dst.
func (f *leaf) layout(dst []string, width int) []string {
	if f.gap {
		dst = append(dst, trimRight(ansi.Truncate(f.gapLead, max(0, width-min(leastInner, width)), "")))
	}
	first, rest, inner := f.leads(width)
	from := len(dst)
	switch f.kind {
	case leafText:
		dst = append(dst, wrap(f.text, inner)...)
	case leafCode:
		for _, line := range f.lines {
			dst = wrapCode(dst, line, inner)
		}
	case leafTable:
		dst = append(dst, f.table.layout(inner)...)
	case leafRule:
		dst = append(dst, f.rule(inner))
	}
	lead := first
	for i := from; i < len(dst); i++ {
		dst[i] = led(lead, dst[i])
		lead = rest
	}
	return dst
}

// cellsIn is how many cells a styled string takes.
func cellsIn(s string) int { return ansi.StringWidth(s) }

// leads are what the first line and the others begin with, cut so that something
// else has room, and how many cells that has.
func (f *leaf) leads(width int) (first, rest string, inner int) {
	most := max(0, width-min(leastInner, width))
	first, rest = f.first, f.rest
	if most == 0 { // cut, their sequences would stay
		return "", "", width
	}
	if ansi.StringWidth(first) > most || ansi.StringWidth(rest) > most {
		first, rest = ansi.Truncate(first, most, ""), ansi.Truncate(rest, most, "")
	}
	return first, rest, width - max(ansi.StringWidth(first), ansi.StringWidth(rest))
}

// rule is the sign in text, n times, in its style.
func (f *leaf) rule(n int) string {
	sign := ansi.Strip(f.text)
	return strings.Replace(f.text, sign, strings.Repeat(sign, n), 1)
}

// trimRight takes blanks from the end of a styled line, also those in front of
// the sequences that close its styles.
func trimRight(s string) string {
	if s == "" || s[len(s)-1] != ' ' && s[len(s)-1] != 'm' && s[len(s)-1] != '\a' {
		return s
	}
	if s[len(s)-1] != ' ' && !strings.Contains(s, " \x1b") {
		return s
	}
	return joined(cells(s))
}
