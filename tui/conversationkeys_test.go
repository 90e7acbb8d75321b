package tui

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/tui/keymap"
	"winnow/tui/style"
	"winnow/tui/terminal"
	"winnow/tui/tuitest"
)

// phase is a point of a turn at which it can be broken off.
type phase struct {
	answers func(g *at.Gate) []at.Answer
	kept    bool // a tool has run: the pair stays
	slow    bool // the gate is where the tool slow stands
}

var call = func(name, args string) at.Call { return at.Call{Name: name, Arguments: args} }

var phases = map[string]phase{
	"before the first byte": {answers: func(g *at.Gate) []at.Answer { return []at.Answer{{at.Stop{At: g}, at.Say("late")}} }},
	"reasoning":             {answers: func(g *at.Gate) []at.Answer { return []at.Answer{{at.Think("hmm"), at.Stop{At: g}}} }},
	"content":               {answers: func(g *at.Gate) []at.Answer { return []at.Answer{{at.Say("half an ans"), at.Stop{At: g}}} }},
	"a call arriving": {answers: func(g *at.Gate) []at.Answer {
		return []at.Answer{{at.Say("I will."), call("add_word", `{"word":"three"}`), at.Stop{At: g}}}
	}},
	"second tool running": {kept: true, slow: true, answers: func(*at.Gate) []at.Answer {
		return []at.Answer{{call("add_word", `{"word":"three"}`), call("slow", `{}`), call("add_word", `{"word":"never"}`)}}
	}},
	"between responses": {kept: true, answers: func(g *at.Gate) []at.Answer {
		return []at.Answer{{call("add_word", `{"word":"three"}`)}, {at.Stop{At: g}, at.Say("late")}}
	}},
}

// TestTheStatusGoesWithTheFirstText and not with the reasoning before it.
func TestTheStatusGoesWithTheFirstText(t *testing.T) {
	thinks, speaks := at.NewGate(), at.NewGate()
	r := start(t, 80, 24, at.Answer{at.Think("hmm"), at.Stop{At: thinks}, at.Say("so"), at.Stop{At: speaks}})
	r.Type("question", tuitest.Send)
	thinks.Wait(t)
	r.Until(func(f string) bool {
		return strings.Contains(f, "hmm") && strings.Contains(f, "Thinking… · esc cancels")
	})
	thinks.Open()
	speaks.Wait(t)
	r.Until(func(f string) bool {
		return strings.Contains(f, "so") && strings.Contains(f, "esc cancels") && !strings.Contains(f, thinking)
	})
	speaks.Open()
	r.WaitGone("esc cancels")
}

func TestCancelInEachPhase(t *testing.T) {
	for name, p := range phases {
		for _, key := range []tuitest.Key{tuitest.Esc, tuitest.CtrlC} {
			t.Run(fmt.Sprintf("%s by %s", name, key), func(t *testing.T) {
				gate := at.NewGate()
				r := start(t, 80, 24, append(p.answers(gate), say("whole"))...)
				if p.slow {
					r.window.Slow = gate
				}
				r.Type("question", tuitest.Send)
				gate.Wait(t)
				r.Wait("working")
				r.Type(key)
				r.WaitGone("working")
				r.checkAfterCancel(t, p.kept)
				r.Type(tuitest.Key("ctrl+u"), "again", tuitest.Send)
				r.Wait("whole")
			})
		}
	}
}

// checkAfterCancel fails the test unless the turn left what it must.
func (r *rig) checkAfterCancel(t *testing.T, kept bool) {
	t.Helper()
	if r.window.Locked() || r.window.Fault() != nil {
		t.Errorf("the window's lock: %v, %v", r.window.Locked(), r.window.Fault())
	}
	refs, _ := r.store.Refs(t.Context(), "", 3.5)
	words := strings.Join(r.window.Words(), " ")
	if !kept {
		r.Wait("What would you like to change?")
		r.Wait(" question")
		if len(refs) != 0 || words != "one two" {
			t.Errorf("%d pairs are stored and the words are %q; want nothing left", len(refs), words)
		}
		return
	}
	r.Wait("[error: cancelled]")
	r.Wait("✓ added three")
	if len(refs) != 1 || words != "one two three" {
		t.Errorf("%d pairs are stored and the words are %q; want what was done", len(refs), words)
	}
}

