package checkpoint

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"winnow/checkpoint/jsondelta"
	"winnow/checkpoint/privatefile"
)

// doc is a small state that n tells apart.
func doc(n int) json.RawMessage {
	return json.RawMessage(fmt.Sprintf(`{"provider":"p","rules":{"allow":[],"ignore":["a","b","rule-%d","c","d","e","f"]}}`, n))
}

// journalPath returns where a journal can be made.
func journalPath(t testing.TB) string {
	t.Helper()
	return filepath.Join(t.TempDir(), "state", "rules.journal")
}

func open(t testing.TB, path string, opts Options) *Journal {
	t.Helper()
	j, err := Open(path, opts)
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	t.Cleanup(func() {
		if err := j.Close(); err != nil && !errors.Is(err, ErrMoved) {
			t.Errorf("Close: %v", err)
		}
	})
	return j
}

// crash closes the files of j as the death of its process would.
func crash(t testing.TB, j *Journal) {
	t.Helper()
	j.closed = true
	if err := errors.Join(j.unlockFile(), j.alive.Release()); err != nil {
		t.Fatal(err)
	}
}

func must[T any](t testing.TB) func(T, error) T {
	t.Helper()
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantState(t testing.TB, what string, got, want json.RawMessage) {
	t.Helper()
	if !jsondelta.Equal(got, want) {
		t.Fatalf("%s = %s, want %s", what, got, want)
	}
}

func ids(list []Checkpoint) []string {
	var out []string
	for _, c := range list {
		out = append(out, c.ID)
	}
	return out
}

func TestStepsOmitStartsOfSessionsWithoutATurn(t *testing.T) {
	j := open(t, journalPath(t), Options{})
	must[Checkpoint](t)(j.Start("edits", doc(0)))
	edit := must[Checkpoint](t)(j.Edit("edits", "", doc(0), doc(1)))
	start := must[Checkpoint](t)(j.Start("turns", nil))
	turn := must[Checkpoint](t)(j.Add(Checkpoint{}, nil))
	ok(t, j.Record(doc(2), nil))
	must[Checkpoint](t)(j.Start("nothing", nil))
	if got, want := ids(j.Steps()), []string{edit.ID, start.ID, turn.ID}; !slices.Equal(got, want) {
		t.Errorf("Steps = %v, want %v of %v", got, want, ids(j.List("")))
	}
}

func TestLifeOfAJournal(t *testing.T) {
	path := journalPath(t)
	at := time.Date(2026, 5, 1, 14, 32, 15, 0, time.UTC)
	j := open(t, path, Options{Now: func() time.Time { return at }})
	if run := j.LastRun(); !run.Closed || run.Session != "" || !j.Clean() || j.Current() != nil {
		t.Errorf("new journal: %+v, clean %v, current %s", run, j.Clean(), j.Current())
	}
	start := must[Checkpoint](t)(j.Start("s1", doc(0)))
	ok(t, j.Saved(doc(0)))
	if !j.Clean() {
		t.Error("not clean after Saved")
	}
	call := ToolSummary{Name: "add_word", Args: `{"word":"cat"}`}
	turn := must[Checkpoint](t)(j.Add(Checkpoint{Tools: []ToolSummary{call}, PairSeq: 7}, doc(0)))
	call.Effect, call.OK = "added cat", true
	ok(t, j.Record(doc(1), []ToolSummary{call}))
	edit := must[Checkpoint](t)(j.Edit("", "delete rule x", doc(1), doc(2)))
	crash(t, j)

	j = open(t, path, Options{})
	list := j.List("s1")
	if want := []string{start.ID, turn.ID, edit.ID}; !slices.Equal(ids(list), want) {
		t.Fatalf("List = %v, want %v", ids(list), want)
	}
	if list[0].Description != "Session start" || list[0].Undoes() != "" {
		t.Errorf("start is %q, %q", list[0].Description, list[0].Undoes())
	}
	both := Checkpoint{Tools: []ToolSummary{{Effect: "hid 2", OK: true}, {Effect: "refused"}, {Effect: "saved 1", OK: true, Lasting: true}, {Effect: "hid 3", OK: true}}}
	if got := both.Undoes(); got != "hid 2; hid 3; saved changes stay in the file" {
		t.Errorf("a rollback of a change and a save undoes %q", got)
	}
	if got := list[1]; got.Description != call.Effect || got.Undoes() != call.Effect || !got.Time.Equal(at) || got.PairSeq != 7 || len(got.Tools) != 1 {
		t.Errorf("turn is %+v", got)
	}
	wantState(t, "current", j.Current(), doc(2))
	wantState(t, "state of turn", must[json.RawMessage](t)(j.State(turn.ID)), doc(0))
	wantState(t, "state of edit", must[json.RawMessage](t)(j.State(edit.ID)), doc(1))
	saved, known := j.SavedState()
	wantState(t, "saved", saved, doc(0))
	if run := j.LastRun(); !known || j.Clean() || run.Closed || run.Session != "s1" || run.Turn.ID != turn.ID {
		t.Errorf("after a crash: %+v, clean %v", run, j.Clean())
	}
	again := must[Checkpoint](t)(j.Start("s1", doc(2)))
	if again.ID != start.ID || len(j.List("s1")) != 3 {
		t.Errorf("a session taken up again starts twice: %v", ids(j.List("s1")))
	}
	ok(t, j.Saved(doc(2)))
	ok(t, j.Close())
	j = open(t, path, Options{})
	if run := j.LastRun(); !run.Closed || !j.Clean() {
		t.Errorf("after an orderly end: %+v, clean %v", run, j.Clean())
	}
}

// What was never recorded cannot be unsaved.
func TestSavedBeforeAnything(t *testing.T) {
	path := journalPath(t)
	j := open(t, path, Options{})
	ok(t, j.Saved(doc(1)))
	for range 2 { // the second time after it was opened again
		if saved, known := j.SavedState(); !j.Clean() || !known || !jsondelta.Equal(saved, doc(1)) || j.Current() != nil {
			t.Errorf("clean %v, saved %s, current %s", j.Clean(), saved, j.Current())
		}
		ok(t, j.Close())
		j = open(t, path, Options{})
	}
	must[Checkpoint](t)(j.Start("s", doc(1)))
	if !j.Clean() {
		t.Error("the saved state is unsaved")
	}
	ok(t, j.Record(doc(2), nil))
	if j.Clean() {
		t.Error("another state is saved")
	}
}

func TestFullStateEachTenth(t *testing.T) {
	j := open(t, journalPath(t), Options{})
	must[Checkpoint](t)(j.Start("s", ruleState(50)))
	for i := range 30 {
		must[Checkpoint](t)(j.Add(Checkpoint{}, withRule(ruleState(50), 7, fmt.Sprint("v", i))))
	}
	for i, c := range j.List("s") {
		if c.Full != (i%defaultFullEvery == 0) {
			t.Errorf("checkpoint %d: full = %v", i, c.Full)
		}
	}
}

func TestOrderIsBySequence(t *testing.T) {
	path := journalPath(t)
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	jumps := []time.Duration{0, -24 * 365 * time.Hour, 0, 48 * 365 * time.Hour, -1}
	i := 0
	j := open(t, path, Options{Now: func() time.Time { i++; now = now.Add(jumps[i%len(jumps)]); return now }})
	want := []string{must[Checkpoint](t)(j.Start("s", doc(0))).ID}
	for n := range 12 {
		want = append(want, must[Checkpoint](t)(j.Add(Checkpoint{}, doc(n))).ID)
	}
	if got := ids(j.List("s")); !slices.Equal(got, want) {
		t.Errorf("List = %v, want %v", got, want)
	}
	crash(t, j)
	if got := ids(open(t, path, Options{}).List("")); !slices.Equal(got, want) {
		t.Errorf("List after open = %v, want %v", got, want)
	}
}

func TestModesAreNarrowed(t *testing.T) {
	path := journalPath(t)
	j := open(t, path, Options{})
	must[Checkpoint](t)(j.Start("s", doc(0)))
	ok(t, j.Close())
	for _, f := range []string{path, path + lockSuffix, filepath.Dir(path)} {
		if info, err := os.Stat(f); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v, %v", f, info.Mode(), err)
		}
	}
	ok(t, os.Chmod(path, 0o622))
	ok(t, os.Chmod(filepath.Dir(path), 0o755))
	j = open(t, path, Options{})
	if n := j.Report().Narrowed; !slices.Equal(n, []string{"read " + filepath.Dir(path), "change " + path}) || len(j.Report().Notices()) != 2 {
		t.Errorf("repaired %v, notices %v", n, j.Report().Notices())
	}
	for f, want := range map[string]os.FileMode{path: privatefile.FileMode, filepath.Dir(path): privatefile.FolderMode} {
		if info, err := os.Stat(f); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s has mode %v, %v; want %v", f, info.Mode(), err, want)
		}
	}
}

