package filter

import (
	"strconv"
	"strings"
	"unicode"
)

// maxFound is the maximum number of characters of the line that an error quotes.
const maxFound = 24

// maxDigits is the maximum number of digits in a number; nine digits never overflow.
const maxDigits = 9

// scanner reads a line from left to right and stores the first error.
type scanner struct {
	text []rune
	pos  int
	err  *Error
}

// eol is what peek returns at the end of the line.
const eol = rune(-1)

// peek returns the next character, or eol.
func (s *scanner) peek() rune { return s.peekAt(0) }

func (s *scanner) peekAt(n int) rune {
	if s.pos+n < len(s.text) {
		return s.text[s.pos+n]
	}
	return eol
}

func (s *scanner) space() {
	for unicode.IsSpace(s.peek()) {
		s.pos++
	}
}

// accept skips r if it is next.
func (s *scanner) accept(r rune) bool {
	if s.peek() == r {
		s.pos++
		return true
	}
	return false
}

// failAt records an error at a position, unless there already is one.
func (s *scanner) failAt(pos int, found, want string) {
	if s.err == nil {
		s.err = &Error{Column: pos + 1, Found: found, Want: want}
	}
}

// fail records an error at the current position.
func (s *scanner) fail(want string) { s.failAt(s.pos, s.found(), want) }

// found describes what is at the current position: the end of the line, a character or, cut to maxFound characters, a
// quoted string or a run of letters and digits.
func (s *scanner) found() string {
	r := s.peek()
	if r == eol {
		return "the end of the line"
	}
	n := 1
	for (isQuote(r) || isWordRune(r)) && s.peekAt(n) != eol && n < maxFound {
		if isQuote(r) && s.peekAt(n) == r {
			n++
			break
		}
		if !isQuote(r) && !isWordRune(s.peekAt(n)) {
			break
		}
		n++
	}
	text := string(s.text[s.pos : s.pos+n])
	if strings.IndexFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) >= 0 {
		text = strconv.Quote(text)
	}
	return text
}

func isQuote(r rune) bool { return r == '\'' || r == '"' }

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

func isDigit(r rune) bool { return r >= '0' && r <= '9' }

// number reads a number of at most maxDigits digits; want describes it in an error.
func (s *scanner) number(want string) int {
	start := s.pos
	for isDigit(s.peek()) {
		s.pos++
	}
	text := string(s.text[start:s.pos])
	if text == "" {
		s.fail(want)
		return 0
	}
	if len(strings.TrimLeft(text, "0")) > maxDigits {
		s.failAt(start, text[:maxDigits]+"…", "a number of at most "+strconv.Itoa(maxDigits)+" digits")
		return 0
	}
	n, _ := strconv.Atoi(text) // cannot fail: at most maxDigits digits
	return n
}

// op reads a comparison operator; ok is false if there is none.
func (s *scanner) op() (o Op, ok bool) {
	switch {
	case s.accept('='):
		return Equal, true
	case s.accept('<'):
		if s.accept('=') {
			return LessEqual, true
		}
		return Less, true
	case s.accept('>'):
		if s.accept('=') {
			return GreaterEqual, true
		}
		return Greater, true
	}
	return Equal, false
}

// escapes maps the character after a backslash to the character that the escape stands for.
var escapes = map[rune]rune{'\\': '\\', '\'': '\'', '"': '"', 'n': '\n', 't': '\t', 'r': '\r', '*': '*'}

// quotedParts reads a quoted string and returns the parts between unescaped stars.
func (s *scanner) quotedParts() []string {
	start, q := s.pos, s.peek()
	s.pos++
	var parts []string
	var b strings.Builder
	for {
		r := s.peek()
		s.pos++
		switch r {
		case eol:
			s.pos--
			s.failAt(start, "an unclosed quote", string(q)+" at its end")
			return []string{""}
		case q:
			return append(parts, b.String())
		case '*':
			parts = append(parts, b.String())
			b.Reset()
		case '\\':
			c, ok := escapes[s.peek()]
			if !ok {
				s.failAt(s.pos-1, `\`+strings.TrimPrefix(s.found(), "the end of the line"), `one of \\ \' \" \* \n \t \r`)
				return []string{""}
			}
			s.pos++
			b.WriteRune(c)
		default:
			b.WriteRune(r)
		}
	}
}

// plainString reads a quoted string in which a star is literal.
func (s *scanner) plainString() string { return strings.Join(s.quotedParts(), "*") }

// regexp reads /…/ and returns its content, with \/ replaced by a slash.
func (s *scanner) regexp() string {
	start := s.pos
	s.pos++
	var b strings.Builder
	for {
		r := s.peek()
		s.pos++
		switch {
		case r == eol:
			s.pos--
			s.failAt(start, "an unclosed /", "/ at the end of the expression")
			return ""
		case r == '/':
			return b.String()
		case r == '\\' && s.peek() == '/':
			b.WriteRune('/')
			s.pos++
		case r == '\\' && s.peek() != eol:
			b.WriteRune(r)
			b.WriteRune(s.peek())
			s.pos++
		default:
			b.WriteRune(r)
		}
	}
}

// minWord is the minimum number of letters at the start of a word; fewer letters are terms.
const minWord = 3

// word reads a word, or returns "" if there is none.
func (s *scanner) word() string {
	n := 0
	for r := s.peek(); unicode.IsLetter(r) || n > 0 && unicode.IsMark(r); r = s.peekAt(n) {
		n++
	}
	if n < minWord {
		return ""
	}
	for r := s.peekAt(n); isNameRune(r) || r == '.' || unicode.IsMark(r); r = s.peekAt(n) {
		n++
	}
	s.pos += n
	return string(s.text[s.pos-n : s.pos])
}

// name reads letters, digits, _ and -.
func (s *scanner) name() string {
	start := s.pos
	for isNameRune(s.peek()) {
		s.pos++
	}
	return string(s.text[start:s.pos])
}

func isNameRune(r rune) bool { return isWordRune(r) || r == '_' || r == '-' }
