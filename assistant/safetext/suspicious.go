package safetext

import "unicode"

// deceptive returns the places in text, counted in characters, of those that
// deceive: letters of another script inside a Latin word, whole words made of
// look-alikes in an id or address, and signs that pass for slash, dot, colon,
// star or hyphen. Plain text in any one script gives nothing.
func deceptive(text []rune) map[int]bool {
	found := map[int]bool{}
	for i := 0; i < len(text); {
		end := i
		for end < len(text) && !unicode.IsSpace(text[end]) {
			end++
		}
		inRun(text, i, end, found)
		i = end + 1
	}
	return found
}

// inRun examines text[from:to], which contains no space.
func inRun(text []rune, from, to int, found map[int]bool) {
	idLike := false
	for _, r := range text[from:to] {
		idLike = idLike || asciiAlnum(r) || idSign(r)
	}
	for i := from; i < to; {
		if !wordRune(text[i]) {
			if _, ok := signLike[text[i]]; ok && besideASCII(text, i, from, to) {
				found[i] = true
			}
			i++
			continue
		}
		end := i
		for end < to && wordRune(text[end]) {
			end++
		}
		inWord(text, i, end, idLike, found)
		i = end
	}
}

// inWord examines text[from:to], which contains letters, marks and digits only.
func inWord(text []rune, from, to int, idLike bool, found map[int]bool) {
	latin, allAlike := false, true
	for _, r := range text[from:to] {
		latin = latin || unicode.Is(unicode.Latin, r) && unicode.IsLetter(r) && letterLike(r) == 0
		allAlike = allAlike && (asciiAlnum(r) || letterLike(r) != 0)
	}
	for i := from; i < to; i++ {
		r := text[i]
		alike := letterLike(r) != 0 && (latin || allAlike && idLike || styled(r))
		if r >= 0x80 && (alike || latin && foreign(r)) {
			found[i] = true
		}
	}
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

// letterPairs lists letters and, after each, the ASCII letter or digit that
// it looks like.
const letterPairs = "" +
	// Cyrillic
	"аaеeоoрpсcуyхxіiјjѕsԁdԛqԝwһhӏlкkмmтtнhвbгrпnьbзz" +
	"АAВBЕEКKМMНHОOРPСCТTХXУYІIЈJЅSԚQԜWҮYЗ3б6ӀI" +
	// Greek
	"οoαaνvιiρpυuκkχxγyωwτtηnεeσo" +
	"ΑAΒBΕEΖZΗHΙIΚKΜMΝNΟOΡPΤTΥYΧX" +
	// Armenian
	"օoոnսuհhցgզqՍUՏSՕOԼL" +
	// Latin letters that are not ASCII, and Roman numerals
	"ɡgɑaⅰiⅴvⅹxⅼlⅽcⅾdⅿmⅠIⅤVⅩXⅬLⅭCⅮDⅯM" +
	// letterlike symbols
	"ℊgℎhℓlℯeℴoℹiℂCℋHℍHℐIℒLℕNℙPℚQℛRℝRℤZℬBℰEℱFℳM\u212aK\u212bA"

// signPairs does so for signs. The em dash is left out: it stands between
// words in plain prose.
const signPairs = "⁄/∕/⧸/／/꞉:∶:：:․.．.∗*⁎*＊*‐-‑-‒-–-−-﹣-－-＿_？?［[］]＠@，,‚,"

var (
	letterTable = pairs(letterPairs)
	signLike    = pairs(signPairs)
)

func pairs(s string) map[rune]rune {
	text := []rune(s)
	table := make(map[rune]rune, len(text)/2)
	for i := 0; i+1 < len(text); i += 2 {
		table[text[i]] = text[i+1]
	}
	return table
}

// letterLike returns the ASCII letter or digit that r looks like, 0 for none.
func letterLike(r rune) rune {
	switch {
	case r < 0x80:
		return 0
	case r >= 0x1d400 && r < 0x1d6a4: // mathematical alphabets: A-Za-z again and again
		n := (r - 0x1d400) % 52
		if n < 26 {
			return 'A' + n
		}
		return 'a' + n - 26
	case r >= 0x1d7ce && r <= 0x1d7ff: // mathematical digits
		return '0' + (r-0x1d7ce)%10
	case r >= 0xff10 && r <= 0xff5a: // full-width forms mirror ASCII
		if a := r - 0xff10 + '0'; asciiAlnum(a) {
			return a
		}
	}
	return letterTable[r]
}

// styled reports the alphabets made for formulas, which no id is written in.
func styled(r rune) bool { return r >= 0x1d400 && r <= 0x1d7ff }
