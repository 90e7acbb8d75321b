package markdown

import (
	"bytes"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
)

// block is a leaf of the document: a paragraph, a heading, code, a table. Each block is
// rendered separately.
type block struct {
	kind   blockKind
	text   []byte     // source without the markers of containers and fences; for a table, its rows
	parent *container // the innermost container; nil if none
	above  int        // number of containers that also contain the block above; only the others draw their markers
	gap    bool       // a blank line precedes the block, if there is a block above

	prev      *block // the previous piece of the same long paragraph, code or table; nil if none
	unspaced  bool   // there is no blank between this piece and the previous one
	continued bool   // the next block is a continuation of this one

	partial    []byte  // for open code or an open table: the incomplete line, for the current frame
	growth     *growth // for open code that has been drawn; otherwise nil
	linesFinal bool    // for code: lines covers the whole piece

	fence    fence      // for code
	from, to delimiters // for code: delimiters of the comment or string that is open at the start and at the end of a piece
	head     []byte     // for a table: source of its head
	table    *table

	ready  bool     // the following fields are valid
	box    byte     // character in the box of a task; 0 if none
	styled string   // for a paragraph or heading, with "\n" for a hard break
	lines  []string // for code
	layout blockLayout
}

// openBlock is the open block. It holds the state that closed blocks do not need, because
// an answer has thousands of closed blocks.
type openBlock struct {
	*block
	line    int    // for text: start of the last line
	cut     cutter // for a paragraph: finds where to split it
	scanned int    // for a paragraph: number of bytes that the cutter has read
	check   int    // for code: the length at which the next attempt is made to cut it
	pending []byte // for indented code: blank lines that belong to the code if more code follows
	noTable bool   // for a paragraph: it contains a delimiter row that matches no head, so no table follows in it
}

func newOpen(b *block) *openBlock { return &openBlock{block: b, check: minCode} }

type blockKind int

const (
	blockText blockKind = iota // a paragraph or heading, including link definitions above it
	blockCode
	blockTable
	blockThematicBreak
	blockEmpty // an item without text
)

// attach sets above and gap of b relative to the last block with lines. blank means that
// there is a blank line above b in its container.
func (b *block) attach(last *block, blank bool) {
	if last == nil {
		return
	}
	c := common(b.parent, last.parent)
	b.above = depthOf(c)
	top := b.parent // the child of c that contains b
	for top != nil && top.parent != c && top != c {
		top = top.parent
	}
	loose := c == nil || c.quote
	switch {
	case top == c:
		b.gap = loose || blank
	case top.next:
		b.gap = top.blank
	default:
		b.gap = loose || top.blank
	}
}

// invalidate discards what was rendered.
func (b *block) invalidate() {
	b.ready, b.styled, b.lines, b.table = false, "", nil, nil
	b.layout, b.growth = blockLayout{}, nil
}

// hasLines reports whether b, which must be rendered, has lines.
func (b *block) hasLines() bool {
	switch b.kind {
	case blockText:
		return b.styled != ""
	case blockCode:
		return len(b.text)+len(b.partial) > 0
	case blockTable:
		return b.table != nil
	default:
		return true
	}
}

// split closes the open leaf before byte at and continues in a new leaf.
func (d *Doc) split(at int) {
	b := d.leaf
	next := newOpen(&block{
		kind: b.kind, text: b.text[at:], prev: b.block, parent: b.parent, above: depthOf(b.parent), fence: b.fence, from: b.to, head: b.head,
	})
	next.line, next.noTable = max(0, b.line-at), b.noTable
	b.text = bytes.Clone(b.text[:at]) // clone the small part, because the rest of a long line is split again and again
	d.closeLeaf()
	if d.overBudget() {
		d.goPlain(next.text)
		return
	}
	b.continued = true
	d.leaf = next
}

// scan reads the open paragraph up to byte end, and splits the paragraph if it is too long.
func (d *Doc) scan(end int) {
	for b := d.leaf; b.scanned < end; b.scanned++ {
		char := b.text[b.scanned]
		if !b.cut.next(char) {
			continue
		}
		at := b.scanned
		glued := !isSpace(char) && !isSpace(b.text[at-1])
		d.split(at)
		if d.rest != nil {
			return
		}
		b, end = d.leaf, end-at
		b.unspaced = glued
		b.cut.next(char)
	}
}

