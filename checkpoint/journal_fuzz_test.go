package checkpoint

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"winnow/checkpoint/jsondelta"
)

// model is what a journal must be like, kept in the plainest way.
type model struct {
	states  map[string]json.RawMessage // of every checkpoint ever made
	list    []string                   // with the checkpoints in idle
	starts  map[string]bool
	turn    string          // the checkpoint to which Record belongs, or ""
	idle    map[string]bool // the checkpoints of turns that changed nothing, which List omits
	now     json.RawMessage
	undo    *model // before the last rollback that can be undone
	undoRun int    // length of list after the last rollback
	scope   Scope
}

func (m *model) copy() *model {
	c := *m
	c.list = slices.Clone(m.list)
	return &c
}

// listed returns the checkpoints that List must return.
func (m *model) listed() []string {
	return slices.DeleteFunc(slices.Clone(m.list), func(id string) bool { return m.idle[id] })
}

// fuzzState turns a byte into one of many states, small ones and large ones.
func fuzzState(b byte) json.RawMessage {
	if b%16 == 15 {
		return json.RawMessage([]string{`null`, `[]`, `7`, `{"a.b":[{}],"":null}`}[b/16%4])
	}
	return withRule(ruleState(int(b%16)), int(b/16), "changed")
}

// play runs ops, two bytes each, on a journal and on the model, and compares
// them at each step.
func play(t *testing.T, ops []byte, every int) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "state", "j")
	opts := Options{FullEvery: every, wrap: quiet}
	j := must[*Journal](t)(Open(path, opts))
	m := &model{states: map[string]json.RawMessage{}, starts: map[string]bool{}, idle: map[string]bool{}}
	note := func(c Checkpoint, state json.RawMessage) {
		m.states[c.ID] = state
		m.list = append(m.list, c.ID)
	}
	for len(ops) >= 2 {
		op, arg := ops[0], ops[1]
		ops = ops[2:]
		state := fuzzState(arg)
		switch op % 9 {
		case 0:
			made := must[Checkpoint](t)(j.Add(Checkpoint{PairSeq: int64(arg)}, state))
			note(made, state)
			m.now, m.undo, m.turn = state, nil, made.ID
		case 1:
			ok(t, j.Record(state, []ToolSummary{{Name: "t", OK: true}}))
			m.now = state
			if m.turn != "" {
				m.idle[m.turn] = jsondelta.Equal(state, m.states[m.turn])
			}
		case 2:
			before := m.now
			if before == nil || arg%5 == 0 {
				before = fuzzState(arg + 1)
			}
			made := must[Checkpoint](t)(j.Edit("", "e", before, state))
			if jsondelta.Equal(before, state) {
				if made.ID != "" {
					t.Fatalf("an edit that changed nothing made %+v", made)
				}
				break
			}
			note(made, before)
			m.now, m.turn = state, ""
		case 3:
			session := string('a' + rune(arg%3))
			known := len(j.List(session)) > 0
			c := must[Checkpoint](t)(j.Start(session, state))
			if !known {
				note(c, state)
				m.starts[c.ID] = true
			}
			m.now = state
		case 4:
			ok(t, j.Saved(state))
			if saved, known := j.SavedState(); !known || !jsondelta.Equal(saved, state) || !j.Clean() {
				t.Fatalf("saved %s, clean %v; want %s", saved, j.Clean(), state)
			}
			if m.now != nil {
				m.now = state
			}
		case 5:
			if listed := m.listed(); len(listed) > 0 && m.now != nil {
				m.rollback(t, j, listed[int(arg)%len(listed)], []Scope{ScopeBoth, ScopeWindow, ScopeConversation}[arg%3])
			}
		case 6:
			m.undoRollback(t, j)
		case 7: // an orderly end, a crash, or a crash and a compaction
			// A run that recorded nothing cannot be told from none.
			closed := arg%3 == 0 || j.index.closed
			if arg%3 == 0 {
				ok(t, j.Close())
			} else {
				crash(t, j)
			}
			opts.compactAbove = int64(arg % 2)
			j = must[*Journal](t)(Open(path, opts))
			m.turn = ""
			if r := j.Report(); r.Damaged || r.TornBytes > 0 || j.LastRun().Closed != closed {
				t.Fatalf("after open: %+v, %+v", r, j.LastRun())
			}
		case 8: // the start of a record that a crash cut short
			if arg%2 == 0 {
				crash(t, j)
				whole := must[[]byte](t)(os.ReadFile(path))
				ok(t, os.WriteFile(path, append(whole, `0badcafe {"seq":1`...), 0o600))
				j = must[*Journal](t)(Open(path, opts))
				m.turn = ""
			}
		}
		m.check(t, j)
	}
	crash(t, j)
}

