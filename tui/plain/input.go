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
	err  error // instead of a text: why it could not be taken
}

const (
	// maxLine bounds one line, in bytes: more than any model takes.
	maxLine = 16 << 20
	// ahead is how many lines are read before they are asked for, so that a
	// line is stamped when it comes and not when its turn comes.
	ahead = 1024
)

var errLongLine = errors.New("the line is longer than 16 MB and was not taken")

// readLines reads lines until the input ends and then closes the channel. What
// stands behind the last line end is a line too.
func readLines(in io.Reader, now func() time.Time) <-chan line {
	lines := make(chan line, ahead)
	go func() {
		defer close(lines)
		r := bufio.NewReader(in)
		for {
			text, err := readLine(r)
			if text != "" || err == nil || errors.Is(err, errLongLine) {
				l := line{text: strings.TrimRight(text, "\r\n"), at: now()}
				if errors.Is(err, errLongLine) {
					l.err, err = err, nil
				}
				lines <- l
			}
			if err != nil {
				return
			}
		}
	}()
	return lines
}

// readLine reads a line, end included. One that is too long is read to its end
// and thrown away.
func readLine(r *bufio.Reader) (string, error) {
	var b strings.Builder
	long := false
	for {
		part, err := r.ReadSlice('\n')
		if long = long || b.Len()+len(part) > maxLine; !long {
			b.Write(part)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case long && err == nil:
			return "", errLongLine
		default:
			return b.String(), err
		}
	}
}

// messageReader puts a message together that stands on several lines.
type messageReader struct {
	lines []string
	block bool // between """ and """
	begun bool
}

const quotes = `"""`

// add adds a line. When it ends the message, that is returned.
func (m *messageReader) add(text string) (message string, whole bool) {
	trimmed := strings.TrimSpace(text)
	if !m.begun {
		if rest, opens := strings.CutPrefix(trimmed, quotes); opens {
			m.begun, m.block = true, true
			if rest == "" {
				return "", false
			}
			text, trimmed = rest, rest
		}
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
	case strings.HasSuffix(text, `\`) && !strings.HasSuffix(text, `\\`):
		m.begun = true
		m.lines = append(m.lines, strings.TrimSuffix(text, `\`))
		return "", false
	case strings.HasSuffix(text, `\\`):
		text = strings.TrimSuffix(text, `\`) // a real backslash at the end
	}
	m.lines = append(m.lines, text)
	return m.end(), true
}

// end returns what there is and begins anew.
func (m *messageReader) end() string {
	text := strings.Join(m.lines, "\n")
	*m = messageReader{}
	return text
}
