package markdown

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark/ast"
)

// Doc is a text in Markdown that may still grow. Make it with New.
type Doc struct {
	style  *Style
	src    []byte
	crSeen bool // the last byte that came was CR: an LF after it says nothing new
	read   int  // how far src was searched for line breaks
	begun  int  // where the line that is not complete begins
	before int  // where the line before it begins

	blocks []*block // whole
	open   *block   // the block that the next line may go on with; nil for none
	blank  bool     // a blank line came since the last line of open
	cut    cutter   // reads open, when it is a paragraph
	cutAt  int      // how far in src it has read
	check  int      // the length of open, when it is code, at which to try to cut it
	ended  int      // the length of src with the line break that Finish added
	piece  int      // where the line of code being read begins, or the last piece of it
	inLine bool     // the line that is not complete is in open already
	spaced bool     // the last line was blank

	around *container // that holds the document; nil for a whole text
	dense  bool       // the content of an item: a blank line between blocks only where there is one
	nestAt int        // the size from which on a container is a document, see there

	defined *definitions // shared by what contains each other
	version uint64
	view    view
	traces  map[int]*traced // blocks taken apart for their places
	work    *work           // shared likewise
}

// work counts the bytes that went through each stage, for tests of cost.
type work struct{ parsed, coloured, laid, cells int }

func (w work) total() int { return w.parsed + w.coloured + w.laid + w.cells }

// New makes an empty document with a look.
func New(s *Style) *Doc {
	return &Doc{style: s, nestAt: nestAt, defined: &definitions{}, work: &work{}}
}

// SetStyle changes the look.
func (d *Doc) SetStyle(s *Style) {
	d.style = s
	d.version++
	for _, b := range d.blocks {
		b.restyle(s)
	}
	if d.open != nil {
		d.open.restyle(s)
	}
	d.view = view{}
	d.traces = nil
}

// Version changes with everything that may change what Lines gives.
func (d *Doc) Version() uint64 { return d.version }

// Source is the text so far, with LF line breaks.
func (d *Doc) Source() string {
	if d.ended == len(d.src) && d.ended > 0 {
		return string(d.src[:d.ended-1])
	}
	return string(d.src)
}

// Append adds to the text. Chunks may end anywhere, even inside a character.
func (d *Doc) Append(chunk string) {
	if chunk == "" {
		return
	}
	d.version++
	d.take(chunk)
	for {
		i := bytes.IndexByte(d.src[d.read:], '\n')
		if i < 0 {
			d.read = len(d.src)
			break
		}
		end := d.read + i
		d.line(d.begun, end)
		d.before, d.begun, d.read, d.piece = d.begun, end+1, end+1, end+1
	}
	d.long()
}

// take adds chunk to the source with CRLF and CR turned into LF.
func (d *Doc) take(chunk string) {
	for {
		if d.crSeen && chunk != "" {
			chunk = strings.TrimPrefix(chunk, "\n")
			d.crSeen = false
		}
		i := strings.IndexByte(chunk, '\r')
		if i < 0 {
			d.src = append(d.src, chunk...)
			return
		}
		d.src = append(append(d.src, chunk[:i]...), '\n')
		d.crSeen = true
		chunk = chunk[i+1:]
	}
}

// Finish says that the text is complete. Text that is appended all the same
// begins a new line and a new block.
func (d *Doc) Finish() {
	if d.begun < len(d.src) {
		d.Append("\n")
		d.ended = len(d.src)
	}
	if d.open != nil {
		d.close(d.open.end)
	}
	d.version++
}

// line reads a complete line, src[start:end].
func (d *Doc) line(start, end int) {
	switch {
	case d.inLine:
		d.inLine, d.open.end = false, end+1
	case d.open == nil || !d.goesOn(start, end):
		d.begin(start, end)
	}
	d.spaced = isBlank(d.src[start:end])
	d.blank = d.open != nil && d.spaced
	if o := d.open; o != nil && o.isContainer() && o.end > end {
		d.contain()
	}
}

// contain gives the open container what came of it, when it is a large one.
func (d *Doc) contain() {
	o := d.open
	if o.inner == nil && o.end-o.start >= d.nestAt {
		d.nest()
	}
	if o.inner != nil {
		o.inner.take(o.end)
	}
}

// begin opens a block with a line, when it is not blank.
func (d *Doc) begin(start, end int) {
	line := d.src[start:end]
	columns, _ := indentOf(line)
	o := &block{start: start, end: end + 1, spaced: d.spaced}
	d.open = o
	if f, ok := openFence(line); ok {
		o.kind, o.fence, o.start = blockCode, f, end+1
		d.check, d.piece = leastCode, end+1
		return
	}
	m, item := openItem(line)
	switch {
	case isBlank(line):
		d.open = nil
	case columns >= codeColumns:
		o.kind, o.fence.indent = blockCode, codeColumns
		d.check = leastCode
		d.codeLine(end)
	case isBreak(line), isHeading(line):
		d.close(end + 1)
	case isQuote(line):
		o.kind = blockQuote
	case item:
		o.kind, o.item, o.number = blockItem, m, m.number
	default:
		d.paragraph(start)
		d.addLine(start, end)
	}
}

// paragraph makes the open block a paragraph that begins at start.
func (d *Doc) paragraph(start int) {
	d.open = &block{kind: blockText, start: start, end: start, spaced: d.spaced}
	d.cut, d.cutAt = cutter{}, start
}

