package plain

import (
	"strings"
	"time"

	"winnow/assistant/workspace"
	"winnow/tui/lines"
)

// question waits for a line of the user.
type question struct {
	prompt  string
	shown   time.Time               // zero is not yet
	answers map[string]func() error // by word
	no      func()
}

// ask opens a question that is answered by one of some words. Where nobody types,
// the answer is no.
func (c *console) ask(prompt string, answers map[string]func() error, no func()) {
	if !c.opts.Interactive || c.inputEnded {
		c.out.Line("Nobody is there to answer; the answer is no.")
		no()
		return
	}
	c.question = &question{prompt: prompt, answers: answers, no: no}
}

// askYes asks whether to do something; only the word yes does it.
func (c *console) askYes(prompt string, do func() error) {
	c.ask(prompt, map[string]func() error{"yes": do}, c.nothingDone)
}

// nothingDone says that a question was answered with no.
func (c *console) nothingDone() { c.out.Line("Nothing was done.") }

// withConfirm calls do, and again with yes after a confirmation if it asks for one:
// about and prompt are the question.
func (c *console) withConfirm(do func(yes bool) (*workspace.Confirm, error), about, prompt string) error {
	confirm, err := do(false)
	if confirm != nil {
		c.out.Line(about)
		c.askYes(prompt, func() error { _, err := do(true); return err })
	}
	return err
}

// dropQuestion answers the open question with no.
func (c *console) dropQuestion() {
	if q := c.question; q != nil {
		c.question = nil
		q.no()
	}
}

// typedEarly reports whether a line was typed before the open question could be read.
func (c *console) typedEarly(l lines.Line) bool {
	return c.question != nil && (c.question.shown.IsZero() || l.Read.Before(c.question.shown.Add(lines.ReadingTime)))
}

// answer answers the open question. A text that is no answer is a no, and is not lost.
func (c *console) answer(text string) {
	q, word := c.question, strings.ToLower(strings.TrimSpace(text))
	c.question = nil
	if do := q.answers[word]; do != nil {
		c.fail(do())
		return
	}
	q.no()
	switch {
	case isNo(word):
	case c.turn != nil:
		c.send(text)
	default:
		c.unsent = unsent{text: text}
		c.out.Line("That was no answer. /retry sends it as a message.")
	}
}

// isNo reports whether a text is a no. y is one: only the whole word is a yes.
func isNo(text string) bool {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "", "n", "no", "y", "stay", "keep":
		return true
	}
	return false
}
