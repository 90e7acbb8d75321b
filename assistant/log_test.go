package assistant_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
)

// view makes n pairs the view, under a line that says how many.
func view(s *assistant.Session, n int) {
	refs := make([]assistant.Ref, n)
	for i := range refs {
		refs[i] = assistant.Ref{Seq: int64(i + 1), Cost: 1, Contributes: true}
	}
	s.SetView(refs, fmt.Sprint("s", n))
}

func TestThePartsOfAnUpdateAreOfOneInstant(t *testing.T) {
	r := newRig(t, at.NewScript())
	ctx, stop := context.WithCancel(t.Context())
	var readers sync.WaitGroup
	for range 8 {
		readers.Go(func() {
			last := -1
			for u := range r.session.Follow(ctx, -1) {
				if u.Shown == nil {
					continue
				}
				if line := fmt.Sprint("s", len(u.Shown.Refs)); u.Shown.Filter != line && u.Shown.Filter != "x" || u.Shown.Boundary.Y != len(u.Shown.Refs) {
					t.Errorf("line %q, %d refs, boundary of %d", u.Shown.Filter, len(u.Shown.Refs), u.Shown.Boundary.Y)
				}
				if last = len(u.Shown.Refs); last == 777 {
					return
				}
			}
			t.Errorf("the last state was not published, but %d", last)
		})
	}
	random := rand.New(rand.NewPCG(1, 22)) //nolint:gosec // the same states in each run
	for range 2000 {
		view(r.session, random.IntN(500))
		if random.IntN(50) == 0 {
			runtime.Gosched()
		}
	}
	view(r.session, 777)
	readers.Wait()
	stop()
}

// follow reads all events of turns, until it has seen so many ends.
func follow(ctx context.Context, s *assistant.Session, after int64, ends int, pause func()) (events []assistant.Event, resyncs int) {
	for u := range s.Follow(ctx, after) {
		pause()
		if u.Resync {
			resyncs++
		}
		if u.Event == nil {
			continue
		}
		events = append(events, u.Event)
		switch u.Event.(type) {
		case assistant.Complete, assistant.Error, assistant.Cancelled:
			if ends--; ends == 0 {
				return events, resyncs
			}
		default:
		}
	}
	return events, resyncs
}

func TestEveryReaderGetsEveryEventInOrder(t *testing.T) {
	for seed := range uint64(5) {
		random := rand.New(rand.NewPCG(seed, 22)) //nolint:gosec // the same answers in each run
		r := newRig(t, at.NewScript(
			append(pieces(random, 2000), addWord("two")), append(pieces(random, 500), call("list_words", "{}")), pieces(random, 500), pieces(random, 1000)))
		var got [6]string
		var readers sync.WaitGroup
		for i := range got {
			pace := rand.New(rand.NewPCG(seed, uint64(i))) //nolint:gosec // any
			readers.Go(func() {
				events, resyncs := follow(t.Context(), r.session, 0, 2, func() {
					for range pace.IntN(1 + 100*i) {
						runtime.Gosched()
					}
				})
				if got[i] = kinds(joined(events)); resyncs > 0 {
					t.Errorf("reader %d was resynced", i)
				}
			})
		}
		events := r.turn(assistant.Prompt{Text: "one"})
		events = append(events, r.turn(assistant.Prompt{Text: "two"})...)
		readers.Wait()
		if markers := strings.Count(got[0], "[[tool:"); markers != strings.Count("\n"+got[0], "\n{\"type\":\"text_delta\"[[tool:") || markers == 0 {
			t.Errorf("a card marker is joined with text: %s", got[0])
		}
		for i := range got {
			if got[i] != kinds(joined(events)) {
				t.Errorf("seed %d: reader %d got\n%s\nwant\n%s", seed, i, got[i], kinds(joined(events)))
			}
		}
	}
}

