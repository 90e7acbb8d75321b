package dotenv

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// Edit sets a key to a value, or removes all assignments of the key.
type Edit struct {
	Key   string
	Value string // ignored if Unset
	Unset bool
}

// Set returns the edit that sets key to value.
func Set(key, value string) Edit { return Edit{Key: key, Value: value} }

// Unset returns the edit that removes key.
func Unset(key string) Edit { return Edit{Key: key, Unset: true} }

// Format prints the key and the kind of edit for every verb, never the value.
func (e Edit) Format(s fmt.State, _ rune) {
	_, _ = fmt.Fprintf(s, "%s unset: %t", printable(e.Key), e.Unset)
}

// RefusedError means that an edit was not made, because afterwards the value or another key would be read incorrectly.
type RefusedError struct {
	Key    string // the key to edit
	Line   int    // the line that prevents the edit, from 1; 0 if the edit itself is invalid
	Reason string // one clause that contains no value
}

func (e *RefusedError) Error() string {
	if e.Line > 0 {
		return fmt.Sprintf("dotenv: %s not changed: line %d: %s", printable(e.Key), e.Line, e.Reason)
	}
	return fmt.Sprintf("dotenv: %s not changed: %s", printable(e.Key), e.Reason)
}

// validNewKey matches the keys that may be added. Python accepts more keys, but shells and the proxy's own tools do
// not.
var validNewKey = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]*$`)

// With applies all edits or none; if two edits have the same key, the later edit counts. Only the bytes of the deciding
// value change: `export`, blanks, comments, line endings and, where possible, the quoting style stay. A new key is
// added next to the other rule key of its provider or, if there is no such key, at the end. Removing a missing key
// changes nothing. A byte order mark before an edited key is moved to a line of its own. The error is a
// [*RefusedError].
func (f *File) With(edits ...Edit) (*File, error) {
	wanted := map[string]Edit{}
	var keys []string
	for _, e := range edits {
		if _, twice := wanted[e.Key]; !twice {
			keys = append(keys, e.Key)
		}
		wanted[e.Key] = e
	}
	base := f.splitBOM(wanted)
	current := base
	for _, key := range keys {
		if base.satisfies(wanted[key]) && base.successor().satisfies(wanted[key]) {
			continue // keep the value as its author wrote it
		}
		next, err := current.apply(wanted[key], wanted)
		if err != nil {
			return nil, err
		}
		current = next
	}
	return current, nil
}

// splitBOM inserts a line break between a byte order mark and an edited key, because only then do all versions of
// python-dotenv read the key.
func (f *File) splitBOM(wanted map[string]Edit) *File {
	text, ok := strings.CutPrefix(f.text, bom)
	if !ok || text == "" {
		return f
	}
	s := scanner{text: text}
	first := s.binding()
	if _, edited := wanted[first.key]; !edited || first.lineStart > 0 || first.key == "" {
		return f
	}
	return parseFile(bom + f.lineEnding() + text)
}

// successor returns the file as python-dotenv versions after 1.2.2 read it: without a byte order mark.
func (f *File) successor() *File {
	if text, ok := strings.CutPrefix(f.text, bom); ok {
		return parseFile(text)
	}
	return f
}

// verifySuccessor does the same as verify for the file as python-dotenv versions after 1.2.2 read it.
func (f *File) verifySuccessor(after *File, e Edit, wanted map[string]Edit) error {
	if !strings.HasPrefix(after.text, bom) {
		return nil
	}
	err := f.successor().verify(after.successor(), e, wanted)
	var refused *RefusedError
	if errors.As(err, &refused) {
		return &RefusedError{e.Key, max(refused.Line, 1), "for python-dotenv versions after 1.2.2, which drop the byte order mark: " + refused.Reason}
	}
	return err
}

// satisfies reports whether the file already is as e would make it.
func (f *File) satisfies(e Edit) bool {
	b, ok := f.deciding(e.Key)
	if e.Unset {
		return !ok
	}
	return ok && b.hasValue && b.value == e.Value && unwritable(e.Value) == ""
}

// apply makes one edit, trying all places and spellings until verify accepts the file. wanted contains all edits of
// With.
func (f *File) apply(e Edit, wanted map[string]Edit) (*File, error) {
	b, known := f.deciding(e.Key)
	reason := unwritable(e.Value)
	if !known && !validNewKey.MatchString(e.Key) {
		reason = "a new key must start with a letter or _ and may contain only letters, digits, _ . and -"
	}
	texts := []string{f.without(e.Key)}
	if !e.Unset {
		if reason != "" {
			return nil, &RefusedError{Key: e.Key, Reason: reason}
		}
		texts = f.candidates(e)
	}
	var first error
	for _, text := range texts {
		next := parseFile(text)
		err := f.verify(next, e, wanted)
		if err == nil {
			err = f.verifySuccessor(next, e, wanted)
		}
		if err == nil {
			return next, nil
		}
		first = cmp.Or(first, err)
	}
	return nil, cmp.Or(first, error(&RefusedError{e.Key, b.line, noQuoting}))
}

// candidates lists the texts that could result from setting a key to a new value, or from adding the key, best first.
func (f *File) candidates(e Edit) []string {
	b, known := f.deciding(e.Key)
	sibling, hasSibling := f.sibling(e.Key)
	type surroundings struct{ before, after string } // the text before and after the value
	var all []surroundings
	quote := byte('\'') // the quoting style of the proxy's own editor
	switch {
	case known && b.hasValue:
		quote, all = b.quote, []surroundings{{f.text[:b.valueStart], f.text[b.valueEnd:]}}
	case known:
		quote, all = 0, []surroundings{{f.text[:b.keyEnd] + "=", f.text[b.keyEnd:]}}
	case hasSibling:
		start := e.Key + "="
		if sibling.export {
			start = "export " + start
		}
		quote = sibling.quote
		for _, at := range []int{sibling.end(), len(f.text)} {
			before, after := f.aroundNewLine(at)
			all = append(all, surroundings{before + start, after})
		}
	default:
		before, after := f.aroundNewLine(len(f.text))
		all = []surroundings{{before + e.Key + "=", after}}
	}
	var texts []string
	for _, s := range all {
		for _, spelled := range spellings(e.Value, quote) {
			texts = append(texts, s.before+spelled+s.after)
		}
	}
	return texts
}

// aroundNewLine returns the text before and after a new line that is inserted at an offset between two bindings. If the
// last line of the file has no line ending, a new last line has none either.
func (f *File) aroundNewLine(at int) (before, after string) {
	before, after = f.text[:at], f.text[at:]
	if before == "" || strings.HasSuffix(before, "\n") || strings.HasSuffix(before, "\r") {
		return before, f.lineEnding() + after
	}
	return before + f.lineEnding(), after
}

// without returns the text without the lines that set a key. Blank lines and comments before them stay.
func (f *File) without(key string) string {
	var out strings.Builder
	at := 0
	for _, b := range f.bindings {
		if b.key == key {
			out.WriteString(f.text[at:b.lineStart])
			at = b.end()
		}
	}
	out.WriteString(f.text[at:])
	return out.String()
}

// The prefixes of the two rule keys of a provider. The lines of these keys are kept together.
const (
	ignorePrefix = "IGNORE_MODELS_"
	allowPrefix  = "WHITELIST_MODELS_"
)

func isRuleKey(key string) bool {
	return strings.HasPrefix(key, ignorePrefix) || strings.HasPrefix(key, allowPrefix)
}

// sibling returns the binding next to which a new key belongs: the other rule key of the same provider.
func (f *File) sibling(key string) (binding, bool) {
	if provider, ok := strings.CutPrefix(key, ignorePrefix); ok {
		return f.deciding(allowPrefix + provider)
	}
	if provider, ok := strings.CutPrefix(key, allowPrefix); ok {
		return f.deciding(ignorePrefix + provider)
	}
	return binding{}, false
}

// verify checks the file after one edit against f. The edited key must have its new value, the other keys in wanted
// must keep their values, and every statement of any other key must read as before.
func (f *File) verify(after *File, e Edit, wanted map[string]Edit) error {
	b, ok := after.deciding(e.Key)
	switch {
	case e.Unset && ok:
		return &RefusedError{e.Key, b.line, "this line would set the key once the key's own line is removed"}
	case !e.Unset && (!ok || !b.hasValue || b.value != e.Value):
		return after.unreadable(e.Key)
	}
	for key := range wanted {
		old, had := f.deciding(key)
		if b, has := after.deciding(key); key != e.Key && (had != has || old.assignment() != b.assignment()) {
			return &RefusedError{e.Key, old.line, printable(key) + " would be read differently"}
		}
	}
	want, got := f.unedited(wanted), after.unedited(wanted)
	for i := range max(len(want), len(got)) {
		switch {
		case i >= len(want):
			return &RefusedError{e.Key, got[i].line, got[i].describe() + " would appear"}
		case i < len(got) && want[i].assignment() == got[i].assignment():
		case variable.MatchString(want[i].raw):
			return &RefusedError{e.Key, want[i].line, want[i].describe() + " refers to ${" + printable(e.Key) + "} and would be read differently"}
		default:
			return &RefusedError{e.Key, want[i].line, want[i].describe() + " would be read differently"}
		}
	}
	return nil
}

// uneditedStatement is a statement whose key With does not edit. Its value is resolved.
type uneditedStatement struct {
	binding
	raw string // the value before its variables were resolved
}

// unedited lists the statements whose keys are not in wanted.
func (f *File) unedited(wanted map[string]Edit) []uneditedStatement {
	var all []uneditedStatement
	above := newScope()
	for _, b := range f.bindings {
		above.define(b, nil)
		if _, edited := wanted[b.key]; edited || b.key == "" && !b.bad {
			continue
		}
		statement := uneditedStatement{b, b.value}
		if resolved := above.values[b.key]; b.hasValue && resolved != nil {
			statement.value = *resolved
		}
		all = append(all, statement)
	}
	return all
}

// assignment identifies a statement by its key and value or, if the statement is unreadable, by its text.
func (b binding) assignment() string {
	switch {
	case b.bad:
		return b.statement()
	case b.hasValue:
		return b.key + "\x00=" + b.value
	}
	return b.key
}

// noQuoting is the reason given if no quoting style can represent a value.
const noQuoting = "no way of quoting the value would preserve it (does the value end with a backslash?)"

// unreadable returns the error for a key that cannot be read after its edit.
func (f *File) unreadable(key string) *RefusedError {
	for _, b := range f.bindings {
		if b.bad {
			return &RefusedError{key, b.line, "this line cannot be parsed and would swallow the key: is a quote unbalanced?"}
		}
	}
	return &RefusedError{Key: key, Line: f.Line(key), Reason: noQuoting}
}
