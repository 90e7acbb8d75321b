package markdown

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
)

// block is a part of the source that is rendered by itself.
type block struct {
	kind       blockKind
	start, end int // in the source; of code without its fences

	cont  bool // goes on from the block before: a piece of a long paragraph or code
	glued bool // without a blank between
	more  bool // the next block goes on from this

	fence  fence  // of code
	from   signs  // what a piece of code begins inside of
	to     signs  // and what it ends inside of
	item   marker // of a list item
	number int
	inList bool   // not the first item of its list
	tight  bool   // no blank line before the item
	spaced bool   // a blank line before it
	barred bool   // a paragraph with delimiters that fit no head holds no table
	lazy   bool   // the last line of an item or quote went on with a paragraph in it without saying so
	head   int    // where the rows of a table begin
	below  bool   // a paragraph ends right above the table
	rows   []span // of a table, without the head

	ready  bool // leaves and codes are right
	leaves []leaf
	codes  []Code
	table  *table     // the leaf of a table
	inner  *container // of a large item or quote; it has no leaves then
	drawn  drawn
	growth growth // while open
}

type blockKind int

const (
	blockText blockKind = iota // a paragraph or heading, with the link definitions above it
	blockCode
	blockQuote
	blockItem // one item of a list at the top level
	blockTable
)

// drawn are the lines of a block at a width; 0 means none.
type drawn struct {
	width int
	lines []string
	carry string // the last line, when the next block goes on from it
}

// forget drops what was rendered.
func (b *block) forget() {
	b.ready, b.leaves, b.codes, b.table = false, nil, nil, nil
	b.drawn, b.growth = drawn{}, growth{}
}

// restyle drops what was rendered, to be rendered in another look.
func (b *block) restyle(s *Style) {
	b.forget()
	if b.inner != nil {
		b.inner.doc.SetStyle(s)
		b.inner.first = ""
	}
}

// setCode makes coloured lines the content of a block of code.
func (b *block) setCode(lines []string) {
	b.leaves = []leaf{codeLeaf(lines)}
	b.ready = true
}

// codeLeaf is a leaf of coloured lines.
func codeLeaf(lines []string) leaf {
	return leaf{kind: leafCode, first: codeIndent, rest: codeIndent, lines: lines}
}

// render makes the leaves of b from the source up to end.
func (d *Doc) render(b *block, end int) {
	switch b.kind {
	case blockCode:
		if b.start == end {
			b.leaves, b.ready = nil, true
			return
		}
		b.setCode(d.colourPiece(b, end))
		return
	case blockTable:
		d.renderTable(b)
		return
	default:
	}
	src := d.src[b.start:end:end] // goldmark appends to what it reads from
	if b.cont {
		src = append([]byte(mark), bytes.TrimLeft(src, " \t\n")...)
	}
	if d.hasBox(b) {
		src = unboxed(src)
	}
	w := walker{style: d.style, src: src}
	if b.inList {
		w.number = b.number
	}
	w.blocks(d.parse(src), "", "", true)
	b.leaves, b.codes, b.ready = w.leaves, w.codes, true
}

// unboxed is src without the box of a task: a mark and blanks stand there.
func unboxed(src []byte) []byte {
	sign, at := box(src)
	if sign == 0 {
		return src
	}
	src = bytes.Clone(src)
	end := at + len(mark)
	blanks := min(len(src[end:])-len(bytes.TrimLeft(src[end:], " \t")), codeColumns-1)
	copy(src[at:], strings.Repeat(" ", blanks)+mark) // blanks behind it would be seen
	return src
}

// renderTable adds the rows of b that its table does not have yet.
func (d *Doc) renderTable(b *block) {
	if b.table == nil {
		head, _ := d.headOf(b)
		n, ok := d.parse(head).FirstChild().(*extast.Table)
		if !ok { // a label that was defined since made it a definition
			return
		}
		b.table = newTable(d.style, n, head)
		b.leaves = []leaf{{kind: leafTable, table: b.table}}
	}
	for i := len(b.table.rows) - 1; i < len(b.rows); i++ {
		src, _ := d.rowOf(b, i)
		if t := d.parse(src).FirstChild(); isTable(t) && t.FirstChild() != t.LastChild() {
			b.table.add(t.LastChild(), src)
		} else {
			b.table.rows = append(b.table.rows, make([]string, len(b.table.width)))
		}
	}
	b.ready = true
}

// headOf is the source of the head of table b, and how many bytes before that of
// the document it begins. What would be a link definition were it the first line
// of a paragraph is none here.
func (d *Doc) headOf(b *block) (src []byte, before int) {
	src = d.src[b.start:b.head:b.head]
	if _, at := indentOf(src); b.below && src[at] == '[' {
		return append([]byte(mark), src[at:]...), len(mark) - at
	}
	return src, 0
}

// rowOf is the source of row i of table b below its head, and where in the
// document it would begin.
func (d *Doc) rowOf(b *block, i int) (src []byte, start int) {
	head, _ := d.headOf(b)
	row := b.rows[i]
	return append(bytes.Clone(head), d.src[row.start:row.end]...), row.start - len(head)
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

// colour colours the code of b in src[start:end].
func (d *Doc) colour(b *block, start, end int) (lines []string, to ending) {
	d.work.coloured += end - start
	from := b.from
	if start > b.start {
		from = b.growth.from
	}
	return d.style.colourInside(lexer(b.fence.lang), from, signs{}, string(b.fence.content(d.src[start:end])))
}

// colourPiece colours the code of b, which may end inside a comment or a string.
func (d *Doc) colourPiece(b *block, end int) []string {
	return d.colourBetween(b, b.from, b.to, b.start, end)
}

// colourBetween colours the code of b in src[start:end], which begins inside of
// from and ends inside of to.
func (d *Doc) colourBetween(b *block, from, to signs, start, end int) []string {
	d.work.coloured += end - start
	lines, _ := d.style.colourInside(lexer(b.fence.lang), from, to, string(b.fence.content(d.src[start:end])))
	return lines
}

// content is code without the indent of its fence.
func (f fence) content(src []byte) []byte {
	if f.indent == 0 {
		return src
	}
	var out []byte
	for line := range bytes.Lines(src) {
		at, blanks := f.strip(line)
		out = append(append(out, strings.Repeat(" ", blanks)...), line[at:]...)
	}
	return out
}

// Code gives the blocks of code in the order of the text, with what there is of
// one that is still open. Those in lists and quotes are among them.
func (d *Doc) Code() []Code {
	var all []Code
	from := 0 // where the code begins that goes on in several blocks
	for i := range d.Blocks() {
		b, end := d.block(i)
		if b.inner != nil {
			all = append(all, b.inner.doc.Code()...)
			continue
		}
		if b.kind != blockCode {
			if !b.ready {
				d.render(b, end)
				b.ready = b != d.open
			}
			all = append(all, b.codes...)
			continue
		}
		if !b.cont {
			from = b.start
			all = append(all, Code{Language: b.fence.lang})
		}
		if !b.more {
			all[len(all)-1].Text = string(b.fence.content(d.src[from:end]))
		}
	}
	return all
}
