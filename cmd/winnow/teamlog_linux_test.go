package main

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"winnow/assistant/history"
	"winnow/assistant/serve"
	"winnow/checkpoint"
)

// teamStore is a history that has the logs of windows.
type teamStore struct {
	history.Store
	changes []history.WindowChange
}

func (s *teamStore) AddWindowChanges(_ context.Context, host, path string, changes []checkpoint.Change) error {
	for _, c := range changes {
		s.changes = append(s.changes, history.WindowChange{Host: host, Path: path, Change: c})
	}
	return nil
}

func (s *teamStore) WindowChanges(_ context.Context, after int64, last int) ([]history.WindowChange, int64, error) {
	all := slices.Clone(s.changes[after:])
	return all[max(0, len(all)-last):], int64(len(s.changes)), nil
}

// winnow log and winnow log --team list the changes of a served window in the same lines;
// the latter say which window it is. A history in a file has no such log.
func TestTheTeamsLogHasTheLinesOfTheWindows(t *testing.T) {
	a := testApp(t)
	out := a.stdout.(*strings.Builder)
	a.flags.set = pflag.NewFlagSet("winnow", pflag.ContinueOnError) // of which none is given
	a.flags.model, a.flags.envFile = "offline/rules", filepath.Join(t.TempDir(), "proxy.env")
	if err := os.WriteFile(a.flags.envFile, []byte("OPENAI_API_KEY=sk-test-aaaaaaaaaaaaaaaa\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	log := func(args ...string) ([]string, error) {
		out.Reset()
		c := logCommand(a)
		c.SetArgs(append([]string{}, args...)) // nil would be those of the test binary
		err := c.ExecuteContext(t.Context())
		return strings.Split(strings.TrimSpace(out.String()), "\n"), err
	}
	file, err := a.openHistory(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := log("--team"); err == nil || !strings.Contains(err.Error(), "is a local file, which has no team log") {
		t.Errorf("log --team of a file = %v", err)
	}
	store := &teamStore{Store: file}
	a.store = store
	p, err := a.openHub(t.Context(), serve.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	wait := a.recordChanges(p)
	hub := p.window.hub.Load()
	anna, err := hub.Open(t.Context(), serve.Join{User: "anna"})
	if err != nil {
		t.Fatal(err)
	}
	for _, pattern := range []string{"*mini*", "*nano*"} {
		if _, err := anna.CallTool(t.Context(), "add_ignore_rule", json.RawMessage(`{"pattern":"`+pattern+`"}`), nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := hub.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	wait()
	for _, n := range []string{"100", "1"} {
		own, err := log("-n", n)
		team, teamErr := log("--team", "-n", n)
		if err != nil || teamErr != nil || len(own) != len(team) || !strings.Contains(own[len(own)-1], "anna") || !strings.Contains(own[len(own)-1], "hid *nano* on openai") {
			t.Fatalf("log %v\n%s\nlog --team %v\n%s", err, strings.Join(own, "\n"), teamErr, strings.Join(team, "\n"))
		}
		for i := range own {
			window, same := strings.CutPrefix(team[i], own[i])
			if i == 0 {
				same = same && strings.TrimSpace(window) == "WINDOW"
			} else {
				same = same && strings.HasSuffix(window, ":"+a.envFile())
			}
			if !same {
				t.Errorf("line %d is\n%s\nand of the team\n%s", i, own[i], team[i])
			}
		}
	}
	a.flags.json = true
	own, _ := log()
	team, _ := log("--team")
	for i := range own {
		var mine, theirs map[string]any
		if json.Unmarshal([]byte(own[i]), &mine) != nil || json.Unmarshal([]byte(team[i]), &theirs) != nil || theirs["path"] != a.envFile() || len(theirs) != len(mine)+2 {
			t.Errorf("%s\nand of the team %s", own[i], team[i])
		}
	}
	if all, _, _ := store.WindowChanges(t.Context(), 0, math.MaxInt); len(all) != len(own) {
		t.Errorf("%d changes are stored, %d are in the journal", len(all), len(own))
	}
}
