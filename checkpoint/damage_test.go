package checkpoint

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
)

// sample makes a journal of every kind of record and returns its bytes, the
// state of each checkpoint by id, and the ids in order.
func sample(t *testing.T) ([]byte, map[string]json.RawMessage, []string) {
	t.Helper()
	path := journalPath(t)
	j := open(t, path, Options{FullEvery: 3})
	states := map[string]json.RawMessage{}
	note := func(c Checkpoint, err error) {
		t.Helper()
		ok(t, err)
		states[c.ID] = must[json.RawMessage](t)(j.State(c.ID))
	}
	note(j.Start("s", doc(0)))
	ok(t, j.Saved(doc(9)))
	for n := range 3 {
		note(j.Add(Checkpoint{PairSeq: int64(n + 5)}, doc(n)))
		ok(t, j.Record(doc(n+1), []ToolSummary{{Name: "tool", OK: true}}))
		note(j.Edit("", "edit", doc(n+1), doc(n+20)))
	}
	back := must[Intent](t)(j.BeginRollback(j.List("")[5].ID, RollbackOptions{Scope: ScopeBoth, FirstPair: 1}))
	ok(t, j.Finish(back))
	ok(t, j.Saved(j.Current()))
	note(j.Edit("", "edit", j.Current(), doc(40)))
	beginUndo(t, j)
	want := ids(j.List(""))
	crash(t, j)
	return must[[]byte](t)(os.ReadFile(path)), states, want
}

// write makes a file of content for a journal and returns its path.
func write(t *testing.T, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rules.journal")
	ok(t, os.WriteFile(path, content, 0o600))
	return path
}

// quiet makes a file whose Sync does nothing, for tests of many files.
func quiet(f *os.File) file { return quietFile{f} }

type quietFile struct{ *os.File }

func (quietFile) Sync() error { return nil }

// checkStates holds each checkpoint that j lists against what it was.
func checkStates(t *testing.T, j *Journal, states map[string]json.RawMessage) {
	t.Helper()
	for _, c := range j.List("") {
		got, err := j.State(c.ID)
		if err != nil {
			t.Fatalf("State(%s): %v", c.ID, err)
		}
		wantState(t, "state of "+c.ID, got, states[c.ID])
	}
}

// Cut at any byte, a journal keeps what is whole. An ordinary run cuts at every seventh
// byte and around each line end, one with WINNOW_SOAK at every byte.
func TestJournalCutAtEveryByte(t *testing.T) {
	whole, states, _ := sample(t)
	known := 0 // checkpoints whose record is whole so far
	for n := 0; n <= len(whole); n++ {
		lineEnd := bytes.IndexByte(whole[max(0, n-2):min(n+2, len(whole))], '\n') >= 0
		if n%7 != 0 && !lineEnd && os.Getenv("WINNOW_SOAK") == "" {
			continue
		}
		path := write(t, whole[:n])
		j, err := Open(path, Options{wrap: quiet})
		if err != nil {
			t.Fatalf("cut at byte %d: %v", n, err)
		}
		if r := j.Report(); r.Damaged {
			t.Fatalf("cut at byte %d: taken for damage: %+v", n, r)
		}
		checkStates(t, j, states)
		if got := len(j.index.entries); got < known {
			t.Fatalf("cut at byte %d: %d checkpoints, had %d", n, got, known)
		} else {
			known = got
		}
		if records := bytes.Count(whole[:n], []byte("\n")) - 1; len(j.index.records) < records {
			t.Fatalf("cut at byte %d: %d of %d records", n, len(j.index.records), records)
		}
		if in := must[*Intent](t)(j.Pending()); in != nil {
			ok(t, j.Finish(*in))
		}
		_, err = j.Add(Checkpoint{}, doc(77))
		ok(t, err)
		crash(t, j)
		again := must[*Journal](t)(Open(path, Options{wrap: quiet}))
		if again.Report().Damaged || again.Report().TornBytes != 0 {
			t.Fatalf("cut at byte %d: then %+v", n, again.Report())
		}
		wantState(t, "current", again.Current(), doc(77))
		crash(t, again)
	}
	if known != len(states) {
		t.Errorf("%d checkpoints at the end, want %d", known, len(states))
	}
}

func TestJournalFlippedAtEveryByte(t *testing.T) {
	whole, states, list := sample(t)
	lines := bytes.Count(whole, []byte("\n"))
	for n := range whole {
		// In turn: another digit or letter, a line that ends early, no text.
		for _, flip := range []byte{[]byte{0x01, whole[n] ^ '\n', 0x80}[n%3]} {
			if flip == 0 {
				flip = 0x20
			}
			bad := bytes.Clone(whole)
			bad[n] ^= flip
			path := write(t, bad)
			ro, err := Open(path, Options{ReadOnly: true})
			if err != nil || !ro.Report().Damaged {
				t.Fatalf("byte %d flipped by %#x, read only: %v, %+v", n, flip, err, ro.Report())
			}
			checkStates(t, ro, states)
			// The repair is the same code on the disk, whose syncs take long.
			const repairEach = 4
			if n%repairEach != 0 && whole[n] != '\n' {
				ok(t, os.Remove(path))
				continue
			}
			j, err := Open(path, Options{wrap: quiet})
			if err != nil {
				t.Fatalf("byte %d flipped by %#x: %v", n, flip, err)
			}
			r := j.Report()
			if !r.Damaged || r.UnreadableRecords == 0 || r.DamagedCopy == "" || len(j.Report().Notices()) == 0 {
				t.Fatalf("byte %d flipped by %#x went unnoticed: %+v", n, flip, r)
			}
			if aside := must[[]byte](t)(os.ReadFile(r.DamagedCopy)); !bytes.Equal(aside, bad) {
				t.Fatalf("byte %d flipped by %#x: the file set aside is changed", n, flip)
			}
			checkStates(t, j, states)
			// One damaged record costs at most the deltas up to the next full state.
			if lost := len(list) - len(j.List("")); lost > 4 {
				t.Fatalf("byte %d flipped by %#x (of %d lines): %d of %d checkpoints lost", n, flip, lines, lost, len(list))
			}
			crash(t, j)
			again := must[*Journal](t)(Open(path, Options{wrap: quiet}))
			if again.Report().Damaged {
				t.Fatalf("byte %d flipped by %#x: damaged again", n, flip)
			}
			crash(t, again)
		}
	}
}

