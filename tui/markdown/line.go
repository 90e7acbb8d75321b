package markdown

import (
	"bytes"
	"strings"
)

// What a line looks like when it stands at the top level of a document, as
// CommonMark says. Each of these is asked about a line without its line break.

// indentOf is the width of the white space that line begins with, and where it
// ends. Tabs reach to multiples of four.
func indentOf(line []byte) (columns, at int) { return indentFrom(line, 0) }

// indentFrom is indentOf for what stands in a column.
func indentFrom(line []byte, column int) (columns, at int) {
	for ; at < len(line); at++ {
		switch line[at] {
		case ' ':
			columns++
		case '\t':
			columns += codeColumns - (column+columns)%codeColumns
		default:
			return columns, at
		}
	}
	return columns, at
}

// isBlank reports whether line has nothing but white space.
func isBlank(line []byte) bool { return len(bytes.TrimLeft(line, " \t")) == 0 }

// codeColumns is the indent from which on a line is code, and how far tabs reach.
const codeColumns = 4

// fence is what opens a block of code.
type fence struct {
	plain  bool // no code, but text that is not read as Markdown
	char   byte // '`' or '~'; 0 for code that is set apart by its indent
	length int
	indent int
	lang   string
}

// openFence reads an opening fence.
func openFence(line []byte) (fence, bool) {
	columns, at := indentOf(line)
	if columns >= codeColumns || at == len(line) || line[at] != '`' && line[at] != '~' {
		return fence{}, false
	}
	f := fence{char: line[at], indent: columns}
	for at < len(line) && line[at] == f.char {
		f.length++
		at++
	}
	if f.length < 3 || f.char == '`' && bytes.IndexByte(line[at:], '`') >= 0 {
		return fence{}, false
	}
	if words := strings.Fields(literal(line[at:])); len(words) > 0 {
		f.lang = words[0]
	}
	return f, true
}

// closes reports whether line closes f.
func (f fence) closes(line []byte) bool {
	columns, at := indentOf(line)
	if f.char == 0 || columns >= codeColumns {
		return false
	}
	n := 0
	for at < len(line) && line[at] == f.char {
		n++
		at++
	}
	return n >= f.length && isBlank(line[at:])
}

// mayClose reports whether line, which still grows, may come to close f.
func (f fence) mayClose(line []byte) bool {
	rest := bytes.TrimLeft(line, " ")
	return f.char != 0 && len(rest) > 0 && len(bytes.Trim(rest, string(f.char)+" \t")) == 0
}

// isHeading reports whether line is a heading that begins with #.
func isHeading(line []byte) bool {
	columns, at := indentOf(line)
	n := 0
	for at < len(line) && line[at] == '#' {
		n++
		at++
	}
	return columns < codeColumns && n >= 1 && n <= 6 && (at == len(line) || line[at] == ' ' || line[at] == '\t')
}

// isThematicBreak reports whether line is a thematic break: three or more of * - _.
func isThematicBreak(line []byte) bool {
	columns, at := indentOf(line)
	if columns >= codeColumns || at == len(line) || !strings.ContainsRune("*-_", rune(line[at])) {
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

// isSetextUnderline reports whether line makes the paragraph above it a setext heading.
func isSetextUnderline(line []byte) bool {
	columns, at := indentOf(line)
	rest := bytes.TrimRight(line[at:], " \t")
	if columns >= codeColumns || len(rest) == 0 {
		return false
	}
	return len(bytes.Trim(rest, "=")) == 0 || len(bytes.Trim(rest, "-")) == 0
}

// isQuote reports whether line belongs to a quote.
func isQuote(line []byte) bool {
	columns, at := indentOf(line)
	return columns < codeColumns && at < len(line) && line[at] == '>'
}

// marker is what begins an item of a list.
type marker struct {
	char   byte // '-', '*', '+', or what follows the number: '.' or ')'
	number int
	size   int // bytes
	pad    int // the columns of white space behind it that belong to it
	offset int // the columns that the lines of the item are indented by
	empty  bool
}

// maxNumberDigits is how many digits the number of an item may have.
const maxNumberDigits = 9

// openItem reads the marker of a list item on a line that begins in a column and
// is not indented by tabs.
func openItem(line []byte, column int) (marker, bool) {
	columns, at := indentOf(line)
	if columns >= codeColumns || at == len(line) {
		return marker{}, false
	}
	var m marker
	from := at
	for at < len(line) && at-from < maxNumberDigits && line[at] >= '0' && line[at] <= '9' {
		m.number = m.number*10 + int(line[at]-'0')
		at++
	}
	signs := "-*+"
	if at > from {
		signs = ".)"
	}
	if at == len(line) || !strings.ContainsRune(signs, rune(line[at])) {
		return marker{}, false
	}
	m.char = line[at]
	at++
	rest := line[at:]
	m.size = at - from
	m.offset = columns + m.size
	if isBlank(rest) {
		m.empty = true
		m.offset, m.pad = m.offset+1, 1
		return m, true
	}
	after, _ := indentFrom(rest, column+m.offset)
	switch {
	case after == 0:
		return marker{}, false
	case after > codeColumns: // the item begins with code
		after = 1
	}
	m.offset, m.pad = m.offset+after, after
	return m, true
}

// ordered reports whether the items of the list are numbered.
func (m marker) ordered() bool { return m.char == '.' || m.char == ')' }

// interrupts reports whether line begins a new block even right below a
// paragraph. A lone marker or a number other than 1 does not.
func interrupts(line []byte) bool {
	if _, ok := openFence(line); ok {
		return true
	}
	if m, ok := openItem(line, 0); ok && !m.empty && (!m.ordered() || m.number == 1) {
		return true
	}
	return isHeading(line) || isQuote(line) || isThematicBreak(line)
}

// isDelimiter reports whether line may be the second line of a table.
func isDelimiter(line []byte) bool {
	return bytes.IndexByte(line, '-') >= 0 && len(bytes.Trim(line, "|:- \t")) == 0
}