func TestEscInAQuestionDeclinesAndTheTurnGoesOn(t *testing.T) {
	for _, key := range []tuitest.Key{tuitest.Esc, tuitest.CtrlC} {
		gate := at.NewGate()
		r := start(t, 80, 24,
			at.Answer{call("add_word", `{"word":"three"}`), call("save_words", `{}`)},
			at.Answer{at.Say("not saved then"), at.Stop{At: gate}})
		r.Type("add three and save", tuitest.Send)
		r.Wait("The assistant wants to save")
		r.Type(key)
		gate.Wait(t)
		r.WaitGone("The assistant wants to save")
		r.Wait("working")
		if got := len(r.window.Saved()); got != 2 {
			t.Errorf("after %s in the question %d words are saved", key, got)
		}
		r.Type(key)
		r.WaitGone("working")
		r.checkAfterCancel(t, true)
	}
}

// inBubble runs fn with a program on a history, where time costs nothing.
func inBubble(t *testing.T, pairs []madePair, fn func(t *testing.T, s *seeing)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		for i := range pairs {
			p := &pairs[i]
			p.name, p.session, p.model, p.flag = fmt.Sprint(i), "here", "test/small", true
		}
		s := plan{width: 80, height: 24, contexts: map[string]int{"small": 8000}, pairs: pairs}.start(t)
		fn(t, s)
		s.opts.Work.Session().Cancel()
		s.rest()
	})
}

// named are keys by the names that the tests of this file use.
var named = map[string]tea.KeyPressMsg{
	"esc": {Code: tea.KeyEscape}, "enter": {Code: tea.KeyEnter}, "up": {Code: tea.KeyUp}, "down": {Code: tea.KeyDown},
	"tab": {Code: tea.KeyTab}, "shift+tab": {Code: tea.KeyTab, Mod: tea.ModShift}, "pgup": {Code: tea.KeyPgUp}, "pgdown": {Code: tea.KeyPgDown},
	"space": {Code: tea.KeySpace, Text: " "}, "send": {Code: 'j', Mod: tea.ModCtrl}, "ctrl+d": {Code: 'd', Mod: tea.ModCtrl},
	"ctrl+u": {Code: 'u', Mod: tea.ModCtrl}, "ctrl+z": {Code: 'z', Mod: tea.ModCtrl}, "ctrl+p": {Code: 'p', Mod: tea.ModCtrl},
	"ctrl+c": {Code: 'c', Mod: tea.ModCtrl}, "ctrl+n": {Code: 'n', Mod: tea.ModCtrl}, "f1": {Code: tea.KeyF1}, "alt+2": {Code: '2', Mod: tea.ModAlt},
	"backspace": {Code: tea.KeyBackspace},
}

// keys presses named keys, and types everything else.
func (s *seeing) keys(names ...string) {
	for _, n := range names {
		if k, ok := named[n]; ok {
			s.press(k)
			continue
		}
		s.typeKeys(n)
	}
}

// at is the index of the pair with the focus; -1 is none.
func (s *seeing) at() int {
	p, ok := s.conv.chat.Focused()
	if !ok {
		return -1
	}
	return slices.IndexFunc(s.all, func(have madePair) bool { return have.seq == p.Seq })
}

func (s *seeing) text() string { return plainFrame(s.View().Content) }

// ask sends a message and waits for the end of the turn.
func (s *seeing) ask(message string) {
	s.goTo(keymap.Input)
	s.keys(message, "send")
	s.finish()
}

func (s *seeing) finish() {
	for s.Model.turn.running {
		time.Sleep(time.Second) // in the bubble
		s.settle()
	}
}

// stored are all messages of the store.
func (s *seeing) stored(t *testing.T) []assistant.Pair {
	t.Helper()
	refs, err := s.store.Refs(t.Context(), "", 3.5)
	if err != nil {
		t.Fatal(err)
	}
	seqs := make([]int64, len(refs))
	for i, r := range refs {
		seqs[i] = r.Seq
	}
	pairs, err := s.store.Load(t.Context(), seqs)
	if err != nil {
		t.Fatal(err)
	}
	return pairs
}

