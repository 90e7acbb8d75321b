package plain

import (
	"io"
	"math"
	"strings"

	"winnow/assistant/safetext"
	"winnow/tui/markdown"
	"winnow/tui/style"
)

// Answer prints one part of an answer as it arrives. A part is the text between two tool
// calls.
type Answer interface {
	Write(text safetext.Text) error
	Close() error // completes the part
}

// NewRaw returns an Answer that prints the source text, for output that is not a terminal.
func NewRaw(out io.Writer) Answer { return &rawPart{out: out} }

// NewRendered returns an Answer that renders Markdown for a terminal. displayable replaces
// characters that the terminal cannot show.
func NewRendered(out io.Writer, st style.Markdown, width int, displayable func(string) string) Answer {
	return &renderedPart{out: out, displayable: displayable, doc: markdown.New(markdown.NewStyle(st)), width: width}
}

// rawPart writes the source text, followed by one line end.
type rawPart struct {
	out    io.Writer
	breaks string // line ends that are written only if more text follows
}

// Write implements Answer.
func (r *rawPart) Write(text safetext.Text) error {
	all := r.breaks + string(text)
	body := strings.TrimRight(all, "\n")
	r.breaks = all[len(body):]
	_, err := io.WriteString(r.out, body)
	return err
}

// Close implements Answer.
func (r *rawPart) Close() error {
	_, err := io.WriteString(r.out, "\n")
	return err
}

// renderedPart renders Markdown, each block as soon as it is complete.
type renderedPart struct {
	out         io.Writer
	displayable func(string) string // replaces characters that the terminal cannot show
	doc         *markdown.Doc
	width       int
	lines       int // number of lines of doc that have been printed
}

// Write implements Answer.
func (d *renderedPart) Write(text safetext.Text) error {
	d.doc.Append(string(text))
	return d.print(d.doc.Closed(d.width), false)
}

// Close implements Answer.
func (d *renderedPart) Close() error {
	d.doc.Finish()
	return d.print(d.doc.Lines(d.width), true)
}

// print writes the lines that are not printed yet: first the lines in lines, then the lines
// of the unfinished rest of the document. Unless whole is true, the last line of the rest
// is left for later, because it may still change.
func (d *renderedPart) print(lines []string, whole bool) error {
	rest, all := d.doc.Rest(), len(lines)
	if rest != nil {
		rest.LayOut(d.width, math.MaxInt)
		all += 1 + rest.Len()
		if !whole {
			all--
		}
	}
	for ; d.lines < all; d.lines++ {
		line := ""
		if at := d.lines - len(lines); at < 0 {
			line = lines[d.lines]
		} else if at > 0 {
			line, _ = rest.Line(at - 1)
		}
		if _, err := io.WriteString(d.out, d.displayable(line)+"\n"); err != nil {
			return err
		}
	}
	return nil
}
