package tui

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"winnow/tui/tuitest"
)

// 26: a terminal that marks its pastes makes nobody guess.
func TestNothingIsGuessedAfterAMarkedPaste(t *testing.T) {
	m, d := newProgram(t, setup{})
	m.Update(tea.WindowSizeMsg{Width: 100, Height: 30})
	m.Update(tea.PasteMsg{Content: "pasted "})
	for _, k := range []tea.KeyPressMsg{{Code: 'a', Text: "a"}, {Code: 'b', Text: "b"}, {Code: 'j', Mod: tea.ModCtrl}} {
		m.Update(k) // at one moment
	}
	if !m.turn.running {
		t.Errorf("ctrl+j did not send, the box holds %q", m.input.draft.Text())
	}
	d.session.Cancel()
}

func TestALongPasteShowsItsEndAndTheCursor(t *testing.T) {
	r := start(t, 80, 24)
	r.Paste(strings.Repeat("a line of the paste\n", 50) + "the end of it")
	r.Wait("the end of it")
	if _, _, shown := r.Cursor(); !shown {
		t.Error("there is no cursor")
	}
}

func TestPasteOfAMegabyte(t *testing.T) {
	text := strings.Repeat("0123456789 abcdef\n", 1<<20/17)
	r := start(t, 80, 24, say("that was long"))
	if err := r.session.SetModel("test/other"); err != nil {
		t.Fatal(err)
	}
	r.Message(Noticed{}) // the model is another one
	r.Type("see: ")
	r.Paste(text)
	r.Wait("[paste 1 · 1.1 MB · 61680 lines]")
	if len(r.script.Requests()) != 0 {
		t.Fatal("the paste was sent")
	}
	r.Type(" end", tuitest.Send)
	r.Wait("This message is too long") // for a model of 128,000 tokens
	r.Wait("k keep it unsent")
	r.clock.Advance(overlayGuard)
	r.Type("k")
	r.Wait("user_prompt_too_large")
	if len(r.script.Requests()) != 0 {
		t.Error("a message that cannot fit was sent")
	}
}

func TestPasteIsSentWhole(t *testing.T) {
	text := strings.Repeat("0123456789 abcde\n", 200_000/17)
	r := start(t, 80, 24, say("that was long"))
	if err := r.session.SetModel("test/other"); err != nil {
		t.Fatal(err)
	}
	r.Message(Noticed{}) // the model is another one
	r.Type("see: ")
	r.Paste(text)
	r.Wait("[paste 1 · ")
	r.Type(" end", tuitest.Send)
	r.Wait("that was long")
	messages := r.script.Requests()[0].Messages
	if got, want := messages[len(messages)-1].Content, "see: "+text+" end"; got != want {
		t.Errorf("%d bytes were sent, want %d", len(got), len(want))
	}
}

// Keys in one burst count as a paste, which never sends: a user who meant to send is told so, once.
func TestAPasteThatEndsWithALineSaysThatItDoesNotSend(t *testing.T) {
	r := start(t, 80, 24)
	r.Paste("one line\r")
	r.Wait("pasted text does not send · ctrl+j sends")
	r.Type("x")
	r.WaitGone("does not send")
	r.Paste("another\n")
	r.Wait("another")
	if frame := r.Frame(); strings.Contains(frame, "does not send") {
		t.Errorf("it is said twice:\n%s", frame)
	}
}
