package tui

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"winnow/assistant"
	"winnow/assistant/history"
)

// outage is a store whose server cannot be reached for the next so many commits of a new
// pair, and cannot remember a sent message or a draft meanwhile.
type outage struct {
	history.Store
	refuse int
	lost   bool   // what is refused is stored all the same: the connection broke during the commit
	commit func() // called by each commit; nil: not
}

func (o *outage) err() error {
	return &history.StorageError{Op: "write", Path: "postgres://host/db", Reason: "the server cannot be reached"}
}

func (o *outage) Commit(ctx context.Context, b *assistant.Batch) error {
	if o.commit != nil {
		o.commit()
	}
	if o.refuse == 0 {
		return o.Store.Commit(ctx, b)
	}
	o.refuse--
	if o.lost {
		pair := *b.Put[0] // of an error the caller learns nothing of what was stored
		if err := o.Store.Commit(ctx, &assistant.Batch{Put: []*assistant.Pair{&pair}}); err != nil {
			return err
		}
	}
	return o.err()
}

func (o *outage) AddSent(ctx context.Context, text string) error {
	if o.refuse > 0 {
		return o.err()
	}
	return o.Store.AddSent(ctx, text)
}

func (o *outage) SaveDraft(ctx context.Context, key string, d history.Draft) error {
	if o.refuse > 0 {
		return o.err()
	}
	return o.Store.SaveDraft(ctx, key, d)
}

// inOutage sends "hello" while the store refuses so many commits, in a bubble. The message
// waits to be sent again when fn runs.
func inOutage(t *testing.T, o *outage, fn func(t *testing.T, s *seeing)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := plan{width: 120, height: 24, contexts: map[string]int{"small": 8000}, wrap: func(store history.Store) history.Store {
			o.Store = store
			return o
		}}.start(t)
		s.ask("hello")
		s.waits(t, "5 s")
		fn(t, s)
		s.opts.Work.Session().Cancel()
		s.rest()
	})
}

// frame is the screen as the helpers of a terminal read it.
func (s *seeing) frame() string { return strings.TrimRight(s.text(), "\n") }

// waits fails the test unless "hello" stands in the box and the footer says when it is
// sent again.
func (s *seeing) waits(t *testing.T, pause string) {
	t.Helper()
	foot, want := footerOf(s.frame()), "history: the server cannot be reached · trying again in "+pause+" · esc stops"
	if !strings.Contains(foot, want) {
		t.Errorf("the footer is %q, want %q", foot, want)
	}
	if got := boxOf(s.frame()); got != "hello" {
		t.Errorf("the box holds %q", got)
	}
}

// pass lets time go by.
func (s *seeing) pass(d time.Duration) {
	for end := time.Now().Add(d); time.Now().Before(end); {
		time.Sleep(time.Second) // in the bubble
		s.settle()
	}
	s.finish()
}

// sentOnce fails the test unless "hello" was sent once, is stored once and has left the box.
func (s *seeing) sentOnce(t *testing.T) {
	t.Helper()
	s.pass(5 * time.Minute)
	if n := len(s.script.Requests()); n != 1 {
		t.Errorf("%d requests went out", n)
	}
	if all := s.stored(t); len(all) != 1 || all[0].UserText != "hello" || all[0].State != assistant.PairComplete {
		t.Errorf("stored are %v", all)
	}
	if got := s.input.draft.Text(); got != "" || s.resend != nil {
		t.Errorf("the box holds %q, to be sent again: %v", got, s.resend != nil)
	}
	if d, err := s.opts.Work.Draft(t.Context()); err != nil || d.Text != "" {
		t.Errorf("the draft is %q (%v)", d.Text, err)
	}
	if sent, err := s.store.Sent(t.Context(), 9); err != nil || strings.Join(sent, "|") != "hello" {
		t.Errorf("the sent messages are %q (%v)", sent, err)
	}
}

// notSent fails the test unless nothing was sent, however long one waits, and the box has
// a text.
func (s *seeing) notSent(t *testing.T, box string) {
	t.Helper()
	if foot := footerOf(s.frame()); !strings.Contains(foot, "not sent; your message stays in the box · ctrl+j sends it") {
		t.Errorf("the footer is %q", foot)
	}
	s.pass(5 * time.Minute)
	if n := len(s.script.Requests()); n != 0 || s.input.draft.Text() != box {
		t.Errorf("%d requests went out, and the box holds %q", n, s.input.draft.Text())
	}
}

