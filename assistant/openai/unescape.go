package openai

import "unicode/utf8"

// unescape goes on with the string that began at start, from its first escape.
// Half a surrogate pair comes out as the three bytes that UTF-8 would give it
// if it were allowed to, for a joiner to put together.
func (c *cursor) unescape(start int) []byte {
	c.buf = append(c.buf[:0], c.b[start:c.i]...)
	for c.i < len(c.b) {
		b := c.b[c.i]
		c.i++
		switch {
		case b == '"':
			return c.buf
		case b < ' ':
			c.fail()
			return nil
		case b != '\\':
			c.buf = append(c.buf, b)
		case !c.escape():
			c.fail()
			return nil
		}
	}
	c.fail()
	return nil
}

// escape reads what follows a backslash.
func (c *cursor) escape() bool {
	if c.i >= len(c.b) {
		return false
	}
	b := c.b[c.i]
	c.i++
	switch b {
	case '"', '\\', '/':
		c.buf = append(c.buf, b)
	case 'b':
		c.buf = append(c.buf, '\b')
	case 'f':
		c.buf = append(c.buf, '\f')
	case 'n':
		c.buf = append(c.buf, '\n')
	case 'r':
		c.buf = append(c.buf, '\r')
	case 't':
		c.buf = append(c.buf, '\t')
	case 'u':
		return c.unicode()
	default:
		return false
	}
	return true
}

// unicode reads the four digits of a \u escape, and the second half of a
// surrogate pair when it follows.
func (c *cursor) unicode() bool {
	r, ok := c.hex()
	if !ok {
		return false
	}
	if highSurrogate(r) && c.i+1 < len(c.b) && c.b[c.i] == '\\' && c.b[c.i+1] == 'u' {
		back := c.i
		c.i += 2
		low, ok := c.hex()
		if !ok {
			return false
		}
		if lowSurrogate(low) {
			r = joinSurrogates(r, low)
		} else {
			c.i = back
		}
	}
	c.buf = appendRune(c.buf, r)
	return true
}

func (c *cursor) hex() (rune, bool) {
	if c.i+4 > len(c.b) {
		return 0, false
	}
	var r rune
	for _, b := range c.b[c.i : c.i+4] {
		switch {
		case b >= '0' && b <= '9':
			r = r<<4 | rune(b-'0')
		case b >= 'a' && b <= 'f':
			r = r<<4 | rune(b-'a'+10)
		case b >= 'A' && b <= 'F':
			r = r<<4 | rune(b-'A'+10)
		default:
			return 0, false
		}
	}
	c.i += 4
	return r, true
}

// appendRune is utf8.AppendRune that also writes half a surrogate pair.
func appendRune(b []byte, r rune) []byte {
	if highSurrogate(r) || lowSurrogate(r) {
		return append(b, 0xe0|byte(r>>12), 0x80|byte(r>>6)&0xbf, 0x80|byte(r)&0xbf)
	}
	return utf8.AppendRune(b, r)
}
