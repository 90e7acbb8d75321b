package checkpoint

import (
	"encoding/json"
	"slices"
	"strings"
)

// kind is the type of a JSON value, named by the byte it begins with.
type kind byte

const (
	kindNull   kind = 'n'
	kindTrue   kind = 't'
	kindFalse  kind = 'f'
	kindNumber kind = '0'
	kindString kind = '"'
	kindList   kind = '['
	kindObject kind = '{'
)

// value is one JSON value with everything below it. It is never changed once
// made, so versions of a document share the parts that they have in common.
type value struct {
	kind  kind
	text  string   // canonical form; two values are equal when their texts are
	keys  []string // of an object: decoded and sorted
	items []value  // of a list, or of an object beside keys
}

// Canonical returns doc in the one form that this package compares and stores:
// no white space, keys sorted by their bytes, strings with only the escapes
// they need, numbers exactly as they were written (1.0 is not 1). The result
// is a new slice.
//
// A document that could not be given back exactly is refused with a
// *SyntaxError: text that is not UTF-8, half of a surrogate pair, a key that
// occurs twice in one object, nesting deeper than 1,000.
func Canonical(doc json.RawMessage) (json.RawMessage, error) {
	v, err := parse(doc)
	if err != nil {
		return nil, err
	}
	return v.raw(), nil
}

// Equal reports whether a and b are the same document in canonical form. A
// document that Canonical refuses equals nothing.
func Equal(a, b json.RawMessage) bool {
	va, err := parse(a)
	if err != nil {
		return false
	}
	vb, err := parse(b)
	return err == nil && va.text == vb.text
}

// raw returns the canonical text as a slice that the caller may keep.
func (v value) raw() json.RawMessage { return json.RawMessage(v.text) }

// newList makes a list of items, which it keeps.
func newList(items []value) value {
	size := 2 + len(items)
	for i := range items {
		size += len(items[i].text)
	}
	var text strings.Builder
	text.Grow(size)
	text.WriteByte('[')
	for i := range items {
		if i > 0 {
			text.WriteByte(',')
		}
		text.WriteString(items[i].text)
	}
	text.WriteByte(']')
	return value{kind: kindList, text: text.String(), items: items}
}

// newObject makes an object of sorted keys and their items, both of which it
// keeps.
func newObject(keys []string, items []value) value {
	const perKey = 4 // two quotes, the colon and the comma
	size := 2
	for i := range items {
		size += len(keys[i]) + len(items[i].text) + perKey
	}
	var text strings.Builder
	text.Grow(size)
	text.WriteByte('{')
	var room [64]byte // most keys fit and cost no allocation
	for i := range items {
		if i > 0 {
			text.WriteByte(',')
		}
		text.Write(appendString(room[:0], keys[i]))
		text.WriteByte(':')
		text.WriteString(items[i].text)
	}
	text.WriteByte('}')
	return value{kind: kindObject, text: text.String(), keys: keys, items: items}
}

// write appends the canonical text of v to b, and gives every value below that
// has none its part of it: the parts share what b has allocated.
func (v *value) write(b *strings.Builder) {
	if v.text != "" {
		b.WriteString(v.text)
		return
	}
	from := b.Len()
	open, end := byte('['), byte(']')
	if v.kind == kindObject {
		open, end = '{', '}'
	}
	b.WriteByte(open)
	var room [64]byte // most keys fit and cost no allocation
	for i := range v.items {
		if i > 0 {
			b.WriteByte(',')
		}
		if v.kind == kindObject {
			b.Write(appendString(room[:0], v.keys[i]))
			b.WriteByte(':')
		}
		v.items[i].write(b)
	}
	b.WriteByte(end)
	v.text = b.String()[from:]
}

// find returns where key is among the keys of an object.
func (v value) find(key string) (int, bool) { return slices.BinarySearch(v.keys, key) }

// appendString appends s as a JSON string with the fewest escapes. No byte
// below 0x20 comes out, which is what lets a journal record be one line.
func appendString(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c >= ' ':
			dst = append(dst, c)
		default:
			if short := strings.IndexByte("\b\t\n\f\r", c); short >= 0 {
				dst = append(dst, '\\', "btnfr"[short])
			} else {
				dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&0xf])
			}
		}
	}
	return append(dst, '"')
}
