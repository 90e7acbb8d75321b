package plain

import (
	"io"
	"regexp"
	"strings"

	"winnow/assistant/safetext"
	"winnow/tui/style"
)

// These are the only escape sequences that a Writer writes.
const (
	boldOn = "\x1b[1m"
	redOn  = "\x1b[1;31m"
	off    = "\x1b[0m"
)

// Writer prints lines. Everything it writes is sanitised and redacted.
type Writer struct {
	w      io.Writer
	color  bool
	redact func(string) string
	err    error
	open   bool

	width  func() int // width of the terminal in cells, 0 if unknown; nil if the output is not a terminal
	column int        // the column at which the open line ends
	indent int        // indent of the open line
}

// NewWriter returns a Writer that writes to w. color highlights labels; redact removes API
// keys from the output.
func NewWriter(w io.Writer, color bool, redact func(string) string) *Writer {
	return &Writer{w: w, color: color, redact: redact}
}

// Err returns the error of the first failed write; after that, nothing is written.
func (w *Writer) Err() error { return w.err }

// Open reports whether a line has been started but not ended.
func (w *Writer) Open() bool { return w.open }

// Echoed records that the terminal has ended the open line, because it echoed the line end
// that the user typed.
func (w *Writer) Echoed() { w.open, w.column = false, 0 }

func (w *Writer) raw(s string) {
	if w.err != nil || s == "" {
		return
	}
	_, w.err = io.WriteString(w.w, w.wrap(s))
	w.open = !strings.HasSuffix(s, "\n")
}

// wrap wraps lines at blanks, because the terminal would break them within a word. The
// continuation of a line has the same indent as the line.
func (w *Writer) wrap(s string) string {
	width := 0
	if w.width != nil {
		width = w.width()
	}
	if width <= 0 {
		return s
	}
	var b strings.Builder
	for s != "" {
		rest := strings.TrimLeft(s, " ")
		blanks := len(s) - len(rest)
		word := rest
		if end := strings.IndexAny(rest, " \n"); end >= 0 {
			word = rest[:end]
		}
		s = rest[len(word):]
		if w.column == 0 {
			w.indent = min(blanks, width/2)
		}
		cells := style.Width(word)
		if blanks > 0 && w.column > w.indent && word != "" && w.column+blanks+cells > width {
			b.WriteByte('\n')
			w.column, blanks = 0, w.indent
		}
		b.WriteString(strings.Repeat(" ", blanks) + word)
		w.column += blanks + cells
		if strings.HasPrefix(s, "\n") {
			b.WriteByte('\n')
			s, w.column = s[1:], 0
		}
	}
	return b.String()
}

// safe returns the sanitised and redacted form of text.
func (w *Writer) safe(text string) string {
	return strings.ReplaceAll(string(safetext.Clean(w.redact(string(safetext.Clean(text))))), "\t", "    ")
}

// Add adds text to the open line, or starts a line with it.
func (w *Writer) Add(text string) { w.raw(w.safe(text)) }

// End ends the open line, if there is one.
func (w *Writer) End() {
	if w.open {
		w.raw("\n")
	}
}

// Line writes text as separate lines.
func (w *Writer) Line(text string) {
	w.End()
	w.finish(text)
}

// finish writes text and its line end in one write, because a screen reader reads aloud
// what arrives together.
func (w *Writer) finish(text string) { w.raw(strings.TrimRight(w.safe(text), "\n") + "\n") }

// Indent writes indented lines that belong to the previous line.
func (w *Writer) Indent(lines ...string) {
	for _, l := range lines {
		w.Line(strings.TrimRight("  "+l, " "))
	}
}

// Label writes a line that starts with a label, a word that says what the line is.
func (w *Writer) Label(label, text string) {
	w.Begin(label)
	w.finish(text)
}

// Error does the same as Label for an error, whose label is red if labels are highlighted.
func (w *Writer) Error(label, text string) {
	w.begin(redOn, label)
	w.finish(text)
}

// Begin starts a line with a label and leaves the line open.
func (w *Writer) Begin(label string) { w.begin(boldOn, label) }

func (w *Writer) begin(style, label string) {
	const maxLabel = 120 // cells
	w.End()
	label = string(safetext.Line(label, maxLabel) + ":")
	if w.color {
		label = style + label + off
	}
	w.raw(label + " ")
}

