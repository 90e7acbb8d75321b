package overlay

import (
	"math"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/sahilm/fuzzy"
)

// matches are the entries found for a query, and the lines that show them.
type matches struct {
	found []int // indexes of the entries, best first
	lines []matchLine
}

// matchLine is a line of a match.
type matchLine struct {
	match int // index into matches.found
	kind  lineKind
}

type lineKind uint8

const (
	entryLine   lineKind = iota
	headingLine          // the group, above its first entry
	detailLine           // Entry.Detail
)

// span returns the first line of a match and the line after its last line.
func (m *matches) span(match int) (first, end int) {
	from := func(match int) int {
		return sort.Search(len(m.lines), func(i int) bool { return m.lines[i].match >= match })
	}
	return from(match), from(match + 1)
}

// search finds the entries from start on that match every word of a query, best first.
// Without a query it returns all entries in order or, if start is not 0, only the entries
// before start.
func search(entries []Entry, start int, query string) (m matches) {
	words := strings.Fields(query)
	switch {
	case len(words) > 0:
		m.found = find(entries, start, words, func(e Entry) string { return e.Text })
		if len(m.found) == 0 { // the query may include the group: "openai mini"
			m.found = withWords(entries, words, find(entries, start, words, Entry.qualified))
		}
	case start > 0:
		m.found = upTo(start)
	default:
		m.found = upTo(len(entries))
	}
	m.lines = make([]matchLine, 0, len(m.found))
	group := ""
	for n, i := range m.found {
		if g := entries[i].Group; query == "" && g != "" && g != group {
			group = g
			m.lines = append(m.lines, matchLine{n, headingLine})
		}
		m.lines = append(m.lines, matchLine{n, entryLine})
		if entries[i].Detail != "" {
			m.lines = append(m.lines, matchLine{n, detailLine})
		}
	}
	return m
}

// qualified returns Full or, if that is empty, the group and the text. A group of several
// words is only a heading and left out.
func (e Entry) qualified() string {
	switch {
	case e.Full != "":
		return e.Full
	case strings.Contains(e.Group, " "):
		return e.Text
	}
	return e.Group + "/" + e.Text
}

// withWords drops the found entries whose qualified text does not contain every word in one
// piece, unless that leaves none: if an entry contains "local-2", that does not find
// "local/gpt-2".
func withWords(entries []Entry, words []string, found []int) []int {
	whole := slices.DeleteFunc(slices.Clone(found), func(i int) bool {
		text := entries[i].qualified()
		return slices.ContainsFunc(words, func(word string) bool { return contiguous(text, word) == 0 })
	})
	if len(whole) == 0 {
		return found
	}
	return whole
}

// upTo returns the numbers from 0 to n-1.
func upTo(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// find returns the indexes of the entries from start on whose text, or Also, matches every
// word, best first.
func find(entries []Entry, start int, words []string, text func(Entry) string) []int {
	found := upTo(len(entries))[start:]
	scores := make([]int, len(entries))
	for _, word := range words {
		at := source{len(found), func(i int) string { return text(entries[found[i]]) }}
		matched := fuzzy.FindFromNoSort(word, at)
		var left []int
		for k, i := range found {
			score := also(entries[i].Also, word)
			if len(matched) > 0 && matched[0].Index == k {
				score, matched = max(score, scoreOf(matched[0], word)), matched[1:]
			}
			if score > noMatch {
				scores[i] += score
				left = append(left, i)
			}
		}
		found = left
	}
	slices.SortStableFunc(found, func(a, b int) int { return scores[b] - scores[a] })
	return found
}

// source is a fuzzy.Source.
type source struct {
	n    int
	text func(i int) string
}

// Len implements fuzzy.Source.
func (s source) Len() int { return s.n }

// String implements fuzzy.Source.
func (s source) String(i int) string { return s.text(i) }

// Scores: noMatch is below all others, and piece is higher than any score of package fuzzy.
const (
	noMatch = math.MinInt
	piece   = 1000
)

// scoreOf returns the score of a match, or noMatch if the letters of the word are scattered
// over the text: "dark" does not find "Undo the last rollback".
func scoreOf(match fuzzy.Match, word string) int {
	extra, at := contiguous(match.Str, word), match.MatchedIndexes
	if extra == 0 && at[len(at)-1]-at[0] >= 3*len(word) {
		return noMatch
	}
	return match.Score + extra
}

// also returns the score of a word that equals or begins one of the words of an Entry.Also,
// and noMatch for any other word.
func also(words, word string) int {
	word = strings.ToLower(word)
	score := noMatch
	for name := range strings.FieldsSeq(words) {
		switch {
		case name == word:
			return 4 * piece
		case strings.HasPrefix(name, word):
			score = 2 * piece
		}
	}
	return score
}

// contiguous returns the extra score of a text that contains a word in one piece, with which
// it comes before texts in which the letters are scattered. The score is higher if the text
// or one of its words starts with the word; it is 0 if the text does not contain it.
func contiguous(text, word string) int {
	text, word = strings.ToLower(text), strings.ToLower(word)
	switch i := strings.Index(text, word); {
	case i == 0:
		return 3 * piece
	case i > 0 && strings.Contains(text, " "+word):
		return 2 * piece
	case i > 0:
		return piece
	}
	return 0
}

// marked returns the indexes of the runes of a text that match the words of a query. It
// returns none if the text is not ASCII, because a cell may then contain several runes.
func marked(text, query string) (at map[int]bool) {
	beyond := func(r rune) bool { return r >= utf8.RuneSelf }
	if query == "" || strings.ContainsFunc(text, beyond) {
		return nil
	}
	at = map[int]bool{}
	for _, word := range strings.Fields(query) {
		if i := strings.Index(strings.ToLower(text), strings.ToLower(word)); i >= 0 {
			for n := range len(word) {
				at[i+n] = true
			}
			continue
		}
		for _, match := range fuzzy.Find(word, []string{text}) {
			for _, i := range match.MatchedIndexes {
				at[i] = true
			}
		}
	}
	return at
}
