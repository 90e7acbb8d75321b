package plain

import (
	"strings"
	"time"

	"winnow/assistant"
)

// question waits for a line of the user.
type question struct {
	prompt  string
	at      time.Time         // when it was shown; zero is not yet
	answers map[string]func() // by word
	number  func(word string) bool
	no      func()
}

// readingTime is how long after a question no line answers it: nobody has read
// it and typed a word in less.
const readingTime = 300 * time.Millisecond

// ask opens a question that is answered by one of some words. Where nobody types,
// the answer is no.
func (c *console) ask(prompt string, answers map[string]func(), no func()) {
	if !c.o.Interactive || c.ended {
		c.out.line("Nobody is here to answer: no.")
		no()
		return
	}
	c.question = &question{prompt: prompt, answers: answers, no: no}
}

// askYes asks whether to do something; only the word yes does it.
func (c *console) askYes(prompt string, do func()) {
	c.ask(prompt, map[string]func(){"yes": do}, func() { c.out.line("Nothing was done.") })
}

// dropQuestion answers the open question with no.
func (c *console) dropQuestion() {
	if q := c.question; q != nil {
		c.question = nil
		q.no()
	}
}

// typedEarly reports whether a line was typed before the open question could be
// read.
func (c *console) typedEarly(l line) bool {
	return c.question != nil && (c.question.at.IsZero() || l.at.Before(c.question.at.Add(readingTime)))
}

// answer answers the open question. A text that is no answer is a no, and is not
// lost.
func (c *console) answer(text string) {
	q, word := c.question, strings.ToLower(strings.TrimSpace(text))
	c.question = nil
	if do := q.answers[word]; do != nil {
		do()
		return
	}
	if q.number != nil && q.number(word) {
		return
	}
	q.no()
	switch {
	case isNo(word):
	case c.turn != nil:
		c.send(text)
	default:
		c.unsent, c.failed = text, 0
		c.out.line("That was no answer. /retry sends it as a message.")
	}
}

func isNo(text string) bool {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "", "n", "no", "y", "stay", "keep":
		return true
	}
	return false
}

// confirm asks about a tool, with everything that it would do.
func (c *console) confirm(e assistant.ConfirmRequest) {
	reply := func(yes bool) func() {
		return func() {
			if !yes {
				c.out.line("It is not done.")
			}
			if c.s.Answer(e.ID, yes) != nil {
				c.out.line("The turn was over already.")
			}
		}
	}
	c.endLine()
	c.out.labelled("Question", "the assistant wants to "+spaced(e.Tool)+". This is what it would do:")
	for l := range strings.SplitSeq(strings.TrimRight(e.Diff, "\n"), "\n") {
		c.indented(visible(l))
	}
	c.ask("Type yes to do it: ", map[string]func(){"yes": reply(true)}, reply(false))
}
