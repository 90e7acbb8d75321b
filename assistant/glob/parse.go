package glob

import "slices"

type kind uint8

const (
	char    kind = iota // exactly rune
	anyChar             // any one character
	oneOf               // one character of class
	never               // matches nothing at all
	star                // any run of characters
)

// token is one element of a pattern. No two stars follow each other.
type token struct {
	kind  kind
	rune  rune   // of kind char
	class *class // of kind oneOf
}

func (t token) accepts(r rune) bool {
	switch t.kind {
	case char:
		return t.rune == r
	case anyChar:
		return true
	case oneOf:
		return t.class.has(r)
	default:
	}
	return false
}

// parse splits a pattern into tokens the way fnmatch.translate does.
func parse(pattern string) []token {
	chars := make([]rune, 0, len(pattern))
	for len(pattern) > 0 {
		r, size := decode(pattern)
		chars = append(chars, r)
		pattern = pattern[size:]
	}
	tokens := make([]token, 0, len(chars))
	unclosed := false // no `]` is left: do not look for one again
	for i := 0; i < len(chars); {
		switch c := chars[i]; {
		case c == '*':
			if n := len(tokens); n == 0 || tokens[n-1].kind != star {
				tokens = append(tokens, token{kind: star})
			}
		case c == '?':
			tokens = append(tokens, token{kind: anyChar})
		case c == '[' && !unclosed:
			end := bracketEnd(chars, i+1)
			if end < 0 {
				unclosed = true
				tokens = append(tokens, token{kind: char, rune: c})
				break
			}
			tokens = append(tokens, bracket(chars[i+1:end]))
			i = end
		default:
			tokens = append(tokens, token{kind: char, rune: c})
		}
		i++
	}
	return tokens
}

// bracketEnd finds the `]` that closes a bracket whose content begins at i, or returns
// -1: then no `[` further on is closed either. A `]` that comes first is content.
func bracketEnd(chars []rune, i int) int {
	if i < len(chars) && chars[i] == '!' {
		i++
	}
	if i < len(chars) && chars[i] == ']' {
		i++
	}
	if i >= len(chars) {
		return -1
	}
	if n := slices.Index(chars[i:], ']'); n >= 0 {
		return i + n
	}
	return -1
}

// item is a character inside brackets; a bare hyphen may make a range.
type item struct {
	rune rune
	bare bool
}

// bracket makes the token of the content of a bracket.
func bracket(content []rune) token {
	items := rangeItems(content)
	if len(items) == 0 {
		return token{kind: never}
	}
	negated := items[0].rune == '!'
	if negated {
		items = items[1:]
	}
	var spans []span
	for i := 0; i < len(items); i++ {
		s := span{items[i].rune, items[i].rune}
		if i+2 < len(items) && items[i+1].bare {
			s.hi = items[i+2].rune
			i += 2
		}
		spans = append(spans, s)
	}
	return simplest(newClass(spans, negated))
}

// simplest makes the token of a class. A class of one character becomes that
// character, so that a quoted one costs no more than a plain one.
func simplest(c *class) token {
	switch {
	case len(c.spans) == 0:
		return token{kind: never}
	case len(c.spans) == 1 && c.spans[0].lo == c.spans[0].hi:
		return token{kind: char, rune: c.spans[0].lo}
	case len(c.spans) == 1 && c.spans[0] == span{0, maxRune}:
		return token{kind: anyChar}
	}
	return token{kind: oneOf, class: c}
}

// rangeItems finds the ranges of a bracket as Python 3.11 does: hyphens split
// the content into chunks at least two characters apart, a range that would be
// empty disappears with both its ends, and the hyphens that are left between
// chunks are the bare ones. What follows a removed range may become the
// first and so become a negation; Python does that too.
func rangeItems(content []rune) []item {
	chunks := hyphenChunks(content)
	for k := len(chunks) - 1; k > 0; k-- {
		before, after := chunks[k-1], chunks[k]
		if before[len(before)-1] > after[0] {
			chunks[k-1] = slices.Concat(before[:len(before)-1], after[1:])
			chunks = slices.Delete(chunks, k, k+1)
		}
	}
	items := make([]item, 0, len(content))
	for k, chunk := range chunks {
		if k > 0 {
			items = append(items, item{'-', true})
		}
		for _, r := range chunk {
			items = append(items, item{r, false})
		}
	}
	return items
}

// hyphenChunks cuts the content of a bracket at the hyphens that can make a
// range: not the first character, not the last, not right after a range.
func hyphenChunks(content []rune) [][]rune {
	var chunks [][]rune
	start, k := 0, 1
	if content[0] == '!' {
		k = 2
	}
	for k < len(content) {
		n := slices.Index(content[k:], '-')
		if n < 0 {
			break
		}
		k += n
		chunks = append(chunks, content[start:k:k])
		start = k + 1
		k += 3
	}
	if last := content[start:]; len(last) > 0 {
		return append(chunks, last)
	}
	n := len(chunks) - 1
	chunks[n] = append(chunks[n], '-')
	return chunks
}