// talk is a history of six pairs, some with a tool.
func talk() []madePair {
	long := strings.TrimSpace(strings.Repeat("word ", 120))
	return []madePair{
		{user: "first", final: "alpha " + long},
		{user: "second", final: "needle one"},
		{user: "third", final: "gamma " + long, rounds: []madeRound{{text: "Looking.", calls: []madeCall{{result: "three words", ran: true}}}}},
		{user: "fourth", final: "delta"},
		{user: "fifth", final: "a needle two"},
		{user: "sixth", final: "omega " + long},
	}
}

func TestWalking(t *testing.T) {
	inBubble(t, talk(), func(t *testing.T, s *seeing) {
		t.Helper()
		s.goTo(keymap.View)
		for _, c := range []struct {
			keys string
			at   int
		}{
			{"g", 0}, {"J", 1}, {"J", 2}, {"K", 1}, {"G", 5}, {"J", 5}, {"K", 4}, {"g", 0}, {"K", 0},
		} {
			if s.keys(c.keys); s.at() != c.at {
				t.Errorf("after %s the focus is on pair %d, want %d", c.keys, s.at(), c.at)
			}
		}
		was, steps := s.at(), 0
		for s.keys("g"); s.at() < 5 && steps < 50; steps++ {
			if s.keys("j"); s.at() < was || s.at() > was+1 {
				t.Errorf("j goes from pair %d to %d", was, s.at())
			}
			was = s.at()
		}
		if steps < 12 { // message and answer of each pair, and a card
			t.Errorf("j walks over all in %d steps", steps)
		}
		for range steps {
			s.keys("k")
		}
		if s.at() != 0 {
			t.Errorf("k leads back to pair %d", s.at())
		}
	})
}

func TestPaging(t *testing.T) {
	for _, keys := range [][2]string{{"ctrl+u", "ctrl+d"}, {"pgup", "pgdown"}} {
		inBubble(t, talk(), func(t *testing.T, s *seeing) {
			t.Helper()
			s.goTo(keymap.View)
			s.keys("G", keys[0])
			one := s.text()
			s.keys(keys[0])
			two := s.text()
			s.keys(keys[1])
			if one == two || s.text() != one || s.conv.chat.AtEnd() {
				t.Errorf("%s and %s do not lead back:\n%s\n%s", keys[0], keys[1], one, s.text())
			}
			for range 20 {
				s.keys(keys[1])
			}
			if !s.conv.chat.AtEnd() {
				t.Errorf("%s does not come to the end", keys[1])
			}
		})
	}
}

func TestSearchWalksOverHits(t *testing.T) {
	inBubble(t, talk(), func(t *testing.T, s *seeing) {
		t.Helper()
		s.goTo(keymap.View)
		s.keys("g", "/", "needle", "enter")
		var got []int
		for _, k := range []string{"", "n", "n", "N"} {
			s.keys(k)
			got = append(got, s.at())
		}
		if !slices.Equal(got, []int{1, 4, 1, 4}) {
			t.Errorf("the hits are %v", got)
		}
		s.keys("/", "other", "esc") // clears
		if !s.conv.search.Active {
			t.Error("the first Esc leaves the search")
		}
		s.keys("esc")
		if s.conv.search.Active || s.mode != keymap.View {
			t.Error("the second Esc does not")
		}
	})
}

func TestCheckpointsAreWalkedOver(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, s *seeing) {
		t.Helper()
		add := func(word string) []at.Answer {
			return []at.Answer{{call("add_word", `{"word":"`+word+`"}`)}, say("added")}
		}
		s.script.Then(slices.Concat(add("two"), []at.Answer{say("talk")}, add("three"), []at.Answer{say("the end")})...)
		for range 5 {
			s.ask("go on")
		}
		var seqs []int64
		for _, p := range s.stored(t) {
			seqs = append(seqs, p.Seq)
		}
		s.goTo(keymap.View)
		focus := func(k string) int {
			s.keys(k)
			p, _ := s.conv.chat.Focused()
			return slices.Index(seqs, p.Seq)
		}
		if a, b, c, d := focus("G"), focus("{"), focus("{"), focus("}"); a != 4 || b != 3 || c != 1 || d != 3 {
			t.Errorf("G { { } lead to pairs %d %d %d %d, want 4 3 1 3", a, b, c, d)
		}
	})
}

