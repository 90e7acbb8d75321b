package tui

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

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

// The responses of a failed turn that were whole stay on the screen while it is
// tried again, and afterwards.
func TestARetriedPairKeepsItsCards(t *testing.T) {
	gate := at.NewGate()
	r := start(t, 80, 24, at.Answer{call("add_word", `{"word":"three"}`)}, broken(), at.Answer{at.Say("added now"), at.Stop{At: gate}, at.Say(" really")})
	r.Type("add three", tuitest.Send)
	r.Wait("[alt+1 Retry")
	r.WaitGone("working")
	r.Type(tuitest.Alt(1))
	gate.Wait(t)
	r.Wait("added now")
	if !strings.Contains(r.Frame(), "✓ add_word") {
		t.Errorf("the card is gone while it is tried again:\n%s", r.Frame())
	}
	gate.Open()
	r.Wait("really")
	r.WaitGone("working")
	if n := strings.Count(r.Frame(), "✓ add_word"); n != 1 {
		t.Errorf("the card is there %d times:\n%s", n, r.Frame())
	}
}

// What is tried again far above is shown there as it comes.
func TestAPairFarAboveIsRetriedInSight(t *testing.T) {
	r := start(t, 80, 24, broken(), say("two"), say("three"), say("four"), say("the answer at last"))
	for i, text := range []string{"one?", "two?", "three?", "four?"} {
		r.Type(text, tuitest.Send)
		r.answered(i + 1)
	}
	r.Type(tuitest.Esc, "gr")
	r.Wait("the answer at last")
	r.WaitGone("working")
	if pairs, err := r.session.Pairs(t.Context(), []int64{r.session.Visible()[0].Seq}); err != nil || pairs[0].State != assistant.PairComplete {
		t.Errorf("the pair is %v (%v)", pairs, err)
	}
}

// A tool of a window over the history may change marks: the screen shows them.
func TestMarksThatATurnChangedAreShown(t *testing.T) {
	gate := at.NewGate()
	r := start(t, 80, 24, say("one"), at.Answer{call("add_word", `{"word":"three"}`)}, at.Answer{at.Stop{At: gate}, at.Say("done")})
	r.Type("first", tuitest.Send)
	r.answered(1)
	r.Type("star it", tuitest.Send)
	gate.Wait(t)
	stars := 3
	if _, err := r.store.Mark(t.Context(), []int64{r.session.Visible()[0].Seq}, history.Mark{Star: &stars}); err != nil {
		t.Fatal(err)
	}
	gate.Open()
	r.Wait("★★★")
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
	d.Wait("Queued: it")
	d.clock.Advance(overlayGuard)
	d.Type("s")
	d.Wait("answered")
	d.WaitGone("queued: ")
}
