package markdown

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
