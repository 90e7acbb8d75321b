package tui

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/llm"
	"winnow/tui/style"
	"winnow/tui/tuitest"
)

func TestWhatComesOutBesideTheScreenIsShown(t *testing.T) {
	long := strings.Repeat("word ", 1200)
	d := startProgram(t, setup{
		pairs: []assistant.Pair{told("one", long), told("two", long), told("three", long)},
		known: []llm.ModelInfo{{ID: "test/script", Context: 64_000, Known: true}, {ID: "test/small", Context: 4000, Known: true}},
	})
	d.Wait("3/3")
	if err := d.session.SetModel("test/small"); err != nil {
		t.Fatal(err)
	}
	d.Message(Noticed{Text: "using test/small"})
	d.says("using test/small")
	d.Until(func(frame string) bool {
		head, _, _ := strings.Cut(frame, "\n")
		return strings.Contains(head, " small · ") && !strings.Contains(head, "3/3") && strings.Contains(head, "/3")
	})
	d.Message(Noticed{Err: errors.New("openai does not list\x1b[31m its models")})
	d.says("openai does not list its models")
	if _, bad, _ := strings.Cut(d.Styled(), "does not list"); strings.Contains(bad, "\x1b[31m") {
		t.Errorf("the footer carries raw text: %q", bad)
	}
	d.Type("x")
	d.box("x")
	d.Message(Noticed{}) // only the model: the footer is left alone
	d.box("x")
}

// What others do to the pairs of a shared history is on the screen without a key.
func TestPairsThatOthersChangeAreShown(t *testing.T) {
	d := startProgram(t, setup{pairs: []assistant.Pair{told("one", "first")}})
	d.Wait("1/1")
	theirs := told("two", "by another program")
	theirs.Session, theirs.Author = d.session.ID(), "anna\x1b[31m"
	if err := d.store.Commit(t.Context(), &assistant.Batch{Put: []*assistant.Pair{&theirs}}); err != nil {
		t.Fatal(err)
	}
	d.Message(Noticed{Pairs: true})
	d.Wait("by another program")
	d.Wait("anna")
	d.Wait("2/2")
	if frame := d.Styled(); strings.Contains(frame, "anna\x1b[31m") {
		t.Error("the author is shown as it is stored")
	}
	if err := d.store.Commit(t.Context(), &assistant.Batch{Delete: []int64{theirs.Seq}}); err != nil {
		t.Fatal(err)
	}
	d.Message(Noticed{Text: "anna deleted 1 message", Pairs: true})
	d.Wait("anna deleted 1 message")
	d.Wait("1/1")
}

// What another program adds to the session is announced with who did it, unless the footer
// already says what else it did.
func TestAddedPairsAreAnnounced(t *testing.T) {
	d := startProgram(t, setup{pairs: []assistant.Pair{told("one", "first")}})
	d.Wait("1/1")
	add := func(texts ...string) {
		t.Helper()
		for _, text := range texts {
			theirs := told(text, "answer to "+text)
			theirs.Session = d.session.ID()
			if err := d.store.Commit(t.Context(), &assistant.Batch{Put: []*assistant.Pair{&theirs}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	add("two", "three")
	d.Message(Noticed{Pairs: true, By: "another winnow"})
	d.says("another winnow added 2 messages")
	d.Wait("3/3")
	d.Message(Noticed{Text: "winnow ask hid o3*"})
	add("four")
	d.Message(Noticed{Pairs: true, By: "another winnow"})
	d.Wait("4/4")
	d.says("winnow ask hid o3*")
	d.Type(tuitest.Esc)
	d.Message(Noticed{Pairs: true, By: "another winnow"}) // only their marks have changed
	d.Type(tuitest.Key("f4"))
	d.Wait("another winnow added 1 message")
	if n := strings.Count(d.Frame(), "another winnow added"); n != 2 {
		t.Errorf("the additions are announced %d times:\n%s", n, d.Frame())
	}
}

func TestTheOnceMoreOfCtrlCGoesWithItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStill(t, style.Options{}, 80, 24)
		s.do(s.interrupt())
		if s.notice.Text != "press ctrl+c again to quit" {
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
	})
}

// A notice longer than the footer can be read whole.
func TestALongNoticeIsReadOn(t *testing.T) {
	words := strings.Repeat("the provider goes on about it ", 8) + "and ends"
	r := start(t, 80, 24, at.Answer{at.Fail{Err: errors.New(words)}})
	r.Type("talk", tuitest.Send)
	r.Wait("… f4 shows all")
	r.WaitGone("working")
	r.Type(tuitest.Key("f4"))
	r.Wait("─ Notices ─")
	r.Until(func(frame string) bool { return strings.Contains(frame, "and ends") })
	r.Type(tuitest.Key("f4"))
	r.WaitGone("─ Notices ─")
}
