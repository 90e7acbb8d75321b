package tui

import (
	"strings"
	"testing"

	"winnow/tui/tuitest"
)

// 2: a long reply scrolls to its first line and INPUT keeps the focus.
func TestALongReplyLeavesTheFocusInTheInput(t *testing.T) {
	reply := "The first line.\n\n" + strings.Repeat("more\n\n", 40) + "The last line."
	r := start(t, 80, 24, say(reply))
	r.Type("talk", tuitest.Send)
	r.answered(1)
	r.Until(func(frame string) bool {
		return strings.Contains(strings.Split(frame, "\n")[2], "The first line.") && strings.HasPrefix(footerOf(frame), " INPUT ")
	})
	r.Type("red") // r is no command
	r.Wait(" red")
}

// The height that counts is the reply's: a long question does not scroll.
func TestALongQuestionIsNoLongReply(t *testing.T) {
	r := start(t, 80, 24, say("short"))
	r.Paste(strings.Repeat("a line\n", 40))
	r.Type(tuitest.Send)
	r.answered(1)
	if !r.model.conv.chat.AtEnd() {
		t.Error("the view does not follow its end")
	}
}
