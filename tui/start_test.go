package tui

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"pgregory.net/rapid"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/history"
	"winnow/assistant/llm"
	"winnow/assistant/safetext"
	"winnow/assistant/workspace"
	"winnow/tui/keymap"
	"winnow/tui/overlay"
	"winnow/tui/style"
	"winnow/tui/terminal"
	"winnow/tui/tuitest"
	"winnow/tui/usecase"
)

// booting is a fixture that is still put together: the gate holds it.
type booting struct {
	*fixture
	model *Model
	gate  *at.Gate
}

// bootFixture begins without a session. fail is what becomes of the start; nil is well.
func bootFixture(t *testing.T, f setup, fail error) booting {
	t.Helper()
	if f.w == 0 {
		f.w, f.h = 120, 32
	}
	o, d := programOptions(t, f)
	b := booting{fixture: d, gate: at.NewGate()}
	parts := o.Parts
	o.Parts, o.HasPane = Parts{}, true
	o.Start = func() (Parts, error) {
		if err := b.gate.Pass(t.Context()); err != nil {
			return Parts{}, err
		}
		return parts, fail
	}
	var err error
	if b.model, err = New(o); err != nil {
		t.Fatal(err)
	}
	d.Screen = tuitest.Start(t, b.model, f.w, f.h, tuitest.Options{Clock: d.clock, Input: f.input()})
	d.Wait("loading…")
	return b
}

// draftKey is where the draft of no folder is stored.
const draftKey = "input"

func TestOneTypesWhileEverythingIsLoaded(t *testing.T) {
	b := bootFixture(t, setup{}, nil)
	if head, _, _ := strings.Cut(b.Frame(), "\n"); strings.TrimSpace(head) != "winnow" {
		t.Errorf("the header says %q before anything is known", head)
	}
	b.Type("hello")
	b.box("hello")
	b.Paste(" there")
	b.box("hello there")
	x, y, shown := b.Cursor()
	b.gate.Open()
	b.Wait(" script · ")
	b.box("hello there")
	if nx, ny, still := b.Cursor(); nx != x || ny != y || still != shown || !shown {
		t.Errorf("the cursor jumps from %d,%d to %d,%d", x, y, nx, ny)
	}
	b.Type("!")
	b.box("hello there!")
}

func TestAPasteWithoutBracketsBeforeEverythingIsThere(t *testing.T) {
	from, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = to.Close() })
	b := bootFixture(t, setup{keys: terminal.NewKeyReader(from)}, nil)
	if _, err := to.WriteString("hey there\rnext\rlast"); err != nil {
		t.Fatal(err)
	}
	b.box("hey there|next|last")
	b.gate.Open()
	b.Wait(" script · ")
	b.box("hey there|next|last")
	b.Type(tuitest.CtrlZ)
	b.box("Type a message…") // it was one edit
}

func TestTheFrameStaysWhereItIs(t *testing.T) {
	for _, size := range [][2]int{{160, 50}, {120, 32}, {80, 24}, {40, 12}} {
		b := bootFixture(t, setup{w: size[0], h: size[1], env: "OPENAI_API_KEY=sk-not-a-real-key\n"}, nil)
		b.Type("a", tuitest.Enter, "b")
		b.box("a|b")
		before := strings.Split(b.Frame(), "\n")
		b.gate.Open()
		b.Wait("openai")
		b.WaitGone("loading…")
		after := strings.Split(b.Frame(), "\n")
		for i := range before {
			head, foot := i == 0, i == len(before)-1
			if head || foot {
				continue
			}
			if was, is := lines(before[i]), lines(after[i]); was != is {
				t.Errorf("%v: row %d: the lines were at %q and are at %q", size, i, was, is)
			}
		}
		below := len(before) - 5 // the input box with its line
		if was, is := strings.Join(before[below:len(before)-1], "\n"), strings.Join(after[below:len(after)-1], "\n"); was != is {
			t.Errorf("%v: the box was\n%s\nand is\n%s", size, was, is)
		}
	}
}

// lines are the columns of a row in which the line between chat and pane is drawn.
func lines(row string) string {
	out := ""
	for i, r := range []rune(row) {
		if r == '│' || r == '┴' {
			out += fmt.Sprintf("%c%d ", r, i)
		}
	}
	return out
}

func TestWhatIsSentBeforeGoesOutAfter(t *testing.T) {
	b := bootFixture(t, setup{answers: []at.Answer{say("first answer"), say("second answer")}}, nil)
	b.Type("one", tuitest.Send)
	b.says("will be sent once the session is loaded")
	b.box("Type a message…")
	b.Type("two", tuitest.Send, "three")
	b.box("three")
	b.gate.Open()
	b.Wait("second answer")
	b.box("three")
	var asked []string
	for _, r := range b.script.Requests() {
		asked = append(asked, r.Messages[len(r.Messages)-1].Content)
	}
	if len(asked) != 2 || !strings.Contains(asked[0], "one") || !strings.Contains(asked[1], "two") {
		t.Errorf("the model was asked %q, want one and then two", asked)
	}
}

