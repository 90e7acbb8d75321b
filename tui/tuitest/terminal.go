package tuitest

import (
	"bytes"
	"io"
	"strings"
	"sync"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"
)

// terminal is the emulator with a lock and a channel that is closed at each write, so that
// a test that waits for text need not poll.
type terminal struct {
	mu      sync.Mutex
	emu     *vt.Emulator
	raw     bytes.Buffer  // everything that was written
	changed chan struct{} // closed and replaced at each write
	hidden  bool          // the cursor is hidden
	title   string
}

func newTerminal(w, h int) *terminal {
	v := &terminal{emu: vt.NewEmulator(w, h), changed: make(chan struct{})}
	v.emu.SetCallbacks(vt.Callbacks{
		CursorVisibility: func(visible bool) { v.hidden = !visible },
		Title:            func(title string) { v.title = title },
	})
	v.emu.RegisterCsiHandler('r', v.limitMargins)
	return v
}

// limitMargins ends the scrolling region at the last row, as terminals do. A program that
// does not know of a smaller size yet asks for rows beyond it, and the emulator would
// scroll rows that it does not have.
func (v *terminal) limitMargins(params ansi.Params) bool {
	if len(params) > 1 {
		params[1] = min(params[1], ansi.Param(v.emu.Height()))
	}
	return false
}

// Write receives the program's output. It turns LF into CR LF as a terminal driver does,
// because the renderer relies on that.
func (v *terminal) Write(p []byte) (int, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.raw.Write(p)
	if _, err := v.emu.Write(bytes.ReplaceAll(p, []byte("\n"), []byte("\r\n"))); err != nil {
		return 0, err
	}
	close(v.changed)
	v.changed = make(chan struct{})
	return len(p), nil
}

// frame returns what the terminal shows, and a channel that is closed by the next write.
func (v *terminal) frame() (string, <-chan struct{}) {
	v.mu.Lock()
	defer v.mu.Unlock()
	lines := make([]string, v.emu.Height())
	for y := range lines {
		lines[y] = v.line(y)
	}
	return strings.Join(lines, "\n"), v.changed
}

// line returns the text of one row. A wide character covers the cells after its own.
func (v *terminal) line(y int) string {
	var b strings.Builder
	for x := 0; x < v.emu.Width(); {
		cell, step := v.emu.CellAt(x, y), 1
		switch {
		case cell == nil || cell.Content == "":
			b.WriteByte(' ')
		default:
			b.WriteString(cell.Content)
			step = max(cell.Width, 1)
		}
		x += step
	}
	return strings.TrimRight(b.String(), " ")
}

// resize changes the size. It then sets the scrolling margins to the old height, as the
// renderer does in a frame drawn before it learns of the new size.
func (v *terminal) resize(w, h int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	known := v.emu.Height()
	v.emu.Resize(w, h)
	_, _ = v.emu.WriteString(ansi.SaveCursor + ansi.SetTopBottomMargins(1, known) + ansi.RestoreCursor)
}

// close closes only the pipe of the emulator's answers, because the emulator's own Close is
// not safe while that pipe is read.
func (v *terminal) close() {
	if pipe, ok := v.emu.InputPipe().(io.Closer); ok {
		_ = pipe.Close()
	}
}
