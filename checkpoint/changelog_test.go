package checkpoint

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// rulesDoc is a state with rules, and a position that is no change.
func rulesDoc(position string, rules ...string) json.RawMessage {
	raw, err := json.Marshal(map[string]any{"provider": position, "rules": map[string]any{"openai": append([]string{}, rules...)}})
	if err != nil {
		panic(err)
	}
	return raw
}

// changeLines are the changes of a journal, each in a line.
func changeLines(j *Journal) string {
	var b strings.Builder
	for _, c := range Changes(j, "provider") {
		fmt.Fprintf(&b, "%s %s %s %s", c.User, c.Session, c.Kind, c.What)
		for _, d := range c.Changed {
			fmt.Fprintf(&b, " [%s %s %s]", d.Path, d.Before, d.After)
		}
		b.WriteString("\n")
	}
	return b.String()
}

func TestChangesSayWhoChangedWhat(t *testing.T) {
	path, user := filepath.Join(t.TempDir(), "journal"), "anna"
	o := Options{FullEvery: 3, Author: func() (string, string) { return user, "now" }}
	j := openLog(t, path, o)
	none := rulesDoc("a")
	noError[Checkpoint](t)(j.Start("s1", none))
	logged(t, j.Saved(none))
	turn := noError[Checkpoint](t)(j.Add(Checkpoint{PairSeq: 1, Session: "s1"}, rulesDoc("b"))) // the position moved
	logged(t, j.Record(rulesDoc("b", "x"), []ToolSummary{{Name: "add", Args: `{"p":"x"}`, Effect: "added x", OK: true}}))
	logged(t, j.Record(rulesDoc("b", "x"), []ToolSummary{{Name: "fails", Effect: "refused"}}))
	user = "ben"
	noError[Checkpoint](t)(j.Edit("s2", "add y", rulesDoc("b", "x"), rulesDoc("b", "x", "y")))
	logged(t, j.Saved(rulesDoc("b", "x", "y")))
	noError[Checkpoint](t)(j.Edit("s2", "remove x", rulesDoc("b", "x", "y"), rulesDoc("b", "y")))
	logged(t, j.Finish(noError[Intent](t)(j.BeginRollback(turn.ID, RollbackOptions{Scope: ScopeBoth}))))
	logged(t, j.Finish(beginUndo(t, j)))
	logged(t, j.Saved(rulesDoc("b", "y")))
	logged(t, j.Close())
	j = openLog(t, path, o)
	noError[Checkpoint](t)(j.Start("s1", rulesDoc("b", "y", "z"))) // somebody changed the file
	logged(t, j.Saved(rulesDoc("b", "y", "z")))
	want := `anna s1 turn added x [rules.openai  "x"]
ben s2 edit add y [rules.openai  "y"]
ben now save  [rules.openai  "x"] [rules.openai  "y"]
ben s2 edit remove x [rules.openai "x" ]
ben now rollback added x [rules.openai "y" ]
ben now undo added x [rules.openai  "y"]
ben now save  [rules.openai "x" ]
  outside  [rules.openai  "z"]
`
	if got := changeLines(j); got != want {
		t.Errorf("changes are\n%swant\n%s", got, want)
	}
	outside := OutsideSince(j, turn.Seq)
	if len(outside) != 1 || string(outside[0].Before) != string(rulesDoc("b", "y")) || string(outside[0].After) != string(rulesDoc("b", "y", "z")) {
		t.Errorf("other programs changed %s", outside)
	}
	if newest := OutsideSince(j, j.Seq()); len(newest) != 0 {
		t.Errorf("other programs changed %s after the newest record", newest)
	}
	logged(t, j.Close())
	whole := noError[[]byte](t)(os.ReadFile(path))
	for n := 0; n < len(whole); n += 7 { // as a kill -9 may leave it
		logged(t, os.WriteFile(path, whole[:n], 0o600))
		r := openLog(t, path, Options{ReadOnly: true})
		if got := changeLines(r); !strings.HasPrefix(want, got) {
			t.Fatalf("cut at byte %d the changes are\n%s", n, got)
		}
	}
}

func TestManyDifferencesAreCounted(t *testing.T) {
	j := openLog(t, filepath.Join(t.TempDir(), "journal"), Options{})
	var rules []string
	for n := range maxDifferences + 50 {
		rules = append(rules, fmt.Sprint("r", n))
	}
	noError[Checkpoint](t)(j.Start("s", json.RawMessage(`{"rules":{}}`)))
	noError[Checkpoint](t)(j.Edit("s", "import", json.RawMessage(`{"rules":{}}`), rulesDoc("a", rules...)))
	c := Changes(j, "provider")[0]
	if len(c.Changed) != maxDifferences || c.More != 50 || string(c.Changed[0].After) != `"r0"` {
		t.Errorf("%d differences and %d more, the first %+v", len(c.Changed), c.More, c.Changed[0])
	}
}

func openLog(t *testing.T, path string, o Options) *Journal {
	t.Helper()
	j, err := Open(path, o)
	logged(t, err)
	t.Cleanup(func() { _ = j.Close() })
	return j
}

func logged(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func noError[T any](t *testing.T) func(v T, err error) T {
	t.Helper()
	return func(v T, err error) T {
		t.Helper()
		logged(t, err)
		return v
	}
}
