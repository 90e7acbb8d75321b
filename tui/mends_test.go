package tui

import (
	"errors"
	"strings"
	"testing"
	"time"

	at "winnow/assistant/assistanttest"
	"winnow/assistant/history"
	"winnow/tui/style"
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
	if !strings.Contains(r.Frame(), " first ") {
		t.Errorf("the pair is not on the screen:\n%s", r.Frame())
	}
	r.Type(tuitest.Esc)
	r.Wait("cancelled; r tries again") // no tool has run
}

func TestAFailedPairCanBeAnsweredFromTheInput(t *testing.T) {
	r := start(t, 80, 24, broken(), say("now it works"))
	r.Type("first", tuitest.Send)
	r.Wait("[alt+1 Retry · r] [alt+2 Re-ask · e] [alt+3 Delete · d]")
	r.WaitGone("working")
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

// Undo says how much of the conversation goes with it, and whose change it is.
func TestUndoSaysWhatLeaves(t *testing.T) {
	r := start(t, 80, 24, at.Answer{call("add_word", `{"word":"three"}`)}, say("added"), say("talk"), say("more talk"))
	for i, text := range []string{"add three", "and?", "so?"} {
		r.Type(text, tuitest.Send)
		r.answered(i + 1)
	}
	r.Type(tuitest.Esc, tuitest.Key("ctrl+z"))
	r.Wait("3 messages are removed from the chat")
	r.Type(tuitest.Esc, tuitest.Key("ctrl+n"))
	r.Wait("a new session")
	r.Type(tuitest.Esc, tuitest.Key("ctrl+z"))
	r.Wait("It was made in another session.")
}

// After G at a long answer k goes up in it.
func TestFromTheEndOneGoesUpLineByLine(t *testing.T) {
	var long strings.Builder
	for i := range 60 {
		long.WriteString("line " + strings.Repeat("i", i%7) + "\n\n")
	}
	long.WriteString("the last line")
	r := start(t, 80, 24, say(long.String()))
	r.Type("talk", tuitest.Send)
	r.answered(1)
	r.Type(tuitest.Esc, "G")
	r.Wait("▌ the last line")
	r.Type("kkk")
	r.WaitGone("the last line")
	if !strings.Contains(r.Frame(), "▌ line ") {
		t.Errorf("the focus is elsewhere:\n%s", r.Frame())
	}
}

func TestALongPasteShowsItsEndAndTheCursor(t *testing.T) {
	r := start(t, 80, 24)
	r.Paste(strings.Repeat("a line of the paste\n", 50) + "the end of it")
	r.Wait("the end of it")
	if _, _, shown := r.Cursor(); !shown {
		t.Error("there is no cursor")
	}
}

func TestTheOnceMoreOfCtrlCGoesWithItsTime(t *testing.T) {
	s := newStill(t, style.Options{}, 80, 24)
	s.do(s.interrupt())
	if s.notice.Text != onceMore {
		t.Fatalf("the notice is %q", s.notice.Text)
	}
	s.do(s.onOnceMoreDue())
	if s.notice.Text == "" {
		t.Error("it goes before its time")
	}
	now := s.now().Add(doublePress)
	s.Model.now = func() time.Time { return now }
	s.do(s.onOnceMoreDue())
	if s.notice.Text != "" {
		t.Error("it stays after its time")
	}
}

// A notice longer than the footer can be read whole.
func TestALongNoticeIsReadOn(t *testing.T) {
	words := strings.Repeat("the provider goes on about it ", 8) + "and ends"
	r := start(t, 80, 24, at.Answer{at.Fail{Err: errors.New(words)}})
	r.Type("talk", tuitest.Send)
	r.Wait("… f4 shows all")
	r.WaitGone("working")
	r.Type(tuitest.Key("f4"))
	r.Wait("━ Notices ━")
	r.Until(func(frame string) bool { return strings.Contains(frame, "and ends") })
	r.Type(tuitest.Key("f4"))
	r.WaitGone("━ Notices ━")
}

// A session begun with ctrl+n is the last of its folder: --continue finds it.
func TestANewSessionIsFoundInItsFolder(t *testing.T) {
	r := start(t, 80, 24)
	r.Wait("What would you like to change?")
	if err := r.store.Touch(t.Context(), history.Session{ID: r.session.ID(), Folder: "/home/gateway", Window: "/home/gateway/.env"}); err != nil {
		t.Fatal(err)
	}
	before := r.session.ID()
	r.Type(tuitest.Key("ctrl+n"))
	r.Wait("a new session")
	last, found, err := r.store.LastSession(t.Context(), "/home/gateway")
	if err != nil || !found || last.ID == before || last.ID != r.session.ID() || last.Window != "/home/gateway/.env" {
		t.Errorf("the last session is %+v (%v, %v), the new one %s", last, found, err, r.session.ID())
	}
}
