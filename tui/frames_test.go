package tui

import (
	"context"
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/llm"
	"winnow/tui/keymap"
	"winnow/tui/overlay"
	"winnow/tui/style"
	"winnow/tui/tuitest"
)

// still is a model that is driven by hand: no program, no goroutines; the
// commands of an update run one after the other until none is left.
type still struct {
	*Model
	t     *testing.T
	store *assistant.MemoryStore
}

func newStill(t *testing.T, o style.Options, w, h int, answers ...at.Answer) *still {
	t.Helper()
	registry := &llm.Registry{}
	known := []llm.ModelInfo{
		{ID: "anthropic/claude-opus-4-6", Context: 200_000, Known: true, Tools: true, Reasons: true, Facts: llm.Facts{PriceIn: llm.PriceOf(5), PriceOut: llm.PriceOf(25)}},
		{ID: "openai/gpt-5.1", Context: 400_000, Known: true, Tools: true, Reasons: true, Facts: llm.Facts{PriceIn: llm.PriceOf(1.25), PriceOut: llm.PriceOf(10)}},
		{ID: "openai/gpt-5.1-mini", Context: 400_000, Known: true, Tools: true},
	}
	script := at.NewScript(answers...)
	for _, name := range []string{"anthropic", "openai"} {
		if err := registry.Add(llm.Provider{Name: name, Model: script}); err != nil {
			t.Fatal(err)
		}
	}
	registry.Learn(known...)
	clock := tuitest.NewClock()
	store := &assistant.MemoryStore{}
	session, err := assistant.NewSession(registry, assistant.Options{ID: "s1", Store: store, Model: "openai/gpt-5.1", Now: clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	ended, end := context.WithCancel(t.Context())
	end() // nothing is waited for
	opts := Options{
		Context: ended, Parts: partsOf(session, nil, nil, clock.Now), Now: clock.Now, ScreenSettings: overlay.ScreenSettings{FixedBackground: true, Style: o},
	}
	opts.Examples = []string{"Hide every preview model", "Only keep the newest Claude and GPT models", "Why is gpt-4o hidden?"}
	m, err := New(opts)
	if err != nil {
		t.Fatal(err)
	}
	s := &still{m, t, store}
	s.do(loadStart(m.opts.Parts))
	s.do(m.resize(w, h))
	return s
}

// do runs a command and what follows from it. Timers are left out.
func (s *still) do(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case nil:
	case tea.BatchMsg:
		for _, c := range msg {
			s.do(c)
		}
	default:
		_, next := s.Update(msg)
		s.do(next)
	}
}

// pairs stores pairs and shows them.
func (s *still) pairs(pairs ...assistant.Pair) {
	s.t.Helper()
	for i := range pairs {
		p := pairs[i]
		p.Session, p.Flag, p.CreatedAt, p.ID = "s1", true, s.now(), fmt.Sprint("p", i)
		if p.State == "" {
			p.State = assistant.PairComplete
		}
		if err := s.store.Commit(context.Background(), &assistant.Batch{Put: []*assistant.Pair{&p}}); err != nil {
			s.t.Fatal(err)
		}
	}
	s.do(loadStart(s.opts.Parts))
	s.View()
	s.do(s.loadMissing())
}

func (s *still) keys(names ...string) {
	for _, n := range names {
		if a := s.Model.keys.Find(s.mode, keymap.Key(n)); a != nil && !s.overlay.Open() {
			s.do(s.Model.do(a.Name))
			continue
		}
		s.do(s.onOutcome(s.overlay.Key(keymap.Key(n), "")))
	}
}

func (s *still) frame() string { return s.View().Content }

// longTalk is what the golden frames show.
func longTalk() []assistant.Pair {
	return []assistant.Pair{
		{UserText: "which models are hidden?", AssistantText: "None yet. **45** models are available from `openai`."},
		{
			UserText:  "block all preview models",
			Reasoning: "The user wants every id with preview in it hidden.", ReasoningFor: 3.2e9,
			AssistantText: "I'll add one pattern:\n\n[[tool:0]]\n\nFive models are now hidden. Nothing is saved yet.",
			ToolCalls: []assistant.ToolCall{{
				ID: "c", Name: "add_ignore_rule", Arguments: []byte(`{"pattern":"*-preview*"}`),
				Result: &assistant.ToolResult{Success: true, Message: "5 models are hidden now"},
			}},
			Suggested: &assistant.Suggested{Values: []assistant.SuggestedValue{{Label: "Save", Value: "save"}, {Label: "Show them", Value: "list"}}},
		},
	}
}

// TestGoldenPlain holds the frames that have no colours of their own; the
// gallery holds all others.
func TestGoldenPlain(t *testing.T) {
	s := newStill(t, style.Options{Unicode: true}, 80, 24)
	tuitest.Golden(t, "welcome-80x24", s.frame())
	s = newStill(t, style.Options{}, 80, 24)
	s.pairs(longTalk()...)
	tuitest.Golden(t, "ascii-80x24", s.frame())
}

func TestLightAndDarkShowTheSame(t *testing.T) {
	for _, colours := range []style.Profile{style.TrueColor, style.ANSI256, style.ANSI16, style.NoColor} {
		var stripped []string
		for _, dark := range []bool{true, false} {
			s := newStill(t, style.Options{Dark: dark, Unicode: true, Profile: colours}, 100, 30)
			s.pairs(longTalk()...)
			tuitest.Exact(t, s.frame(), 100, 30)
			stripped = append(stripped, plainFrame(s.frame()))
		}
		if stripped[0] != stripped[1] {
			t.Errorf("profile %d: dark and light differ in more than colours", colours)
		}
	}
}

func plainFrame(frame string) string {
	var b strings.Builder
	for _, line := range strings.Split(frame, "\n") {
		b.WriteString(strings.TrimRight(ansi.Strip(line), " ") + "\n")
	}
	return b.String()
}
