package markdown

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// Doc is a Markdown text that may still grow. Create it with New.
type Doc struct {
	style       *Style
	src         []byte
	crSeen      bool // the last byte appended was CR, so a following LF is not another line break
	lineStart   int  // start of the incomplete line, or of the part of it that has not been read
	searched    int  // number of bytes of src that have been searched for line breaks
	inLine      bool // the incomplete line is long, and its text before lineStart already belongs to leaf
	finishedLen int  // length of src including the line break added by Finish; 0 if none was

	stack      []*container // the open quotes and items, outermost first
	leaf       *openBlock   // the open block; nil if none
	blank      bool         // the last line was blank
	blankDepth int          // minimum depth of the containers in which that line was blank
	blocks     []*block     // the closed blocks
	last       *block       // the last closed block that has lines
	nodes      int          // number of closed blocks and table rows, for the budget
	usedBytes  int          // total size of the closed blocks and table rows in bytes, for the budget
	rest       *Text        // the text that exceeds the budget; nil if none does
	restFrom   int          // number of bytes of rest that are also in src

	defined definitions
	version uint64
	view    view
	work    work
}

// work counts the bytes that each stage has processed, for tests of the cost, and the
// surcharge, see Surcharge.
type work struct{ parsed, highlighted, laid, surcharge int }

func (w work) total() int { return w.parsed + w.highlighted + w.laid }

// One byte of Markdown costs 1. The following elements cost more, each time they are drawn.
const (
	codeCost    = 4  // per byte of highlighted code
	textCost    = 16 // per paragraph or link definition
	headingCost = 64 // per heading; each of its bytes costs 1 more
	nodeCost    = 4  // per inline element: emphasis, a link, the text between two of them
)

// New returns an empty document with a style.
func New(s *Style) *Doc { return &Doc{style: s} }

// Limit reduces the budget of an empty document to at most n bytes; the rest is shown as
// plain text.
func (d *Doc) Limit(n int) { d.usedBytes = max(0, maxBytes-max(n, 0)) }

// SetStyle changes the style.
func (d *Doc) SetStyle(s *Style) {
	d.style = s
	d.version++
	for _, b := range d.blocks {
		b.invalidate()
	}
	if d.leaf != nil {
		d.leaf.invalidate()
	}
	d.view = view{}
}

// Source returns the text so far, with LF line breaks.
func (d *Doc) Source() string {
	if d.rest != nil {
		return string(d.src) + d.rest.Source()[d.restFrom:]
	}
	if d.finishedLen == len(d.src) && d.finishedLen > 0 {
		return string(d.src[:d.finishedLen-1])
	}
	return string(d.src)
}

// Size returns the length of the text so far in bytes.
func (d *Doc) Size() int {
	if d.rest != nil {
		return len(d.src) + d.rest.src.Len() - d.restFrom
	}
	return len(d.src)
}

// Surcharge returns what the document has cost since New in addition to 1 per byte: many
// short headings and paragraphs, and highlighted code, take many times as long as running
// text.
func (d *Doc) Surcharge() int { return d.work.surcharge }

// Append adds to the text. Chunks may end anywhere, even within a character.
func (d *Doc) Append(chunk string) {
	if chunk == "" {
		return
	}
	d.version++
	d.normalize(chunk)
	for d.next() {
	}
}

// normalize adds chunk to the source with CRLF and CR turned into LF.
func (d *Doc) normalize(chunk string) {
	for {
		if d.crSeen && chunk != "" {
			chunk = strings.TrimPrefix(chunk, "\n")
			d.crSeen = false
		}
		i := strings.IndexByte(chunk, '\r')
		if i < 0 {
			d.write(chunk)
			return
		}
		d.write(chunk[:i])
		d.write("\n")
		d.crSeen = true
		chunk = chunk[i+1:]
	}
}

// write adds text with LF line breaks to the source.
func (d *Doc) write(text string) {
	if d.rest != nil {
		d.rest.Append(text)
	} else {
		d.src = append(d.src, text...)
	}
}

// Finish ends the text. Text appended afterwards starts a new line and a new block.
func (d *Doc) Finish() {
	if d.rest == nil && (d.lineStart < len(d.src) || d.inLine) {
		d.Append("\n")
		d.finishedLen = len(d.src)
	}
	d.closeLeaf()
	d.pop(0)
	d.blank = true
	d.blankDepth = 0
	d.version++
}

// longRow is the limit that replaces longLine after a row of a table, so that a row may be
// longer than other lines.
const longRow = 16 << 10

