package composer

import "strings"

// undoDepth bounds how many edits can be taken back: more than anyone counts,
// little memory even for long drafts.
const undoDepth = 100

// undoStack keeps the texts that were.
type undoStack struct {
	states []state
	run    run  // what the last edit was, for the next to join it
	pushed bool // the last edit has kept a state
}

// run is a row of edits that one undo takes back.
type run uint8

const (
	noRun run = iota
	writing
	deleting
)

type state struct {
	text  string
	chips []chip
}

// push keeps a text to come back to.
func (u *undoStack) push(s state) {
	if n := len(u.states); n > 0 && u.states[n-1].text == s.text {
		return
	}
	u.states = append(u.states, s)
	if len(u.states) > undoDepth {
		u.states = u.states[1:]
	}
}

// edited keeps the text before a key, once for a word that is written and once
// for a row of deletions: what they took comes back whole.
func (u *undoStack) edited(before, after string) {
	now := writing
	if len(after) < len(before) {
		now = deleting
	}
	u.pushed = false
	newWord := now == writing && (strings.HasSuffix(before, " ") || strings.HasSuffix(before, "\n"))
	if u.run == now && !newWord {
		return
	}
	n := len(u.states)
	u.push(state{text: before})
	u.pushed = len(u.states) > n || n == undoDepth
	u.run = now
}

// unedit forgets the last edit.
func (u *undoStack) unedit() {
	if n := len(u.states); u.pushed && n > 0 {
		u.states = u.states[:n-1]
	}
	u.pushed, u.run = false, noRun
}

// pushUndo keeps what is there as a step of its own.
func (b *Model) pushUndo() {
	b.undo.run, b.added = noRun, 0
	b.undo.push(state{b.area.Value(), b.chips})
}

// Undo takes the newest edit back, and reports whether there was one.
func (b *Model) Undo() bool {
	now := b.area.Value()
	for n := len(b.undo.states); n > 0; n = len(b.undo.states) {
		last := b.undo.states[n-1]
		b.undo.states = b.undo.states[:n-1]
		b.undo.run, b.added = noRun, 0
		if last.text == now {
			continue
		}
		if last.chips != nil {
			b.chips = last.chips
		}
		b.area.Reset()
		b.area.SetValue(last.text)
		b.area.MoveToEnd()
		return true
	}
	return false
}