func (m *model) rollback(t *testing.T, j *Journal, id string, scope Scope) {
	t.Helper()
	before := m.copy()
	in := must[Intent](t)(j.BeginRollback(id, RollbackOptions{Scope: scope, FirstPair: 1}))
	if scope != ScopeConversation {
		wantState(t, "target", in.State, m.states[id])
		m.now = m.states[id]
		at := slices.Index(m.list, id)
		m.list = slices.DeleteFunc(m.list, func(other string) bool {
			return !m.starts[other] && slices.Index(before.list, other) > at
		})
	}
	ok(t, j.Finish(in))
	m.undo, m.undoRun, m.scope, m.turn = before, len(m.list), scope, ""
}

func (m *model) undoRollback(t *testing.T, j *Journal) {
	t.Helper()
	if m.undo == nil {
		if in, err := j.BeginUndoRollback(fuzzState(0)); !errors.Is(err, ErrNoRollback) {
			t.Fatalf("BeginUndoRollback = %+v, %v; want ErrNoRollback", in, err)
		}
		return
	}
	ok(t, j.Finish(beginUndo(t, j)))
	if m.scope != ScopeConversation {
		var starts []string
		for _, id := range m.list[m.undoRun:] {
			if m.starts[id] {
				starts = append(starts, id)
			}
		}
		m.list = append(m.undo.list, starts...)
		m.now = m.undo.now
	}
	m.undo, m.undoRun, m.scope, m.turn = m.undo.undo, m.undo.undoRun, m.undo.scope, ""
}

// check compares all that j answers with m.
func (m *model) check(t *testing.T, j *Journal) {
	t.Helper()
	if now := j.Current(); (now == nil) != (m.now == nil) || now != nil && !jsondelta.Equal(now, m.now) {
		t.Fatalf("current = %s, want %s", now, m.now)
	}
	list := j.List("")
	got := ids(list)
	if want := m.listed(); !slices.Equal(got, want) {
		t.Fatalf("List = %v, want %v", got, want)
	}
	for i, c := range list {
		if i > 0 && list[i-1].Seq >= c.Seq {
			t.Fatalf("List is not in order: %v", list)
		}
		wantState(t, "state", must[json.RawMessage](t)(j.State(c.ID)), m.states[c.ID])
	}
}

func TestJournalAgainstModel(t *testing.T) {
	const rounds = 12
	r := rand.New(rand.NewPCG(5, 6))
	for range rounds {
		ops := make([]byte, 80)
		for i := range ops {
			ops[i] = byte(r.IntN(256))
		}
		for _, every := range []int{1, 3, 1000} {
			play(t, ops, every)
		}
	}
}

func FuzzCheckpoint(f *testing.F) {
	f.Add([]byte{3, 0, 0, 1, 1, 2, 0, 2, 1, 3, 5, 1, 6, 0, 7, 1})
	f.Add([]byte{2, 5, 0, 33, 1, 34, 2, 35, 5, 0, 2, 7, 6, 0, 7, 2, 0, 1, 8, 0, 4, 1})
	f.Add([]byte{3, 0, 4, 0, 0, 31, 1, 47, 0, 63, 1, 79, 5, 2, 5, 0, 7, 1, 6, 0, 6, 0, 7, 5, 3, 1, 5, 3, 7, 3})
	f.Add([]byte{3, 0, 0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 8, 0, 9, 0, 10, 0, 11, 0, 12, 5, 4, 7, 1, 3, 1, 6, 0})
	f.Add([]byte{0, 1, 1, 1})                               // a turn that changed nothing is not listed
	f.Add([]byte{0, 1, 1, 1, 1, 2, 0, 3, 1, 3, 5, 0, 6, 0}) // a later tool of the turn changed something; a rollback past an idle turn
	f.Add([]byte{3, 0, 0, 1, 1, 1, 7, 1, 1, 2, 2, 5, 1, 4, 5, 0, 6, 0, 7, 3})
	f.Fuzz(func(t *testing.T, ops []byte) {
		const most = 80
		ops = ops[:min(len(ops), most)]
		for _, every := range []int{1, 3, 1000} { // only full states, both, only deltas
			play(t, ops, every)
		}
	})
}
