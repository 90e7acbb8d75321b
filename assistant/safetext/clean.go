package safetext

import (
	"strings"
	"unicode/utf8"
)

// Clean returns s without anything that a terminal would obey or that hides
// from the reader. Line ends become LF, invalid UTF-8 becomes U+FFFD; printable
// text is unchanged, and Clean(Clean(s)) == Clean(s).
func Clean(s string) string {
	if plain(s) == len(s) {
		return s
	}
	var c Cleaner
	return c.Write(s) + c.Flush()
}

// Cleaner is Clean for text that arrives in pieces: however a text is cut, the
// pieces returned by Write and the last Flush add up to Clean of the whole. It
// holds a few bytes, never more. The zero value is ready to use; it belongs to
// one goroutine.
type Cleaner struct {
	bytes  decoder
	escape escapeParser
	out    strings.Builder

	cr     bool // the last rune was CR, already written as a line end
	joiner rune // ZWJ or ZWNJ that waits for the rune after it; 0 for none
	prev   rune // the last rune written
	base   rune // the last one that is not a combining mark
	marks  int  // combining marks written since base
}

// Write takes the next piece and returns the text that is now certain.
func (c *Cleaner) Write(chunk string) string {
	if c.idle() {
		if n := plain(chunk); n == len(chunk) {
			c.wrote(chunk)
			return chunk
		}
	}
	c.out.Grow(len(chunk))
	for i := 0; i < len(chunk); {
		if c.idle() {
			if n := plain(chunk[i:]); n > 0 {
				c.out.WriteString(chunk[i : i+n])
				c.wrote(chunk[i : i+n])
				i += n
				continue
			}
		}
		runes, n := c.bytes.next(chunk[i])
		for _, r := range runes[:n] {
			c.take(r)
		}
		i++
	}
	return c.drain()
}

// Flush ends the text and returns what was waiting for more. The Cleaner is as
// new afterwards.
func (c *Cleaner) Flush() string {
	if c.bytes.end() {
		c.take(utf8.RuneError)
	}
	rest := c.drain()
	*c = Cleaner{}
	return rest
}

func (c *Cleaner) drain() string {
	s := c.out.String()
	c.out.Reset()
	return s
}

// plain returns how many bytes at the start of s are ASCII that needs no look.
func plain(s string) int {
	for i := range len(s) {
		if b := s[i]; (b < ' ' && b != '\n' && b != '\t') || b > '~' {
			return i
		}
	}
	return len(s)
}

// idle reports whether nothing that came before changes the meaning of ASCII.
func (c *Cleaner) idle() bool {
	return c.bytes.n == 0 && c.escape.state == inText && !c.cr && c.joiner == 0
}

// wrote notes that the ASCII text s was written.
func (c *Cleaner) wrote(s string) {
	if s != "" {
		c.prev = rune(s[len(s)-1])
		c.base, c.marks = c.prev, 0
	}
}

// take judges one rune.
func (c *Cleaner) take(r rune) {
	if c.escape.swallow(r) {
		return
	}
	switch {
	case r == '\n' && c.cr:
		c.cr = false
	case r == '\r':
		c.write('\n')
		c.cr = true
	case lineBreak(r):
		c.write('\n')
	case r == zwj || r == zwnj:
		c.join(r)
	case selector(r):
		if c.prev != 0 && selectable(c.prev, r) {
			c.write(r)
		}
	case !dropped(r):
		c.write(r)
	}
}

// join keeps a joiner for the rune after it where the rune before allows one.
func (c *Cleaner) join(r rune) {
	switch {
	case c.joiner != 0: // one is enough
	case viramaBefore(c.prev):
		c.prev = r
		c.out.WriteRune(r)
	case r == zwj && c.emojiBefore(), joining(c.prev), mark(c.prev) && joining(c.base):
		c.joiner = r
	}
}

func (c *Cleaner) emojiBefore() bool {
	return pictograph(c.prev) || c.prev == vs16 && pictograph(c.base)
}

// wanted reports whether the joiner that waits has a meaning before r.
func (c *Cleaner) wanted(r rune) bool {
	if c.joiner == zwj && c.emojiBefore() {
		return pictograph(r)
	}
	return joining(r) || mark(r)
}

// write appends r, and before it the joiner that waited for r.
func (c *Cleaner) write(r rune) {
	c.cr = false
	if mark(r) && !selector(r) {
		if c.marks >= maxMarks {
			return
		}
		c.marks++
	}
	if c.joiner != 0 {
		if c.wanted(r) {
			c.out.WriteRune(c.joiner)
		}
		c.joiner = 0
	}
	if !mark(r) {
		c.base, c.marks = r, 0
	}
	c.prev = r
	c.out.WriteRune(r)
}

// decoder turns bytes into runes across the borders of chunks. A truncated or
// impossible sequence gives one U+FFFD for its longest valid beginning, so that
// the tail of a cut character is never taken for a C1 control.
type decoder struct {
	part [utf8.UTFMax]byte
	n    int // bytes in part, always the beginning of a valid character
}

// next takes one byte. It returns the runes that are now certain: none while a
// character is incomplete, two when b ends a broken character and is one itself.
func (d *decoder) next(b byte) (out [2]rune, n int) {
	if d.n > 0 {
		d.part[d.n] = b
		if p := d.part[:d.n+1]; utf8.FullRune(p) {
			if r, size := utf8.DecodeRune(p); size == len(p) {
				d.n = 0
				out[0] = r
				return out, 1
			}
		} else {
			d.n++
			return out, 0
		}
		d.n = 0
		out[0], n = utf8.RuneError, 1
	}
	switch {
	case b < utf8.RuneSelf:
		out[n] = rune(b)
	case b >= 0xc2 && b <= 0xf4:
		d.part[0], d.n = b, 1
		return out, n
	case introduces(rune(b)) || b == c1ST:
		out[n] = rune(b) // what a terminal in 8-bit mode would obey
	default:
		out[n] = utf8.RuneError
	}
	return out, n + 1
}

// end reports whether an incomplete character was left, and forgets it.
func (d *decoder) end() bool {
	cut := d.n > 0
	d.n = 0
	return cut
}
