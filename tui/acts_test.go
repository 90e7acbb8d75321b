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
	"winnow/tui/overlay"
	"winnow/tui/tuitest"
	"winnow/tui/usecase"
)

// held is a bench that keeps back outcomes of commands and entries of the log.
type held struct {
	*bench
	outcomes, entries []tea.Msg
}

// settle handles all other messages.
func (h *held) settle() {
	for {
		synctest.Wait()
		select {
		case msg := <-h.msgs:
			if _, ok := msg.(usecase.Outcome); ok {
				h.outcomes = append(h.outcomes, msg)
			} else if e, ok := msg.(usecase.LogRead); ok && e.Version != 0 {
				h.entries = append(h.entries, msg)
			} else {
				h.take(msg)
			}
		default:
			h.View()
			return
		}
	}
}

// keys presses keys, slowly enough that a question takes them.
func (h *held) keys(keys ...tuitest.Key) {
	for _, k := range keys {
		time.Sleep(time.Second)
		h.take(tuitest.Press(k))
		h.settle()
	}
}

// deliver delivers the oldest message.
func (h *held) deliver(from *[]tea.Msg) bool {
	if len(*from) == 0 {
		return false
	}
	msg := (*from)[0]
	*from = (*from)[1:]
	h.take(msg)
	h.settle()
	return true
}

func frameOf(m *Model) string { return plainFrame(m.View().Content) }

// A change that begins while another one runs waits for its outcome.
func TestActsRunOneAtATimeInTheOrderOfTheKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, _ := steadyFixture(t)
		h := &held{bench: b}
		h.keys("ctrl+s", "ctrl+s", "ctrl+s") // in INPUT keys do not wait
		for n := range 3 {
			if len(h.outcomes) != 1 {
				t.Fatalf("after %d outcomes %d acts have ended at once", n, len(h.outcomes))
			}
			h.deliver(&h.outcomes)
		}
		if len(h.outcomes) != 0 || h.acts.running != 0 {
			t.Errorf("%d outcomes are left, request %d runs", len(h.outcomes), h.acts.running)
		}
		b.leave()
	})
}

// Quitting counts what is still being changed and what was typed before it, and asks about
// rules that this leaves unsaved. Pressed again, or after quitTime, it does not wait.
func TestQuittingWaitsForTheChangesBeforeIt(t *testing.T) {
	for name, then := range map[string]func(h *held){
		"until they end": func(h *held) {
			for range 2 { // the second x ran after the first
				if h.overlay.Open() {
					t.Errorf("the question does not wait:\n%s", frameOf(h.Model))
				}
				h.deliver(&h.outcomes)
			}
			h.deliver(&h.outcomes) // what to discard
			if got := frameOf(h.Model); h.top() != overlay.Confirm || strings.Count(got, "stopped hiding") != 2 {
				t.Errorf("the quit question is not about both rules:\n%s", got)
			}
		},
		"until it is pressed again": func(h *held) { h.take(tuitest.Press("ctrl+q")) },
		"for quitTime":              func(*held) { time.Sleep(quitTime) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b, _ := steadyFixture(t)
				h := &held{bench: b}
				h.keys("shift+tab")
				for _, k := range []tuitest.Key{"x", "x", "ctrl+q"} {
					h.take(tuitest.Press(k))
				}
				h.settle()
				if h.quitting == 0 || h.hasQuit {
					t.Fatalf("quitting %d, has quit %v", h.quitting, h.hasQuit)
				}
				then(h)
				if h.settle(); h.quitting != 0 || len(h.queue.waiting) > 0 {
					t.Errorf("quitting %d, %d keys wait", h.quitting, len(h.queue.waiting))
				}
				b.leave()
			})
		})
	}
}

// The outcome of a request that a flow no longer waits for changes nothing.
func TestALateOutcomeIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, _ := steadyFixture(t)
		b.hurry("shift+tab", "x")
		h := &held{bench: b}
		h.keys("ctrl+s")
		late := h.outcomes[0]
		h.deliver(&h.outcomes)
		if h.top() != overlay.SaveSheet {
			t.Fatalf("no question:\n%s", frameOf(b.Model))
		}
		h.keys("n")
		before := frameOf(b.Model)
		h.take(late)
		if got := frameOf(b.Model); got != before {
			t.Errorf("a late plan is shown:\n%s", got)
		}
		b.leave()
	})
}

// What was read of a session that is another one by now is not shown.
func TestALateOutcomeOfTheSessionBeforeIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, _ := steadyFixture(t)
		h := &held{bench: b}
		h.keys("tab", "x")
		late := h.outcomes
		h.outcomes = nil
		h.keys("ctrl+n")
		for h.deliver(&h.outcomes) || h.deliver(&h.entries) {
		}
		before := frameOf(b.Model)
		for _, msg := range late {
			h.take(msg)
			b.settle()
		}
		if got := frameOf(b.Model); len(late) == 0 || got != before {
			t.Errorf("%d late outcomes are shown:\n%s", len(late), got)
		}
		b.leave()
	})
}

