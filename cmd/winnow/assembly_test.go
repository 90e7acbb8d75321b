package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"winnow/tui"
)

func TestNothingIsOpenedAfterTheEnd(t *testing.T) {
	s := newAssembly(t.Context())
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
		s, whole := newAssembly(t.Context()), &program{}
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
			s, stopped, free := newAssembly(t.Context()), false, make(chan struct{})
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
	if finishTime+abandonTime >= closeTime {
		t.Error("no time is left to close files")
	}
}

func TestABreakdownOfTheStartIsCaught(t *testing.T) {
	s := newAssembly(t.Context())
	model, err := tui.New(tui.Options{Start: func() (tui.Parts, error) {
		_, err := s.run(func(context.Context) (*program, error) { panic("in the start") })
		return tui.Parts{}, err
	}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var out bytes.Buffer
	safe := &safeModel{Model: model}
	p := tea.NewProgram(safe, tea.WithContext(ctx), tea.WithInput(nil), tea.WithOutput(&out), tea.WithoutSignalHandler())
	safe.quit = p.Quit
	_, err = p.Run()
	if b := safe.broken(); err != nil || b == nil || b.value != "in the start" {
		t.Errorf("Run = %v, broken = %v; want an orderly end and the panic", err, b)
	}
	if got, _ := s.end(); got != nil || bytes.Contains(out.Bytes(), []byte("goroutine")) {
		t.Errorf("end = %v, the screen got %q", got, out.String())
	}
}

func TestLinesAreHeldWhileAScreenIsDrawn(t *testing.T) {
	var to bytes.Buffer
	h := &heldLines{to: &to}
	fmt.Fprintln(h, "one")
	fmt.Fprintln(h, "two")
	fmt.Fprintln(h, "one")
	if to.Len() > 0 || fmt.Sprint(h.lines()) != "[one two]" {
		t.Errorf("written %q, held %q", to.String(), h.lines())
	}
	h.release()
	h.release()
	fmt.Fprintln(h, "one")
	if to.String() != "one\ntwo\none\n" {
		t.Errorf("after the screen there is %q", to.String())
	}
}
