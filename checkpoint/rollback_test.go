package checkpoint

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"testing"
)

// steps makes a journal with a start, turns at pairs 5 and 6, an edit and a
// turn at pair 8: states 0, 0→1, 1→2, 2→3, 3→4.
func steps(t *testing.T) (j *Journal, path string, list []Checkpoint) {
	t.Helper()
	path = journalPath(t)
	j = open(t, path, Options{})
	add := must[Checkpoint](t)
	add(j.Start("s", doc(0)))
	turn := func(pair int64, from, to int) {
		add(j.Add(Checkpoint{PairSeq: pair}, doc(from)))
		ok(t, j.Record(doc(to), []ToolSummary{{Name: "t", OK: true}}))
	}
	turn(5, 0, 1)
	turn(6, 1, 2)
	add(j.Edit("", "edit", doc(2), doc(3)))
	turn(8, 3, 4)
	return j, path, j.List("s")
}

func TestRollback(t *testing.T) {
	for name, c := range map[string]struct {
		to      int // in the list
		scope   Scope
		cut     int64
		dropped int
		state   int
		step    int // LastStep afterwards, -1: none
	}{
		"both, to a turn":            {2, ScopeBoth, 6, 2, 1, 1},
		"rules, to a turn":           {2, ScopeWindow, 0, 2, 1, 1},
		"conversation, to a turn":    {2, ScopeConversation, 6, 0, 4, 4},
		"both, to an edit":           {3, ScopeBoth, 8, 1, 2, 2},
		"both, to the newest":        {4, ScopeBoth, 8, 0, 3, 3},
		"both, to the start":         {0, ScopeBoth, 1, 4, 0, -1},
		"rules, to the start":        {0, ScopeWindow, 0, 4, 0, -1},
		"conversation, to the start": {0, ScopeConversation, 1, 0, 4, 4},
	} {
		t.Run(name, func(t *testing.T) {
			j, path, list := steps(t)
			in := must[Intent](t)(j.BeginRollback(list[c.to].ID, RollbackOptions{Scope: c.scope, FirstPair: 1}))
			if in.Cut != c.cut || len(in.Dropped) != c.dropped || in.Target != list[c.to].ID || in.Undoes != "" {
				t.Errorf("intent %+v", in)
			}
			if (in.Cut > 0) != slices.Equal(in.Sessions, []string{"s"}) {
				t.Errorf("cut %d of sessions %v", in.Cut, in.Sessions)
			}
			wantState(t, "intent", in.State, doc(c.state))
			wantState(t, "previous", in.Previous, doc(4))
			ok(t, j.Finish(in))
			check := func(j *Journal) {
				t.Helper()
				wantState(t, "current", j.Current(), doc(c.state))
				if got, want := ids(j.List("s")), ids(list[:len(list)-c.dropped]); !slices.Equal(got, want) {
					t.Errorf("List = %v, want %v", got, want)
				}
				step, found := j.LastStep()
				if found != (c.step >= 0) || found && step.ID != list[c.step].ID {
					t.Errorf("LastStep = %+v, %v", step, found)
				}
			}
			check(j)
			crash(t, j)
			j = open(t, path, Options{})
			check(j)

			// And back again: also the edit made since is gone.
			if last, can := j.LastRollback(); !can || last.ID != in.ID || len(last.Drops) != 0 {
				t.Fatalf("LastRollback = %+v, %v", last, can)
			}
			now := j.Current()
			since := must[Checkpoint](t)(j.Edit("", "since", now, doc(50)))
			if last, can := j.LastRollback(); !can || slices.Equal(ids(last.Drops), []string{since.ID}) == (c.scope == ScopeConversation) {
				t.Errorf("after an edit LastRollback = %+v, %v", last, can)
			}
			undo := beginUndo(t, j)
			if undo.Undoes != in.ID || undo.Cut != in.Cut {
				t.Errorf("undo %+v", undo)
			}
			if c.scope == ScopeConversation {
				wantState(t, "undo", undo.State, doc(50))
			} else if wantState(t, "undo", undo.State, doc(4)); !slices.Equal(undo.Dropped, []string{since.ID}) {
				t.Errorf("undo drops %v", undo.Dropped)
			}
			ok(t, j.Finish(undo))
			got, want := j.List("s"), list
			if c.scope == ScopeConversation {
				got = got[:len(list)]
			}
			if !slices.Equal(ids(got), ids(want)) || got[c.to].Undone {
				t.Errorf("after undo List = %v, want %v", got, want)
			}
			if _, err := j.BeginUndoRollback(doc(0)); !errors.Is(err, ErrNoRollback) {
				t.Errorf("second undo: %v", err)
			}
		})
	}
}