func TestLostLineIsNoticed(t *testing.T) {
	whole, states, _ := sample(t)
	lines := bytes.SplitAfter(whole, []byte("\n"))
	for i := 1; i < len(lines)-2; i++ {
		var without []byte
		for k, l := range lines {
			if k != i {
				without = append(without, l...)
			}
		}
		j := must[*Journal](t)(Open(write(t, without), Options{wrap: quiet}))
		if !j.Report().Damaged {
			t.Errorf("line %d gone: unnoticed", i)
		}
		checkStates(t, j, states)
		crash(t, j)
	}
}

func TestForeignFileIsSetAside(t *testing.T) {
	for name, content := range map[string]string{"text": "hello\nworld\n", "one line": "hello", "nul": string(make([]byte, 5000)), "binary": "SQLite format 3\x00\n\n\xff"} {
		path := write(t, []byte(content))
		j := open(t, path, Options{})
		if r := j.Report(); !r.Damaged || string(must[[]byte](t)(os.ReadFile(r.DamagedCopy))) != content {
			t.Errorf("%s: %+v", name, r)
		}
		must[Checkpoint](t)(j.Start("s", doc(1)))
	}
}

// The sample was written by the first version of this package, with its own
// JSON parser: a compacted journal, two sessions, an intent that is pending,
// and states with line separators, which it did not escape.
func TestJournalOfAnEarlierVersionIsRead(t *testing.T) {
	var want struct {
		List           []Checkpoint
		States         map[string]json.RawMessage
		Current, Saved json.RawMessage
		Pending        string
		LastRun        Run
	}
	ok(t, json.Unmarshal(must[[]byte](t)(os.ReadFile("testdata/format1.json")), &want))
	path := write(t, must[[]byte](t)(os.ReadFile("testdata/format1.journal")))
	j := open(t, path, Options{})
	if r := j.Report(); r.Damaged || r.TornBytes > 0 {
		t.Fatalf("report %+v", r)
	}
	if got := j.List(""); !reflect.DeepEqual(got, want.List) {
		t.Errorf("List = %+v, want %+v", got, want.List)
	}
	checkStates(t, j, want.States)
	wantState(t, "current", j.Current(), want.Current)
	saved, _ := j.SavedState()
	wantState(t, "saved", saved, want.Saved)
	if run := j.LastRun(); !reflect.DeepEqual(run, want.LastRun) {
		t.Errorf("LastRun = %+v, want %+v", run, want.LastRun)
	}
	in := must[*Intent](t)(j.Pending())
	if in == nil || in.ID != want.Pending {
		t.Fatalf("Pending = %+v, want %s", in, want.Pending)
	}
	ok(t, j.Finish(*in))
	wantState(t, "after the rollback", j.Current(), want.States[in.Target])
	ok(t, j.Finish(beginUndo(t, j)))
	wantState(t, "after its undo", j.Current(), want.Current)
}

// A lost record never makes Replay report a state that the window was not in: states are unknown until the next full
// state.
func TestReplayReportsNoWrongState(t *testing.T) {
	whole, _, _ := sample(t)
	type states struct{ before, after string }
	want := map[int64]states{}
	j := must[*Journal](t)(Open(write(t, whole), Options{ReadOnly: true}))
	j.Replay(func(r Record) { want[r.Seq] = states{r.Before.Text(), r.After.Text()} })
	lines, unknown := bytes.SplitAfter(whole, []byte("\n")), 0
	for lost := 1; lost < len(lines)-1; lost++ {
		j := must[*Journal](t)(Open(write(t, bytes.Join(slices.Delete(slices.Clone(lines), lost, lost+1), nil)), Options{ReadOnly: true}))
		j.Replay(func(r Record) {
			if got := r.Before.Text(); got != "" && got != want[r.Seq].before {
				t.Errorf("without record %d, record %d starts at %s, want %s", lost, r.Seq, got, want[r.Seq].before)
			}
			if got := r.After.Text(); got != "" && got != want[r.Seq].after {
				t.Errorf("without record %d, record %d ends at %s, want %s", lost, r.Seq, got, want[r.Seq].after)
			} else if got == "" && want[r.Seq].after != "" {
				unknown++
			}
		})
	}
	if most := 3 * len(lines); unknown > most { // a full state follows at every third checkpoint
		t.Errorf("%d states are unknown, want at most %d", unknown, most)
	}
}
