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

// indented adds lines that belong to the one before.
func (c *console) indented(lines ...string) {
	for _, l := range lines {
		c.out.line(strings.TrimRight("  "+l, " "))
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

// spaced is the name of a tool as words.
func spaced(name string) string { return visibleLine(strings.ReplaceAll(name, "_", " ")) }

// typeName is the name of a payload type as words.
func typeName(name string) string {
	if name == "" {
		return "Card"
	}
	return upperFirst(spaced(name))
}

func upperFirst(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:]
}
