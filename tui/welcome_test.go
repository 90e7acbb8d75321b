package tui

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	"winnow/assistant/history"
	"winnow/assistant/llm"
	"winnow/tui/pane"
	"winnow/tui/style"
	"winnow/tui/tuitest"
)

// At every size the welcome has the file, the model and a request, uncut but for the path; what
// has no room is left out, the least useful first.
func TestTheWelcomeFits(t *testing.T) {
	for _, size := range [][2]int{{40, 12}, {80, 24}, {120, 40}, {200, 50}} {
		s := newStill(t, style.Options{Unicode: true}, size[0], size[1])
		s.earlier = []history.Session{{ID: "s0", Title: "block every preview model of every provider that has one", Used: s.now().Add(-25 * time.Hour), Pairs: 3}}
		w := s.welcome()
		w.facts = append([]pane.Fact{{Name: "file", Text: "/home/somebody/a/rather/long/path/to/the/proxy/.env"}, {Name: "openai", Text: "13 shown, 7 hidden · 3 rules"}}, w.facts...)
		width, height := s.layout.Chat.Dx()-welcomeMargin, s.layout.Chat.Dy()-chatHead
		lines := w.lines(s.scene(width), width, height)
		text := plainFrame(strings.Join(lines, "\n"))
		if len(lines) > height || !strings.Contains(text, "alt+1") || !strings.Contains(text, "answers") || !strings.Contains(text, "proxy/.env") || s.width >= 80 && !strings.Contains(text, "alt+3") {
			t.Errorf("%v: %d of %d lines:\n%s", size, len(lines), height, text)
		}
		if strings.Count(text, "…") > 2 { // the path, and the title of the session
			t.Errorf("%v: a sentence is cut:\n%s", size, text)
		}
		for _, line := range strings.Split(text, "\n") {
			if got := s.widths.Width(line); got > width {
				t.Errorf("%v: %d of %d cells: %q", size, got, width, line)
			}
		}
		if s.height >= 40 && !strings.Contains(text, "alt+4  continue “block every preview model") {
			t.Errorf("%v: no session:\n%s", size, text)
		}
	}
}

// The lines of the welcome with a number: a request goes to an empty box and replaces no
// draft, a session is continued.
func TestTheNumbersOfTheWelcome(t *testing.T) {
	old := told("first of the old session", "an old answer")
	old.Session = "old"
	d := startProgram(t, setup{pairs: []assistant.Pair{old}, history: func(h history.Store) error {
		return h.Touch(t.Context(), history.Session{ID: "old"})
	}})
	d.Wait("alt+4  continue “first of the old session”")
	d.Wait("which models of openai are hidden, and why?")
	d.Type(tuitest.Key("alt+1"))
	d.box("which models of openai are hidden, and why?")
	d.Type(tuitest.Key("alt+2"))
	d.says("the box is not empty")
	d.Type(tuitest.Esc)
	d.Wait("Type a message")
	d.Type(tuitest.Key("alt+5"))
	d.says("there is no line with this number")
	d.Type(tuitest.Key("alt+4"))
	d.Wait("an old answer")
	if d.session.ID() != "old" {
		t.Errorf("the session is %s", d.session.ID())
	}
}

// The welcome says that the endpoint of the model did not answer at the start, until it does or another model is
// chosen; what may still answer messages is not said.
func TestTheWelcomeSaysThatTheModelDoesNotAnswer(t *testing.T) {
	m, _ := newProgram(t, setup{known: []llm.ModelInfo{{ID: "test/other", Context: 64_000, Known: true}}, change: func(o *Options) { o.Connect = &connector{} }})
	m.Update(tea.WindowSizeMsg{Width: 120, Height: 32})
	m.Update(loadStart(m.opts.Parts)())
	for _, test := range []struct {
		why  error
		want string
	}{
		{&llm.RequestError{Kind: llm.KindNet, Message: "refused"}, "test/other · llm.example · does not answer"},
		{&llm.RequestError{Kind: llm.KindAuth, Status: 401}, "test/other · llm.example · key rejected"},
		{&llm.RequestError{Kind: llm.KindUnknown, Status: 404}, "test/other · llm.example"},
	} {
		m.Update(Noticed{NoAnswer: test.why})
		if got := m.answering(); got != test.want || !strings.Contains(plainFrame(m.View().Content), test.want) {
			t.Errorf("%v: %q, want %q", test.why, got, test.want)
		}
	}
	m.Update(Noticed{NoAnswer: &llm.RequestError{Kind: llm.KindNet}})
	m.unanswered.model = "test/script"
	if got := m.answering(); got != "test/other · llm.example" {
		t.Errorf("another model: %q", got)
	}
}
