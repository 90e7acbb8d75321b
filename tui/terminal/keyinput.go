package terminal

import (
	"bytes"
	"os"
	"sync/atomic"
	"time"
)

const (
	// pasteSilence is how long a marked paste may pause. A terminal sends it without a
	// break, so after such a pause its end marker must have been lost.
	pasteSilence = 2 * time.Second
	// pasteGap is shorter than the time between two typed keys.
	pasteGap = 10 * time.Millisecond
)

var (
	pasteStart = []byte("\x1b[200~")
	pasteEnd   = []byte("\x1b[201~")
)

// KeyReader reads keys from a terminal.
type KeyReader struct {
	*os.File
	acceptText atomic.Bool // see AcceptText
	marksPaste bool        // the terminal marks its pastes, so nothing is guessed
	inPaste    bool        // inside a marked paste
	tail       []byte      // the end of what was read, which may contain the beginning of a marker
	lastText   time.Time   // when text was last read
	now        func() time.Time
	ready      func(f *os.File, wait time.Duration) bool // reports whether bytes arrive within wait; nil if the system cannot tell
}

// NewKeyReader returns a reader of f.
func NewKeyReader(f *os.File) *KeyReader {
	return &KeyReader{File: f, now: time.Now, ready: readable}
}

// AcceptText sets whether keys enter text, which is when text can be recognised as a paste.
// On a nil KeyReader it does nothing.
func (r *KeyReader) AcceptText(on bool) {
	if r != nil {
		r.acceptText.Store(on)
	}
}

// Read implements io.Reader.
func (r *KeyReader) Read(p []byte) (int, error) {
	if len(p) <= 2*len(pasteEnd) {
		return r.File.Read(p) // too small for markers; no reader of keys has such a small buffer
	}
	room := len(p) - len(pasteStart) - len(pasteEnd) // leaves space for the markers
	n, err := r.File.Read(p[:room])
	if n == 0 {
		return n, err
	}
	r.watch(p[:n])
	switch {
	case r.ready == nil:
	case r.inPaste:
		if !r.ready(r.File, pasteSilence) {
			r.inPaste = false
			n += copy(p[n:], pasteEnd)
		}
	case !r.marksPaste && r.acceptText.Load() && isText(p[:n]):
		n = r.markBurst(p, n, room)
	}
	return n, err
}

// markBurst puts paste markers around text that arrives faster than anyone types and around
// the input that follows within pasteGap. p contains n bytes of text, and room for input up to
// p[room] and for the markers. markBurst returns the new number of bytes.
func (r *KeyReader) markBurst(p []byte, n, room int) int {
	now := r.now()
	burst := now.Sub(r.lastText) < pasteGap || len(bytes.Runes(p[:n])) > 1
	r.lastText = now
	if !burst && p[0] != '\r' && p[0] != '\n' { // a line break may send the message, so markBurst waits for what follows
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
	r.lastText = r.now()
	copy(p[len(pasteStart):], p[:n])
	n += copy(p, pasteStart)
	return n + copy(p[n:], pasteEnd)
}

// watch records whether the bytes read so far end inside a marked paste.
func (r *KeyReader) watch(read []byte) {
	seen := append(r.tail, read...)
	start, end := bytes.LastIndex(seen, pasteStart), bytes.LastIndex(seen, pasteEnd)
	if start != end { // at least one marker was found
		r.inPaste, r.marksPaste = start > end, true
	}
	r.tail = bytes.Clone(seen[max(0, len(seen)-len(pasteEnd)+1):])
}

// isText reports whether bytes are text with line ends and tabs, and no other keys.
func isText(read []byte) bool {
	return !bytes.ContainsFunc(read, func(c rune) bool {
		return c < ' ' && c != '\r' && c != '\n' && c != '\t' || c == 0x7f
	})
}
