package dotenv

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// binding is one statement of a file: an assignment, a bare key, a comment, or an unreadable line. The texts of all
// bindings, concatenated, are the text of the file.
type binding struct {
	key      string // "" for comments, for blank lines at the end of the file, and for bad bindings
	value    string // the value without quotes and escapes, before ${…} is resolved
	hasValue bool   // false for a bare key without "="; such a key sets nothing
	export   bool   // true if "export" precedes the key
	quote    byte   // '\'' or '"', or 0 if the value has no quotes
	bad      bool   // true if python-dotenv warns about the statement and skips it
	line     int    // the line of the first character that is not white space, from 1
	text     string // the whole statement, including blank lines before it

	start      int // offset of text in the file
	lineStart  int // offset of the line on which the statement begins
	keyEnd     int // offset after the key
	valueStart int // offset after "=" and the blanks that follow
	valueEnd   int // offset after the value and its closing quote
}

// end returns the offset after the binding.
func (b binding) end() int { return b.start + len(b.text) }

// statement returns the text of a binding without the blank lines before it and without its line ending.
func (b binding) statement() string {
	return strings.TrimRight(b.text[b.lineStart-b.start:], "\r\n")
}

// describe identifies a binding without its value.
func (b binding) describe() string {
	if b.bad {
		return "a line that cannot be read"
	}
	return printable(b.key)
}

// scanner reads statements from text.
type scanner struct {
	text string
	pos  int
}

// parse splits text into bindings in the same way as python-dotenv's parse_stream.
func parse(text string) []binding {
	all := make([]binding, 0, newlines(text)+1)
	s := scanner{text: text}
	line := 1
	for s.pos < len(text) {
		b := s.binding()
		b.text = text[b.start:s.pos]
		b.line = line + newlines(text[b.start:b.lineStart])
		line += newlines(b.text)
		all = append(all, b)
	}
	return all
}

// binding reads one statement. If the statement cannot be read, the result is a bad binding that extends to the end of
// the line at which reading failed.
func (s *scanner) binding() binding {
	b := binding{start: s.pos}
	s.skip(isSpace)
	b.lineStart = b.start + strings.LastIndexAny(s.text[b.start:s.pos], "\r\n") + 1
	if s.pos == len(s.text) || s.statement(&b) {
		return b
	}
	s.pos += len(s.line())
	s.lineEnd()
	return binding{start: b.start, lineStart: b.lineStart, bad: true}
}

// statement reads export, key, value, comment and line ending in the same way as the patterns of python-dotenv's
// parser, and reports whether the text matches.
func (s *scanner) statement(b *binding) bool {
	if rest, ok := strings.CutPrefix(s.line(), "export"); ok {
		_, size := utf8.DecodeRuneInString(rest)
		if b.export = size > 0 && strings.TrimFunc(rest[:size], isBlank) == ""; b.export {
			s.pos += len("export")
			s.skip(isBlank)
		}
	}
	ok := true
	switch s.peek() {
	case '#':
	case '\'':
		b.key, ok = s.quoted(false)
		ok = ok && b.key != ""
	default:
		from := s.pos
		s.skip(func(c rune) bool { return c != '=' && c != '#' && !isSpace(c) })
		b.key, ok = s.text[from:s.pos], s.pos > from
	}
	if !ok {
		return false
	}
	b.keyEnd = s.pos
	s.skip(isBlank)
	if b.hasValue = s.peek() == '='; b.hasValue {
		s.pos++
		s.skip(isBlank)
		if !s.value(b) {
			return false
		}
	}
	s.skip(isBlank)
	if s.peek() == '#' {
		s.pos += len(s.line())
	}
	return s.lineEnd()
}

// value reads what follows "=".
func (s *scanner) value(b *binding) (ok bool) {
	b.valueStart = s.pos
	switch b.quote = s.peek(); b.quote {
	case '\'', '"':
		b.value, ok = s.quoted(true)
		b.value = unescape(b.value, b.quote)
	default:
		b.quote, ok = 0, true
		line, before := s.line(), 'x'
		for i, c := range line {
			if c == '#' && isBlank(before) {
				line = line[:i]
				break
			}
			before = c
		}
		b.value = strings.TrimRightFunc(line, isSpace)
		s.pos += len(b.value) // the caller reads the white space and the comment
	}
	b.valueEnd = s.pos
	return ok
}

// quoted reads text in quotes, which may span several lines, up to the first closing quote. If escapes is set, a quote
// after a backslash does not close the text, unless no other quote follows: then the last such quote does.
func (s *scanner) quoted(escapes bool) (string, bool) {
	text, quote, end := s.text[s.pos+1:], s.peek(), -1
	for i := 0; i < len(text); i++ {
		if text[i] != quote {
			continue
		}
		if end = i; !escapes || i == 0 || text[i-1] != '\\' {
			break
		}
	}
	if end < 0 {
		return "", false
	}
	s.pos += 1 + end + 1
	return universalNewlines(text[:end]), true
}

// skip skips characters for which class returns true.
func (s *scanner) skip(class func(rune) bool) {
	s.pos = len(s.text) - len(strings.TrimLeftFunc(s.text[s.pos:], class))
}

// line returns the rest of the line.
func (s *scanner) line() string {
	if end := strings.IndexAny(s.text[s.pos:], "\r\n"); end >= 0 {
		return s.text[s.pos : s.pos+end]
	}
	return s.text[s.pos:]
}

// lineEnd skips a line ending and reports whether there was one or the text has ended. CR and CRLF count too, because
// Python opens text files with universal newlines.
func (s *scanner) lineEnd() bool {
	for _, end := range []string{"\r\n", "\n", "\r"} {
		if strings.HasPrefix(s.text[s.pos:], end) {
			s.pos += len(end)
			return true
		}
	}
	return s.pos == len(s.text)
}

// peek returns the next byte without reading it, or 0 at the end.
func (s *scanner) peek() byte {
	if s.pos == len(s.text) {
		return 0
	}
	return s.text[s.pos]
}

// isSpace reports whether Python considers c white space: Unicode's white space, and four ASCII separators that Go does
// not include.
func isSpace(c rune) bool { return unicode.IsSpace(c) || 0x1c <= c && c <= 0x1f }

// isBlank reports whether c is white space other than a line ending.
func isBlank(c rune) bool { return isSpace(c) && c != '\r' && c != '\n' }

// newlines counts the line endings in s.
func newlines(s string) int {
	return strings.Count(s, "\n") + strings.Count(s, "\r") - strings.Count(s, "\r\n")
}

// universalNewlines replaces every line ending with LF, as Python does.
var universalNewlines = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace
