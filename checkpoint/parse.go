package checkpoint

import (
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// maxDepth bounds the nesting of a document, and so the stack that reading it
// needs. No window state comes near it.
const maxDepth = 1000

// SyntaxError says why a document is not JSON that can be kept exactly.
type SyntaxError struct {
	Offset int    // in bytes from the start of the document
	Reason string // for people
}

// Error implements error.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("checkpoint: document, byte %d: %s", e.Offset, e.Reason)
}

// parse reads one whole document. encoding/json would take numbers through
// float64 or leave them unread, drop repeated keys and replace bad text; and
// it is too slow for a checkpoint of a thousand rules within a millisecond.
func parse(doc []byte) (value, error) { return parseText(string(doc)) }

// parseText is parse for a text that nobody can change.
func parseText(doc string) (value, error) {
	p := newParser(doc)
	if !utf8.ValidString(doc) {
		return value{}, p.fail("text is not UTF-8")
	}
	p.space()
	v, err := p.value(0)
	if err != nil {
		return value{}, err
	}
	p.space()
	if p.at < len(p.in) {
		return value{}, p.fail("more text after the value")
	}
	if v.text == "" {
		var text strings.Builder
		text.Grow(len(doc)) // the canonical form is never longer
		v.write(&text)
	}
	return v, nil
}

// parser reads in from at on.
type parser struct {
	in string
	at int
	// changed counts what was met so far that the canonical form writes
	// differently. A value during which it stayed the same is canonical
	// already, and its text is a part of in. A list or object that is not is
	// left without text: all of them get theirs at the end, out of one piece.
	changed int
	// keys and items are those of the lists and objects being read, the inner
	// ones behind the outer; lastKeys are those of the last object, shared by
	// the next one if it has the same: the objects of a list mostly do.
	keys     []string
	items    []value
	lastKeys []string
	// room is where the items of small lists and objects are put, many of them
	// into one allocation; roomSize is how large the last one was.
	room     []value
	roomSize int
}

const (
	// bytesPerItem is about how much text comes to one item of a list of rules.
	bytesPerItem = 64
	// leastRoom and mostRoom bound an allocation for the items of small lists
	// and objects: as long as one of them is in use, the whole of it is.
	leastRoom, mostRoom = 8, 256
)

func newParser(doc string) *parser {
	return &parser{in: doc, items: make([]value, 0, len(doc)/bytesPerItem), roomSize: leastRoom / 2}
}

// own returns a copy of items that nobody else uses.
func (p *parser) own(items []value) []value {
	n := len(items)
	if n > mostRoom/4 {
		return slices.Clone(items)
	}
	if n > len(p.room) {
		p.roomSize = max(min(2*p.roomSize, mostRoom), n)
		p.room = make([]value, p.roomSize)
	}
	out := p.room[:n:n]
	p.room = p.room[n:]
	copy(out, items)
	return out
}

func (p *parser) fail(reason string) error { return &SyntaxError{Offset: p.at, Reason: reason} }

// peek returns the next byte, 0 at the end (a NUL byte begins no value).
func (p *parser) peek() byte {
	if p.at < len(p.in) {
		return p.in[p.at]
	}
	return 0
}

// space passes white space.
func (p *parser) space() {
	for p.at < len(p.in) {
		switch p.in[p.at] {
		case ' ', '\t', '\n', '\r':
			p.at++
			p.changed++
		default:
			return
		}
	}
}

// take passes c, if it comes next.
func (p *parser) take(c byte) bool {
	if p.peek() != c {
		return false
	}
	p.at++
	return true
}

func (p *parser) value(depth int) (value, error) {
	if depth > maxDepth {
		return value{}, p.fail("nested too deeply")
	}
	switch c := p.peek(); c {
	case '{':
		return p.object(depth)
	case '[':
		return p.list(depth)
	case '"':
		return p.str()
	case 'n':
		return p.word(kindNull, "null")
	case 't':
		return p.word(kindTrue, "true")
	case 'f':
		return p.word(kindFalse, "false")
	default:
		return p.number()
	}
}

func (p *parser) word(k kind, word string) (value, error) {
	if !strings.HasPrefix(p.in[p.at:], word) {
		return value{}, p.fail("want a value")
	}
	p.at += len(word)
	return value{kind: k, text: word}, nil
}

// number keeps the text of a number: 0.1, 1e400 and 9007199254740993 come
// back as they are.
func (p *parser) number() (value, error) {
	from := p.at
	p.take('-')
	if !p.take('0') && !p.digits() {
		return value{}, p.fail("want a value")
	}
	if p.take('.') && !p.digits() {
		return value{}, p.fail("want a digit")
	}
	if c := p.peek(); c == 'e' || c == 'E' {
		p.at++
		if !p.take('+') {
			p.take('-')
		}
		if !p.digits() {
			return value{}, p.fail("want a digit")
		}
	}
	return value{kind: kindNumber, text: p.in[from:p.at]}, nil
}

// digits passes a run of digits and reports whether there was one.
func (p *parser) digits() bool {
	from := p.at
	for p.at < len(p.in) && p.in[p.at] >= '0' && p.in[p.at] <= '9' {
		p.at++
	}
	return p.at > from
}

func (p *parser) list(depth int) (value, error) {
	from, before := p.at, p.changed
	p.at++
	p.space()
	base := len(p.items)
	for !p.take(']') {
		if len(p.items) > base && !p.take(',') {
			return value{}, p.fail("want , or ]")
		}
		p.space()
		item, err := p.value(depth + 1)
		if err != nil {
			return value{}, err
		}
		p.items = append(p.items, item)
		p.space()
	}
	v := value{kind: kindList, items: p.own(p.items[base:])}
	p.items = p.items[:base]
	if p.changed == before {
		v.text = p.in[from:p.at]
	}
	return v, nil
}

