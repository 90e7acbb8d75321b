package main

import (
	"io"
	"strings"

	"winnow/assistant/safetext"
	"winnow/tui/markdown"
)

// answerWriter prints the text of an answer as it comes.
type answerWriter interface {
	write(text string) error
	part() error  // prints what there is; what follows is another part of the answer
	close() error // the answer is whole
}

// answerWriter renders Markdown on a terminal and writes the text itself
// elsewhere, nothing beside the events of --json. to leads to standard output.
func (a *app) answerWriter(to io.Writer) answerWriter {
	switch {
	case a.flags.json:
		return &rawAnswer{to: io.Discard}
	case !isTerminal(a.stdout) || a.flags.plain:
		return &rawAnswer{to: to}
	}
	const readable = 100 // columns: wider text is hard to read
	return &renderedAnswer{to: to, signs: a.signs, style: markdown.NewStyle(a.styles().Markdown), width: min(a.width(), readable)}
}

// rawAnswer writes the text as it is, with one line end behind it and a blank
// line between its parts. The text is sanitised here, as everything that may
// reach a terminal.
type rawAnswer struct {
	to      io.Writer
	cleaner safetext.Cleaner
	begun   bool   // some text was written
	inPart  bool   // some text of this part was
	breaks  string // line ends that wait for the text behind them
}

func (r *rawAnswer) write(text string) error { return r.emit(r.cleaner.Write(text)) }

func (r *rawAnswer) emit(text string) error {
	if !r.inPart {
		text = strings.TrimLeft(text, "\n")
	}
	body := strings.TrimRight(text, "\n")
	if body == "" {
		r.breaks += text
		return nil
	}
	before := r.breaks
	if !r.inPart && r.begun {
		before = "\n"
	}
	r.begun, r.inPart, r.breaks = true, true, text[len(body):]
	_, err := io.WriteString(r.to, before+body)
	return err
}

func (r *rawAnswer) part() error {
	if !r.inPart {
		return nil
	}
	r.inPart, r.breaks = false, ""
	_, err := io.WriteString(r.to, "\n")
	return err
}

func (r *rawAnswer) close() error {
	if err := r.emit(r.cleaner.Flush()); err != nil {
		return err
	}
	return r.part()
}

// renderedAnswer renders Markdown, each block as soon as it is whole.
type renderedAnswer struct {
	to    io.Writer
	signs func(string) string // replaces what the terminal cannot show
	style *markdown.Style
	width int
	doc   *markdown.Doc // of this part; nil before its first text
	lines int           // of doc that are printed
	begun bool          // an earlier part was printed
}

func (d *renderedAnswer) write(text string) error {
	if d.doc == nil {
		if text = strings.TrimLeft(text, "\n"); text == "" {
			return nil
		}
		d.doc, d.lines = markdown.New(d.style), 0
		if d.begun {
			if _, err := io.WriteString(d.to, "\n"); err != nil {
				return err
			}
		}
	}
	d.doc.Append(text)
	return d.print(d.doc.Closed(d.width))
}

func (d *renderedAnswer) part() error {
	if d.doc == nil {
		return nil
	}
	d.doc.Finish()
	err := d.print(d.doc.Lines(d.width))
	d.doc, d.begun = nil, true
	return err
}

func (d *renderedAnswer) close() error { return d.part() }

// print writes those of lines that are not printed yet.
func (d *renderedAnswer) print(lines []string) error {
	for ; d.lines < len(lines); d.lines++ {
		if _, err := io.WriteString(d.to, d.signs(lines[d.lines])+"\n"); err != nil {
			return err
		}
	}
	return nil
}
