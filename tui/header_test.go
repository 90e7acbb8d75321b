package tui

import (
	"strings"
	"testing"

	at "winnow/assistant/assistanttest"
	"winnow/tui/tuitest"
)

// The header of an empty session counts no messages and does not say "saved"; both come
// with the first message and the first change.
func TestTheHeaderSaysNothingUntilThereIsSomething(t *testing.T) {
	d := startProgram(t, setup{answers: []at.Answer{say("here they are")}})
	d.Wait("What would you like to change?")
	head := func() string { return firstLine(d.Frame()) }
	if got := head(); strings.Contains(got, "0/0") || strings.Contains(got, "saved") {
		t.Errorf("the header of an empty session is %q", got)
	}
	d.Type("list them", tuitest.Send)
	d.Wait("1/1")
	if got := head(); strings.Contains(got, "saved") {
		t.Errorf("before any change the header is %q", got)
	}
	d.goTo("PANE")
	d.Type("x")
	d.Until(func(frame string) bool { return strings.Contains(firstLine(frame), "1 unsaved") })
	d.Type(tuitest.CtrlZ)
	d.Until(func(frame string) bool { return strings.HasSuffix(strings.TrimSpace(firstLine(frame)), "  saved") })
	d.Type("f", tuitest.Key("ctrl+u"), "c'no such text'", tuitest.Enter)
	d.Until(func(frame string) bool { return strings.Contains(firstLine(frame), "0/0") }) // the filter has hidden them
}
