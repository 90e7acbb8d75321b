package openai

import "strconv"

// maxDepth is how deep a JSON document may nest: far more than any answer
// does, far less than what would exhaust a stack.
const maxDepth = 256

// cursor reads a JSON document once, from left to right, straight into the few
// fields that matter. Every value that is not asked for is checked and skipped,
// so that an odd type of an unknown field costs nothing and breaks nothing.
type cursor struct {
	b     []byte
	i     int
	depth int
	buf   []byte // of the string that is being unescaped
	bad   bool   // the document is not JSON; all reads return zero values
}

func (c *cursor) fail() {
	c.bad = true
	c.i = len(c.b)
}

// peek returns the first byte of the next token, 0 at the end.
func (c *cursor) peek() byte {
	for c.i < len(c.b) {
		switch b := c.b[c.i]; b {
		case ' ', '\n', '\r', '\t':
			c.i++
		default:
			return b
		}
	}
	return 0
}

// take steps over b, which must come next.
func (c *cursor) take(b byte) {
	if c.peek() != b {
		c.fail()
		return
	}
	c.i++
}

// whole reports whether the document was valid and nothing follows it.
func (c *cursor) whole() bool { return !c.bad && c.peek() == 0 && c.i == len(c.b) }

// object reads an object: field is called with each name, and must read or skip
// its value. The name is valid until the next read. Any other value is skipped.
func (c *cursor) object(field func(name []byte)) {
	if c.peek() != '{' {
		c.skip()
		return
	}
	c.enclosed('}', func() {
		name := c.raw()
		c.take(':')
		if !c.bad {
			field(name)
		}
	})
}

// array reads an array: element must read or skip one value. Any other value is skipped.
func (c *cursor) array(element func()) {
	if c.peek() != '[' {
		c.skip()
		return
	}
	c.enclosed(']', element)
}

// enclosed reads what stands between the bracket that comes next and end.
func (c *cursor) enclosed(end byte, item func()) {
	c.i++
	if c.depth++; c.depth > maxDepth {
		c.fail()
		return
	}
	defer func() { c.depth-- }()
	if c.peek() == end {
		c.i++
		return
	}
	for !c.bad {
		item()
		switch c.peek() {
		case ',':
			c.i++
		case end:
			c.i++
			return
		default:
			c.fail()
		}
	}
}

// raw reads a string and returns what stands between the quotes, unescaped
// only when it must be.
func (c *cursor) raw() []byte {
	if c.peek() != '"' {
		c.fail()
		return nil
	}
	c.i++
	start := c.i
	for c.i < len(c.b) {
		switch b := c.b[c.i]; {
		case b == '"':
			c.i++
			return c.b[start : c.i-1]
		case b == '\\':
			return c.unescape(start)
		case b < ' ':
			c.fail()
			return nil
		}
		c.i++
	}
	c.fail()
	return nil
}

// str reads a string; any other value is skipped and gives "".
func (c *cursor) str() string {
	if c.peek() != '"' {
		c.skip()
		return ""
	}
	return string(c.raw())
}

// strTo reads a string into a field; a missing or empty one leaves it alone.
func (c *cursor) strTo(into *string) {
	if s := c.str(); s != "" {
		*into = s
	}
}

// number reads a number, also one written as a string; ok is false for any other value.
func (c *cursor) number() (n float64, ok bool) {
	var text []byte
	switch b := c.peek(); {
	case b == '"':
		text = c.raw()
	case b == '-' || b >= '0' && b <= '9':
		start := c.i
		c.skipNumber()
		if !c.bad {
			text = c.b[start:c.i]
		}
	default:
		c.skip()
		return 0, false
	}
	n, err := strconv.ParseFloat(string(text), 64)
	return n, err == nil
}

// value skips one value and returns its text.
func (c *cursor) value() []byte {
	c.peek()
	start := c.i
	c.skip()
	if c.bad {
		return nil
	}
	return c.b[start:c.i]
}

// skip checks one value and steps over it.
func (c *cursor) skip() {
	switch b := c.peek(); {
	case b == '{':
		c.object(func([]byte) { c.skip() })
	case b == '[':
		c.array(c.skip)
	case b == '"':
		c.raw()
	case b == '-' || b >= '0' && b <= '9':
		c.skipNumber()
	case b == 't':
		c.literal("true")
	case b == 'f':
		c.literal("false")
	case b == 'n':
		c.literal("null")
	default:
		c.fail()
	}
}

func (c *cursor) literal(word string) {
	if len(c.b)-c.i < len(word) || string(c.b[c.i:c.i+len(word)]) != word {
		c.fail()
		return
	}
	c.i += len(word)
}

func (c *cursor) skipNumber() {
	if c.at() == '-' {
		c.i++
	}
	if c.at() == '0' {
		c.i++
	} else if !c.digits() {
		c.fail()
		return
	}
	if c.at() == '.' {
		c.i++
		if !c.digits() {
			c.fail()
			return
		}
	}
	if b := c.at(); b == 'e' || b == 'E' {
		c.i++
		if b := c.at(); b == '+' || b == '-' {
			c.i++
		}
		if !c.digits() {
			c.fail()
		}
	}
}

// at is the byte under the cursor, 0 at the end.
func (c *cursor) at() byte {
	if c.i < len(c.b) {
		return c.b[c.i]
	}
	return 0
}

func (c *cursor) digits() bool {
	start := c.i
	for b := c.at(); b >= '0' && b <= '9'; b = c.at() {
		c.i++
	}
	return c.i > start
}
