package safetext

// letterPairs lists letters and, after each, the ASCII letter or digit that
// readers take it for.
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
