package markdown

import (
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
const longCode = 2048

// lexer is the lexer for a language, or nil.
func lexer(lang string) chroma.Lexer {
	if lang == "" {
		return nil
	}
	l := lexers.Get(lang)
	if l == nil || l == lexers.Fallback {
		return nil
	}
	return chroma.Coalesce(l)
}

// highlight colours code and gives its lines, one for each of text.
func (s *Style) highlight(lang, text string) []string {
	lines, _ := s.colour(lexer(lang), text)
	return lines
}

// colour colours code with l and gives its lines. It also says whether the code
// ends where more of it can be coloured by itself: not inside a comment or a
// string.
func (s *Style) colour(l chroma.Lexer, text string) (lines []string, whole bool) {
	text = strings.TrimSuffix(text, "\n")
	if l != nil && !hasLongLine(text) {
		if lines, whole, ok := s.tokens(l, text); ok {
			return lines, whole
		}
	}
	for line := range strings.SplitSeq(text, "\n") {
		lines = append(lines, paint(s.syntax[classPlain], cleanCode(line, 0)))
	}
	return lines, true
}

// hasLongLine reports whether a line of text is too long to be coloured.
func hasLongLine(text string) bool {
	for line := range strings.SplitSeq(text, "\n") {
		if len(line) > longCode {
			return true
		}
	}
	return false
}

// tokens colours text token by token; ok is false when the lexer fails or gives
// other text than it got.
func (s *Style) tokens(l chroma.Lexer, text string) (lines []string, whole, ok bool) {
	it, err := l.Tokenise(nil, text)
	if err != nil {
		return nil, false, false
	}
	var line strings.Builder
	column, got, last := 0, 0, chroma.Text
	var outside strings.Builder // what is neither a string nor a comment
	for t := it(); t != chroma.EOF; t = it() {
		if got+len(t.Value) > len(text) { // lexers end their text with a line break
			t.Value = strings.TrimSuffix(t.Value, "\n")
		}
		if !strings.HasPrefix(text[min(got, len(text)):], t.Value) {
			return nil, false, false
		}
		got += len(t.Value)
		if t.Value != "" {
			last = t.Type
		}
		if !t.Type.InCategory(chroma.Comment) && !t.Type.InSubCategory(chroma.LiteralString) {
			outside.WriteString(t.Value)
		} else {
			outside.WriteByte(' ')
		}
		before := s.syntax[classOf(t.Type)]
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
		return nil, false, false
	}
	open := last == chroma.CommentMultiline || last.InSubCategory(chroma.LiteralString) || last == chroma.Error
	return append(lines, line.String()), !open && !opens(outside.String()), true
}

// opens reports whether code without its strings and comments still holds the
// beginning of one: most lexers know only those that are complete.
func opens(outside string) bool {
	for _, quote := range []string{"`", `"""`, "'''"} {
		if strings.Count(outside, quote)%2 == 1 {
			return true
		}
	}
	for _, pair := range [][2]string{{"/*", "*/"}, {"<!--", "-->"}, {"{-", "-}"}, {"(*", "*)"}} {
		if strings.LastIndex(outside, pair[0]) > strings.LastIndex(outside, pair[1]) {
			return true
		}
	}
	return false
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
