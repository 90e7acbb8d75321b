package plain

import (
	"context"
	"io"
	"slices"
	"strings"
)

// ask asks a question and returns which of words the user answered; "" means no. The answer
// is no if there is no interactive user, or when ctx ends. Any other text counts as no, and
// is not lost: a command, or any text during a turn, is handled later, and other text becomes
// the message that /retry sends.
func (c *console) ask(ctx context.Context, prompt string, words ...string) string {
	if !c.opts.Interactive || c.inputEnded {
		c.out.Line("Questions cannot be answered from this input, so the answer is no.")
		return ""
	}
	text, err := c.reply(ctx, prompt, false, true)
	if err != nil {
		return ""
	}
	word := strings.ToLower(strings.TrimSpace(text))
	switch {
	case slices.Contains(words, word):
		return word
	case word == "y":
		c.out.Line("y is not enough: only the whole word yes confirms.")
	case isNo(word):
	case c.inTurn || strings.HasPrefix(word, "/"):
		c.ahead = append(c.ahead, Line{Text: text})
	default:
		c.unsent = unsent{text: text}
		c.out.Line("That was not an answer. /retry sends it as a message.")
	}
	return ""
}

// yes asks whether to do something, and reports whether the user confirmed it with the word
// yes.
func (c *console) yes(ctx context.Context, prompt string) bool {
	return c.ask(ctx, prompt, "yes") != ""
}

// reply shows a question until a line answers it. A line that was typed before the question
// could be read is not an answer. If later is true, such a line is handled afterwards, unless
// it looks like an answer. The error is io.EOF at the end of the input, the error of a line
// that cannot be read, or the error of ctx.
func (c *console) reply(ctx context.Context, prompt string, hidden, later bool) (string, error) {
	if hidden && c.opts.Hide != nil {
		defer c.opts.Hide()()
	}
	for {
		c.out.End()
		shown := c.opts.Now() // set before writing, because the answer may arrive while the prompt is written
		c.out.Add(prompt)
		select {
		case <-ctx.Done():
			c.out.End()
			return "", ctx.Err()
		case l, ok := <-c.input:
			if !ok {
				c.inputEnded = true
				c.out.End()
				return "", io.EOF
			}
			if hidden && c.opts.Hide != nil {
				c.out.End() // the terminal has not echoed the line end either
			} else {
				c.out.Echoed()
			}
			if l.Err != nil || !l.Read.Before(shown.Add(ReadingTime)) {
				return l.Text, l.Err
			}
			if word := strings.ToLower(strings.TrimSpace(l.Text)); later && word != "yes" && !isNo(word) {
				c.ahead = append(c.ahead, l)
			} else {
				c.out.Line("That was typed before the question could be read, so it does not count as an answer.")
			}
		}
	}
}

// isNo reports whether a word means no, whatever the question. The letter y means no too,
// because only the whole word yes confirms.
func isNo(word string) bool {
	return slices.Contains([]string{"", "n", "no", "y", "stay", "keep"}, word)
}
