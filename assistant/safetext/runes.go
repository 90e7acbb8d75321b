package safetext

import "unicode"

// Runes with special rules.
const (
	zwnj = '\u200c' // zero width non-joiner
	zwj  = '\u200d' // zero width joiner
	vs15 = '\ufe0e' // text presentation of the preceding character
	vs16 = '\ufe0f' // emoji presentation of the preceding character
)

// maxMarks is the number of combining marks allowed on one base character. Unicode's Stream-Safe Text Format allows
// 30, more than any language needs. A longer run would overlap other lines, or put megabytes into one cell.
const maxMarks = 30

// visibleFormat contains the format characters (Cf) that have a glyph: number and verse signs written around digits.
var visibleFormat = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x0600, Hi: 0x0605, Stride: 1},
		{Lo: 0x06dd, Hi: 0x070f, Stride: 0x070f - 0x06dd},
		{Lo: 0x0890, Hi: 0x0891, Stride: 1},
		{Lo: 0x08e2, Hi: 0x08e2, Stride: 1},
	},
	R32: []unicode.Range32{{Lo: 0x110bd, Hi: 0x110cd, Stride: 0x10}},
}

// pictographs approximates Extended_Pictographic, the characters that emoji sequences consist of. A superfluous
// character may leave an invisible joiner in the text; a missing one would split an emoji.
var pictographs = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x00a9, Hi: 0x00ae, Stride: 5},
		{Lo: 0x203c, Hi: 0x2049, Stride: 0x2049 - 0x203c},
		{Lo: 0x2122, Hi: 0x2139, Stride: 0x2139 - 0x2122},
		{Lo: 0x2190, Hi: 0x21ff, Stride: 1},
		{Lo: 0x2300, Hi: 0x23ff, Stride: 1},
		{Lo: 0x24c2, Hi: 0x24c2, Stride: 1},
		{Lo: 0x25a0, Hi: 0x27bf, Stride: 1},
		{Lo: 0x2934, Hi: 0x2935, Stride: 1},
		{Lo: 0x2b00, Hi: 0x2bff, Stride: 1},
		{Lo: 0x3030, Hi: 0x303d, Stride: 0x303d - 0x3030},
		{Lo: 0x3297, Hi: 0x3299, Stride: 2},
	},
	R32:         []unicode.Range32{{Lo: 0x1f000, Hi: 0x1faff, Stride: 1}},
	LatinOffset: 1,
}

// joinerScripts are the scripts in which ZWJ and ZWNJ affect how a word is written and read.
var joinerScripts = []*unicode.RangeTable{
	unicode.Arabic, unicode.Syriac, unicode.Mandaic, unicode.Nko, unicode.Mongolian, unicode.Phags_Pa,
	unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya, unicode.Tamil,
	unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Khmer, unicode.Myanmar,
	unicode.Thaana, unicode.Tibetan, unicode.Balinese, unicode.Javanese, unicode.Lao, unicode.Thai,
}

// viramas remove the vowel of a consonant. A joiner directly after a virama selects the form of that consonant, also at
// the end of a word.
var viramas = &unicode.RangeTable{R16: []unicode.Range16{
	{Lo: 0x094d, Hi: 0x0d4d, Stride: 0x80}, // Devanagari to Malayalam
	{Lo: 0x0dca, Hi: 0x0dca, Stride: 1},
	{Lo: 0x1039, Hi: 0x103a, Stride: 1},
	{Lo: 0x17d2, Hi: 0x17d2, Stride: 1},
	{Lo: 0x1b44, Hi: 0x1b44, Stride: 1},
}}

// isDropped reports whether r is never part of clean text. Joiners, for which it returns true, and variation selectors,
// for which it returns false, depend on their neighbours; a Cleaner decides about both before it calls isDropped.
func isDropped(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r < 0x20 || r >= 0x7f && r < 0xa0:
		return true
	case r < 0xad:
		return false
	case r&0xfffe == 0xfffe || r >= 0xfdd0 && r <= 0xfdef:
		return true // noncharacters
	case unicode.Is(unicode.Cf, r):
		return !unicode.Is(visibleFormat, r)
	}
	return unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r)
}

// isLineBreak reports whether r, which is neither LF nor CR, ends a line of text. Dropping it would join the words
// before and after it.
func isLineBreak(r rune) bool { return r == '\u0085' || r == '\u2028' || r == '\u2029' }

// isSelector reports whether r is a variation selector from any of the three blocks.
func isSelector(r rune) bool { return unicode.Is(unicode.Variation_Selector, r) }

// isSelectable reports whether the variation selector v is meaningful after base.
func isSelectable(base, v rune) bool {
	if v == vs15 || v == vs16 {
		return unicode.Is(pictographs, base) || base >= '0' && base <= '9' || base == '#' || base == '*'
	}
	return v >= 0x180b && v <= 0x180f && unicode.Is(unicode.Mongolian, base)
}

func isMark(r rune) bool { return r >= 0x300 && unicode.In(r, unicode.Mn, unicode.Me) }

func usesJoiners(r rune) bool { return r >= 0x600 && unicode.In(r, joinerScripts...) }

func isPictograph(r rune) bool { return unicode.Is(pictographs, r) }

func isVirama(r rune) bool { return r >= 0x900 && unicode.Is(viramas, r) }