// goesOn adds a line to the open block, or closes it; false means that the line
// begins something new.
func (d *Doc) goesOn(start, end int) bool {
	line := d.src[start:end]
	switch d.open.kind {
	case blockCode:
		return d.codeGoesOn(line, end)
	case blockText:
		return d.textGoesOn(line, start, end)
	case blockItem:
		return d.itemGoesOn(line, start, end)
	default:
	}
	quote := d.open.kind == blockQuote
	switch {
	case isBlank(line):
		d.close(d.open.end)
		return true
	case quote && isQuote(line):
		d.open.lazy = false
	case interrupts(line), quote && (isItem(line) || !d.lazy(start, end)), !quote && isUnderline(line):
		d.close(d.open.end)
		return false
	case !quote:
		d.open.rows, d.open.ready = append(d.open.rows, span{start, end}), false
	}
	d.open.end = end + 1
	return true
}

// lazy reports whether the line src[start:end], which lacks the indent of the
// open item or the sign of the open quote, goes on with the paragraph in it.
func (d *Doc) lazy(start, end int) bool {
	if c := d.open.inner; c != nil {
		return c.doc.takesLazily(d.src[start:end])
	}
	return d.lazily(d.src[d.open.start:end])
}

// lazily reports whether src, the open container with one more line, is no more
// than that.
func (d *Doc) lazily(src []byte) bool {
	if !d.open.lazy {
		tree := d.parse(src)
		d.open.lazy = tree.FirstChild() == tree.LastChild()
	}
	return d.open.lazy
}

// endsEmpty reports whether the open item is one without a word, which ends with
// the first blank line.
func (d *Doc) endsEmpty() bool {
	o := d.open
	return o.item.empty && d.blank && bytes.IndexByte(d.src[o.start:o.end], '\n') == o.end-o.start-1
}

func (d *Doc) codeGoesOn(line []byte, end int) bool {
	o := d.open
	if o.fence.char != 0 {
		if o.fence.closes(line) {
			d.close(o.end)
		} else {
			d.codeLine(end)
		}
		return true
	}
	columns, _ := indentOf(line)
	switch {
	case isBlank(line): // belongs to the code if more of it comes
	case columns >= codeColumns:
		d.codeLine(end)
	default:
		d.close(o.end)
		return false
	}
	return true
}

func (d *Doc) textGoesOn(line []byte, start, end int) bool {
	o := d.open
	short := len(line) < longLine
	switch {
	case isBlank(line):
		d.close(o.end)
		return true
	case short && !o.cont && isUnderline(line) && d.isHeading(end):
		d.close(end + 1)
		return true
	case short && !o.cont && isUnderline(line) && d.onlyDefines(o):
		d.close(o.end)
		return false
	case interrupts(line):
		d.close(o.end)
		return false
	case short && isDelimiter(line) && d.before >= o.start && !o.barred && d.table(start, end):
		return true
	}
	d.addLine(start, end)
	return true
}

// itemGoesOn decides as CommonMark does: an item goes on with what is indented
// below it, or with its last paragraph.
func (d *Doc) itemGoesOn(line []byte, start, end int) bool {
	o := d.open
	columns, _ := indentOf(line)
	m, item := openItem(line)
	switch {
	case isBlank(line):
		return true
	case d.endsEmpty():
		d.close(o.end)
		return false
	case columns >= o.item.offset:
		o.lazy = false
	case isBreak(line):
		d.close(o.end)
		return false
	case item && m.char == o.item.char:
		tight := !d.blank
		d.close(o.end)
		d.open = &block{
			kind: blockItem, start: start, end: end + 1, item: m, number: o.number + 1, inList: true, tight: tight, spaced: !tight,
		}
		return true
	case d.blank, item, interrupts(line), !d.lazy(start, end):
		d.close(o.end)
		return false
	}
	o.end = end + 1
	return true
}

// isHeading reports whether the line that ends at end makes a heading of the open
// paragraph, which it does not when that is nothing but link definitions.
func (d *Doc) isHeading(end int) bool {
	_, ok := d.parse(d.src[d.open.start:end]).LastChild().(*ast.Heading)
	return ok
}

// onlyDefines reports whether the paragraph o is nothing but link definitions.
func (d *Doc) onlyDefines(o *block) bool {
	for n := d.parse(d.src[o.start:o.end]).FirstChild(); n != nil; n = n.NextSibling() {
		if n.Kind() != ast.KindLinkReferenceDefinition {
			return false
		}
	}
	return true
}

// table opens a table whose delimiters are src[start:end], when they fit the line
// before them, the last of the open paragraph. When they do not, goldmark looks
// for no others in it.
func (d *Doc) table(start, end int) bool {
	o := d.open
	below := d.before > o.start
	t := &block{kind: blockTable, start: d.before, head: end + 1, end: end + 1, spaced: o.spaced && !below, below: below}
	head, _ := d.headOf(t)
	if !isTable(d.parse(head).FirstChild()) {
		line := d.src[start : end+1]
		o.barred = isTable(d.parse(append(bytes.Clone(line), line...)).FirstChild())
		return false
	}
	if below {
		d.close(d.before)
	}
	d.open = t
	return true
}

// close makes the open block whole; it ends at end.
func (d *Doc) close(end int) {
	o := d.open
	o.end = end
	o.growth = growth{}
	d.open = nil
	d.blocks = append(d.blocks, o)
	if o.inner != nil {
		o.inner.doc.Finish()
		o.inner.index = len(d.blocks) - 1
		return
	}
	d.links(len(d.blocks) - 1)
}

// addLine adds the line that ends at end to the open paragraph. It is scanned with
// the next one, which may make a table of it, unless it is too long for that.
func (d *Doc) addLine(start, end int) {
	if end-start < longLine {
		d.scan(start)
	} else {
		d.scan(end + 1)
	}
	d.open.end = end + 1
}

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