func TestMarks(t *testing.T) {
	inBubble(t, talk(), func(t *testing.T, s *seeing) {
		t.Helper()
		s.goTo(keymap.View)
		s.keys("K") // the fifth
		seq := s.all[4].seq
		load := func() assistant.Pair { return s.load(madePair{seq: seq}) }
		for _, c := range []struct {
			key  string
			star int
		}{{"*", 1}, {"*", 2}, {"*", 3}, {"*", 0}, {"2", 2}, {"3", 3}, {"1", 1}, {"0", 0}, {"3", 3}} {
			if s.keys(c.key); load().Star != c.star {
				t.Errorf("%s gives %d stars, want %d", c.key, load().Star, c.star)
			}
		}
		if !strings.Contains(s.text(), "★★★") {
			t.Errorf("no stars:\n%s", s.text())
		}
		if s.keys("a"); load().Flag || !strings.Contains(s.text(), "grey") {
			t.Error("a does not take the flag")
		}
		if s.keys("a"); !load().Flag {
			t.Error("a does not give it back")
		}
		if err := s.store.CreateTopic(t.Context(), "home > work"); err != nil {
			t.Fatal(err)
		}
		s.start(s.loadNames())
		s.settle()
		if s.keys("t", "work", "enter"); load().Topic != "home > work" {
			t.Errorf("the topic is %q", load().Topic)
		}
	})
}

func TestFoldingAndRawText(t *testing.T) {
	inBubble(t, talk()[:3], func(t *testing.T, s *seeing) {
		t.Helper()
		s.goTo(keymap.View)
		s.keys("K", "J") // the third, its message
		isOpen := func() bool { return strings.Contains(s.text(), "▾ ✓ three words") }
		isClosed := func() bool { return strings.Contains(s.text(), "▸ ✓ three words") }
		for i, key := range []string{"space", "space", "z", "z"} {
			if s.keys(key); isOpen() != (i%2 == 0) || isClosed() != (i%2 == 1) {
				t.Errorf("key %d, %s, leaves the card\n%s", i+1, key, s.text())
			}
		}
	})
	inBubble(t, []madePair{{user: "q", final: "**bold** words"}}, func(t *testing.T, s *seeing) {
		t.Helper()
		s.goTo(keymap.View)
		if s.keys("v"); !strings.Contains(s.text(), "**bold** words") {
			t.Error("v shows no raw text")
		}
		if s.keys("v"); strings.Contains(s.text(), "**bold**") {
			t.Error("v does not go back")
		}
	})
}

func failedPair() []madePair {
	return []madePair{{user: "good", final: "fine"}, {user: "bad one", failed: true}}
}

func TestErrorPairReAskedAndDeleted(t *testing.T) {
	texts := func(t *testing.T, s *seeing) string {
		t.Helper()
		var out []string
		for _, p := range s.stored(t) {
			out = append(out, string(p.UserText+":")+string(p.State))
		}
		return strings.Join(out, " ")
	}
	inBubble(t, failedPair(), func(t *testing.T, s *seeing) {
		t.Helper()
		s.goTo(keymap.View)
		s.keys("G", "e")
		if s.input.draft.Text() != "bad one" || s.mode != keymap.Input {
			t.Fatalf("e puts %q into the box in %s", s.input.draft.Text(), s.mode)
		}
		s.keys("esc", "other", "send") // gives up: the next message takes nobody's place
		s.finish()
		if got := texts(t, s); got != "good:complete bad one:error other:complete" {
			t.Errorf("given up: %s", got)
		}
	})
	inBubble(t, failedPair(), func(t *testing.T, s *seeing) {
		t.Helper()
		s.goTo(keymap.View)
		s.keys("G", "e", " better", "send")
		s.finish()
		if got := texts(t, s); got != "good:complete bad one better:complete" {
			t.Errorf("asked again: %s", got)
		}
	})
	inBubble(t, failedPair(), func(t *testing.T, s *seeing) {
		t.Helper()
		s.goTo(keymap.View)
		s.keys("G", "d")
		if got := texts(t, s); got != "good:complete" || s.overlay.Open() {
			t.Errorf("deleted: %s, asks %v", got, s.overlay.Open())
		}
	})
}

