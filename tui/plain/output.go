package plain

import (
	"io"
	"regexp"
	"strings"

	"winnow/assistant/safetext"
)

// The only sequences that are ever written, and only with Options.Color.
const (
	boldOn = "\x1b[1m"
	redOn  = "\x1b[1;31m"
	off    = "\x1b[0m"
)

// printer adds lines. Everything it writes is sanitised and contains no API keys.
type printer struct {
	w      io.Writer
	err    error // of the first write that failed: nobody reads any more
	open   bool  // a line has begun and is not ended
	color  bool
	redact func(string) string
}

func (p *printer) raw(s string) {
	if p.err != nil || s == "" {
		return
	}
	_, p.err = io.WriteString(p.w, s)
	p.open = !strings.HasSuffix(s, "\n")
}

// safe is text as it may be written.
func (p *printer) safe(text string) string {
	return strings.ReplaceAll(safetext.Clean(p.redact(safetext.Clean(text))), "\t", "    ")
}

// endLine ends a line that has begun.
func (p *printer) endLine() {
	if p.open {
		p.raw("\n")
	}
}

// line adds text as lines of its own.
func (p *printer) line(text string) {
	p.endLine()
	p.raw(strings.TrimRight(p.safe(text), "\n") + "\n")
}

// labelled adds a line that begins with a word that says what it is.
func (p *printer) labelled(label, text string) { p.styled(boldOn, label, text) }

func (p *printer) styled(style, label, text string) {
	p.begin(style, label)
	p.raw(strings.TrimRight(p.safe(text), "\n") + "\n")
}

// begin begins a line with its label and leaves it open.
func (p *printer) begin(style, label string) {
	const most = 120 // cells
	p.endLine()
	label = safetext.Line(label, most) + ":"
	if p.color {
		label = style + label + off
	}
	p.raw(label + " ")
}

// add adds to the line that is open.
func (p *printer) add(text string) { p.raw(p.safe(text)) }

// indented adds lines that belong to the one before.
func (p *printer) indented(lines ...string) {
	for _, l := range lines {
		p.line(strings.TrimRight("  "+l, " "))
	}
}

// maxQuoted bounds how much of a message or a name is repeated, in cells.
const maxQuoted = 200

// oneLine is a text of the user on one line.
func oneLine(text string) string { return safetext.Line(text, maxQuoted) }

// visibleLine is a name from anywhere on one line, invisible characters spelled out.
func visibleLine(text string) string { return safetext.Line(visible(text), maxQuoted) }

// visible is safetext.Visible, which is not applied to its own marks again.
func visible(text string) string {
	bare := strings.NewReplacer("‹", "", "›", "").Replace(text)
	if safetext.Visible(bare) == bare {
		return text
	}
	return safetext.Visible(text)
}

// spaced is the name of a tool or a payload type as words.
func spaced(name string) string { return visibleLine(strings.ReplaceAll(name, "_", " ")) }

func upperFirst(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// sentenceWriter writes text that streams in, the answer or the reasoning before
// it, in whole sentences and lines, so that a screen reader has something to
// read. What it writes does not depend on the pieces in which the text came.
type sentenceWriter struct {
	out   *printer
	label string

	clean     safetext.Cleaner
	held      string // sanitised, not yet a sentence
	begun     bool   // the label is there
	heldSpace string // white space that waits for text after it
}

const (
	// maxHeld is how many bytes wait for the end of their sentence: some lines,
	// half a minute of reading aloud.
	maxHeld = 400
	// maxWord is how many bytes of one word wait for its end.
	maxWord = 4096
)

// sentenceEnd matches a line end, or the end of a sentence with the blank after
// it; none follows full-width punctuation.
var sentenceEnd = regexp.MustCompile("\n|[.!?…:;][\"')\\]*_`”’»]*[ \t]|[。！？]")

// write adds the next piece.
func (s *sentenceWriter) write(piece string) {
	piece = s.clean.Write(piece)
	s.held += piece
	if len(s.held) <= maxWord && !strings.ContainsAny(piece, " \t\n。！？") {
		return // it ends no sentence, word or line: a look would cost more with each piece
	}
	n := 0
	if ends := sentenceEnd.FindAllStringIndex(s.held, -1); ends != nil {
		n = ends[len(ends)-1][1]
	}
	if len(s.held)-n > maxHeld { // whole words of what gets too long
		n += strings.LastIndexByte(s.held[n:], ' ') + 1
	}
	if len(s.held)-n > maxWord {
		n = len(s.held)
	}
	s.print(s.held[:n])
	s.held = s.held[n:]
}

// end writes the rest and ends the line. The next text has a label again.
func (s *sentenceWriter) end() {
	s.print(s.held + s.clean.Flush())
	if s.begun {
		s.out.endLine()
	}
	*s = sentenceWriter{out: s.out, label: s.label}
}

// print writes text, at once: a screen reader reads what comes together. White
// space is held until text follows, so that no text ends in blanks or empty lines.
func (s *sentenceWriter) print(text string) {
	text = strings.ReplaceAll(s.out.redact(s.heldSpace+text), "\t", "    ")
	if !s.begun {
		text = strings.TrimLeft(text, " \n")
	}
	body := strings.TrimRight(text, " \n")
	s.heldSpace = text[len(body):]
	if body == "" {
		return
	}
	if !s.begun {
		s.out.begin(boldOn, s.label)
		s.begun = true
	}
	s.out.raw(body)
}
