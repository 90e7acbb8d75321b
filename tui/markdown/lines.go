package markdown

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// view is the whole document at a width, kept from one call of Lines to the next.
type view struct {
	width   int
	version uint64 // of the document, when lines were made
	lines   []string
	starts  []int // where the lines of each whole block begin
	kept    int   // how many of lines are those of whole blocks
	from    int   // the first of lines that changed since Fresh asked
	shown   int   // a whole block that has lines, plus one; 0 while none is known
	probed  int   // how many whole blocks were looked at for that

	inner *container // the open container whose lines follow the kept ones
	code  *block     // the open code whose sure lines do
	sure  int        // how many of them are there

	table *table // the open table whose lines follow the kept ones
	epoch int    // of that table
	rows  int    // how many of its lines are there
}

// stale drops the lines from block i on.
func (v *view) stale(i int) {
	if i < len(v.starts) {
		v.kept = v.starts[i]
		v.starts = v.starts[:i]
		v.table, v.inner, v.code = nil, nil, nil
		v.changed(v.kept)
	}
}

// changed notes that the lines from line y on may be others now.
func (v *view) changed(y int) { v.from = min(v.from, y) }

// Blocks is how many blocks the text has so far, with the one that is open.
func (d *Doc) Blocks() int {
	n := len(d.blocks)
	if d.tail() > d.openStart() {
		n++
	}
	return n
}

// openStart is where the part of the source begins that is in no whole block.
func (d *Doc) openStart() int {
	if d.open != nil {
		return d.open.start
	}
	return d.begun
}

// tail is the end of what is shown: the source without a character that is not
// complete, and without a beginning of a line that may come to mean anything.
func (d *Doc) tail() int {
	end := len(d.src)
	for n := 1; n < utf8.UTFMax && n <= end-d.begun; n++ {
		if b := d.src[end-n]; b >= 0xC0 {
			if !utf8.FullRune(d.src[end-n:]) {
				end -= n
			}
			break
		} else if b < 0x80 {
			break
		}
	}
	line := d.src[d.begun:end]
	if d.open != nil && d.open.kind == blockCode {
		if d.open.fence.mayClose(line) {
			return d.begun
		}
		return end
	}
	if len(line) < 8 && len(bytes.Trim(line, "-=*_+#>`~|:.[ \t0123456789")) == 0 {
		return d.begun
	}
	return end
}

// block is block i and where it ends. One that is open may have been made for
// this call.
func (d *Doc) block(i int) (*block, int) {
	if i < len(d.blocks) {
		return d.blocks[i], d.blocks[i].end
	}
	if d.open != nil {
		return d.open, d.tail()
	}
	return &block{kind: blockText, start: d.begun}, d.tail()
}

// BlockSource is the source of block i, without the fences of code.
func (d *Doc) BlockSource(i int) string {
	b, end := d.block(i)
	return string(d.src[b.start:end])
}

// BlockLines are the lines of block i at width, with the blank line that may
// stand before it. Drawing only the blocks that are seen draws long texts fast.
func (d *Doc) BlockLines(i, width int) []string {
	width = max(width, 1)
	if i < len(d.blocks) {
		return d.whole(i, width)
	}
	return d.openLines(width)
}

// Lines are the lines of the text at width, which is at least 1.
func (d *Doc) Lines(width int) []string {
	width = max(width, 1)
	v := &d.view
	if v.width == width && v.version == d.version && v.lines != nil {
		return v.lines
	}
	if v.width != width {
		*v = view{width: width, lines: v.lines[:0], shown: v.shown, probed: v.probed}
	}
	d.keepInner(width)
	if kept := len(v.starts); kept < len(d.blocks) {
		v.changed(v.kept)
		v.table, v.inner, v.code = nil, nil, nil
	}
	for i := len(v.starts); i < len(d.blocks); i++ {
		v.starts = append(v.starts, v.kept)
		v.lines = append(v.lines[:v.kept], d.whole(i, width)...)
		v.kept = len(v.lines)
	}
	switch o := d.open; {
	case o != nil && o.kind == blockTable:
		d.growTable(width)
	case o != nil && o.inner != nil:
		d.growInner(o.inner, len(d.blocks), width)
		v.lines = append(v.lines, d.undecidedLines(width)...)
	case o != nil && o.kind == blockCode:
		d.growCode(width)
	default:
		v.changed(v.kept)
		v.lines = append(v.lines[:v.kept], d.openLines(width)...)
	}
	v.version = d.version
	return v.lines
}

// Fresh is Lines, and the first of them that may be another than at the last call
// of Fresh: who kept those before it has them still.
func (d *Doc) Fresh(width int) (lines []string, from int) {
	lines = d.Lines(width)
	from = min(d.view.from, len(lines))
	d.view.from = len(lines)
	return lines, from
}

// Render is Lines joined by line breaks.
func (d *Doc) Render(width int) string { return strings.Join(d.Lines(width), "\n") }

// Plain is Render without styles and links.
func (d *Doc) Plain(width int) string { return ansi.Strip(d.Render(width)) }

// gap reports whether a blank line stands before block i, which is b.
func (d *Doc) gap(b *block, i int) bool {
	if b.cont || b.inList && b.tight || d.dense && !b.inList && !b.spaced && b.kind != blockTable {
		return false
	}
	v := &d.view
	for ; v.shown == 0 && v.probed < min(i, len(d.blocks)); v.probed++ {
		if d.shows(d.blocks[v.probed]) {
			v.shown = v.probed + 1
		}
	}
	return v.shown > 0 && v.shown <= i
}