func TestGoodPairRegeneratedEditedAndDeleted(t *testing.T) {
	inBubble(t, []madePair{{user: "one", final: "old one"}, {user: "two", final: "old two"}}, func(t *testing.T, s *seeing) {
		t.Helper()
		s.goTo(keymap.View)
		s.keys("g", "r")
		if len(s.script.Requests()) != 0 || !strings.Contains(string(s.notice.Text), "only the last") {
			t.Errorf("r on an old pair: %q", s.notice.Text)
		}
		s.keys("G", "r")
		s.finish()
		pairs := s.stored(t)
		if len(pairs) != 2 || pairs[1].UserText != "two" || pairs[1].AssistantText != "fine" || pairs[1].Seq != s.all[1].seq || len(pairs[1].Variants) != 1 {
			t.Fatalf("regenerated: %+v", pairs)
		}
		s.goTo(keymap.View)
		s.keys("g", "e", "!", "send")
		s.finish()
		pairs = s.stored(t)
		if len(pairs) != 3 || pairs[0].UserText != "one" || pairs[2].UserText != "one!" {
			t.Fatalf("edited and sent again: %+v", pairs)
		}
		s.goTo(keymap.View)
		s.keys("g", "d", "y") // typed before the question could be read
		if len(s.stored(t)) != 3 {
			t.Error("a key typed ahead deletes")
		}
		s.clock.Advance(overlayGuard)
		s.keys("n")
		if len(s.stored(t)) != 3 {
			t.Error("n deletes")
		}
		s.keys("d")
		s.clock.Advance(overlayGuard)
		s.keys("y")
		if pairs = s.stored(t); len(pairs) != 2 || pairs[0].UserText != "two" {
			t.Errorf("deleted: %+v", pairs)
		}
	})
}

func TestReAskKeepsTheDraft(t *testing.T) {
	inBubble(t, failedPair(), func(t *testing.T, s *seeing) {
		t.Helper()
		s.keys("precious words")
		s.goTo(keymap.View)
		s.keys("G", "e", "ctrl+z")
		if got := s.input.draft.Text(); got != "precious words" {
			t.Errorf("what e replaced comes back as %q", got)
		}
	})
}

func TestEscOrder(t *testing.T) {
	inBubble(t, talk(), func(t *testing.T, s *seeing) {
		t.Helper()
		state := func() string {
			return fmt.Sprintf("%s overlay %v draft %q line %q", s.mode, s.overlay.Open(), s.input.draft.Text(), s.command.line.Text())
		}
		for _, c := range [][2]string{
			{"draft", `INPUT overlay false draft "draft" line ""`},
			{"f1", `INPUT overlay true draft "draft" line ""`},
			{"esc", `INPUT overlay false draft "draft" line ""`},
			{"esc", `INPUT overlay false draft "" line ""`},
			{"esc", `VIEW overlay false draft "" line ""`},
			{"esc", `VIEW overlay false draft "" line ""`}, // it rests there
			{"f", `COMMAND overlay false draft "" line "x "`},
			{"esc", `COMMAND overlay false draft "" line ""`},
			{"esc", `VIEW overlay false draft "" line ""`},
			{"enter", `INPUT overlay false draft "" line ""`},
			{"ctrl+z", `INPUT overlay false draft "draft" line ""`},
			{"ctrl+c", `INPUT overlay false draft "" line ""`},
			{"tab", `VIEW overlay false draft "" line ""`},
			{"f", `COMMAND overlay false draft "" line "x "`},
			{"enter", `VIEW overlay false draft "" line "x "`},
			{"shift+tab", `INPUT overlay false draft "" line "x "`},
		} {
			if s.keys(c[0]); state() != c[1] {
				t.Fatalf("after %s: %s, want %s", c[0], state(), c[1])
			}
		}
	})
}

func TestEscClearsTheLineBeforeItCancels(t *testing.T) {
	gate := at.NewGate()
	r := start(t, 80, 24, at.Answer{at.Say("half"), at.Stop{At: gate}})
	r.Type("question", tuitest.Send)
	gate.Wait(t)
	r.Type(tuitest.Tab, "f")
	r.Wait("COMMAND")
	r.Type("s2", tuitest.Esc, tuitest.Esc) // clear, leave
	r.Wait("VIEW")
	if !r.session.Busy() {
		t.Fatal("an Esc of the line has cancelled the turn")
	}
	r.Type(tuitest.Esc)
	r.WaitGone("working")
	r.Wait("cancelled")
}

