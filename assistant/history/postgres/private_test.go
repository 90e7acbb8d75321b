//go:build unix

package postgres

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"winnow/assistant"
	"winnow/assistant/filter"
	"winnow/assistant/history"
	"winnow/assistant/history/historytest"
	"winnow/assistant/history/sqlite"
	"winnow/assistant/history/sqlstore"
	"winnow/checkpoint/changelog"
)

// team is a database with the roles owner, anna and bob, none of them a superuser.
type team struct{ owner, anna, bob string } // addresses

// newTeam makes the tables, which belong to the role owner. The others are members of
// it, and act as the owner, or have been granted what winnow needs.
func newTeam(t *testing.T, members bool) team {
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
	if members {
		s.sql(t, name, fmt.Sprintf("GRANT %s TO %s, %s", role("owner"), role("anna"), role("bob")))
		as := "&role=" + role("owner")
		return team{of("owner"), of("anna") + as, of("bob") + as}
	}
	to := fmt.Sprintf(" TO %s, %s", role("anna"), role("bob"))
	s.sql(t, name, "GRANT USAGE ON SCHEMA winnow"+to, "GRANT USAGE ON ALL SEQUENCES IN SCHEMA winnow"+to,
		"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA winnow"+to)
	return team{of("owner"), of("anna"), of("bob")}
}

// storeSecrets stores one row of each kind. The texts in them have the name of the role.
func storeSecrets(t *testing.T, s *store) *assistant.Pair {
	t.Helper()
	ctx, text := t.Context(), "secret of "+s.role
	p := &assistant.Pair{Session: "session of " + s.role, UserText: text, AssistantText: text, Topic: "Work", Model: "m", State: assistant.PairComplete}
	p.Attachments = []assistant.Attachment{historytest.Picture(t, "a.png", 8)}
	must(t, s.Commit(ctx, &assistant.Batch{Put: []*assistant.Pair{p}, Requests: []assistant.PairRequest{{Pair: p, SentRequest: assistant.SentRequest{Body: json.RawMessage(`"` + text + `"`)}}}}),
		s.SaveDraft(ctx, "k", history.Draft{Text: text}), s.AddSent(ctx, text), s.AddFilterLine(ctx, text), s.Set(ctx, "k", text),
		s.SaveQueued(ctx, p.Session, assistant.Prompt{Text: text}),
		s.AddWindowChanges(ctx, "host", "/of "+s.role, []changelog.Change{{Seq: 1, Time: time.Unix(1, 0), User: "someone", What: text}}))
	return p
}

// secretTables are those with texts of users.
var secretTables = []string{"pair", "body", "request", "session", "draft", "sent", "filter_line", "setting", "change", "picture", "pair_picture"}

// rowsSeen counts the rows that plain SQL shows in each table.
func rowsSeen(t *testing.T, s *store) map[string]int64 {
	t.Helper()
	seen := map[string]int64{}
	must(t, s.Read(t.Context(), func(tx *sqlstore.Tx) {
		for _, table := range secretTables {
			seen[table], _ = tx.Number("SELECT count(*) FROM " + table)
		}
	}))
	delete(seen, "setting") // also has what winnow said once
	return seen
}

