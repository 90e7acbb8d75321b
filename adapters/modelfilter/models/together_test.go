package models

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
)

func TestSameProviderIsFetchedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := withAcme(t)
		open := make(chan struct{})
		r.does(acmeBase, func(context.Context) ([]string, error) { <-open; return []string{"a"}, nil })
		l := r.lists()
		var wg sync.WaitGroup
		got := make([]List, 8)
		for i := range got {
			wg.Go(func() {
				var err error
				if got[i], err = l.Models(context.Background(), "acme"); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		close(open)
		wg.Wait()
		for i := range got {
			is(t, "IDs", got[i].IDs, full("acme", "a"))
			got[i].IDs[0] = "spoiled"
		}
		if n := len(r.asked()); n != 1 {
			t.Errorf("%d requests, want 1", n)
		}
	})
}

// One who waits is not cancelled with the one who fetches, and does not wait
// longer than it wants.
func TestCancellingOneCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := withAcme(t)
		var once sync.Once
		r.does(acmeBase, func(ctx context.Context) ([]string, error) {
			hang := false
			once.Do(func() { hang = true })
			if hang {
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return []string{"a"}, nil
		})
		l := r.lists()
		leader, stop := context.WithCancel(context.Background())
		impatient, cancel := context.WithCancel(context.Background())
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := l.Models(leader, "acme"); !errors.Is(err, context.Canceled) {
				t.Errorf("leader: %v", err)
			}
		})
		synctest.Wait()
		wg.Go(func() {
			if list, err := l.Models(context.Background(), "acme"); err != nil || len(list.IDs) != 1 {
				t.Errorf("follower: %+v, %v", list, err)
			}
		})
		wg.Go(func() {
			if _, err := l.Models(impatient, "acme"); !errors.Is(err, context.Canceled) {
				t.Errorf("impatient: %v", err)
			}
		})
		synctest.Wait()
		cancel()
		synctest.Wait()
		stop()
		wg.Wait()
	})
}

func TestCancelledBeforeItBegan(t *testing.T) {
	r := newRig(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, provider := range []string{"openai", "nobody"} {
		if _, err := r.lists().Models(ctx, provider); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", provider, err)
		}
	}
}

// A fetch that comes back after its end was not whole.
func TestListAfterTheEndOfItsContext(t *testing.T) {
	r := withAcme(t)
	ctx, cancel := context.WithCancel(t.Context())
	r.does(acmeBase, func(context.Context) ([]string, error) { cancel(); return []string{"a"}, nil })
	if list, err := r.lists().Models(ctx, "acme"); !errors.Is(err, context.Canceled) || len(list.IDs) != 0 {
		t.Errorf("%+v, %v", list, err)
	}
}

func TestManyGoroutinesAndProcesses(t *testing.T) {
	r := newRig(t)
	for i := range 4 {
		p := fmt.Sprintf("P%d", i)
		r.setenv(p+"_API_BASE", acmeBase, "")
	}
	r.has(acmeBase, many(50)...)
	runs := []*Lists{r.lists(), r.lists()}
	var wg sync.WaitGroup
	for i := range 32 {
		l, p := runs[i%2], fmt.Sprintf("p%d", i%4)
		wg.Go(func() {
			if list, err := l.Models(context.Background(), p); err != nil || len(list.IDs) != 50 || list.Err != "" {
				t.Errorf("%s: %d, %v, %s", p, len(list.IDs), err, list.Err)
			}
			l.Cached(p)
			l.Info(p + "/m000001")
			if err := l.MarkSeen(p); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	left, err := filepath.Glob(filepath.Join(r.dir, ".new-*"))
	if len(left) != 0 || err != nil {
		t.Errorf("left behind: %v", left)
	}
}

func TestUpdatesFollowEachOther(t *testing.T) {
	l := New(Options{})
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			err := l.update(context.Background(), "acme", func(r *record) {
				seen := slices.Clone(r.Seen)
				runtime.Gosched()
				r.Seen = append(seen, fmt.Sprint(i))
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := len(l.entry("acme").record.Seen); n != 50 {
		t.Errorf("%d of 50 updates are left", n)
	}
}
