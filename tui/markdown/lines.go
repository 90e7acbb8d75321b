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

// growth is what an open block keeps between two frames.
type growth struct {
	end      int      // of the source that was rendered
	leaves   []leaf   // of a large item or quote
	code     []string // coloured lines
	sure     int      // how many of them will not be coloured again before the code is whole
	at       int      // where in the source the others begin,
	from     signs    // and inside of what
	line     []string // the lines that are not sure with the one that grows,
	lineFrom span     // for what they were coloured
	lineEnd  int      // and up to where
	laid     drawn    // the lines of leaves, or of the code that is sure
	laidTo   int      // how much of the sure code is in laid
}

const (
	// lineShare is the share of a long line of code that it grows by before it is
	// coloured again.
	lineShare = 2
	// shortLine is the length up to which a growing line of code is coloured anew
	// each time.
	shortLine = 256
	// mostAgain is how much code is coloured again for a line at its end.
	mostAgain = 2048
)

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

// ready makes the leaves of a whole block.
func (d *Doc) ready(b *block) {
	if !b.ready {
		d.render(b, b.end)
	}
}

// whole are the lines of the whole block i.
func (d *Doc) whole(i, width int) []string {
	b := d.blocks[i]
	if b.drawn.width != width && b.inner != nil {
		b.drawn = drawn{width: width, lines: b.inner.all(i, width)}
	}
	if b.drawn.width != width {
		d.ready(b)
		if b.table != nil {
			b.table.steady = len(b.table.rows) > exactRows
		}
		b.drawn = d.draw(b, i, b.leaves, width)
	}
	return b.drawn.lines
}

// draw lays out leaves as block i.
func (d *Doc) draw(b *block, i int, leaves []leaf, width int) drawn {
	out := drawn{width: width}
	if len(leaves) == 0 {
		if !b.cont || b.kind != blockText {
			return out
		}
		leaves = []leaf{{}} // blanks only: what it goes on from still shows
	}
	if d.gap(b, i) {
		out.lines = append(out.lines, "")
	}
	for k := range leaves {
		f := leaves[k]
		if k == 0 && b.cont && b.kind == blockText {
			if before := d.carried(i, width); len(before) > 0 {
				blank := " "
				if b.glued {
					blank = ""
				}
				f.text = before[0] + blank + f.text
			}
		}
		d.work.laid += f.size()
		out.lines = f.layout(out.lines, width)
	}
	if b.more && b.kind == blockText {
		last := len(out.lines) - 1
		out.carry, out.lines = out.lines[last], out.lines[:last]
	}
	return out
}

// carried is the line that block i goes on from, if any.
func (d *Doc) carried(i, width int) []string {
	if i == 0 || !d.blocks[i-1].more {
		return nil
	}
	d.whole(i-1, width)
	if carry := d.blocks[i-1].drawn.carry; carry != "" {
		return []string{carry}
	}
	return nil
}

// size is how much there is to lay out, in bytes.
func (f *leaf) size() int {
	n := len(f.text)
	for _, line := range f.lines {
		n += len(line)
	}
	return n
}

// openLines are the lines of what is in no whole block.
func (d *Doc) openLines(width int) []string {
	i := len(d.blocks)
	b, end := d.block(i)
	if b.inner != nil {
		return append(b.inner.all(i, width), d.undecidedLines(width)...)
	}
	if b.start >= end && (d.open == nil || d.open.kind != blockTable) {
		if b.cont && b.kind == blockText {
			return d.carried(i, width)
		}
		return nil
	}
	switch b.kind {
	case blockCode:
		return d.drawCode(b, i, d.openCode(b, end), width)
	case blockTable:
		return d.draw(b, i, d.openTable(b, end), width).lines
	default:
	}
	d.openText(b, end)
	g := &b.growth
	if g.laid.width != width {
		g.laid = d.draw(b, i, g.leaves, width)
	}
	return g.laid.lines
}

// drawCode lays out open code; the lines that are sure are laid out once.
func (d *Doc) drawCode(b *block, i int, code []string, width int) []string {
	g := &b.growth
	if g.laid.width != width {
		g.laid, g.laidTo = drawn{width: width}, 0
		if d.gap(b, i) {
			g.laid.lines = append(g.laid.lines, "")
		}
	}
	lay := func(dst, code []string) []string {
		f := codeLeaf(code)
		d.work.laid += f.size()
		return f.layout(dst, width)
	}
	g.laid.lines = lay(g.laid.lines, code[g.laidTo:g.sure])
	g.laidTo = g.sure
	return lay(g.laid.lines[:len(g.laid.lines):len(g.laid.lines)], code[g.sure:])
}

