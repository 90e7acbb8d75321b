package markdown

import (
	"bytes"
	"strings"
)

// This file implements CommonMark's block structure: a stack of open containers and one
// open leaf block. A line continues as many of the containers as it has markers for, and
// may open others. The rest of the line continues the leaf or starts another.

// container is a quote or an item of a list.
type container struct {
	parent     *container
	depth      int  // 1 is the outermost
	quote      bool // a quote; otherwise an item
	item       listMarker
	number     int
	next       bool // this is not the first item of its list
	blank      bool // a blank line precedes the container
	hasContent bool // a block in the container has started
	ended      bool // the first two lines of this item are blank, so nothing can follow in it
}

// depthOf returns the depth of c; 0 for nil, the document.
func depthOf(c *container) int {
	if c == nil {
		return 0
	}
	return c.depth
}

// path returns c and the containers around it, outermost first.
func (c *container) path() []*container {
	all := make([]*container, depthOf(c))
	for ; c != nil; c = c.parent {
		all[c.depth-1] = c
	}
	return all
}

// common returns the innermost container that contains or equals both a and b; nil if only
// the document contains both.
func common(a, b *container) *container {
	for a != b {
		if depthOf(a) >= depthOf(b) {
			a = a.parent
		} else {
			b = b.parent
		}
	}
	return a
}

// lineKind is the kind of a line after the markers of its containers.
type lineKind int

const (
	lineBlank lineKind = iota
	lineEmpty          // nothing after the marker of a new container
	lineText
	lineUnderline // the underline of a heading
	lineDelimiter // the second line of a table
	lineRow
	lineHeading
	lineThematicBreak
	lineFence
	lineFenceEnd
	lineCode
)

// fence is what starts a block of code.
type fence struct {
	codeFence
	lang string // language; "" if none
}

// firstWord returns the first word of text; "" if it is blank.
func firstWord(text string) string {
	for word := range strings.FieldsSeq(text) {
		return word
	}
	return ""
}

// placement says where a line belongs.
type placement struct {
	cursor
	kind          lineKind
	matched       int          // number of open containers that the line continues
	opened        []*container // containers that the line opens
	continuesLeaf bool         // the line continues the open leaf
	lazy          bool         // the line is a lazy continuation line, without the markers of all containers
	open          bool         // the line is incomplete
	fence         fence
}

// cursor is the rest of a line with the column where it starts.
type cursor struct {
	rest   []byte
	column int
}

// skip removes up to n columns of white space. The rest of a tab becomes blanks.
func (c *cursor) skip(n int) {
	for ; n > 0 && len(c.rest) > 0 && (c.rest[0] == ' ' || c.rest[0] == '\t'); c.rest = c.rest[1:] {
		wide := 1
		if c.rest[0] == '\t' {
			wide = codeColumns - c.column%codeColumns
		}
		if wide > n {
			c.rest = append(bytes.Repeat([]byte(" "), wide-n), c.rest[1:]...)
			c.column += n
			return
		}
		n, c.column = n-wide, c.column+wide
	}
}

// expanded returns the rest with leading tabs replaced by blanks.
func (c *cursor) expanded() []byte {
	columns, at := indentFrom(c.rest, c.column)
	if bytes.IndexByte(c.rest[:at], '\t') < 0 {
		return c.rest
	}
	return append(bytes.Repeat([]byte(" "), columns), c.rest[at:]...)
}

// skipTo removes the indent and the n bytes after it.
func (c *cursor) skipTo(n int) {
	columns, at := indentFrom(c.rest, c.column)
	c.rest, c.column = c.rest[at+n:], c.column+columns+n
}

// place determines where a line belongs, without changing the document. If long is set, line
// is only the start of a long line.
func (d *Doc) place(line []byte, long bool) placement {
	p := placement{cursor: cursor{rest: line}}
	for p.matched < len(d.stack) && p.enter(d.stack[p.matched]) {
		p.matched++
	}
	inside := p.matched == len(d.stack)
	if inside && d.leafIs(blockCode) && p.continuesCode(d.leaf.block, long) {
		return p
	}
	if isBlank(p.rest) {
		return p
	}
	paragraph := inside && d.leafIs(blockText)
	if paragraph && !long && d.leaf.prev == nil && isSetextUnderline(p.expanded()) {
		if d.hasText() {
			p.kind, p.continuesLeaf = lineUnderline, true
			return p
		}
		paragraph = false // a link definition can no longer follow
	}
	d.openContainers(&p, paragraph || inside && d.leafIs(blockTable))
	d.placeLeaf(&p, paragraph, inside, long)
	return p
}