func (p *parser) object(depth int) (value, error) {
	from, before := p.at, p.changed
	p.at++
	p.space()
	baseKeys, baseItems := len(p.keys), len(p.items)
	sorted := true
	for !p.take('}') {
		if len(p.keys) > baseKeys && !p.take(',') {
			return value{}, p.fail("want , or }")
		}
		p.space()
		key, item, err := p.member(depth)
		if err != nil {
			return value{}, err
		}
		sorted = sorted && (len(p.keys) == baseKeys || p.keys[len(p.keys)-1] < key)
		p.keys, p.items = append(p.keys, key), append(p.items, item)
		p.space()
	}
	keys, items := p.keys[baseKeys:], p.own(p.items[baseItems:])
	p.keys, p.items = p.keys[:baseKeys], p.items[:baseItems]
	if !sorted {
		members{keys, items}.sort()
		if hasTwice(keys) {
			return value{}, p.fail("a key occurs twice in the object that ends here")
		}
		p.changed++
	}
	if !slices.Equal(keys, p.lastKeys) {
		p.lastKeys = slices.Clone(keys)
	}
	v := value{kind: kindObject, keys: p.lastKeys, items: items}
	if p.changed == before {
		v.text = p.in[from:p.at]
	}
	return v, nil
}

// member reads a key, its colon and its value.
func (p *parser) member(depth int) (string, value, error) {
	if p.peek() != '"' {
		return "", value{}, p.fail("want a key")
	}
	key, err := p.decoded()
	if err != nil {
		return "", value{}, err
	}
	p.space()
	if !p.take(':') {
		return "", value{}, p.fail("want :")
	}
	p.space()
	item, err := p.value(depth + 1)
	return key, item, err
}

// hasTwice reports whether sorted keys hold one twice.
func hasTwice(keys []string) bool {
	for i := 1; i < len(keys); i++ {
		if keys[i] == keys[i-1] {
			return true
		}
	}
	return false
}

// members sorts the keys of an object, and its items alike.
type members struct {
	keys  []string
	items []value
}

// fewMembers is up to how many members insertion is the fastest way to sort.
const fewMembers = 12

func (m members) sort() {
	if len(m.keys) > fewMembers {
		sort.Sort(m)
		return
	}
	for i := 1; i < len(m.keys); i++ {
		for j := i; j > 0 && m.keys[j] < m.keys[j-1]; j-- {
			m.Swap(j, j-1)
		}
	}
}

func (m members) Len() int           { return len(m.keys) }
func (m members) Less(i, j int) bool { return m.keys[i] < m.keys[j] }
func (m members) Swap(i, j int) {
	m.keys[i], m.keys[j] = m.keys[j], m.keys[i]
	m.items[i], m.items[j] = m.items[j], m.items[i]
}

func (p *parser) str() (value, error) {
	from, before := p.at, p.changed
	s, err := p.decoded()
	if err != nil {
		return value{}, err
	}
	if p.changed == before {
		return value{kind: kindString, text: p.in[from:p.at]}, nil
	}
	return value{kind: kindString, text: string(appendString(nil, s))}, nil
}

// decoded reads a string and returns what it means.
func (p *parser) decoded() (string, error) {
	p.at++
	from := p.at
	for p.at < len(p.in) {
		switch c := p.in[p.at]; {
		case c == '"':
			p.at++
			return p.in[from : p.at-1], nil
		case c == '\\':
			return p.escaped(from)
		case c < ' ':
			return "", p.fail("control character in a string")
		}
		p.at++
	}
	return "", p.fail("string without an end")
}

// escaped goes on with a string that began at from and has its first escape
// at p.at. The canonical form may need that very escape; calling it changed
// costs one copy and is right all the same.
func (p *parser) escaped(from int) (string, error) {
	p.changed++
	out := []byte(p.in[from:p.at])
	for p.at < len(p.in) {
		c := p.in[p.at]
		switch {
		case c == '"':
			p.at++
			return string(out), nil
		case c < ' ':
			return "", p.fail("control character in a string")
		case c != '\\':
			out = append(out, c)
			p.at++
		default:
			r, err := p.escape()
			if err != nil {
				return "", err
			}
			out = utf8.AppendRune(out, r)
		}
	}
	return "", p.fail("string without an end")
}

// escape reads one escape sequence, or the two that make a surrogate pair.
func (p *parser) escape() (rune, error) {
	p.at++
	c := p.peek()
	if i := strings.IndexByte(`"\/bfnrt`, c); c != 0 && i >= 0 {
		p.at++
		return rune("\"\\/\b\f\n\r\t"[i]), nil
	}
	r, err := p.hex()
	if err != nil || !utf16.IsSurrogate(r) {
		return r, err
	}
	if !p.take('\\') {
		return 0, p.fail("half of a surrogate pair")
	}
	low, err := p.hex()
	if err != nil {
		return 0, err
	}
	if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
		return 0, p.fail("half of a surrogate pair")
	}
	return r, nil
}

// hex reads u and four hexadecimal digits.
func (p *parser) hex() (rune, error) {
	const digits = 4
	if !p.take('u') || p.at+digits > len(p.in) {
		return 0, p.fail("bad escape")
	}
	n, err := strconv.ParseUint(p.in[p.at:p.at+digits], 16, 16)
	if err != nil {
		return 0, p.fail("bad escape")
	}
	p.at += digits
	return rune(n), nil
}
