package markdown

import (
	"bytes"
	"sort"
)

// traced is a block taken apart for its places.
type traced struct {
	width, end int // what it was made for
	whole      bool
	leaves     []*tracedLeaf
	lines      [][]Glyph
}

// keptTraces is how many blocks stay taken apart: those of a screen, some times.
const keptTraces = 64

// Trace tells which part of the source each character of a line shows. y counts
// the lines of Lines(width). What shows nothing of the source, like bullets and
// bars, has no glyph; those of a line are in order from left to right.
func (d *Doc) Trace(y, width int) []Glyph {
	width = max(width, 1)
	lines := d.Lines(width)
	if y < 0 || y >= len(lines) {
		return nil
	}
	i, first := len(d.blocks), d.view.kept
	if y < d.view.kept {
		i = sort.Search(len(d.view.starts), func(k int) bool { return d.view.starts[k] > y }) - 1
		first = d.view.starts[i]
	}
	b, end := d.block(i)
	if b.inner != nil {
		return d.innerGlyphs(b, i, y-first, width)
	}
	if b.kind == blockTable {
		return d.tableGlyphs(b, end, y-first, width, d.gap(b, i))
	}
	if all := d.traceLines(i, width); y-first < len(all) {
		return all[y-first]
	}
	return nil
}

// traceLines are the glyphs of the lines of block i, which is no table.
func (d *Doc) traceLines(i, width int) [][]Glyph {
	t := d.traceBlock(i, width)
	if t.lines != nil {
		return t.lines
	}
	b, _ := d.block(i)
	t.lines = [][]Glyph{}
	if d.gap(b, i) {
		t.lines = append(t.lines, nil)
	}
	leaves := t.leaves
	if len(leaves) == 0 && b.cont && b.kind == blockText {
		leaves = []*tracedLeaf{{leaf: &leaf{}, runs: []run{{}}}}
	}
	for k, l := range leaves {
		if k == 0 && b.cont && b.kind == blockText {
			l = &tracedLeaf{leaf: l.leaf, runs: []run{d.goingOn(i, width, l.runs[0])}}
		}
		t.lines = l.layout(t.lines, width)
	}
	if b.more && b.kind == blockText && len(t.lines) > 0 {
		t.lines = t.lines[:len(t.lines)-1]
	}
	return t.lines
}

// goingOn is own, the cells of block i, after the line that it goes on from.
func (d *Doc) goingOn(i, width int, own run) run {
	before := d.carried(i, width)
	if len(before) == 0 {
		return own
	}
	n := len(cells(before[0]))
	r := d.lastCells(i-1, width, n)
	b, _ := d.block(i)
	if !b.glued {
		r = r.plus(run{[]cell{{text: " ", width: 1}}, []span{d.blankBefore(b)}})
	}
	return r.plus(own)
}

// blankBefore is the white space between a piece of a paragraph and the one
// before it.
func (d *Doc) blankBefore(b *block) span {
	s := span{b.start, b.start}
	for s.start > 0 && isSpace(d.src[s.start-1]) {
		s.start--
	}
	for s.end < len(d.src) && isSpace(d.src[s.end]) {
		s.end++
	}
	return s
}

// lastCells are the last n cells of the paragraph up to block i.
func (d *Doc) lastCells(i, width, n int) run {
	t := d.traceBlock(i, width)
	var r run
	if len(t.leaves) > 0 {
		r = t.leaves[len(t.leaves)-1].runs[0]
	}
	if len(r.cells) < n && d.blocks[i].cont && len(t.leaves) <= 1 {
		b := d.blocks[i]
		rest := n - len(r.cells)
		var between run
		if !b.glued {
			between = run{[]cell{{text: " ", width: 1}}, []span{d.blankBefore(b)}}
			rest--
		}
		if rest > 0 && i > 0 && d.blocks[i-1].more {
			r = d.lastCells(i-1, width, rest).plus(between).plus(r)
		}
	}
	end := len(r.cells)
	for end > 0 && r.cells[end-1].text == " " {
		end--
	}
	from := max(0, end-n)
	return run{r.cells[from:end:end], r.places[from:end:end]}
}

// plus is r followed by s.
func (r run) plus(s run) run {
	return run{
		append(r.cells[:len(r.cells):len(r.cells)], s.cells...),
		append(r.places[:len(r.places):len(r.places)], s.places...),
	}
}

