package markdown

import (
	"bytes"
	"slices"
)

// shows reports whether block b, which is whole, has lines.
func (d *Doc) shows(b *block) bool {
	switch {
	case b.inner == nil:
		d.ready(b)
		return len(b.leaves) > 0
	case b.kind == blockItem:
		return true
	}
	return b.inner.doc.showsAny()
}

// showsAny reports whether the document has lines.
func (d *Doc) showsAny() bool {
	for _, b := range d.blocks {
		if d.shows(b) {
			return true
		}
	}
	return d.tail() > d.openStart()
}

// fit are what the lines of the container begin with at width, and how many
// cells what it contains has.
func (c *container) fit(width int) (first, rest string, inner int) {
	c.dress()
	f := leaf{first: c.first, rest: c.rest}
	return f.leads(width)
}

// draw adds the lines of the contained document from line from on, each behind
// what it begins with, to dst.
func (c *container) draw(dst, lines []string, from, width int) []string {
	first, rest, _ := c.fit(width)
	for i := from; i < len(lines); i++ {
		lead := rest
		if i == 0 {
			lead = first
		}
		dst = append(dst, led(lead, lines[i]))
		c.in.work.laid += len(lines[i])
	}
	return dst
}

// content are the lines of the contained document, and the first that changed
// since the last call. An item without a word still has its bullet.
func (c *container) content(width int) (lines []string, from int) {
	_, _, inner := c.fit(width)
	lines, from = c.doc.Fresh(inner)
	if len(lines) == 0 && c.block.kind == blockItem {
		return []string{""}, 0
	}
	return lines, from
}

// all are the lines of the container, with the blank line before it.
func (c *container) all(i, width int) []string {
	_, _, inner := c.fit(width)
	lines := c.doc.Lines(inner)
	if len(lines) == 0 && c.block.kind == blockItem {
		lines = []string{""}
	}
	if len(lines) == 0 {
		return nil
	}
	out := make([]string, 0, len(lines)+1)
	if c.in.gap(c.block, i) {
		out = append(out, "")
	}
	return c.draw(out, lines, 0, width)
}

// growInner puts the lines of container c, which is block i, after the kept ones
// of the view. Those that are there already stay.
func (d *Doc) growInner(c *container, i, width int) {
	v := &d.view
	lines, from := c.content(width)
	if len(lines) == 0 {
		v.inner, v.lines = nil, v.lines[:v.kept]
		v.changed(v.kept)
	} else {
		at := v.kept
		if d.gap(c.block, i) {
			at++
		}
		if v.inner != c || from == 0 {
			v.inner, from = c, 0
			v.lines = append(v.lines[:v.kept], make([]string, at-v.kept)...)
			v.changed(v.kept)
		}
		v.changed(at + from)
		v.lines = c.draw(v.lines[:at+from], lines, from, width)
	}
}

// keepInner makes the container that the view shows as open, and that is whole
// now, one of its whole blocks.
func (d *Doc) keepInner(width int) {
	v, i := &d.view, len(d.view.starts)
	if v.inner == nil || i == len(d.blocks) || d.blocks[i].inner != v.inner {
		return
	}
	d.growInner(v.inner, i, width)
	d.blocks[i].drawn = drawn{width: width, lines: slices.Clone(v.lines[v.kept:])}
	v.starts, v.kept, v.inner = append(v.starts, v.kept), len(v.lines), nil
}

// undecided is what came after what the open container was given, as a block of
// its own.
func (d *Doc) undecided() *block {
	c, end := d.open.inner, d.tail()
	if c.fed >= end {
		return nil
	}
	rest := bytes.TrimLeft(d.src[c.fed:end], " \t\n")
	if len(rest) == 0 {
		return nil
	}
	b := &block{kind: blockText, start: end - len(rest), end: end}
	d.render(b, end)
	return b
}

// undecidedLines are the lines of that.
func (d *Doc) undecidedLines(width int) []string {
	b := d.undecided()
	if b == nil {
		return nil
	}
	var lines []string
	if d.blank && len(b.leaves) > 0 {
		lines = append(lines, "")
	}
	for k := range b.leaves {
		d.work.laid += b.leaves[k].size()
		lines = b.leaves[k].layout(lines, width)
	}
	return lines
}