// maxQuoted is how much of a message or a name is quoted, in cells.
const maxQuoted = 200

// Quote returns a text, such as a message of the user, in one line, shortened if it is long.
func Quote[S ~string](text S) string { return string(safetext.Line(text, maxQuoted)) }

// Name returns a name from an untrusted source in one line, with invisible characters made
// visible.
func Name(text string) string { return Quote(safetext.VisibleOnce(text)) }

// Sentences writes streamed text, either an answer or reasoning, in whole sentences and
// lines, so that a screen reader has enough text to read aloud. The output does not depend
// on how the text was divided when it arrived.
type Sentences struct {
	out      *Writer
	label    string
	pending  string // text that is not a complete sentence yet
	labelled bool   // the label has been written
	space    string // white space that is written only if more text follows
}

const (
	// maxPending is how many bytes wait for the end of their sentence: a few lines of text, or
	// half a minute of reading aloud.
	maxPending = 400
	// maxWord is how many bytes wait for the end of their word.
	maxWord = 4096
)

// sentenceEnd matches a line end, or the end of a sentence with the blank after it;
// full-width punctuation needs no blank after it.
var sentenceEnd = regexp.MustCompile("\n|[.!?…:;][\"')\\]*_`”’»]*[ \t]|[。！？]")

// Sentences returns an Answer that writes text with a label.
func (w *Writer) Sentences(label string) *Sentences { return &Sentences{out: w, label: label} }

// Write implements Answer.
func (s *Sentences) Write(piece safetext.Text) error {
	s.pending += string(piece)
	if len(s.pending) <= maxWord && !strings.ContainsAny(string(piece), " \t\n。！？") {
		return nil // the piece ends no sentence, word or line; searching pending after each piece would take quadratic time
	}
	n := 0
	if ends := sentenceEnd.FindAllStringIndex(s.pending, -1); ends != nil {
		n = ends[len(ends)-1][1]
	}
	if len(s.pending)-n > maxPending { // the unfinished sentence is too long: write its whole words
		n += strings.LastIndexByte(s.pending[n:], ' ') + 1
	}
	if len(s.pending)-n > maxWord {
		n = len(s.pending)
	}
	s.print(s.pending[:n])
	s.pending = s.pending[n:]
	return s.out.Err()
}

// Close implements Answer. It writes the pending text and ends the line.
func (s *Sentences) Close() error {
	s.print(s.pending)
	if s.labelled {
		s.out.End()
	}
	return s.out.Err()
}

// print writes text, except for white space at its end, which it writes only when more text
// follows, so that the output does not end in blanks or empty lines.
func (s *Sentences) print(text string) {
	text = strings.ReplaceAll(s.out.redact(s.space+text), "\t", "    ")
	if !s.labelled {
		text = strings.TrimLeft(text, " \n")
	}
	body := strings.TrimRight(text, " \n")
	s.space = text[len(body):]
	if body == "" {
		return
	}
	if !s.labelled {
		s.out.Begin(s.label)
		s.labelled = true
	}
	s.out.raw(body)
}

// maxCell is the maximum width of a table cell. It is needed because text from files and
// servers can have any length.
const maxCell = 120

// Table aligns rows below titles. Columns whose title starts with ">" are right-aligned.
// If there are no rows, it returns placeholder as the only line, or no line if placeholder is
// "".
func Table(placeholder string, titles []string, rows [][]string) []string {
	switch {
	case len(rows) == 0 && placeholder == "":
		return nil
	case len(rows) == 0:
		return []string{placeholder}
	}
	head, widths := make([]string, len(titles)), make([]int, len(titles))
	for i, title := range titles {
		head[i] = strings.ToUpper(strings.TrimPrefix(title, ">"))
	}
	rows = append([][]string{head}, rows...)
	for _, row := range rows {
		for i := range row {
			row[i] = string(safetext.Line(row[i], maxCell))
			widths[i] = max(widths[i], style.Width(row[i]))
		}
	}
	text := make([]string, len(rows))
	for n, row := range rows {
		var b strings.Builder
		for i, cell := range row {
			pad := strings.Repeat(" ", widths[i]-style.Width(cell))
			if strings.HasPrefix(titles[i], ">") {
				cell, pad = pad+cell, ""
			}
			b.WriteString(cell + pad + "  ")
		}
		text[n] = strings.TrimRight(b.String(), " ")
	}
	return text
}
