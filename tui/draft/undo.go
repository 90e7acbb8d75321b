package draft

import "strings"

// undoDepth bounds how many edits can be taken back: more than anyone counts,
// little memory even for long drafts.
const undoDepth = 100

// undoStack keeps the texts that were.
type undoStack struct {
	states []state
	run    bool // the last edit was typing, and the next character joins it
}

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

// typed keeps the text before a key, once for a word.
func (u *undoStack) typed(before string) {
	if u.run && !strings.HasSuffix(before, " ") && !strings.HasSuffix(before, "\n") {
		return
	}
	u.push(state{text: before})
	u.run = true
}

// remember keeps what is there as a step of its own.
func (b *Box) remember() {
	b.undo.run = false
	b.undo.push(state{b.area.Value(), b.chips})
}

// Undo takes the newest edit back, and reports whether there was one.
func (b *Box) Undo() bool {
	now := b.area.Value()
	for n := len(b.undo.states); n > 0; n = len(b.undo.states) {
		last := b.undo.states[n-1]
		b.undo.states = b.undo.states[:n-1]
		b.undo.run = false
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

// sentHistory walks through messages that were sent. The draft that was there
// waits at the end.
type sentHistory struct {
	sent  []string // oldest first
	at    int      // place in sent, len(sent) is the draft
	draft string
	away  bool // at a sent message
}

// SetSent gives the box the messages that were sent, oldest first.
func (b *Box) SetSent(texts []string) {
	b.history = sentHistory{sent: texts, at: len(texts)}
}

// AddSent adds the newest.
func (b *Box) AddSent(text string) {
	b.history.sent = append(b.history.sent, text)
	b.history.leave()
}

func (h *sentHistory) leave() { h.at, h.away = len(h.sent), false }

// Older shows the message sent before, and reports whether there is one.
func (b *Box) Older() bool {
	h := &b.history
	if h.at == 0 {
		return false
	}
	if !h.away {
		h.draft, h.away = b.Text(), true
		b.remember()
	}
	h.at--
	b.show(h.sent[h.at])
	return true
}

// Newer goes back towards the draft, and reports whether it moved.
func (b *Box) Newer() bool {
	h := &b.history
	if !h.away {
		return false
	}
	h.at++
	if h.at >= len(h.sent) {
		h.leave()
		b.show(h.draft)
		return true
	}
	b.show(h.sent[h.at])
	return true
}

// show puts a text of the history into the box without leaving it.
func (b *Box) show(text string) {
	at, away, draft := b.history.at, b.history.away, b.history.draft
	b.chips = nil
	b.put(text)
	b.history.at, b.history.away, b.history.draft = at, away, draft
}