// next processes the next line, or the next part of a long one, and reports whether there
// may be another. The result does not depend on how the text was cut into chunks.
func (d *Doc) next() bool {
	end := len(d.src)
	newline := bytes.IndexByte(d.src[d.searched:], '\n')
	if newline >= 0 {
		end = d.searched + newline
	}
	limit := longLine
	if d.leaf != nil && d.leaf.kind == blockTable {
		limit = longRow
	}
	if d.rest == nil && !d.inLine && d.overBudget() {
		d.closeLeaf()
		d.goPlain(nil)
	}
	if d.rest != nil {
		d.rest.Append(string(d.src[d.lineStart:]))
		d.src = d.src[:d.lineStart]
		d.searched = d.lineStart
		return false
	}
	if d.leaf != nil {
		d.leaf.ready, d.leaf.layout = false, blockLayout{}
	}
	switch {
	case d.inLine:
		if newline < 0 {
			end = d.lineStart + completeRunes(d.src[d.lineStart:])
		}
		if end > d.lineStart {
			d.extend(d.src[d.lineStart:end])
		}
		d.lineStart, d.searched = end, end
		if newline < 0 {
			return false
		}
		d.endLine()
		d.inLine = false
	case end-d.lineStart >= limit:
		d.startLong(d.src[d.lineStart : d.lineStart+limit])
		return true
	case newline < 0:
		d.searched = len(d.src)
		return false
	default:
		d.apply(d.place(d.src[d.lineStart:end], false))
	}
	d.lineStart, d.searched = end+1, end+1
	return true
}

// startLong starts a line of which only the first bytes are examined. If these bytes are
// all white space, the line counts as blank.
func (d *Doc) startLong(start []byte) {
	if isBlank(start) {
		d.apply(d.place(nil, false))
		d.lineStart += len(start)
	} else {
		start = start[:completeRunes(start)]
		p := d.place(start, true)
		p.open = true
		d.apply(p)
		d.lineStart, d.inLine = d.lineStart+len(start), true
	}
	d.searched = d.lineStart
}

// extend adds to the long line at the end of the open block.
func (d *Doc) extend(part []byte) {
	switch {
	case d.leaf == nil:
		d.open(&block{kind: blockText, text: bytes.TrimLeft(part, " \t")})
		d.leaf.text = append([]byte(mark), d.leaf.text...)
	case d.leaf.kind == blockCode:
		d.leaf.text = append(d.leaf.text, part...)
		d.cutLongCode()
	default:
		d.leaf.text = append(d.leaf.text, part...)
		d.scan(len(d.leaf.text))
	}
}

// endLine ends the long line at the end of the open block.
func (d *Doc) endLine() {
	switch {
	case d.rest != nil:
		d.endRestLine()
	case d.leaf == nil:
	case d.leaf.kind == blockCode:
		d.endCodeLine()
	default:
		d.leaf.text = append(d.leaf.text, '\n')
		d.scan(len(d.leaf.text))
	}
}

// completeRunes returns the length of s without an incomplete character at its end.
func completeRunes(s []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(s); n++ {
		if b := s[len(s)-n]; b >= 0xC0 {
			if !utf8.FullRune(s[len(s)-n:]) {
				return len(s) - n
			}
			break
		} else if b < utf8.RuneSelf {
			break
		}
	}
	return len(s)
}

const (
	// maxDepth is the maximum nesting of quotes and items; deeper quotes and items are
	// text. Each line is drawn with the markers of all its containers.
	maxDepth = 64
	// maxNodes and maxBytes are the number of blocks and table rows, and the size, above
	// which the rest of a document is shown as plain text.
	maxNodes = 1 << 14
	maxBytes = 256 << 10
)

// overBudget reports whether the document has used up its budget.
func (d *Doc) overBudget() bool { return d.nodes >= maxNodes || d.usedBytes >= maxBytes }

// goPlain treats the rest of the text as plain text, starting with rest, which is the end
// of what was read from src.
func (d *Doc) goPlain(rest []byte) {
	d.pop(0)
	d.blank, d.blankDepth = true, 0
	d.open(&block{kind: blockText, text: []byte("*The answer is too long for Markdown: the rest is shown as plain text.*\n")})
	d.closeLeaf()
	d.rest, d.restFrom = &Text{}, len(rest)
	d.rest.Append(string(rest))
}

// endRestLine ends the line of src at the end of rest.
func (d *Doc) endRestLine() {
	d.rest.Append("\n")
	d.restFrom++
}

// Rest returns what follows the lines of a document that exceeds its budget, as plain text
// after a blank line; nil if there is none. The Text belongs to the document: the caller
// may lay it out and read it, but not append to it.
func (d *Doc) Rest() *Text { return d.rest }

// Code is a block of code in a document.
type Code struct {
	Language string // the first word after the fence; "" if there is none
	Text     string // the code without the fence, with its line breaks
}

// Code returns the blocks of code in order, including what there is so far of a block that is
// still open.
func (d *Doc) Code() []Code {
	var all []Code
	for _, b := range append(d.blocks[:len(d.blocks):len(d.blocks)], d.openBlocks()...) {
		switch {
		case b.kind != blockCode:
		case b.prev != nil && len(all) > 0:
			all[len(all)-1].Text += string(b.text) + string(b.partial)
		default:
			all = append(all, Code{b.fence.lang, string(b.text) + string(b.partial)})
		}
	}
	return all
}
