package tui

import (
	"strings"
	"testing"

	"winnow/assistant"
	"winnow/tui/tuitest"
)

// Where a filter is shown, the way back to the session's own pairs is shown as well.
func TestAFilterNamesItsWayBack(t *testing.T) {
	d := startProgram(t, setup{w: 80, h: 24, pairs: []assistant.Pair{told("first question", "an answer"), told("second question", "another")}})
	filter := func() {
		t.Helper()
		d.Type(tuitest.Tab, "f", tuitest.Key("ctrl+u"), "c'first'", tuitest.Enter)
		d.WaitGone("second question")
	}
	filter()
	d.Wait("chat · c'first' · F ends it")
	d.Type("F")
	d.Wait("second question")
	d.WaitGone("ends it")

	d.Type("i")
	d.in("INPUT")
	filter()
	d.Type("i")
	d.Wait("chat · c'first' · /unfilter ends it")
	d.Type("/unfilter", tuitest.Send)
	d.Wait("second question")
	d.in("INPUT")
}

// However long the filter is, its way back is on the screen.
func TestALongFilterLeavesRoomForItsWayBack(t *testing.T) {
	d := startProgram(t, setup{w: 40, h: 12, pairs: []assistant.Pair{told("first question", "an answer")}})
	d.Type(tuitest.Tab, "f", tuitest.Key("ctrl+u"), "c'"+strings.Repeat("first question ", 1)+"' | c'first' | c'question'", tuitest.Enter)
	d.Wait("… · F ends it ━")
}

// The footer names the keys of the list above the box: where enter takes an entry, enter.
func TestTheFooterNamesTheKeysOfTheList(t *testing.T) {
	t.Chdir(t.TempDir())
	d := startProgram(t, setup{w: 80, h: 24})
	d.Type("/mo")
	d.says("enter takes · ↑ ↓ choose · esc closes")
	d.Type("del ")
	d.says("tab takes · ↑ ↓ choose · enter runs · esc closes")
	d.Type(tuitest.Key("ctrl+u"), "see @gpt-4o-p")
	d.says("tab takes · ↑ ↓ choose · esc closes")
}
