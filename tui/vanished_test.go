package tui

import (
	"context"
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	at "winnow/assistant/assistanttest"
	"winnow/assistant/llm"
	"winnow/tui/overlay"
	"winnow/tui/style"
)

// A model that left its endpoint's list is not offered; when it is the selected
// one, the list says so, and so does what is sent to it.
func TestAVanishedModelIsNotOffered(t *testing.T) {
	s := newStill(t, style.Options{Unicode: true}, 100, 30)
	list := []llm.ModelInfo{{ID: "far/stays", Source: "live"}, {ID: "far/leaves", Source: "live"}}
	err := s.session.Registry().Add(llm.Provider{
		Name: "far", Model: at.NewScript(), List: func(context.Context) ([]llm.ModelInfo, error) { return list, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	s.do(s.pickers.openModels())
	if frame := s.frame(); !strings.Contains(frame, "leaves") || !strings.Contains(frame, "stays") {
		t.Fatalf("the list is\n%s", frame)
	}
	s.keys("esc")
	if err := s.work.PickModel(t.Context(), "far/leaves"); err != nil {
		t.Fatal(err)
	}
	list = list[:1]
	s.do(s.pickers.openModels())
	if entries, _ := s.pickers.modelEntries(s.session.Model()); fmt.Sprint(entries) == "" || strings.Contains(fmt.Sprint(entries), "leaves") {
		t.Errorf("the list offers %v", entries)
	}
	if !s.notice.bad || !strings.Contains(s.notice.text, "far/leaves") {
		t.Errorf("the list of models says %q", s.notice.text)
	}
	s.keys("esc")
	s.notice.text = ""
	s.input.draft.Set("hello")
	s.do(s.send())
	if s.turn.running || s.input.draft.Text() != "hello" || !strings.Contains(s.notice.text, "far/leaves") || !strings.Contains(s.notice.text, "chooses another") {
		t.Errorf("running %v, the box holds %q; said %q", s.turn.running, s.input.draft.Text(), s.notice.text)
	}
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
	if frame := s.frame(); !strings.Contains(frame, "model-09998") || strings.Contains(frame, "model-00000") {
		t.Errorf("the search found\n%s", frame)
	}
}