// actsOf are keys, from INPUT, that lead to one outcome or several.
var actsOf = map[string][]tuitest.Key{
	"nothing to save": {"ctrl+s"},
	"a save":          {"shift+tab", "x", "ctrl+s", "y"},
	"no save":         {"shift+tab", "x", "ctrl+s", "n"},
	"an undo":         {"shift+tab", "x", "ctrl+z"},
	"a rollback":      {"shift+tab", "x", "ctrl+g", "down", "enter"},
	"undo a rollback": append([]tuitest.Key{"shift+tab", "x", "ctrl+z", "ctrl+p"}, letters("undo the last roll\r")...),
	"no rollback":     append([]tuitest.Key{"ctrl+p"}, letters("undo the last roll\r")...),
	"a discard":       {"shift+tab", "x", "D", "y"},
	"stars":           {"tab", "2"},
	"one star more":   {"tab", "*", "*"},
	"a flag":          {"tab", "a"},
	"a deletion":      {"tab", "d", "y"},
	"no deletion":     {"tab", "d", "n"},
	"a retry":         {"tab", "r"},
	"edit and re-ask": {"tab", "e"},
	"a search":        append([]tuitest.Key{"tab", "/"}, letters("needle\rnN")...),
	"a filter":        append([]tuitest.Key{"tab", "f"}, letters("s0\r")...),
	"a wrong filter":  append([]tuitest.Key{"tab", "f"}, letters("s0 (\r")...),
	"a command":       append([]tuitest.Key{"tab", "f"}, letters(":star 2\ry")...),
	"undo a command":  append([]tuitest.Key{"tab", "f"}, letters(":star 2\ryu")...),
	"nothing to undo": {"tab", "u"},
	"a filtered star": append([]tuitest.Key{"tab", "f"}, letters("s0\r2")...),
	"a new topic":     append([]tuitest.Key{"ctrl+t", "alt+n"}, letters("AI\r")...),
	"a topic":         append([]tuitest.Key{"tab", "t"}, append(letters("AI"), "alt+n")...),
	"a new session":   {"ctrl+n"},
	"unsaved rules":   {"shift+tab", "x", "ctrl+n", "y"},
	"sessions":        append([]tuitest.Key{"ctrl+p"}, letters("sessions of\r\r")...),
	"a model":         append([]tuitest.Key{"ctrl+l"}, letters("other\r")...),
	"a favourite":     {"ctrl+l", "alt+f"},
	"the request":     {"tab", "x"},
	"a message":       append(letters("hi"), "ctrl+j", "down"),
	"an acceptance":   append(letters("hi"), "ctrl+j", "down", "alt+1", "down"),
	"a rejection":     append(letters("hi"), "ctrl+j", "down", "alt+2", "down"),
	"another answer":  append(letters("hi"), "ctrl+j", "tab", "r", "down", "<"),
	"a queued one":    append(letters("hi"), "ctrl+j", "a", "ctrl+j", "down", "down"),
}

// answersOf are what the model answers in those that need it.
func answersOf(name string) []at.Answer {
	switch name {
	case "an acceptance", "a rejection":
		return []at.Answer{say(`I propose this. RULE_PROPOSAL: {"add_ignore":["*-preview"],"reasoning":"they come and go"}`)}
	case "a message", "another answer":
		return []at.Answer{say("one"), say("two")}
	case "a queued one":
		gate := at.NewGate()
		time.AfterFunc(5500*time.Millisecond, gate.Open) // after the keys that queue
		return []at.Answer{{at.Say("one"), at.Stop{At: gate}, at.Say("more")}, say("two")}
	}
	return nil
}

// letters are the keys that type a text; \r is enter.
func letters(text string) (keys []tuitest.Key) {
	for _, r := range text {
		keys = append(keys, tuitest.Key(strings.ReplaceAll(strings.ReplaceAll(string(r), "\r", "enter"), " ", "space")))
	}
	return keys
}

// The outcome of a command and the log's entry about the same change come in either order.
func TestOutcomesCommuteWithTheLog(t *testing.T) {
	for name, keys := range actsOf {
		t.Run(name, func(t *testing.T) {
			var frames []string
			for _, outcomeFirst := range []bool{true, false} {
				synctest.Test(t, func(t *testing.T) {
					b, _ := steadyFixture(t, answersOf(name)...)
					h := &held{bench: b}
					first, second := &h.outcomes, &h.entries
					if !outcomeFirst {
						first, second = second, first
					}
					ended := 0
					for _, k := range keys {
						h.keys(k)
						ended += len(h.outcomes)
						for h.deliver(first) || h.deliver(second) {
						}
					}
					if ended == 0 {
						t.Error("no outcome came")
					}
					frames = append(frames, frameOf(b.Model))
					b.leave()
				})
			}
			if frames = slices.Compact(frames); len(frames) > 1 {
				t.Errorf("the outcome first:\n%s\nthe log first:\n%s", frames[0], strings.Join(frames[1:], "\n"))
			}
		})
	}
}

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
	"topic":      append([]tuitest.Key{"i", "tab", "t"}, append(letters("AI"), "alt+n")...), // not from PANE, where I opens an import, and its question ignores early answers
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
	rounds := at.Rounds(8, 200)
	if testing.Short() {
		rounds = 2
	}
	for seed := range uint64(rounds) {
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
