package assistant_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/llm"
	"winnow/assistant/windowlock"
	"winnow/checkpoint"
)

// now are all parts of a session.
func (r *rig) now() assistant.Update {
	r.t.Helper()
	u, err := r.session.Next(r.t.Context(), -1)
	r.must(err)
	return u
}

// told is what a reader of a version is told now, without waiting.
func told(t *testing.T, s *assistant.Session, after int64) (all assistant.Update) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for {
		u, err := s.Next(ctx, after)
		if err != nil {
			all.Version = after
			return all
		}
		all.Apply(u.State)
		if u.Stale != nil {
			all.Stale = u.Stale
		}
		after = u.Version
	}
}

// A reader that begins in the middle of a turn shows the same in the end as one that has
// read all of it: the running pair and the events after it are the stored pair.
func TestTheRunningPairAndWhatFollowsAreTheStoredPair(t *testing.T) {
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 7)) //nolint:gosec // the same answers in each run
		answer := func(n int) at.Answer {
			var a at.Answer
			for range n {
				if text := string(rune('a' + random.IntN(26))); random.IntN(3) > 0 {
					a = append(a, at.Say(text))
				} else {
					a = append(a, at.Think(text))
				}
			}
			return append(a, at.Say("."))
		}
		r := newRig(t, at.NewScript(append(answer(50), addWord(fmt.Sprint("w", seed))), append(answer(30), call("list_words", "{}")), answer(40)))
		var texts [4][2]string // text and reasoning of each late reader
		var readers sync.WaitGroup
		events := r.begin(assistant.Prompt{Text: "one"})
		for i := range texts {
			wait := random.IntN(90)
			readers.Go(func() {
				seen := 0
				for u := range r.session.Follow(t.Context(), 0) { // a while, then as one that comes late
					if seen++; seen > wait || at.Terminal(u.Event) {
						break
					}
				}
				u, err := r.session.Next(t.Context(), -1)
				if err != nil || u.Running == nil {
					return // the turn has ended
				}
				texts[i] = [2]string{string(u.Running.AssistantText), string(u.Running.Reasoning)}
				rest, _ := follow(t.Context(), r.session, u.Version, 1, func() {})
				for _, e := range rest {
					switch e := e.(type) {
					case assistant.TextDelta:
						texts[i][0] += string(e.Text)
					case assistant.ReasoningDelta:
						texts[i][1] += string(e.Text)
					default:
					}
				}
			})
		}
		r.checked(at.Events(t, events))
		readers.Wait()
		stored := r.last()
		for i, got := range texts {
			if want := [2]string{string(stored.AssistantText), string(stored.Reasoning)}; got != [2]string{} && got != want {
				t.Errorf("seed %d, reader %d: %q, want %q", seed, i, got, want)
			}
		}
	}
}

// What the ring has dropped is in the running pair all the same.
func TestAResyncHasTheWholeRunningPair(t *testing.T) {
	const each = 9_000 // events, more than the log stores
	gate := at.NewGate()
	var long at.Answer
	for range each {
		long = append(long, at.Say("a"), at.Think("b"))
	}
	r := newRig(t, at.NewScript(append(long, at.Stop{At: gate})))
	after := r.session.Version()
	events := r.begin(assistant.Prompt{Text: "one"})
	gate.Wait(t)
	u, err := r.session.Next(t.Context(), after)
	if r.must(err); !u.Resync || u.Running == nil || !u.Stale.Has(1) {
		t.Fatalf("a reader that is far behind gets %+v", u)
	}
	if a, b := strings.Count(string(u.Running.AssistantText), "a"), strings.Count(string(u.Running.Reasoning), "b"); a != each || b != each || len(u.Running.Thoughts) != each {
		t.Errorf("the running pair has %d and %d of %d pieces, %d thoughts", a, b, each, len(u.Running.Thoughts))
	}
	gate.Open()
	at.Events(t, events)
}

