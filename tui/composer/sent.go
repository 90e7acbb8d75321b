package composer

import "slices"

// stashKept is how many texts that were cleared the box calls back.
const stashKept = 20

// recall walks through messages that were sent and, newer than those, texts that
// were cleared without being sent. The draft that was there waits at the end.
type recall struct {
	sent  []string // oldest first
	stash []string // oldest first
	at    int      // place in sent and stash; behind both is the draft
	draft string
	away  bool // not at the draft
}

// SetSent gives the box the messages that were sent, oldest first.
func (b *Model) SetSent(texts []string) {
	b.recall.sent = texts
	b.recall.leave()
}

// AddSent adds the newest.
func (b *Model) AddSent(text string) {
	p := &b.recall
	p.sent = append(p.sent, text)
	p.stash = slices.DeleteFunc(p.stash, func(put string) bool { return put == text })
	p.leave()
}

// SetStash gives the box the texts that were cleared, oldest first.
func (b *Model) SetStash(texts []string) {
	b.recall.stash = texts
	b.recall.leave()
}

// Stash are the texts that were cleared, oldest first.
func (b *Model) Stash() []string { return b.recall.stash }

// putAway keeps a text that leaves the box without being sent.
func (p *recall) putAway(text string) {
	if text == "" || slices.Contains(p.sent, text) {
		return
	}
	p.stash = slices.DeleteFunc(p.stash, func(put string) bool { return put == text })
	p.stash = append(p.stash, text)
	p.stash = p.stash[max(0, len(p.stash)-stashKept):]
}

func (p *recall) len() int { return len(p.sent) + len(p.stash) }

func (p *recall) text(i int) string {
	if i < len(p.sent) {
		return p.sent[i]
	}
	return p.stash[i-len(p.sent)]
}

func (p *recall) leave() { p.at, p.away = p.len(), false }

// Older shows the text before, and reports whether there is one.
func (b *Model) Older() bool {
	p := &b.recall
	if p.at == 0 {
		return false
	}
	if !p.away {
		p.draft, p.away = b.Text(), true
		b.pushUndo()
	}
	p.at--
	b.show(p.text(p.at))
	return true
}

// Newer goes back towards the draft, and reports whether it moved.
func (b *Model) Newer() bool {
	p := &b.recall
	if !p.away {
		return false
	}
	p.at++
	if p.at >= p.len() {
		p.leave()
		b.show(p.draft)
		return true
	}
	b.show(p.text(p.at))
	return true
}

// show puts a text of the past into the box without leaving it.
func (b *Model) show(text string) {
	b.chips = nil
	b.put(text)
}
