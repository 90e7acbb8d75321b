package windowlock_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"winnow/assistant/windowlock"
)

const patience = 5 * time.Second

// newLock returns a lock and what it announces.
func newLock() (lock *windowlock.Lock, announced func() []string) {
	var mu sync.Mutex
	var all []string
	note := func(c windowlock.Change) {
		mu.Lock()
		defer mu.Unlock()
		all = append(all, string(c.Kind)+" "+c.User)
	}
	return windowlock.New(&sync.Mutex{}, note, time.Now, patience), func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(all)
	}
}

// A change waits for the turn that has locked the window, and for a turn that has waited for longer.
func TestAChangeWaitsForATurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lock, announced := newLock()
		anna, bert, cleo := lock.Join("anna"), lock.Join("bert"), lock.Join("cleo")
		if err := anna.Lock(t.Context(), "a", "add", nil); err != nil {
			t.Fatal(err)
		}
		var running sync.WaitGroup
		waited := ""
		running.Go(func() {
			if err := bert.Lock(t.Context(), "b", "add", func(e *windowlock.LockedError) { waited = e.User }); err != nil {
				t.Error(err)
			}
			bert.Unlock()
		})
		synctest.Wait()
		running.Go(func() {
			end, err := cleo.ChangeSection("c")
			if err != nil {
				t.Error(err)
				return
			}
			cleo.Announce(windowlock.Edited, "c", "add", nil, nil)
			end()
		})
		synctest.Wait()
		time.Sleep(patience - time.Millisecond) // in the time of the test
		anna.Unlock()
		running.Wait()
		if want := []string{"held anna", "released anna", "held bert", "released bert", "edited cleo"}; !slices.Equal(announced(), want) || waited != "anna" {
			t.Errorf("the changes are %q, bert waited for %q", announced(), waited)
		}
	})
}

// A change is refused after its wait, with the name of the user whose turn locked the window, and leaves nothing locked.
func TestAChangeWaitsForSomeSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lock, _ := newLock()
		anna, bert := lock.Join("anna"), lock.Join("bert")
		if err := anna.Lock(t.Context(), "a", "add", nil); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		_, err := bert.ChangeSection("b")
		if held, ok := errors.AsType[*windowlock.LockedError](err); !ok || held.User != "anna" || time.Since(began) != patience {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
		bert.Section("b")() // reading does not wait
		anna.Unlock()
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if err := bert.Lock(ctx, "b", "add", nil); err != nil {
			t.Errorf("a turn after the refusal: %v", err)
		}
	})
}
