package tui

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"winnow/adapters/modelfilter"
	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/history"
	"winnow/assistant/history/historytest"
	"winnow/tui/tuitest"
)

// acted are what a user does in a row, each from any mode but COMMAND, back to VIEW or PANE.
var acted = map[string][]tuitest.Key{
	"star":       {"*"},
	"two stars":  {"2"},
	"flag":       {"a"},
	"up":         {"k"},
	"down":       {"j"},
	"filter":     append([]tuitest.Key{"f", "ctrl+u"}, letters("s0\r")...),
	"stars only": append([]tuitest.Key{"f", "ctrl+u"}, letters("s2\r")...),
	"unfilter":   {"F"},
	"unflag all": append([]tuitest.Key{"f"}, letters(":unflag\r")...),
	"undo pairs": {"u"},
	"topic":      append([]tuitest.Key{"t"}, append(letters("AI"), "alt+n")...),
	"model":      append([]tuitest.Key{"ctrl+l"}, letters("other\r")...),
	"find":       append([]tuitest.Key{"/"}, letters("needle\r")...),
	"next hit":   {"n"},
	"other side": {"shift+tab", "shift+tab"}, // VIEW or PANE, by way of INPUT
	"delete":     {"delete"},                 // a rule, in PANE
	"undo":       {"ctrl+z"},
	"words":      append([]tuitest.Key{"i"}, append(letters("word"), "esc", "tab")...),
	"commands":   append([]tuitest.Key{"i"}, append(letters("/filter s2\r/topic AI\r/filter x\r/model test/other\r"), "tab")...),
	"more":       append([]tuitest.Key{"i"}, append(letters("/topic Bees\r/filter :star 3\r/filter :star 1\r/filter :unflag\r/filter :star 2\r/filter :flag\r/filter s0\r"), "tab")...),
}

// acting is a program with a slow history, in VIEW.
func acting(t *testing.T) (*bench, *fixture, *historytest.Slow) {
	t.Helper()
	slow := &historytest.Slow{}
	m, d := newProgram(t, setup{
		model: steady{}, pairs: []assistant.Pair{told("question", "an answer with a needle"), told("another", "answer"), told("third", "needle"), failed("broken")},
		wrap:   func(s history.Store) history.Store { return &historytest.Hooked{Store: s, Before: slow.Before} },
		change: func(o *Options) { o.Now = nil }, // the time of the bubble
	})
	b := &bench{Model: m, msgs: make(chan tea.Msg, 4096)}
	b.start(m.Init())
	b.start(m.resize(120, 32))
	b.settle()
	time.Sleep(time.Second)
	b.press(tuitest.Press("tab"))
	slow.Set(2 * time.Second)
	return b, d, slow
}

// outcomeOf is what keys lead to, pressed with a pause after each.
func outcomeOf(t *testing.T, keys []tuitest.Key, pause time.Duration) (state string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b, d, slow := acting(t)
		for _, k := range keys {
			time.Sleep(pause)
			b.settle()
			b.take(tuitest.Press(k))
			b.settle()
		}
		for busy := 1; busy > 0 || len(b.queue.waiting) > 0; {
			busy = len(b.acts.waiting) + int(b.acts.running)
			time.Sleep(time.Minute) // after the last act what it has begun ends
			b.settle()
		}
		slow.Set(0)
		var s strings.Builder
		pairs, err := d.store.Load(t.Context(), []int64{1, 2, 3, 4})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range pairs {
			fmt.Fprintln(&s, p.UserText, p.Star, p.Flag, p.Topic)
		}
		for _, r := range d.window.Rules(modelfilter.Ignore) {
			fmt.Fprintln(&s, r.Pattern)
		}
		fmt.Fprintln(&s, d.session.Filter(), len(d.session.Visible()), d.session.Model(), d.session.Topic(), b.mode, b.acts.running, len(b.queue.waiting))
		fmt.Fprintln(&s, b.input.draft.Text(), focusOf(frameOf(b.Model)))
		b.leave()
		state = s.String()
	})
	return state
}

// Acts typed faster than the history answers end in the state of the same acts typed slowly.
func TestActsTypedFastEndAsTypedSlowly(t *testing.T) {
	names := make([]string, 0, len(acted))
	for name := range acted {
		names = append(names, name)
	}
	slices.Sort(names)
	for seed := range uint64(at.Rounds(8, 200)) {
		r := rand.New(rand.NewPCG(seed, 1))
		var keys []tuitest.Key
		var did []string
		for range 10 {
			name := names[r.IntN(len(names))]
			did = append(did, name)
			keys = append(keys, acted[name]...)
		}
		slowly, fast := outcomeOf(t, keys, time.Minute), outcomeOf(t, keys, tuitest.KeyGap)
		if slowly != fast {
			t.Errorf("seed %d: %s\nslowly:\n%s\nfast:\n%s", seed, strings.Join(did, ", "), slowly, fast)
		}
	}
}
