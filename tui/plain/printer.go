package plain

import (
	"io"
	"strings"

	"winnow/assistant/safetext"
)

// The only sequences that are ever written, and only with Options.Color.
const (
	boldOn = "\x1b[1m"
	redOn  = "\x1b[1;31m"
	off    = "\x1b[0m"
)

// printer adds lines. Everything it writes passes through it sanitised.
type printer struct {
	w      io.Writer
	err    error // of the first write that failed: nobody reads on
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

// fresh ends a line that has begun.
func (p *printer) fresh() {
	if p.open {
		p.raw("\n")
	}
}

// line adds text as lines of its own.
func (p *printer) line(text string) {
	p.fresh()
	p.raw(strings.TrimRight(p.safe(text), "\n") + "\n")
}

// labelled adds a line that begins with a word that says what it is.
func (p *printer) labelled(label, text string) {
	p.begin(label)
	p.raw(strings.TrimRight(p.safe(text), "\n") + "\n")
}

// begin begins a line with its label and leaves it open.
func (p *printer) begin(label string) {
	p.fresh()
	p.raw(p.painted(boldOn, label+":") + " ")
}

// more adds to the line that is open.
func (p *printer) more(text string) { p.raw(p.safe(text)) }

// painted makes a label stand out.
func (p *printer) painted(style, label string) string {
	label = safetext.Line(label, maxLabel)
	if !p.color {
		return label
	}
	return style + label + off
}

// maxLabel bounds what stands before the first colon of a line, in cells.
const maxLabel = 120
