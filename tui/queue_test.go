package tui

import (
	"errors"
	"strings"
	"testing"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/llm"
	"winnow/tui/style"
	"winnow/tui/tuitest"
	"winnow/tui/usecase"
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
	r.Wait("Queued: waiting for you")
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

func TestAQueuedMessageStaysAfterCancel(t *testing.T) {
	gate := at.NewGate()
	r := start(t, 90, 24, at.Answer{at.Say("half"), at.Stop{At: gate}}, say("third answer"), say("never"))
	r.Type("first", tuitest.Send)
	gate.Wait(t)
	r.Type("second", tuitest.Send)
	r.Wait("queued: second")
	r.Type(tuitest.Esc)
	r.WaitGone("working")
	r.Wait("queued: second") // as a card
	if len(r.script.Requests()) != 1 {
		t.Error("the queued message was sent by itself")
	}
	r.Type(tuitest.CtrlP, "Queued", tuitest.Enter)
	r.Wait("edit")
	r.clock.Advance(overlayGuard)
	r.Type("d")
	r.WaitGone("queued: second")
}

func TestAKeptMessageIsNeverSentByItself(t *testing.T) {
	gate := at.NewGate()
	r := start(t, 90, 24, at.Answer{at.Say("half"), at.Stop{At: gate}}, say("third answer"), say("never"))
	r.Type("first", tuitest.Send)
	gate.Wait(t)
	r.Type("second", tuitest.Send)
	r.Wait("queued: second")
	r.Type(tuitest.Esc)
	r.WaitGone("working")
	r.Type(tuitest.Key("ctrl+u"), "third", tuitest.Send)
	r.Wait("third answer")
	r.WaitGone("working")
	r.Wait("queued: second")
	if n := len(r.script.Requests()); n != 2 {
		t.Errorf("%d requests went out, want 2: the card was sent by itself", n)
	}
}

func TestTypingGoesOnWhileTheQueueIsSent(t *testing.T) {
	gate := at.NewGate()
	r := start(t, 90, 24, at.Answer{at.Say("half"), at.Stop{At: gate}}, say("second answer"))
	r.Type("first", tuitest.Send)
	gate.Wait(t)
	r.Type("second", tuitest.Send)
	r.Wait("queued: second")
	r.Type("sec")
	gate.Open()
	r.Wait("second answer")
	r.WaitGone("working")
	if got := r.Frame(); !strings.Contains(got, "\n › sec\n") {
		t.Errorf("what was being typed is gone:\n%s", got)
	}
}

func TestJoinedQueuedMessagesAreEditedTogether(t *testing.T) {
	r, gate := waiting(t, say("third answer"))
	r.Type("third", tuitest.Send)
	r.Wait("queued: second · third")
	r.answerQueued("e")
	r.WaitGone("queued:")
	r.Until(func(frame string) bool { return boxOf(frame) == "second||third" })
	gate.Open()
	r.WaitGone("working")
	if n := len(r.script.Requests()); n != 1 {
		t.Errorf("%d requests went out, want only the first", n)
	}
}

// TestQueuedEndsTheTurnAfterItsTools: the response that streams runs to its
// end, its tools run and are recorded, and then the queued message is the next
// turn. The model is not asked again for the first one.
func TestQueuedEndsTheTurnAfterItsTools(t *testing.T) {
	gate := at.NewGate()
	r := start(t, 100, 24,
		at.Answer{at.Say("Adding."), at.Call{Name: "add_word", Arguments: `{"word":"three"}`}, at.Stop{At: gate}},
		say("second answer"), say("never"))
	r.Type("first", tuitest.Send)
	gate.Wait(t)
	r.Type("second", tuitest.Send)
	r.Wait("queued: second")
	gate.Open()
	r.Wait("second answer")
	r.Wait("✓ added three")
	r.Wait("2/2")
	r.WaitGone("working")
	if got := strings.Join(r.window.Words(), " "); got != "one two three" {
		t.Errorf("the words are %q", got)
	}
	requests := r.script.Requests()
	if len(requests) != 2 || lastUser(r.script) != "second" {
		t.Fatalf("%d requests, the last asks %q; want the queued message as the second", len(requests), lastUser(r.script))
	}
	var roles []string
	for _, m := range requests[1].Messages {
		roles = append(roles, string(m.Role))
	}
	if got := strings.Join(roles, " "); got != "system user assistant tool user" {
		t.Errorf("the second request holds %s; want the exchange of the first turn, whole", got)
	}
	pairs := r.pairs(t)
	if len(pairs) != 2 || pairs[0].State != assistant.PairComplete || len(pairs[0].ToolCalls) != 1 {
		t.Errorf("the pairs are %+v; want the first one complete, with its call", pairs)
	}
}

// pairs are all that is stored.
func (r *rig) pairs(t *testing.T) []assistant.Pair {
	t.Helper()
	refs, err := r.store.Refs(t.Context(), "", 3.5)
	if err != nil {
		t.Fatal(err)
	}
	seqs := make([]int64, len(refs))
	for i, ref := range refs {
		seqs[i] = ref.Seq
	}
	pairs, err := r.store.Load(t.Context(), seqs)
	if err != nil {
		t.Fatal(err)
	}
	return pairs
}

func TestQueuedWorksFromEveryMode(t *testing.T) {
	for name, c := range map[string]struct {
		mode, key string
		sent      bool
	}{
		"edit, VIEW":      {"VIEW", "e", false},
		"drop, VIEW":      {"VIEW", "d", false},
		"send now, VIEW":  {"VIEW", "s", true},
		"edit, INPUT":     {"INPUT", "e", false},
		"drop, INPUT":     {"INPUT", "d", false},
		"send now, INPUT": {"INPUT", "s", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, gate := waiting(t, say("second answer"))
			if c.mode == "VIEW" {
				r.Type(tuitest.Tab)
				r.Wait(" VIEW ")
			}
			r.answerQueued(c.key)
			r.WaitGone("queued: second")
			gate.Open()
			if c.sent {
				r.Wait("second answer")
			}
			r.WaitGone("working")
			if got := lastUser(r.script) == "second"; got != c.sent {
				t.Errorf("the message was sent: %v, want %v", got, c.sent)
			}
		})
	}
}

// A message that could not be queued is not lost if the next one is being written: it can be
// recalled.
func TestARejectedQueuedMessageCanBeRecalled(t *testing.T) {
	m, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	m.input.draft.Set("second")
	m.onQueued(usecase.MessageQueued{Prompt: assistant.Prompt{Text: "first"}, Err: errors.New("the disk is full")})
	if text := m.input.draft.Text(); text != "second" {
		t.Fatalf("the box contains %q", text)
	}
	if !m.input.draft.Older() || m.input.draft.Text() != "first" {
		t.Errorf("recalled %q, want the message that was not queued", m.input.draft.Text())
	}
}
