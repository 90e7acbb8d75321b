package markdown

import (
	"bytes"
	"strings"
)

// nestAt is the size in bytes from which on what an item or a quote contains is
// a document of its own, so that its length costs nothing: as much as is rendered
// again for a token anyway, see leastCut.
const nestAt = 1024

// container is a large item or quote. What it contains is a document of its own,
// which is given the lines without the indent of the item or the sign of the quote.
type container struct {
	doc   *Doc
	in    *Doc // the document that holds it
	block *block
	index int // of block in in; -1 while it is open

	fed    int      // how far the source of in was given to doc
	within bool     // that is inside of a line
	lines  []origin // where each line of doc stands
	box    byte     // what stands in the box of a task; 0 when there is none

	first, rest string // what the first line and the others begin with
}

// origin is where a line of a contained document stands.
type origin struct {
	at    int // where the line begins in that document
	ahead int // so many bytes that it begins with are in no source: the rest of a tab, a mark
	from  int // where the others begin in the source around it
}

// isContainer reports whether b contains blocks.
func (b *block) isContainer() bool { return b.kind == blockItem || b.kind == blockQuote }

// nest makes what the open block contains a document of its own.
func (d *Doc) nest() {
	o := d.open
	c := &container{in: d, block: o, index: -1, fed: o.start}
	c.doc = &Doc{style: d.style, defined: d.defined, work: d.work, nestAt: d.nestAt, around: c, dense: o.kind == blockItem}
	o.forget()
	o.inner = c
}

// dress makes what the lines begin with.
func (c *container) dress() {
	look := &c.in.style.look
	sign := byte(0)
	if b, end := c.doc.block(0); c.doc.hasBox(b) {
		sign, _ = box(c.doc.src[:end])
	}
	if c.first != "" && sign == c.box {
		return
	}
	c.box = sign
	if c.block.kind == blockQuote {
		c.first = look.Quote.Render(look.Bar) + " "
		c.rest = c.first
		return
	}
	c.first = c.in.style.sign(c.block.item, c.block.number, c.box)
	c.rest = strings.Repeat(" ", cellsIn(c.first))
}

// take gives the contained document the source up to end. A line that is not
// whole must be known to belong to it, see Doc.decided.
func (c *container) take(end int) {
	src := c.in.src
	for c.fed < end {
		to := end
		if i := bytes.IndexByte(src[c.fed:end], '\n'); i >= 0 {
			to = c.fed + i + 1
		}
		if c.within {
			c.doc.Append(string(src[c.fed:to]))
		} else {
			c.begin(c.fed, to)
		}
		c.fed, c.within = to, src[to-1] != '\n'
	}
}

// begin gives the contained document a line, src[start:to].
func (c *container) begin(start, to int) {
	line := bytes.TrimSuffix(c.in.src[start:to], []byte("\n"))
	at, column, blanks := c.inside(line, start == c.block.start)
	ahead := strings.Repeat(" ", blanks)
	switch rest := line[at:]; {
	case at == len(line):
	case c.lazy(line, start) && (isUnderline(rest) || isItem(rest) || interrupts(rest)):
		ahead = mark // text: it was indented, or the paragraph is not at its level
	case !c.doc.verbatim():
		if indent := line[at : len(line)-len(bytes.TrimLeft(rest, " \t"))]; bytes.IndexByte(indent, '\t') >= 0 {
			n, _ := indentFrom(indent, column)
			ahead, at = strings.Repeat(" ", blanks+n), at+len(indent)
		}
	}
	c.lines = append(c.lines, origin{len(c.doc.src), len(ahead), start + at})
	c.doc.Append(ahead + string(c.in.src[start+at:to]))
}

// lazy reports whether the line that begins at start goes on with a paragraph
// without saying so.
func (c *container) lazy(line []byte, start int) bool {
	switch {
	case start == c.block.start || isBlank(line):
		return false
	case c.block.kind == blockQuote:
		return !isQuote(line)
	}
	columns, _ := indentOf(line)
	return columns < c.block.item.offset
}

// inside finds where, in a line of the container, what it contains begins: at
// which byte and column, after blanks that are the rest of a tab.
func (c *container) inside(line []byte, first bool) (at, column, blanks int) {
	column, at = indentOf(line)
	switch {
	case c.block.kind == blockQuote && isQuote(line):
		return consume(line, at+1, column+1, 1)
	case c.block.kind == blockQuote:
		return at, column, 0
	case first:
		for line[at] != c.block.item.char {
			at, column = at+1, column+1
		}
		return consume(line, at+1, column+1, c.block.item.offset-column-1)
	case column < c.block.item.offset && !isBlank(line):
		return at, column, 0
	}
	return consume(line, 0, 0, c.block.item.offset)
}

// consume takes n columns of white space, as far as there are so many, from line
// at byte at, which stands in a column.
func consume(line []byte, at, column, n int) (to, toColumn, blanks int) {
	for ; n > 0 && at < len(line); at++ {
		switch line[at] {
		case ' ':
			n, column = n-1, column+1
		case '\t':
			wide := codeColumns - column%codeColumns
			column += wide
			if wide > n {
				return at + 1, column, wide - n
			}
			n -= wide
		default:
			return at, column, 0
		}
	}
	return at, column, 0
}

// box is what stands in the box that the text of an item begins with, and where
// the box begins; 0 when there is none.
func box(text []byte) (sign byte, at int) {
	if isHeading(text) {
		at = len(text) - len(bytes.TrimLeft(text, "# \t"))
	}
	text = text[at:]
	if len(text) >= 3 && text[0] == '[' && text[2] == ']' && bytes.IndexByte([]byte(" \txX"), text[1]) >= 0 &&
		(len(text) == 3 || text[3] != ':') {
		return text[1], at
	}
	return 0, 0
}

// hasBox reports whether b begins an item with the box of a task, which is the
// sign of the item and no part of the text.
func (d *Doc) hasBox(b *block) bool {
	return d.dense && b.start == 0 && b.kind == blockText && !b.cont
}

// verbatim reports whether the tabs of the next line may be those of code.
func (d *Doc) verbatim() bool {
	o := d.open
	switch {
	case o == nil:
		return false
	case o.inner != nil:
		return o.inner.doc.verbatim()
	}
	return o.isContainer() || o.kind == blockCode && o.fence.char != 0
}

// decided reports whether line, which still grows, belongs to the open container
// whatever follows, and where in it its content begins.
func (d *Doc) decided(line []byte) bool {
	o := d.open
	columns, at := indentOf(line)
	if o.kind == blockQuote {
		return isQuote(line) && !isBlank(line[at+1:])
	}
	return at < len(line) && columns >= o.item.offset && !d.endsEmpty()
}

// takesLazily reports whether line, which lacks the signs of what contains the
// document, goes on with the paragraph at its end.
func (d *Doc) takesLazily(line []byte) bool {
	o := d.open
	switch {
	case o == nil || d.blank:
		return false
	case o.inner != nil:
		return o.inner.doc.takesLazily(line)
	case o.isContainer():
		return d.lazily(append(bytes.Clone(d.src[o.start:o.end]), line...))
	}
	return o.kind == blockText || o.kind == blockTable
}

// led is a line behind what it begins with.
func led(lead, line string) string {
	switch {
	case lead == "":
		return line
	case line == "":
		return trimRight(lead)
	}
	return lead + line // ends in no blanks already
}
