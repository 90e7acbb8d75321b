package tui

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	"winnow/assistant/filter"
	"winnow/assistant/history"
	"winnow/tui/tuitest"
)

// workCounter is a program whose work is counted: the messages that commands
// answered with, by type, and the messages of the conversation that were drawn
// anew.
type workCounter struct {
	bench
	fixture *fixture
	answers map[string]int
	renders int
	lines   int // of the filter language that were evaluated
}

// counted is a history that counts the filter lines it evaluates.
type counted struct {
	history.Store
	lines *int
}

func (c counted) Filter(ctx context.Context, q *filter.Query, env history.Env) (history.Result, error) {
	*c.lines++
	return c.Store.Filter(ctx, q, env)
}

func (c counted) Count(ctx context.Context, q *filter.Query, env history.Env) (int, error) {
	*c.lines++
	return c.Store.Count(ctx, q, env)
}

// newWorkCounter opens a program on a history, in a bubble. A message of the
// conversation asks for the time once each time it is drawn anew.
func newWorkCounter(t *testing.T, f setup) *workCounter {
	t.Helper()
	l := &workCounter{answers: map[string]int{}}
	f.wrap = func(s history.Store) history.Store { return counted{s, &l.lines} }
	f.change = func(o *Options) {
		now := o.Now
		o.Now = func() time.Time {
			if calledFrom("chat.(*item).when") {
				l.renders++
			}
			return now()
		}
	}
	m, d := newProgram(t, f)
	l.bench, l.fixture = bench{Model: m, msgs: make(chan tea.Msg, 4096)}, d
	l.run(m.Init())
	l.run(m.resize(f.w, f.h))
	return l
}

func calledFrom(name string) bool {
	var pcs [16]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	for {
		frame, more := frames.Next()
		if strings.HasSuffix(frame.Function, name) {
			return true
		}
		if !more {
			return false
		}
	}
}

// run carries out a command and all that follows, and draws.
func (l *workCounter) run(cmd tea.Cmd) {
	l.start(cmd)
	for {
		synctest.Wait()
		select {
		case msg := <-l.msgs:
			l.answers[strings.TrimPrefix(fmt.Sprintf("%T", msg), "tui.")]++
			l.take(msg)
		default:
			l.View()
			return
		}
	}
}

// keys presses keys as a hand would.
func (l *workCounter) keys(names ...string) {
	for _, n := range names {
		k, ok := named[n]
		if !ok {
			r := []rune(n)[0]
			k = tea.KeyPressMsg{Code: r, Text: n}
		}
		l.fixture.clock.Advance(tuitest.KeyGap)
		_, cmd := l.Update(k)
		l.run(cmd)
	}
}

// work is what was done since the last time: boundaries, filter lines, loads
// of pairs and drawn messages.
func (l *workCounter) work(before *[4]int) (done [4]int) {
	now := [4]int{
		l.opts.Work.Session().Recomputes() + int(l.parts.Shown.Version),
		l.lines,
		l.answers["usecase.PairsLoaded"],
		l.renders,
	}
	for i := range now {
		done[i] = now[i] - before[i]
	}
	*before = now
	return done
}

func TestTypingScrollingAndResizingRecomputeNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var pairs []assistant.Pair
		for i := range 300 {
			pairs = append(pairs, told(fmt.Sprintf("question %d", i), fmt.Sprintf("an **answer** of a line, %d", i)))
		}
		l := newWorkCounter(t, setup{w: 120, h: 40, pairs: pairs})
		l.keys("tab", "f", "ctrl+u", "s", "0", "enter")
		if l.opts.Work.Session().Filter() != "s0" || l.opts.Work.Session().Boundary().Y != 300 {
			t.Fatalf("the filter is %q over %d pairs", l.opts.Work.Session().Filter(), l.opts.Work.Session().Boundary().Y)
		}
		var workCounter [4]int
		if done := l.work(&workCounter); done[0] == 0 || done[1] == 0 || done[2] == 0 || done[3] == 0 {
			t.Fatalf("the work to begin with is %v: it is not counted", done)
		}
		none := [4]int{}

		l.keys("i")
		for range 20 {
			l.keys("w", "o", "r", "d", "space", "漢", "enter", "up", "down", "backspace", "ctrl+z")
		}
		if done := l.work(&workCounter); done != none {
			t.Errorf("typing: %v boundaries, filters, loads and messages drawn", done)
		}

		l.keys("esc", "tab") // clear the draft; VIEW
		l.work(&workCounter)
		scroll := []string{"k", "k", "ctrl+u", "ctrl+u", "pgup", "up", "j", "J", "K", "down", "ctrl+d", "ctrl+d", "pgdown", "pgdown"}
		l.keys(scroll...)
		onScreen := 40 // no pair has less than a line
		if done := l.work(&workCounter); done[0] != 0 || done[1] != 0 || done[3] > 4*onScreen {
			t.Errorf("scrolling: %v; want no boundary, no filter, and at most what came onto the screen", done)
		}
		l.keys(scroll...)
		if done := l.work(&workCounter); done != none {
			t.Errorf("scrolling over what was seen: %v, want nothing", done)
		}
		l.keys("space", "space")
		l.work(&workCounter)

		for w := 119; w > 60; w -= 3 {
			l.run(l.resize(w, 40))
			if done := l.work(&workCounter); done[0] != 0 || done[1] != 0 || done[3] > 2*onScreen {
				t.Errorf("resizing to %d: %v; want no boundary, no filter, and only the messages on the screen", w, done)
			}
		}
		for h := 39; h > 30; h-- {
			l.run(l.resize(62, h))
			if done := l.work(&workCounter); done[0] != 0 || done[1] != 0 || done[3] > 4 {
				t.Errorf("resizing to %d lines: %v, want nothing", h, done)
			}
		}
		time.Sleep(time.Minute) // in the bubble: the timers of the draft
	})
}
