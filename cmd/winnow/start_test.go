package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime/debug"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"winnow/tui"
	"winnow/tui/terminal"
)

func TestNothingIsOpenedAfterTheEnd(t *testing.T) {
	s := newBackgroundOpen(t.Context())
	if p, _ := s.end(); p != nil {
		t.Errorf("end = %v before anything began", p)
	}
	opened := false
	if _, err := s.run(func(context.Context) (*program, error) { opened = true; return nil, nil }); !errors.Is(err, context.Canceled) || opened {
		t.Errorf("run after the end = %v, opened %v", err, opened)
	}
}

func TestTheEndWaitsForWhatIsBeingOpened(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, whole := newBackgroundOpen(t.Context()), &program{}
		go func() {
			_, _ = s.run(func(context.Context) (*program, error) { time.Sleep(finishTime / 2); return whole, nil })
		}()
		synctest.Wait()
		if p, _ := s.end(); p != whole {
			t.Errorf("end = %v, want what was opened", p)
		}
		if s.ctx.Err() == nil {
			t.Error("what was opened is not told that it is over")
		}
	})
}

func TestWhatDoesNotOpenIsToldToStopAndThenLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, deaf := range []bool{false, true} {
			s, stopped, free := newBackgroundOpen(t.Context()), false, make(chan struct{})
			go func() {
				_, _ = s.run(func(ctx context.Context) (*program, error) {
					<-ctx.Done()
					stopped = true
					if deaf {
						<-free
					}
					return nil, ctx.Err()
				})
			}()
			synctest.Wait()
			began := time.Now()
			p, ended := s.end()
			took, want := time.Since(began), finishTime
			synctest.Wait()
			if deaf {
				want += abandonTime
			}
			if p != nil || ended == deaf || !stopped || took != want {
				t.Errorf("deaf %v: end = %v after %v, stopped %v; want nothing after %v", deaf, p, took, stopped, want)
			}
			close(free)
			synctest.Wait()
		}
	})
	if finishTime+abandonTime >= terminal.CloseTime {
		t.Error("no time is left to close files")
	}
}

func TestAPanicOfTheStartEndsTheProgramInOrder(t *testing.T) {
	a := testApp(t)
	s := newBackgroundOpen(t.Context())
	model, err := tui.New(tui.Options{Start: func() (tui.Parts, error) {
		_, err := s.run(func(context.Context) (*program, error) { panic("in the start") })
		return tui.Parts{}, err
	}})
	if err != nil {
		t.Fatal(err)
	}
	checkPanic(t, a, model, "in the start")
	if got, _ := s.end(); got != nil {
		t.Errorf("end = %v", got)
	}
}

func TestLinesWaitWhileAScreenIsDrawn(t *testing.T) {
	var to bytes.Buffer
	a := newApp(t.Context(), nil, &to, &to)
	defer a.stop()
	a.deferring = true
	for _, line := range []string{"one", "two", "one", ""} {
		a.printErr("%s", line)
	}
	if to.Len() > 0 || fmt.Sprint(a.deferred) != "[one two]" {
		t.Errorf("written %q, deferred %q", to.String(), a.deferred)
	}
	a.printDeferred()
	a.printDeferred()
	a.printErr("one")
	if to.String() != "one\ntwo\none\n" {
		t.Errorf("after the screen there is %q", to.String())
	}
}

// TestInitAllocatesLittle checks package initialization, which every command waits for: slow work must be done on
// first use instead.
func TestInitAllocatesLittle(t *testing.T) {
	const most = 1500 // allocations per package
	cmd := exec.CommandContext(t.Context(), "winnow", "--version")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	var trace strings.Builder
	cmd.Stderr = &trace
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	seen := 0
	for line := range strings.Lines(trace.String()) {
		var name string
		var at, took float64
		var size, count int
		if n, _ := fmt.Sscanf(line, "init %s @%f ms, %f ms clock, %d bytes, %d allocs", &name, &at, &took, &size, &count); n != 5 || !strings.HasPrefix(name, "winnow/") {
			continue
		}
		seen++
		if count > most {
			t.Errorf("the initialization of %s allocates %d times, want at most %d", name, count, most)
		}
	}
	if seen == 0 {
		t.Errorf("no package of ours in %q", trace.String())
	}
}

// During the start, garbage is rarely collected; afterwards more often than usual, and never less often than GOGC
// asks.
func TestCollectionsAfterTheStart(t *testing.T) {
	percent := func() int {
		n := debug.SetGCPercent(100)
		debug.SetGCPercent(n)
		return n
	}
	defer debug.SetGCPercent(percent())
	for gogc, want := range map[int]int{100: screenGC, 200: screenGC, 20: 20, -1: -1} {
		debug.SetGCPercent(gogc)
		endStart := delayGC()
		if got := percent(); got != startGC {
			t.Errorf("GOGC=%d: the heap may grow by %d %% during the start, want %d", gogc, got, startGC)
		}
		endStart(screenGC)
		endStart(commandGC) // has no effect
		if got := percent(); got != want {
			t.Errorf("GOGC=%d: the heap may grow by %d %% after the start, want %d", gogc, got, want)
		}
	}
}