func TestAMessageThatCannotBeStoredIsSentAgain(t *testing.T) {
	inOutage(t, &outage{refuse: 3}, func(t *testing.T, s *seeing) {
		t.Helper()
		s.pass(2 * time.Second)
		s.waits(t, "3 s")
		s.keys("shift+tab", "tab") // what the footer says outlives other keys
		s.waits(t, "3 s")
		s.pass(3 * time.Second)
		s.waits(t, "10 s")
		s.pass(10 * time.Second)
		s.waits(t, "20 s")
		s.pass(20 * time.Second)
		s.sentOnce(t)
	})
}

func TestTheLongestPauseIsAMinute(t *testing.T) {
	inOutage(t, &outage{refuse: 7}, func(t *testing.T, s *seeing) {
		t.Helper()
		s.pass((5 + 10 + 20 + 40 + 60) * time.Second)
		s.waits(t, "60 s")
		s.sentOnce(t)
	})
}

// The store has the message although nobody knows: it is not stored, or asked, twice.
func TestAMessageStoredUnnoticedIsStoredOnce(t *testing.T) {
	inOutage(t, &outage{refuse: 2, lost: true}, func(t *testing.T, s *seeing) {
		t.Helper()
		s.sentOnce(t)
	})
}

func TestEscapeStopsSendingAgain(t *testing.T) {
	inOutage(t, &outage{refuse: 1}, func(t *testing.T, s *seeing) {
		t.Helper()
		s.keys("esc")
		s.notSent(t, "hello")
		s.keys("send")
		s.sentOnce(t)
	})
}

// In another session the message is not sent by itself.
func TestANewSessionStopsSendingAgain(t *testing.T) {
	inOutage(t, &outage{refuse: 1}, func(t *testing.T, s *seeing) {
		t.Helper()
		s.keys("ctrl+n")
		s.pass(5 * time.Minute)
		if n := len(s.script.Requests()); n != 0 || boxOf(s.frame()) != "hello" {
			t.Errorf("%d requests went out, and the box holds %q", n, boxOf(s.frame()))
		}
	})
}

func TestAnEditStopsSendingAgain(t *testing.T) {
	inOutage(t, &outage{refuse: 1}, func(t *testing.T, s *seeing) {
		t.Helper()
		s.keys("x")
		s.notSent(t, "hellox")
	})
}

// Written on while the attempt runs, the message is not sent either.
func TestAnEditDuringTheAttemptCancelsIt(t *testing.T) {
	o := &outage{refuse: 1}
	inOutage(t, o, func(t *testing.T, s *seeing) {
		t.Helper()
		gate := make(chan struct{})
		o.commit = func() { <-gate }
		for s.resend != nil && !s.Model.turn.running {
			time.Sleep(time.Second) // in the bubble
			s.settle()
		}
		s.keys("send") // it is being sent
		if got := boxOf(s.frame()); got != "hello" {
			t.Errorf("the box holds %q", got)
		}
		s.keys("x")
		close(gate)
		s.pass(5 * time.Minute)
		if n := len(s.script.Requests()); n != 0 || s.input.draft.Text() != "hellox" || len(s.stored(t)) != 0 {
			t.Errorf("%d requests went out, the box holds %q, %d pairs are stored", n, s.input.draft.Text(), len(s.stored(t)))
		}
	})
}

func TestSendingByHandEndsThePause(t *testing.T) {
	inOutage(t, &outage{refuse: 1}, func(t *testing.T, s *seeing) {
		t.Helper()
		s.pass(time.Second)
		s.keys("send")
		s.sentOnce(t)
	})
}

// A program that ends meanwhile leaves the message as its draft.
func TestAMessageToBeSentAgainIsTheDraftAtTheEnd(t *testing.T) {
	o := &outage{refuse: 1}
	inOutage(t, o, func(t *testing.T, s *seeing) {
		t.Helper()
		if err := s.StoreDraft(t.Context()); err != nil {
			t.Fatal(err)
		}
		if d, err := s.opts.Work.Draft(t.Context()); err != nil || d.Text != "hello" {
			t.Errorf("the draft is %q (%v)", d.Text, err)
		}
	})
}
