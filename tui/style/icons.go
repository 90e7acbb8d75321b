package style

import "strings"

// Icons holds the symbols that go with the colours, so that every state can be recognised
// without colour. Each symbol is one cell wide in both sets; the ASCII set is for terminals
// without Unicode.
type Icons struct {
	ToolOK, ToolBad string
	Running         []string // frames of the spinner, in order
	Folded, Open    string   // a closed fold; an open fold
	Menu            string   // after a name that opens a list
	Unsaved, Saved  string
	Lock            string // the assistant is working and the window is locked
	Model           string
	Checkpoint      string
	Error           string
	Warn            string
	New             string // something is below the screen; a model is new
	Above           string // something is above the screen
	Selected        string // before the selected entry of a list
	Marked          string // before an entry chosen together with others
	Ellipsis        string
	Star            string
	Flag            string
	Ignore, Allow   string
	Pending         string // a rule that is not saved
	Shadowed, Dead  string // a rule that never decides anything; a rule that matches nothing
	RuleBar         string
	RuleIcons       []string // one per rule colour, all different
	Available       string   // a model that the rules leave shown
	Hidden          string   // a model that the rules hide
	BarFull         string   // available share, in the bar of the pane
	BarEmpty        string   // hidden share
	Add, Remove     string   // lines of a diff
	Bullet          string
	Quote           string
	Line            string // repeated: a horizontal line
	Ticked, Blank   string // task list items
	Column          string // between the columns of a table
	Wrapped         string // before the continuation of a wrapped line of code
	Cross           string // where Column meets Line
}

func icons(unicode bool) Icons {
	if unicode {
		return catalogue().Unicode
	}
	return catalogue().ASCII
}

// equivalents maps the symbols in winnow's own texts to ASCII, each one cell wide. It
// matches the ASCII set of Icons.
var equivalents = map[rune]byte{
	'·': '-', '•': '*', '…': '~', '–': '-', '—': '-', '−': '-', '×': 'x', '\u00a0': ' ',
	'“': '"', '”': '"', '„': '"', '«': '<', '»': '>', '‘': '\'', '’': '\'', '‹': '<', '›': '>',
	'↑': '^', '↓': 'v', '←': '<', '→': '>', '▸': '>', '▾': 'v', '❯': '>',
	'✓': '+', '✗': 'x', '●': '*', '○': 'o', '◊': '@', '★': '*', '☆': '-',
	'─': '-', '━': '-', '│': '|', '┃': '|', '▌': '|', '█': '#', '░': '.',
	'┌': '+', '┐': '+', '└': '+', '┘': '+', '├': '+', '┤': '+', '┬': '+', '┴': '+', '┼': '+',
	'╭': '+', '╮': '+', '╰': '+', '╯': '+',
}

// ASCII replaces the symbols of winnow's own texts in a frame with ASCII symbols of the
// same width, for a terminal without Unicode. Letters and unknown characters stay, because
// they are part of messages and names, and a partly readable text is better than a missing
// one. The addresses of links do not change.
func ASCII(frame string) string {
	inOSC, previous := false, rune(0) // an operating system command, such as a link, ends with BEL or ESC \
	return strings.Map(func(r rune) rune {
		escaped := previous == '\x1b'
		previous = r
		switch ascii, known := equivalents[r]; {
		case escaped && r == ']':
			inOSC = true
		case inOSC && (r == '\a' || escaped && r == '\\'):
			inOSC = false
		case inOSC:
		case known:
			return rune(ascii)
		case r == '\ufffd': // an invalid byte, or the replacement character
			return '?'
		}
		return r
	}, frame)
}
