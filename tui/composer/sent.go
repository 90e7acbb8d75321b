package composer

import "slices"

// maxStash is the maximum number of stashed texts.
const maxStash = 20

// recall moves back from the draft through earlier texts. The first is the text that was
// cleared last, unless a message has been sent since; then come the sent messages, newest
// first, and then the older cleared texts.
type recall struct {
	sent     []string // oldest first
	stash    []string // texts that were cleared without being sent, oldest first
	cleared  bool     // the newest text of stash was cleared after the newest message of sent was sent
	index    int      // index in all texts, oldest first; len() means the draft
	draft    string
	browsing bool // a recalled text is shown instead of the draft
}

// SetEarlier sets the messages that were sent and the texts that were cleared in earlier
// runs, oldest first. Texts already cleared in this run count as newer.
func (b *Model) SetEarlier(sent, stash []string) {
	p := &b.recall
	own := p.stash
	p.sent, p.stash, p.cleared = sent, stash, false
	for _, text := range own {
		p.addToStash(text)
	}
	p.leave()
}

// AddSent adds a message that was just sent, and removes the same text from the stash.
func (b *Model) AddSent(text string) {
	p := &b.recall
	p.sent = append(p.sent, text)
	p.stash = slices.DeleteFunc(p.stash, func(s string) bool { return s == text })
	p.cleared = false
	p.leave()
}

// Stash returns the cleared texts, oldest first.
func (b *Model) Stash() []string { return b.recall.stash }

// addToStash adds an unsent text to the stash, unless the same text was sent before.
func (p *recall) addToStash(text string) {
	if text == "" || slices.Contains(p.sent, text) {
		return
	}
	p.stash = slices.DeleteFunc(p.stash, func(s string) bool { return s == text })
	p.stash = append(p.stash, text)
	p.stash = p.stash[max(0, len(p.stash)-maxStash):]
	p.cleared = true
}

func (p *recall) len() int { return len(p.sent) + len(p.stash) }

func (p *recall) text(i int) string {
	first := len(p.stash) // how many texts of stash are older than all sent messages
	if p.cleared && first > 0 {
		first--
	}
	switch {
	case i < first:
		return p.stash[i]
	case i < first+len(p.sent):
		return p.sent[i-first]
	}
	return p.stash[first]
}

// leave ends recalling: the draft is the current text again.
func (p *recall) leave() { p.index, p.browsing = p.len(), false }

// Older shows the next older text, and reports whether there is one.
func (b *Model) Older() bool {
	p := &b.recall
	if p.index == 0 {
		return false
	}
	if !p.browsing {
		p.draft, p.browsing = b.Text(), true
		b.pushUndo()
	}
	p.index--
	b.show(p.text(p.index))
	return true
}

// Newer shows the next newer text or the draft, and reports whether the shown text changed.
func (b *Model) Newer() bool {
	p := &b.recall
	if !p.browsing {
		return false
	}
	p.index++
	if p.index >= p.len() {
		p.leave()
		b.show(p.draft)
		return true
	}
	b.show(p.text(p.index))
	return true
}

// show shows a recalled text.
func (b *Model) show(text string) {
	b.chips = nil
	b.replace(text)
}
