package glob

import "slices"

type kind uint8

const (
	char    kind = iota // exactly rune
	anyChar             // any one character
	oneOf               // one character of class
	never               // matches nothing
	star                // any run of characters
)

// token is one element of a pattern. There are no consecutive stars.
type token struct {
	kind  kind
	rune  rune   // only for kind char
	class *class // only for kind oneOf
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

// parse splits a pattern into tokens as fnmatch.translate does.
func parse(pattern string) []token {
	chars := make([]rune, 0, len(pattern))
	for len(pattern) > 0 {
		r, size := decode(pattern)
		chars = append(chars, r)
		pattern = pattern[size:]
	}
	tokens := make([]token, 0, len(chars))
	unclosed := false // there is no further `]`
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

// bracketEnd returns the index of the `]` that closes a bracket with content starting at i, or -1. In the latter case
// no later `[` is closed either. A leading `]` is content.
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

// item is a character inside brackets; a bare hyphen may form a range.
type item struct {
	rune rune
	bare bool
}

// bracket returns the token for the content of a bracket.
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

// simplest returns the token for a class. A class of one character becomes that character, so that a quoted character
// costs no more than a plain one.
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

// rangeItems finds the ranges in a bracket as Python 3.11 does: hyphens split the content into chunks at least two
// characters apart; an empty range disappears with both its ends; the remaining hyphens between chunks are bare. If
// the first range is removed, a following `!` may become a negation, as in Python.
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

// hyphenChunks splits the content of a bracket at the hyphens that can form a range: not the first character, not the
// last, and not right after a range.
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