func TestUnsafePlacesAreRefused(t *testing.T) {
	dir := t.TempDir()
	target := filepath.Join(dir, "target")
	ok(t, os.WriteFile(target, []byte("precious"), 0o600))
	private := filepath.Join(dir, "private")
	ok(t, os.Mkdir(private, 0o700))
	link := filepath.Join(private, "link")
	ok(t, os.Symlink(target, link))
	public := filepath.Join(dir, "public")
	ok(t, os.Mkdir(public, 0o700))
	ok(t, os.Chmod(public, 0o777))
	lockLink := filepath.Join(private, "x")
	ok(t, os.Symlink(target, lockLink+lockSuffix))
	for _, path := range []string{link, filepath.Join(public, "j"), private, lockLink} {
		if j, err := Open(path, Options{}); !errors.Is(err, ErrUnsafe) {
			t.Errorf("Open(%s) = %v, %v; want ErrUnsafe", path, j, err)
		}
	}
	if got, err := os.ReadFile(target); string(got) != "precious" {
		t.Errorf("the target of the link is now %q, %v", got, err)
	}
}

func TestNewerFormatIsLeftAlone(t *testing.T) {
	path := journalPath(t)
	ok(t, os.MkdirAll(filepath.Dir(path), 0o700))
	content := append(header(formatVersion+1), "whatever\n"...)
	ok(t, os.WriteFile(path, content, 0o600))
	for _, readOnly := range []bool{false, true} {
		_, err := Open(path, Options{ReadOnly: readOnly})
		var newer *VersionError
		if !errors.As(err, &newer) || newer.Found != formatVersion+1 || !strings.Contains(err.Error(), "newer winnow") {
			t.Errorf("Open = %v, want a *VersionError", err)
		}
	}
	if got, err := os.ReadFile(path); string(got) != string(content) {
		t.Errorf("file is now %q, %v", got, err)
	}
}

