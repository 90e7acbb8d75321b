package tuitest

import (
	"bytes"
	"io"
	"strings"
	"sync"

	"github.com/charmbracelet/x/vt"
)

// terminal is the emulator with a lock, and with a channel that is closed at
// each write, so that whoever waits for text need not poll on a timer.
type terminal struct {
	mu      sync.Mutex
	emu     *vt.Emulator
	raw     bytes.Buffer  // all that was written
	changed chan struct{} // closed and replaced at each write
	hidden  bool          // the cursor
	title   string
}

func newTerminal(w, h int) *terminal {
	v := &terminal{emu: vt.NewEmulator(w, h), changed: make(chan struct{})}
	v.emu.SetCallbacks(vt.Callbacks{
		CursorVisibility: func(visible bool) { v.hidden = !visible },
		Title:            func(title string) { v.title = title },
	})
	return v
}

// Write is the program's output. A terminal driver makes CR LF of LF, and the
// renderer counts on it.
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

// frame is what the terminal shows and the channel that the next write closes.
func (v *terminal) frame() (string, <-chan struct{}) {
	v.mu.Lock()
	defer v.mu.Unlock()
	lines := make([]string, v.emu.Height())
	for y := range lines {
		lines[y] = v.line(y)
	}
	return strings.Join(lines, "\n"), v.changed
}

// line is the text of one row. The cells after a wide one belong to it.
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

func (v *terminal) resize(w, h int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.emu.Resize(w, h)
}

// close ends the answers. The emulator's own Close is not safe while they are
// read, so this closes their pipe alone.
func (v *terminal) close() {
	if pipe, ok := v.emu.InputPipe().(io.Closer); ok {
		_ = pipe.Close()
	}
}

// answers carries what the terminal says on its own to w, or nowhere. Emulator
// and program must never wait for each other, hence the queue between them.
func (v *terminal) answers(w io.Writer) {
	queue := newQueue()
	go func() {
		buf := make([]byte, 4096)
		for {
			n, err := v.emu.Read(buf)
			if n > 0 && w != nil {
				queue.put(buf[:n])
			}
			if err != nil {
				queue.close()
				return
			}
		}
	}()
	if w == nil {
		return
	}
	go func() {
		for p := queue.take(); p != nil; p = queue.take() {
			if _, err := w.Write(p); err != nil {
				return
			}
		}
	}()
}

// queue is a pipe that never makes its writer wait.
type queue struct {
	mu     sync.Mutex
	ready  *sync.Cond
	bytes  []byte
	closed bool
}

func newQueue() *queue {
	q := &queue{}
	q.ready = sync.NewCond(&q.mu)
	return q
}

func (q *queue) put(p []byte) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.bytes = append(q.bytes, p...)
	q.ready.Signal()
}

func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.ready.Signal()
}

// take waits for bytes; nil means that no more will come.
func (q *queue) take() []byte {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.bytes) == 0 && !q.closed {
		q.ready.Wait()
	}
	p := q.bytes
	q.bytes = nil
	return p
}
