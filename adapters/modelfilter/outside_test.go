package modelfilter

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"winnow/adapters/dotenv"
	"winnow/assistant"
	"winnow/assistant/llm"
	"winnow/checkpoint"
)

// TestNoUndoTouchesWhatAnotherProgramChanged lets a user edit, save, roll back and undo at
// random while another program changes the file. Its rules are always in the window, and what
// it removed is not, so no save can take back its changes.
func TestNoUndoTouchesWhatAnotherProgramChanged(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		u := newUser(t)
		theirs := []string{}
		for i := range rapid.IntRange(2, 25).Draw(rt, "steps") {
			what := rapid.SampledFrom([]string{"edit", "edit", "add", "add", "remove", "save", "roll back", "undo", "undo the rollback", "restart"}).Draw(rt, "what")
			switch what {
			case "edit":
				u.toggle(rapid.SampledFrom([]string{"a*", "b*", "c*"}).Draw(rt, "rule"))
			case "add":
				theirs = append(theirs, fmt.Sprintf("theirs%d*", i))
				u.outside(theirs)
			case "remove":
				theirs = theirs[:max(0, len(theirs)-1)]
				u.outside(theirs)
			case "save":
				_, err := u.session.Save(t.Context(), assistant.Basis{})
				u.must(err)
			case "roll back":
				all := u.journal.List("")
				u.rollBack(rapid.SampledFrom(all).Draw(rt, "checkpoint").ID)
			case "undo":
				if last, ok := u.session.LastStep(); ok {
					u.rollBack(last.ID)
				}
			case "undo the rollback":
				u.undoRollback()
			case "restart":
				if u.journal.Clean() { // else unsaved rules may be missing in the next run, too
					u.start()
				}
			}
			if got := u.theirs(); !slices.Equal(got, slices.Sorted(slices.Values(theirs))) {
				rt.Fatalf("after %s the window has the rules %q of the other program, want %q", what, got, theirs)
			}
		}
	})
}

// TestARollbackRecordsWhatTheWindowLoaded: the file's state is known at the next start, so
// that a change loaded before the rollback is not reported as new.
func TestARollbackRecordsWhatTheWindowLoaded(t *testing.T) {
	u := newUser(t)
	u.toggle("b*")
	_, err := u.session.Save(t.Context(), assistant.Basis{})
	u.must(err)
	last, _ := u.session.LastStep()
	u.outside([]string{"theirs*"})
	u.rollBack(last.ID)
	if saved, _ := u.journal.SavedState(); !strings.Contains(string(saved), "theirs*") || !strings.Contains(string(saved), "b*") {
		t.Errorf("the saved state is %s", saved)
	}
}

// user edits a window in a session, with a journal.
type user struct {
	*fixture
	session *assistant.Session
	journal *checkpoint.Journal
}

func newUser(t *testing.T) *user {
	t.Helper()
	u := &user{fixture: fresh(t, "OPENAI_API_KEY=x\nIGNORE_MODELS_OPENAI=a*\n")}
	u.start()
	return u
}

// start opens the window, the journal and a session, as a run of the program does.
func (u *user) start() {
	if u.journal != nil {
		u.must(u.journal.Close())
		u.open()
	}
	var err error
	u.journal, err = checkpoint.Open(filepath.Join(filepath.Dir(u.path), "journal", "log"), checkpoint.Options{})
	u.must(err)
	u.session, err = assistant.NewSession(&llm.Registry{}, assistant.Options{ID: "s", Window: u.Window, Journal: u.journal})
	u.must(err)
	u.must(u.session.Start(u.t.Context()))
}

// toggle adds an ignore rule, or removes it.
func (u *user) toggle(pattern string) {
	u.must(u.session.Edit("Toggle "+pattern, func() error {
		if slices.Contains(u.patterns(Ignore), pattern) {
			return u.Remove(Ignore, pattern)
		}
		_, err := u.Add(Ignore, pattern)
		return err
	}))
}

// outside replaces the rules of the other program in the file; the window loads the change.
func (u *user) outside(theirs []string) {
	f := dotenv.Parse([]byte(u.file()))
	v, _ := f.Get("IGNORE_MODELS_OPENAI", nil)
	ours := slices.DeleteFunc(strings.Split(v, ","), func(r string) bool { return r == "" || strings.HasPrefix(r, "theirs") })
	u.write("OPENAI_API_KEY=x\nIGNORE_MODELS_OPENAI=" + strings.Join(append(ours, theirs...), ",") + "\n")
	change, err := u.mergeIfChanged(u.t.Context())
	u.must(err)
	if change.Conflict != nil {
		u.t.Fatalf("the change conflicts: %+v", change.Conflict)
	}
}

func (u *user) theirs() []string {
	return slices.Sorted(slices.Values(slices.DeleteFunc(u.patterns(Ignore), func(r string) bool { return !strings.HasPrefix(r, "theirs") })))
}

func (u *user) rollBack(id string) {
	_, newest, err := u.session.PlanRollback(id)
	u.must(err)
	if _, err = u.session.Rollback(u.t.Context(), id, checkpoint.ScopeWindow, newest); !errors.Is(err, assistant.ErrNothingToRollBack) {
		u.must(err)
	}
}

func (u *user) undoRollback() {
	plan, err := u.session.PlanUndoRollback()
	if errors.Is(err, checkpoint.ErrNoRollback) {
		return
	}
	u.must(err)
	u.must(u.session.UndoRollback(u.t.Context(), plan.Digest))
}