func TestRollbackSurvivesACrashAtEachPoint(t *testing.T) {
	j, path, list := steps(t)
	in := must[Intent](t)(j.BeginRollback(list[1].ID, RollbackOptions{Scope: ScopeBoth, FirstPair: 1}))
	crash(t, j)
	j = open(t, path, Options{})
	wantState(t, "before it is done", j.Current(), doc(4))
	found := must[*Intent](t)(j.Pending())
	if found == nil || found.ID != in.ID || found.Cut != in.Cut || !slices.Equal(found.Dropped, in.Dropped) ||
		string(found.State) != string(in.State) || string(found.Previous) != string(in.Previous) {
		t.Fatalf("Pending = %+v, want %+v", found, in)
	}
	for name, err := range map[string]error{
		"Add":    second(j.Add(Checkpoint{}, doc(1))),
		"Record": j.Record(doc(1), nil),
		"Edit":   second(j.Edit("", "", doc(1), doc(2))),
		"Saved":  j.Saved(doc(1)),
		"Start":  second(j.Start("x", doc(1))),
		"Begin":  second(j.BeginRollback(list[0].ID, RollbackOptions{Scope: ScopeBoth, FirstPair: 1})),
		"Undo":   second(j.BeginUndoRollback(doc(0))),
	} {
		if !errors.Is(err, ErrPending) {
			t.Errorf("%s while pending: %v", name, err)
		}
	}
	ok(t, j.Finish(*found))
	wantState(t, "current", j.Current(), doc(0))
	if err := j.Finish(*found); !errors.Is(err, ErrNoRollback) {
		t.Errorf("Finish twice: %v", err)
	}
	crash(t, j)
	j = open(t, path, Options{})
	if in := must[*Intent](t)(j.Pending()); in != nil {
		t.Errorf("still pending: %+v", in)
	}
	wantState(t, "current", j.Current(), doc(0))
}

// second returns the error of a call that returns two values.
// beginUndo begins to undo the last rollback, with the state before it.
func beginUndo(t testing.TB, j *Journal) Intent {
	t.Helper()
	return must[Intent](t)(j.BeginUndoRollback(must[json.RawMessage](t)(j.StateBeforeRollback())))
}

func second[T any](_ T, err error) error { return err }

func TestAbandonedRollbackChangesNothing(t *testing.T) {
	j, path, list := steps(t)
	in := must[Intent](t)(j.BeginRollback(list[1].ID, RollbackOptions{Scope: ScopeBoth, FirstPair: 1}))
	ok(t, j.Abandon(in))
	crash(t, j)
	j = open(t, path, Options{})
	wantState(t, "current", j.Current(), doc(4))
	if in := must[*Intent](t)(j.Pending()); in != nil || !slices.Equal(ids(j.List("s")), ids(list)) {
		t.Errorf("pending %v, list %v", in, ids(j.List("s")))
	}
	if _, can := j.LastRollback(); can {
		t.Error("an abandoned rollback can be undone")
	}
}

func TestRollbackCanBeUndoneUntilTheNextMessage(t *testing.T) {
	for name, message := range map[string]func(*Journal) error{
		"forget": (*Journal).ForgetRollback,
		"add":    func(j *Journal) error { return second(j.Add(Checkpoint{PairSeq: 9}, doc(0))) },
	} {
		j, path, list := steps(t)
		ok(t, j.Finish(must[Intent](t)(j.BeginRollback(list[1].ID, RollbackOptions{Scope: ScopeBoth, FirstPair: 1}))))
		ok(t, message(j))
		crash(t, j)
		j = open(t, path, Options{})
		if _, err := j.BeginUndoRollback(doc(0)); !errors.Is(err, ErrNoRollback) {
			t.Errorf("%s: BeginUndoRollback = %v, want ErrNoRollback", name, err)
		}
	}
}

