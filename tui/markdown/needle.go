package markdown

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Needle is a text to search for, ignoring case. The zero value is found nowhere.
type Needle struct {
	runes []rune
	first []string // the first rune in upper and lower case
}

// NewNeedle returns the needle for a text.
func NewNeedle(text string) Needle {
	n := Needle{runes: []rune(text)}
	if len(n.runes) > 0 {
		for r := n.runes[0]; ; {
			if n.first = append(n.first, string(r)); unicode.SimpleFold(r) == n.runes[0] {
				break
			}
			r = unicode.SimpleFold(r)
		}
	}
	return n
}

// In reports whether a text contains the needle.
func (n Needle) In(text string) bool {
	at, _ := n.find(text)
	return at >= 0
}

// All returns the start and end of every occurrence of the needle in a text.
func (n Needle) All(text string) (all [][2]int) {
	for from := 0; ; {
		at, length := n.find(text[from:])
		if at < 0 {
			return all
		}
		all = append(all, [2]int{from + at, from + at + length})
		from += at + length
	}
}

// longest returns the maximum length of a match in bytes.
func (n Needle) longest() int { return len(n.runes) * utf8.UTFMax }

// find returns the first position of the needle in a text and its length there; -1 if there
// is none.
func (n Needle) find(text string) (at, length int) {
	if len(n.first) == 0 {
		return -1, 0
	}
	next := make([]int, len(n.first)) // next position of each case of the first rune
	for i, first := range n.first {
		next[i] = indexFrom(text, first, 0)
	}
	for {
		at = slices.Min(next)
		if at == len(text) {
			return -1, 0
		}
		if length = n.lengthAt(text[at:]); length > 0 {
			return at, length
		}
		for i, first := range n.first {
			if next[i] == at {
				next[i] = indexFrom(text, first, at+1)
			}
		}
	}
}

// indexFrom returns the position of s in text at or after a byte; the length of text if
// there is none.
func indexFrom(text, s string, from int) int {
	if i := strings.Index(text[from:], s); i >= 0 {
		return from + i
	}
	return len(text)
}

// lengthAt returns the length of the needle at the start of a text; 0 if it is not there.
func (n Needle) lengthAt(text string) (length int) {
	for _, want := range n.runes {
		r, size := utf8.DecodeRuneInString(text[length:])
		if size == 0 || r != want && !folds(r, want) {
			return 0
		}
		length += size
	}
	return length
}

// folds reports whether two runes differ only in case.
func folds(a, b rune) bool {
	for r := unicode.SimpleFold(a); r != a; r = unicode.SimpleFold(r) {
		if r == b {
			return true
		}
	}
	return false
}
