package tui

import (
	"strings"
	"testing"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/llm"
	"winnow/tui/style"
	"winnow/tui/tuitest"
)

func TestPaneSaysThatTheAssistantWorks(t *testing.T) {
	for range 20 {
		gate := at.NewGate()
		d := startProgram(t, setup{answers: []at.Answer{{at.Say("half of it"), at.Stop{At: gate}}}})
		d.Type("go on", tuitest.Send)
		gate.Wait(t)
		d.Wait("half of it")
		d.Wait("assistant is working")
		d.Type(tuitest.Esc)
		d.WaitGone("assistant is working")
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
	if frame := d.Frame(); strings.Contains(frame, "─ Keys ─") || strings.Contains(frame, "─ Commands ─") {
		t.Errorf("an overlay was opened where nobody saw it:\n%s", frame)
	}
}

// 15: Retrying… holds until the next text or tool.
func TestRetryingHoldsUntilTheNextText(t *testing.T) {
	s := newStill(t, style.Options{Unicode: true}, 80, 24)
	s.turn.running = true
	s.turn.onRetry(assistant.Retrying{Attempt: 2})
	s.turn.setStatus(thinking)
	if s.turn.status != "Retrying…" {
		t.Errorf("the status is %q", s.turn.status)
	}
	s.onText(assistant.TextDelta{Text: "so"})
	s.turn.setStatus(thinking)
	if s.turn.status != thinking {
		t.Errorf("after a text the status is %q", s.turn.status)
	}
}

// 27: with a question open the status line says what esc does to it, and clicks
// reach the footer, [new session] and [ctrl+j send].
func TestEscDeclinesIsSaid(t *testing.T) {
	s := newStill(t, style.Options{Unicode: true}, 80, 24)
	s.turn.running, s.turn.began = true, s.now()
	s.ask("Sure?", nil, "yes", "no", nil)
	if line := s.statusLine(70); !strings.Contains(line, "esc declines") {
		t.Errorf("the status line says %q", line)
	}
}

// 29: an estimate alone does not refuse.
func TestWhatSeemsTooLongCanBeSentAnyway(t *testing.T) {
	d := startProgram(t, setup{
		answers: []at.Answer{say("it fits")},
		known:   []llm.ModelInfo{{ID: "test/script", Context: 2000, Known: true, Tools: true}},
	})
	d.Paste(strings.Repeat("word ", 1600))
	d.Type(tuitest.Send)
	d.Wait("This message is too long")
	d.clock.Advance(overlayGuard)
	d.Type("y")
	d.Wait("it fits")
}
