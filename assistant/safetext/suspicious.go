package safetext

import "unicode"

// deceptive returns the indices of the deceptive characters in text: letters of another script within a Latin word,
// words consisting of look-alikes in an id or address, mathematical letters and digits, and look-alikes of ASCII
// punctuation beside ASCII characters. Ordinary text in one script has none.
func deceptive(text []rune) map[int]bool {
	found := map[int]bool{}
	for i := 0; i < len(text); {
		end := i
		for end < len(text) && !unicode.IsSpace(text[end]) {
			end++
		}
		markRun(text, i, end, found)
		i = end + 1
	}
	return found
}

// markRun adds the deceptive characters of text[from:to], which contains no space, to found.
func markRun(text []rune, from, to int, found map[int]bool) {
	idLike := false
	for _, r := range text[from:to] {
		idLike = idLike || isASCIIAlnum(r) || isIDPunctuation(r)
	}
	for i := from; i < to; {
		if !isWordRune(text[i]) {
			if _, ok := punctuationTable[text[i]]; ok && besideASCII(text, i, from, to) {
				found[i] = true
			}
			i++
			continue
		}
		end := i
		for end < to && isWordRune(text[end]) {
			end++
		}
		markWord(text, i, end, idLike, found)
		i = end
	}
}

// markWord adds the deceptive characters of text[from:to], which contains only letters, marks and digits, to found.
func markWord(text []rune, from, to int, idLike bool, found map[int]bool) {
	latin, allAlike := false, true
	for _, r := range text[from:to] {
		latin = latin || unicode.Is(unicode.Latin, r) && unicode.IsLetter(r) && letterLike(r) == 0
		allAlike = allAlike && (isASCIIAlnum(r) || letterLike(r) != 0)
	}
	for i := from; i < to; i++ {
		r := text[i]
		alike := letterLike(r) != 0 && (latin || allAlike && idLike || isMathAlphabet(r))
		if r >= 0x80 && (alike || latin && isForeign(r)) {
			found[i] = true
		}
	}
}

// isForeign reports whether r is a letter of a script that is never mixed with Latin within a word.
func isForeign(r rune) bool {
	return unicode.IsLetter(r) && !unicode.In(r, unicode.Latin, unicode.Common, unicode.Inherited,
		unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Bopomofo)
}

func isWordRune(r rune) bool { return unicode.In(r, unicode.L, unicode.M, unicode.N) }

func isASCIIAlnum(r rune) bool {
	return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}

// isIDPunctuation reports whether r makes a run of text an id, a pattern or an address. Question marks and brackets
// do not, because prose contains them too.
func isIDPunctuation(r rune) bool {
	switch r {
	case '*', '/', '_', '@', '=', '\\', '|':
		return true
	}
	return false
}

func besideASCII(text []rune, i, from, to int) bool {
	near := func(r rune) bool { return isASCIIAlnum(r) || isIDPunctuation(r) }
	return i > from && near(text[i-1]) || i+1 < to && near(text[i+1])
}

// letterPairs lists letters, each followed by the ASCII letter or digit that it resembles.
const letterPairs = "" +
	// Cyrillic
	"аaеeоoрpсcуyхxіiјjѕsԁdԛqԝwһhӏlкkмmтtнhвbгrпnьbзz" +
	"АAВBЕEКKМMНHОOРPСCТTХXУYІIЈJЅSԚQԜWҮYЗ3б6ӀI" +
	// Greek
	"οoαaνvιiρpυuκkχxγyωwτtηnεeσo" +
	"ΑAΒBΕEΖZΗHΙIΚKΜMΝNΟOΡPΤTΥYΧX" +
	// Armenian
	"օoոnսuհhցgզqՍUՏSՕOԼL" +
	// non-ASCII Latin letters and Roman numerals
	"ɡgɑaⅰiⅴvⅹxⅼlⅽcⅾdⅿmⅠIⅤVⅩXⅬLⅭCⅮDⅯM" +
	// letterlike symbols
	"ℊgℎhℓlℯeℴoℹiℂCℋHℍHℐIℒLℕNℙPℚQℛRℝRℤZℬBℰEℱFℳM\u212aK\u212bA"

// punctuationPairs lists punctuation characters, each followed by the ASCII character that it resembles. The em dash
// is missing, because it is used between words in prose.
const punctuationPairs = "⁄/∕/⧸/／/꞉:∶:：:․.．.∗*⁎*＊*‐-‑-‒-–-−-﹣-－-＿_？?［[］]＠@，,‚,"

var (
	letterTable      = pairTable(letterPairs)
	punctuationTable = pairTable(punctuationPairs)
)

func pairTable(s string) map[rune]rune {
	text := []rune(s)
	table := make(map[rune]rune, len(text)/2)
	for i := 0; i+1 < len(text); i += 2 {
		table[text[i]] = text[i+1]
	}
	return table
}

// letterLike returns the ASCII letter or digit that r resembles, or 0.
func letterLike(r rune) rune {
	switch {
	case r < 0x80:
		return 0
	case r >= 0x1d400 && r < 0x1d6a4: // mathematical alphabets: A-Za-z, repeated
		n := (r - 0x1d400) % 52
		if n < 26 {
			return 'A' + n
		}
		return 'a' + n - 26
	case r >= 0x1d7ce && r <= 0x1d7ff: // mathematical digits
		return '0' + (r-0x1d7ce)%10
	case r >= 0xff10 && r <= 0xff5a: // full-width forms mirror ASCII
		if a := r - 0xff10 + '0'; isASCIIAlnum(a) {
			return a
		}
	}
	return letterTable[r]
}

// isMathAlphabet reports whether r is a mathematical letter or digit, which ids never contain.
func isMathAlphabet(r rune) bool { return r >= 0x1d400 && r <= 0x1d7ff }
