package dotenv

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

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
			add(b.Line, "the byte order mark becomes part of the first key, which nothing will find")
		}
		lines := newlines(strings.TrimRight(b.Original[b.lineStart-b.start:], "\r\n"))
		switch {
		case b.Error && strings.ContainsAny(b.Original, `'"`):
			add(b.Line, "cannot be read and is skipped%s: is a quote unbalanced?", through(b.Line, lines))
		case b.Error:
			add(b.Line, "cannot be read and is skipped%s", through(b.Line, lines))
		case lines > 0 && b.HasValue && strings.Contains(b.Value, "="):
			add(b.Line, "one value reaches over %d lines and holds a \"=\": is a quote unbalanced?", lines+1)
		}
		if strings.Contains(b.Key+b.Value, "\x00") {
			add(b.Line, "holds a NUL character, which no environment variable can")
		}
		if strings.Contains(b.Key, "=") {
			add(b.Line, "the key holds a \"=\", which no environment variable can")
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
