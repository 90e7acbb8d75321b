package plain

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"time"
)

// line is a line of the input and when it was there.
type line struct {
	text string // without its end
	at   time.Time
	err  error // errLongLine instead of a text
}

const (
	// maxLine bounds one line, in bytes: more than any model takes.
	maxLine = 16 << 20
	// ahead is how many lines are read before they are asked for, so that a
	// line has the time when it came and not when its turn comes.
	linesAhead = 1024
)

var errLongLine = errors.New("the line is longer than 16 MB and was not taken")

// readLines reads lines until the input ends and then closes the channel. Text
// after the last line break is a line too. A line that is too long is left out.
func readLines(in io.Reader, now func() time.Time) <-chan line {
	lines := make(chan line, linesAhead)
	go func() {
		defer close(lines)
		var b strings.Builder
		long := false
		for r := bufio.NewReader(in); ; {
			part, err := r.ReadSlice('\n')
			if long = long || b.Len()+len(part) > maxLine; !long {
				b.Write(part)
			}
			if errors.Is(err, bufio.ErrBufferFull) {
				continue
			}
			switch {
			case long:
				lines <- line{at: now(), err: errLongLine}
			case b.Len() > 0:
				lines <- line{text: strings.TrimRight(b.String(), "\r\n"), at: now()}
			}
			if err != nil {
				return
			}
			b.Reset()
			long = false
		}
	}()
	return lines
}

// messageReader puts a message of several lines together.
type messageReader struct {
	lines []string
	block bool // between """ and """
	begun bool
}

const quotes = `"""`

// add adds a line. When it ends the message, that is returned.
func (m *messageReader) add(text string) (message string, complete bool) {
	trimmed := strings.TrimSpace(text)
	if rest, opens := strings.CutPrefix(trimmed, quotes); opens && !m.begun {
		m.begun, m.block = true, true
		if rest == "" {
			return "", false
		}
		text, trimmed = rest, rest
	}
	switch {
	case m.block && strings.HasSuffix(trimmed, quotes):
		if last := strings.TrimSuffix(strings.TrimRight(text, " \t"), quotes); last != "" {
			m.lines = append(m.lines, last)
		}
		return m.end(), true
	case m.block:
		m.lines = append(m.lines, text)
		return "", false
	case strings.HasSuffix(text, `\\`): // a real backslash at the end
		text = strings.TrimSuffix(text, `\`)
	case strings.HasSuffix(text, `\`):
		m.begun = true
		m.lines = append(m.lines, strings.TrimSuffix(text, `\`))
		return "", false
	}
	m.lines = append(m.lines, text)
	return m.end(), true
}

// end returns the message so far and starts a new one.
func (m *messageReader) end() string {
	text := strings.Join(m.lines, "\n")
	*m = messageReader{}
	return text
}

// question waits for a line of the user.
type question struct {
	prompt  string
	at      time.Time               // when it was shown; zero is not yet
	answers map[string]func() error // by word
	no      func()
}

// readingTime is how long after a question no line answers it: nobody has read
// it and typed a word in less.
const readingTime = 300 * time.Millisecond

// ask opens a question that is answered by one of some words. Where nobody types,
// the answer is no.
func (c *console) ask(prompt string, answers map[string]func() error, no func()) {
	if !c.opts.Interactive || c.inputEnded {
		c.out.line("Nobody is there to answer; the answer is no.")
		no()
		return
	}
	c.question = &question{prompt: prompt, answers: answers, no: no}
}

// askYes asks whether to do something; only the word yes does it.
func (c *console) askYes(prompt string, do func() error) {
	c.ask(prompt, map[string]func() error{"yes": do}, c.nothingDone)
}

// dropQuestion answers the open question with no.
func (c *console) dropQuestion() {
	if q := c.question; q != nil {
		c.question = nil
		q.no()
	}
}

// typedEarly reports whether a line was typed before the open question could be read.
func (c *console) typedEarly(l line) bool {
	return c.question != nil && (c.question.at.IsZero() || l.at.Before(c.question.at.Add(readingTime)))
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
		c.unsent, c.failedSeq = text, 0
		c.out.line("That was no answer. /retry sends it as a message.")
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
