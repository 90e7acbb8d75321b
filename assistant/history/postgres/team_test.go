//go:build unix

package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

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
	address := newHistory(t)
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
	address := newHistory(t)
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
	address := newHistory(t)
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
	address := newHistory(t)
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
	address := newHistory(t)
	anna, bob := openAt(t, address, Options{User: "anna"}), openAt(t, address, Options{User: "bob"})
	p := &assistant.Pair{Session: "s", UserText: "q"}
	must(t, anna.Commit(t.Context(), &assistant.Batch{Put: []*assistant.Pair{p}}), bob.Commit(t.Context(), &assistant.Batch{Delete: []int64{p.Seq}}))
	star := 3
	_, err := anna.Mark(t.Context(), []int64{p.Seq}, history.Mark{Star: &star})
	if !errors.Is(err, assistant.ErrNoPair) || !strings.Contains(err.Error(), "bob deleted it") {
		t.Errorf("Mark = %v; want that bob has deleted the pair", err)
	}
	must(t, anna.Commit(t.Context(), &assistant.Batch{Put: []*assistant.Pair{p}})) // its answer is not lost
	if _, err := bob.Mark(t.Context(), []int64{p.Seq}, history.Mark{Star: &star}); err != nil {
		t.Errorf("Mark of a pair that was stored again: %v", err)
	}
}

// team is a database with the roles owner, anna and bob, none of them a superuser.
type team struct{ owner, anna, bob string } // addresses

// newTeam makes the tables, which belong to the role owner. The others have been granted
// what winnow needs.
func newTeam(t *testing.T) team {
	t.Helper()
	s := needServer(t)
	address := s.newDatabase(t)
	name := strings.TrimPrefix(strings.Split(address, "?")[0], "postgres://winnow@/")
	role := func(who string) string { return who + "_" + name }
	of := func(who string) string { return strings.Replace(address, "winnow@", role(who)+"@", 1) }
	for _, who := range []string{"owner", "anna", "bob"} {
		s.sql(t, name, "CREATE ROLE "+role(who)+" LOGIN")
	}
	s.sql(t, name, "CREATE SCHEMA winnow AUTHORIZATION "+role("owner"))
	must(t, openAt(t, of("owner"), Options{}).Close())
	to := fmt.Sprintf(" TO %s, %s", role("anna"), role("bob"))
	s.sql(t, name, "GRANT USAGE ON SCHEMA winnow"+to, "GRANT USAGE ON ALL SEQUENCES IN SCHEMA winnow"+to,
		"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA winnow"+to)
	return team{of("owner"), of("anna"), of("bob")}
}

// selects returns the seqs that a line selects.
func selects(t *testing.T, s *store, line string) []int64 {
	t.Helper()
	q, err := filter.Parse(line)
	must(t, err)
	r, err := s.Filter(t.Context(), q, history.Env{})
	must(t, err)
	n, err := s.Count(t.Context(), q, history.Env{})
	if err != nil || n != len(r.Refs) {
		t.Errorf("%s: %d pairs are counted, %v; %d are selected", line, n, err, len(r.Refs))
	}
	seqs := []int64{}
	for _, ref := range r.Refs {
		seqs = append(seqs, ref.Seq)
	}
	return seqs
}

// A program that serves users names them as authors, and u of each of them matches their
// own pairs.
func TestServedUsersAreAuthors(t *testing.T) {
	s := openAt(t, newTeam(t).anna, Options{})
	p := &assistant.Pair{Session: "s", Author: "carla", State: assistant.PairComplete}
	must(t, s.Commit(t.Context(), &assistant.Batch{Put: []*assistant.Pair{p}}))
	own := func(user string) []int64 {
		q, err := filter.Parse("u")
		must(t, err)
		r, err := s.Filter(t.Context(), q, history.Env{Env: filter.Env{User: user}})
		must(t, err)
		return seqs(r.Refs)
	}
	if got := own("carla"); p.Author != "carla" || !slices.Equal(got, []int64{p.Seq}) || len(own("")) != 0 {
		t.Errorf("the author is %s, who has the pairs %v", p.Author, got)
	}
}

// A notification has numbers and the name of the schema, and no text of a user.
func TestANotificationHasNoText(t *testing.T) {
	addresses := newTeam(t)
	anna := openAt(t, addresses.anna, Options{})
	listener, err := pgx.Connect(t.Context(), addresses.bob)
	must(t, err)
	defer disconnect(listener)
	_, err = listener.Exec(t.Context(), "LISTEN "+channel)
	must(t, err, anna.Commit(t.Context(), &assistant.Batch{Put: []*assistant.Pair{{Session: "s", UserText: "secret"}}}))
	heard, err := listener.WaitForNotification(t.Context())
	must(t, err)
	var rev, number int64
	var schema string
	if n, err := fmt.Sscanf(heard.Payload, "%d %d %s", &rev, &number, &schema); n != 3 || heard.Payload != fmt.Sprint(rev, " ", number, ` "winnow"`) {
		t.Errorf("the notification is %q, %v", heard.Payload, err)
	}
}

// A history whose rows an earlier version hid from the other roles is refused, and the
// error names the way out.
func TestAPrivateHistoryIsRefused(t *testing.T) {
	addresses := newTeam(t)
	owner := openAt(t, addresses.owner, Options{})
	run(t, owner, "ALTER TABLE pair ENABLE ROW LEVEL SECURITY")
	for _, address := range []string{addresses.owner, addresses.anna} {
		_, err := Open(t.Context(), address, Options{})
		var storage *history.StorageError
		if !errors.As(err, &storage) || storage.Op != "open" || !strings.Contains(storage.Reason, "winnow history private off") {
			t.Errorf("Open = %v, want a *StorageError that names the command", err)
		}
	}
}
