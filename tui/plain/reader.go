package plain

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strings"
	"time"
)

// Line is a line of the input with the time at which it was read.
type Line struct {
	Text string // without its line end
	Read time.Time
	Err  error // ErrTooLong instead of a text
}

const (
	// maxLine is the maximum size of a line in bytes: more than any model accepts.
	maxLine = 16 << 20
	// linesAhead is how many lines are read in advance, so that a line has the time at
	// which it arrived, not the time at which it is used.
	linesAhead = 1024
)

// ReadingTime is how long after a question a line does not answer it: no user can read it
// and type a word faster.
const ReadingTime = 300 * time.Millisecond

// Ask shows a prompt and waits for a line, without echo if hidden. The error is io.EOF at
// the end of the input, the error of a line that cannot be read, or the error of ctx.
type Ask func(ctx context.Context, prompt string, hidden bool) (string, error)

// ErrTooLong is the Err of a line longer than maxLine.
var ErrTooLong = errors.New("the line is longer than 16 MB and was ignored")

// ReadLines reads lines in a goroutine that ends with the input and then closes the
// channel. Text after the last line break is a line too.
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

// Input returns an input whose reads also end with ctx. A read of a terminal or a pipe
// cannot be interrupted: after the end of ctx it continues in its goroutine, and what it
// reads is lost.
func Input(ctx context.Context, in io.Reader) io.Reader { return &input{ctx: ctx, in: in} }

type input struct {
	ctx context.Context
	in  io.Reader
}

// Read implements io.Reader.
func (i *input) Read(p []byte) (int, error) {
	buffer := make([]byte, len(p)) // after an interrupted read, p belongs to the caller again
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
	block   bool // between """ and """
	started bool
}

// Started reports whether the message has lines but is not complete.
func (m *Message) Started() bool { return m.started }

const quotes = `"""`

// Add adds a line. If that completes the message, the message is returned.
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
	case strings.HasSuffix(text, `\\`): // a literal backslash at the end
		text = strings.TrimSuffix(text, `\`)
	case strings.HasSuffix(text, `\`):
		m.started = true
		m.lines = append(m.lines, strings.TrimSuffix(text, `\`))
		return "", false
	}
	m.lines = append(m.lines, text)
	return m.End(), true
}

// End returns the message so far and starts a new one.
func (m *Message) End() string {
	text := strings.Join(m.lines, "\n")
	*m = Message{}
	return text
}
