package dotenv

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Edit gives a key a value, or removes it with all its duplicates.
type Edit struct {
	Key   string
	Value string // ignored when Unset
	Unset bool
}

// Set is the edit that gives key a value.
func Set(key, value string) Edit { return Edit{Key: key, Value: value} }

// Unset is the edit that removes key.
func Unset(key string) Edit { return Edit{Key: key, Unset: true} }

// String names the key and what happens to it, not the value.
func (e Edit) String() string {
	if e.Unset {
		return "unset " + printable(e.Key)
	}
	return "set " + printable(e.Key)
}

// GoString is String: %#v must not print the value either.
func (e Edit) GoString() string { return e.String() }

// RefusedError is an edit that was not made because the file would not read as
// it should afterwards.
type RefusedError struct {
	Key    string // the key that was to be edited
	Line   int    // the line in the way, from 1; 0 when the reason is in the edit
	Reason string // one clause, without any value
}

func (e *RefusedError) Error() string {
	if e.Line > 0 {
		return fmt.Sprintf("dotenv: %s not changed: line %d: %s", printable(e.Key), e.Line, e.Reason)
	}
	return fmt.Sprintf("dotenv: %s not changed: %s", printable(e.Key), e.Reason)
}

// newKey is the form of a key that may be added. Python would accept more,
// shells and the proxy's own tools would not.
var newKey = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]*$`)

// With applies edits in one step; of two for one key the later counts. Only
// the bytes of the deciding value change: `export`, blanks, the style of
// quoting where the value allows it, comments and line ends stay. A new key
// goes next to the other rule key of its provider, else to the end. Removing a
// key that is not there changes nothing. A byte order mark before an edited key
// gets a line of its own. The error is a [*RefusedError], and then nothing is edited.
func (f *File) With(edits ...Edit) (*File, error) {
	origin := f
	if f.origin != nil {
		origin = f.origin
	}
	all := lastOfEach(slices.Concat(f.edits, edits))
	own := make(map[string]bool, len(all))
	for _, e := range all {
		own[e.Key] = true
	}
	base := origin.splitMark(own)
	at := base
	for _, e := range all {
		if base.satisfies(e) {
			continue // the bytes that are there are the best way to write it
		}
		next, err := at.apply(base, e, own)
		if err != nil {
			return nil, err
		}
		at = next
	}
	if at == origin {
		return origin, nil
	}
	return &File{text: at.text, bindings: at.bindings, last: at.last, origin: origin, edits: all}, nil
}

// splitMark puts a line break between a byte order mark and an own key.
// python-dotenv up to 1.2.2 reads the mark as part of the key, newer versions
// drop it: only then do all of them read the key.
func (f *File) splitMark(own map[string]bool) *File {
	text, ok := strings.CutPrefix(f.text, bom)
	if !ok || text == "" {
		return f
	}
	s := scanner{text: text}
	if first := s.binding(); first.lineStart > 0 || !own[first.Key] || first.Key == "" {
		return f
	}
	return parseFile(bom + f.newline() + text)
}

// lastOfEach is the last edit of each key, in the order of first mention.
func lastOfEach(edits []Edit) []Edit {
	var all []Edit
	at := map[string]int{}
	for _, e := range edits {
		if i, ok := at[e.Key]; ok {
			all[i] = e
			continue
		}
		at[e.Key] = len(all)
		all = append(all, e)
	}
	return all
}

// satisfies reports whether the file already reads as e asks.
func (f *File) satisfies(e Edit) bool {
	b, ok := f.deciding(e.Key)
	if e.Unset {
		return !ok
	}
	return ok && b.HasValue && b.Value == e.Value && unwritable(e.Value) == ""
}

// apply makes one edit, trying every place and spelling until the file reads
// as it should. own names the keys that may change on the way from origin.
func (f *File) apply(origin *File, e Edit, own map[string]bool) (*File, error) {
	if e.Unset {
		next := parseFile(f.without(e.Key))
		return next, f.verify(next, origin, e, own)
	}
	if reason := unwritable(e.Value); reason != "" {
		return nil, &RefusedError{Key: e.Key, Reason: reason}
	}
	b, known := f.deciding(e.Key)
	if !known && !newKey.MatchString(e.Key) {
		return nil, &RefusedError{Key: e.Key, Reason: "a new key is made of letters, digits, _ . - and does not begin with a digit"}
	}
	var candidates []string
	if known {
		candidates = f.replacements(b, e.Value)
	} else {
		candidates = f.insertions(e.Key, e.Value)
	}
	var first error = &RefusedError{Key: e.Key, Line: b.Line, Reason: noQuoting}
	for i, text := range candidates {
		next := parseFile(text)
		err := f.verify(next, origin, e, own)
		if err == nil {
			return next, nil
		}
		if i == 0 {
			first = err
		}
	}
	return nil, first
}

// replacements lists the texts with another value in b, best first.
func (f *File) replacements(b Binding, value string) []string {
	var all []string
	head, tail := f.text[:b.valueStart], f.text[b.valueEnd:]
	if !b.HasValue {
		head, tail = f.text[:b.keyEnd]+"=", f.text[b.keyEnd:]
	}
	for _, spelled := range spellings(value, b.Quote) {
		all = append(all, head+spelled+tail)
	}
	return all
}

// insertions lists the texts with a new key, best first.
func (f *File) insertions(key, value string) []string {
	lead, quote := "", byte('\'') // as the proxy's own editor writes it
	places := []int{len(f.text)}
	if b, ok := f.sibling(key); ok {
		quote = b.Quote
		if b.Export {
			lead = "export "
		}
		places = []int{b.end(), len(f.text)}
	}
	var all []string
	for _, at := range places {
		for _, spelled := range spellings(value, quote) {
			all = append(all, f.insert(at, lead+key+"="+spelled))
		}
	}
	return all
}

// insert puts a line at an offset between two bindings. A file whose last line
// has no line end stays one.
func (f *File) insert(at int, line string) string {
	head, tail := f.text[:at], f.text[at:]
	eol := f.newline()
	if head == "" || strings.HasSuffix(head, "\n") || strings.HasSuffix(head, "\r") {
		return head + line + eol + tail
	}
	return head + eol + line + tail
}

// without is the text without the lines of a key. Blank lines and comments
// before them stay.
func (f *File) without(key string) string {
	var out strings.Builder
	at := 0
	for _, b := range f.bindings {
		if b.Key == key {
			out.WriteString(f.text[at:b.lineStart])
			at = b.end()
		}
	}
	out.WriteString(f.text[at:])
	return out.String()
}

// The prefixes of the two rule keys of a provider, whose lines are adjacent.
const (
	ignorePrefix = "IGNORE_MODELS_"
	allowPrefix  = "WHITELIST_MODELS_"
)

// isRuleKey reports whether the value of a key is a rule list.
func isRuleKey(key string) bool {
	return strings.HasPrefix(key, ignorePrefix) || strings.HasPrefix(key, allowPrefix)
}

// sibling is the binding beside which a new key belongs: the other rule key of
// the same provider.
func (f *File) sibling(key string) (Binding, bool) {
	if provider, ok := strings.CutPrefix(key, ignorePrefix); ok {
		return f.deciding(allowPrefix + provider)
	}
	if provider, ok := strings.CutPrefix(key, allowPrefix); ok {
		return f.deciding(ignorePrefix + provider)
	}
	return Binding{}, false
}
