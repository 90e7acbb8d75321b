package markdown

import (
	"iter"
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

// maxCases is the maximum number of runes that differ only in case, as k, K and the Kelvin
// sign do.
const maxCases = 4

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

// All returns the start and end of each occurrence of the needle in a text. Occurrences do not
// overlap.
func (n Needle) All(text string) (all [][2]int) {
	for at, length := range n.hits(text) {
		all = append(all, [2]int{at, at + length})
	}
	return all
}

// Longest returns the maximum length of a match in bytes.
func (n Needle) Longest() int { return len(n.runes) * utf8.UTFMax }

// Spaced reports whether the needle contains a blank.
func (n Needle) Spaced() bool { return slices.Contains(n.runes, ' ') }

// find returns the first position of the needle in a text and its length there; -1 if there
// is none.
func (n Needle) find(text string) (at, length int) {
	for at, length = range n.hits(text) {
		return at, length
	}
	return -1, 0
}

// hits yields the position and the length of each occurrence that All returns. The text is
// read only once, however many occurrences there are.
func (n Needle) hits(text string) iter.Seq2[int, int] {
	return func(yield func(at, length int) bool) {
		var cases [maxCases]int // next position of each case of the first rune
		next := cases[:0]
		for _, first := range n.first {
			next = append(next, indexFrom(text, first, 0))
		}
		for len(next) > 0 {
			at := slices.Min(next)
			if at == len(text) {
				return
			}
			length := n.lengthAt(text[at:])
			if length > 0 && !yield(at, length) {
				return
			}
			for i, first := range n.first {
				if end := at + max(length, 1); next[i] < end {
					next[i] = indexFrom(text, first, end)
				}
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

// lengthAt returns the length of the needle at the start of a text; 0 if the text does not
// start with the needle.
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