func TestAKeyThatNeedsMoreWaits(t *testing.T) {
	b := bootFixture(t, setup{}, nil)
	b.Type(tuitest.Esc, tuitest.Esc, "i", "draft", tuitest.Key("ctrl+l"), "other")
	b.box("draft") // esc does not wait; what follows belongs to what ctrl+l opens
	b.gate.Open()
	b.Wait("enter selects")
	if frame := b.Frame(); strings.Contains(frame, " other · ") || !strings.Contains(frame, "other") || boxOf(frame) == "draftother" {
		t.Errorf("ctrl+l and a word gave\n%s", frame)
	}
	b.Type(tuitest.Enter)
	b.Wait(" other · ")
	b.box("draft")
}

func TestAFailureOfTheStartEndsTheProgram(t *testing.T) {
	broken := errors.New("the journal is in use")
	b := bootFixture(t, setup{}, broken)
	b.Type("x")
	b.gate.Open()
	if err := b.WaitEnd(); err != nil {
		t.Fatal(err)
	}
	if !errors.Is(b.model.Err(), broken) {
		t.Errorf("Err = %v, want %v", b.model.Err(), broken)
	}
}

func TestQuittingBeforeEverythingIsThere(t *testing.T) {
	for name, keys := range map[string][]any{
		"ctrl+q":                      {"typed", tuitest.Key("ctrl+q")},
		"ctrl+c until it ends":        {"typed", tuitest.Key("ctrl+z"), "typed", tuitest.Key("ctrl+c"), tuitest.Key("ctrl+c"), tuitest.Key("ctrl+c")},
		"behind a key that waits":     {"typed", tuitest.Key("ctrl+l"), "x", tuitest.Key("ctrl+q")},
		"behind a message that waits": {"typed", tuitest.Send, tuitest.Key("ctrl+q")},
		"from the conversation":       {"typed", tuitest.Tab, tuitest.Key("ctrl+q")},
	} {
		t.Run(name, func(t *testing.T) {
			b := bootFixture(t, setup{history: func(h history.Store) error {
				return h.SaveDraft(t.Context(), draftKey, history.Draft{Text: "kept", Stash: []string{"old"}})
			}}, nil)
			b.Type(keys...)
			if err := b.WaitEnd(); err != nil {
				t.Fatal(err)
			}
			if err := workspace.New(workspace.Options{Session: b.session, History: b.store}).AddDraft(t.Context(), b.model.Typed()); err != nil || b.model.Err() != nil {
				t.Fatal(err, b.model.Err())
			}
			d, err := b.store.Draft(t.Context(), draftKey)
			if err != nil {
				t.Fatal(err)
			}
			if all := d.Text + "|" + strings.Join(d.Stash, "|"); !strings.Contains(all, "typed") || !strings.Contains(all, "kept") || !strings.Contains(all, "old") {
				t.Errorf("after the end there is %q: something typed is lost", all)
			}
			b.gate.Open()
		})
	}
}

func TestWhatWasTypedFirstDoesNotReplaceTheDraftOfBefore(t *testing.T) {
	b := bootFixture(t, setup{history: func(h history.Store) error {
		return h.SaveDraft(t.Context(), draftKey, history.Draft{Text: "kept", Stash: []string{"old"}})
	}}, nil)
	b.Type("gone", tuitest.Esc, "new")
	b.gate.Open()
	b.Wait(" script · ")
	b.box("new")
	for _, want := range []string{"kept", "gone", "old"} {
		b.Type(tuitest.Up)
		b.box(want)
	}
}

func TestNoKeyOfBeforeAnswersTheQuestionAfterACrash(t *testing.T) {
	b := bootFixture(t, setup{change: func(o *Options) { o.Recovery = &Recovery{Lines: []safetext.Text{"+ a rule"}} }}, nil)
	b.Type("d")
	b.box("d")
	b.gate.Open()
	b.Wait("winnow stopped unexpectedly last time")
	b.clock.Advance(time.Second) // it takes no answer at once
	b.Type("r")
	b.says("recovered")
	b.box("d")
}

func TestKeysThatCannotBeBoundAreSaidAtOnce(t *testing.T) {
	var wrong *keymap.Error
	if _, err := New(Options{Start: func() (Parts, error) { return Parts{}, nil }, Rebinds: []keymap.Rebind{{Mode: "input", Action: "send", Keys: []string{"ctrl+b"}}}}); !errors.As(err, &wrong) {
		t.Errorf("New = %v, want a *keymap.Error", err)
	}
}

