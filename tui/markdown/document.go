package markdown

import (
	"bytes"
	"strings"
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
