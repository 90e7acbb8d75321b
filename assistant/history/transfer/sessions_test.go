package transfer

import (
	"slices"
	"strings"
	"testing"

	"winnow/assistant"
	"winnow/assistant/history"
)

// branched returns a store with a session, a branch of it, a branch of the branch, and a title.
func branched(t *testing.T) history.Store {
	t.Helper()
	s := newStore(t)
	one, two, three := pair("root", "one", "1"), pair("root", "two", "2"), pair("root", "three", "3")
	put(t, s, one, two, three)
	fork := func(id, parent string, upTo int64) {
		t.Helper()
		if err := s.Branch(t.Context(), id, assistant.Branch{Parent: parent, UpTo: upTo}); err != nil {
			t.Fatal(err)
		}
	}
	fork("limb", "root", two.Seq)
	four := pair("limb", "four", "4")
	put(t, s, four)
	fork("twig", "limb", four.Seq)
	fork("early", "twig", one.Seq) // without a message of its own
	put(t, s, pair("twig", "five", "5"))
	if err := s.SetTitle(t.Context(), "twig", "The \u202etitle"); err != nil {
		t.Fatal(err)
	}
	return s
}

// views returns the messages in the view of each session.
func views(t *testing.T, s history.Store) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, id := range []string{"root", "limb", "twig", "early"} {
		var texts []string
		for _, p := range load(t, s, seqs(t, s, id)...) {
			texts = append(texts, string(p.UserText))
		}
		all[id] = strings.Join(texts, " ")
	}
	return all
}

var branchedViews = map[string]string{"root": "one two three", "limb": "one two four", "twig": "one two four five", "early": "one"}

// Branches and titles survive an export with its import, and a copy, into stores in which the pairs get other numbers.
func TestBranchesSurvive(t *testing.T) {
	for name, move := range map[string]func(t *testing.T, from, to history.Store){
		"export and import": func(t *testing.T, from, to history.Store) {
			t.Helper()
			if _, err := Import(t.Context(), to, strings.NewReader(export(t, from, JSON)), nil); err != nil {
				t.Fatal(err)
			}
		},
		"copy": func(t *testing.T, from, to history.Store) {
			t.Helper()
			if _, err := Copy(t.Context(), from, to, func(int, int) {}); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			from, to := branched(t), newStore(t)
			put(t, to, pair("before", "zero", "0"), pair("before", "zero zero", "0"))
			for range 2 { // again changes nothing
				move(t, from, to)
				for id, want := range branchedViews {
					if got := views(t, to)[id]; got != want {
						t.Errorf("session %s shows %q, want %q", id, got, want)
					}
				}
			}
			sessions, err := to.Sessions(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			i := slices.IndexFunc(sessions, func(v history.Session) bool { return v.ID == "twig" })
			if i < 0 || sessions[i].Title != "The title" || !sessions[i].Named || sessions[i].Branch.Parent != "limb" {
				t.Errorf("the sessions are %+v", sessions)
			}
			last := load(t, from, seqs(t, from, "twig")...)
			if at := last[len(last)-1].CreatedAt.UnixMilli(); name != "copy" && sessions[i].Used.UnixMilli() != at {
				t.Errorf("the import used session twig at %v", sessions[i].Used)
			}
		})
	}
}

// A branch continues from what is left when the pair at which it branched off is deleted.
func TestABranchAtADeletedPairSurvives(t *testing.T) {
	from, to := branched(t), newStore(t)
	commit(t, from, &assistant.Batch{Delete: seqs(t, from, "root")[1:2]})
	if _, err := Import(t.Context(), to, strings.NewReader(export(t, from, JSON)), nil); err != nil {
		t.Fatal(err)
	}
	if got := views(t, to); got["limb"] != "one four" || got["twig"] != "one four five" {
		t.Errorf("the views are %v", got)
	}
}

// Sessions in a file that somebody else has written do no harm.
func TestForeignSessions(t *testing.T) {
	for name, sessions := range map[string]string{
		"circle": `[{"id":"a","parent":"b"},{"id":"b","parent":"a"},{"id":"c","parent":"c"}]`,
		"nobody": `[{"id":"a","parent":"nobody","up_to":"nothing"}]`,
		"empty":  `[{}]`, "null": `null`,
	} {
		t.Run(name, func(t *testing.T) {
			to := newStore(t)
			text := `{"pairs":[{"id":"p","session":"a","user_text":"hi","assistant_text":"ho","model":"m/m","state":"complete"}],"sessions":` + sessions + `}`
			if _, err := Import(t.Context(), to, strings.NewReader(text), nil); err != nil {
				t.Logf("refused: %v", err)
			}
			if got := seqs(t, to, "a"); len(got) != 1 {
				t.Errorf("session a shows %v", got)
			}
			export(t, to, JSON)
			if _, err := Copy(t.Context(), to, newStore(t), func(int, int) {}); err != nil {
				t.Error(err)
			}
		})
	}
	for name, text := range map[string]string{"number": `{"pairs":[],"sessions":1}`, "another field": `{"pairs":[],"more":[]}`} {
		if _, err := Import(t.Context(), newStore(t), strings.NewReader(text), nil); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
