package dotenv

import (
	"regexp"
	"strings"
	"unicode"
)

// binding is one statement of a file: an assignment, a bare key, a comment, or
// a line that cannot be read. The texts of all bindings, one after another,
// are the file.
type binding struct {
	key      string // empty for comments, blank ends of file, and errors
	value    string // without quotes and escapes, before ${…} is resolved
	hasValue bool   // false for a bare key without "="; such a key sets nothing
	export   bool   // "export " precedes the key
	quote    byte   // '\'' or '"', 0 when the value has no quotes
	bad      bool   // python-dotenv warns about it and skips it
	line     int    // line of the first character that is not white space, from 1
	text     string // every byte of it, blank lines before it included

	start      int // offset of text in the file
	lineStart  int // offset of the line on which the statement begins
	keyEnd     int // offset behind the key
	valueStart int // offset behind "=" and the blanks after it
	valueEnd   int // offset behind the value, closing quote included
}

// end is the offset behind the binding.
func (b binding) end() int { return b.start + len(b.text) }

// statement is the text of a binding without the lines before it and its line end.
func (b binding) statement() string {
	return strings.TrimRight(b.text[b.lineStart-b.start:], "\r\n")
}

// describe names a binding without its value.
func (b binding) describe() string {
	if b.bad {
		return "a line that cannot be read"
	}
	return printable(b.key)
}

// blank is the white space of Python within a line, space all of it; see isSpace.
const (
	blank = "\\t\\v\\f\\x1c-\\x1f \\x{85}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}"
	space = blank + "\\r\\n"
)

// The patterns of python-dotenv's parser, in the order in which it applies
// them. A lone CR and CRLF end a line too: Python opens text files with
// universal newlines.
var (
	exportWord   = regexp.MustCompile(`^export[` + blank + `]+`)
	quotedKey    = regexp.MustCompile(`^'([^']+)'`)
	bareKey      = regexp.MustCompile(`^[^=#` + space + `]+`)
	equals       = regexp.MustCompile(`^[` + blank + `]*=[` + blank + `]*`)
	singleQuoted = regexp.MustCompile(`^'((?:\\'|[^'])*)'`)
	doubleQuoted = regexp.MustCompile(`^"((?:\\"|[^"])*)"`)
	restOfLine   = regexp.MustCompile(`^[^\r\n]*`)
	comment      = regexp.MustCompile(`[` + blank + `]+#.*`)
	lineEnd      = regexp.MustCompile(`^[` + blank + `]*(?:#[^\r\n]*)?(?:\r\n|\n|\r|$)`)
	badLine      = regexp.MustCompile(`^[^\r\n]*(?:\r\n|\n|\r|$)`)
)

// scanner reads statements from text.
type scanner struct {
	text string
	pos  int
}

// parse cuts text into bindings, as parse_stream of python-dotenv does.
func parse(text string) []binding {
	var all []binding
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

// binding reads one statement. Whatever cannot be read becomes an error that
// includes the rest of the line at which reading failed.
func (s *scanner) binding() binding {
	b := binding{start: s.pos}
	s.pos = len(s.text) - len(strings.TrimLeftFunc(s.text[s.pos:], isSpace))
	b.lineStart = b.start + strings.LastIndexAny(s.text[b.start:s.pos], "\r\n") + 1
	if s.pos == len(s.text) || s.statement(&b) {
		return b
	}
	s.skip(badLine)
	return binding{start: b.start, lineStart: b.lineStart, bad: true}
}

// statement reads export, key, value, comment and line end, and reports whether
// the text has that form.
func (s *scanner) statement(b *binding) bool {
	_, b.export = s.skip(exportWord)
	ok := true
	switch s.next() {
	case '#':
	case '\'':
		b.key, ok = s.skip(quotedKey)
		b.key = universal(b.key)
	default:
		b.key, ok = s.skip(bareKey)
	}
	if !ok {
		return false
	}
	b.keyEnd = s.pos
	if _, b.hasValue = s.skip(equals); b.hasValue && !s.value(b) {
		return false
	}
	_, ok = s.skip(lineEnd)
	return ok
}

// value reads what follows "=".
func (s *scanner) value(b *binding) (ok bool) {
	b.valueStart = s.pos
	switch b.quote = s.next(); b.quote {
	case '\'':
		b.value, ok = s.skip(singleQuoted)
		b.value = unescape(universal(b.value), b.quote)
	case '"':
		b.value, ok = s.skip(doubleQuoted)
		b.value = unescape(universal(b.value), b.quote)
	default:
		b.quote, ok = 0, true
		line := restOfLine.FindString(s.text[s.pos:])
		if at := comment.FindStringIndex(line); at != nil {
			line = line[:at[0]]
		}
		b.value = strings.TrimRightFunc(line, isSpace)
		s.pos += len(b.value) // lineEnd reads the white space and the comment
	}
	b.valueEnd = s.pos
	return ok
}

// skip goes over a pattern and returns its group, or all of it without one. Only
// quoted text may go beyond the line: a pattern is slower on a longer text.
func (s *scanner) skip(pattern *regexp.Regexp) (string, bool) {
	text := s.text[s.pos:]
	if c := s.next(); c != '\'' && c != '"' {
		if end := strings.IndexAny(text, "\r\n"); end >= 0 {
			text = text[:min(end+len("\r\n"), len(text))]
		}
	}
	m := pattern.FindStringSubmatch(text)
	if m == nil {
		return "", false
	}
	s.pos += len(m[0])
	return m[len(m)-1], true
}

// next is the byte at hand, 0 at the end.
func (s *scanner) next() byte {
	if s.pos == len(s.text) {
		return 0
	}
	return s.text[s.pos]
}

// isSpace is what Python calls white space: Unicode's, and four separators of
// ASCII that Go leaves out.
func isSpace(c rune) bool { return unicode.IsSpace(c) || 0x1c <= c && c <= 0x1f }

// newlines counts the line ends in s.
func newlines(s string) int {
	return strings.Count(s, "\n") + strings.Count(s, "\r") - strings.Count(s, "\r\n")
}

// universal replaces every line end by the one that Python shows.
var universal = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace
