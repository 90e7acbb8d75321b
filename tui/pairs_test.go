package tui

import (
	"errors"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/history"
	"winnow/tui/keymap"
	"winnow/tui/tuitest"
)

// broken is an answer that fails.
func broken() at.Answer { return at.Answer{at.Fail{Err: errors.New("the line is dead")}} }

// A pair that failed is tried again where it stands, not at the end.
func TestAnOlderPairIsRetriedInItsPlace(t *testing.T) {
	gate := at.NewGate()
	long := strings.Repeat("line\n\n", 20)
	r := start(t, 80, 24, broken(), say(long), at.Answer{at.Say("at last"), at.Stop{At: gate}})
	r.Type("first", tuitest.Send)
	r.Wait("[error:")
	r.WaitGone("working")
	r.Type("second", tuitest.Send)
	r.answered(2)
	r.Type(tuitest.Esc, "gr")
	gate.Wait(t)
	r.Wait("at last")
	if !strings.Contains(r.Frame(), " first") {
		t.Errorf("the pair is not on the screen:\n%s", r.Frame())
	}
	r.Type(tuitest.Esc)
	r.Wait("cancelled; r tries again") // no tool has run
}

func TestAFailedPairCanBeAnsweredFromTheInput(t *testing.T) {
	r := start(t, 80, 24, broken(), say("now it works"))
	r.Type("first", tuitest.Send)
	r.Wait("[alt+1 Retry] [alt+2 Re-ask] [alt+3 Delete]") // r, e and d would type letters
	r.WaitGone("working")
	r.Type(tuitest.Esc)
	r.Wait("[alt+1 Retry · r] [alt+2 Re-ask · e] [alt+3 Delete · d]")
	r.Type("i")
	r.Type(tuitest.Alt(1))
	r.Wait("now it works")
	r.WaitGone("[alt+1 Retry")
}

func TestTheNeighbourOfADeletedPairHasTheFocus(t *testing.T) {
	r := start(t, 80, 24, say("kept"), broken())
	var copied []string
	r.model.opts.Clipboard = func(text string) error { copied = append(copied, text); return nil }
	for i, text := range []string{"one", "two"} {
		r.Type(text, tuitest.Send)
		r.answered(i + 1)
	}
	r.Wait("1/2") // otherwise the frame of the first answer says 1/1
	r.Type(tuitest.Esc, "d")
	r.Wait("1/1")
	r.Type("y")
	r.Wait("copied the answer")
	if len(copied) != 1 || copied[0] != "kept" {
		t.Errorf("y copies %q", copied)
	}
}

// The responses of a failed turn that were whole stay on the screen while it is
// tried again, and afterwards.
func TestARetriedPairKeepsItsCards(t *testing.T) {
	gate := at.NewGate()
	r := start(t, 80, 24, at.Answer{call("add_word", `{"word":"three"}`)}, broken(), at.Answer{at.Say("added now"), at.Stop{At: gate}, at.Say(" really")})
	r.Type("add three", tuitest.Send)
	r.Wait("[alt+1 Retry")
	r.WaitGone("working")
	r.Type(tuitest.Alt(1))
	gate.Wait(t)
	r.Wait("added now")
	if !strings.Contains(r.Frame(), "✓ added three") {
		t.Errorf("the card is gone while it is tried again:\n%s", r.Frame())
	}
	gate.Open()
	r.Wait("really")
	r.WaitGone("working")
	if n := strings.Count(r.Frame(), "✓ added three"); n != 1 {
		t.Errorf("the card is there %d times:\n%s", n, r.Frame())
	}
}

// What is tried again far above is shown there as it comes.
func TestAPairFarAboveIsRetriedInSight(t *testing.T) {
	r := start(t, 80, 24, broken(), say("two"), say("three"), say("four"), say("the answer at last"))
	for i, text := range []string{"one?", "two?", "three?", "four?"} {
		r.Type(text, tuitest.Send)
		r.answered(i + 1)
	}
	r.Type(tuitest.Esc, "gr")
	r.Wait("the answer at last")
	r.WaitGone("working")
	if pairs, err := r.session.Pairs(t.Context(), []int64{r.session.Visible()[0].Seq}); err != nil || pairs[0].State != assistant.PairComplete {
		t.Errorf("the pair is %v (%v)", pairs, err)
	}
}

// A tool of a window over the history may change marks: the screen shows them.
func TestMarksThatATurnChangedAreShown(t *testing.T) {
	gate := at.NewGate()
	r := start(t, 80, 24, say("one"), at.Answer{call("add_word", `{"word":"three"}`)}, at.Answer{at.Stop{At: gate}, at.Say("done")})
	r.Type("first", tuitest.Send)
	r.answered(1)
	r.Type("star it", tuitest.Send)
	gate.Wait(t)
	stars := 3
	if _, err := r.store.Mark(t.Context(), []int64{r.session.Visible()[0].Seq}, history.Mark{Star: &stars}); err != nil {
		t.Fatal(err)
	}
	gate.Open()
	r.Wait("★★★")
}

func TestTheButtonsOfAnErrorNameTheKeysAsBound(t *testing.T) {
	m, _ := newProgram(t, setup{pairs: []assistant.Pair{failed("broken")}, change: func(o *Options) {
		o.Rebinds = []keymap.Rebind{{Mode: "view", Action: "retry", Keys: []string{"ctrl+x"}}, {Mode: "view", Action: "delete-pair"}}
	}})
	m.Update(tea.WindowSizeMsg{Width: 120, Height: 32})
	m.Update(loadStart(m.opts.Parts)())
	m.Update(m.load(m.conv.chat.Missing()...)())
	m.Update(tuitest.Press("esc"))
	if frame := plainFrame(m.View().Content); !strings.Contains(frame, "Retry · ctrl+x]") || !strings.Contains(frame, "Re-ask · e]") || !strings.Contains(frame, "Delete]") {
		t.Errorf("the buttons are in\n%s", frame)
	}
}

func TestTheQuestionBeforeDeletingSaysWhatGoes(t *testing.T) {
	two := told("pears?", "pears\nare\ngreen")
	two.Variants = []assistant.Variant{{ID: "other", State: assistant.PairComplete, AssistantText: "pears\nare yellow"}}
	failedLast := told("plums?", "")
	failedLast.State, failedLast.ErrorCode, failedLast.Variants = assistant.PairError, "net", two.Variants
	for name, c := range map[string]struct {
		pair assistant.Pair
		says []string
	}{
		"one line":              {told("apples?", "green"), []string{"Delete this message and its answer for good?", "apples?"}},
		"two answers":           {two, []string{"Delete this message and its 2 answers for good?", "The answers have 5 lines in total."}},
		"the chosen one failed": {failedLast, []string{"Delete this message and its answer for good?", "The answer has 2 lines."}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := startProgram(t, setup{w: 80, h: 24, pairs: []assistant.Pair{c.pair}})
			d.Wait(string(c.pair.UserText)) // a key for a message that is not loaded does nothing
			d.goTo("VIEW")
			d.Type("d")
			for _, text := range c.says {
				d.Wait(text)
			}
		})
	}
}

func TestTheQuestionBeforeDeletingByAFilterSaysWhatGoes(t *testing.T) {
	t.Parallel()
	far := told("pears?", "in another session")
	far.Session = "elsewhere"
	for name, c := range map[string]struct{ line, says string }{
		"shown":     {"c'apples' :delete", "All its answers are deleted too."},
		"elsewhere": {"c'pears' :delete", "The message is not in this session."},
		"both":      {"c'?' :delete", "1 of them is in another session."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := startProgram(t, setup{w: 80, h: 24, pairs: []assistant.Pair{far, told("apples?", "green")}})
			d.Wait("apples?")
			d.goTo("VIEW")
			d.command(c.line)
			d.Wait(c.says)
			d.Wait("don't delete")
			d.Wait("y delete")
		})
	}
}
