package tui

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/tui/chat"

	"winnow/tui/tuitest"
	"winnow/tui/usecase"
)

// Commands run side by side: what was read before a change may arrive after what was
// read later. The screen shows what is, so a key never meets a pair that is gone.
func TestLateResultsAreNotShown(t *testing.T) {
	m, d := newProgram(t, setup{pairs: []assistant.Pair{told("first", "1"), told("second", "2"), told("third", "3")}})
	m.Update(tea.WindowSizeMsg{Width: 120, Height: 32})
	m.Update(loadStart(m.opts.Parts)())
	m.Update(m.load(m.conv.chat.Missing()...)())
	refs := d.session.Visible()
	last := refs[len(refs)-1].Seq

	marked := m.load(last)()
	star := 3
	if err := d.session.Mark(t.Context(), assistant.PairMark{Seq: last, Star: &star}); err != nil {
		t.Fatal(err)
	}
	m.Update(m.load(last)())
	m.Update(marked)
	m.conv.chat.FocusLast()
	if p, ok := m.conv.chat.Focused(); !ok || p.Star != star {
		t.Errorf("after a late result the pair has %d stars, want %d", p.Star, star)
	}

	before := d.session.Shown() // an entry of the log
	if err := d.session.Delete(t.Context(), last); err != nil {
		t.Fatal(err)
	}
	m.Update(usecase.Refiltered{Reply: usecase.Reply{State: d.session.State()}})
	m.show(assistant.Update{State: assistant.State{Shown: &before}})
	if n := m.conv.chat.Len(); n != len(refs)-1 {
		t.Errorf("after a late result %d pairs are shown, want %d", n, len(refs)-1)
	}
}

// lateMessages are what comes too late after some keys: of a request, a line, a turn or a
// timer that is another one by now.
var lateMessages = map[string]struct {
	keys []tuitest.Key
	late func(b *bench) tea.Msg
}{
	"a count of another line": {[]tuitest.Key{"tab", "f"}, func(b *bench) tea.Msg {
		return usecase.Counted{Reply: usecase.Reply{Request: 99, Session: b.parts.shownSession()}, Line: "s3", N: 77}
	}},
	"a count of a refused line": {append([]tuitest.Key{"tab", "f"}, letters("s0 (\r")...), func(b *bench) tea.Msg {
		return usecase.Counted{Reply: usecase.Reply{Request: 99, Session: b.parts.shownSession()}, Line: b.command.line.Text(), N: 77}
	}},
	"what the filter hid": {nil, func(b *bench) tea.Msg {
		b.hiding = 98
		return usecase.Counted{Reply: usecase.Reply{Request: 99, Session: b.parts.shownSession()}, Line: "!(x)", N: 77}
	}},
	"hits of another search": {append([]tuitest.Key{"tab", "/"}, letters("needle\rk")...), func(*bench) tea.Msg { return usecase.Found{Reply: usecase.Reply{Request: 99}, Text: "other"} }},
	"requests": {nil, func(b *bench) tea.Msg {
		return usecase.RequestsRead{Reply: usecase.Reply{Request: 99, Session: b.parts.shownSession()}, Next: json.RawMessage("{}")}
	}},
	"the view of a request": {nil, func(*bench) tea.Msg {
		r := chat.ShownRequest{Title: "late", Body: json.RawMessage("{}")}
		return requestReadMsg{99, []chat.ShownRequest{r}, 0, chat.NewRequestView(r.Title, r.Body, func(string) int { return 1 }, false)}
	}},
	"the effect of a proposal": {actsOf["a rejection"][:4], func(b *bench) tea.Msg {
		effects := map[string][]assistant.Effect{b.conv.chat.Undecided()[0].ID: {{Sentence: "a late effect"}}}
		return usecase.EffectsRead{Reply: usecase.Reply{Request: 99}, Effects: effects}
	}},
	"the end of a turn that has ended": {append(letters("hi"), "ctrl+j", "down"), func(b *bench) tea.Msg {
		b.start(b.show(assistant.Update{Of: b.parts.Turn.Turn, Event: assistant.Error{Code: "late", Message: "late"}}))
		return nil
	}},
	"the end of the turn before": {append(append(letters("hi"), "ctrl+j", "down"), append(letters("go"), "ctrl+j")...), func(b *bench) tea.Msg {
		of := *b.parts.Turn.Turn
		of.Number--
		before := b.turn.began
		b.start(b.show(assistant.Update{Of: &of, Event: assistant.Error{Code: "late", Message: "late"}}))
		if b.turn.began != before {
			return tea.Quit() // the turn was begun again
		}
		return nil
	}},
	"the running pair as it was stored": {append(append(letters("hi"), "ctrl+j", "down"), append(letters("go"), "ctrl+j")...), func(b *bench) tea.Msg {
		b.conv.requested[b.turn.seq] = 99
		return usecase.PairsLoaded{Reply: usecase.Reply{Request: 99}, Pairs: []assistant.Pair{{Seq: b.turn.seq, UserText: "stale"}}}
	}},
	"a stored draft": {nil, func(*bench) tea.Msg {
		return usecase.DraftStored{Reply: usecase.Reply{Request: 99}, Err: errors.New("late")}
	}},
	"the pause after another reply": {append(letters("hi"), "ctrl+j", "down"), func(*bench) tea.Msg {
		time.Sleep(2 * idlePause) // so that the user is quiet
		return replyDueMsg{}
	}},
	"a second of another countdown": {nil, func(*bench) tea.Msg { return secondPassedMsg{&unsentMessage{}} }},
	"a line that rested":            {letters("hi"), func(*bench) tea.Msg { return enterDueMsg{"other"} }},
	"the models for a closed list":  {nil, func(*bench) tea.Msg { return usecase.ModelsRefreshed{Reply: usecase.Reply{Request: 99}} }},
	"the wait of an answered question": {append(letters("hi"), "ctrl+j", "f1"), func(b *bench) tea.Msg {
		help, _, _ := b.overlay.Top()
		return answerDueMsg{"answered", help, time.Minute}
	}},
}