// statement runs SQL of a role and returns how many rows it changed.
func statement(t *testing.T, s *store, sql string, args ...any) (changed int64, err error) {
	t.Helper()
	err = s.Write(t.Context(), func(tx *sqlstore.Tx) { changed = tx.Run(sql, args...) })
	return changed, err
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

// While a history is private each role sees and changes only its own, through winnow
// and in plain SQL, also where all act as the owner of the tables.
func TestAPrivateHistoryShowsEachRoleItsOwn(t *testing.T) {
	for _, members := range []bool{true, false} {
		t.Run(fmt.Sprintf("members=%t", members), func(t *testing.T) {
			addresses := newTeam(t, members)
			owner := openAt(t, addresses.owner, Options{})
			anna, bob := openAt(t, addresses.anna, Options{}), openAt(t, addresses.bob, Options{})
			of := map[*store]*assistant.Pair{anna: storeSecrets(t, anna), bob: storeSecrets(t, bob)}
			all := rowsSeen(t, bob)
			both := []int64{of[anna].Seq, of[bob].Seq}
			for range 2 { // the second changes nothing
				must(t, SetPrivate(t.Context(), owner, true))
			}
			for s, other := range map[*store]*store{anna: bob, bob: anna} {
				seesItsOwn(t, s, other, of[s])
				changesItsOwn(t, s, of[s], of[other])
			}
			if seen := rowsSeen(t, owner); !members && seen["pair"] != 0 {
				t.Errorf("the owner of the tables sees %v", seen)
			}
			must(t, SetPrivate(t.Context(), owner, false), SetPrivate(t.Context(), owner, false))
			for _, s := range []*store{anna, bob} {
				if got := selects(t, s, "c'secret'"); !slices.Equal(got, both) {
					t.Errorf("%s sees %v when it is public again, want %v", s.role, got, both)
				}
				if got := rowsSeen(t, s); fmt.Sprint(got) != fmt.Sprint(all) {
					t.Errorf("%s sees %v when it is public again, want %v", s.role, got, all)
				}
			}
		})
	}
}

// seesItsOwn checks what a role sees beside another one with as many rows.
func seesItsOwn(t *testing.T, s, other *store, own *assistant.Pair) {
	t.Helper()
	ctx := t.Context()
	for _, line := range []string{"", "u'*'", "c'SECRET'", "c/secret of/", "m'm'", "t'Work'", "!c'nothing'"} {
		if got := selects(t, s, line); !slices.Equal(got, []int64{own.Seq}) {
			t.Errorf("%s: %q selects %v, want %d", s.role, line, got, own.Seq)
		}
	}
	for _, line := range []string{"u'" + other.role + "'", "c'" + other.role + "'", "!u"} {
		if got := selects(t, s, line); len(got) != 0 {
			t.Errorf("%s: %q selects %v of others", s.role, line, got)
		}
	}
	for table, n := range rowsSeen(t, s) {
		if n != 1 {
			t.Errorf("%s sees %d rows of %s, want 1", s.role, n, table)
		}
	}
	must(t, s.Read(ctx, func(tx *sqlstore.Tx) {
		for _, table := range secretTables {
			for _, row := range sqlstore.List[string](tx, "SELECT r::text FROM "+table+" r") {
				if strings.Contains(row, other.role) {
					t.Errorf("%s sees in %s: %s", s.role, table, row)
				}
			}
		}
	}))
	models, err := s.Models(ctx)
	topics, topicsErr := s.Topics(ctx)
	sessions, sessionsErr := s.Sessions(ctx)
	_, queued, queuedErr := s.Queued(ctx, "session of "+other.role)
	report, checkErr := s.Check(ctx)
	changes, _, changesErr := s.WindowChanges(ctx, 0, 10)
	must(t, err, topicsErr, sessionsErr, queuedErr, checkErr, changesErr)
	if len(changes) != 1 || changes[0].What != "secret of "+s.role {
		t.Errorf("%s reads the changes %+v", s.role, changes)
	}
	if models[0].Pairs != 1 || topics[0].Total != 1 || len(sessions) != 1 || queued || report.Pairs != 1 || len(report.Problems) != 0 {
		t.Errorf("%s: models %v, topics %v, %d sessions, queued %t, check %+v", s.role, models, topics, len(sessions), queued, report)
	}
}

// changesItsOwn checks that a role changes its own pair, and nothing of another.
func changesItsOwn(t *testing.T, s *store, own, theirs *assistant.Pair) {
	t.Helper()
	ctx := t.Context()
	star := own.Star + 1
	_, err := s.Mark(ctx, []int64{own.Seq}, history.Mark{Star: &star})
	must(t, err)
	if _, err := s.Mark(ctx, []int64{theirs.Seq}, history.Mark{Star: &star}); !errors.Is(err, assistant.ErrNoPair) {
		t.Errorf("%s marks another's pair: %v", s.role, err)
	}
	if err := s.Commit(ctx, &assistant.Batch{Delete: []int64{theirs.Seq}}); !errors.Is(err, assistant.ErrNoPair) {
		t.Errorf("%s deletes another's pair: %v", s.role, err)
	}
	forged := *theirs
	forged.Session, forged.UserText = own.Session, "of "+s.role
	for _, author := range []string{s.role, theirs.Author} {
		forged.Author = author
		if err := s.Commit(ctx, &assistant.Batch{Put: []*assistant.Pair{&forged}}); sqlState(err) != codeDenied {
			t.Errorf("%s replaces another's pair: %v", s.role, err)
		}
	}
	const columns = "version, star, flag, state, sec, nsec, zone, attachments, sends, parts"
	_, err = statement(t, s, `INSERT INTO pair (session, topic, model, author, id, `+columns+`)
		SELECT session, topic, model, (SELECT n FROM author WHERE name = ?), 'forged', `+columns+` FROM pair WHERE seq = ?`, theirs.Author, own.Seq)
	if sqlState(err) != codeDenied {
		t.Errorf("%s adds a pair of another: %v", s.role, err)
	}
	if err := s.SaveQueued(ctx, theirs.Session, assistant.Prompt{Text: "q"}); err == nil {
		t.Errorf("%s queues a message in another's session", s.role)
	}
	if err := s.DeleteTopic(ctx, "Work"); !errors.Is(err, history.ErrTopic) {
		t.Errorf("%s deletes a topic in which others have pairs: %v", s.role, err)
	}
	must(t, s.Restore(ctx, history.Snapshot{NewTopics: []string{"Work"}})) // undo of the mark that made it
	for _, table := range secretTables {
		column := map[string]string{"pair": "star", "body": "sum", "request": "size", "session": "used"}[table]
		if column == "" {
			column = "author"
		}
		n, err := statement(t, s, fmt.Sprintf("UPDATE %s SET %s = %[2]s", table, column))
		if err != nil || n != 1 && table != "setting" {
			t.Errorf("%s updates %d rows of %s, %v; want its own", s.role, n, table, err)
		}
		if column == "author" {
			var other any = theirs.Author
			if strings.HasSuffix(table, "picture") {
				other = -1 // the number of a role that is neither
			}
			if _, err := statement(t, s, fmt.Sprintf("UPDATE %s SET author = ?", table), other); sqlState(err) != codeDenied {
				t.Errorf("%s gives rows of %s to another: %v", s.role, table, err)
			}
		}
	}
	if n, err := statement(t, s, "DELETE FROM pair WHERE seq = ?", theirs.Seq); n != 0 || err != nil {
		t.Errorf("%s deletes %d pairs of another, %v", s.role, n, err)
	}
	got, err := s.Load(ctx, []int64{own.Seq, theirs.Seq})
	requests, requestsErr := s.Requests(ctx, own.Seq)
	hidden, hiddenErr := s.Requests(ctx, theirs.Seq)
	draft, draftErr := s.Draft(ctx, "k")
	must(t, err, requestsErr, hiddenErr, draftErr)
	if len(got) != 1 || got[0].Star != star || got[0].Topic != "Work" || len(requests) != 1 || len(hidden) != 0 || draft.Text != own.UserText {
		t.Errorf("%s has %+v, %d requests, %d of another, draft %q", s.role, got, len(requests), len(hidden), draft.Text)
	}
}

// Only the owner of the tables makes a history private, one in a file cannot be, and
// the author is the role while it is.
func TestWhoMakesAHistoryPrivate(t *testing.T) {
	addresses := newTeam(t, false)
	ctx := t.Context()
	owner, anna := openAt(t, addresses.owner, Options{}), openAt(t, addresses.anna, Options{})
	for _, on := range []bool{true, false} {
		if err := SetPrivate(ctx, anna, on); err == nil || !strings.Contains(err.Error(), "only the owner of the tables") {
			t.Errorf("SetPrivate(%t) of another role = %v", on, err)
		}
	}
	var user *userError
	if err := SetPrivate(ctx, openAt(t, addresses.owner, Options{User: "Olga"}), true); !errors.As(err, &user) {
		t.Errorf("SetPrivate by another author than the role = %v", err)
	}
	storeSecrets(t, anna)
	must(t, SetPrivate(ctx, owner, true))
	if _, err := Open(ctx, addresses.anna, Options{User: "Anna"}); !errors.As(err, &user) || !strings.Contains(err.Error(), `"Anna" for the role "anna_`) {
		t.Errorf("Open with another author than the role = %v", err)
	}
	openAt(t, addresses.anna, Options{User: anna.role})
	file, err := sqlite.Open(ctx, filepath.Join(t.TempDir(), "h", "history.db"), sqlite.Options{})
	must(t, err)
	defer file.Close()
	if err := SetPrivate(ctx, file, true); !errors.Is(err, errNoRoles) {
		t.Errorf("SetPrivate of a file = %v", err)
	}
}

// A program that serves users names them as authors, except in a private history: there
// the role has written their pairs, and u of each of them matches those of the role.
func TestServedUsersAreAuthorsUnlessAHistoryIsPrivate(t *testing.T) {
	addresses := newTeam(t, false)
	s := openAt(t, addresses.anna, Options{})
	store := func() *assistant.Pair {
		p := &assistant.Pair{Session: "s", Author: "carla", State: assistant.PairComplete}
		must(t, s.Commit(t.Context(), &assistant.Batch{Put: []*assistant.Pair{p}}))
		return p
	}
	own := func(user string) (seqs []int64) {
		q, err := filter.Parse("u")
		must(t, err)
		r, err := s.Filter(t.Context(), q, history.Env{Env: filter.Env{User: user}})
		must(t, err)
		for _, ref := range r.Refs {
			seqs = append(seqs, ref.Seq)
		}
		return seqs
	}
	public := store()
	if got := own("carla"); public.Author != "carla" || !slices.Equal(got, []int64{public.Seq}) || len(own("")) != 0 {
		t.Errorf("the author is %s, who has the pairs %v", public.Author, got)
	}
	must(t, SetPrivate(t.Context(), openAt(t, addresses.owner, Options{}), true))
	private := store()
	if got := own("carla"); private.Author != s.role || !slices.Equal(got, []int64{private.Seq}) {
		t.Errorf("the author in a private history is %s, and carla has the pairs %v", private.Author, got)
	}
}

// Making a history private is a change for the programs that have it open, and what
// they hear of it has numbers only.
func TestOthersHearThatAHistoryIsPrivate(t *testing.T) {
	addresses := newTeam(t, true)
	anna, bob := openAt(t, addresses.anna, Options{}), openAt(t, addresses.bob, Options{})
	must(t, SetPrivate(t.Context(), anna, true))
	await(t, bob)
	listener, err := pgx.Connect(t.Context(), addresses.bob)
	must(t, err)
	defer disconnect(listener)
	_, err = listener.Exec(t.Context(), "LISTEN "+channel)
	must(t, err)
	p := storeSecrets(t, anna)
	must(t, anna.Commit(t.Context(), &assistant.Batch{Delete: []int64{p.Seq}}))
	heard, err := listener.WaitForNotification(t.Context())
	must(t, err)
	var rev, number int64
	var schema string
	if n, err := fmt.Sscanf(heard.Payload, "%d %d %s", &rev, &number, &schema); n != 3 || heard.Payload != fmt.Sprint(rev, " ", number, ` "winnow"`) {
		t.Errorf("the notification is %q, %v", heard.Payload, err)
	}
}

// A private history of an older version is brought up to date by its owner and stays
// private; one of a newer version is refused.
func TestAPrivateHistoryHasVersions(t *testing.T) {
	addresses := newTeam(t, false)
	anna, bob := openAt(t, addresses.anna, Options{}), openAt(t, addresses.bob, Options{})
	storeSecrets(t, anna)
	owner := openAt(t, addresses.owner, Options{})
	must(t, SetPrivate(t.Context(), owner, true))
	run(t, owner, "ALTER TABLE request DROP COLUMN answer")
	run(t, owner, "DROP INDEX pair_time")
	run(t, owner, "DROP TABLE change")
	run(t, owner, "DROP TABLE pair_picture")
	run(t, owner, "DROP TABLE picture")
	run(t, owner, "UPDATE meta SET version = 1")
	var storage *history.StorageError
	if _, err := Open(t.Context(), addresses.anna, Options{}); !errors.As(err, &storage) {
		t.Errorf("a role that is not the owner migrates: %v", err)
	}
	migrated := openAt(t, addresses.owner, Options{})
	if v, err := migrated.version(t.Context()); v != schemaVersion || err != nil {
		t.Errorf("version %d, %v after the owner has opened it", v, err)
	}
	if got := selects(t, bob, "c'secret'"); len(got) != 0 {
		t.Errorf("bob sees %v after a migration", got)
	}
	again := openAt(t, addresses.anna, Options{})
	p := storeSecrets(t, again) // the roles may use the new tables
	if seen := rowsSeen(t, bob); seen["picture"]+seen["pair_picture"]+seen["change"] != 0 {
		t.Errorf("bob sees %v of the new tables", seen)
	}
	must(t, again.Commit(t.Context(), &assistant.Batch{Delete: []int64{p.Seq}}))
	if seen := rowsSeen(t, again); seen["picture"]+seen["pair_picture"] != 0 {
		t.Errorf("without a pair with a picture there are %v", seen)
	}
	run(t, owner, "UPDATE meta SET version = version + 1")
	var newer *history.NewerSchemaError
	if _, err := Open(t.Context(), addresses.anna, Options{}); !errors.As(err, &newer) {
		t.Errorf("Open of a newer version = %v", err)
	}
}
