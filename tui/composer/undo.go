package composer

import "strings"

// undoDepth is how many edits can be undone: enough in practice, and it needs little memory
// even for long drafts.
const undoDepth = 100

// undoStack holds the states that Undo returns to.
type undoStack struct {
	states []state // oldest first
	run    run     // kind of the last edit; the next edit joins it if it has the same kind
}

// run is a kind of edits; one undo reverts consecutive edits of the same kind.
type run uint8

const (
	noRun run = iota
	writing
	deleting
)

// state is the text of the box at one time.
type state struct {
	text  string
	chips []chip
}

// push adds a state, unless the newest state has the same text.
func (u *undoStack) push(s state) {
	if n := len(u.states); n > 0 && u.states[n-1].text == s.text {
		return
	}
	u.states = append(u.states, s)
	if len(u.states) > undoDepth {
		u.states = u.states[1:]
	}
}

// edited pushes the text before an edit made with a key: once per word when typing, and
// once for consecutive deletions, so that one undo reverts all of them.
func (u *undoStack) edited(before, after string) {
	now := writing
	if len(after) < len(before) {
		now = deleting
	}
	newWord := now == writing && (strings.HasSuffix(before, " ") || strings.HasSuffix(before, "\n"))
	if u.run == now && !newWord {
		return
	}
	u.push(state{text: before})
	u.run = now
}

// pushUndo pushes the current text; the next edit is undone separately from the last one.
func (b *Model) pushUndo() {
	b.undo.run = noRun
	b.undo.push(state{b.area.Value(), b.chips})
}

// Undo undoes the newest edit, and reports whether there was one.
func (b *Model) Undo() bool {
	now := b.area.Value()
	for n := len(b.undo.states); n > 0; n = len(b.undo.states) {
		last := b.undo.states[n-1]
		b.undo.states = b.undo.states[:n-1]
		b.undo.run = noRun
		if last.text == now {
			continue
		}
		if last.chips != nil {
			b.chips = last.chips
		}
		b.setValue(last.text)
		return true
	}
	return false
}
