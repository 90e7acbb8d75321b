package tui

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
)

// burst is a paste that came without brackets: keys less than pasteGap apart
// were not typed. They are gathered and put into the box together, as one edit,
// when no more come; until then the frame stays as it is.
type burst struct {
	last  time.Time // of the last key
	first string    // what the last key put into the box; "" was something else
	text  strings.Builder
	keys  int  // that were gathered, to see whether more came
	off   bool // this terminal marks its pastes: nothing is guessed
}

// pasteGap is less than any hand needs between two keys.
const pasteGap = 10 * time.Millisecond

// holds says whether a paste is being gathered.
func (b *burst) holds() bool { return b.text.Len() > 0 }

// pasted gathers a key that belongs to a paste; it reports whether it does.
func (i *input) pasted(k tea.KeyPressMsg, small bool) (tea.Cmd, bool) {
	b, now := &i.burst, i.now()
	together := now.Sub(b.last) < pasteGap
	b.last = now
	text := pastedText(k)
	if b.off || !together || text == "" || i.mode != modeInput || i.overlay.Open() || small {
		return nil, false
	}
	begins := !b.holds()
	b.text.WriteString(text)
	b.keys++
	if begins {
		return awaitRest(b.keys), true
	}
	return nil, true
}

// pastedText is what a key stands for in a text; "" is nothing. A line end
// never sends, a tab never leaves the box.
func pastedText(k tea.KeyPressMsg) string {
	switch keyName(k) {
	case "enter":
		return "\r"
	case "ctrl+j":
		return "\n"
	case "tab":
		return "\t"
	}
	return k.Text
}

// awaitRest looks after a while whether more of a paste has come.
func awaitRest(keys int) tea.Cmd {
	return tea.Tick(pasteGap, func(time.Time) tea.Msg { return burstRestedMsg{keys} })
}

func (i *input) onBurstRested(msg burstRestedMsg) tea.Cmd {
	switch {
	case !i.burst.holds():
		return nil
	case msg.keys != i.burst.keys:
		return awaitRest(i.burst.keys)
	}
	return i.endBurst()
}

// endBurst puts what was gathered into the box.
func (i *input) endBurst() tea.Cmd {
	b := &i.burst
	if !b.holds() {
		return nil
	}
	text, typed := b.text.String(), b.first
	b.text.Reset()
	b.first = ""
	i.notice.clear()
	if i.draft.TakeBack(typed) { // the first key could not be told from a typed one
		text = typed + text
	}
	return i.onPasted(i.draft.Paste(text))
}