// addCode adds a line, or the start of a long one, to the open code.
func (d *Doc) addCode(line []byte, open bool) {
	b := d.leaf
	if b.fence.Char == 0 && isBlank(line) && !open {
		if len(b.text) > 0 || b.prev != nil {
			b.pending = append(append(b.pending, line...), '\n')
		}
		return
	}
	b.text = append(b.text, b.pending...)
	b.pending = nil
	b.line = len(b.text)
	b.text = append(b.text, line...)
	d.cutLongCode()
	if !open {
		d.endCodeLine()
	}
}

// endCodeLine ends a line of the open code. Long code is split at a line that ends outside
// strings and comments, or inside a string or comment whose delimiters are known.
func (d *Doc) endCodeLine() {
	b := d.leaf
	if d.rest != nil {
		d.endRestLine()
		return
	}
	b.text = append(b.text, '\n')
	b.line = len(b.text)
	if len(b.text) < b.check {
		return
	}
	lines, end := d.highlight(b.block, b.from, delimiters{}, b.text)
	if end.open && end.inside == (delimiters{}) && len(b.text) < maxCode {
		b.check += stepCode
		return
	}
	b.to = end.inside
	if b.linesFinal = end.inside == (delimiters{}); b.linesFinal {
		b.lines = lines
	}
	d.split(len(b.text))
}

// cutLongCode splits the open code within a line that is too long.
func (d *Doc) cutLongCode() {
	for b := d.leaf; b != nil && len(b.text)-b.line > longCode; b = d.leaf {
		at := b.line + longCode
		for at > b.line && !utf8.RuneStart(b.text[at]) {
			at--
		}
		d.split(at)
	}
}

// The first measuredRows rows of a table determine the widths of its columns. The rows after
// them are drawn in pieces of pieceRows rows.
const (
	measuredRows = 200
	pieceRows    = 16
)

// tableHead returns the source of a table's head: the last line of the open paragraph, with
// the row of delimiters below it; nil if the two do not form a head.
func (d *Doc) tableHead(delimiters []byte) []byte {
	b := d.leaf
	if b.noTable || b.prev != nil && b.line == 0 {
		return nil
	}
	head := append(append(bytes.Clone(b.text[b.line:]), delimiters...), '\n')
	if b.line > 0 && head[0] == '[' { // the row is not a link definition, which can only start a paragraph
		head = append([]byte(mark), head...)
	}
	if !isTable(d.parse(head).FirstChild()) {
		return nil
	}
	return head
}

// beginTable turns the last line of the open paragraph into the head of a table.
func (d *Doc) beginTable(delimiters []byte) {
	head, b := d.tableHead(delimiters), d.leaf
	t := &block{kind: blockTable, head: head}
	if b.line > 0 {
		b.text = b.text[:b.line]
		d.closeLeaf()
		d.open(t)
	} else {
		t.parent, t.above, t.gap = b.parent, b.above, b.gap
		d.leaf = newOpen(t)
	}
	t.gap = t.gap || d.last != nil && common(t.parent, d.last.parent) == t.parent
}

// addRow adds a row to the open table.
func (d *Doc) addRow(row []byte) {
	if isSetextUnderline(row) {
		row = append([]byte(mark), row...)
	}
	d.leaf.text = append(append(d.leaf.text, row...), '\n')
	d.leaf.line++ // counts the rows
	d.nodes++
	if d.leaf.line == measuredRows || d.leaf.prev != nil && d.leaf.line == pieceRows {
		if d.split(len(d.leaf.text)); d.leaf != nil {
			d.leaf.line = 0
		}
	}
}

func isTable(n ast.Node) bool {
	_, ok := n.(*extast.Table)
	return ok
}

// parse parses src, given the link definitions that it may use. goldmark may append a line break
// to its input, so src is passed without spare capacity.
func (d *Doc) parse(src []byte) ast.Node {
	src = src[:len(src):len(src)]
	return d.style.parser.Parse(text.NewReader(src), d.context(src))
}

// paragraphs returns the nodes of a parsed paragraph or heading that are drawn: all but link
// definitions.
func paragraphs(doc ast.Node) (all []ast.Node) {
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		if n.Kind() != ast.KindLinkReferenceDefinition {
			all = append(all, n)
		}
	}
	return all
}
