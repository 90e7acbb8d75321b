package markdown

import "bytes"

// scan reads the open paragraph up to end and cuts it where it is too long.
func (d *Doc) scan(end int) {
	for ; d.cutAt < end; d.cutAt++ {
		b := d.src[d.cutAt]
		if !d.cut.next(b) {
			continue
		}
		o := d.open
		o.more = true
		d.close(d.cutAt)
		last := d.src[d.cutAt-1]
		d.open = &block{kind: blockText, start: d.cutAt, cont: true, glued: !isSpace(b) && !isSpace(last), barred: o.barred}
		d.cut = cutter{}
		d.cut.next(b)
	}
	d.open.end = end
}

// codeLine adds to the open code what was read of it up to the line break at
// end, and cuts the code when it is long.
func (d *Doc) codeLine(end int) {
	d.longCode(end)
	o := d.open
	o.end = end + 1
	if o.end-o.start < d.check {
		return
	}
	lines, to := d.colour(o, o.start, o.end)
	switch {
	case to.inside != (signs{}):
		o.to = to.inside
		lines = d.colourPiece(o, o.end)
	case to.open && o.end-o.start < mostCode:
		d.check += stepCode
		return
	}
	o.setCode(lines)
	d.cutCode(o.end)
}

// cutCode ends the open code at end and goes on in a new block.
func (d *Doc) cutCode(end int) {
	o := d.open
	o.more = true
	d.close(end)
	d.open = &block{kind: blockCode, fence: o.fence, from: o.to, start: end, end: end, cont: true}
	d.check, d.piece = leastCode, end
}

// longCode cuts the line of code that ends, so far, at end into pieces.
func (d *Doc) longCode(end int) {
	for end-d.piece > longCode {
		at := d.piece + longCode
		for at > d.piece && !startsRune(d.src[at]) {
			at--
		}
		d.cutCode(at)
	}
}

func startsRune(b byte) bool { return b < 0x80 || b >= 0xC0 }

// long reads what is there of a line that is long already, so that a text
// without line breaks is cut as well, and what is sure to belong to the open
// container.
func (d *Doc) long() {
	line, o := d.src[d.begun:], d.open
	switch {
	case d.inLine:
		o.end = len(d.src)
		o.inner.take(o.end)
		return
	case o != nil && o.inner != nil && d.decided(line):
		o.inner.take(len(d.src))
		return
	case len(line) < longLine || isBlank(line):
		return
	}
	columns, _ := indentOf(line)
	if o != nil && o.kind == blockCode && (o.fence.char != 0 || columns >= codeColumns) {
		if !o.fence.mayClose(line) {
			d.longCode(len(d.src))
		}
		return
	}
	_, fenced := openFence(line)
	if fenced || isBreak(line) || isHeading(line) || len(bytes.TrimLeft(line, " `~")) == 0 {
		return // its end decides what it is
	}
	opens := isItem(line) || isQuote(line)
	switch {
	case o != nil && o.isContainer(), opens && (o == nil || interrupts(line)):
		d.enter(opens)
	case interrupts(line):
	case o == nil && columns < codeColumns:
		d.paragraph(d.begun)
		d.scan(len(d.src))
	case o != nil && o.kind == blockText:
		d.scan(len(d.src))
	}
}

// enter reads what is there of a long line that belongs to the open container or,
// when it opens one, begins another.
func (d *Doc) enter(opens bool) {
	if d.open == nil || !d.goesOn(d.begun, len(d.src)) {
		if !opens {
			d.long() // it begins something else
			return
		}
		d.begin(d.begun, len(d.src))
	}
	d.inLine, d.blank = true, false
	d.open.end = len(d.src)
	d.contain()
}
