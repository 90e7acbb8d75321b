package safetext

import (
	"fmt"
	"reflect"
	"strings"
)

// Text is clean text: printing it on a terminal does nothing except show it, and it hides nothing from the reader. A
// constant string converts implicitly. Any other string becomes Text only in this package, by Clean, Line, Visible,
// VisibleOnce, a Cleaner, Sprintf or decoding.
type Text string

// TrimSpace returns t without white space at either end.
func (t Text) TrimSpace() Text { return Text(strings.TrimSpace(string(t))) }

// TrimLeftFunc is strings.TrimLeftFunc for Text.
func (t Text) TrimLeftFunc(f func(rune) bool) Text { return Text(strings.TrimLeftFunc(string(t), f)) }

// Lines returns the lines of t, without their line feeds.
func (t Text) Lines() []Text {
	lines := make([]Text, 0, strings.Count(string(t), "\n")+1)
	for l := range strings.SplitSeq(string(t), "\n") {
		lines = append(lines, Text(l))
	}
	return lines
}

// Strings returns texts as strings.
func Strings(texts []Text) []string {
	out := make([]string, len(texts))
	for i, t := range texts {
		out[i] = string(t)
	}
	return out
}

// ReplaceAll is strings.ReplaceAll for Text.
func (t Text) ReplaceAll(old, new Text) Text {
	return Text(strings.ReplaceAll(string(t), string(old), string(new)))
}

// UnmarshalText cleans text that comes from a file or another program. Package json calls it.
func (t *Text) UnmarshalText(text []byte) error {
	*t = Clean(string(text))
	return nil
}

// Scan cleans text that comes from a database. NULL becomes "".
func (t *Text) Scan(value any) error {
	switch v := value.(type) {
	case nil:
		*t = ""
	case string:
		*t = Clean(v)
	case []byte:
		*t = Clean(string(v))
	default:
		return fmt.Errorf("safetext: a column contains %T instead of text", value)
	}
	return nil
}

// Sprintf is fmt.Sprintf for a sentence that contains external text. Strings pass through Visible. Errors and
// Stringers pass through VisibleOnce, because Visible may already have been applied to parts of their text. Text,
// numbers and similar values are inserted unchanged. The format must be a constant.
func Sprintf(format string, args ...any) Text {
	if false {
		_ = fmt.Sprintf(format, args...) // lets vet check the calls
	}
	safe := make([]any, len(args))
	for i, arg := range args {
		safe[i] = inserted(arg)
	}
	return Text(fmt.Sprintf(format, safe...))
}

// inserted returns what Sprintf inserts for arg.
func inserted(arg any) any {
	switch v := arg.(type) {
	case Text:
		return v
	case string:
		return Visible(v)
	case error:
		return VisibleOnce(v.Error())
	case fmt.Stringer:
		return VisibleOnce(v.String())
	}
	switch kind := reflect.ValueOf(arg).Kind(); {
	case kind >= reflect.Bool && kind <= reflect.Complex128:
		return arg
	case kind == reflect.String:
		return Visible(reflect.ValueOf(arg).String())
	}
	return VisibleOnce(fmt.Sprint(arg))
}

// Builder joins texts that arrive one after another, like strings.Builder. The zero value is empty.
type Builder struct{ text []byte }

// Write appends t.
func (b *Builder) Write(t Text) { b.text = append(b.text, t...) }

// Len returns the length of the text in bytes.
func (b *Builder) Len() int { return len(b.text) }

// Reset removes the text.
func (b *Builder) Reset() { b.text = b.text[:0] }

// From returns the text from byte n on.
func (b *Builder) From(n int) Text { return Text(b.text[n:]) }

// Join is strings.Join for Text.
func Join(texts []Text, sep Text) Text {
	all := make([]string, len(texts))
	for i, t := range texts {
		all[i] = string(t)
	}
	return Text(strings.Join(all, string(sep)))
}
