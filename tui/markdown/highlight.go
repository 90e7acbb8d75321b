package markdown

import (
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"
)

// tabWidth is the width of a tab in code, in columns.
const tabWidth = 4

// longCode is the length in bytes from which a line of code is not highlighted and, in a
// document, is broken into pieces of this length: a user does not read it, and a lexer may
// take long over it.
const longCode = 1024

// coloured lists the languages whose code is highlighted, by chroma's names. Some of
// chroma's lexers take seconds per kilobyte, or never return; the lexers of these languages
// do not, see TestLexersAreBounded. Also excluded are lexers that look up other languages
// by a name in the code.
const coloured = `Ada Arduino awk Bash Batchfile C C# C++ Clojure CMake CoffeeScript Common_Lisp CSS CSV Dart Diff
	Docker Elixir Elm EmacsLisp Erlang FSharp GLSL Go GraphQL Groovy Haskell HCL HTML INI Java JavaScript JSON Julia Kotlin Lua Makefile
	Mathematica Matlab NASM Nginx_configuration_file Nim Nix Objective-C OCaml Perl PHP PowerShell Prolog Properties Protocol_Buffer Puppet
	Python R react Ruby Rust Scala Scheme SCSS Solidity SQL Swift SystemVerilog Tcl Terraform TeX TOML
	TypeScript verilog VHDL VimL vue XML YAML Zig`

// lexersByName maps names, aliases and file extensions, in lower case, to the lexers of the
// coloured languages. chroma's own lookup of an unknown name takes milliseconds.
var lexersByName = sync.OnceValue(func() map[string]chroma.Lexer {
	byName := map[string]chroma.Lexer{}
	add := func(name string, l chroma.Lexer) {
		if _, taken := byName[strings.ToLower(name)]; !taken {
			byName[strings.ToLower(name)] = l
		}
	}
	var all []chroma.Lexer
	for name := range strings.FieldsSeq(coloured) {
		l := chroma.Coalesce(lexers.Get(strings.ReplaceAll(name, "_", " ")))
		all = append(all, l)
		for _, alias := range append(l.Config().Aliases, l.Config().Name) {
			add(alias, l)
		}
	}
	for _, l := range all {
		for _, pattern := range l.Config().Filenames {
			if name := strings.TrimPrefix(pattern, "*."); !strings.ContainsAny(name, "*?[") {
				add(name, l)
			}
		}
	}
	for alias, name := range map[string]string{"postgresql": "sql", "postgres": "sql", "mysql": "sql", "sqlite": "sql", "jsonc": "json", "json5": "json", "jsonl": "json", "zsh": "bash"} {
		add(alias, byName[name])
	}
	return byName
})

// lexer returns the lexer for a language or file name; nil if its code is not highlighted.
func lexer(lang string) chroma.Lexer {
	if lang == "" {
		return nil
	}
	all := lexersByName()
	for name := strings.ToLower(lang[strings.LastIndexByte(lang, '/')+1:]); ; {
		if l := all[name]; l != nil {
			return l
		}
		var more bool
		if _, name, more = strings.Cut(name, "."); !more {
			return nil
		}
	}
}

// highlight highlights code with l and returns its lines. from and to are the delimiters of
// the comment or string in which the code starts and ends; the zero value means none. end
// says whether the code ends outside comments and strings, so that further code can be
// highlighted separately. If l is nil or a line is long, all code has one style.
func (s *Style) highlight(l chroma.Lexer, from, to delimiters, text string) (lines []string, end codeEnd) {
	if from.open != "" {
		text = from.open + "\n" + text
	}
	text = strings.TrimSuffix(text, "\n")
	if to.closed != "" {
		text += "\n" + to.closed
	}
	isLong := func(line string) bool { return len(line) > longCode }
	done := false
	if l != nil && !slices.ContainsFunc(strings.Split(text, "\n"), isLong) {
		short, blanks := withoutBlankLines(text)
		if lines, end, done = s.tokens(l, short); done {
			lines = withBlankLines(lines, blanks)
		}
	}
	if !done {
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

// blankLines records that n blank lines were removed before the line at index next of the
// shortened text.
type blankLines struct{ next, n int }

// withoutBlankLines removes all blank lines that follow a blank line, because lexers of C
// and similar languages take quadratic time for them.
func withoutBlankLines(text string) (short string, left []blankLines) {
	var kept []string
	isBlank := func(line string) bool { return strings.TrimSpace(line) == "" }
	for n, line := range strings.Split(text, "\n") {
		switch last := len(kept) - 1; {
		case n == 0 || !isBlank(line) || !isBlank(kept[last]):
			kept = append(kept, line)
		case len(left) > 0 && left[len(left)-1].next == len(kept):
			left[len(left)-1].n++
		default:
			left = append(left, blankLines{len(kept), 1})
		}
	}
	if left == nil {
		return text, nil
	}
	return strings.Join(kept, "\n"), left
}

// withBlankLines inserts the blank lines that withoutBlankLines removed.
func withBlankLines(lines []string, left []blankLines) []string {
	if len(left) == 0 {
		return lines
	}
	var out []string
	at := 0
	for _, b := range left {
		out = append(append(out, lines[at:b.next]...), make([]string, b.n)...)
		at = b.next
	}
	return append(out, lines[at:]...)
}

// delimiters start and end a multi-line comment or string.
type delimiters struct{ open, closed string }

// multilineDelimiters lists the delimiters of all languages that have any.
var multilineDelimiters = []delimiters{
	{"/*", "*/"}, {"<!--", "-->"}, {"{-", "-}"}, {"(*", "*)"}, {"`", "`"}, {`"""`, `"""`}, {"'''", "'''"},
}

// codeEnd says how code ends.
type codeEnd struct {
	open   bool       // it ends in a comment or string
	inside delimiters // delimiters of the comment or string, if they are known
}

// tokens highlights text token by token; ok is false if the lexer fails or returns
// different text.
func (s *Style) tokens(l chroma.Lexer, text string) (lines []string, end codeEnd, ok bool) {
	it, err := l.Tokenise(nil, text)
	if err != nil {
		return nil, end, false
	}
	var line strings.Builder
	column, got, last := 0, 0, chroma.Token{}
	var outside strings.Builder // text outside strings and comments
	for t := it(); t != chroma.EOF; t = it() {
		if got+len(t.Value) > len(text) { // lexers add a final line break
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

// endOf returns how code ends, given its last token and the text outside strings and
// comments. Most lexers recognise only complete strings and comments, so outside may
// contain the start of one.
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

// cleanCode makes part of a line safe to draw, with tabs expanded; column is the column
// where the part starts.
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

// plainLines returns the lines of text, all in one style.
func plainLines(sequence, text string) []string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i, line := range lines {
		lines[i] = paint(sequence, cleanCode(line, 0))
	}
	return lines
}
