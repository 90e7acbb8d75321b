package markdown

import (
	"bytes"
	"math"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"winnow/tui/style"
)

// LineInfo says how a line is copied: how it joins the line above, and where its text
// starts.
type LineInfo struct {
	Soft  bool   // the line above was broken only because of the width
	Space bool   // the line above was broken at a blank
	Lead  uint16 // number of cells at the start that are not part of the text, such as indents; or NotCopied
	Tail  uint16 // number of cells at the end that are not part of the text
}

// NotCopied is the Lead of a line that contains no text, such as a gap. It is more than the
// width of any terminal.
const NotCopied = math.MaxUint16

// blockLayout contains the lines of a block for a width. A width of 0 means that the block
// is not laid out.
type blockLayout struct {
	width int
	lines []string
	infos []LineInfo // one for each line
	open  string     // the last line, if the next block continues it; otherwise ""
	info  LineInfo   // how that line joins the line above
}

// add adds a line.
func (p *blockLayout) add(line string, j LineInfo) {
	p.lines, p.infos = append(p.lines, line), append(p.infos, j)
}

// minInner is the minimum width of the text of a block, even if bullets and bars would take
// all cells.
const minInner = 8

// prefixes are the prefixes of a block's first line and of its other lines.
type prefixes struct {
	first, rest string
	inner       int // number of cells left for the text
	head, tail  int // number of cells of first and rest that are not copied
}

// prefixOf returns sign, the prefix of the first line in c, and blank, the prefix of its other
// lines. box is the character in the box of a task; 0 if c is not a task.
func (d *Doc) prefixOf(c *container, box byte) (sign, blank string) {
	s, look := d.style, &d.style.look
	switch {
	case c.quote:
		return s.bar, s.bar
	case c.item.Ordered():
		sign = look.Number.Render(strconv.Itoa(c.number)+string(rune(c.item.Char))) + " "
		return sign, strings.Repeat(" ", style.Width(sign))
	case box == 'x' || box == 'X':
		sign = s.ticked
	case box != 0:
		sign = s.blank
	default:
		sign = s.bullet
	}
	return sign, strings.Repeat(" ", style.Width(sign))
}

// prefixes returns the prefixes of b for a width, cut so that the text has room.
func (d *Doc) prefixes(b *block, width int) prefixes {
	path := b.parent.path()
	var first, rest strings.Builder
	l := prefixes{inner: width}
	copied := false
	for _, c := range path {
		box := byte(0)
		if c == b.parent {
			box = b.box
		}
		sign, blank := d.prefixOf(c, box)
		if c.depth <= b.above {
			sign = blank
		}
		copied = copied || !c.quote && sign != blank
		if !copied {
			l.head += style.Width(blank)
		}
		l.tail += style.Width(blank)
		first.WriteString(sign)
		rest.WriteString(blank)
	}
	if b.kind == blockCode {
		first.WriteString(codeIndent)
		rest.WriteString(codeIndent)
		l.tail += len(codeIndent)
		if !copied {
			l.head = l.tail
		}
	}
	most := width - minInner
	if most <= 0 { // prefixes that are cut to nothing would still leave their escape sequences
		return prefixes{inner: width}
	}
	l.first, l.rest = first.String(), rest.String()
	wide := max(style.Width(l.first), style.Width(l.rest))
	if wide > most {
		l.first, l.rest = ansi.Truncate(l.first, most, ""), ansi.Truncate(l.rest, most, "")
		l.head, l.tail = min(l.head, most), min(l.tail, most)
		wide = max(style.Width(l.first), style.Width(l.rest))
	}
	l.inner = width - wide
	return l
}

// codeIndent distinguishes code from text if there are no colours.
const codeIndent = "  "

// draw lays out b, which must be rendered, for a width.
func (d *Doc) draw(b *block, width int) blockLayout {
	out := blockLayout{width: width}
	if !b.hasLines() && (b.prev == nil || b.kind != blockText) {
		return out
	}
	l := d.prefixes(b, width)
	if b.gap {
		out.add(d.gapLine(b, width), LineInfo{Lead: NotCopied})
	}
	from := len(out.lines)
	switch b.kind {
	case blockText:
		text := b.styled
		var before *blockLayout
		if b.prev != nil {
			before = d.closed(b.prev, width)
			if before.open != "" && !b.unspaced && text != "" {
				text = " " + text
			}
			text = before.open + text
		}
		d.work.laid += len(text)
		wrap(&out, text, l.inner)
		if before != nil {
			out.infos[from] = before.info
		}
	case blockCode:
		d.layCode(&out, b.lines, l.inner)
		if b.prev != nil && !bytes.HasSuffix(b.prev.text, []byte("\n")) {
			out.infos[from].Soft, out.infos[from].Space = true, bytes.HasSuffix(b.prev.text, []byte(" "))
		}
	case blockTable:
		b.table.layout(l.inner)
		for _, line := range b.table.lines {
			out.add(line, LineInfo{})
		}
		if len(b.partial) > 0 {
			wrap(&out, paint(d.style.plain, clean(string(b.partial))), l.inner)
		}
	case blockThematicBreak:
		out.add(d.style.look.Rule.Render(strings.Repeat(d.style.look.Line, l.inner)), LineInfo{})
	case blockEmpty:
		out.add("", LineInfo{})
	}
	if b.continued && b.kind == blockText { // before apply, because the next piece has its own prefixes
		last := len(out.lines) - 1
		out.open, out.info = out.lines[last], out.infos[last]
		out.lines, out.infos = out.lines[:last], out.infos[:last]
	}
	l.apply(&out, from)
	return out
}

// layCode adds lines of code to out, without prefixes.
func (d *Doc) layCode(out *blockLayout, lines []string, inner int) {
	for _, line := range lines {
		d.work.laid += len(line)
		wrapCode(out, line, inner, d.style.wrapped)
	}
}

// apply adds the prefixes to the lines of out from index start on.
func (l prefixes) apply(out *blockLayout, start int) {
	lead, cells := l.first, l.head
	for i := start; i < len(out.lines); i++ {
		out.lines[i] = withPrefix(lead, out.lines[i])
		out.infos[i].Lead = uint16(min(int(out.infos[i].Lead)+cells, NotCopied))
		lead, cells = l.rest, l.tail
	}
}

// gapLine returns the blank line before b, with the bars of the quotes that contain both b
// and the block above.
func (d *Doc) gapLine(b *block, width int) string {
	c := b.parent
	for depthOf(c) > b.above {
		c = c.parent
	}
	var all strings.Builder
	for _, c := range c.path() {
		_, blank := d.prefixOf(c, 0)
		all.WriteString(blank)
	}
	return trimRight(ansi.Truncate(all.String(), max(0, width-minInner), ""))
}

// withPrefix returns a line with its prefix.
func withPrefix(lead, line string) string {
	switch {
	case lead == "":
		return line
	case line == "":
		return trimRight(lead)
	}
	return lead + line // line does not end in blanks
}

// trimRight removes blanks from the end of a styled line, including blanks before the
// sequences that end its styles.
func trimRight(s string) string {
	if s == "" || s[len(s)-1] != ' ' && s[len(s)-1] != 'm' && s[len(s)-1] != '\a' {
		return s
	}
	if s[len(s)-1] != ' ' && !strings.Contains(s, " \x1b") {
		return s
	}
	withCells(s, func(all []cell) { s = renderCells(all) })
	return s
}
