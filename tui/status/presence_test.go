package status_test

import (
	"testing"

	"winnow/assistant"
	"winnow/assistant/windowlock"
	"winnow/checkpoint"
	"winnow/tui/status"
)

func TestSentence(t *testing.T) {
	for name, c := range map[string]struct {
		change windowlock.Change
		want   string
		quiet  bool
	}{
		"edit":            {windowlock.Change{Kind: windowlock.Edited, User: "anna", What: "Add", Effect: "hid 3 models"}, "anna hid 3 models", false},
		"without effect":  {windowlock.Change{Kind: windowlock.Edited, User: "anna", What: "Add"}, "anna: Add", false},
		"tool":            {windowlock.Change{Kind: windowlock.ToolRan, User: "anna", What: "t", Effect: "hid 3 models"}, "anna's assistant hid 3 models", false},
		"tool, no effect": {windowlock.Change{Kind: windowlock.ToolRan, User: "anna", What: "t"}, "anna's assistant ran t", true},
		"save":            {windowlock.Change{Kind: windowlock.Saved, User: "anna", What: "/a/.env"}, "anna saved the rules", false},
		"rollback":        {windowlock.Change{Kind: windowlock.RolledBack, User: "anna", What: "x", Effect: "showed 1 model"}, "anna rolled back · showed 1 model", false},
		"undone rollback": {windowlock.Change{Kind: windowlock.RolledBack, User: "anna"}, "anna undid a rollback", false},
		"applied":         {windowlock.Change{Kind: windowlock.Applied, What: "live", Effect: "The rules are live."}, "The rules are live.", false},
		"file":            {windowlock.Change{Kind: windowlock.Reloaded, What: "/a/.env"}, "another program changed .env · its rules are loaded", false},
		"held":            {windowlock.Change{Kind: windowlock.Held, User: "anna"}, "anna's assistant is working", true},
		"released":        {windowlock.Change{Kind: windowlock.Released, User: "anna"}, "anna's assistant is done", true},
		"waiting":         {windowlock.Change{Kind: windowlock.Waiting, User: "anna"}, "anna's assistant waits for anna", true},
		"an agent":        {windowlock.Change{Kind: windowlock.ToolRan, User: "claude-code (mcp)", What: "t", Effect: "hid 3 models"}, "claude-code (mcp) hid 3 models", false},
		"an agent waits":  {windowlock.Change{Kind: windowlock.Waiting, User: "an-agent-with-a-long-name (mcp)"}, "an-agent-with-a-lon… waits for an-agent-with-a-lon…", true},
		"joined":          {windowlock.Change{Kind: windowlock.Joined, User: "anna"}, "anna joined", true},
		"left":            {windowlock.Change{Kind: windowlock.Left, User: "an\x1b[31mna"}, "anna left", true},
		"nobody":          {windowlock.Change{Kind: windowlock.Left}, "someone left", true},
		"a long name":     {windowlock.Change{Kind: windowlock.Left, User: "a name of more than twenty cells"}, "a name of more than… left", true},
	} {
		if text, quiet := status.ChangeSentence(c.change); string(text) != c.want || quiet != c.quiet {
			t.Errorf("%s: Sentence = %q, %v; want %q, %v", name, text, quiet, c.want, c.quiet)
		}
	}
}

func TestOf(t *testing.T) {
	if o := status.OthersOf(nil, "s"); o.Shared || o.Working() != "" || o.CountText() != "" || o.RollbackLines([]checkpoint.Checkpoint{{}}) != nil {
		t.Errorf("the others of a window of its own: %+v", o)
	}
	part := &assistant.Others{Others: windowlock.Others{
		Present: []windowlock.Present{{User: "anna", Session: "a"}, {User: "bert", Session: "b"}},
		Holder:  &windowlock.Holder{User: "bert", Session: "b"}, Waiting: []windowlock.Holder{{User: "anna", Session: "a"}},
	}}
	anna, bert := status.OthersOf(part, "a"), status.OthersOf(part, "b")
	if anna.Working() != "bert's assistant is working" || anna.CountText() != "1 other" || len(anna.Waiting) != 0 {
		t.Errorf("anna sees %+v", anna)
	}
	if bert.Working() != "anna's assistant waits for anna" {
		t.Errorf("bert sees %+v", bert)
	}
	if lines := anna.RollbackLines([]checkpoint.Checkpoint{{Session: "b", Description: "hid x"}}); len(lines) != 1 || lines[0] != "bert: hid x" {
		t.Errorf("a rollback undoes %q", lines)
	}
}