// TestTheModelIsWhereItWouldBe plays the same messages at the same times to a
// model with a session and to one that gets it at some moment. The terminal has a
// size from the beginning, and there is a model: what is sent can go out.
func TestTheModelIsWhereItWouldBe(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		clock := tuitest.NewClock()
		parts := func() Parts {
			registry := &llm.Registry{}
			if err := registry.Add(llm.Provider{Name: "test", Model: at.NewScript(), Known: []llm.ModelInfo{{ID: "test/script"}}}); err != nil {
				r.Fatal(err)
			}
			s, err := assistant.NewSession(registry, assistant.Options{ID: "s", Model: "test/script", Now: clock.Now})
			if err != nil {
				r.Fatal(err)
			}
			return partsOf(s, nil, nil, clock.Now)
		}
		o := Options{Now: clock.Now, ScreenSettings: overlay.ScreenSettings{FixedBackground: true, Style: style.Options{Dark: true, Unicode: true}}, Parts: parts(), Width: 120, Height: 32}
		straight, err := New(o)
		if err != nil {
			r.Fatal(err)
		}
		late := parts()
		o.Parts, o.Start = Parts{}, func() (Parts, error) { return late, nil }
		behind, err := New(o)
		if err != nil {
			r.Fatal(err)
		}
		start := func() startLoadedMsg { // each model changes the lists of its own
			return startLoadedMsg{Started: usecase.Started{Recall: workspace.Recall{Sent: []string{"sent before"}}, Draft: history.Draft{Stash: []string{"cleared before"}}}}
		}
		straight.onStart(start())
		// A size comes before the keys: a list that a waiting key opens scrolls as the size of then wants.
		sizes := []tea.Msg{tea.WindowSizeMsg{Width: 120, Height: 32}, tea.WindowSizeMsg{Width: 70, Height: 20}}
		msgs := append(rapid.SliceOfN(rapid.SampledFrom(sizes), 0, 3).Draw(r, "sizes"),
			rapid.SliceOfN(rapid.SampledFrom(bootMessages()), 1, 40).Draw(r, "messages")...)
		cut := rapid.IntRange(0, len(msgs)).Draw(r, "ready before")
		for i := range len(msgs) + 1 {
			if i == cut {
				early := start()
				early.parts = &late
				behind.Update(early)
				behind.View()
			}
			if i < len(msgs) {
				clock.Advance(time.Duration(rapid.IntRange(10, 30).Draw(r, "ms")) * time.Millisecond) // no paste
				straight.Update(msgs[i])
				behind.Update(msgs[i])
				straight.View() // as after each message
				behind.View()
			}
		}
		straight.turn.began = behind.turn.began // what was sent early goes out later
		if want, got := straight.View(), behind.View(); want.Content != got.Content {
			r.Errorf("the frame is\n%s\nwant\n%s", got.Content, want.Content)
		}
		if want, got := straight.input.draft.Text(), behind.input.draft.Text(); want != got {
			r.Errorf("the box holds %q, want %q", got, want)
		}
	})
}

// bootMessages are what may come before there is a model.
func bootMessages() []tea.Msg {
	msgs := []tea.Msg{
		tea.PasteMsg{Content: "pasted\r\ntext"},
		tea.FocusMsg{},
		tea.BlurMsg{},
		tea.KeyboardEnhancementsMsg{Flags: 1},
		tea.MouseClickMsg{X: 3, Y: 3, Button: tea.MouseLeft},
		tea.EnvMsg{"A=b"},
	}
	for _, c := range "abc w" {
		msgs = append(msgs, tea.KeyPressMsg{Code: c, Text: string(c)})
	}
	for _, k := range []tea.KeyPressMsg{
		{Code: tea.KeyEnter},
		{Code: 'j', Mod: tea.ModCtrl},
		{Code: tea.KeyEscape},
		{Code: tea.KeyTab},
		{Code: tea.KeyTab, Mod: tea.ModShift},
		{Code: tea.KeyUp},
		{Code: tea.KeyDown},
		{Code: tea.KeyPgDown},
		{Code: tea.KeyEnd},
		{Code: tea.KeyBackspace},
		{Code: 'z', Mod: tea.ModCtrl},
		{Code: tea.KeyF1},
		{Code: tea.KeyF2},
		{Code: tea.KeyF5},
		{Code: 'l', Mod: tea.ModCtrl},
		{Code: 'p', Mod: tea.ModCtrl},
	} {
		msgs = append(msgs, k)
	}
	return msgs
}

