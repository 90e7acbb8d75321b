package style

import "strings"

// equivalents are the ASCII signs that stand for those which winnow's own words
// use, each one cell wide. They agree with the ASCII set of Icons.
var equivalents = map[rune]byte{
	'·': '-', '•': '*', '…': '~', '–': '-', '—': '-', '−': '-', '×': 'x', '\u00a0': ' ',
	'“': '"', '”': '"', '„': '"', '«': '"', '»': '"', '‘': '\'', '’': '\'', '‹': '<', '›': '>',
	'↑': '^', '↓': 'v', '←': '<', '→': '>', '▸': '>', '▾': 'v', '❯': '>', '⟲': '<',
	'✓': '+', '✗': 'x', '●': '*', '○': 'o', '◇': '@', '◆': '*', '★': '*', '☆': '-',
	'─': '-', '━': '-', '│': '|', '┃': '|', '▌': '|', '█': '#', '░': '.',
	'┌': '+', '┐': '+', '└': '+', '┘': '+', '├': '+', '┤': '+', '┬': '+', '┴': '+', '┼': '+',
	'╭': '+', '╮': '+', '╰': '+', '╯': '+',
}

// ASCII replaces the signs of winnow's own words in a frame by ASCII ones of
// the same width, for a terminal without Unicode. Letters, and whatever else
// it does not know, stay: they are other people's text, and better half
// readable than gone. The addresses of links are not touched.
func ASCII(frame string) string {
	command, before := false, rune(0) // an operating system command, as links are, ends with BEL or ESC \
	return strings.Map(func(r rune) rune {
		escaped := before == '\x1b'
		before = r
		switch sign, known := equivalents[r]; {
		case escaped && r == ']':
			command = true
		case command && (r == '\a' || escaped && r == '\\'):
			command = false
		case command:
		case known:
			return rune(sign)
		case r == '\ufffd': // a byte that is no character, or the sign for it
			return '?'
		}
		return r
	}, frame)
}
