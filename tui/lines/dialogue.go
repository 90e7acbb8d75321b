package lines

import (
	"context"
	"io"
	"os"
	"time"
)

// ReadingTime is how long after a question no line answers it: nobody has read it and
// typed a word in less.
const ReadingTime = 300 * time.Millisecond

// Dialogue asks one question after another. Out and In are needed; a nil Hide shows what
// is typed.
type Dialogue struct {
	Out       *Writer
	In        <-chan Line
	Interrupt <-chan os.Signal // ends the dialogue
	Now       func() time.Time
	Hide      func() (restore func()) // makes the terminal show nothing of what is typed
}

// Ask shows a prompt and waits for a line, which a hidden one does not show. Its error is
// io.EOF at the end of the input, that of a line that cannot be read, or that of ctx.
type Ask func(ctx context.Context, prompt string, hidden bool) (string, error)

// request is a line to print, or a question with a channel for its answer.
type request struct {
	text   string
	hidden bool
	answer chan Line // nil: there is nothing to answer
}

// Run calls f in another goroutine and serves it until it returns. An interrupt cancels
// the context of f.
func (d Dialogue) Run(ctx context.Context, f func(ctx context.Context, print func(string), ask Ask) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	requests, done := make(chan request), make(chan error, 1)
	send := func(r request) {
		select {
		case requests <- r:
		case <-ctx.Done():
		}
	}
	ask := func(ctx context.Context, prompt string, hidden bool) (string, error) {
		r := request{prompt, hidden, make(chan Line, 1)}
		send(r)
		select {
		case l := <-r.answer:
			return l.Text, l.Err
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
	go func() { done <- f(ctx, func(line string) { send(request{text: line}) }, ask) }()
	for {
		select {
		case err := <-done:
			return err
		case <-d.Interrupt:
			cancel()
		case r := <-requests:
			if r.answer == nil {
				d.Out.Line(r.text)
			} else if l, ok := d.read(ctx, cancel, r); ok {
				r.answer <- l
			}
		}
	}
}

// read shows a question until a line answers it; !ok when ctx ended before. A line that
// was typed before the question could be read is none.
func (d Dialogue) read(ctx context.Context, cancel func(), r request) (l Line, ok bool) {
	restore := func() {}
	if r.hidden && d.Hide != nil {
		restore = d.Hide()
	}
	defer func() { restore() }()
	for {
		d.Out.End()
		shown := d.Now() // before the write: afterwards the answer may be there already
		d.Out.Add(r.text)
		select {
		case <-ctx.Done():
			d.Out.End()
			return l, false
		case <-d.Interrupt:
			cancel()
			d.Out.End()
			return l, false
		case l, ok = <-d.In:
		}
		switch {
		case !ok:
			d.Out.End()
			return Line{Err: io.EOF}, true
		case r.hidden && d.Hide != nil:
			d.Out.End() // the end of the line was not shown either
		default:
			d.Out.Echoed()
		}
		if l.Err != nil || !l.Read.Before(shown.Add(ReadingTime)) {
			return l, true
		}
		d.Out.Line("That was typed before the question could be read, so it is no answer.")
	}
}