// traceBlock takes block i, which is no table, apart.
func (d *Doc) traceBlock(i, width int) *traced {
	b, end := d.block(i)
	whole := i < len(d.blocks)
	if t := d.traces[i]; t != nil && t.width == width && t.end == end && t.whole == whole {
		return t
	}
	t := &traced{width: width, end: end, whole: whole}
	var leaves []leaf
	switch {
	case whole:
		d.ready(b)
		leaves = b.leaves
	case b.kind == blockCode:
		leaves = []leaf{codeLeaf(d.openCode(b, end))}
	default:
		if b.start < end {
			d.openText(b, end)
		}
		leaves = b.growth.leaves
	}
	t.leaves = d.tracedLeaves(b, end, leaves)
	if d.traces == nil || len(d.traces) >= keptTraces {
		d.traces = map[int]*traced{}
	}
	d.traces[i] = t
	return t
}

// tracedLeaves puts the places to the leaves of b, which is no table, rendered up
// to end.
func (d *Doc) tracedLeaves(b *block, end int, leaves []leaf) []*tracedLeaf {
	traces := d.tracesOf(b, end)
	var out []*tracedLeaf
	for k := range leaves {
		var own trace
		if len(traces) == len(leaves) {
			own = traces[k]
		}
		out = append(out, newTracedLeaf(&leaves[k], own))
	}
	return out
}

// plainRun is the source from start to end as it is shown while it waits to be
// rendered.
func (d *Doc) plainRun(start, end int) run {
	var s shown
	s.addRunes(d.src, start, end)
	return match(string(s.text), s, 0)
}

// tracesOf traces the leaves of b, which is no table, rendered up to end.
func (d *Doc) tracesOf(b *block, end int) []trace {
	if b.start >= end {
		return nil
	}
	if b.kind == blockCode {
		return []trace{d.traceFence(b, end)}
	}
	src, moved := d.src[b.start:end:end], b.start
	if b.cont {
		trimmed := bytes.TrimLeft(src, " \t\n")
		moved += len(src) - len(trimmed) - len(mark)
		src = append([]byte(mark), trimmed...)
	}
	if d.hasBox(b) {
		src = unboxed(src)
	}
	w := walker{style: d.style, src: src, tracks: true}
	w.blocks(d.parse(src), "", "", true)
	for k := range w.traces {
		w.traces[k].move(moved, b.start)
	}
	return w.traces
}

// traceFence traces a block of code at the top level.
func (d *Doc) traceFence(b *block, end int) trace {
	out := trace{code: true}
	src := bytes.TrimSuffix(d.src[b.start:end], []byte("\n"))
	for at := 0; at <= len(src); {
		n := bytes.IndexByte(src[at:], '\n')
		if n < 0 {
			n = len(src) - at
		}
		line := src[at : at+n]
		skip, blanks := b.fence.strip(line)
		from := b.start + at + skip
		var s shown
		for range blanks {
			s.add(" ", span{from - 1, from})
		}
		s.addCode(d.src, from, b.start+at+n)
		out.lines = append(out.lines, s)
		out.body = append(out.body, bodyLine{span{from, min(b.start+at+n+1, end)}, blanks})
		at += n + 1
	}
	out.bounds(d.src[:end])
	return out
}

// tableGlyphs are the glyphs of line y of the table b.
func (d *Doc) tableGlyphs(b *block, end, y, width int, gap bool) []Glyph {
	if gap {
		y--
	}
	t := b.table
	if t == nil || y < 0 {
		return nil
	}
	if y >= len(t.lines) {
		rest := tracedLeaf{leaf: &leaf{}, runs: []run{d.plainRun(b.end, end)}}
		if lines := rest.layout(nil, width); y-len(t.lines) < len(lines) {
			return lines[y-len(t.lines)]
		}
		return nil
	}
	i := sort.Search(len(t.starts), func(k int) bool { return t.starts[k] > y }) - 1
	var head []run
	if t.cols == nil {
		head, _ = d.tableRow(b, 0)
	}
	row, _ := d.tableRow(b, i)
	if lines := t.glyphs(i, row, head, t.inner); y-t.starts[i] < len(lines) {
		return lines[y-t.starts[i]]
	}
	return nil
}

// tableRow takes row i of the table b apart; 0 is the head.
func (d *Doc) tableRow(b *block, i int) ([]run, []markup) {
	n := len(b.table.width)
	var t trace
	src, before := d.headOf(b)
	moved := b.start - before
	if i > 0 {
		src, moved = d.rowOf(b, i-1)
	}
	if parsed := d.parse(src).FirstChild(); isTable(parsed) {
		row := parsed.FirstChild()
		if i > 0 {
			row = parsed.LastChild()
		}
		if i == 0 || row != parsed.FirstChild() {
			t.lines, t.marks = traceRow(row, src, n)
			t.move(moved, b.start)
		}
	}
	runs := make([]run, n)
	for k := range runs {
		var s shown
		if k < len(t.lines) {
			s = t.lines[k]
		}
		runs[k] = match(b.table.rows[i][k], s, 0)
	}
	return runs, t.marks
}
