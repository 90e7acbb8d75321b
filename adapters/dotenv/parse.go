package dotenv

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Binding is one statement of a file: an assignment, a bare key, a comment, or
// a line that cannot be read. The Original texts of all bindings, one after
// another, are the file.
type Binding struct {
	Key      string // empty for comments, blank ends of file, and errors
	Value    string // without quotes and escapes, before ${…} is resolved
	HasValue bool   // false for a bare key without "="; such a key sets nothing
	Export   bool   // "export " precedes the key
	Quote    byte   // '\'' or '"', 0 when the value has no quotes
	Error    bool   // python-dotenv warns about it and skips it
	Line     int    // line of the first character that is not white space, from 1
	Original string // every byte of it, blank lines before it included

	start      int // offset of Original in the file
	lineStart  int // offset of the line on which the statement begins
	keyEnd     int // offset behind the key
	valueStart int // offset behind "=" and the blanks after it
	valueEnd   int // offset behind the value, closing quote included
}

// end is the offset behind the binding.
func (b Binding) end() int { return b.start + len(b.Original) }

// scanner walks over the text. It treats CRLF and a lone CR as a line end,
// because Python opens text files with universal newlines.
type scanner struct {
	text string
	pos  int
}

// parse cuts text into bindings, as parse_stream of python-dotenv does.
func parse(text string) []Binding {
	var all []Binding
	s := scanner{text: text}
	line := 1
	for s.pos < len(text) {
		b := s.binding()
		b.Original = text[b.start:s.pos]
		b.Line = line + newlines(text[b.start:b.lineStart])
		line += newlines(b.Original)
		all = append(all, b)
	}
	return all
}

// binding reads one statement. Whatever cannot be read becomes an error that
// includes the rest of the line at which reading failed.
func (s *scanner) binding() Binding {
	b := Binding{start: s.pos}
	s.skip(isSpace)
	b.lineStart = b.start + afterLastNewline(s.text[b.start:s.pos])
	if s.pos == len(s.text) || s.statement(&b) {
		return b
	}
	s.skip(notNewline)
	s.newline()
	return Binding{start: b.start, lineStart: b.lineStart, Error: true}
}

// statement reads export, key, value, comment and line end, and reports whether
// the text has that form.
func (s *scanner) statement(b *Binding) bool {
	b.Export = s.export()
	if !s.key(b) {
		return false
	}
	b.keyEnd = s.pos
	s.skip(isBlank)
	if s.next() == '=' {
		s.pos++
		s.skip(isBlank)
		b.valueStart, b.HasValue = s.pos, true
		if !s.value(b) {
			return false
		}
	}
	return s.lineEnd()
}

// export skips "export" when blanks follow it.
func (s *scanner) export() bool {
	const word = "export"
	rest, ok := strings.CutPrefix(s.text[s.pos:], word)
	if !ok {
		return false
	}
	if c, _ := utf8.DecodeRuneInString(rest); rest == "" || !isBlank(c) {
		return false
	}
	s.pos += len(word)
	s.skip(isBlank)
	return true
}

// key reads a key, bare or in single quotes; a comment has none.
func (s *scanner) key(b *Binding) bool {
	switch s.next() {
	case '#':
		return true
	case '\'':
		n := strings.IndexByte(s.text[s.pos+1:], '\'')
		if n < 1 {
			return false
		}
		b.Key = universal(s.text[s.pos+1 : s.pos+1+n])
		s.pos += n + 2
		return true
	}
	from := s.pos
	s.skip(func(c rune) bool { return c != '=' && c != '#' && !isSpace(c) })
	b.Key = s.text[from:s.pos]
	return s.pos > from
}

// value reads what follows "=".
func (s *scanner) value(b *Binding) bool {
	if c := s.next(); c == '\'' || c == '"' {
		b.Quote = c
		n := closingQuote(s.text[s.pos+1:], c)
		if n < 0 {
			return false
		}
		b.Value = unescape(universal(s.text[s.pos+1:s.pos+1+n]), c)
		s.pos += n + 2
		b.valueEnd = s.pos
		return true
	}
	from := s.pos
	s.skip(notNewline)
	b.Value = bareValue(s.text[from:s.pos])
	b.valueEnd = from + len(b.Value)
	s.pos = b.valueEnd
	// What follows is white space, perhaps with a comment: lineEnd reads it.
	return true
}

// lineEnd skips blanks, a comment and the line end, and reports whether
// there was nothing else.
func (s *scanner) lineEnd() bool {
	s.skip(isBlank)
	if s.next() == '#' {
		s.skip(notNewline)
	}
	return s.pos == len(s.text) || s.newline()
}

// next is the byte at hand, 0 at the end.
func (s *scanner) next() byte {
	if s.pos == len(s.text) {
		return 0
	}
	return s.text[s.pos]
}

// skip goes over all characters that want accepts. A byte that is not UTF-8
// is U+FFFD here.
func (s *scanner) skip(want func(rune) bool) {
	for s.pos < len(s.text) {
		c, size := utf8.DecodeRuneInString(s.text[s.pos:])
		if !want(c) {
			return
		}
		s.pos += size
	}
}

// newline skips one line end.
func (s *scanner) newline() bool {
	n := newlineLen(s.text[s.pos:])
	s.pos += n
	return n > 0
}

// closingQuote finds the quote that ends a value, -1 without one. A quote
// behind a backslash does not end it, whatever precedes the backslash;
// but when no other quote follows to the end of the file, the last one of
// those does: this is where the backtracking of python-dotenv's pattern ends.
func closingQuote(text string, quote byte) int {
	last := -1
	for i := 0; i < len(text); i++ {
		n := strings.IndexByte(text[i:], quote)
		if n < 0 {
			break
		}
		i += n
		if i == 0 || text[i-1] != '\\' {
			return i
		}
		last = i
	}
	return last
}

// bareValue is the value without quotes in the rest of a line: up to
// the first "#" after white space, without white space at its end.
func bareValue(line string) string {
	for i := 0; i < len(line); i++ {
		n := strings.IndexByte(line[i:], '#')
		if n < 0 {
			break
		}
		i += n
		if c, _ := utf8.DecodeLastRuneInString(line[:i]); i > 0 && isSpace(c) {
			line = line[:i]
			break
		}
	}
	return strings.TrimRightFunc(line, isSpace)
}

// isSpace is what Python calls white space: Unicode's, and the four separators
// of ASCII that Go leaves out.
func isSpace(c rune) bool { return unicode.IsSpace(c) || 0x1c <= c && c <= 0x1f }

// isBlank is white space within a line.
func isBlank(c rune) bool { return isSpace(c) && notNewline(c) }

func notNewline(c rune) bool { return c != '\n' && c != '\r' }

// newlineLen is the length of the line end that s begins with, 0 without one.
func newlineLen(s string) int {
	switch {
	case strings.HasPrefix(s, "\r\n"):
		return 2
	case s != "" && !notNewline(rune(s[0])):
		return 1
	}
	return 0
}

// newlines counts the line ends in s.
func newlines(s string) int {
	return strings.Count(s, "\n") + strings.Count(s, "\r") - strings.Count(s, "\r\n")
}

// afterLastNewline is the offset at which the last line of s begins.
func afterLastNewline(s string) int { return strings.LastIndexAny(s, "\r\n") + 1 }

// universal is s with every line end as Python shows it, "\n".
func universal(s string) string {
	if !strings.Contains(s, "\r") {
		return s
	}
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
}
