package plain

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"winnow/assistant/safetext"
)

// sentenceWriter passes on text that streams in: the answer, or the thinking before it. It is
// passed on in whole sentences and lines, so that a screen reader has something
// to read, and wrapped at words. What comes out does not depend on the pieces
// in which it came in.
type sentenceWriter struct {
	out   *printer
	label string
	width int // 0 does not wrap

	clean  safetext.Cleaner
	held   string // sanitised, not yet a sentence
	begun  bool   // the label is there
	column int    // cells written on this line
	breaks int    // line ends that wait for text after them
	blanks string // blanks that wait for the word after them
	start  string // how the line of the text began, blanks included
	fence  bool   // inside a block of code
	torn   bool   // the last word goes on

	written strings.Builder // what is about to be written
}

const (
	// maxHeld is how many bytes wait for the end of their sentence: some lines,
	// half a minute of reading aloud.
	maxHeld = 400
	// maxWord is how many bytes of one word, or of one line of code, wait for
	// its end. No window is as wide.
	maxWord = 4096
	// maxBlanks is how many blanks in a row are written: the deepest indent.
	maxBlanks = 80
	// maxStart is how much of a line tells whether it is code or a table.
	maxStart = 8
)

// write takes the next piece.
func (s *sentenceWriter) write(piece string) {
	piece = s.clean.Write(piece)
	s.held += piece
	if len(s.held) <= maxWord && !strings.ContainsAny(piece, partings) {
		return // it ends no sentence, word or line: a look would cost more with each piece
	}
	if n := s.ready(); n > 0 {
		s.pass(s.held[:n])
		s.held = s.held[n:]
	}
}

// end passes the rest on and ends the line. The next text has a label again.
func (s *sentenceWriter) end() {
	s.pass(s.held + s.clean.Flush())
	if s.begun {
		s.out.fresh()
	}
	*s = sentenceWriter{out: s.out, label: s.label, width: s.width}
}

// ready is how many of the held bytes are whole sentences or lines; of what
// gets too long, whole words.
func (s *sentenceWriter) ready() int {
	n := strings.LastIndexByte(s.held, '\n') + 1
	rest := s.held[n:]
	switch {
	case s.code(rest):
	case strings.ContainsAny(rest, sentenceEnds):
		n += wholeSentences(rest)
		if len(s.held)-n <= maxHeld {
			return n
		}
		fallthrough
	case len(rest) > maxHeld:
		n += strings.LastIndexByte(s.held[n:], ' ') + 1
	}
	if len(s.held)-n > maxWord {
		return len(s.held)
	}
	return n
}

// code says whether a line that goes on with rest is code, which is passed on
// by whole lines.
func (s *sentenceWriter) code(rest string) bool {
	return s.fence || fenced(s.start+rest[:min(len(rest), maxStart)])
}

func fenced(line string) bool {
	line = strings.TrimLeft(line, " ")
	return strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~")
}

const (
	// wideEnds end a sentence by themselves; no blank follows them.
	wideEnds     = "。！？"
	sentenceEnds = ".!?…:;" + wideEnds
	// partings are what every sentence, word and line ends with.
	partings = " \t\n" + wideEnds
	// closers may stand between the end of a sentence and its blank.
	closers = "\"')]*_`”’»"
)

// wholeSentences is how much of text, up to its last blank, is whole sentences.
func wholeSentences(text string) int {
	whole, ended := 0, false
	for i, r := range text {
		switch {
		case r == ' ' || r == '\t':
			if ended {
				whole = i + 1
			}
			ended = false
		case strings.ContainsRune(wideEnds, r):
			whole, ended = i+utf8.RuneLen(r), true
		case strings.ContainsRune(sentenceEnds, r):
			ended = true
		case !strings.ContainsRune(closers, r):
			ended = false
		}
	}
	return whole
}

// pass writes text word by word. Blanks and line ends wait for the word behind
// them, so that no line ends in blanks and no text in empty lines.
func (s *sentenceWriter) pass(text string) {
	text = strings.ReplaceAll(s.out.redact(text), "\t", "    ")
	for text != "" {
		n := 1
		switch text[0] {
		case '\n':
			s.newLine()
		case ' ':
			if len(s.blanks) < maxBlanks {
				s.blanks += " "
			}
			s.torn = false
		default:
			n = wordEnd(text)
			s.word(text[:n])
			s.torn = n == len(text) && !endsWide(text)
		}
		text = text[n:]
	}
	s.out.raw(s.written.String()) // at once: a screen reader reads what comes together
	s.written.Reset()
}

// wordEnd is where the first word of text ends: at white space, or behind a
// sign after which a line may be broken without any.
func wordEnd(text string) int {
	for i, r := range text {
		switch {
		case r == ' ' || r == '\n':
			return i
		case strings.ContainsRune(wideEnds, r):
			return i + utf8.RuneLen(r)
		}
	}
	return len(text)
}

func endsWide(text string) bool {
	r, _ := utf8.DecodeLastRuneInString(text)
	return strings.ContainsRune(wideEnds, r)
}

func (s *sentenceWriter) newLine() {
	if fenced(s.start) {
		s.fence = !s.fence
	}
	s.start, s.blanks, s.torn = "", "", false
	if s.begun {
		s.breaks++
	}
}

// word writes a word with what waited for it.
func (s *sentenceWriter) word(w string) {
	if !s.begun {
		s.out.begin(s.label)
		s.begun, s.column, s.blanks = true, ansi.StringWidth(s.label)+len(": "), ""
	}
	if s.breaks > 0 {
		s.written.WriteString(strings.Repeat("\n", min(s.breaks, s.mostBreaks())))
		s.breaks, s.column = 0, 0
	}
	if len(s.start) < maxStart {
		s.start += (s.blanks + w)[:min(len(s.blanks+w), maxStart)]
	}
	cells := ansi.StringWidth(w)
	if !s.torn && s.wraps() && s.column > 0 && s.column+len(s.blanks)+cells > s.width {
		s.written.WriteByte('\n')
		s.blanks, s.column = "", 0
	}
	s.written.WriteString(s.blanks + w)
	s.column += len(s.blanks) + cells
	s.blanks = ""
}

// mostBreaks is two: one empty line parts paragraphs, more say nothing to a
// listener. In code every one counts.
func (s *sentenceWriter) mostBreaks() int {
	if s.fence {
		return s.breaks
	}
	return 2
}

// wraps says whether the line may be broken: not code, not a row of a table.
func (s *sentenceWriter) wraps() bool {
	switch {
	case s.width <= 0, s.fence, fenced(s.start):
		return false
	case strings.HasPrefix(s.start, "    "), strings.HasPrefix(s.start, "|"):
		return false
	}
	return true
}