func TestCopying(t *testing.T) {
	code := "Two:\n\n```go\nx := 1\n```\n\nand\n\n```sh\nls -l\n```\n"
	r := start(t, 80, 24, say(code))
	var copied []string
	r.model.opts.Clipboard = func(text string) error { copied = append(copied, text); return nil }
	r.Type("show", tuitest.Send)
	r.Wait("ls -l")
	r.WaitGone("working")
	r.Type(tuitest.Esc)
	for keys, want := range map[string]string{"y": strings.TrimSpace(code), "c1": "x := 1", "c2": "ls -l"} {
		copied = nil
		r.Type(keys)
		r.Wait("to the clipboard · OSC 52 sent")
		if len(copied) != 1 || strings.TrimSpace(copied[0]) != want {
			t.Errorf("%s copies %q, want %q", keys, copied, want)
		}
		osc := "\x1b]52;c;" + base64.StdEncoding.EncodeToString([]byte(copied[0]))
		r.Until(func(string) bool { return strings.Contains(string(r.Output()), osc) })
		r.Type("j")
		r.WaitGone("OSC 52")
	}
	copied = nil
	r.Type("Y")
	r.Wait("copied the message and its answer")
	if len(copied) != 1 || !strings.Contains(copied[0], "show") || !strings.Contains(copied[0], "x := 1") {
		t.Errorf("Y copies %q", copied)
	}
}

func TestExactRequestIsShown(t *testing.T) {
	r := start(t, 100, 40, say("ok"))
	r.Type("draft text", tuitest.Tab, "x")
	r.Wait("the request that would be sent now")
	r.Wait("▾ user")
	r.Type("r", "G")
	r.Wait(`"Name": "progress"`)
	r.Type(tuitest.Esc)
	r.WaitGone("the request that would be sent now")
	r.Wait("draft text")
}

func TestRequestsAreShownAsTheyWereSent(t *testing.T) {
	r := start(t, 100, 40, at.Answer{call("add_word", `{"word":"three"}`)}, say("added"))
	var copied []string
	r.model.opts.Clipboard = func(text string) error { copied = append(copied, text); return nil }
	r.Type("go on", tuitest.Send)
	r.Wait("added")
	r.WaitGone("working")
	r.Type("later words", tuitest.Tab, "x")
	r.Wait("request 2 of 2")
	r.Wait("← → the others")
	r.Wait("▾ tool · answers")
	r.Type("y")
	r.Wait("copied the request")
	sent := r.script.Requests()
	if want, err := json.Marshal(sent[1]); err != nil || len(copied) != 1 || copied[0] != string(want) {
		t.Errorf("y copies %q (%v), want the second request %q", copied, err, want)
	}
	r.Type("x")
	r.Wait("request 2 of 2")
	r.Type(tuitest.Left)
	r.Wait("request 1 of 2")
	r.WaitGone("tool · answers") // the first request holds no result
	r.Type(tuitest.Right)
	r.Wait("request 2 of 2")
	r.Type(tuitest.Right)
	r.Wait("the request that would be sent now")
	r.Wait("later words")
	r.Type(tuitest.Left)
	r.Wait("request 2 of 2")
	r.Type(tuitest.Esc)
	r.WaitGone("request 2 of 2")
}

func TestSuggestionsByDigit(t *testing.T) {
	r := start(t, 80, 24, say(`Which? SUGGESTED_VALUES: {"values":[{"label":"A","value":"take a"},{"label":"B","value":"take b"}]}`), say("b it is"))
	r.Type(tuitest.Alt(2)) // an example, into the box
	r.Wait(" add three")
	r.Type(tuitest.Send)
	r.Wait("[alt+2 B: take b]")
	r.WaitGone("working")
	r.Type(tuitest.Alt(3))
	r.Wait("there is no suggestion 3")
	r.Type(tuitest.Alt(2))
	r.Wait("b it is")
	requests := r.script.Requests()
	if last := requests[len(requests)-1].Messages; last[len(last)-1].Content != "take b" {
		t.Errorf("alt+2 sends %q", last[len(last)-1].Content)
	}
}

