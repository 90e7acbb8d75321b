//go:build unix

package postgres

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"winnow/assistant"
	"winnow/assistant/filter"
	"winnow/assistant/history"
	"winnow/assistant/history/sqlstore"
)

// await receives the next change of others.
func await(t *testing.T, s *store) history.Change {
	t.Helper()
	select {
	case change := <-s.Changes():
		return change
	case <-time.After(30 * time.Second):
		t.Fatal("no change was delivered")
	}
	return history.Change{}
}

// Two programs hear of each other's pairs, marks and deletions, and not of their own.
func TestOthersChangesAreDelivered(t *testing.T) {
	address := needServer(t).newDatabase(t)
	anna, bob := openAt(t, address, Options{User: "anna"}), openAt(t, address, Options{User: "bob"})
	p := &assistant.Pair{Session: "s", UserText: "of anna"}
	must(t, anna.Commit(t.Context(), &assistant.Batch{Put: []*assistant.Pair{p}}))
	if change := await(t, bob); len(change.Deleted) != 0 || bob.Revision() < anna.Revision() {
		t.Errorf("%+v, revision %d of %d", change, bob.Revision(), anna.Revision())
	}
	star := 3
	_, err := bob.Mark(t.Context(), []int64{p.Seq}, history.Mark{Star: &star})
	must(t, err)
	await(t, anna)
	got, err := anna.Load(t.Context(), []int64{p.Seq})
	if err != nil || got[0].Star != 3 || got[0].Author != "anna" {
		t.Errorf("%+v, %v; want three stars of a pair of anna", got, err)
	}
	must(t, bob.Commit(t.Context(), &assistant.Batch{Delete: []int64{p.Seq}}))
	if change := await(t, anna); change.Deleted[p.Seq] != "bob" {
		t.Errorf("%+v; want the pair deleted by bob", change)
	}
	select {
	case change := <-bob.Changes():
		t.Errorf("bob hears of his own change: %+v", change)
	default:
	}
}

// What a program remembers is each user's own; u selects the own pairs.
func TestUsersHaveTheirOwn(t *testing.T) {
	address := needServer(t).newDatabase(t)
	ctx := t.Context()
	anna, bob := openAt(t, address, Options{User: "Anna"}), openAt(t, address, Options{User: "bob"})
	for _, s := range []*store{anna, bob} {
		must(t, s.Commit(ctx, &assistant.Batch{Put: []*assistant.Pair{{Session: s.User, UserText: "q"}}}), s.SaveDraft(ctx, "k", history.Draft{Text: "typed by " + s.User}),
			s.AddSent(ctx, "sent by "+s.User), s.Set(ctx, "key", s.User), s.AddFilterLine(ctx, "u'"+s.User+"'"), s.Touch(ctx, history.Session{ID: s.User, Folder: "/f"}))
	}
	for _, s := range []*store{anna, bob} {
		draft, err := s.Draft(ctx, "k")
		sent, sentErr := s.Sent(ctx, 9)
		value, getErr := s.Get(ctx, "key")
		last, _, lastErr := s.LastSession(ctx, "/f")
		must(t, err, sentErr, getErr, lastErr)
		if draft.Text != "typed by "+s.User || len(sent) != 1 || value != s.User || last.ID != s.User {
			t.Errorf("%s has %q, %q, %q, %q", s.User, draft.Text, sent, value, last.ID)
		}
	}
	for line, want := range map[string]int{"u": 1, "u'anna'": 1, "u'*'": 2, "!u": 1, "u'nobody'": 0} {
		q, err := filter.Parse(line)
		must(t, err)
		r, err := bob.Filter(ctx, q, history.Env{})
		if err != nil || len(r.Refs) != want {
			t.Errorf("%s selects %d pairs, %v; want %d", line, len(r.Refs), err, want)
		}
	}
}

// A pair that another program has replaced is not replaced unseen.
func TestNoUpdateIsLost(t *testing.T) {
	address := needServer(t).newDatabase(t)
	ctx := t.Context()
	anna, bob := openAt(t, address, Options{}), openAt(t, address, Options{})
	p := &assistant.Pair{Session: "s", UserText: "q", AssistantText: "first", State: assistant.PairComplete}
	must(t, anna.Commit(ctx, &assistant.Batch{Put: []*assistant.Pair{p}}))
	theirs, err := bob.Load(ctx, []int64{p.Seq})
	must(t, err)
	theirs[0].AssistantText = "of bob"
	must(t, bob.Commit(ctx, &assistant.Batch{Put: []*assistant.Pair{&theirs[0]}}))
	p.AssistantText = "of anna"
	if err := anna.Commit(ctx, &assistant.Batch{Put: []*assistant.Pair{p}}); !errors.Is(err, history.ErrChanged) {
		t.Errorf("Commit = %v, want ErrChanged", err)
	}
	got, err := anna.Load(ctx, []int64{p.Seq})
	must(t, err)
	if got[0].AssistantText != "of bob" {
		t.Errorf("the text is %q, want that of bob", got[0].AssistantText)
	}
	must(t, anna.Commit(ctx, &assistant.Batch{Put: []*assistant.Pair{p}})) // it has seen the other one now
}

// While the listener is not connected, changes are found when it comes back.
func TestChangesWhileAwayAreDelivered(t *testing.T) {
	s := needServer(t)
	address := s.newDatabase(t)
	anna, bob := openAt(t, address, Options{User: "anna"}), openAt(t, address, Options{User: "bob"})
	p := &assistant.Pair{Session: "s", UserText: "q"}
	must(t, bob.Commit(t.Context(), &assistant.Batch{Put: []*assistant.Pair{p}}))
	await(t, anna)
	must(t, bob.Write(context.Background(), func(t *sqlstore.Tx) {
		t.Run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%' AND datname = current_database()")
	}))
	must(t, bob.Commit(t.Context(), &assistant.Batch{Delete: []int64{p.Seq}}))
	if change := await(t, anna); change.Deleted[p.Seq] != "bob" {
		t.Errorf("%+v; want the pair deleted by bob", change)
	}
}

// A change of a pair that another has deleted says who did it.
func TestAMissingPairNamesWhoDeletedIt(t *testing.T) {
	s := needServer(t)
	address := s.newDatabase(t)
	anna, bob := openAt(t, address, Options{User: "anna"}), openAt(t, address, Options{User: "bob"})
	p := &assistant.Pair{Session: "s", UserText: "q"}
	must(t, anna.Commit(t.Context(), &assistant.Batch{Put: []*assistant.Pair{p}}), bob.Commit(t.Context(), &assistant.Batch{Delete: []int64{p.Seq}}))
	star := 3
	_, err := anna.Mark(t.Context(), []int64{p.Seq}, history.Mark{Star: &star})
	if !errors.Is(err, assistant.ErrNoPair) || !strings.Contains(err.Error(), "bob has deleted it") {
		t.Errorf("Mark = %v; want that bob has deleted the pair", err)
	}
	must(t, anna.Commit(t.Context(), &assistant.Batch{Put: []*assistant.Pair{p}})) // its answer is not lost
	if _, err := bob.Mark(t.Context(), []int64{p.Seq}, history.Mark{Star: &star}); err != nil {
		t.Errorf("Mark of a pair that was stored again: %v", err)
	}
}
