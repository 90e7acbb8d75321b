package tui

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

// Input is a terminal to read keys from. It sees when bytes arrive, which the
// program does not, and marks as a paste what no hand can have typed: text that
// arrives within pasteGap, on a terminal that does not mark its pastes. It ends a
// marked paste whose end was lost, which would swallow all later keys.
//
// One goroutine reads. A nil *Input may be told that keys write text.
type Input struct {
	*os.File
	silence, gap time.Duration
	text         atomic.Bool // keys write text now
	marked       bool        // this terminal marks its pastes: nothing is guessed
	inside       bool        // a marked paste has begun
	tail         []byte      // the end of what was read, in which a marker may begin
	at           time.Time   // of the last text
	now          func() time.Time
	ready        func(f *os.File, wait time.Duration) bool // bytes arrive within wait; nil: nobody knows
}

// NewInput reads from f.
func NewInput(f *os.File) *Input {
	return &Input{File: f, silence: pasteSilence, gap: pasteGap, now: time.Now, ready: readable}
}

// acceptText sets whether keys write text: only then text is taken for a paste.
func (i *Input) acceptText(on bool) {
	if i != nil {
		i.text.Store(on)
	}
}

// Read implements io.Reader.
func (i *Input) Read(p []byte) (int, error) {
	if len(p) <= 2*len(pasteEnd) {
		return i.File.Read(p) // no reader of keys has so small a buffer
	}
	room := len(p) - len(pasteStart) - len(pasteEnd) // for the markers that are added
	n, err := i.File.Read(p[:room])
	if n == 0 {
		return n, err
	}
	i.watch(p[:n])
	switch {
	case i.ready == nil:
	case i.inside:
		if !i.ready(i.File, i.silence) {
			i.inside = false
			n += copy(p[n:], pasteEnd)
		}
	case !i.marked && i.text.Load() && isText(p[:n]):
		n = i.markBurst(p, n, room)
	}
	return n, err
}

// markBurst puts markers around text of which no part was typed, with all that
// follows within the gap. n bytes are read, room is how many may be.
func (i *Input) markBurst(p []byte, n, room int) int {
	now := i.now()
	burst := now.Sub(i.at) < i.gap || len(bytes.Runes(p[:n])) > 1
	i.at = now
	if !burst && p[0] != '\r' && p[0] != '\n' { // a line end may send: more must not follow
		return n
	}
	for n < room && i.ready(i.File, i.gap) {
		more, err := i.File.Read(p[n:room])
		if more == 0 || err != nil {
			break
		}
		n, burst = n+more, true
	}
	if !burst || !isText(p[:n]) {
		return n
	}
	i.at = i.now()
	copy(p[len(pasteStart):], p[:n])
	n += copy(p, pasteStart)
	return n + copy(p[n:], pasteEnd)
}

// watch notes whether what was read ends inside a marked paste.
func (i *Input) watch(read []byte) {
	seen := append(i.tail, read...)
	start, end := bytes.LastIndex(seen, pasteStart), bytes.LastIndex(seen, pasteEnd)
	if start != end { // one of them is there
		i.inside, i.marked = start > end, true
	}
	i.tail = bytes.Clone(seen[max(0, len(seen)-len(pasteEnd)+1):])
}

// isText reports whether bytes are text, with line ends and tabs, and no other
// key.
func isText(read []byte) bool {
	return !bytes.ContainsFunc(read, func(r rune) bool {
		return r < ' ' && r != '\r' && r != '\n' && r != '\t' || r == 0x7f
	})
}
