package chat

import (
	"strings"

	"winnow/assistant"
	"winnow/tui/keymap"
	"winnow/tui/pane"
	"winnow/tui/style"
)

// Below describes what is below the screen, with the key of the action that goes there: new lines
// if any arrived, otherwise later messages, otherwise the rest of the message; "" if nothing is
// below. If action is "", it names no key. arrived reports whether new lines arrived.
func (v *View) Below(action keymap.Action) (text string, arrived bool) {
	if v.list.AtEnd() {
		return "", false
	}
	n, e := v.list.Below(), v.list.Edges()
	switch {
	case n > 0:
		text, arrived = assistant.Counted(n, "new line"), true
	case e.ItemsBelow > 0:
		text = assistant.Counted(e.ItemsBelow, "message")
	case e.LinesBelow > 0:
		text = assistant.Counted(e.LinesBelow, "line")
	default:
		return "", false
	}
	return pane.Join(v.rc.st.Icons.New+" "+text, strings.TrimSpace(v.rc.keys.Hint(action, ""))), arrived
}

// StickyQuestion returns the question, as one line, to the answer in the first row of the screen, and
// how many lines of that answer are above the screen; ok is false if the first row shows no
// answer.
func (v *View) StickyQuestion() (question string, lines int, ok bool) {
	i, line, shown := v.list.ItemAt(0)
	if !shown {
		return "", 0, false
	}
	it := v.src.at(i)
	if len(it.starts) < 2 || line < it.starts[1] {
		return "", 0, false
	}
	return it.question(), line - it.starts[1], true
}

// ToQuestion scrolls to the question that StickyQuestion returns.
func (v *View) ToQuestion() {
	if i, _, ok := v.list.ItemAt(0); ok {
		v.list.ScrollTo(i, 0, 0)
	}
}

// ScrollBar returns the cells [from, to) of a scroll bar that represent the screen. The parameter
// cells is the length of the bar. ok is false if everything is visible.
func (v *View) ScrollBar(cells int) (from, to int, ok bool) { return v.list.Bar(cells) }

// maxQuestion is the maximum width in cells of a question that StickyQuestion returns.
const maxQuestion = 200

// question returns the first line of the user's message, truncated if long.
func (it *item) question() string {
	if it.asked == "" {
		first, _, _ := strings.Cut(strings.TrimSpace(string(it.pair.UserText)), "\n")
		it.asked = style.Truncate(oneLine(first), maxQuestion, it.rc.st.Icons.Ellipsis)
	}
	return it.asked
}
