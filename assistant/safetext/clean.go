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
// results of Write and of the last Flush add up to Clean of the whole. It buffers
// a few bytes. The zero value is ready to use; it belongs to one goroutine.
type Cleaner struct {
	tail   string // an incomplete character
	escape escapeParser
	out    strings.Builder

	cr     bool // the last rune was CR, already written as a line end
	joiner rune // ZWJ or ZWNJ that waits for the rune after it; 0 for none
	prev   rune // the last rune written
	base   rune // the last one that is not a combining mark
	marks  int  // combining marks written since base
}

// Write adds the next piece and returns the text that is now certain.
func (c *Cleaner) Write(chunk string) string {
	if c.idle() && plain(chunk) == len(chunk) {
		c.wrote(chunk)
		return chunk
	}
	s := c.tail + chunk
	c.tail = ""
	c.out.Grow(len(s))
	for s != "" {
		n := 0
		if c.idle() {
			n = plain(s)
			c.out.WriteString(s[:n])
			c.wrote(s[:n])
		}
		if n == 0 {
			if !utf8.FullRuneInString(s) {
				c.tail = s
				break
			}
			var r rune
			r, n = decode(s)
			c.add(r)
		}
		s = s[n:]
	}
	return c.written()
}

// Flush ends the text and returns what was waiting for more. The Cleaner is then
// ready for another text.
func (c *Cleaner) Flush() string {
	if c.tail != "" {
		c.add(utf8.RuneError)
	}
	rest := c.written()
	*c = Cleaner{}
	return rest
}

func (c *Cleaner) written() string {
	s := c.out.String()
	c.out.Reset()
	return s
}

// decode returns the rune at the start of s and its length. A cut character gives
// one U+FFFD for its longest valid beginning, so that its tail is never read as
// a C1 control; a lone byte that is a C1 control is that control, as for a
// terminal in 8-bit mode.
func decode(s string) (r rune, n int) {
	r, n = utf8.DecodeRuneInString(s)
	if r != utf8.RuneError || n > 1 {
		return r, n
	}
	if b := rune(s[0]); opens(b) != inText || b == c1ST {
		return b, 1
	}
	for n < len(s) && !utf8.FullRuneInString(s[:n+1]) {
		n++
	}
	return r, n
}

// plain returns how many bytes at the start of s are printable ASCII, new lines
// and tabs.
func plain(s string) int {
	for i := range len(s) {
		if b := s[i]; (b < ' ' && b != '\n' && b != '\t') || b > '~' {
			return i
		}
	}
	return len(s)
}

// idle reports whether nothing before changes the meaning of ASCII.
func (c *Cleaner) idle() bool {
	return c.tail == "" && c.escape.state == inText && !c.cr && c.joiner == 0
}

// wrote records that the ASCII text s was written.
func (c *Cleaner) wrote(s string) {
	if s != "" {
		c.prev = rune(s[len(s)-1])
		c.base, c.marks = c.prev, 0
	}
}

// add handles one rune.
func (c *Cleaner) add(r rune) {
	switch {
	case c.escape.swallow(r):
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

// join handles a joiner, which waits for the rune after it where the rune before
// allows one.
func (c *Cleaner) join(r rune) {
	switch {
	case c.joiner != 0: // one is enough
	case virama(c.prev):
		c.prev = r
		c.out.WriteRune(r)
	case r == zwj && c.emojiBefore(), joining(c.prev), mark(c.prev) && joining(c.base):
		c.joiner = r
	}
}

func (c *Cleaner) emojiBefore() bool {
	return pictograph(c.prev) || c.prev == vs16 && pictograph(c.base)
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
		emoji := c.joiner == zwj && c.emojiBefore()
		if emoji && pictograph(r) || !emoji && (joining(r) || mark(r)) {
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
