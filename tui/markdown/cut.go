package markdown

import "unicode/utf8"

// Long paragraphs and code are cut into blocks at places that depend only on the preceding
// text, so that each piece is rendered once and the result does not depend on how the text
// arrived.
const (
	// minCut is the length in bytes from which a paragraph is cut where no emphasis, code
	// span or link is open: a few hundred words, more than most paragraphs have. It must be
	// at least longLine, so that a line that may belong to a table is never cut.
	minCut = 1024
	// blankCut is the length from which a paragraph is cut at any blank, even if an
	// emphasis, code span or link is open.
	blankCut = 3072
	// hardCut is the length at which a paragraph is cut even within a word.
	hardCut = 4096
	// longLine is the length from which a line is treated as paragraph text or code, so
	// that its type is known before it ends.
	longLine = 1024

	// minCode is the length from which code is cut after a line that ends outside strings
	// and comments, or inside a string or comment whose delimiters are known. This is
	// checked every stepCode bytes. Highlighting minCode bytes takes a few milliseconds.
	minCode  = 1024
	stepCode = 512
	// maxCode is the length from which code is cut after any line.
	maxCode = 2048
)

// cutter finds where to cut a paragraph. It reads every byte once, in order.
type cutter struct {
	at         int  // number of bytes of the piece that have been read
	last       byte // the last byte and the one before it
	beforeLast byte
	run        int  // length of the current run of *
	stars      byte // lengths of open runs of *, one bit each
	tildes     int  // length of the current run of ~
	struck     bool // a run of ~ is open
	ticks      int  // length of the current run of `
	code       int  // length of the run that opened a code span; 0 outside
	underscore bool // a word starts with _
	depth      int  // number of open brackets
	address    bool // the last byte is in the parentheses after a bracket
	escaped    bool
}

// next reads a byte and reports whether the piece ends before it.
func (c *cutter) next(b byte) bool {
	c.at++
	c.endRuns(b)
	cut := false
	switch {
	case c.at > hardCut:
		cut = utf8.RuneStart(b)
	case c.at > blankCut:
		cut = isSpace(c.last) && !isSpace(b)
	case c.at > minCut:
		cut = c.afterSingleBlank(b) && !c.open()
	}
	c.track(b)
	c.beforeLast, c.last = c.last, b
	return cut
}

// afterSingleBlank reports whether exactly one blank precedes b: two blanks, or a
// backslash, before the end of a line are a hard break.
func (c *cutter) afterSingleBlank(b byte) bool {
	return isSpace(c.last) && !isSpace(b) && !isSpace(c.beforeLast) && !(c.last == '\n' && c.beforeLast == '\\')
}

func isSpace(b byte) bool { return b == ' ' || b == '\n' || b == '\t' }

// open reports whether an emphasis, a code span or a link may be open.
func (c *cutter) open() bool {
	return c.stars != 0 || c.struck || c.code != 0 || c.underscore || c.depth > 0 || c.address
}

// endRuns ends the runs of *, ~ and ` that b does not continue.
func (c *cutter) endRuns(b byte) {
	if c.run > 0 && b != '*' {
		if c.last == '*' {
			c.stars ^= 1 << min(c.run, 7)
		}
		c.run = 0
	}
	if c.tildes > 0 && b != '~' {
		c.struck = c.struck != (c.tildes <= 2)
		c.tildes = 0
	}
	if c.ticks > 0 && b != '`' {
		switch c.code {
		case 0:
			c.code = c.ticks
		case c.ticks:
			c.code = 0
		}
		c.ticks = 0
	}
}

// track updates what is open after b.
func (c *cutter) track(b byte) {
	switch {
	case c.escaped:
		c.escaped = false
	case b == '`':
		c.ticks++
	case c.code > 0:
	case b == '\\':
		c.escaped = true
	case b == '*':
		c.run++
	case b == '~':
		c.tildes++
	case b == '_':
		if c.last != '_' {
			c.underscore = !isWord(c.last)
		}
	case b == '(' && c.last == ']':
		c.address = true
	case b == ')':
		c.address = false
	case b == '[':
		c.depth++
	case b == ']':
		c.depth = max(0, c.depth-1)
	}
}

func isWord(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b >= 0x80
}
