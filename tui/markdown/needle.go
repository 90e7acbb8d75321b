package markdown

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Needle is a text that is searched for without regard to case. The zero value is in no
// text.
type Needle struct {
	runes []rune
	first []string // the first rune in each of its cases
}

// NewNeedle is the needle of a text.
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

// All are the beginnings and ends of the needle in a text.
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

// longest bounds the length in bytes of what matches.
func (n Needle) longest() int { return len(n.runes) * utf8.UTFMax }

// find is the first place of the needle in a text and its length there; -1 for none.
func (n Needle) find(text string) (at, length int) {
	if len(n.first) == 0 {
		return -1, 0
	}
	next := make([]int, len(n.first)) // where each case of the first rune comes next
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

// indexFrom is the place of s in text from a byte on; the length of text is none.
func indexFrom(text, s string, from int) int {
	if i := strings.Index(text[from:], s); i >= 0 {
		return from + i
	}
	return len(text)
}

// lengthAt is the length of the needle at the beginning of a text; 0: it is not there.
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

// folds reports whether two runes differ in case only.
func folds(a, b rune) bool {
	for r := unicode.SimpleFold(a); r != a; r = unicode.SimpleFold(r) {
		if r == b {
			return true
		}
	}
	return false
}
