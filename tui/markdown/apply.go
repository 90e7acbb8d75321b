package markdown

import (
	"bytes"
)

// apply adds a line, which has been placed, to the document.
func (d *Doc) apply(p placement) {
	if p.kind == lineBlank {
		d.applyBlank(p.matched)
		return
	}
	if !p.continuesLeaf {
		d.closeLeaf()
		d.pop(p.matched)
		for _, c := range p.opened {
			d.markContent()
			d.stack = append(d.stack, c)
		}
		if b := newLeaf(p); b != nil {
			d.open(b)
		}
	}
	d.noteBlank(p.kind == lineCode && isBlank(p.rest))
	switch p.kind {
	case lineText:
		if d.leaf.line > 0 || len(d.leaf.text) > 0 {
			d.leaf.noTable = d.leaf.noTable || !p.open && isDelimiter(p.rest) && d.fitsItself(p.rest)
		}
		d.addText(paragraphLine(p, len(d.leaf.text) == 0), p.open)
	case lineUnderline, lineHeading:
		d.leaf.text = append(append(d.leaf.text, p.rest...), '\n')
		d.closeLeaf()
	case lineThematicBreak, lineFenceEnd:
		d.closeLeaf()
	case lineDelimiter:
		d.beginTable(p.rest)
	case lineRow:
		d.addRow(p.rest)
	case lineCode:
		d.addCode(p.rest, p.open)
	case lineBlank, lineEmpty, lineFence:
	}
}

// fitsItself reports whether a delimiter row would form a table with a copy of itself as the
// head; goldmark then looks for no other delimiter row in the paragraph.
func (d *Doc) fitsItself(delimiters []byte) bool {
	line := append(bytes.Clone(delimiters), '\n')
	return isTable(d.parse(append(line, line...)).FirstChild())
}

// newLeaf returns the block that a line starts, without its text; nil if it starts none.
func newLeaf(p placement) *block {
	switch p.kind {
	case lineText, lineHeading:
		return &block{kind: blockText}
	case lineThematicBreak:
		return &block{kind: blockThematicBreak}
	case lineFence, lineCode:
		return &block{kind: blockCode, fence: p.fence}
	default:
		return nil
	}
}

// applyBlank adds a blank line. matched is the number of open containers that it continues.
func (d *Doc) applyBlank(matched int) {
	if matched < len(d.stack) || !d.leafIs(blockCode) {
		d.closeLeaf()
	}
	d.pop(matched)
	d.noteBlank(true)
	if n := len(d.stack); n > 0 && d.stack[n-1].item.Empty && !d.stack[n-1].hasContent {
		d.stack[n-1].ended = true
	}
}

// noteBlank records whether the last line was blank, and inside which containers: a line
// with only the marker of a quote is blank only inside the quote.
func (d *Doc) noteBlank(blank bool) {
	d.blank, d.blankDepth = blank, 0
	for i, c := range d.stack {
		if blank && c.quote {
			d.blankDepth = i + 1
		}
	}
}

// markContent records that the innermost container has content.
func (d *Doc) markContent() {
	if n := len(d.stack); n > 0 {
		d.stack[n-1].hasContent = true
	}
}

// open makes b the open leaf, inside the innermost open container.
func (d *Doc) open(b *block) {
	d.markContent()
	if n := len(d.stack); n > 0 {
		b.parent = d.stack[n-1]
	}
	b.attach(d.last, d.blankIn(len(d.stack)))
	d.leaf = newOpen(b)
}

// pop closes all containers but the outermost n. An item without text still shows its bullet.
func (d *Doc) pop(n int) {
	for i := len(d.stack) - 1; i >= n; i-- {
		if b := d.emptyItem(d.stack[i]); b != nil {
			d.add(b)
		}
	}
	d.stack = d.stack[:min(n, len(d.stack))]
}

// emptyItem returns the block that shows the item c if nothing in it has lines; nil
// otherwise, or if c is a quote.
func (d *Doc) emptyItem(c *container) *block {
	if c.quote || d.last != nil && common(c, d.last.parent) == c {
		return nil
	}
	b := &block{kind: blockEmpty, parent: c}
	b.attach(d.last, false)
	return b
}

// closeLeaf closes the open leaf.
func (d *Doc) closeLeaf() {
	if b := d.leaf; b != nil {
		d.leaf = nil
		d.add(b.block)
	}
}

// add appends a complete block to the closed blocks.
func (d *Doc) add(b *block) {
	b.partial, b.growth, b.ready, b.layout = nil, nil, b.linesFinal, blockLayout{}
	d.blocks = append(d.blocks, b)
	d.nodes, d.usedBytes = d.nodes+1, d.usedBytes+len(b.text)
	d.registerLinks(len(d.blocks) - 1)
	d.render(b)
	if b.hasLines() {
		d.last = b
	}
}

// paragraphLine returns a line of a paragraph in a form that goldmark reads correctly: a
// line that would not be a paragraph at the start of a document begins with mark.
func paragraphLine(p placement, first bool) []byte {
	text := bytes.TrimLeft(p.rest, " \t")
	_, item := openItem(text, 0)
	if p.open || item || interrupts(text) || !first && (isSetextUnderline(text) || isDelimiter(text) && p.lazy) {
		return append([]byte(mark), text...)
	}
	return text
}

// addText adds a line, or the start of a long one, to the open paragraph. A whole line is
// scanned only when the next one is added, because that may turn it into a table.
func (d *Doc) addText(line []byte, open bool) {
	b := d.leaf
	start := len(b.text)
	b.line = start
	b.text = append(b.text, line...)
	if open {
		d.scan(len(b.text))
		return
	}
	b.text = append(b.text, '\n')
	d.scan(start)
}
