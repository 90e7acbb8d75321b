package plain

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"winnow/assistant/safetext"
)

// Line is a line of the input, with the time when it was read.
type Line struct {
	Text string // the line without its line end
	Read time.Time
	Err  error // ErrTooLong if the line was dropped; nil otherwise
}

const (
	// maxLine is the maximum size of a line in bytes: more than any model accepts.
	maxLine = 16 << 20
	// linesAhead is how many lines are read in advance, so that Line.Read is the time when the
	// line arrived, not when it is handled.
	linesAhead = 1024
)

// ReadingTime is how long after a question a line does not count as its answer: it takes
// longer to read the question and type a word.
const ReadingTime = 300 * time.Millisecond

// Ask shows a prompt and waits for a line; if hidden, the terminal does not echo the line.
// The error is io.EOF at the end of the input, the error of a line that cannot be read, or
// the error of ctx.
type Ask func(ctx context.Context, prompt safetext.Text, hidden bool) (string, error)

// ErrTooLong is the Err of a line longer than maxLine.
var ErrTooLong = errors.New("the line is longer than 16 MB and was ignored")

// ReadLines reads lines in a goroutine. At the end of the input the goroutine closes the
// channel and ends. Text after the last line end is a line too.
func ReadLines(in io.Reader, now func() time.Time) <-chan Line {
	lines := make(chan Line, linesAhead)
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
				lines <- Line{Read: now(), Err: ErrTooLong}
			case b.Len() > 0:
				lines <- Line{Text: strings.TrimRight(b.String(), "\r\n"), Read: now()}
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

// Input returns a reader whose reads also end when ctx ends. A read of a terminal or a pipe
// cannot be interrupted: after the end of ctx it continues in its own goroutine, and the
// data that it reads is lost.
func Input(ctx context.Context, in io.Reader) io.Reader { return &input{ctx: ctx, in: in} }

type input struct {
	ctx context.Context
	in  io.Reader
}

// Read implements io.Reader.
func (i *input) Read(p []byte) (int, error) {
	buffer := make([]byte, len(p)) // a separate buffer, because after an interrupted read the caller may reuse p
	var n int
	var err error
	read := make(chan struct{})
	go func() {
		defer close(read)
		n, err = i.in.Read(buffer)
	}()
	select {
	case <-i.ctx.Done():
		return 0, i.ctx.Err()
	case <-read:
		return copy(p, buffer[:n]), err
	}
}

// Message assembles a message from lines: a backslash at the end of a line continues it on
// the next one, and """ starts and ends a block. The zero value is ready to use.
type Message struct {
	lines   []string
	block   bool // the lines are between """ and """
	started bool
}

// Started reports whether the message has lines and is not complete.
func (m *Message) Started() bool { return m.started }

const quotes = `"""`

// Add adds a line. If the line completes the message, Add returns the message.
func (m *Message) Add(text string) (message string, complete bool) {
	trimmed := strings.TrimSpace(text)
	if rest, opens := strings.CutPrefix(trimmed, quotes); opens && !m.started {
		m.started, m.block = true, true
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
		return m.End(), true
	case m.block:
		m.lines = append(m.lines, text)
		return "", false
	case strings.HasSuffix(text, `\\`): // two backslashes at the end of a line are one literal backslash
		text = strings.TrimSuffix(text, `\`)
	case strings.HasSuffix(text, `\`):
		m.started = true
		m.lines = append(m.lines, strings.TrimSuffix(text, `\`))
		return "", false
	}
	m.lines = append(m.lines, text)
	return m.End(), true
}

// End returns the message as assembled so far, and starts a new message.
func (m *Message) End() string {
	text := strings.Join(m.lines, "\n")
	*m = Message{}
	return text
}
