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

// answerQueued opens the queued message and presses one of its keys.
func (r *rig) answerQueued(key string) {
	r.Type(tuitest.Key("alt+q"))
	r.Wait("Queued: sent")
	r.clock.Advance(overlayGuard)
	r.Type(key)
}

// waiting is a program whose first turn stands still and whose second message
// waits.
func waiting(t *testing.T, answers ...at.Answer) (*rig, *at.Gate) {
	t.Helper()
	gate := at.NewGate()
	r := start(t, 100, 24, append([]at.Answer{{at.Say("first answer"), at.Stop{At: gate}}}, answers...)...)
	r.Type("first", tuitest.Send)
	gate.Wait(t)
	r.Wait("first answer")
	r.Type("second", tuitest.Send)
	r.Wait("queued: second")
	r.Wait("alt+q edit, send, drop")
	return r, gate
}

func TestQueuedIsEdited(t *testing.T) {
	r, gate := waiting(t)
	r.Type("a draft")
	r.answerQueued("e")
	r.WaitGone("queued: second")
	r.Type(" thought")
	r.Wait(" second thought")
	r.Type(tuitest.CtrlZ, tuitest.CtrlZ, tuitest.CtrlZ)
	r.Wait(" a draft") // it is not lost
	gate.Open()
	r.WaitGone("working")
	if got := len(r.script.Requests()); got != 1 {
		t.Errorf("%d requests, want only the first", got)
	}
}

func TestQueuedIsSentNow(t *testing.T) {
	r, _ := waiting(t, say("second answer"))
	r.answerQueued("s")
	r.Wait("second answer")
	r.WaitGone("queued:")
	r.WaitGone("first answer") // its turn was cancelled
	r.Wait(" first")           // and its text is back in the box
	if got := lastUser(r.script); got != "second" {
		t.Errorf("the request asks %q, want the queued message", got)
	}
}

func TestQueuedIsDropped(t *testing.T) {
	r, gate := waiting(t)
	r.answerQueued("d")
	r.WaitGone("queued: second")
	r.Type(tuitest.Up)
	r.Wait(" second") // the history of sent messages has it
	gate.Open()
	r.WaitGone("working")
	if got := len(r.script.Requests()); got != 1 {
		t.Errorf("%d requests, want only the first", got)
	}
}

func TestQueuedStaysWhenTheTurnIsCancelled(t *testing.T) {
	r, _ := waiting(t, say("second answer"))
	r.Type(tuitest.Esc)
	r.WaitGone("working")
	r.Wait("queued: second")
	r.Wait("What would you like to change?") // the conversation is empty, the card stands below
	r.Type(tuitest.Key("alt+q"))
	r.Wait("Queued: it waits for you")
	r.clock.Advance(overlayGuard)
	r.Type("s")
	r.Wait("second answer")
	r.WaitGone("queued: second")
}

func TestQueuedStaysWhenTheTurnFails(t *testing.T) {
	gate := at.NewGate()
	refused := at.Fail{Err: &llm.RequestError{Kind: llm.KindQuota, Status: 429, Message: "slow down"}}
	r := start(t, 100, 24, at.Answer{at.Stop{At: gate}, refused}, say("third answer"))
	r.Type("first", tuitest.Send)
	gate.Wait(t)
	r.Type("second", tuitest.Send)
	r.Wait("queued: second")
	gate.Open()
	r.Wait("slow down")
	r.WaitGone("working")
	r.Wait("queued: second")
	r.Type("third", tuitest.Send)
	r.Wait("third answer")
	r.WaitGone("working")
	r.Wait("queued: second")
	if got := lastUser(r.script); got != "third" {
		t.Errorf("the last request asks %q: the card was sent by itself", got)
	}
}

func TestTheQueuedKeyWithoutAQueue(t *testing.T) {
	r := start(t, 80, 24)
	r.Type("draft", tuitest.Key("alt+q"))
	r.Wait("no message is queued")
	r.Wait(" draft")
}

func TestQueuedCardFitsEveryScreen(t *testing.T) {
	gate := at.NewGate()
	s := newStill(t, style.Options{Unicode: true}, 80, 24, at.Answer{at.Stop{At: gate}})
	events, err := at.Send(t.Context(), s.opts.Work.Session(), assistant.Prompt{Text: "first"})
	if err != nil {
		t.Fatal(err)
	}
	gate.Wait(t)
	if err := s.opts.Work.Session().Queue(assistant.Prompt{Text: "second", Typed: strings.Repeat("漢字\x1b[31m wide\n", 40)}); err != nil {
		t.Fatal(err)
	}
	readLog(t, s.Model)
	for w := 40; w <= 200; w += 7 {
		for h := 12; h <= 50; h += 19 {
			s.do(s.resize(w, h))
			tuitest.Exact(t, s.frame(), w, h)
			if !strings.Contains(s.frame(), "queued: 漢字") {
				t.Errorf("no card at %d×%d", w, h)
			}
		}
	}
	s.opts.Work.Session().Cancel()
	for range events { // until the turn has ended
	}
}
