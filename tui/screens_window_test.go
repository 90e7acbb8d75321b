package tui_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"winnow/adapters/modelfilter"
	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/llm"
	"winnow/assistant/workspace"
	"winnow/checkpoint"
	"winnow/tui"
	"winnow/tui/overlay"
	"winnow/tui/rules"
	"winnow/tui/style"
	"winnow/tui/tuitest"
	"winnow/tui/usecase"
)

// Size of the main picture, in cells: chat and pane stand side by side.
const (
	mainWidth  = 120
	mainHeight = 32
)

// mainEnv is the file that the main picture works on.
const mainEnv = `OPENAI_API_KEY=sk-not-a-real-key
IGNORE_MODELS_OPENAI=gpt-3.5*
WHITELIST_MODELS_OPENAI=gpt-4o-audio-preview
`

// mainModels are the models that it filters: six of them are previews, one of
// which a rule allows.
var mainModels = []string{
	"openai/gpt-3.5-turbo", "openai/gpt-3.5-turbo-16k", "openai/gpt-4", "openai/gpt-4-0125-preview", "openai/gpt-4-1106-preview",
	"openai/gpt-4-turbo", "openai/gpt-4-turbo-preview", "openai/gpt-4o", "openai/gpt-4o-audio-preview", "openai/gpt-4o-mini",
	"openai/gpt-4o-mini-search-preview", "openai/gpt-4o-search-preview", "openai/gpt-5", "openai/gpt-5-mini", "openai/gpt-5-nano",
	"openai/gpt-5.1", "openai/o3", "openai/o3-mini", "openai/o4-mini", "openai/text-embedding-3-large",
}

// shelf is a source of mainModels.
type shelf struct{}

func (shelf) Cached(provider string) (modelfilter.ModelList, bool) {
	return modelfilter.ModelList{Provider: provider, IDs: mainModels, Source: "catalogue"}, provider == "openai"
}

func (shelf) Models(context.Context, string) (modelfilter.ModelList, error) {
	return modelfilter.ModelList{}, errors.New("the network is down")
}

func (shelf) MarkSeen(string) error { return nil }

// thought is how long the model of the main picture thinks.
const thought = 2400 * time.Millisecond

// mainAnswers are what the model says and does. It thinks until the gate opens.
func mainAnswers(thinking *at.Gate) []at.Answer {
	return []at.Answer{
		{at.Say("Two of 20: `gpt-3.5*` hides **gpt-3.5-turbo** and **gpt-3.5-turbo-16k**.")},
		{
			at.Think("One pattern, *-preview*, matches every preview model."),
			at.Stop{At: thinking},
			at.Say("One pattern does it:"),
			at.Call{Name: "add_ignore_rule", Arguments: `{"pattern":"*-preview*"}`},
		},
		{at.Say("Five preview models are hidden now. `gpt-4o-audio-preview` stays: you allow it by a rule of its own. Nothing is saved yet.\n\n" +
			`SUGGESTED_VALUES: {"values": [{"label": "Save", "value": "save the changes"}, {"label": "Show them", "value": "list the hidden models"}]}`)},
	}
}

// hand drives a model without a program: it sends the messages, runs the
// commands beside itself and hands in what they answer, one after the other.
type hand struct {
	t     *testing.T
	model *tui.Model
	clock *tuitest.Clock
	msgs  chan tea.Msg
}

func (h *hand) send(msg tea.Msg) {
	_, cmd := h.model.Update(msg)
	h.run(cmd)
}

func (h *hand) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	go func() {
		select {
		case h.msgs <- cmd():
		case <-h.t.Context().Done(): // a timer that outlived the test
		}
	}()
}

// until hands in answers until the screen shows all of the texts, and the
// condition holds.
func (h *hand) until(texts []string, holds func() bool) {
	h.t.Helper()
	late := time.NewTimer(time.Minute)
	defer late.Stop()
	for {
		frame := ansi.Strip(h.frame())
		shown := holds()
		for _, text := range texts {
			shown = shown && strings.Contains(frame, text)
		}
		if shown {
			return
		}
		select {
		case msg := <-h.msgs:
			if batch, ok := msg.(tea.BatchMsg); ok {
				for _, cmd := range batch {
					h.run(cmd)
				}
				continue
			}
			h.send(msg)
		case <-late.C:
			h.t.Fatalf("the screen never showed %q:\n%s", texts, frame)
		}
	}
}

// ask sends a message. Between text and key lies the time that tells a typist
// from a paste.
func (h *hand) ask(text string) {
	h.send(tea.PasteMsg{Content: text})
	h.clock.Advance(tuitest.KeyGap)
	h.send(tea.KeyPressMsg{Code: 'j', Mod: tea.ModCtrl})
}

func (h *hand) frame() string { return h.model.View().Content }