// A rollback that is being undone is not forgotten: Finish would no longer bring its
// steps back.
func TestAPendingUndoIsNotForgotten(t *testing.T) {
	j, _, list := steps(t)
	ok(t, j.Finish(must[Intent](t)(j.BeginRollback(list[1].ID, RollbackOptions{Scope: ScopeBoth, FirstPair: 1}))))
	undo := beginUndo(t, j)
	if err := j.ForgetRollback(); !errors.Is(err, ErrPending) {
		t.Errorf("ForgetRollback = %v, want ErrPending", err)
	}
	ok(t, j.Finish(undo))
	if got := j.List("s"); !slices.Equal(ids(got), ids(list)) {
		t.Errorf("List = %v, want %v", ids(got), ids(list))
	}
}

func TestLastStepWalksBackToTheStart(t *testing.T) {
	j, _, list := steps(t)
	for _, want := range []int{4, 3, 2, 1} {
		step, found := j.LastStep()
		if !found || step.ID != list[want].ID {
			t.Fatalf("LastStep = %v, %v; want %v", step.ID, found, list[want].ID)
		}
		ok(t, j.Finish(must[Intent](t)(j.BeginRollback(step.ID, RollbackOptions{Scope: ScopeBoth, FirstPair: 1}))))
		wantState(t, "current", j.Current(), doc(want-1))
	}
	if step, found := j.LastStep(); found {
		t.Errorf("LastStep at the start = %v", step)
	}
}

func TestStepThatChangedNothingIsNotUndone(t *testing.T) {
	j, _, list := steps(t)
	must[Checkpoint](t)(j.Add(Checkpoint{PairSeq: 9}, doc(4)))
	ok(t, j.Record(doc(4), []ToolSummary{{Name: "t", Effect: "declined"}}))
	if step, _ := j.LastStep(); step.ID != list[4].ID {
		t.Errorf("LastStep = %v, want %v", step, list[4])
	}
	// What its first tool did its second one took back.
	must[Checkpoint](t)(j.Add(Checkpoint{PairSeq: 10}, doc(4)))
	ok(t, j.Record(doc(5), []ToolSummary{{Name: "t"}}))
	ok(t, j.Record(doc(4), []ToolSummary{{Name: "t"}, {Name: "t"}}))
	if step, _ := j.LastStep(); step.ID != list[4].ID {
		t.Errorf("after there and back LastStep = %v, want %v", step, list[4])
	}
}

func TestEditThatChangesNothingMakesNoCheckpoint(t *testing.T) {
	j, path, list := steps(t)
	size := must[os.FileInfo](t)(os.Stat(path)).Size()
	if c, err := j.Edit("", "nothing", doc(4), json.RawMessage(" "+string(doc(4)))); err != nil || c.ID != "" {
		t.Errorf("Edit = %+v, %v; want no checkpoint", c, err)
	}
	if now := must[os.FileInfo](t)(os.Stat(path)).Size(); now != size || len(j.List("s")) != len(list) {
		t.Errorf("the file grew from %d to %d bytes, the list to %d", size, now, len(j.List("s")))
	}
}

func TestRollbackOverASessionKeepsItsStart(t *testing.T) {
	j, _, list := steps(t)
	next := must[Checkpoint](t)(j.Start("later", doc(4)))
	must[Checkpoint](t)(j.Add(Checkpoint{PairSeq: 12}, doc(4)))
	in := must[Intent](t)(j.BeginRollback(list[4].ID, RollbackOptions{Scope: ScopeBoth, FirstPair: 1}))
	if in.Cut != 8 || !slices.Equal(in.Sessions, []string{"later", "s"}) {
		t.Errorf("intent cuts %v from %d", in.Sessions, in.Cut)
	}
	ok(t, j.Finish(in))
	if got := j.List("later"); len(got) != 1 || got[0].ID != next.ID {
		t.Errorf("List = %v", got)
	}
}

