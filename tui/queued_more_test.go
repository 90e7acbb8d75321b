package tui

import (
	"strings"
	"testing"

	at "winnow/assistant/assistanttest"
	"winnow/tui/tuitest"
)

// What was
// replaced is in the history of sent messages, for typed text is never lost.
func TestReplacedQueuedMessagesAreNotLost(t *testing.T) {
	r, gate := waiting(t, say("third answer"))
	r.Type("third", tuitest.Send)
	r.Wait("queued: third")
	r.Type(tuitest.Up)
	r.Until(func(frame string) bool { return boxOf(frame) == "second" })
	r.Type(tuitest.Key("ctrl+u"))
	gate.Open()
	r.Wait("third answer")
	r.WaitGone("working")
	if n := len(r.script.Requests()); n != 2 {
		t.Errorf("%d requests went out, want 2", n)
	}
}

func TestPaneSaysThatTheAssistantWorks(t *testing.T) {
	for range 20 {
		gate := at.NewGate()
		d := startProgram(t, setup{answers: []at.Answer{{at.Say("half of it"), at.Stop{At: gate}}}})
		d.Type("go on", tuitest.Send)
		gate.Wait(t)
		d.Wait("half of it")
		d.Wait("assistant is working · esc cancels")
		d.Type(tuitest.Esc)
		d.WaitGone("assistant is working · esc cancels")
	}
}

func TestATooSmallScreenCancelsAndOpensNothing(t *testing.T) {
	gate := at.NewGate()
	d := startProgram(t, setup{answers: []at.Answer{{at.Say("half"), at.Stop{At: gate}}}})
	d.Type("go on", tuitest.Send)
	gate.Wait(t)
	d.Wait("half")
	d.Resize(39, 11)
	d.Wait("terminal too small")
	d.Type(tuitest.F1, tuitest.CtrlP) // nobody would see them
	d.Type(tuitest.Esc)
	d.Resize(120, 32)
	d.Wait("cancelled")
	d.box("go on")
	if frame := d.Frame(); strings.Contains(frame, "━ Keys ━") || strings.Contains(frame, "━ Commands ━") {
		t.Errorf("an overlay was opened where nobody saw it:\n%s", frame)
	}
}
