// Package keyinput reads the bytes of keys from a terminal and marks what no hand can
// have typed as a paste.
//
// A Reader sees when bytes arrive, which the program that parses them does not. Text
// that arrives within 10 ms, on a terminal that does not mark its pastes, gets the
// marks of a bracketed paste. A marked paste whose end was lost, which would swallow
// all later keys, is ended after 2 s of silence.
//
// One goroutine reads; AcceptText may be called from any.
//
// # Caveats
//
// On a system without poll nothing is marked: pastes without marks are typed text.
package keyinput

import (
	"bytes"
	"os"
	"sync/atomic"
	"time"
)

const (
	// pasteSilence is how long a marked paste may pause. A terminal sends it
	// without a break; after such a pause its end marker was lost.
	pasteSilence = 2 * time.Second
	// pasteGap is less than any hand needs between two keys.
	pasteGap = 10 * time.Millisecond
)

var (
	pasteStart = []byte("\x1b[200~")
	pasteEnd   = []byte("\x1b[201~")
)

// Reader is a terminal to read keys from.
type Reader struct {
	*os.File
	text   atomic.Bool // keys write text now
	marked bool        // this terminal marks its pastes: nothing is guessed
	inside bool        // a marked paste has begun
	tail   []byte      // the end of what was read, in which a marker may begin
	at     time.Time   // of the last text
	now    func() time.Time
	ready  func(f *os.File, wait time.Duration) bool // bytes arrive within wait; nil: nobody knows
}

// New reads from f.
func New(f *os.File) *Reader {
	return &Reader{File: f, now: time.Now, ready: readable}
}

// AcceptText sets whether keys write text: only then text is taken for a paste. On a
// nil Reader it does nothing.
func (r *Reader) AcceptText(on bool) {
	if r != nil {
		r.text.Store(on)
	}
}

// Read implements io.Reader.
func (r *Reader) Read(p []byte) (int, error) {
	if len(p) <= 2*len(pasteEnd) {
		return r.File.Read(p) // no reader of keys has so small a buffer
	}
	room := len(p) - len(pasteStart) - len(pasteEnd) // for the markers that are added
	n, err := r.File.Read(p[:room])
	if n == 0 {
		return n, err
	}
	r.watch(p[:n])
	switch {
	case r.ready == nil:
	case r.inside:
		if !r.ready(r.File, pasteSilence) {
			r.inside = false
			n += copy(p[n:], pasteEnd)
		}
	case !r.marked && r.text.Load() && isText(p[:n]):
		n = r.markBurst(p, n, room)
	}
	return n, err
}

// markBurst puts markers around text of which no part was typed, with all that
// follows within the gap. n bytes are read, room is how many may be.
func (r *Reader) markBurst(p []byte, n, room int) int {
	now := r.now()
	burst := now.Sub(r.at) < pasteGap || len(bytes.Runes(p[:n])) > 1
	r.at = now
	if !burst && p[0] != '\r' && p[0] != '\n' { // a line end may send: more must not follow
		return n
	}
	for n < room && r.ready(r.File, pasteGap) {
		more, err := r.File.Read(p[n:room])
		if more == 0 || err != nil {
			break
		}
		n, burst = n+more, true
	}
	if !burst || !isText(p[:n]) {
		return n
	}
	r.at = r.now()
	copy(p[len(pasteStart):], p[:n])
	n += copy(p, pasteStart)
	return n + copy(p[n:], pasteEnd)
}

// watch notes whether what was read ends inside a marked paste.
func (r *Reader) watch(read []byte) {
	seen := append(r.tail, read...)
	start, end := bytes.LastIndex(seen, pasteStart), bytes.LastIndex(seen, pasteEnd)
	if start != end { // one of them is there
		r.inside, r.marked = start > end, true
	}
	r.tail = bytes.Clone(seen[max(0, len(seen)-len(pasteEnd)+1):])
}

// isText reports whether bytes are text, with line ends and tabs, and no other
// key.
func isText(read []byte) bool {
	return !bytes.ContainsFunc(read, func(c rune) bool {
		return c < ' ' && c != '\r' && c != '\n' && c != '\t' || c == 0x7f
	})
}