// What comes too late changes nothing on the screen.
func TestLateMessagesChangeNothing(t *testing.T) {
	for name, c := range lateMessages {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				gate := at.NewGate()
				answers := []at.Answer{say("one"), {at.Say("two"), at.Stop{At: gate}}}
				if name == "the effect of a proposal" {
					answers = answersOf("a rejection")
				}
				b, _ := steadyFixture(t, answers...)
				b.opts.HUD = name == "what the filter hid"
				b.take(tea.WindowSizeMsg{Width: 160, Height: 40})
				b.settle()
				b.hurry(c.keys...)
				before := frameOf(b.Model)
				b.take(c.late(b))
				b.settle()
				if got := frameOf(b.Model); got != before || b.hasQuit {
					t.Errorf("before:\n%s\nafter (ended %v):\n%s", before, b.hasQuit, got)
				}
				gate.Open()
				b.leave()
			})
		})
	}
}

// resyncIn lets the turn of a message wait in the middle of its answer, loses what the log
// says of it until meanwhile has run, and brings the screen up to date by a resync. check
// runs before the turn goes on.
func resyncIn(t *testing.T, meanwhile func(b *held, gate *at.Gate), check func(b *held, gate *at.Gate)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		gate := at.NewGate()
		b, _ := steadyFixture(t, at.Answer{at.Say("one two"), at.Stop{At: gate}, at.Say(" three")}, say("four"))
		h := &held{bench: b}
		h.keys(append(letters("hi"), "ctrl+j")...)
		for !strings.Contains(frameOf(b.Model), "one two") && (h.deliver(&h.outcomes) || h.deliver(&h.entries)) {
		}
		if text := frameOf(b.Model); !strings.Contains(text, "one two") || !strings.Contains(text, "cancels") {
			t.Fatalf("no turn runs:\n%s", text)
		}
		meanwhile(h, gate)
		synctest.Wait()
		u, err := b.opts.Work.Session().Next(t.Context(), math.MaxInt64) // a version that is not in the log
		if err != nil || !u.Resync {
			t.Fatalf("no resync, but %+v, %v", u, err)
		}
		star := 1 // the wait that has begun ends with this entry: only one may use a follower
		session := b.opts.Work.Session()
		if err := session.Mark(t.Context(), assistant.PairMark{Seq: session.Visible()[0].Seq, Star: &star}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(usecase.TextFrame) // or with its pause between pieces of text
		h.settle()
		h.entries, h.follower = nil, h.commands.Follow(t.Context(), u)
		h.take(usecase.LogRead{Update: u})
		b.settle()
		check(h, gate)
		gate.Open()
		b.settle()
		b.hurry(append(letters("more"), "ctrl+j")...)
		time.Sleep(time.Minute)
		b.settle()
		if text := frameOf(b.Model); !strings.Contains(text, "one two three") || !strings.Contains(text, "four") || strings.Contains(text, "cancels") {
			t.Errorf("at the end:\n%s", text)
		}
		b.leave()
	})
}

// A turn that ended while the screen was too far behind has ended on the screen, too.
func TestATurnThatEndedBeforeAResyncHasEnded(t *testing.T) {
	resyncIn(t, func(_ *held, gate *at.Gate) { gate.Open() }, func(h *held, _ *at.Gate) {
		if text := frameOf(h.Model); strings.Contains(text, "cancels") || !strings.Contains(text, "one two three") {
			t.Errorf("after the resync:\n%s", text)
		}
	})
}

// A turn that still runs after a resync goes on on the screen.
func TestATurnThatRunsAfterAResyncGoesOn(t *testing.T) {
	resyncIn(t, func(*held, *at.Gate) {}, func(h *held, _ *at.Gate) {
		if text := frameOf(h.Model); !strings.Contains(text, "cancels") || !strings.Contains(text, "one two") {
			t.Errorf("after the resync:\n%s", text)
		}
	})
}

// A message sent just after the end of a turn may start the next turn before the screen hears
// of that end. The pair of the turn before is then shown as it is stored.
func TestATurnThatStartsBeforeTheEndOfTheLastOneIsShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, d := steadyFixture(t)
		defer b.leave()
		for _, c := range []byte("go\x0e\xf0next") {
			b.event(c)
		}
		d.session.Cancel() // its events are not read yet
		synctest.Wait()
		var late []tea.Msg
		for len(b.msgs) > 0 {
			late = append(late, <-b.msgs)
		}
		if !b.turn.running || d.session.Busy() {
			t.Fatalf("the screen shows a running turn: %v; one is running: %v", b.turn.running, d.session.Busy())
		}
		first := b.turn.seq
		b.event(0x0e)
		if b.turn.n != 2 {
			t.Fatalf("turn %d is shown", b.turn.n)
		}
		for _, msg := range late {
			b.take(msg)
		}
		b.settle()
		if !slices.Contains(b.conv.chat.Loaded(), first) {
			t.Errorf("the pair of the first turn still runs:\n%s", plainFrame(b.View().Content))
		}
	})
}
