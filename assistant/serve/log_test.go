package serve_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"winnow/assistant"
	"winnow/assistant/history"
	"winnow/assistant/serve"
	"winnow/assistant/serve/servetest"
	"winnow/assistant/windowlock"
)

func TestALogStoresTheNewestEntries(t *testing.T) {
	for name, c := range map[string]struct {
		add        []string
		first      int64 // the oldest entry that can be read
		entries    []string
		wantGone   int64
		wantFuture int64
	}{
		"empty":            {nil, 10, nil, 8, 10},
		"full":             {[]string{"a", "b", "c"}, 10, []string{"a", "b", "c"}, 8, 13},
		"too many":         {[]string{"a", "b", "c", "d"}, 11, []string{"b", "c", "d"}, 9, 14},
		"all bytes":        {[]string{"aaaaa", "bbbbb"}, 10, []string{"aaaaa", "bbbbb"}, 8, 12},
		"too many of them": {[]string{"aaaaa", "bbbbb", "c"}, 11, []string{"bbbbb", "c"}, 9, 13},
		"one too long":     {[]string{"a", "b", "ccccccccccc"}, 12, []string{"ccccccccccc"}, 10, 13},
	} {
		l := serve.NewLog(10, 3, 10, func(s string) int { return len(s) })
		for i, entry := range c.add {
			if n := l.Add(entry); n != int64(10+i) {
				t.Errorf("%s: entry %d has the number %d", name, i, n)
			}
		}
		got, more, err := l.After(c.first - 1)
		if !slices.Equal(got, c.entries) || err != nil || more == nil {
			t.Errorf("%s: entries %q, %v", name, got, err)
			continue
		}
		for _, number := range []int64{c.wantGone, c.wantFuture} {
			if _, _, err := l.After(number); !errors.Is(err, serve.ErrGone) {
				t.Errorf("%s: after %d: %v", name, number, err)
			}
		}
		l.Close()
		<-more // readers wake up
		if got, more, err := l.After(c.first - 1); !slices.Equal(got, c.entries) || err != nil || more != nil {
			t.Errorf("%s: entries of the closed log: %q, %v", name, got, err)
		}
	}
}

func TestWhoMayOpenASession(t *testing.T) {
	r := newRig(t)
	r.must(r.History.Touch(r.ctx, history.Session{ID: "elsewhere", Folder: "/f", Window: "other"}))
	r.must(r.History.Touch(r.ctx, history.Session{ID: "imported"}))
	for name, c := range map[string]struct {
		join serve.Join
		user string // "" is refused
	}{
		"of another window": {serve.Join{Session: "elsewhere"}, ""},
		"an unknown model":  {serve.Join{Model: "none/model"}, ""},
		"of any window":     {serve.Join{Session: "imported"}, "someone"},
		"a name that acts":  {serve.Join{User: "an\x1b[2Jna\n\u202eb"}, "anna b"},
	} {
		s, err := r.Open(r.ctx, c.join)
		if (err == nil) != (c.user != "") || err == nil && s.User() != c.user {
			t.Errorf("%s: %v, session %+v", name, err, s)
		}
	}
	if n := len(r.Sessions()); n != 2 {
		t.Errorf("%d sessions are open", n)
	}
}

// watched is a window that somebody else saves to.
type watched struct {
	*servetest.Words
	saved chan assistant.SavedChange
}

func (w watched) Watch(context.Context) (<-chan assistant.SavedChange, error) { return w.saved, nil }

func TestComingGoingAndChangesFromOutsideAreAnnounced(t *testing.T) {
	saved := make(chan assistant.SavedChange)
	r := newRig(t, func(o *serve.Options) { o.Session.Window = watched{o.Session.Window.(*servetest.Words), saved} })
	anna := r.open("anna")
	saved <- assistant.SavedChange{Refreshed: assistant.Refreshed{Path: "words", Changed: true}}
	close(saved)
	next := func(after int64) windowlock.Change {
		t.Helper()
		for {
			entries, more, err := r.Changes().After(after)
			if r.must(err); len(entries) > 0 {
				return entries[0]
			}
			select {
			case <-more:
			case <-time.After(time.Minute):
				t.Fatalf("no change after %d", after)
			}
		}
	}
	if c := next(0); c.Kind != windowlock.Joined || c.User != "anna" || c.Session != anna.ID() || c.Time.IsZero() {
		t.Errorf("joined: %+v", c)
	}
	if c := next(1); c.Kind != windowlock.Reloaded || c.User != "" || c.What != "words" {
		t.Errorf("changed from outside: %+v", c)
	}
	r.must(anna.Close(r.ctx))
	r.must(anna.Close(r.ctx)) // does nothing
	if c := next(2); c.Kind != windowlock.Left || c.User != "anna" || c.Session != anna.ID() || r.Changes().Last() != 3 {
		t.Errorf("left: %+v of %d", c, r.Changes().Last())
	}
}