func TestCompactionKeepsWhatIsNeeded(t *testing.T) {
	path := journalPath(t)
	j := open(t, path, Options{wrap: quiet})
	states := map[string]json.RawMessage{}
	for s := range keepSessions + 5 {
		states[must[Checkpoint](t)(j.Start(fmt.Sprint("s", s), doc(100*s))).ID] = doc(100 * s)
		for n := range 4 {
			from, to := doc(100*s+n), doc(100*s+n+1)
			states[must[Checkpoint](t)(j.Add(Checkpoint{PairSeq: int64(10*s + n)}, from)).ID] = from
			ok(t, j.Record(to, []ToolSummary{{Name: "t", OK: true}}))
		}
	}
	ok(t, j.Saved(doc(1)))
	newest := fmt.Sprint("s", keepSessions+4)
	before := j.List(newest)
	ok(t, j.Finish(must[Intent](t)(j.BeginRollback(before[2].ID, RollbackOptions{Scope: ScopeBoth, FirstPair: 1}))))
	in := beginUndo(t, j)
	run, now, list := Run{Session: newest}, j.Current(), j.List(newest)
	crash(t, j)

	j = open(t, path, Options{wrap: quiet, compactAbove: 1})
	if r := j.Report(); r.Damaged {
		t.Fatalf("report %+v", r)
	}
	wantState(t, "current", j.Current(), now)
	saved, _ := j.SavedState()
	wantState(t, "saved", saved, doc(1))
	if got := j.LastRun(); got.Session != run.Session || got.Closed {
		t.Errorf("LastRun = %+v", got)
	}
	if got := j.List(newest); !slices.Equal(ids(got), ids(list)) || !got[2].Undone {
		t.Errorf("List = %v, want %v", got, list)
	}
	if got := len(j.List("s0")) + len(j.List("s4")); got != 0 {
		t.Errorf("old sessions keep %d checkpoints", got)
	}
	if got := len(j.List("s5")); got != 5 {
		t.Errorf("s5 keeps %d checkpoints", got)
	}
	checkStates(t, j, states)
	compacted := must[os.FileInfo](t)(os.Stat(path))
	crash(t, j)
	j = open(t, path, Options{wrap: quiet, compactAbove: 1})
	if !os.SameFile(compacted, must[os.FileInfo](t)(os.Stat(path))) {
		t.Error("compacted again, although no session can go")
	}
	found := must[*Intent](t)(j.Pending())
	if found == nil || found.ID != in.ID {
		t.Fatalf("Pending = %+v, want %+v", found, in)
	}
	ok(t, j.Finish(*found))
	if got := j.List(newest); !slices.Equal(ids(got), ids(before)) || got[2].Undone {
		t.Errorf("after undo List = %v, want %v", got, before)
	}
	checkStates(t, j, states)
	wantState(t, "current", j.Current(), in.State)
	last := must[Checkpoint](t)(j.Add(Checkpoint{}, doc(5)))
	if last.Seq <= before[len(before)-1].Seq {
		t.Errorf("Seq went back to %d", last.Seq)
	}
}