// growCode puts the lines of the open code after the kept ones of the view. Those
// that are sure stay.
func (d *Doc) growCode(width int) {
	v, o := &d.view, d.open
	lines := d.openLines(width)
	if v.code != o || len(lines) < v.sure {
		v.code, v.sure = o, 0
	}
	at := v.kept + v.sure
	v.changed(at)
	v.lines = append(v.lines[:at], lines[v.sure:]...)
	v.sure = 0
	if len(lines) > 0 {
		v.sure = len(o.growth.laid.lines)
	}
}

// openText renders an open block as it is now.
func (d *Doc) openText(b *block, end int) {
	if g := &b.growth; g.end != end || g.laid.width == 0 {
		d.render(b, end)
		b.ready = false
		b.growth = growth{end: end, leaves: b.leaves}
	}
}

// openCode colours open code: its complete lines once, with what stands before
// them as far as it is not sure, and the line that still grows each time.
func (d *Doc) openCode(b *block, end int) []string {
	g := &b.growth
	if g.at < b.start {
		g.at, g.end = b.start, b.start
	}
	if g.end < b.end {
		lines, to := d.colour(b, g.at, b.end)
		if to.inside != (signs{}) {
			from := b.from
			if g.at > b.start {
				from = g.from
			}
			lines = d.colourBetween(b, from, to.inside, g.at, b.end)
		}
		g.code = append(g.code[:g.sure], lines...)
		g.end = b.end
		if !to.open || to.inside != (signs{}) || b.end-g.at > mostAgain {
			g.sure, g.at, g.from = len(g.code), b.end, to.inside
		}
	}
	if end == b.end {
		return g.code
	}
	return append(g.code[:g.sure:g.sure], d.growingLine(b, end)...)
}

// growingLine are the lines of code that are not sure, up to the one that still
// grows. What a long line grew by is coloured when it is half of it.
func (d *Doc) growingLine(b *block, end int) []string {
	g := &b.growth
	from := span{g.at, b.end}
	if grown := end - g.lineEnd; g.lineFrom != from || grown < 0 || end-b.end < shortLine || grown > (g.lineEnd-b.end)/lineShare {
		g.line, _ = d.colour(b, g.at, end)
		g.lineFrom, g.lineEnd = from, end
	}
	if g.lineEnd == end {
		return g.line
	}
	last := len(g.line) - 1
	column := utf8.RuneCountInString(cleanCode(string(d.src[b.end:g.lineEnd]), 0))
	rest := paint(d.style.syntax[classPlain], cleanCode(string(d.src[g.lineEnd:end]), column))
	d.work.coloured += end - g.lineEnd
	return append(g.line[:last:last], g.line[last]+rest)
}

// openTable renders an open table; the row that still grows stands below it.
func (d *Doc) openTable(b *block, end int) []leaf {
	d.renderTable(b)
	if b.table == nil {
		return nil
	}
	b.table.steady = true
	leaves := b.leaves
	if end > b.end {
		leaves = append(leaves[:1:1], leaf{text: clean(string(d.src[b.end:end]))})
	}
	return leaves
}

// growTable puts the open table after the kept lines of the view. Lines that
// are there already stay: a row costs a row.
func (d *Doc) growTable(width int) {
	v, i := &d.view, len(d.blocks)
	leaves := d.openTable(d.open, d.tail())
	t := d.open.table
	if t == nil {
		return
	}
	before := t.cells
	lines := t.layout(width)
	d.work.cells += t.cells - before
	gap := 0
	if d.gap(d.open, i) {
		gap = 1
	}
	if v.table != t || v.epoch != t.epoch {
		v.table, v.epoch, v.rows = t, t.epoch, 0
		v.changed(v.kept)
		v.lines = append(v.lines[:v.kept], make([]string, gap)...)
	}
	at := v.kept + gap + v.rows
	v.changed(at)
	v.lines = append(v.lines[:at], lines[v.rows:]...)
	v.rows = len(lines)
	if len(leaves) > 1 {
		v.lines = leaves[1].layout(v.lines, width)
	}
}