func TestSentMessagesComeBack(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, s *seeing) {
		t.Helper()
		s.ask("one")
		s.ask("two")
		s.keys("being written")
		for _, c := range [][2]string{{"up", "two"}, {"up", "one"}, {"up", "one"}, {"down", "two"}, {"down", "being written"}, {"down", "being written"}} {
			if s.keys(c[0]); s.input.draft.Text() != c[1] {
				t.Errorf("after %s the box holds %q, want %q", c[0], s.input.draft.Text(), c[1])
			}
		}
	})
}

func TestFilterHistory(t *testing.T) {
	inBubble(t, talk(), func(t *testing.T, s *seeing) {
		t.Helper()
		for _, line := range []string{"s0", "b"} {
			s.goTo(keymap.Command)
			s.keys("ctrl+u", line, "enter")
		}
		s.goTo(keymap.Command)
		s.keys("ctrl+u", "new")
		for _, c := range [][2]string{{"ctrl+p", "b"}, {"up", "s0"}, {"ctrl+n", "b"}, {"down", "new"}} {
			if s.keys(c[0]); s.command.line.Text() != c[1] {
				t.Errorf("after %s the line is %q, want %q", c[0], s.command.line.Text(), c[1])
			}
		}
	})
}

func TestNewSession(t *testing.T) {
	r := start(t, 80, 24, say("old answer"), say("new answer"))
	r.Type("old", tuitest.Send)
	r.Wait("old answer")
	r.WaitGone("working")
	id := r.session.ID()
	r.Type(tuitest.Key("ctrl+n"))
	r.Wait("What would you like to change?")
	if r.session.ID() == id {
		t.Error("it is the old session")
	}
	r.Type("new", tuitest.Send)
	r.Wait("new answer")
	r.Wait("1/1")
	for _, m := range r.script.Requests()[1].Messages {
		if strings.Contains(m.Content, "old answer") {
			t.Error("the new session sends what the old one said")
		}
	}
	r.Type(tuitest.Esc, "f", tuitest.Key("ctrl+u"), tuitest.Enter)
	r.Wait("old answer")
	r.Wait("2/2")
}

// TestEditorGetsAndGivesTheDraft leaves out the moment in which the terminal
// belongs to the editor: the one in memory cannot be handed to a process.
func TestEditorGetsAndGivesTheDraft(t *testing.T) {
	s := newStill(t, style.Options{Unicode: true}, 80, 24)
	if s.keys("ctrl+o"); !strings.Contains(s.text(), "no editor") {
		t.Errorf("without an editor:\n%s", s.text())
	}
	s.opts.Editor = func(path string) *exec.Cmd { return exec.CommandContext(t.Context(), "editor", path) }
	s.input.draft.Set("words\nof mine")
	path, err := terminal.EditorFile(s.input.draft.Text())
	if err != nil {
		t.Fatalf("the draft is not ready for the editor: %v", err)
	}
	defer os.Remove(path)
	text, err := os.ReadFile(path)
	info, statErr := os.Stat(path)
	if err != nil || statErr != nil || string(text) != "words\nof mine" || info.Mode().Perm() != 0o600 {
		t.Errorf("the editor finds %q (%v, %v)", text, err, statErr)
	}
	if s.onEditorFile(editorFileMsg{path: path}) == nil {
		t.Error("no editor is run")
	}
	s.do(s.onEdited(editedMsg{err: os.ErrPermission}))
	if s.input.draft.Text() != "words\nof mine" {
		t.Errorf("an editor that fails leaves %q", s.input.draft.Text())
	}
	s.setMode(keymap.View)
	s.do(s.onEdited(editedMsg{text: string(text) + " and more\n"}))
	if s.input.draft.Text() != "words\nof mine and more" || s.mode != keymap.Input {
		t.Errorf("the editor gives %q, in %s", s.input.draft.Text(), s.mode)
	}
	if s.keys("ctrl+z"); s.input.draft.Text() != "words\nof mine" {
		t.Errorf("undo brings %q back", s.input.draft.Text())
	}
}