func TestAReaderThatFallsBehindGetsResync(t *testing.T) {
	const most = 16_384 // entries that are stored
	var long at.Answer
	for range most {
		long = append(long, at.Say("a"), at.Think("b"))
	}
	r := newRig(t, at.NewScript(at.Answer{at.Say("first")}, long, at.Answer{at.Say("last")}))
	r.send("one")
	after := r.session.Version()
	r.send("two") // and nobody reads the log meanwhile
	u, err := r.session.Next(t.Context(), after)
	if err != nil || !u.Resync || u.Shown == nil || u.Turn == nil || u.Model == nil || len(u.Shown.Refs) != 2 {
		t.Fatalf("a reader that is behind gets %+v, %v", u, err)
	}
	events := make(chan []assistant.Event, 1)
	go func() {
		all, _ := follow(t.Context(), r.session, u.Version, 1, func() {})
		events <- all
	}()
	r.send("three")
	if text := at.EventText(<-events); text != "last" {
		t.Errorf("after the resync the reader gets %q", text)
	}
	if u, err := r.session.Next(t.Context(), 1<<40); err != nil || !u.Resync {
		t.Errorf("a version of another run gives %+v, %v", u, err)
	}
}

// A turn ends although nobody reads its events, and who reads them then gets all, or is
// told what is missing.
func TestTheEventsOfATurn(t *testing.T) {
	var long, longer at.Answer
	for range 1000 {
		long = append(long, at.Say("a"), at.Think("b"))
	}
	for range 20 {
		longer = append(longer, long...)
	}
	r := newRig(t, at.NewScript(long, longer, at.Answer{at.Stop{At: at.NewGate()}}))
	for _, c := range []struct{ text, missing int }{{1000, 0}, {10_000, 1}} {
		after, err := r.session.Begin(t.Context(), assistant.Prompt{Text: "go"})
		r.must(err)
		for u := range r.session.Follow(t.Context(), -1) {
			if u.Turn != nil && !u.Turn.Running {
				break
			}
		}
		all := slices.Collect(r.session.Events(t.Context(), after))
		missing := 0
		for _, e := range all {
			if s, ok := e.(assistant.Status); ok && strings.Contains(s.Message, "is missing here") {
				missing++
			}
		}
		if _, whole := all[len(all)-1].(assistant.Complete); !whole || missing != c.missing || len(at.EventText(all)) < c.text/2 || c.missing == 0 && len(at.EventText(all)) != c.text {
			t.Errorf("%d events, the last %T; %d bytes of text, %d times left out; want %+v", len(all), all[len(all)-1], len(at.EventText(all)), missing, c)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	after, err := r.session.Begin(t.Context(), assistant.Prompt{Text: "stops"})
	r.must(err)
	for range r.session.Events(ctx, after) { // the model never answers
		stop()
	}
	r.session.Cancel()
	if all := slices.Collect(r.session.Events(t.Context(), after)); all[len(all)-1] != (assistant.Cancelled{}) {
		t.Errorf("a cancelled turn: %v", all)
	}
}

func TestALateReaderGetsTheRunningTurn(t *testing.T) {
	r := newRig(t, at.NewScript(at.Answer{at.Say("one")}, at.Answer{at.Say("so far "), at.Say("so good"), call("slow", "{}")}, at.Answer{at.Say(" end")}))
	r.window.Slow = at.NewGate()
	r.send("one")
	events := r.begin(assistant.Prompt{Text: "two"})
	r.window.Slow.Wait(t)
	u, err := r.session.Next(t.Context(), -1)
	if err != nil || u.Turn == nil || !u.Turn.Running || u.Turn.Pair != r.last().Seq || len(u.Shown.Refs) != 2 || u.Model.ID != "test/script" {
		t.Fatalf("a late reader gets %+v, %v", u, err)
	}
	if p := u.Running; p == nil || p.UserText != "two" || p.AssistantText != "so far so good\n\n" || len(p.ToolCalls) != 1 || p.ToolCalls[0].Name != "slow" {
		t.Errorf("the running pair is %+v", p)
	}
	got := make(chan string, 1)
	go func() {
		all, _ := follow(t.Context(), r.session, u.Version, 1, func() {})
		got <- kinds(joined(all))
	}()
	r.window.Slow.Open()
	r.checked(at.Events(t, events))
	want := kinds(joined([]assistant.Event{assistant.ToolComplete{}, assistant.TextDelta{Text: "[[tool:0]]"}, assistant.Status{}, assistant.TextDelta{Text: "\n\nend"}, assistant.Complete{}}))
	if got := <-got; got != want {
		t.Errorf("the late reader then gets\n%s\nwant\n%s", got, want)
	}
}

// What only reads wakes no reader, and neither does a change that changes nothing.
func TestNothingEqualIsPublished(t *testing.T) {
	r := newRig(t, at.NewScript(at.Answer{at.Say("hi")}))
	r.send("one")
	s := r.session
	all, err := s.Next(t.Context(), -1)
	r.must(err)
	before := s.Version()
	s.Visible()
	s.Boundary()
	s.Counter()
	s.Busy()
	s.Queued()
	s.Draft(assistant.Prompt{Text: "a draft"})
	s.Fits()
	_, _, err = s.Request(t.Context(), "text")
	r.must(err)
	r.must(s.SetModel(s.Model()))
	s.SetSettings(s.Settings())
	s.ReplaceFilterLine(s.Filter())
	if now := s.Version(); now != before {
		t.Errorf("reading made %d versions", now-before)
	}
	s.SetView(s.Visible(), s.Filter()) // computed again: a version, and the same part
	s.ModelsChanged()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if u, err := s.Next(ctx, all.Version); !errors.Is(err, context.Canceled) {
		t.Errorf("an equal view is published: %+v", u)
	}
	again, err := s.Next(t.Context(), -1)
	if r.must(err); again.Shown != all.Shown || again.Model != all.Model {
		t.Error("two readers do not share a part")
	}
}

// bytesOf is how many bytes f allocates.
func bytesOf(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func TestPublishingCostsTheSameForAnyNumberOfPairsAndReaders(t *testing.T) {
	const pairs, readers, changes = 100_000, 50, 100
	r := newRig(t, at.NewScript())
	view(r.session, pairs)
	bytes := bytesOf(func() {
		for i := range changes { // nobody reads
			set := r.session.Settings()
			set.Budget.UserRequestAllowance = 100 + i
			r.session.SetSettings(set)
		}
	})
	if each := bytes / changes; each > 1000 {
		t.Errorf("a change of %d pairs allocates %d bytes", pairs, each)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var waiting, done sync.WaitGroup
	seen := make([]*assistant.Shown, readers)
	waiting.Add(readers)
	for i := range readers {
		done.Go(func() {
			first := true
			for u := range r.session.Follow(ctx, -1) {
				switch {
				case first:
					first = false
					waiting.Done()
				case u.Shown != nil:
					seen[i] = u.Shown
					return
				}
			}
		})
	}
	waiting.Wait()
	bytes = bytesOf(func() {
		set := r.session.Settings()
		set.Budget.UserRequestAllowance = 5000
		r.session.SetSettings(set)
		done.Wait()
	})
	if one := uint64(pairs * 24); bytes > 3*one {
		t.Errorf("%d readers allocate %d bytes for a view of %d", readers, bytes, one)
	}
	for _, s := range seen {
		if s == nil || s != seen[0] {
			t.Fatal("the readers do not share the part")
		}
	}
}

func TestAReaderEndsWithItsContext(t *testing.T) {
	r := newRig(t, at.NewScript())
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for u := range r.session.Follow(ctx, -1) {
			if u.Model != nil && strings.HasPrefix(u.Model.ID, "test/") {
				cancel()
			}
		}
	}()
	<-ended
}