// Whoever continues a session that is nearly full is warned at the start, although the
// screen says something else then.
func TestANearlyFullSessionIsSaidWhenItContinues(t *testing.T) {
	b := bootFixture(t, setup{
		pairs:  []assistant.Pair{told("first", strings.Repeat("word ", 2000)), told("second", strings.Repeat("word ", 2000))},
		known:  []llm.ModelInfo{{ID: "test/script", Context: 9_000, Known: true, Tools: true}},
		change: func(o *Options) { o.Notice = "the session continues" },
	}, nil)
	b.gate.Open()
	b.says("the context is nearly full")
}

// A limit that an endpoint names reaches the screen at once: the header, the numbers of
// the context, and the question about a message that is too long.
func TestALimitThatAnEndpointNamesIsShown(t *testing.T) {
	d := startProgram(t, setup{pairs: []assistant.Pair{told("first", strings.Repeat("word ", 1000)), told("second", "2")}})
	d.Wait(" 2/2")
	b := d.session.Boundary()
	d.session.Registry().LearnLimit("test/script", b.SYS+b.URA+50, d.clock.Now())
	d.Wait(" 1/2")
	d.Type(tuitest.Key("f2"))
	d.Wait(fmt.Sprint(b.SYS + b.URA + 50))
	d.Type(tuitest.Esc)
	d.WaitGone("─ Context ─")
	d.session.Registry().LearnLimit("test/script", b.SYS+2, d.clock.Now())
	d.Wait(" 0/2")
	d.Type("a message of some tokens", tuitest.Send)
	d.Wait(fmt.Sprintf("plus ~%d for the system prompt; the model accepts %d.", b.SYS, b.SYS+2))
}

// What was asked for before the start is over is not shown after it.
func TestNothingOfBeforeTheStartIsShownAfterIt(t *testing.T) {
	o, d := programOptions(t, setup{pairs: []assistant.Pair{told("first", "1"), told("second", "2")}})
	parts := o.Parts
	o.Parts, o.Context, o.Start = Parts{}, nil, func() (Parts, error) { return parts, nil }
	m, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	m.Update(tea.WindowSizeMsg{Width: 120, Height: 32})
	var late []tea.Msg
	for range 2 {
		if _, cmd := m.Update(Noticed{}); cmd != nil {
			late = append(late, cmd())
		}
	}
	m.input.draft.Set(strings.Repeat("word ", 40_000)) // too long for the limit that is assumed of an unknown model
	if cost := m.estimate(); strings.Contains(cost, "too long") {
		t.Errorf("before the start is over the draft is said to be too long: %q", cost)
	}
	m.Update(openParts(o.Start)())
	for _, msg := range late {
		m.Update(msg)
	}
	if n := m.conv.chat.Len(); n != len(d.session.Visible()) || n != 2 {
		t.Errorf("%d pairs are shown, want 2", n)
	}
}

// After two starts in a row that were killed within ten seconds answers open as their
// source. A start that lasted, or ended in order, counts as a good one.
func TestAfterTwoKilledStartsAnswersOpenAsTheirSource(t *testing.T) {
	type end string
	const killed, left, lasted end = "killed", "left", "lasted"
	for _, c := range []struct {
		ends []end
		raw  bool
	}{
		{nil, false},
		{[]end{killed}, false},
		{[]end{killed, killed}, true},
		{[]end{killed, killed, killed}, true},
		{[]end{killed, left, killed}, false},
		{[]end{killed, lasted, killed}, false},
		{[]end{killed, killed, left}, false},
		{[]end{killed, killed, lasted}, false},
		{[]end{lasted, killed, killed}, true},
	} {
		t.Run(fmt.Sprint(c.ends), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o, d := programOptions(t, setup{pairs: []assistant.Pair{told("question", "some **bold** text")}})
				start := func() bench {
					o.Parts = partsOf(d.session, d.store, nil, d.clock.Now)
					m, err := New(o)
					if err != nil {
						t.Fatal(err)
					}
					b := bench{Model: m, msgs: make(chan tea.Msg, 64)}
					b.start(m.resize(80, 24))
					b.start(m.Init())
					b.settle()
					return b
				}
				for _, how := range c.ends {
					b := start()
					if how == lasted {
						d.clock.Advance(startLasts)
						b.take(tea.FocusMsg{})
						b.settle()
					}
					if how == left {
						if err := b.EndStart(t.Context()); err != nil {
							t.Fatal(err)
						}
					}
				}
				b := start()
				raw := func() bool { return strings.Contains(plainFrame(b.View().Content), "**bold**") }
				if said := strings.Contains(string(b.notice.Text), "raw text · v"); raw() != c.raw || said != c.raw {
					t.Fatalf("raw %v, and the footer says %q\n%s", raw(), b.notice.Text, plainFrame(b.View().Content))
				}
				if c.raw {
					b.setMode(keymap.View)
					if b.press(tea.KeyPressMsg{Code: 'v', Text: "v"}); raw() {
						t.Errorf("v shows\n%s", plainFrame(b.View().Content))
					}
				}
			})
		})
	}
}
