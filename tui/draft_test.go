package tui

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"pgregory.net/rapid"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/history"
	"winnow/assistant/workspace"
	"winnow/tui/keymap"
	"winnow/tui/style"
	"winnow/tui/tuitest"
	"winnow/tui/usecase"
)

// A draft that is written without a pause is stored all the same, at the latest
// four seconds after it was typed.
func TestADraftIsStoredWhileItIsWritten(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, s *seeing) {
		t.Helper()
		s.goTo(keymap.Input)
		for range 20 {
			s.clock.Advance(time.Second / 2)
			s.press(tea.KeyPressMsg{Code: 'x', Text: "x"})
			time.Sleep(time.Second / 2)
			synctest.Wait()
			s.settle()
			kept, err := s.store.Draft(t.Context(), draftKey)
			if err != nil {
				t.Fatal(err)
			}
			if typed := len(s.input.draft.Text()); typed-len(kept.Text) > 8 { // four seconds of keys
				t.Fatalf("%d characters are typed and %d stored", typed, len(kept.Text))
			}
		}
	})
}

// Of two drafts that are stored in a row the newer is the one that stays.
func TestTheNewestDraftIsStoredLast(t *testing.T) {
	s := newStill(t, style.Options{}, 80, 24)
	r := start(t, 80, 24)
	s.opts.History = r.store
	s.commands.Bind(usecase.Source{Work: r.model.opts.Work, History: r.store})
	s.input.stores = true
	s.input.draft.Set("old")
	first := s.input.storeDraft()
	s.input.draft.Set("new")
	if second := s.input.storeDraft(); second != nil {
		t.Fatal("two drafts are stored at once")
	}
	s.do(s.carryOut(first))
	if kept, err := r.store.Draft(t.Context(), draftKey); err != nil || kept.Text != "new" {
		t.Errorf("the draft that is kept is %q (%v)", kept.Text, err)
	}
}

// Two programs on one history do not write over each other's draft; one that
// was kept for all folders is found by the first.
func TestEachFolderHasItsOwnDraft(t *testing.T) {
	_, d := newProgram(t, setup{})
	if err := d.store.SaveDraft(t.Context(), draftKey, history.Draft{Text: "of before"}); err != nil {
		t.Fatal(err)
	}
	in := func(folder string) *workspace.Workspace {
		return workspace.New(workspace.Options{Session: d.session, History: d.store, Folder: folder})
	}
	loaded := func(folder string) string {
		return loadStart(Parts{Source: usecase.Source{Work: in(folder), History: d.store}})().(startLoadedMsg).Draft.Text
	}
	for _, folder := range []string{"/one", "/two"} {
		if got, want := loaded(folder), map[string]string{"/one": "of before"}[folder]; got != want {
			t.Errorf("%s begins with %q, want %q", folder, got, want)
		}
		if err := in(folder).SaveDraft(t.Context(), history.Draft{Text: "in " + folder}); err != nil {
			t.Fatal(err)
		}
	}
	for _, folder := range []string{"/one", "/two"} {
		if got := loaded(folder); got != "in "+folder {
			t.Errorf("%s has %q", folder, got)
		}
	}
}

// A program that a signal ends has a draft that no timer has stored yet.
func TestTheDraftOfTheLastSecondIsStored(t *testing.T) {
	m, _ := newProgram(t, setup{})
	m.Update(loadStart(m.opts.Parts)())
	m.Update(tea.PasteMsg{Content: "last words"})
	if err := m.StoreDraft(t.Context()); err != nil {
		t.Fatal(err)
	}
	if d, err := m.opts.Work.Draft(t.Context()); d.Text != "last words" || err != nil {
		t.Errorf("stored is %q, %v", d.Text, err)
	}
}

// A message that an earlier run has queued waits for the user.
func TestAQueuedMessageOfAnEarlierRunIsShown(t *testing.T) {
	d := startProgram(t, setup{w: 120, h: 32, answers: []at.Answer{say("answered")}, history: func(s history.Store) error {
		return s.(assistant.SessionStore).SaveQueued(t.Context(), "s1", assistant.Prompt{Text: "from before"})
	}})
	d.Wait("queued: from before")
	d.Type(tuitest.Key("alt+q"))
	d.Wait("Queued: waiting")
	d.clock.Advance(overlayGuard)
	d.Type("s")
	d.Wait("answered")
	d.WaitGone("queued: ")
}

// 5: the re-ask ends when its draft is undone, emptied or recalled; a chip says
// that it holds.
func TestAReAskEndsWithItsDraft(t *testing.T) {
	for name, keys := range map[string][]any{
		"emptied":  {tuitest.Esc},
		"undone":   {tuitest.CtrlZ},
		"recalled": {tuitest.Up},
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t, 80, 24, say("one"), broken(), say("three"))
			r.Type("first", tuitest.Send)
			r.answered(1)
			r.Type("second", tuitest.Send)
			r.Wait("[error:")
			r.WaitGone("working")
			r.Type(tuitest.Esc, "e")
			r.Wait("replaces the failed message")
			r.Type(keys...)
			r.WaitGone("replaces the failed message")
			r.Type(tuitest.Key("ctrl+u"), "third", tuitest.Send)
			r.Wait("three")
			r.WaitGone("working")
			if n := len(r.session.Visible()); n != 3 {
				t.Errorf("%d pairs are left, want the one that failed among 3", n)
			}
		})
	}
}

