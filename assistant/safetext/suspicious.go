package safetext

import (
	"fmt"
	"unicode"
)

// Finding is one character that the reader may take for another.
type Finding struct {
	Column int    // place in the text, in characters from 1
	Rune   rune   // the character
	Like   rune   // what it looks like; 0 when only its script is out of place
	Word   string // the word it stands in, shortened around it
}

// String says it in one short sentence.
func (f Finding) String() string {
	if f.Like == 0 {
		return fmt.Sprintf("U+%04X in %q is of another script", f.Rune, f.Word)
	}
	return fmt.Sprintf("U+%04X in %q looks like %q", f.Rune, f.Word, f.Like)
}

// Suspicious lists the characters of s that deceive: letters of another script
// inside a Latin word, whole words made of look-alikes in an id or address, and
// signs that pass for slash, dot, colon, star or hyphen. Plain text in any one
// script gives nothing. The columns rise.
func Suspicious(s string) []Finding {
	if plain(s) == len(s) {
		return nil
	}
	var found []Finding
	text := []rune(s)
	for i := 0; i < len(text); {
		if unicode.IsSpace(text[i]) {
			i++
			continue
		}
		end := i
		for end < len(text) && !unicode.IsSpace(text[end]) {
			end++
		}
		found = append(found, inRun(text, i, end)...)
		i = end
	}
	return found
}

// inRun judges text[from:to], which holds no space.
func inRun(text []rune, from, to int) []Finding {
	idLike := false
	for _, r := range text[from:to] {
		idLike = idLike || asciiAlnum(r) || idSign(r)
	}
	var found []Finding
	for i := from; i < to; {
		if !wordRune(text[i]) {
			if like, ok := signLike[text[i]]; ok && besideASCII(text, i, from, to) {
				found = append(found, Finding{i + 1, text[i], like, excerpt(text, i, from, to)})
			}
			i++
			continue
		}
		end := i
		for end < to && wordRune(text[end]) {
			end++
		}
		found = append(found, inWord(text, i, end, idLike)...)
		i = end
	}
	return found
}

// inWord judges text[from:to], which holds letters, marks and digits only.
func inWord(text []rune, from, to int, idLike bool) []Finding {
	latin, allAlike := false, true
	for _, r := range text[from:to] {
		latin = latin || unicode.Is(unicode.Latin, r) && unicode.IsLetter(r) && letterLike(r) == 0
		allAlike = allAlike && (asciiAlnum(r) || letterLike(r) != 0)
	}
	var found []Finding
	for i := from; i < to; i++ {
		r := text[i]
		like := letterLike(r)
		switch {
		case r < 0x80:
		case like != 0 && (latin || allAlike && idLike || styled(r)), latin && foreign(r):
			found = append(found, Finding{i + 1, r, like, excerpt(text, i, from, to)})
		}
	}
	return found
}

// maxBeside is how much of a word a finding quotes on either side.
const maxBeside = 20

func excerpt(text []rune, i, from, to int) string {
	return string(text[max(from, i-maxBeside):min(to, i+1+maxBeside)])
}

// foreign reports a letter of a script that no language mixes with Latin
// within a word.
func foreign(r rune) bool {
	return unicode.IsLetter(r) && !unicode.In(r, unicode.Latin, unicode.Common, unicode.Inherited,
		unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Bopomofo)
}

func wordRune(r rune) bool { return unicode.In(r, unicode.L, unicode.M, unicode.N) }

func asciiAlnum(r rune) bool {
	return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}

// idSign reports the signs that make a run of text an id, a pattern or an
// address rather than prose, which has its own question marks and brackets.
func idSign(r rune) bool {
	switch r {
	case '*', '/', '_', '@', '=', '\\', '|':
		return true
	}
	return false
}

func besideASCII(text []rune, i, from, to int) bool {
	near := func(r rune) bool { return asciiAlnum(r) || idSign(r) }
	return i > from && near(text[i-1]) || i+1 < to && near(text[i+1])
}