func TestMouse(t *testing.T) {
	long := strings.TrimSpace(strings.Repeat("line\n\n", 40))
	r := start(t, 80, 24, say("the beginning\n\n"+long+"\n\nthe end"))
	r.Type("talk", tuitest.Send)
	r.answered(1)
	r.Type(tuitest.F3)
	r.Wait("mouse on")
	r.Until(func(string) bool { return strings.Contains(string(r.Output()), "\x1b[?1002h") }) // the terminal is asked for the mouse
	for range 40 {
		r.Message(tea.MouseWheelMsg{Button: tea.MouseWheelUp, X: 5, Y: 5})
	}
	r.Wait("the beginning")
	for range 40 {
		r.Message(tea.MouseWheelMsg{Button: tea.MouseWheelDown, X: 5, Y: 5})
	}
	r.Wait("the end")
	r.Click(10, 5)
	r.Wait("VIEW")
	r.Click(10, 21)
	r.Wait("INPUT")
	r.Type(tuitest.F3)
	r.Wait("mouse off")
	r.Until(func(string) bool { return strings.Contains(string(r.Output()), "\x1b[?1002l") })
}

func TestPaletteReachesEveryCommand(t *testing.T) {
	for _, e := range keyMap(t).Palette(false) {
		if e.Action == "suspend" || e.Action == "quit" {
			continue // they end or stop the program
		}
		s := newStill(t, style.Options{Unicode: true}, 100, 40)
		s.opts.Clipboard = func(string) error { return nil }
		s.pane = &walkedPane{} // without a window its commands are not offered
		s.pairs(longTalk()...)
		ran := keymap.Action("")
		for _, have := range s.Model.keys.Palette(false) {
			s.Model.actions[have.Action] = func(*Model) tea.Cmd { ran = have.Action; return nil }
		}
		s.openPalette()
		for _, r := range e.Text {
			s.do(s.onOutcome(s.overlay.Key(keymap.Key(r), string(r))))
		}
		s.do(s.onOutcome(s.overlay.Key("enter", "")))
		if ran != e.Action || s.overlay.Open() {
			t.Errorf("%q in the palette runs %q, want %s", e.Text, ran, e.Action)
		}
	}
}

// keyMap is the key map as it is without bindings of the user.
func keyMap(t *testing.T) *keymap.Map {
	t.Helper()
	k, err := keymap.New(false, nil)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// TestEveryActionDoesSomething: each action of the key table is one of the screen or of
// its pane, and each of the screen is in the table.
func TestEveryActionDoesSomething(t *testing.T) {
	k, screen := keyMap(t), allActions()
	names := map[keymap.Action]bool{}
	for _, e := range k.Palette(false) {
		names[e.Action] = true
	}
	for m := keymap.Input; m <= keymap.HUD; m++ {
		for _, a := range k.In(m) {
			names[a.Name] = true
		}
	}
	for name := range names {
		ofPane := slices.Equal(k.Named(name).Modes, []keymap.Mode{keymap.Pane})
		if (screen[name] != nil) == ofPane {
			t.Errorf("%s: done by the screen: %v, of the pane: %v", name, !ofPane, ofPane)
		}
	}
	for name := range screen {
		if !names[name] {
			t.Errorf("%s is not in the key table", name)
		}
	}
}

func TestEnterSends(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStill(t, style.Options{Unicode: true}, 80, 24, say("ok"))
		keys, err := keymap.New(true, nil)
		if err != nil {
			t.Fatal(err)
		}
		s.Model.keys = keys
		s.input.draft.Set("one")
		for _, k := range []string{"ctrl+enter", "ctrl+j", "alt+enter", "shift+enter"} {
			s.keys(k)
		}
		if got := s.input.draft.Text(); got != "one\n\n\n\n" || s.opts.Work.Session().Busy() {
			t.Fatalf("the other keys make %q of the draft", got)
		}
		s.keys("enter")
		for range s.opts.Work.Session().Events(t.Context(), 0) { // to the end of the turn
		}
		readLog(t, s.Model)
		pairs, err := s.opts.Work.Session().Pairs(context.Background(), []int64{1})
		if err != nil || len(pairs) != 1 || pairs[0].UserText != "one" || pairs[0].AssistantText != "ok" {
			t.Errorf("enter sends %+v, %v", pairs, err)
		}
		if !strings.Contains(s.text(), "enter send") {
			t.Errorf("the footer names another key:\n%s", s.text())
		}
	})
}

func (s *still) text() string { return plainFrame(s.frame()) }
