package dotenv

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// File is the text of a `.env` file. It is immutable; [File.With] returns a changed copy. The zero value is an empty
// file.
type File struct {
	text     string
	bindings []binding
	last     map[string]int // the deciding binding of each key
}

// Parse parses the text of a file. It accepts any bytes: text that python-dotenv cannot read is preserved and listed by
// [File.Problems].
func Parse(data []byte) *File { return parseFile(string(data)) }

func parseFile(text string) *File {
	f := &File{text: text, bindings: parse(text), last: map[string]int{}}
	for i, b := range f.bindings {
		if b.key != "" {
			f.last[b.key] = i
		}
	}
	return f
}

// Bytes returns a copy of the text of the file.
func (f *File) Bytes() []byte { return []byte(f.text) }

// Keys lists every key once, in order of first occurrence.
func (f *File) Keys() []string {
	keys := make([]string, 0, len(f.last))
	seen := make(map[string]bool, len(f.last))
	for _, b := range f.bindings {
		if b.key != "" && !seen[b.key] {
			seen[b.key] = true
			keys = append(keys, b.key)
		}
	}
	return keys
}

// Get returns the value of a key as python-dotenv reads it: the last assignment, with its variables resolved. It
// returns false for a missing key and for a bare key. Get ignores a variable of env that has the name of the key;
// [Tree] does not.
func (f *File) Get(key string, env Environ) (string, bool) {
	b, ok := f.deciding(key)
	if !ok || !b.hasValue || !interpolates(b.value) {
		return b.value, ok && b.hasValue
	}
	above := newScope()
	for _, other := range f.bindings[:f.last[key]] {
		above.define(other, env)
	}
	return above.resolve(b.value, env), true
}

// Raw returns the value of a key before its variables are resolved.
func (f *File) Raw(key string) (string, bool) {
	b, ok := f.deciding(key)
	return b.value, ok && b.hasValue
}

// Line returns the line of the deciding statement of a key, from 1, or 0 if the key is missing.
func (f *File) Line(key string) int {
	b, _ := f.deciding(key)
	return b.line
}

// deciding returns the last binding of a key.
func (f *File) deciding(key string) (binding, bool) {
	i, ok := f.last[key]
	if !ok {
		return binding{}, false
	}
	return f.bindings[i], true
}

// Format prints the size of the file for every verb, without its text.
func (f *File) Format(s fmt.State, _ rune) {
	_, _ = fmt.Fprintf(s, "dotenv file (%d bytes, %d keys)", len(f.text), len(f.last))
}

// lineEnding returns the most frequent line ending of the file, or LF if it has none.
func (f *File) lineEnding() string {
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

// bom is a byte order mark. python-dotenv up to 1.2.2 reads it as part of the first key; newer versions drop it.
const bom = "\ufeff"

// Problem is a probable mistake in a file. Text is one sentence that contains no value from the file.
type Problem struct {
	Line int // from 1
	Text string
}

// String returns the line and the text.
func (p Problem) String() string { return fmt.Sprintf("line %d: %s", p.Line, p.Text) }

// Problems lists what python-dotenv skips, misreads or fails on, in line order.
func (f *File) Problems() []Problem {
	var all []Problem
	for _, b := range f.bindings {
		last, _ := f.deciding(b.key)
		text := ""
		switch more := newlines(b.statement()); {
		case !utf8.ValidString(b.text):
			text = "not valid UTF-8: because of this, Python cannot read the file at all"
		case b.start == 0 && strings.HasPrefix(b.text, bom) && b.key != bom:
			text = "python-dotenv up to 1.2.2 reads the byte order mark as part of the first key; newer versions do not"
		case b.bad:
			text = "cannot be parsed and is skipped: is a quote unbalanced?"
			if more > 0 {
				text = fmt.Sprintf("cannot be parsed and is skipped, as is everything up to line %d: is a quote unbalanced?", b.line+more)
			}
		case more > 0 && strings.Contains(b.value, "="):
			text = fmt.Sprintf("one value spans %d lines and contains an \"=\": is a quote unbalanced?", more+1)
		case b.key != "" && last.start != b.start:
			text = fmt.Sprintf("%s has no effect here: line %d sets it again", printable(b.key), last.line)
		default:
			continue
		}
		all = append(all, Problem{b.line, text})
	}
	return all
}
