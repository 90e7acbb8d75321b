package tui

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/history"
	"winnow/assistant/history/sqlite"
	"winnow/assistant/llm"
	"winnow/checkpoint"
	"winnow/tui/overlay"
	"winnow/tui/style"
	"winnow/tui/tuitest"
)

// rig is the whole program on a terminal in memory.
type rig struct {
	*tuitest.Screen
	session *assistant.Session
	window  *at.Window
	script  *at.Script
	store   history.Store
	model   *Model
	clock   *tuitest.Clock
}

// start runs the program with a scripted model. Its first message is typed by the test.
func start(t *testing.T, w, h int, answers ...at.Answer) *rig {
	t.Helper()
	r := &rig{window: at.NewWindow("one", "two"), script: at.NewScript(answers...), clock: tuitest.NewClock()}
	dir := t.TempDir()
	journal, err := checkpoint.Open(filepath.Join(dir, "journal", "log"), checkpoint.Options{Now: r.clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = journal.Close() })
	r.store, err = sqlite.Open(t.Context(), filepath.Join(dir, "data", "history.db"), sqlite.Options{Now: r.clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.store.Close() })
	registry := &llm.Registry{}
	info := []llm.ModelInfo{
		{ID: "test/script", Context: 4000, Known: true, Tools: true},
		{ID: "test/other", Context: 128_000, Known: true, Tools: true, Facts: llm.Facts{PriceIn: llm.PriceOf(2), PriceOut: llm.PriceOf(8)}},
	}
	if err := registry.Add(llm.Provider{Name: "test", Model: r.script, Known: info}); err != nil {
		t.Fatal(err)
	}
	r.session, err = assistant.NewSession(registry, assistant.Options{
		ID: "s1", Window: r.window, Store: r.store, Journal: journal, Model: "test/script", Now: r.clock.Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.session.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	opts := Options{
		Parts: partsOf(r.session, r.store, nil, r.clock.Now), Now: r.clock.Now, ScreenSettings: overlay.ScreenSettings{FixedBackground: true, Style: style.Options{Dark: true, Unicode: true}},
	}
	opts.Examples = []string{"list the words", "add three", "save"}
	r.model, err = New(opts)
	if err != nil {
		t.Fatal(err)
	}
	r.Screen = tuitest.Start(t, r.model, w, h, tuitest.Options{Clock: r.clock})
	r.Wait("What would you like to change?")
	return r
}

func say(text string) at.Answer { return at.Answer{at.Say(text)} }

func TestAskAndAnswer(t *testing.T) {
	r := start(t, 80, 24, at.Answer{at.Think("hm, hm"), at.Say("Hello **there**.")})
	r.Type("hi", tuitest.Send)
	r.Wait("Hello there.")
	r.Wait("1/1")
	if got := r.Frame(); !strings.Contains(got, "▸ thinking") || strings.Contains(got, "hm, hm") {
		t.Errorf("the thinking is not folded:\n%s", got)
	}
}

func TestToolTurnAndRollback(t *testing.T) {
	r := start(t, 80, 24,
		at.Answer{at.Say("Adding."), at.Call{Name: "add_word", Arguments: `{"word":"three"}`}},
		say("Added."))
	r.Type("add three", tuitest.Send)
	r.Wait("Added.")
	r.Wait("✓ added three")
	r.WaitGone(" … │") // the last that changes after a turn
	if got := strings.Join(r.window.Words(), " "); got != "one two three" {
		t.Fatalf("the window holds %q", got)
	}
	r.Type(tuitest.Key("ctrl+g"))
	r.Wait("Checkpoints")
	r.Type(tuitest.Down, tuitest.Enter)
	r.Wait("rolled back")
	if got := strings.Join(r.window.Words(), " "); got != "one two" {
		t.Errorf("after the rollback the window holds %q", got)
	}
	r.Until(func(frame string) bool {
		return !strings.Contains(frame, "Added.") && strings.Contains(frame, "add three")
	})
	r.Type(tuitest.CtrlP, "undo the last roll", tuitest.Enter)
	r.Wait("Added.")
	if got := strings.Join(r.window.Words(), " "); got != "one two three" {
		t.Errorf("after undoing the rollback the window holds %q", got)
	}
}

func TestEscInTheMiddleLeavesNothing(t *testing.T) {
	for name, answer := range map[string]func(*at.Gate) at.Answer{
		"before the first byte": func(g *at.Gate) at.Answer { return at.Answer{at.Stop{At: g}, at.Say("late")} },
		"in the reasoning":      func(g *at.Gate) at.Answer { return at.Answer{at.Think("hmm"), at.Stop{At: g}} },
		"in the text":           func(g *at.Gate) at.Answer { return at.Answer{at.Say("half an ans"), at.Stop{At: g}} },
	} {
		t.Run(name, func(t *testing.T) {
			gate := at.NewGate()
			r := start(t, 80, 24, answer(gate), say("whole"))
			r.Type("question", tuitest.Send)
			gate.Wait(t)
			r.Wait("working")
			r.Type(tuitest.Esc)
			r.Wait("cancelled")
			r.WaitGone("working")
			r.Wait("What would you like to change?") // the conversation is empty again
			r.Wait(" question")                      // and its text is back in the box
			if refs, _ := r.store.Refs(t.Context(), "", 3.5); len(refs) != 0 {
				t.Errorf("%d pairs are stored, want none", len(refs))
			}
			r.Type(tuitest.Send)
			r.Wait("whole")
		})
	}
}

func TestEscAfterAToolKeepsWhatWasDone(t *testing.T) {
	gate := at.NewGate()
	r := start(t, 80, 24,
		at.Answer{at.Call{Name: "add_word", Arguments: `{"word":"three"}`}},
		at.Answer{at.Say("and now"), at.Stop{At: gate}})
	r.Type("add three", tuitest.Send)
	gate.Wait(t)
	r.Type(tuitest.Esc)
	r.Wait("[error: cancelled]")
	if got := strings.Join(r.window.Words(), " "); got != "one two three" {
		t.Errorf("the window holds %q", got)
	}
	if got := r.Frame(); !strings.Contains(got, "✓ added three") || strings.Contains(got, "and now") {
		t.Errorf("want the tool's card and no unfinished text:\n%s", got)
	}
}

func TestQueueJoinsTheMessages(t *testing.T) {
	gate := at.NewGate()
	r := start(t, 80, 24, at.Answer{at.Say("first answer"), at.Stop{At: gate}}, say("third answer"))
	r.Type("first", tuitest.Send)
	gate.Wait(t)
	r.Type("second", tuitest.Send)
	r.Wait("queued: second")
	r.Type("third", tuitest.Send)
	r.Wait("added to the queued message: both are sent together")
	r.Wait("queued: second · third")
	gate.Open()
	r.Wait("third answer")
	if got := lastUser(r.script); got != "second\n\nthird" {
		t.Errorf("the request asks %q, want both messages", got)
	}
}

func TestLastingToolAsks(t *testing.T) {
	for answer, saved := range map[string]int{"y": 3, "n": 2} {
		t.Run(answer, func(t *testing.T) {
			r := start(t, 80, 24,
				at.Answer{at.Call{Name: "add_word", Arguments: `{"word":"three"}`}, at.Call{Name: "save_words", Arguments: `{}`}},
				say("Finished."))
			r.Type("add three and save", tuitest.Send)
			r.Wait("The assistant wants to save")
			r.clock.Advance(overlayGuard)
			r.Type(answer)
			r.Wait("Finished.")
			if got := len(r.window.Saved()); got != saved {
				t.Errorf("%d words are saved, want %d", got, saved)
			}
		})
	}
}

func TestFilterLine(t *testing.T) {
	r := start(t, 100, 24, say("about apples"), say("about pears"))
	r.Type("apples?", tuitest.Send)
	r.Wait("about apples")
	r.answered(1)
	r.Type("pears?", tuitest.Send)
	r.Wait("about pears")
	r.answered(2)
	r.Type(tuitest.Esc, "f")
	r.Wait("COMMAND")
	r.Type(tuitest.Key("ctrl+u"), "c'apples'")
	r.Wait("1 message")
	r.Type(tuitest.Enter)
	r.Until(func(f string) bool { return strings.Contains(f, "about apples") && !strings.Contains(f, "about pears") })
	r.Wait("1/1")
	r.Type("f", tuitest.Key("ctrl+u"), "c'apples", tuitest.Enter)
	r.Until(func(f string) bool { return strings.Contains(f, "COMMAND") && strings.Contains(f, "column") })
	r.Type(tuitest.Esc, tuitest.Esc)
	r.Wait("VIEW")
}

func TestBoundary(t *testing.T) {
	long := strings.Repeat("word ", 900) // about 1,290 estimated tokens: two of them and the prompt fit 4,000
	r := start(t, 100, 30, say(long), say(long), say(long), say("short"))
	for i := range 3 {
		r.Type("more", tuitest.Send)
		r.answered(i + 1)
	}
	b := r.session.Boundary()
	if b.X == 0 || b.X == b.Y {
		t.Fatalf("the boundary is %+v; the test needs one in the middle", b)
	}
	r.Wait(r.session.Counter())
	r.Type(tuitest.Esc, "O")
	r.Wait("the request starts here")
	r.Wait("sent from here on")
	r.Type("g")
	r.Wait("off ")
	recomputes := r.session.Recomputes()
	r.Type("jjkkGg", tuitest.Enter, "typing all this", tuitest.Key("ctrl+z"))
	r.Resize(90, 28)
	r.Resize(100, 30)
	if got := r.session.Recomputes(); got != recomputes {
		t.Errorf("keys, scrolling and resizing recomputed the boundary %d times", got-recomputes)
	}
}

func TestErrorPairRetries(t *testing.T) {
	r := start(t, 90, 24, at.Answer{at.Fail{Err: &llm.RequestError{Kind: llm.KindQuota, Status: 429, Message: "slow down"}}}, say("better now"))
	r.Type("hello", tuitest.Send)
	r.Wait("[error: quota] slow down")
	r.Type(tuitest.Esc, "r")
	r.Wait("better now")
	if refs, _ := r.store.Refs(t.Context(), "", 3.5); len(refs) != 1 {
		t.Errorf("%d pairs, want the same one tried again in its place", len(refs))
	}
}

func TestDraftIsNeverLost(t *testing.T) {
	r := start(t, 80, 24, say("ok"))
	r.Type("precious", tuitest.Esc)
	r.WaitGone("precious")
	r.Type(tuitest.CtrlZ)
	r.Wait("precious")
	r.Type(tuitest.CtrlC)
	r.Wait("Type a message…")
	r.Type(tuitest.CtrlZ)
	r.Wait("precious")
}

func TestPasteNeverSends(t *testing.T) {
	r := start(t, 80, 24, say("ok"))
	r.Paste("line one\r\nline two\rline three\n")
	r.Wait("line three")
	if len(r.script.Requests()) != 0 {
		t.Error("a paste was sent")
	}
}

func TestOverlaysOpenAndGiveTheModeBack(t *testing.T) {
	r := start(t, 100, 40, say("ok"))
	for key, title := range map[tuitest.Key]string{
		"ctrl+l": "Model", "ctrl+g": "Checkpoints", "f1": "Keys", "ctrl+p": "Commands", "ctrl+t": "Topic of new messages", "f2": "Context",
	} {
		r.Type(key)
		r.Wait("─ " + title + " ─")
		r.Type(tuitest.Esc)
		r.WaitGone("─ " + title + " ─")
		r.Wait("INPUT")
	}
}

func TestModelSelection(t *testing.T) {
	r := start(t, 100, 30, say("ok"))
	r.Type(tuitest.Key("ctrl+l"), "other", tuitest.Enter)
	r.Wait(" other · ")
	if got := r.session.Model(); got != "test/other" {
		t.Errorf("the session uses %s", got)
	}
}

func TestQuitByCtrlC(t *testing.T) {
	r := start(t, 80, 24, say("ok"))
	r.Type(tuitest.CtrlC)
	r.Wait("press ctrl+c again to quit")
	r.Type(tuitest.CtrlC)
	if err := r.WaitEnd(); err != nil {
		t.Errorf("the program ended with %v", err)
	}
}

func TestTooSmall(t *testing.T) {
	r := start(t, 80, 24, say("ok"))
	r.Resize(39, 11)
	r.Wait("terminal too small")
	r.Resize(80, 24)
	r.Wait("What would you like to change?")
}

// overlayGuard is just more than a question waits before it takes an answer.
const overlayGuard = overlay.GuardTime + 100*time.Millisecond

func TestPairThatTheLineHidesIsMarked(t *testing.T) {
	r := start(t, 100, 24, say("about apples"), say("about pears"))
	r.Type("apples?", tuitest.Send)
	r.Wait("about apples")
	r.answered(1)
	r.Type(tuitest.Esc, "f", tuitest.Key("ctrl+u"), "c'apples'", tuitest.Enter)
	r.Wait("c'apples'")
	r.Type(tuitest.Enter, "pears?", tuitest.Send)
	r.Wait("about pears")
	r.Wait("not in filter")
	r.Type(tuitest.Esc, "f", tuitest.Enter)
	r.WaitGone("about pears")
}

// The marks end when the line is evaluated again, by whatever.
func TestAPairThatTheLineMatchesIsNotMarked(t *testing.T) {
	r := start(t, 100, 50, say("about apples"))
	r.Type(tuitest.Esc, "f", tuitest.Key("ctrl+u"), "s>=1", tuitest.Enter, tuitest.Enter)
	for i, text := range []string{"one?", "two?", "three?"} {
		r.Type(text, tuitest.Send)
		r.answered(i + 1)
		r.Until(func(frame string) bool { return strings.Count(frame, "not in filter") == i+1 })
	}
	r.Type(tuitest.Esc, "1")
	r.WaitGone("not in filter")
	r.Wait("1/1")
	r.Type("i", "four?", tuitest.Send)
	r.answered(2)
	r.Wait("not in filter")
	r.Type("five?", tuitest.Send)
	r.answered(3)
	r.Type(tuitest.Esc, "f", tuitest.Key("ctrl+u"), tuitest.Enter)
	r.WaitGone("not in filter")
	r.Wait("5/5")
}

func TestStarsMoveAPairOutOfAFilterThatReadsThem(t *testing.T) {
	r := start(t, 100, 24, say("about apples"))
	r.Type("apples?", tuitest.Send)
	r.Wait("about apples")
	r.answered(1)
	r.Type(tuitest.Esc, "f", tuitest.Key("ctrl+u"), "s0", tuitest.Enter)
	r.Wait("only s0")
	r.Type("2")
	r.WaitGone("about apples")
	r.Wait("0/0")
}

func TestSuggestionLeavesTheDraftAlone(t *testing.T) {
	r := start(t, 100, 24, at.Answer{at.Say("Pick. SUGGESTED_VALUES: {\"values\":[{\"label\":\"List\",\"value\":\"list them\"}]}")}, say("Here they are."))
	r.Type("hello", tuitest.Send)
	r.Wait("[alt+1 List: list them]")
	r.Type("list", tuitest.Alt(1))
	r.Wait("Here they are.")
	if got := r.model.input.draft.Text(); got != "list" {
		t.Errorf("the draft is %q, want it left alone", got)
	}
}
