package tui

import (
	"bytes"
	"os"
	"time"
)

// pasteSilence is how long a paste may pause. A terminal sends a paste without
// a break; after such a pause its end marker was lost.
const pasteSilence = 2 * time.Second

var (
	pasteStart = []byte("\x1b[200~")
	pasteEnd   = []byte("\x1b[201~")
)

// Input is a terminal to read keys from. A paste whose end marker was lost would
// swallow all keys after it, those that end the program too: Read ends it before
// the first byte that comes after pasteSilence. One goroutine reads.
type Input struct {
	*os.File
	now    func() time.Time
	inside bool   // a paste
	last   []byte // the end of what was read, in which a marker may begin
	at     time.Time
}

// NewInput reads from f. now tells the time; nil is time.Now.
func NewInput(f *os.File, now func() time.Time) *Input {
	if now == nil {
		now = time.Now
	}
	return &Input{File: f, now: now}
}

// Read implements io.Reader.
func (i *Input) Read(p []byte) (int, error) {
	if len(p) <= len(pasteEnd) {
		return i.File.Read(p) // no reader of keys has so small a buffer
	}
	room := p
	if i.inside {
		room = p[:len(p)-len(pasteEnd)]
	}
	n, err := i.File.Read(room)
	if n == 0 {
		return n, err
	}
	now := i.now()
	if i.inside && now.Sub(i.at) >= pasteSilence {
		copy(p[len(pasteEnd):], p[:n])
		n += copy(p, pasteEnd)
	}
	i.at = now
	i.watch(p[:n])
	return n, err
}

// watch notes whether what was read ends inside a paste.
func (i *Input) watch(read []byte) {
	seen := append(i.last, read...)
	start, end := bytes.LastIndex(seen, pasteStart), bytes.LastIndex(seen, pasteEnd)
	if start != end { // one of them is there
		i.inside = start > end
	}
	i.last = bytes.Clone(seen[max(0, len(seen)-len(pasteEnd)+1):])
}
