package main

import (
	"encoding/json"
	"io"
	"slices"
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
// elsewhere. to leads to standard output.
func (a *app) answerWriter(to io.Writer) answerWriter {
	if a.flags.json {
		return &rawAnswer{to: io.Discard}
	}
	if !isTerminal(a.stdout) || a.flags.plain {
		return &rawAnswer{to: to}
	}
	return &renderedAnswer{to: to, signs: a.signs, style: markdown.NewStyle(a.styles().Markdown), width: min(a.width(), maxAnswerWidth)}
}

// maxAnswerWidth is how wide text is still read with ease.
const maxAnswerWidth = 100

// rawAnswer writes the text as it is. The text was sanitised when it was
// received and is sanitised again here, as everything that may reach a terminal.
type rawAnswer struct {
	to      io.Writer
	cleaner safetext.Cleaner
	begun   bool
	breaks  string // line ends that wait for text: an answer ends in one
	pending bool   // a blank line belongs before the next text
}

func (r *rawAnswer) write(text string) error { return r.emit(r.cleaner.Write(text)) }

func (r *rawAnswer) emit(text string) error {
	if !r.begun || r.pending {
		text = strings.TrimLeft(text, "\n")
	}
	body := strings.TrimRight(text, "\n")
	if body == "" {
		r.breaks += text
		return nil
	}
	whole := r.breaks + body
	switch {
	case r.pending:
		whole = "\n" + body
	case !r.begun:
		whole = body
	}
	r.begun, r.pending, r.breaks = true, false, text[len(body):]
	_, err := io.WriteString(r.to, whole)
	return err
}

// part ends the line, so that what others write stands below it.
func (r *rawAnswer) part() error {
	if !r.begun || r.pending {
		return nil
	}
	r.pending, r.breaks = true, ""
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

// argumentLine shows the arguments of a call in one line, hidden characters visible.
func argumentLine(input json.RawMessage) string {
	var args map[string]any
	if json.Unmarshal(input, &args) != nil {
		return ""
	}
	names := make([]string, 0, len(args))
	for name := range args {
		names = append(names, name)
	}
	slices.Sort(names)
	var words []string
	for _, name := range names {
		if text, ok := args[name].(string); ok {
			words = append(words, safetext.Visible(text))
			continue
		}
		if text, err := json.Marshal(args[name]); err == nil {
			words = append(words, name+"="+safetext.Visible(string(text)))
		}
	}
	return safetext.Line(strings.Join(words, " "), maxName)
}