func TestTheTurnPartSaysWhatWaits(t *testing.T) {
	gate := at.NewGate()
	r := newRig(t, at.NewScript(at.Answer{at.Say("ok"), at.Stop{At: gate}}, at.Answer{at.Say("two")}))
	if turn := r.now().Turn; turn.Running || turn.Turn != nil {
		t.Errorf("before the first turn: %+v", turn)
	}
	events := r.begin(assistant.Prompt{Text: "one and its file", Typed: "one"})
	gate.Wait(t)
	r.must(r.session.Queue(assistant.Prompt{Text: "next and its file", Typed: "next"}))
	r.session.ReAsk(7)
	u := r.now()
	if turn := u.Turn; !turn.Running || turn.Turn.Number != 1 || turn.Turn.Prompt.Typed != "one" || turn.Turn.Model != "test/script" || turn.Pair != 1 || turn.ReAsk != 7 ||
		!turn.Waits || turn.Queued.Typed != "next" || turn.QueuePaused {
		t.Errorf("the running turn is %+v of %+v", turn, turn.Turn)
	}
	r.session.Registry().SetQuota("test/script", &llm.RateLimits{RequestsLeft: 3, TokensLeft: -1}, 0, startTime)
	r.session.ModelsChanged()
	if turn := told(t, r.session, u.Version).Turn; turn == nil || turn.Quota.RequestsLeft != 3 {
		t.Errorf("after a report of the quota: %+v", turn)
	}
	gate.Open()
	at.Events(t, events)
	if turn := r.now().Turn; turn.Running || turn.Turn.Number != 1 {
		t.Errorf("after the turn: %+v", turn)
	}
}

func TestTheTurnPartHasTheOpenQuestion(t *testing.T) {
	r := newRig(t, at.NewScript(at.Answer{call("save_words", "{}")}, at.Answer{at.Say("ok")}))
	events := r.begin(assistant.Prompt{Text: "save"})
	for e := range events {
		if ask, ok := e.(assistant.ConfirmRequest); ok {
			if asks := r.now().Turn.Asks; asks == nil || asks.ID != ask.ID {
				t.Errorf("the question is %+v, want %+v", asks, ask)
			}
			r.must(r.session.Answer(ask.ID, true))
		}
	}
	if asks := r.now().Turn.Asks; asks != nil {
		t.Errorf("after the answer the question is %+v", asks)
	}
}

func TestStoredPairsThatChangeAreStale(t *testing.T) {
	r := newRig(t, at.NewScript(at.Answer{at.Say("a")}, at.Answer{at.Say("b")}, at.Answer{at.Say("c")}))
	var seqs []int64
	for _, text := range []string{"one", "two", "three"} {
		before := r.session.Version()
		r.send(text)
		if stale := told(t, r.session, before).Stale; !stale.Has(r.last().Seq) || stale.All {
			t.Errorf("after a turn %+v are stale", stale)
		}
		seqs = append(seqs, r.last().Seq)
	}
	before := r.session.Version()
	if stale := told(t, r.session, before).Stale; stale.Has(seqs[0]) {
		t.Errorf("nothing has changed, and %+v are stale", stale)
	}
	r.must(r.session.Mark(t.Context(), starMark(seqs[2], 2)))
	r.must(r.session.Mark(t.Context(), starMark(seqs[0], 1)))
	r.must(r.session.Mark(t.Context(), starMark(seqs[2], 3)))
	if stale := told(t, r.session, before).Stale; !slices.Equal(stale.Seqs, []int64{seqs[0], seqs[2]}) {
		t.Errorf("after three marks %+v are stale", stale)
	}
	for range 2000 {
		r.session.PairsChanged(seqs[1])
	}
	if stale := told(t, r.session, before).Stale; !stale.All {
		t.Errorf("a reader that is far behind is told %+v", stale)
	}
	r.session.PairsChanged()
	if stale := told(t, r.session, r.session.Version()-1).Stale; !stale.All {
		t.Errorf("when any pair may have changed, %+v are stale", stale)
	}
}

// published is a window that publishes snapshots, and counts them.
type published struct {
	*at.Window
	mu       sync.Mutex
	revision int64
	wake     chan struct{}
	made     atomic.Int64 // snapshots
}

func (w *published) Type(word string) error {
	err := w.Window.Type(word)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.revision++
	if w.wake != nil {
		close(w.wake)
		w.wake = nil
	}
	return err
}

func (w *published) Revision() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.revision
}