// shortDir is a folder whose name is shorter than the lines of a save sheet.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "w") //nolint:usetesting // t.TempDir has the name of the test in it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// mainScreen is the program after two turns with the model filter, and the movie of
// the second: what is typed, thought, done, shown and saved.
func mainScreen(t *testing.T, dark bool) (frame string, shots []tuitest.Shot) {
	t.Helper()
	dir, clock, thinking := shortDir(t), tuitest.NewClock(), at.NewGate()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(dir, ".env")
	must(os.WriteFile(file, []byte(mainEnv), 0o600))
	window, err := modelfilter.Open(t.Context(), modelfilter.Options{
		EnvFile: file, Environ: func() []string { return nil }, Models: shelf{}, Now: clock.Now,
	})
	must(err)
	pages, registry := &assistant.Pages{}, &llm.Registry{}
	must(modelfilter.Register(pages, window))
	known := []llm.ModelInfo{{ID: "anthropic/claude-opus-4-6", Context: 200_000, Known: true, Tools: true}}
	must(registry.Add(llm.Provider{Name: "anthropic", Model: at.NewScript(mainAnswers(thinking)...), Known: known}))
	journal, err := checkpoint.Open(filepath.Join(dir, "journal", "log"), checkpoint.Options{Now: clock.Now})
	must(err)
	defer func() { _ = journal.Close() }()
	session, err := assistant.NewSession(registry, assistant.Options{
		ID: "s1", Window: window, Pages: pages, Journal: journal, Model: known[0].ID, Now: clock.Now,
	})
	must(err)
	must(session.Start(t.Context()))
	model, err := tui.New(tui.Options{
		Parts: tui.Parts{Source: usecase.Source{Work: workspace.New(workspace.Options{Session: session})}, Pane: rules.New(rules.Options{})}, Now: clock.Now, ScreenSettings: overlay.ScreenSettings{FixedBackground: true, Style: style.Options{Dark: dark, Unicode: true}},
	})
	must(err)

	h := &hand{t: t, model: model, clock: clock, msgs: make(chan tea.Msg)}
	// The last that happens after a turn: the screen knows its end, and its pair is shown as
	// it is stored.
	idle := func() bool {
		frame := h.frame()
		return !session.Busy() && !strings.Contains(frame, "working") && !strings.Contains(frame, "… "+clock.Now().Format("15:04"))
	}
	h.run(model.Init())
	h.send(tea.WindowSizeMsg{Width: mainWidth, Height: mainHeight})
	h.until([]string{"What would you like to change?"}, idle)
	h.ask("which models are hidden?")
	h.until([]string{"1/1", "Two of 20"}, idle)
	shoot := func(seconds float64) {
		shown := "/srv/proxy/.env" // in place of a name that differs from run to run
		frame := strings.ReplaceAll(h.frame(), file, shown+strings.Repeat(" ", max(len(file)-len(shown), 0)))
		picture := tuitest.SVG(frame, mainWidth, mainHeight, tuitest.PictureOptions{Dark: dark, Title: "winnow"})
		shots = append(shots, tuitest.Shot{SVG: picture, For: time.Duration(seconds * float64(time.Second))})
	}
	shoot(1)
	const wish = "block all preview models"
	for i := 3; i < len(wish); i += 3 {
		h.send(tea.PasteMsg{Content: wish[i-3 : i]})
		shoot(0.2)
	}
	h.ask(wish[len(wish)-3:])
	thinking.Wait(t)
	h.until([]string{"One pattern, *-preview*", "Thinking…", "1/2", "assistant is working"}, session.Busy)
	shoot(1)
	clock.Advance(thought)
	shoot(1.5)
	thinking.Open()
	h.until([]string{"2/2", "Nothing is saved yet.", "save the changes]", "thought for 2.4 s", "*-preview*"}, idle)
	if !window.Dirty() {
		t.Error("the rule did not reach the window")
	}
	frame = h.frame()
	shoot(4)
	h.send(tea.KeyPressMsg{Code: 's', Mod: tea.ModCtrl})
	h.until([]string{"+ IGNORE_MODELS_OPENAI", "don't save"}, idle)
	shoot(3)
	clock.Advance(time.Second) // a key that comes sooner was not meant for the sheet
	h.send(tea.KeyPressMsg{Code: 'y', Text: "y"})
	h.until([]string{"Saved"}, func() bool { return !window.Dirty() })
	shoot(3)
	return frame, shots
}

func TestScreensShowTheWindow(t *testing.T) {
	for palette, dark := range map[string]bool{"dark": true, "light": false} {
		t.Run(palette, func(t *testing.T) {
			frame, shots := mainScreen(t, dark)
			tuitest.Exact(t, frame, mainWidth, mainHeight)
			tuitest.Golden(t, "main-120x32", frame)
			tui.Drawn(t, "main-"+palette, tuitest.SVG(frame, mainWidth, mainHeight, tuitest.PictureOptions{Dark: dark, Title: "winnow"}))
			film := tuitest.MovieSVG(shots)
			tui.Drawn(t, "demo-"+palette, film)
			if limit := 200_000; len(film) > limit {
				t.Errorf("the movie has %d bytes, want at most %d", len(film), limit)
			}
		})
	}
}
