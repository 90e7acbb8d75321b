package tui

import (
	"errors"
	"strings"
	"testing"
	"time"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/history"
	"winnow/assistant/llm"
	"winnow/tui/tuitest"
)

const altOne, altTwo = tuitest.Key("alt+1"), tuitest.Key("alt+2")

// cancelled starts a program whose first turn was cancelled after two words.
func cancelled(t *testing.T, s setup) *fixture {
	t.Helper()
	gate := at.NewGate()
	s.answers = append([]at.Answer{{at.Say("two words"), at.Stop{At: gate}}}, s.answers...)
	d := startProgram(t, s)
	d.Type("question", tuitest.Send)
	gate.Wait(t)
	d.Wait("two words")
	d.Type(tuitest.Esc)
	d.Wait("Cancelled after 2 words")
	d.Wait("[alt+1 Keep this part] [alt+2 Ask again]")
	d.box("question")
	return d
}

func TestACancelledAnswerCanBeKept(t *testing.T) {
	t.Parallel()
	d := cancelled(t, setup{answers: []at.Answer{say("the next answer")}})
	d.WaitGone("two words")
	d.Type(altOne)
	d.Wait("two words")
	d.WaitGone("Cancelled after")
	d.Wait("0/1")
	d.ask("!", "the next answer")
	if got := len(d.script.Requests()[1].Messages); got != 2 { // the system prompt, and the message
		t.Errorf("%d messages were sent with a kept answer, want 2", got)
	}
}

func TestACancelledAnswerCanBeAskedAgain(t *testing.T) {
	t.Parallel()
	d := cancelled(t, setup{answers: []at.Answer{say("the whole answer")}})
	d.Type(altTwo)
	d.Wait("the whole answer")
	d.WaitGone("Cancelled after")
	d.box("Type a message…")
	if got := lastUser(d.script); got != "question" {
		t.Errorf("asked again: %q", got)
	}
}

// What is unusual about sending a draft is said beside the box: that it edits an earlier message, or that a filter
// decides what goes with it.
func TestTheBoxSaysWhatSendingDoes(t *testing.T) {
	t.Parallel()
	d := startProgram(t, setup{pairs: []assistant.Pair{told("apples?", "about apples"), told("pears?", "about pears")}})
	d.Wait("about pears")
	d.Type(tuitest.Tab, "K", "e")
	d.Wait("editing message 1 · sent as a new one")
	d.Wait("ctrl+j ask again · esc leave the edit")
	d.Type(tuitest.Esc)
	d.Wait("edit discarded, the message is unchanged · ctrl+z brings the text back")
	d.WaitGone("editing message")
	d.Type(tuitest.Tab, "f", tuitest.Key("ctrl+u"), tuitest.Enter)
	d.Wait("2 messages from all sessions will be sent with yours")
	d.Type("f", "c'pears'", tuitest.Enter)
	d.Wait("1 filtered message will be sent with yours")
	d.Type("F")
	d.WaitGone("will be sent with yours")
}

// Esc keeps the draft that the user is writing, and says where the message has gone.
func TestCancellingKeepsADraft(t *testing.T) {
	t.Parallel()
	gate := at.NewGate()
	d := startProgram(t, setup{answers: []at.Answer{{at.Say("two words"), at.Stop{At: gate}}}})
	d.Type("question", tuitest.Send)
	gate.Wait(t)
	d.Wait("two words")
	d.Type("my draft", tuitest.Esc)
	d.Wait("your draft stays · ↑ recalls the message")
	d.box("my draft")
	d.Type(tuitest.Key("up"))
	d.box("question")
	d.Type(tuitest.Key("down"))
	d.box("my draft")
}

// While the card is there its numbers are the only ones, and it goes with the next message.
func TestTheCardOfACancelledAnswerHasTheNumbers(t *testing.T) {
	t.Parallel()
	d := cancelled(t, setup{w: 80, h: 24, answers: []at.Answer{say("other answer")}})
	d.Wait("which models of openai are hidden, and why?") // of the welcome
	if strings.Count(d.Frame(), "alt+1") != 1 {
		t.Errorf("two offer alt+1:\n%s", d.Frame())
	}
	d.Type(tuitest.Key("alt+3"))
	d.Wait("there is no choice 3")
	d.Type(tuitest.Key("ctrl+u"), "another", tuitest.Send)
	d.Wait("other answer")
	d.WaitGone("Cancelled after")
	d.Type(altOne)
	d.rest()
	if strings.Contains(d.Frame(), "two words") {
		t.Errorf("it was kept after the next message:\n%s", d.Frame())
	}
}

func TestACancelledRegenerationIsKeptAsAnswer(t *testing.T) {
	t.Parallel()
	gate := at.NewGate()
	d := startProgram(t, setup{pairs: []assistant.Pair{told("question", "the first")}, answers: []at.Answer{{at.Say("half an answer"), at.Stop{At: gate}}}})
	d.Wait("the first")
	d.Type(tuitest.Tab, "r")
	gate.Wait(t)
	d.Wait("half an answer")
	d.Type(tuitest.Esc)
	d.Wait("Cancelled after 3 words")
	d.Wait("the first")
	d.Type(altOne)
	d.says("kept as answer 2 of 2")
	d.Wait("‹1/2›")
	d.Type(">")
	d.Wait("half an answer")
	d.Wait("‹2/2›")
	d.Type("<")
	d.Wait("the first")
}

