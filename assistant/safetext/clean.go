package safetext

import (
	"strings"
	"unicode/utf8"
)

// Clean returns s without anything that controls a terminal or is hidden from the reader. Line endings become LF
// and invalid UTF-8 becomes U+FFFD; printable text is unchanged. Clean(Clean(s)) equals Clean(s).
func Clean[S ~string](s S) Text {
	if plainPrefix(string(s)) == len(s) {
		return Text(s)
	}
	var c Cleaner
	return c.Write(string(s)) + c.Flush()
}

// Cleaner is Clean for text that arrives in pieces: however the text is split, the concatenated results of Write and
// the final Flush equal Clean of the whole text. It buffers a few bytes. The zero value is ready to use. A Cleaner
// belongs to one goroutine.
type Cleaner struct {
	tail   string // an incomplete character at the end of the last chunk
	escape escapeParser
	out    strings.Builder

	cr     bool // the last rune was CR, which has been written as a line ending
	joiner rune // a buffered ZWJ or ZWNJ, or 0
	prev   rune // the last rune written
	base   rune // the last rune written that is not a combining mark
	marks  int  // combining marks written since base
}

// Write adds the next piece and returns the text that is now final.
func (c *Cleaner) Write(chunk string) Text {
	if c.passesASCII() && plainPrefix(chunk) == len(chunk) {
		c.noteASCII(chunk)
		return Text(chunk)
	}
	s := c.tail + chunk
	c.tail = ""
	c.out.Grow(len(s))
	for s != "" {
		n := 0
		if c.passesASCII() {
			n = plainPrefix(s)
			c.out.WriteString(s[:n])
			c.noteASCII(s[:n])
		}
		if n == 0 {
			if !utf8.FullRuneInString(s) {
				c.tail = s
				break
			}
			var r rune
			r, n = decode(s)
			c.addRune(r)
		}
		s = s[n:]
	}
	return c.flush()
}

// Flush ends the text and returns what is still buffered. The Cleaner can then be used for another text.
func (c *Cleaner) Flush() Text {
	if c.tail != "" {
		c.addRune(utf8.RuneError)
	}
	rest := c.flush()
	*c = Cleaner{}
	return rest
}

// flush returns what has been written since the last call.
func (c *Cleaner) flush() Text {
	s := c.out.String()
	c.out.Reset()
	return Text(s)
}

// decode returns the rune at the start of s and its length. A truncated character becomes one U+FFFD for its longest
// valid prefix, so that its remaining bytes are never read as C1 controls. A single byte that is a C1 control which
// starts or ends a sequence is treated as that control, as in a terminal in 8-bit mode.
func decode(s string) (r rune, n int) {
	r, n = utf8.DecodeRuneInString(s)
	if r != utf8.RuneError || n > 1 {
		return r, n
	}
	if b := rune(s[0]); stateAfter(b) != inText || b == c1ST {
		return b, 1
	}
	for n < len(s) && !utf8.FullRuneInString(s[:n+1]) {
		n++
	}
	return r, n
}

// plainPrefix returns the number of bytes at the start of s that are printable ASCII, new lines or tabs.
func plainPrefix(s string) int {
	for i := range len(s) {
		if b := s[i]; (b < ' ' && b != '\n' && b != '\t') || b > '~' {
			return i
		}
	}
	return len(s)
}

// passesASCII reports whether following ASCII text is written unchanged.
func (c *Cleaner) passesASCII() bool {
	return c.tail == "" && c.escape.state == inText && !c.cr && c.joiner == 0
}

// noteASCII records that the ASCII text s has been written.
func (c *Cleaner) noteASCII(s string) {
	if s != "" {
		c.prev = rune(s[len(s)-1])
		c.base, c.marks = c.prev, 0
	}
}

func (c *Cleaner) addRune(r rune) {
	switch {
	case c.escape.consume(r):
	case r == '\n' && c.cr:
		c.cr = false
	case r == '\r':
		c.writeRune('\n')
		c.cr = true
	case isLineBreak(r):
		c.writeRune('\n')
	case r == zwj || r == zwnj:
		c.addJoiner(r)
	case isSelector(r):
		if c.prev != 0 && isSelectable(c.prev, r) {
			c.writeRune(r)
		}
	case !isDropped(r):
		c.writeRune(r)
	}
}

// addJoiner writes the joiner r after a virama. Otherwise, it buffers r until the next rune if the previous rune
// allows a joiner, or else drops it.
func (c *Cleaner) addJoiner(r rune) {
	switch {
	case c.joiner != 0: // only the first of several joiners counts
	case isVirama(c.prev):
		c.prev = r
		c.out.WriteRune(r)
	case r == zwj && c.emojiBefore(), usesJoiners(c.prev), isMark(c.prev) && usesJoiners(c.base):
		c.joiner = r
	}
}

func (c *Cleaner) emojiBefore() bool {
	return isPictograph(c.prev) || c.prev == vs16 && isPictograph(c.base)
}

// writeRune appends r, preceded by the buffered joiner if r allows one.
func (c *Cleaner) writeRune(r rune) {
	c.cr = false
	if isMark(r) && !isSelector(r) {
		if c.marks >= maxMarks {
			return
		}
		c.marks++
	}
	if c.joiner != 0 {
		emoji := c.joiner == zwj && c.emojiBefore()
		if emoji && isPictograph(r) || !emoji && (usesJoiners(r) || isMark(r)) {
			c.out.WriteRune(c.joiner)
		}
		c.joiner = 0
	}
	if !isMark(r) {
		c.base, c.marks = r, 0
	}
	c.prev = r
	c.out.WriteRune(r)
}