// Sessions that work in a window at the same time: each has its own steps, and one of
// them can go back without the conversation of the others.
func TestSessionsSideBySide(t *testing.T) {
	j := open(t, journalPath(t), Options{})
	add := must[Checkpoint](t)
	add(j.Start("a", doc(0)))
	add(j.Start("b", doc(0)))
	mine := add(j.Add(Checkpoint{Session: "a", PairSeq: 7}, doc(0)))
	add(j.Start("c", nil)) // comes in the middle of the turn
	ok(t, j.Record(doc(1), []ToolSummary{{Name: "t", Effect: "done", OK: true}}))
	edit := add(j.Edit("b", "edit", doc(1), doc(2)))
	theirs := add(j.Add(Checkpoint{Session: "b", PairSeq: 5}, doc(2)))

	if list := j.List("a"); len(list) != 2 || list[1].Undoes() != "done" {
		t.Errorf("the result is not in the turn that called the tool: %+v", list)
	}
	if edit.Session != "b" {
		t.Errorf("the edit belongs to %s", edit.Session)
	}
	for name, c := range map[string]struct {
		to, only string
		cut      int64
		sessions []string
	}{
		"mine, all":         {mine.ID, "", 5, []string{"a", "b", "c"}},
		"mine, of a":        {mine.ID, "a", 7, []string{"a"}},
		"mine, of b":        {mine.ID, "b", 5, []string{"b"}},
		"theirs, of a":      {theirs.ID, "a", 0, nil},
		"the edit, of b":    {edit.ID, "b", 5, []string{"b"}},
		"start of a, of a":  {j.List("a")[0].ID, "a", 3, []string{"a"}},
		"start of a, of b":  {j.List("a")[0].ID, "b", 5, []string{"b"}},
		"mine, of a nobody": {mine.ID, "d", 0, nil},
	} {
		in := must[Intent](t)(j.BeginRollback(c.to, RollbackOptions{Scope: ScopeBoth, FirstPair: 3, OnlySession: c.only}))
		if in.Cut != c.cut || in.Cut != 0 && !slices.Equal(in.Sessions, c.sessions) {
			t.Errorf("%s: cut %d of %v, want %d of %v", name, in.Cut, in.Sessions, c.cut, c.sessions)
		}
		ok(t, j.Abandon(in))
	}
}

// A turn whose tools changed nothing leaves no checkpoint: not in the list, not for undo,
// not for a rollback by its id, before and after a restart and a compaction.
func TestATurnThatChangedNothingLeavesNoCheckpoint(t *testing.T) {
	path := journalPath(t)
	j := open(t, path, Options{})
	add := must[Checkpoint](t)
	start := add(j.Start("s", doc(0)))
	changed := add(j.Add(Checkpoint{PairSeq: 5}, doc(0)))
	ok(t, j.Record(doc(1), []ToolSummary{{Name: "add", OK: true}}))
	refused := add(j.Add(Checkpoint{PairSeq: 6}, doc(1)))
	if got := ids(j.List("")); !slices.Equal(got, []string{start.ID, changed.ID, refused.ID}) {
		t.Errorf("before the tool has run List = %v", got)
	}
	ok(t, j.Record(doc(1), []ToolSummary{{Name: "add", Effect: "covered"}}))
	check := func(want ...string) {
		t.Helper()
		for range 2 {
			if got := ids(j.List("")); !slices.Equal(got, want) {
				t.Errorf("List = %v, want %v", got, want)
			}
			if step, _ := j.LastStep(); step.ID != want[len(want)-1] {
				t.Errorf("LastStep = %s, want %s", step.ID, want[len(want)-1])
			}
			crash(t, j)
			j = open(t, path, Options{})
		}
	}
	// The next tool of the turn changes something after all: the checkpoint is from before both.
	ok(t, j.Record(doc(2), []ToolSummary{{Name: "add", OK: true}}))
	check(start.ID, changed.ID, refused.ID)
	again := add(j.Add(Checkpoint{PairSeq: 7}, doc(2)))
	ok(t, j.Record(doc(3), []ToolSummary{{Name: "add", OK: true}}))
	ok(t, j.Record(doc(2), []ToolSummary{{Name: "remove", OK: true}}))
	check(start.ID, changed.ID, refused.ID)
	if _, err := j.BeginRollback(again.ID, RollbackOptions{Scope: ScopeBoth, FirstPair: 1}); !errors.Is(err, ErrUnknown) {
		t.Errorf("a rollback to it: %v, want ErrUnknown", err)
	}
	in := must[Intent](t)(j.BeginRollback(changed.ID, RollbackOptions{Scope: ScopeBoth, FirstPair: 1}))
	if !slices.Equal(in.Dropped, []string{refused.ID}) {
		t.Errorf("a rollback drops %v", in.Dropped)
	}
	ok(t, j.Finish(in))
	ok(t, j.Finish(beginUndo(t, j)))
	check(start.ID, changed.ID, refused.ID)
}
