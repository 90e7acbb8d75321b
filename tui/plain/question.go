package plain

import (
	"strings"
	"time"

	"winnow/assistant"
	"winnow/assistant/safetext"
)

// question waits for a line of the user.
type question struct {
	prompt string
	at     time.Time // since when it can be read
	// take is given the answer; false means that it is none, and the question
	// ends with no.
	take func(answer string) bool
	no   func()
}

// readingTime is how long after a question no line can be an answer to it:
// nobody has read it and typed a word in less.
const readingTime = 300 * time.Millisecond

// ask opens a question. Where nobody types, it is answered at once.
func (c *console) ask(q question) {
	if !c.o.Interactive || c.ended {
		c.out.line("Nobody is here to answer: no.")
		q.no()
		return
	}
	c.asked = &q
}

// askYes asks whether to do something; only yes does it.
func (c *console) askYes(prompt string, do func()) {
	c.ask(question{
		prompt: prompt,
		take: func(answer string) bool {
			if !strings.EqualFold(answer, "yes") {
				return false
			}
			do()
			return true
		},
		no: func() { c.out.line("Nothing was done.") },
	})
}

// early says whether a line was typed before the open question could be read.
func (c *console) early(l line) bool {
	return c.asked != nil && (c.asked.at.IsZero() || l.at.Before(c.asked.at.Add(readingTime)))
}

// answer gives the open question a line. A text that is neither yes nor no is
// a no, and is not lost.
func (c *console) answer(text string) {
	q := c.asked
	c.asked = nil
	said := strings.TrimSpace(text)
	if q.take(said) {
		return
	}
	q.no()
	if plainNo(said) {
		return
	}
	if c.turn != nil {
		c.send(text)
		return
	}
	c.again = again{text: text}
	c.out.line("That was no yes. /retry sends it as a message.")
}

func plainNo(said string) bool {
	switch strings.ToLower(said) {
	case "", "n", "no", "y", "stay", "keep":
		return true
	}
	return false
}

// confirm asks about a tool, with everything that it would do.
func (c *console) confirm(e assistant.ConfirmRequest) {
	c.settle()
	c.out.labelled("Question", "the assistant wants to "+words(e.Tool)+". This is what it would do:")
	c.exact(e.Diff)
	c.ask(question{
		prompt: "Type yes to do it: ",
		take: func(answer string) bool {
			if !strings.EqualFold(answer, "yes") {
				return false
			}
			c.reply(e.ID, true)
			return true
		},
		no: func() {
			c.out.line("It is not done.")
			c.reply(e.ID, false)
		},
	})
}

func (c *console) reply(id string, yes bool) {
	if err := c.s.Answer(id, yes); err != nil {
		c.out.line("The turn was over already.")
	}
}

// words is the name of a tool as words.
func words(tool string) string {
	return safetext.Line(strings.ReplaceAll(tool, "_", " "), maxLabel)
}

// exact shows a text that is to be confirmed: nothing in it hides.
func (c *console) exact(text string) {
	for l := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		c.out.line("  " + visible(l))
	}
}

// shown is a name from anywhere on one line, with nothing in it that hides.
func shown(text string) string { return safetext.Line(visible(text), maxQuoted) }

// visible is safetext.Visible, which is not applied a second time to the marks
// of the first.
func visible(text string) string {
	bare := strings.NewReplacer("‹", "", "›", "").Replace(text)
	if safetext.Visible(bare) == bare {
		return text
	}
	return safetext.Visible(text)
}
