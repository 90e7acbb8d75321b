package markdown

import "bytes"

// view is the whole document for a width, cached between calls to Lines.
type view struct {
	width   int
	version uint64 // version of the document for which lines were created
	lines   []string
	starts  []int // indexes of the first lines of the closed blocks
	kept    int   // number of lines that belong to closed blocks
}

// Lines returns the lines of the text for a width of at least 1. The slice belongs to the
// document and is valid until the next call.
func (d *Doc) Lines(width int) []string {
	width = max(width, 1)
	v := &d.view
	if v.width == width && v.version == d.version && v.lines != nil {
		return v.lines
	}
	if v.width != width {
		*v = view{width: width, lines: v.lines[:0]}
	}
	for i := len(v.starts); i < len(d.blocks); i++ {
		v.starts = append(v.starts, v.kept)
		v.lines = append(v.lines[:v.kept], d.closed(d.blocks[i], width).lines...)
		v.kept = len(v.lines)
	}
	v.lines = append(v.lines[:v.kept], d.openLines(width).lines...)
	v.version = d.version
	return v.lines
}

// Closed returns the first of Lines, as far as appended text cannot change them, except by
// defining a link that they use.
func (d *Doc) Closed(width int) []string { return d.Lines(width)[:d.view.kept] }

// LineInfos returns how each of the lines that Lines returns is copied.
func (d *Doc) LineInfos(width int) []LineInfo {
	width = max(width, 1)
	var all []LineInfo
	for i := range d.blocks {
		all = append(all, d.closed(d.blocks[i], width).infos...)
	}
	return append(all, d.openLines(width).infos...)
}

// closed returns the lines of the closed block b.
func (d *Doc) closed(b *block, width int) *blockLayout {
	if b.layout.width != width {
		d.render(b)
		b.layout = d.draw(b, width)
	}
	return &b.layout
}

// openLines returns the lines that are not in a closed block.
func (d *Doc) openLines(width int) *blockLayout {
	out := &blockLayout{width: width}
	for _, b := range d.openBlocks() {
		one := d.drawOpen(b, width)
		out.lines, out.infos = append(out.lines, one.lines...), append(out.infos, one.infos...)
	}
	return out
}

// drawOpen lays out an open block. It lays out final lines of code only once, see growth.
func (d *Doc) drawOpen(b *block, width int) blockLayout {
	g := b.growth
	if b.kind != blockCode || g == nil || g.final == 0 {
		d.render(b)
		return d.draw(b, width)
	}
	l, gap := d.prefixes(b, width), 0
	if b.gap {
		gap = 1
	}
	lay := func(out *blockLayout, lines []string) {
		from, l := len(out.lines), l
		d.layCode(out, lines, l.inner)
		if from > gap {
			l.first, l.head = l.rest, l.tail
		}
		l.apply(out, from)
	}
	if g.laid.width != width {
		g.laid, g.laidCount = blockLayout{width: width}, 0
		if b.gap {
			g.laid.add(d.gapLine(b, width), LineInfo{Lead: NotCopied})
		}
	}
	lay(&g.laid, b.lines[g.laidCount:g.final])
	g.laidCount = g.final
	n := len(g.laid.lines)
	out := blockLayout{width: width, lines: g.laid.lines[:n:n], infos: g.laid.infos[:n:n]}
	lay(&out, b.lines[g.final:])
	return out
}

// openBlocks returns the blocks that are not closed, as if the text ended here: the open
// leaf, and what the incomplete line starts.
func (d *Doc) openBlocks() []*block {
	var blocks []*block
	last := d.last
	p, partial := d.placePartial()
	n := len(d.stack)
	switch {
	case d.leaf != nil:
		b := d.openLeaf(p, partial && p.continuesLeaf)
		if b.hasLines() || b.prev != nil {
			blocks = append(blocks, b)
		}
		if b.hasLines() {
			last = b
		}
	case n > 0 && !(partial && p.matched == n):
		if b := d.emptyItem(d.stack[n-1]); b != nil {
			blocks, last = append(blocks, b), b
		}
	}
	if partial && !p.continuesLeaf {
		if b := d.partialBlock(p, last); b != nil {
			blocks = append(blocks, b)
		}
	}
	return blocks
}

// placePartial places the incomplete line; ok is false if there is none, or if it is not
// shown yet because what it will be is undecided.
func (d *Doc) placePartial() (p placement, ok bool) {
	line := d.src[d.lineStart:]
	line = line[:completeRunes(line)]
	if d.inLine || len(line) == 0 {
		return p, false
	}
	if len(line) < 8 && !d.leafIs(blockCode) && len(bytes.Trim(line, "-=*_+#>`~|:.[ \t0123456789")) == 0 {
		return p, false
	}
	p = d.place(bytes.Clone(line), false)
	switch p.kind {
	case lineText, lineRow, lineHeading:
		return p, true
	case lineCode:
		return p, !p.continuesLeaf || !d.leaf.fence.MayClose(p.rest)
	default:
		return p, false
	}
}

// openLeaf returns the open leaf, rendered, including the incomplete line if it joins the
// leaf.
func (d *Doc) openLeaf(p placement, joins bool) *block {
	b := d.leaf.block
	if b.kind == blockCode { // the block itself, not a copy, so that its final lines are not rendered again
		b.partial = nil
		if joins {
			b.partial = p.rest
		}
		b.lines, b.ready = d.openCode(d.leaf), true
		return b
	}
	if b.kind == blockTable {
		d.render(b)
	}
	if joins {
		with := *b
		b = &with
		if p.kind == lineRow {
			b.partial = p.rest
		} else {
			b.text = append(b.text[:len(b.text):len(b.text)], paragraphLine(p, len(b.text) == 0)...)
			b.ready = false
		}
	}
	d.render(b)
	return b
}

// partialBlock returns the block that the incomplete line starts, or nil.
func (d *Doc) partialBlock(p placement, last *block) *block {
	b := newLeaf(p)
	if b == nil {
		return nil
	}
	depth := p.matched + len(p.opened)
	switch {
	case len(p.opened) > 0:
		b.parent = p.opened[len(p.opened)-1]
	case depth > 0:
		b.parent = d.stack[depth-1]
	}
	b.attach(last, d.blankIn(depth))
	b.text = p.rest
	if p.kind == lineText {
		b.text = paragraphLine(p, true)
	}
	d.render(b)
	return b
}
