package markdown

import (
	"bytes"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
)

// block is a leaf of the document: a paragraph, a heading, code, a table. It is
// rendered by itself.
type block struct {
	kind   blockKind
	text   []byte     // without the markers of containers and fences; the rows of a table
	parent *container // the innermost that it stands in; nil for none
	above  int        // how many of the containers around it also hold the block above: the others draw their markers
	gap    bool       // a blank line before it, when there is a block above

	prev      *block // the piece of a long paragraph, code or table that it goes on from; nil for none
	unspaced  bool   // without a blank between
	continued bool   // the next block goes on from this

	partial    []byte  // of open code or an open table: the incomplete line, for the frame being drawn
	growth     *growth // of open code that was drawn; else nil
	linesFinal bool    // of code: lines are those of the whole piece

	fence    fence      // of code
	from, to delimiters // of code: what a piece begins and ends inside of
	head     []byte     // of a table: its source
	table    *table

	ready  bool     // what follows is right
	box    byte     // what stands in the box of a task; 0 for none
	styled string   // of a paragraph or heading, with "\n" for a hard break
	lines  []string // of code
	layout blockLayout
}

// openBlock is the block that is open, with what the closed ones need no more:
// an answer has thousands of those.
type openBlock struct {
	*block
	line    int    // of text: where the last line begins
	scanned int    // of a paragraph: how far cut has read it
	cut     cutter // of a paragraph: finds where to split it
	check   int    // of code: the length at which to try to cut it
	pending []byte // of indented code: blank lines, which belong to it if more follows
	noTable bool   // of a paragraph: it has a delimiter row that fits no head, so that no table follows in it
}

func newOpen(b *block) *openBlock { return &openBlock{block: b, check: minCode} }

type blockKind int

const (
	blockText blockKind = iota // a paragraph or heading, with the link definitions above it
	blockCode
	blockTable
	blockThematicBreak
	blockEmpty // an item without text
)

// attach sets above and gap of b from the block with lines above it. blank
// says that a blank line stands between b and what is above it in its container.
func (b *block) attach(last *block, blank bool) {
	if last == nil {
		return
	}
	c := common(b.parent, last.parent)
	b.above = depthOf(c)
	top := b.parent // the child of c that b is in
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

// invalidate drops what was rendered.
func (b *block) invalidate() {
	b.ready, b.styled, b.lines, b.table = false, "", nil, nil
	b.layout, b.growth = blockLayout{}, nil
}

// hasLines reports whether b, which is rendered, has lines.
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

// split closes the open leaf before byte at and goes on in another.
func (d *Doc) split(at int) {
	b := d.leaf
	next := newOpen(&block{
		kind: b.kind, text: b.text[at:], prev: b.block, parent: b.parent, above: depthOf(b.parent), fence: b.fence, from: b.to, head: b.head,
	})
	next.line, next.noTable = max(0, b.line-at), b.noTable
	b.text = bytes.Clone(b.text[:at]) // the small part: of a long line the rest is cut again and again
	d.closeLeaf()
	if d.overBudget() {
		d.goPlain(next.text)
		return
	}
	b.continued = true
	d.leaf = next
}

// scan reads the open paragraph up to end and splits it where it is too long.
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

// addCode adds a line, or the beginning of a long one, to the open code.
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

// endCodeLine ends a line of the open code, and splits the code when it is long:
// at a line that ends outside of strings and comments or inside of one whose
// delimiters are known.
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

// cutLongCode splits the open code inside of a line that is too long.
func (d *Doc) cutLongCode() {
	for b := d.leaf; b != nil && len(b.text)-b.line > longCode; b = d.leaf {
		at := b.line + longCode
		for at > b.line && !utf8.RuneStart(b.text[at]) {
			at--
		}
		d.split(at)
	}
}

// measuredRows is how many first rows of a table set the widths of its columns.
// The rest is drawn in pieces of pieceRows.
const (
	measuredRows = 200
	pieceRows    = 16
)

// tableHead is the source of a table's head whose delimiters are given and whose
// first line is the last of the open paragraph; nil when they do not fit.
func (d *Doc) tableHead(delimiters []byte) []byte {
	b := d.leaf
	if b.noTable || b.prev != nil && b.line == 0 {
		return nil
	}
	head := append(append(bytes.Clone(b.text[b.line:]), delimiters...), '\n')
	if b.line > 0 && head[0] == '[' { // no link definition: those begin a paragraph
		head = append([]byte(mark), head...)
	}
	if !isTable(d.parse(head).FirstChild()) {
		return nil
	}
	return head
}

// beginTable makes a table of the last line of the open paragraph.
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

// parse parses src with the link definitions it may use. goldmark may append a
// line break to what it is given, so it is given no room for that.
func (d *Doc) parse(src []byte) ast.Node {
	src = src[:len(src):len(src)]
	return d.style.parser.Parse(text.NewReader(src), d.context(src))
}

// paragraphs are the children of a parsed paragraph that are drawn.
func paragraphs(doc ast.Node) (all []ast.Node) {
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		if n.Kind() != ast.KindLinkReferenceDefinition {
			all = append(all, n)
		}
	}
	return all
}
