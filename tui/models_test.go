package tui

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	at "winnow/assistant/assistanttest"
	"winnow/assistant/llm"
	"winnow/tui/overlay"
	"winnow/tui/style"
	"winnow/tui/tuitest"
)

// A model that left its endpoint's list is marked; when it is the selected one, the
// list says so, and so does what is sent to it: the text stays in the box.
func TestAVanishedModelIsMarkedAndNotSentTo(t *testing.T) {
	s := newStill(t, style.Options{Unicode: true}, 110, 30)
	seen := time.Date(2026, 3, 1, 12, 0, 0, 0, time.Local)
	list := []llm.ModelInfo{{ID: "far/stays", Source: "live", Retrieved: seen}, {ID: "far/leaves", Source: "live", Retrieved: seen}}
	err := s.opts.Work.Session().Registry().Add(llm.Provider{
		Name: "far", Model: at.NewScript(), List: func(context.Context) ([]llm.ModelInfo, error) { return list, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	s.do(s.openModels())
	if frame := s.frame(); !strings.Contains(frame, "leaves") || !strings.Contains(frame, "stays") || strings.Contains(frame, "gone") {
		t.Fatalf("the list is\n%s", frame)
	}
	s.keys("esc")
	if err := s.opts.Work.PickModel(t.Context(), "far/leaves"); err != nil {
		t.Fatal(err)
	}
	refused := func(when string) {
		t.Helper()
		for _, part := range []string{"far/leaves", "last seen 2026-03-01 12:00", "ctrl+l chooses another"} {
			if !s.notice.Failed || !strings.Contains(string(s.notice.Text), part) {
				t.Errorf("%s the footer says %q, want %q in it", when, s.notice.Text, part)
			}
		}
		s.notice.Text = ""
	}
	list = list[:1]
	s.do(s.openModels())
	if frame := s.frame(); !strings.Contains(frame, "✗ leaves") || !strings.Contains(frame, "gone · last seen 2026-03-01") {
		t.Errorf("the list is\n%s", frame)
	}
	refused("the list is open:")
	s.keys("esc")
	s.input.draft.Set("hello")
	s.do(s.send())
	if s.turn.running || s.input.draft.Text() != "hello" {
		t.Errorf("running %v, the box holds %q", s.turn.running, s.input.draft.Text())
	}
	refused("after sending")
	s.do(s.onNoticed(Noticed{Err: &llm.GoneError{ID: "far/leaves", Seen: seen}}))
	refused("found at the start:")
}

// The search of a long list runs in a command: the update loop starts it and
// shows its result.
func TestALongListIsSearchedInACommand(t *testing.T) {
	s := newStill(t, style.Options{Unicode: true}, 100, 30)
	entries := make([]overlay.Entry, 10_000)
	for i := range entries {
		entries[i] = overlay.Entry{Value: fmt.Sprint(i), Text: fmt.Sprintf("model-%05d", i)}
	}
	s.do(s.open(overlay.Models, overlay.NewPicker("Model", entries, 0), nil))
	var started []tea.Cmd
	for _, digit := range "09998" {
		_, cmd := s.Update(tea.KeyPressMsg{Code: digit, Text: string(digit)})
		started = append(started, cmd)
	}
	if frame := s.frame(); !strings.Contains(frame, "model-00000") {
		t.Errorf("a key has searched:\n%s", frame)
	}
	for _, cmd := range started {
		s.do(cmd)
	}
	if frame := plainFrame(s.frame()); !strings.Contains(frame, "model-09998") || strings.Contains(frame, "model-00000") {
		t.Errorf("the search found\n%s", frame)
	}
}

// What hides in the name of a model is shown in the header and the list.
func TestHiddenCharactersOfAModelAreShown(t *testing.T) {
	id := "test/gpt-4\u200bo"
	d := startProgram(t, setup{w: 120, h: 32, known: []llm.ModelInfo{{ID: id, Context: 1000, Known: true}}})
	d.Type(tuitest.Key("ctrl+l"))
	d.Until(func(frame string) bool { return strings.Count(frame, "gpt-4‹U+200B›o") == 2 }) // header and list
	if frame := d.Frame(); strings.Contains(frame, "gpt-4o") || strings.Contains(frame, "\u200b") {
		t.Errorf("a character is hidden:\n%s", frame)
	}
}