func TestReadOnlyBesideAWriter(t *testing.T) {
	path := journalPath(t)
	empty := open(t, path, Options{ReadOnly: true})
	if got := empty.List(""); len(got) != 0 {
		t.Errorf("no file: List = %v", got)
	}
	if _, err := os.Stat(filepath.Dir(path)); err == nil {
		t.Error("ReadOnly made a folder")
	}
	w := open(t, path, Options{})
	start := must[Checkpoint](t)(w.Start("s", doc(1)))
	r := open(t, path, Options{ReadOnly: true})
	must[Checkpoint](t)(w.Add(Checkpoint{}, doc(2)))
	wantState(t, "current", r.Current(), doc(1))
	wantState(t, "state", must[json.RawMessage](t)(r.State(start.ID)), doc(1))
	if _, err := r.Add(Checkpoint{}, doc(3)); !errors.Is(err, ErrReadOnly) {
		t.Errorf("Add = %v, want ErrReadOnly", err)
	}
	if _, err := r.BeginRollback(start.ID, RollbackOptions{Scope: ScopeBoth, FirstPair: 1}); !errors.Is(err, ErrReadOnly) {
		t.Errorf("BeginRollback = %v, want ErrReadOnly", err)
	}
	ok(t, w.Close())
	if _, err := w.Add(Checkpoint{}, doc(3)); !errors.Is(err, ErrClosed) {
		t.Errorf("Add after Close = %v, want ErrClosed", err)
	}
}