func (w *published) Snapshot() (any, int64) {
	w.made.Add(1)
	return w.Words(), w.Revision()
}

func (w *published) Changed() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.wake == nil {
		w.wake = make(chan struct{})
	}
	return w.wake
}

// An edit by hand in a window of many sessions makes each part once, whoever reads it, and
// every reader gets the same one.
func TestAnEditMakesEachPartOnceForAllSessions(t *testing.T) {
	const sessions = 50
	synctest.Test(t, func(t *testing.T) {
		var lists atomic.Int64 // of who is there
		w := &published{Window: at.NewWindow("one")}
		journal, err := checkpoint.Open(t.TempDir()+"/journal", checkpoint.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer journal.Close()
		log := assistant.NewWindowLog(w, journal, func() windowlock.Others {
			lists.Add(1)
			return windowlock.Others{Present: []windowlock.Present{{User: "anna"}}}
		})
		registry := registryOf(t, at.NewScript())
		var all [sessions]*assistant.Session
		var got [sessions]assistant.State
		var parts, wakes atomic.Int64 // that came, and updates
		for i := range all {
			s, err := assistant.NewSession(registry, assistant.Options{ID: fmt.Sprint("s", i), Window: w, Journal: journal, Shared: log, Model: "test/script"})
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			all[i] = s
			go func() {
				for u := range s.Follow(t.Context(), -1) {
					wakes.Add(1)
					for _, changed := range []bool{u.Shown != nil, u.Turn != nil, u.Model != nil} {
						if changed {
							parts.Add(1)
						}
					}
					got[i].Apply(u.State)
				}
			}()
		}
		synctest.Wait()
		snapshots, before := w.made.Load(), got
		lists.Store(0)
		parts.Store(0)
		wakes.Store(0)
		if err := all[7].Edit("add two", func() error { return w.Type("two") }); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if n := w.made.Load() - snapshots; n != 1 {
			t.Errorf("an edit makes %d snapshots", n)
		}
		if n := lists.Load(); n > 2 { // when the step ends, and when the window is free again
			t.Errorf("an edit lists %d times who is there", n)
		}
		if n := parts.Load(); n != 0 {
			t.Errorf("an edit changes %d parts of sessions", n)
		}
		if n := wakes.Load(); n != sessions {
			t.Errorf("an edit is %d updates for %d sessions", n, sessions)
		}
		for i := range got {
			if words, _ := got[i].Window.Value.([]string); !slices.Equal(words, []string{"one", "two"}) || got[i].Window != got[0].Window {
				t.Fatalf("session %d has the window %+v", i, got[i].Window)
			}
			if last := got[i].Checkpoints; last != got[0].Checkpoints || last.Last.Description != "add two" || got[i].Others != before[0].Others {
				t.Fatalf("session %d has the checkpoints %+v, others %+v", i, last, got[i].Others)
			}
		}
		wakes.Store(0)
		log.Changed() // for nothing
		look(all[3])
		synctest.Wait()
		if n := wakes.Load(); n != 0 {
			t.Errorf("%d updates come though nothing has changed", n)
		}
	})
}

// The checkpoints come newest first, and are the same list for all readers.
func TestTheCheckpointsAreAPart(t *testing.T) {
	r := newRig(t, at.NewScript(at.Answer{addWord("two")}, at.Answer{at.Say("ok")}))
	before := r.now().Checkpoints
	if steps := before.Of("s1"); len(steps) != 1 || steps[0].Kind != checkpoint.KindStart || before.Last != nil {
		t.Fatalf("at the start the checkpoints are %+v", before)
	}
	r.send("add two")
	r.must(r.session.Edit("add three", func() error { return r.window.Type("three") }))
	steps := r.now().Checkpoints.Of("s1")
	if len(steps) != 3 || steps[0].Description != "add three" || steps[1].Kind != checkpoint.KindTurn || r.now().Checkpoints.Last.ID != steps[0].ID {
		t.Errorf("the checkpoints are %+v", steps)
	}
	if one, other := r.now().Checkpoints, r.now().Checkpoints; one != other {
		t.Error("two readers get two lists")
	}
	if changes := r.now().Window.Changes; len(changes) != 0 {
		t.Errorf("a window that is no Saver has the changes %+v", changes)
	}
}
