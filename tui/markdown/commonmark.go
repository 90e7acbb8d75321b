package markdown

import (
	"bytes"
	"strings"
)

// lineIndent returns the width of the white space at the start of line, and where it ends.
// Tabs extend to multiples of four.
func lineIndent(line []byte) (columns, at int) { return indentFrom(line, 0) }

// indentFrom does the same as lineIndent for text that starts in the middle of a line, at a
// column.
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

// isBlank reports whether line is empty or only white space.
func isBlank(line []byte) bool { return len(bytes.TrimLeft(line, " \t")) == 0 }

// codeColumns is the indent from which a line is code, and the width of a tab.
const codeColumns = 4

// codeFence is what starts a block of code: a fence or an indent.
type codeFence struct {
	Char   byte // '`' or '~'; 0 for indented code
	Length int
	Indent int // in columns
}

// openFence reads an opening fence; info is the rest of the line, with the language.
func openFence(line []byte) (f codeFence, info []byte, ok bool) {
	columns, at := lineIndent(line)
	if columns >= codeColumns || at == len(line) || line[at] != '`' && line[at] != '~' {
		return f, nil, false
	}
	f = codeFence{Char: line[at], Indent: columns}
	for at < len(line) && line[at] == f.Char {
		f.Length++
		at++
	}
	if f.Length < 3 || f.Char == '`' && bytes.IndexByte(line[at:], '`') >= 0 {
		return codeFence{}, nil, false
	}
	return f, line[at:], true
}

// Closes reports whether line closes f.
func (f codeFence) Closes(line []byte) bool {
	columns, at := lineIndent(line)
	if f.Char == 0 || columns >= codeColumns {
		return false
	}
	n := 0
	for at < len(line) && line[at] == f.Char {
		n++
		at++
	}
	return n >= f.Length && isBlank(line[at:])
}

// MayClose reports whether line, which is still growing, may become a line that closes f.
func (f codeFence) MayClose(line []byte) bool {
	rest := bytes.TrimLeft(line, " ")
	return f.Char != 0 && len(rest) > 0 && len(bytes.Trim(rest, string(f.Char)+" \t")) == 0
}

// isHeading reports whether line is a heading that starts with #.
func isHeading(line []byte) bool {
	columns, at := lineIndent(line)
	n := 0
	for at < len(line) && line[at] == '#' {
		n++
		at++
	}
	return columns < codeColumns && n >= 1 && n <= 6 && (at == len(line) || line[at] == ' ' || line[at] == '\t')
}

// isThematicBreak reports whether line is a thematic break: the sign *, - or _ three or more
// times.
func isThematicBreak(line []byte) bool {
	columns, at := lineIndent(line)
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

// isSetextUnderline reports whether line turns the paragraph above it into a setext
// heading.
func isSetextUnderline(line []byte) bool {
	columns, at := lineIndent(line)
	rest := bytes.TrimRight(line[at:], " \t")
	if columns >= codeColumns || len(rest) == 0 {
		return false
	}
	return len(bytes.Trim(rest, "=")) == 0 || len(bytes.Trim(rest, "-")) == 0
}

// isQuote reports whether line starts with the marker of a quote.
func isQuote(line []byte) bool {
	columns, at := lineIndent(line)
	return columns < codeColumns && at < len(line) && line[at] == '>'
}

// listMarker is the start of an item of a list.
type listMarker struct {
	Char   byte // '-', '*', '+', or the character after the number: '.' or ')'
	Number int
	Size   int // bytes
	Pad    int // columns of white space after the marker that belong to it
	Offset int // indent of the item's lines in columns
	Empty  bool
}

// maxNumberDigits is the maximum number of digits in the number of an item.
const maxNumberDigits = 9

// openItem reads the marker of a list item at the start of line, which is the rest of a line
// from the given column on and is not indented by tabs.
func openItem(line []byte, column int) (listMarker, bool) {
	columns, at := lineIndent(line)
	if columns >= codeColumns || at == len(line) {
		return listMarker{}, false
	}
	var m listMarker
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
		return listMarker{}, false
	}
	m.Char = line[at]
	at++
	rest := line[at:]
	m.Size = at - from
	m.Offset = columns + m.Size
	if isBlank(rest) {
		m.Empty = true
		m.Offset, m.Pad = m.Offset+1, 1
		return m, true
	}
	after, _ := indentFrom(rest, column+m.Offset)
	switch {
	case after == 0:
		return listMarker{}, false
	case after > codeColumns: // the item starts with code
		after = 1
	}
	m.Offset, m.Pad = m.Offset+after, after
	return m, true
}

// Ordered reports whether the list is numbered.
func (m listMarker) Ordered() bool { return m.Char == '.' || m.Char == ')' }

// interrupts reports whether line starts a new block even directly after a paragraph. A
// list marker without text, or with a number other than 1, does not.
func interrupts(line []byte) bool {
	if _, _, ok := openFence(line); ok {
		return true
	}
	if m, ok := openItem(line, 0); ok && !m.Empty && (!m.Ordered() || m.Number == 1) {
		return true
	}
	return isHeading(line) || isQuote(line) || isThematicBreak(line)
}

// isDelimiter reports whether line can be the second line of a table.
func isDelimiter(line []byte) bool {
	return bytes.IndexByte(line, '-') >= 0 && len(bytes.Trim(line, "|:- \t")) == 0
}