func proveBranch(t *testing.T) {
	t.Helper()
	t.Parallel()
	d := startProgram(t, setup{pairs: []assistant.Pair{told("one", "answer one"), told("two", "answer two")}, answers: []at.Answer{say("answer three")}})
	d.Wait("answer two")
	root := d.session.ID()
	d.Type(tuitest.Tab, "K", "B")
	d.WaitGone("answer two")
	d.Wait("answer one")
	d.says("a new session that continues from here")
	d.in("INPUT")
	if d.session.ID() == root {
		t.Error("it is the same session")
	}
	d.ask("three", "answer three")
	if got := lastUser(d.script); got != "three" || len(d.script.Requests()[0].Messages) != 4 {
		t.Errorf("the branch sent %d messages, the last %q", len(d.script.Requests()[0].Messages), got)
	}
	d.Wait("2/2")
}

func TestASessionIsNamed(t *testing.T) {
	t.Parallel()
	var store history.Store
	d := startProgram(t, setup{pairs: []assistant.Pair{told("one", "answer one")}, history: func(s history.Store) error { store = s; return nil }})
	d.Wait("answer one")
	d.Type("/title  The great plan", tuitest.Send)
	d.says("“The great plan”")
	all, err := store.Sessions(t.Context())
	if err != nil || len(all) != 1 || all[0].Title != "The great plan" {
		t.Errorf("Sessions = %+v, %v", all, err)
	}
	d.Type("/title", tuitest.Send)
	d.box("/title The great plan")
	d.Type(tuitest.Key("ctrl+u"), "/title -", tuitest.Send)
	d.says("“one”")
	d.Type(tuitest.CtrlP, "Sessions of", tuitest.Enter)
	d.Wait("one")
}

// The first enter in a draft of one line asks once, in the footer, which key shall send.
func TestTheFirstEnterAsks(t *testing.T) {
	const question = "Enter added a line. ctrl+j sends. Let Enter send? [alt+1 yes] [alt+2 no]"
	begin := func(t *testing.T, fault error) (d *fixture, stored func() string) {
		t.Helper()
		kept := make(chan string, 8)
		d = startProgram(t, setup{answers: []at.Answer{say("the answer")}, change: func(o *Options) {
			o.AsksEnter = true
			o.StoreSetting = func(key, value string) error { kept <- key + "=" + value; return fault }
		}})
		d.Type("one line", tuitest.Enter)
		d.Wait(question)
		d.box("one line")
		return d, func() string { return <-kept }
	}
	t.Run("yes", func(t *testing.T) {
		t.Parallel()
		d, stored := begin(t, nil)
		d.Type(altOne)
		d.Wait("the answer")
		d.WaitGone("Let Enter send?")
		if got, kept := lastUser(d.script), stored(); got != "one line" || kept != "send_key=enter" {
			t.Errorf("sent %q, stored %q", got, kept)
		}
		d.says("enter send")
	})
	for name, key := range map[string]any{"no": altTwo, "esc": tuitest.Esc, "a letter": "x"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, stored := begin(t, nil)
			d.Type(key)
			d.WaitGone("Let Enter send?")
			if name == "a letter" {
				d.box("one line|x")
			} else {
				d.box("one line")
			}
			if kept := stored(); kept != "send_key=ctrl+enter" || len(d.script.Requests()) != 0 {
				t.Errorf("stored %q, %d requests", kept, len(d.script.Requests()))
			}
			d.Type(tuitest.Key("ctrl+u"), tuitest.Key("backspace"), tuitest.Key("ctrl+u"), "again", tuitest.Enter)
			d.rest()
			if strings.Contains(d.Frame(), "Let Enter send?") {
				t.Errorf("it asks again:\n%s", d.Frame())
			}
		})
	}
	t.Run("not stored", func(t *testing.T) {
		t.Parallel()
		d, _ := begin(t, errors.New("disk full"))
		d.Type(altTwo)
		d.says("disk full")
	})
}

func TestTheCostOfTheSessionIsSaid(t *testing.T) {
	t.Parallel()
	first, second := told("one", "answer one"), told("two", "answer two")
	first.Model, first.Usage, first.Took = "test/script", &llm.Usage{Prompt: 1000, Completion: 200}, 4200*time.Millisecond
	d := startProgram(t, setup{pairs: []assistant.Pair{first, second}, known: []llm.ModelInfo{{
		ID: "test/script", Context: 64_000, Known: true, Tools: true, Facts: llm.Facts{PriceIn: llm.PriceOf(2), PriceOut: llm.PriceOf(10)},
	}}})
	d.Wait("answer two")
	d.Type("/cost", tuitest.Send)
	d.says("this session: 2 answers in 4.2 s, 1.2k tokens for the 1 answer whose usage was reported, $0.004")
	d.Type(tuitest.Key("f2"))
	d.Wait("SESSION")
	d.Wait("2 answers in 4.2 s")
	d.Wait("1.2k tokens for the 1 answer whose usage was reported")
	d.Type(tuitest.Esc)
	d.WaitGone("SESSION")
}

// The lines below the messages keep as far from the edge as the messages.
func TestTheCardOfACancelledAnswerKeepsItsMargin(t *testing.T) {
	t.Parallel()
	d := cancelled(t, setup{})
	for w := 100; w <= 130; w++ {
		d.Resize(w, 32)
		d.Until(func(frame string) bool {
			at := strings.Index(frame, "Cancelled")
			if at < 0 {
				return false
			}
			line, _, _ := strings.Cut(frame[at:], "\n")
			left, _, split := strings.Cut(line, "│")
			return split && strings.HasSuffix(left, "  ")
		})
	}
}
