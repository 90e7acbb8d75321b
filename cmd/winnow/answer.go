package main

import (
	"encoding/json"
	"io"
	"slices"
	"strings"

	"winnow/assistant/safetext"
	"winnow/tui/markdown"
)

// answerWriter takes the text of an answer as it comes.
type answerWriter interface {
	write(text string) error
	part() error  // what follows is another part of the answer
	close() error // the answer is whole
}

// answerWriter is for people a renderer, for programs the text itself. It
// writes to to, which leads to standard output.
func (a *app) answerWriter(to io.Writer) answerWriter {
	if a.flags.json {
		return &rawAnswer{to: io.Discard}
	}
	if !isTerminal(a.stdout) || a.flags.plain {
		return &rawAnswer{to: to}
	}
	return &drawnAnswer{to: to, signs: a.signs, doc: markdown.New(markdown.NewStyle(a.look().Markdown)), width: min(a.width(), maxAnswerWidth)}
}

// maxAnswerWidth is how wide text is still read with ease.
const maxAnswerWidth = 100

// rawAnswer writes the text as it is. It was sanitised where it came in; what
// is written here passes once more, as whatever reaches a terminal does.
type rawAnswer struct {
	to      io.Writer
	cleaner safetext.Cleaner
	begun   bool
	apart   bool   // another part begins: its leading line ends do not count
	breaks  string // line ends that wait for text: an answer ends in one
}

func (r *rawAnswer) write(text string) error { return r.emit(r.cleaner.Write(text)) }

func (r *rawAnswer) emit(text string) error {
	if !r.begun || r.apart {
		text = strings.TrimLeft(text, "\n")
	}
	body := strings.TrimRight(text, "\n")
	if body == "" {
		r.breaks += text
		return nil
	}
	whole := r.breaks + body
	if !r.begun {
		whole = body
	}
	r.begun, r.apart, r.breaks = true, false, text[len(body):]
	_, err := io.WriteString(r.to, whole)
	return err
}

// part leaves a blank line before what is next.
func (r *rawAnswer) part() error {
	r.apart, r.breaks = true, "\n\n"
	return nil
}

func (r *rawAnswer) close() error {
	if err := r.emit(r.cleaner.Flush()); err != nil || !r.begun {
		return err
	}
	_, err := io.WriteString(r.to, "\n")
	return err
}

// drawnAnswer renders Markdown, a block as soon as it is whole.
type drawnAnswer struct {
	to    io.Writer
	signs func(string) string // as the terminal shows them
	doc   *markdown.Doc
	width int
	drawn int // blocks that are on the terminal
}

func (d *drawnAnswer) write(text string) error {
	d.doc.Append(text)
	return d.draw(d.doc.Blocks() - 1) // the last one may still grow
}

func (d *drawnAnswer) part() error {
	d.doc.Append("\n\n")
	return nil
}

func (d *drawnAnswer) close() error {
	d.doc.Finish()
	return d.draw(d.doc.Blocks())
}

func (d *drawnAnswer) draw(blocks int) error {
	for ; d.drawn < blocks; d.drawn++ {
		for _, line := range d.doc.BlockLines(d.drawn, d.width) {
			if _, err := io.WriteString(d.to, d.signs(line)+"\n"); err != nil {
				return err
			}
		}
	}
	return nil
}

// argumentLine is the arguments of a call in a few words, with nothing hidden.
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
	return safetext.Line(strings.Join(words, " "), maxShown)
}
