package markdown

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
)

// goesOn adds a line to the open block, or closes it; false means that the line
// begins something new.
func (d *Doc) goesOn(start, end int) bool {
	line := d.src[start:end]
	switch d.open.kind {
	case blockCode:
		return d.codeGoesOn(line, end)
	case blockText:
		return d.textGoesOn(line, start, end)
	case blockItem:
		return d.itemGoesOn(line, start, end)
	default:
	}
	quote := d.open.kind == blockQuote
	switch {
	case isBlank(line):
		d.close(d.open.end)
		return true
	case quote && isQuote(line):
		d.open.lazy = false
	case interrupts(line), quote && (isItem(line) || !d.lazy(start, end)), !quote && isUnderline(line):
		d.close(d.open.end)
		return false
	case !quote:
		d.open.rows, d.open.ready = append(d.open.rows, span{start, end}), false
	}
	d.open.end = end + 1
	return true
}

// lazy reports whether the line src[start:end], which lacks the indent of the
// open item or the sign of the open quote, goes on with the paragraph in it.
func (d *Doc) lazy(start, end int) bool {
	if c := d.open.inner; c != nil {
		return c.doc.takesLazily(d.src[start:end])
	}
	return d.lazily(d.src[d.open.start:end])
}

// lazily reports whether src, the open container with one more line, is no more
// than that.
func (d *Doc) lazily(src []byte) bool {
	if !d.open.lazy {
		tree := d.parse(src)
		d.open.lazy = tree.FirstChild() == tree.LastChild()
	}
	return d.open.lazy
}

// endsEmpty reports whether the open item is one without a word, which ends with
// the first blank line.
func (d *Doc) endsEmpty() bool {
	o := d.open
	return o.item.empty && d.blank && bytes.IndexByte(d.src[o.start:o.end], '\n') == o.end-o.start-1
}

func (d *Doc) codeGoesOn(line []byte, end int) bool {
	o := d.open
	if o.fence.char != 0 {
		if o.fence.closes(line) {
			d.close(o.end)
		} else {
			d.codeLine(end)
		}
		return true
	}
	columns, _ := indentOf(line)
	switch {
	case isBlank(line): // belongs to the code if more of it comes
	case columns >= codeColumns:
		d.codeLine(end)
	default:
		d.close(o.end)
		return false
	}
	return true
}

func (d *Doc) textGoesOn(line []byte, start, end int) bool {
	o := d.open
	short := len(line) < longLine
	switch {
	case isBlank(line):
		d.close(o.end)
		return true
	case short && !o.cont && isUnderline(line) && d.isHeading(end):
		d.close(end + 1)
		return true
	case short && !o.cont && isUnderline(line) && d.onlyDefines(o):
		d.close(o.end)
		return false
	case interrupts(line):
		d.close(o.end)
		return false
	case short && isDelimiter(line) && d.before >= o.start && !o.barred && d.table(start, end):
		return true
	}
	d.addLine(start, end)
	return true
}

// itemGoesOn decides as CommonMark does: an item goes on with what is indented
// below it, or with its last paragraph.
func (d *Doc) itemGoesOn(line []byte, start, end int) bool {
	o := d.open
	columns, _ := indentOf(line)
	m, item := openItem(line)
	switch {
	case isBlank(line):
		return true
	case d.endsEmpty():
		d.close(o.end)
		return false
	case columns >= o.item.offset:
		o.lazy = false
	case isBreak(line):
		d.close(o.end)
		return false
	case item && m.char == o.item.char:
		tight := !d.blank
		d.close(o.end)
		d.open = &block{
			kind: blockItem, start: start, end: end + 1, item: m, number: o.number + 1, inList: true, tight: tight, spaced: !tight,
		}
		return true
	case d.blank, item, interrupts(line), !d.lazy(start, end):
		d.close(o.end)
		return false
	}
	o.end = end + 1
	return true
}

// isHeading reports whether the line that ends at end makes a heading of the open
// paragraph, which it does not when that is nothing but link definitions.
func (d *Doc) isHeading(end int) bool {
	_, ok := d.parse(d.src[d.open.start:end]).LastChild().(*ast.Heading)
	return ok
}

// onlyDefines reports whether the paragraph o is nothing but link definitions.
func (d *Doc) onlyDefines(o *block) bool {
	for n := d.parse(d.src[o.start:o.end]).FirstChild(); n != nil; n = n.NextSibling() {
		if n.Kind() != ast.KindLinkReferenceDefinition {
			return false
		}
	}
	return true
}

// table opens a table whose delimiters are src[start:end], when they fit the line
// before them, the last of the open paragraph. When they do not, goldmark looks
// for no others in it.
func (d *Doc) table(start, end int) bool {
	o := d.open
	below := d.before > o.start
	t := &block{kind: blockTable, start: d.before, head: end + 1, end: end + 1, spaced: o.spaced && !below, below: below}
	head, _ := d.headOf(t)
	if !isTable(d.parse(head).FirstChild()) {
		line := d.src[start : end+1]
		o.barred = isTable(d.parse(append(bytes.Clone(line), line...)).FirstChild())
		return false
	}
	if below {
		d.close(d.before)
	}
	d.open = t
	return true
}