// placeLeaf determines the kind of the text of a line after its containers. inside means
// that the line is in all open containers; paragraph means that the line may continue the
// open paragraph.
func (d *Doc) placeLeaf(p *placement, paragraph, inside, long bool) {
	lazy := !inside && len(p.opened) == 0
	inside = inside && len(p.opened) == 0
	paragraph = paragraph && inside || lazy && d.leafIs(blockText)
	table := (inside || lazy) && d.leafIs(blockTable)
	switch text := p.expanded(); {
	case isBlank(text):
		p.kind = lineEmpty
	case p.beginsLeaf(text, paragraph || table, long):
	case table && !long && (lazy || !isSetextUnderline(text)):
		p.kind, p.continuesLeaf = lineRow, true
	case paragraph && !long && isDelimiter(text) && d.tableHead(p.rest) != nil:
		p.kind, p.continuesLeaf = lineDelimiter, true
	default:
		p.kind, p.continuesLeaf, p.lazy = lineText, paragraph, paragraph && lazy
	}
}

// leafIs reports whether the open leaf is of this kind.
func (d *Doc) leafIs(kind blockKind) bool { return d.leaf != nil && d.leaf.kind == kind }

// enter removes the markers of c from the line, and reports whether the line has them.
func (p *placement) enter(c *container) bool {
	columns, at := indentFrom(p.rest, p.column)
	blank := at == len(p.rest)
	switch {
	case c.quote && !blank && columns < codeColumns && p.rest[at] == '>':
		p.skipTo(1)
		p.skip(1)
		return true
	case c.quote, c.ended && !blank:
		return false
	case blank, columns >= c.item.Offset:
		p.skip(c.item.Offset)
		return true
	}
	return false
}

// continuesCode places a line within the open code b, and reports whether it belongs there.
func (p *placement) continuesCode(b *block, long bool) bool {
	columns, _ := indentFrom(p.rest, p.column)
	switch {
	case b.fence.Char != 0 && !long && b.fence.Closes(p.expanded()):
		p.kind = lineFenceEnd
	case b.fence.Char != 0, isBlank(p.rest), columns >= codeColumns:
		p.kind = lineCode
		p.skip(b.fence.Indent)
	default:
		return false
	}
	p.continuesLeaf = true
	return true
}

// openContainers opens the containers whose markers are at the start of the rest of a line.
// paragraph means that the line could continue the open paragraph or table, which not every
// list marker interrupts.
func (d *Doc) openContainers(p *placement, paragraph bool) {
	for p.matched+len(p.opened) < maxDepth {
		text := p.expanded()
		columns, _ := lineIndent(text)
		m, item := openItem(text, p.column)
		switch {
		case columns >= codeColumns:
			return
		case isQuote(text):
			p.skipTo(1)
			p.skip(1)
			d.push(p, &container{quote: true})
			continue
		case !item, isThematicBreak(text), paragraph && len(p.opened) == 0 && (m.Empty || m.Ordered() && m.Number != 1):
			return
		}
		p.skipTo(m.Size)
		p.skip(m.Pad)
		d.push(p, &container{item: m, number: m.Number})
	}
}

// push adds c to the containers that a line opens.
func (d *Doc) push(p *placement, c *container) {
	n := p.matched + len(p.opened)
	c.depth, c.blank = n+1, d.blankIn(n)
	switch {
	case len(p.opened) > 0:
		c.parent = p.opened[len(p.opened)-1]
	case n > 0:
		c.parent = d.stack[n-1]
	}
	if len(p.opened) == 0 && n < len(d.stack) {
		if before := d.stack[n]; !before.quote && !c.quote && before.item.Char == c.item.Char {
			c.next, c.number = true, before.number+1
		}
	}
	p.opened = append(p.opened, c)
}

// blankIn reports whether the last line was blank inside the outermost depth containers.
func (d *Doc) blankIn(depth int) bool { return d.blank && depth >= d.blankDepth }

// beginsLeaf places a line if it starts a leaf other than a paragraph, and reports whether it
// does. goesOn means that the line could continue the open paragraph or table.
func (p *placement) beginsLeaf(text []byte, goesOn, long bool) bool {
	columns, _ := lineIndent(text)
	f, info, fenced := openFence(text)
	switch {
	case columns >= codeColumns:
		if goesOn {
			return false
		}
		p.kind, p.fence.Indent = lineCode, codeColumns
		p.skip(codeColumns)
	case long:
		return false
	case fenced:
		p.kind, p.fence = lineFence, fence{codeFence: f, lang: firstWord(literal(info))}
	case isThematicBreak(text):
		p.kind = lineThematicBreak
	case isHeading(text):
		p.kind = lineHeading
	default:
		return false
	}
	return true
}

// hasText reports whether the open paragraph contains more than link definitions.
func (d *Doc) hasText() bool {
	return bytes.IndexByte(d.leaf.text, ']') < 0 || len(paragraphs(d.parse(d.leaf.text))) > 0
}
