// Package commonmark says what a line of Markdown is when it stands at the top level of a
// document, as CommonMark and GitHub's tables define it: a fence, a heading, an item of a
// list, and so on.
//
// Every function is given a line without its line break, keeps nothing of it, and may be
// called from any goroutine.
package commonmark

import (
	"bytes"
	"strings"
)

// Indent is the width of the white space that line begins with, and where it
// ends. Tabs reach to multiples of four.
func Indent(line []byte) (columns, at int) { return IndentFrom(line, 0) }

// IndentFrom is Indent for what stands in a column.
func IndentFrom(line []byte, column int) (columns, at int) {
	for ; at < len(line); at++ {
		switch line[at] {
		case ' ':
			columns++
		case '\t':
			columns += CodeColumns - (column+columns)%CodeColumns
		default:
			return columns, at
		}
	}
	return columns, at
}

// IsBlank reports whether line has nothing but white space.
func IsBlank(line []byte) bool { return len(bytes.TrimLeft(line, " \t")) == 0 }

// CodeColumns is the indent from which on a line is code, and how far tabs reach.
const CodeColumns = 4

// Fence is what opens a block of code.
type Fence struct {
	Char   byte // '`' or '~'; 0 for code that is set apart by its indent
	Length int
	Indent int // in columns
}

// OpenFence reads an opening fence; info is the part of the line behind it, which names
// the language.
func OpenFence(line []byte) (f Fence, info []byte, ok bool) {
	columns, at := Indent(line)
	if columns >= CodeColumns || at == len(line) || line[at] != '`' && line[at] != '~' {
		return f, nil, false
	}
	f = Fence{Char: line[at], Indent: columns}
	for at < len(line) && line[at] == f.Char {
		f.Length++
		at++
	}
	if f.Length < 3 || f.Char == '`' && bytes.IndexByte(line[at:], '`') >= 0 {
		return Fence{}, nil, false
	}
	return f, line[at:], true
}

// Closes reports whether line closes f.
func (f Fence) Closes(line []byte) bool {
	columns, at := Indent(line)
	if f.Char == 0 || columns >= CodeColumns {
		return false
	}
	n := 0
	for at < len(line) && line[at] == f.Char {
		n++
		at++
	}
	return n >= f.Length && IsBlank(line[at:])
}

// MayClose reports whether line, which still grows, may come to close f.
func (f Fence) MayClose(line []byte) bool {
	rest := bytes.TrimLeft(line, " ")
	return f.Char != 0 && len(rest) > 0 && len(bytes.Trim(rest, string(f.Char)+" \t")) == 0
}

// IsHeading reports whether line is a heading that begins with #.
func IsHeading(line []byte) bool {
	columns, at := Indent(line)
	n := 0
	for at < len(line) && line[at] == '#' {
		n++
		at++
	}
	return columns < CodeColumns && n >= 1 && n <= 6 && (at == len(line) || line[at] == ' ' || line[at] == '\t')
}

// IsThematicBreak reports whether line is a thematic break: three or more of * - _.
func IsThematicBreak(line []byte) bool {
	columns, at := Indent(line)
	if columns >= CodeColumns || at == len(line) || !strings.ContainsRune("*-_", rune(line[at])) {
		return false
	}
	sign, n := line[at], 0
	for _, c := range line[at:] {
		switch c {
		case sign:
			n++
		case ' ', '\t':
		default:
			return false
		}
	}
	return n >= 3
}

// IsSetextUnderline reports whether line makes the paragraph above it a setext heading.
func IsSetextUnderline(line []byte) bool {
	columns, at := Indent(line)
	rest := bytes.TrimRight(line[at:], " \t")
	if columns >= CodeColumns || len(rest) == 0 {
		return false
	}
	return len(bytes.Trim(rest, "=")) == 0 || len(bytes.Trim(rest, "-")) == 0
}

// IsQuote reports whether line belongs to a quote.
func IsQuote(line []byte) bool {
	columns, at := Indent(line)
	return columns < CodeColumns && at < len(line) && line[at] == '>'
}

// Marker is what begins an item of a list.
type Marker struct {
	Char   byte // '-', '*', '+', or what follows the number: '.' or ')'
	Number int
	Size   int // bytes
	Pad    int // the columns of white space behind it that belong to it
	Offset int // the columns that the lines of the item are indented by
	Empty  bool
}

// maxNumberDigits is how many digits the number of an item may have.
const maxNumberDigits = 9

// OpenItem reads the marker of a list item on a line that begins in a column and
// is not indented by tabs.
func OpenItem(line []byte, column int) (Marker, bool) {
	columns, at := Indent(line)
	if columns >= CodeColumns || at == len(line) {
		return Marker{}, false
	}
	var m Marker
	from := at
	for at < len(line) && at-from < maxNumberDigits && line[at] >= '0' && line[at] <= '9' {
		m.Number = m.Number*10 + int(line[at]-'0')
		at++
	}
	signs := "-*+"
	if at > from {
		signs = ".)"
	}
	if at == len(line) || !strings.ContainsRune(signs, rune(line[at])) {
		return Marker{}, false
	}
	m.Char = line[at]
	at++
	rest := line[at:]
	m.Size = at - from
	m.Offset = columns + m.Size
	if IsBlank(rest) {
		m.Empty = true
		m.Offset, m.Pad = m.Offset+1, 1
		return m, true
	}
	after, _ := IndentFrom(rest, column+m.Offset)
	switch {
	case after == 0:
		return Marker{}, false
	case after > CodeColumns: // the item begins with code
		after = 1
	}
	m.Offset, m.Pad = m.Offset+after, after
	return m, true
}

// Ordered reports whether the items of the list are numbered.
func (m Marker) Ordered() bool { return m.Char == '.' || m.Char == ')' }

// Interrupts reports whether line begins a new block even right below a
// paragraph. A lone marker or a number other than 1 does not.
func Interrupts(line []byte) bool {
	if _, _, ok := OpenFence(line); ok {
		return true
	}
	if m, ok := OpenItem(line, 0); ok && !m.Empty && (!m.Ordered() || m.Number == 1) {
		return true
	}
	return IsHeading(line) || IsQuote(line) || IsThematicBreak(line)
}

// IsDelimiter reports whether line may be the second line of a table.
func IsDelimiter(line []byte) bool {
	return bytes.IndexByte(line, '-') >= 0 && len(bytes.Trim(line, "|:- \t")) == 0
}
