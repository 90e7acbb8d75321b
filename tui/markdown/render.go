package markdown

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
)

// render computes what b shows at any width, unless it has been computed before.
func (d *Doc) render(b *block) {
	if b.ready {
		return
	}
	b.ready = true
	switch b.kind {
	case blockText:
		d.renderText(b)
	case blockCode:
		if len(b.text) > 0 {
			b.lines, _ = d.highlight(b, b.from, b.to, b.text)
		}
	case blockTable:
		d.renderTable(b)
	case blockThematicBreak, blockEmpty:
	}
}

// renderText renders a paragraph or heading.
func (d *Doc) renderText(b *block) {
	src := b.text
	switch {
	case b.prev != nil:
		src = append([]byte(mark), bytes.TrimLeft(src, " \t\n")...)
	case b.startsItem() != nil:
		b.box, src = cutTaskBox(src)
	}
	var out []string
	for _, n := range paragraphs(d.parse(src)) {
		s, nodes := "", 0
		switch n.(type) {
		case *ast.Paragraph, *ast.TextBlock, *ast.Heading:
			s, nodes = d.style.inlineText(n, src)
		default: // another node, such as the head of a table that continues: drawn as plain text
			s = paint(d.style.plain, clean(strings.TrimSpace(strings.TrimPrefix(string(src), mark))))
		}
		if s != "" {
			out = append(out, s)
		}
		d.work.surcharge += textCost + nodes*nodeCost
		if n.Kind() == ast.KindHeading {
			d.work.surcharge += headingCost + len(src)
		}
	}
	b.styled = strings.Join(out, "\n")
}

// startsItem returns the item whose first line is in b, or nil.
func (b *block) startsItem() *container {
	if c := b.parent; c != nil && !c.quote && b.above < c.depth && b.prev == nil {
		return c
	}
	return nil
}

// cutTaskBox returns the character in the task box at the start of an item's text, 0 if
// there is none, and the text without it.
func cutTaskBox(text []byte) (box byte, rest []byte) {
	at := 0
	if isHeading(text) {
		at = len(text) - len(bytes.TrimLeft(text, "# \t"))
	}
	s := text[at:]
	if len(s) < 3 || s[0] != '[' || s[2] != ']' || bytes.IndexByte([]byte(" \txX"), s[1]) < 0 || len(s) > 3 && s[3] == ':' {
		return 0, text
	}
	rest = append(bytes.Clone(text[:at]), mark...)
	return s[1], append(rest, bytes.TrimLeft(s[3:], " \t")...)
}

// highlight does the same as Style.highlight for src, which is code of b, and adds its cost.
func (d *Doc) highlight(b *block, from, to delimiters, src []byte) ([]string, codeEnd) {
	l := lexer(b.fence.lang)
	if l != nil {
		d.work.highlighted += len(src)
		d.work.surcharge += codeCost * len(src)
	}
	return d.style.highlight(l, from, to, string(src))
}

// renderTable creates the table of b, or adds new rows to it.
func (d *Doc) renderTable(b *block) {
	if b.table == nil {
		if b.table = d.newTable(b); b.table == nil { // a label that has been defined since has turned the head into a definition
			return
		}
	}
	t := b.table
	if t.read == len(b.text) {
		return
	}
	src := append(bytes.Clone(b.head), b.text[t.read:]...)
	t.read = len(b.text)
	if n := d.parse(src).FirstChild(); isTable(n) {
		for row := n.FirstChild().NextSibling(); row != nil; row = row.NextSibling() {
			cells, nodes := t.cells(row, src)
			t.rows = append(t.rows, cells)
			d.work.surcharge += nodes * nodeCost
		}
	}
}

// newTable returns the table of b without rows; nil if its head is not valid.
func (d *Doc) newTable(b *block) *table {
	if b.prev != nil && b.prev.table != nil {
		t := b.prev.table
		return &table{style: t.style, align: t.align, head: t.head, width: t.width, continued: true}
	}
	n, ok := d.parse(b.head).FirstChild().(*extast.Table)
	if !ok {
		return nil
	}
	return newTable(d.style, n, b.head)
}

// growth is the state of open code between two frames.
type growth struct {
	lines     []string    // highlighted
	final     int         // number of lines that will not be highlighted again until the code is complete
	end       int         // number of bytes that have been highlighted
	at        int         // start of the text whose highlighting may change
	from      delimiters  // delimiters of the comment or string in which this text starts
	laid      blockLayout // the final lines
	laidCount int         // number of final lines that are laid out
}

const (
	// shortLine is the length in bytes up to which a growing line of code is highlighted
	// each time; a longer line is highlighted only when it is complete.
	shortLine = 256
	// maxRehighlight limits the bytes of code that are highlighted again for a line at the
	// end of the code.
	maxRehighlight = 1024
)

// openCode highlights the open code b. Each complete line is highlighted once, together
// with the preceding lines that are not final.
func (d *Doc) openCode(b *openBlock) []string {
	if b.growth == nil {
		b.growth = &growth{}
	}
	g := b.growth
	if g.at == 0 {
		g.from = b.from
	}
	if text := b.text[:b.line]; g.end < len(text) {
		lines, end := d.highlight(b.block, g.from, delimiters{}, text[g.at:])
		if end.inside != (delimiters{}) {
			lines, _ = d.highlight(b.block, g.from, end.inside, text[g.at:])
		}
		g.lines, g.end = append(g.lines[:g.final], lines...), len(text)
		if !end.open || end.inside != (delimiters{}) || len(text)-g.at > maxRehighlight {
			g.final, g.at, g.from = len(g.lines), len(text), end.inside
		}
	}
	line := append(b.text[b.line:len(b.text):len(b.text)], b.partial...)
	switch {
	case len(line) == 0:
		return g.lines
	case len(line) < shortLine:
		lines, _ := d.highlight(b.block, g.from, delimiters{}, append(b.text[g.at:b.line:b.line], line...))
		return append(g.lines[:g.final:g.final], lines...)
	}
	return append(g.lines[:len(g.lines):len(g.lines)], paint(d.style.code, cleanCode(string(line), 0)))
}
