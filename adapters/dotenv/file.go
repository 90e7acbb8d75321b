package dotenv

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// File is the text of a `.env` file. It never changes; [File.With] makes
// another one. The zero value is an empty file.
type File struct {
	text     string
	bindings []Binding
	last     map[string]int // the deciding binding of each key

	origin *File  // what was parsed, when this one is the result of edits
	edits  []Edit // the edits since, one per key, in the order of first mention
}

// Parse reads a file. Everything is a file: what python-dotenv cannot read is
// preserved and listed by [File.Problems].
func Parse(data []byte) *File { return parseFile(string(data)) }

func parseFile(text string) *File {
	f := &File{text: text, bindings: parse(text), last: map[string]int{}}
	for i, b := range f.bindings {
		if b.Key != "" {
			f.last[b.Key] = i
		}
	}
	return f
}

// Bytes is the text of the file, a copy.
func (f *File) Bytes() []byte { return []byte(f.text) }

// Keys lists every key once, in the order of first mention.
func (f *File) Keys() []string {
	keys := make([]string, 0, len(f.last))
	seen := make(map[string]bool, len(f.last))
	for _, b := range f.bindings {
		if b.Key != "" && !seen[b.Key] {
			seen[b.Key] = true
			keys = append(keys, b.Key)
		}
	}
	return keys
}

// Get is the value of a key as python-dotenv reads it: the last one, with its
// variables resolved. It is false for a missing key and for a bare one. A
// variable of env with the name of the key is not considered; [Tree] does that.
func (f *File) Get(key string, env Environ) (string, bool) {
	b, ok := f.deciding(key)
	if !ok || !b.HasValue {
		return "", false
	}
	if !interpolates(b.Value) {
		return b.Value, true
	}
	above := newScope()
	for _, other := range f.bindings[:f.last[key]] {
		above.read(other, env)
	}
	return above.resolve(b.Value, env), true
}

// Raw is the value of a key before its variables are resolved.
func (f *File) Raw(key string) (string, bool) {
	b, ok := f.deciding(key)
	return b.Value, ok && b.HasValue
}

// Line is the line on which the deciding statement of a key begins, from 1;
// 0 when there is none.
func (f *File) Line(key string) int {
	b, _ := f.deciding(key)
	return b.Line
}

// deciding is the last binding of a key.
func (f *File) deciding(key string) (Binding, bool) {
	i, ok := f.last[key]
	if !ok || key == "" {
		return Binding{}, false
	}
	return f.bindings[i], true
}

// String is the size of the file and none of its text.
func (f *File) String() string {
	return fmt.Sprintf("dotenv file (%d bytes, %d keys)", len(f.text), len(f.last))
}

// GoString is String: %#v must not print values either.
func (f *File) GoString() string { return f.String() }

// newline is the line end that most lines of the file have, LF when none has.
func (f *File) newline() string {
	crlf := strings.Count(f.text, "\r\n")
	cr := strings.Count(f.text, "\r") - crlf
	lf := strings.Count(f.text, "\n") - crlf
	switch {
	case crlf > lf && crlf >= cr:
		return "\r\n"
	case cr > lf:
		return "\r"
	}
	return "\n"
}

// bom is what a byte order mark looks like to python-dotenv: a character of
// the first key.
const bom = "\ufeff"

// Problem is something in a file that its writer hardly meant. Text is one
// sentence without any value from the file.
type Problem struct {
	Line int // from 1
	Text string
}

func (p Problem) String() string { return fmt.Sprintf("line %d: %s", p.Line, p.Text) }

// Problems lists what python-dotenv skips, misreads or dies of, in the order
// of the lines.
func (f *File) Problems() []Problem {
	var all []Problem
	add := func(line int, format string, args ...any) {
		all = append(all, Problem{line, fmt.Sprintf(format, args...)})
	}
	for i, b := range f.bindings {
		if !utf8.ValidString(b.Original) {
			add(b.Line, "not valid UTF-8: Python refuses to read the whole file")
		}
		if i == 0 && strings.HasPrefix(b.Original, bom) && b.Key != bom {
			add(b.Line, "python-dotenv up to 1.2.2 reads the byte order mark as part of the first key, newer versions do not")
		}
		lines := newlines(strings.TrimRight(b.Original[b.lineStart-b.start:], "\r\n"))
		switch {
		case b.Error && strings.ContainsAny(b.Original, `'"`):
			add(b.Line, "cannot be read and is skipped%s: is a quote unbalanced?", through(b.Line, lines))
		case b.Error:
			add(b.Line, "cannot be read and is skipped%s", through(b.Line, lines))
		case lines > 0 && b.HasValue && strings.Contains(b.Value, "="):
			add(b.Line, "one value reaches over %d lines and contains a \"=\": is a quote unbalanced?", lines+1)
		}
		if strings.Contains(b.Key+b.Value, "\x00") {
			add(b.Line, "contains a NUL character, which no environment variable can")
		}
		if strings.Contains(b.Key, "=") {
			add(b.Line, "the key contains a \"=\", which no environment variable can")
		}
		if last, ok := f.deciding(b.Key); ok && last.start != b.start {
			add(b.Line, "%s does not count here: line %d sets it again", printable(b.Key), last.Line)
		}
	}
	return all
}

func through(line, more int) string {
	if more == 0 {
		return ""
	}
	return fmt.Sprintf(", through line %d", line+more)
}
