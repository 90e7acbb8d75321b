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
	if isASCII(frame) {
		return frame
	}
	var b strings.Builder
	b.Grow(len(frame))
	for frame != "" {
		at := strings.Index(frame, "\x1b]")
		if at < 0 {
			at = len(frame)
		}
		replace(&b, frame[:at])
		frame = frame[at:]
		end := command(frame)
		b.WriteString(frame[:end])
		frame = frame[end:]
	}
	return b.String()
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

func replace(b *strings.Builder, text string) {
	for i, r := range text {
		switch sign, known := equivalents[r]; {
		case r < 0x80:
			b.WriteByte(text[i])
		case known:
			b.WriteByte(sign)
		case r == '\ufffd':
			b.WriteByte('?') // a byte that is no character, or the sign for it
		default:
			b.WriteRune(r)
		}
	}
}

// command is the length of the operating system command that s begins with:
// to its BEL or ST, or to the end.
func command(s string) int {
	if s == "" {
		return 0
	}
	const intro = len("\x1b]")
	end := len(s)
	if i := strings.IndexByte(s[intro:], '\a'); i >= 0 {
		end = intro + i + 1
	}
	if i := strings.Index(s[intro:], "\x1b\\"); i >= 0 {
		end = min(end, intro+i+2)
	}
	return end
}