func TestWriterIsWhoHasTheJournal(t *testing.T) {
	path := journalPath(t)
	if w := Writer(path); w != nil {
		t.Errorf("no file: Writer = %v", w)
	}
	j := open(t, path, Options{Program: "a test"})
	if w := Writer(path); w != nil {
		t.Errorf("before the first change: Writer = %v", w)
	}
	unlock := must[func()](t)(j.Lock(t.Context()))
	if w := Writer(path); w == nil || w.PID != os.Getpid() || w.Program != "a test" || w.Since.IsZero() {
		t.Errorf("Writer = %+v, want this process", w)
	}
	unlock()
	if w := Writer(path); w != nil {
		t.Errorf("unlocked: Writer = %v", w)
	}
}

func TestFileThatWasReplacedIsNoticed(t *testing.T) {
	path := journalPath(t)
	j := open(t, path, Options{})
	must[Checkpoint](t)(j.Start("s", doc(1)))
	ok(t, os.Remove(path))
	if err := j.Record(doc(2), nil); !errors.Is(err, ErrMoved) {
		t.Errorf("Record = %v, want ErrMoved", err)
	}
	wantState(t, "current", j.Current(), doc(1))
}

func TestDescribe(t *testing.T) {
	did := func(effect string) ToolSummary { return ToolSummary{Name: "n", Args: "{}", Effect: effect, OK: true} }
	for _, c := range []struct {
		tools []ToolSummary
		want  string
	}{
		{nil, "Assistant turn"},
		{[]ToolSummary{{Name: "clear", Args: "{}"}}, "Assistant turn"}, // it has not run
		{[]ToolSummary{did("added a"), {Name: "n", Effect: "refused"}, did("added b\n")}, "added a; added b "},
		{[]ToolSummary{did("a"), did("b"), did("c"), did("d"), did("e")}, "a; b; c; 2 more"},
		{[]ToolSummary{did("a"), {Name: "n", Effect: "saved", OK: true, Lasting: true}}, "a"},
	} {
		if got := Describe(c.tools); got != c.want {
			t.Errorf("Describe(%v) = %q, want %q", c.tools, got, c.want)
		}
	}
}

// The journal was written when the scope of the window was called "rules": a rollback of
// that scope, its undo, and one that a crash left undone.
func TestScopesOfAnEarlierVersion(t *testing.T) {
	path := journalPath(t)
	ok(t, os.MkdirAll(filepath.Dir(path), 0o700))
	ok(t, os.WriteFile(path, must[[]byte](t)(os.ReadFile(filepath.Join("testdata", "scope-rules.journal"))), 0o600))
	j := open(t, path, Options{})
	var got []string
	for _, c := range j.List("s1") {
		got = append(got, c.Description+" | "+c.Undoes())
	}
	want := []string{"Session start | ", "added cat | added cat; saved changes stay in the file", "Delete word one | Delete word one"}
	if !slices.Equal(got, want) {
		t.Errorf("the list is %q, want %q", got, want)
	}
	pending, err := j.Pending()
	if err != nil || pending == nil || pending.Scope != ScopeWindow || pending.Cut != 0 {
		t.Fatalf("the rollback that was not done is %+v, %v", pending, err)
	}
	ok(t, j.Finish(*pending))
	wantState(t, "current", j.Current(), json.RawMessage(`{"words":["one"]}`))
	undo := beginUndo(t, j)
	if undo.Scope != ScopeWindow {
		t.Errorf("the undo has the scope %q", undo.Scope)
	}
}