// typedChecks is how many runs are tried, each a program with a database.
const typedChecks = 40

// moves are what may happen around a text that is being typed, but for keys
// that delete it on purpose.
var moves = map[string]func(*bench){
	"alt+q":     func(b *bench) { b.press(tea.KeyPressMsg{Code: 'q', Mod: tea.ModAlt}) },
	"esc":       func(b *bench) { b.event(0x00) },
	"enter":     func(b *bench) { b.event(0x01) },
	"tab":       func(b *bench) { b.event(0x02) },
	"up":        func(b *bench) { b.event(0x03) },
	"down":      func(b *bench) { b.event(0x04) },
	"shift+tab": func(b *bench) { b.event(0x0d) },
	"send":      func(b *bench) { b.event(0x0e) },
	"ctrl+c":    func(b *bench) { b.event(0x82) },
	"ctrl+g":    func(b *bench) { b.event(0x86) },
	"ctrl+n":    func(b *bench) { b.event(0x8d) },
	"ctrl+z": func(b *bench) {
		if b.mode != keymap.Input { // there it takes typed text away on purpose
			b.event(0x99)
		}
	},
	"alt+1":      func(b *bench) { b.event(0xb1) },
	"yes":        func(b *bench) { time.Sleep(time.Second); b.event('y') }, // past the guard of a question
	"edit":       func(b *bench) { b.event('e') },
	"again":      func(b *bench) { b.event('r') },
	"paste":      func(b *bench) { b.event(0xd0) },
	"wait":       func(b *bench) { b.event(0xf0) },
	"wait long":  func(b *bench) { time.Sleep(3 * time.Second); b.settle() },
	"to INPUT":   toInput,
	"to INPUT 2": toInput,
}

// toInput leads to the box from anywhere.
func toInput(b *bench) {
	for range 6 {
		if b.overlay.Open() || b.mode == keymap.Command || b.conv.search.Active || b.pane.Typing() {
			b.event(0x00)
		}
	}
	for range 3 {
		switch b.mode {
		case keymap.Input:
		case keymap.Pane:
			b.event('i')
		default:
			b.event(0x01)
		}
	}
}

// TestTypedTextIsNeverLost types words between everything else that can be
// done, and finds each of them again: in a pair, in the queue, in the box, or
// by ctrl+z or the arrow keys.
func TestTypedTextIsNeverLost(t *testing.T) {
	fewerChecks(t, typedChecks)
	rapid.Check(t, func(rt *rapid.T) {
		names := append(slices.Sorted(maps.Keys(moves)), "type", "type")
		steps := rapid.SliceOfN(rapid.SampledFrom(names), 1, 40).Draw(rt, "steps")
		var lost []string
		var frame string
		synctest.Test(t, func(t *testing.T) { lost, frame = typeBetween(t, steps) })
		if len(lost) > 0 {
			rt.Fatalf("lost: %q\n%s", lost, frame)
		}
	})
}

// typeBetween does the steps and returns the words that are not found again.
func typeBetween(t *testing.T, steps []string) (lost []string, frame string) {
	t.Helper()
	b, d := steadyFixture(t)
	var words []string
	for _, step := range steps {
		if step != "type" {
			moves[step](b)
			continue
		}
		if b.mode != keymap.Input || b.overlay.Open() {
			continue
		}
		word := fmt.Sprintf("word%03d", len(words))
		for _, c := range []byte(word + " ") {
			b.event(c)
		}
		words = append(words, word)
	}
	b.leave()
	toInput(b)
	b.leave() // enter on the button of a failed pair has started a turn
	frame = plainFrame(b.View().Content)
	found := everything(t, b, d)
	for _, w := range words {
		if !strings.Contains(found, w) {
			lost = append(lost, w)
		}
	}
	return lost, frame
}

// everything is all text that the user can get at.
func everything(t *testing.T, b *bench, d *fixture) string {
	t.Helper()
	var all strings.Builder
	seqs := make([]int64, 200)
	for i := range seqs {
		seqs[i] = int64(i + 1)
	}
	pairs, err := d.store.Load(context.Background(), seqs)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pairs {
		all.WriteString(string(p.UserText + "\n"))
	}
	if p, ok := b.opts.Work.Session().Queued(); ok {
		all.WriteString(p.Text + "\n")
	}
	all.WriteString(b.input.draft.Text() + "\n")
	n := 0
	for b.input.draft.Older() {
		n++
		all.WriteString(b.input.draft.Text() + "\n")
	}
	for range n {
		b.input.draft.Newer()
	}
	for b.input.draft.Undo() {
		all.WriteString(b.input.draft.Text() + "\n")
	}
	return all.String()
}
