package markdown

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"
)

// tabWidth is how many columns a tab of code reaches.
const tabWidth = 4

// longCode is the length in bytes of a line of code from which on it is not
// coloured and, in a document, is broken into pieces of this length: no one
// reads it, and a lexer may take long over it.
const longCode = 1024

// lexer is the lexer for a language, or nil.
func lexer(lang string) chroma.Lexer {
	l := lexers.Get(lang)
	if lang == "" || l == nil || l == lexers.Fallback {
		return nil
	}
	return chroma.Coalesce(l)
}

// highlight colours code with l, which begins inside of from and ends inside of to, and
// gives its lines. It also says whether the code ends where more of it can be coloured by
// itself: not inside a comment or a string. Without l, or with a long line, it has one style.
func (s *Style) highlight(l chroma.Lexer, from, to delimiters, text string) (lines []string, end codeEnd) {
	if from.open != "" {
		text = from.open + "\n" + text
	}
	text = strings.TrimSuffix(text, "\n")
	if to.closed != "" {
		text += "\n" + to.closed
	}
	isLong := func(line string) bool { return len(line) > longCode }
	coloured := false
	if l != nil && !slices.ContainsFunc(strings.Split(text, "\n"), isLong) {
		lines, end, coloured = s.tokens(l, text)
	}
	if !coloured {
		lines, end = plainLines(s.code, text), codeEnd{}
	}
	if from.open != "" {
		lines = lines[1:]
	}
	if to.closed != "" {
		lines = lines[:len(lines)-1]
	}
	return lines, end
}

// delimiters begin and end a comment or a string of several lines.
type delimiters struct{ open, closed string }

// multilineDelimiters are those of the languages that have any.
var multilineDelimiters = []delimiters{
	{"/*", "*/"}, {"<!--", "-->"}, {"{-", "-}"}, {"(*", "*)"}, {"`", "`"}, {`"""`, `"""`}, {"'''", "'''"},
}

// codeEnd says how code ends: inside of something when open is set, and of what
// when that is known.
type codeEnd struct {
	open   bool
	inside delimiters
}

// tokens colours text token by token; ok is false when the lexer fails or gives
// other text than it got.
func (s *Style) tokens(l chroma.Lexer, text string) (lines []string, end codeEnd, ok bool) {
	it, err := l.Tokenise(nil, text)
	if err != nil {
		return nil, end, false
	}
	var line strings.Builder
	column, got, last := 0, 0, chroma.Token{}
	var outside strings.Builder // what is neither a string nor a comment
	for t := it(); t != chroma.EOF; t = it() {
		if got+len(t.Value) > len(text) { // lexers end their text with a line break
			t.Value = strings.TrimSuffix(t.Value, "\n")
		}
		if !strings.HasPrefix(text[min(got, len(text)):], t.Value) {
			return nil, end, false
		}
		got += len(t.Value)
		if t.Value != "" {
			last = t
		}
		if !t.Type.InCategory(chroma.Comment) && !t.Type.InSubCategory(chroma.LiteralString) {
			outside.WriteString(t.Value)
		} else {
			outside.WriteByte(' ')
		}
		before := s.token(t.Type)
		for rest, more := t.Value, true; more; {
			var part string
			part, rest, more = strings.Cut(rest, "\n")
			part = cleanCode(part, column)
			line.WriteString(paint(before, part))
			column += utf8.RuneCountInString(part)
			if more {
				lines = append(lines, line.String())
				line.Reset()
				column = 0
			}
		}
	}
	if got != len(text) {
		return nil, end, false
	}
	return append(lines, line.String()), endOf(last, outside.String()), true
}

// endOf is how code ends whose last token is known, and what of it stands in no
// string or comment. Most lexers know only those that are complete, so that the
// beginning of one may be there.
func endOf(last chroma.Token, outside string) codeEnd {
	at := -1
	var end codeEnd
	for _, s := range multilineDelimiters {
		i := strings.LastIndex(outside, s.open)
		opens := i > strings.LastIndex(outside, s.closed)
		if s.open == s.closed {
			opens = strings.Count(outside, s.open)%2 == 1
		}
		if opens && i > at {
			at, end = i, codeEnd{true, s}
		}
	}
	if !end.open && (last.Type == chroma.CommentMultiline || last.Type.InSubCategory(chroma.LiteralString) || last.Type == chroma.Error) {
		end.open = true
		for _, s := range multilineDelimiters {
			if value := strings.TrimSpace(last.Value); strings.HasPrefix(value, s.open) && !strings.HasSuffix(value[len(s.open):], s.closed) {
				end.inside = s
			}
		}
	}
	return end
}

// cleanCode makes a part of a line safe to draw, with tabs expanded; column is
// where it begins.
func cleanCode(s string, column int) string {
	if !strings.Contains(s, "\t") {
		return clean(s)
	}
	var b strings.Builder
	for _, r := range s {
		n := 1
		if r == '\t' {
			n = tabWidth - column%tabWidth
			b.WriteString(strings.Repeat(" ", n))
		} else {
			b.WriteRune(r)
		}
		column += n
	}
	return clean(b.String())
}

// plainLines are the lines of text, each in one style.
func plainLines(sequence, text string) []string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i, line := range lines {
		lines[i] = paint(sequence, cleanCode(line, 0))
	}
	return lines
}
