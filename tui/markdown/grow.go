package markdown

import "unicode/utf8"

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
