package dotenv

import (
	"fmt"
	"slices"
	"strings"
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
// kept and told by [File.Problems].
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

// Bindings lists the statements in order. The slice is the caller's.
func (f *File) Bindings() []Binding { return slices.Clone(f.bindings) }

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
// variables resolved. It is false for a missing key and for a bare one. That
// env itself may hold the key, and then wins, is for [Tree] to tell.
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

// String tells the size of the file and none of its text.
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
