package presence_test

import (
	"testing"
	"time"

	"winnow/assistant/share"
	"winnow/tui/presence"
)

func TestSentence(t *testing.T) {
	for name, c := range map[string]struct {
		change share.Change
		want   string
		quiet  bool
	}{
		"edit":            {share.Change{Kind: share.Edited, User: "anna", What: "Add", Effect: "hid 3 models"}, "anna hid 3 models", false},
		"without effect":  {share.Change{Kind: share.Edited, User: "anna", What: "Add"}, "anna: Add", false},
		"tool":            {share.Change{Kind: share.ToolRan, User: "anna", What: "t", Effect: "hid 3 models"}, "anna's assistant hid 3 models", false},
		"tool, no effect": {share.Change{Kind: share.ToolRan, User: "anna", What: "t"}, "anna's assistant: t", false},
		"save":            {share.Change{Kind: share.Saved, User: "anna", What: "/a/.env"}, "anna saved the rules", false},
		"rollback":        {share.Change{Kind: share.RolledBack, User: "anna", What: "x", Effect: "showed 1 model"}, "anna rolled back · showed 1 model", false},
		"undone rollback": {share.Change{Kind: share.RolledBack, User: "anna"}, "anna undid a rollback", false},
		"file":            {share.Change{Kind: share.Reloaded, What: "/a/.env"}, "somebody else changed .env · its rules are loaded", false},
		"held":            {share.Change{Kind: share.Held, User: "anna"}, "anna's assistant is working", true},
		"released":        {share.Change{Kind: share.Released, User: "anna"}, "anna's assistant is done", true},
		"waiting":         {share.Change{Kind: share.Waiting, User: "anna"}, "anna's assistant waits for anna", true},
		"an agent":        {share.Change{Kind: share.ToolRan, User: "claude-code (mcp)", What: "t", Effect: "hid 3 models"}, "claude-code (mcp) hid 3 models", false},
		"an agent waits":  {share.Change{Kind: share.Waiting, User: "an-agent-with-a-long-name (mcp)"}, "an-agent-with-a-lon… waits for an-agent-with-a-lon…", true},
		"joined":          {share.Change{Kind: share.Joined, User: "anna"}, "anna joined", true},
		"left":            {share.Change{Kind: share.Left, User: "an\x1b[31mna"}, "anna left", true},
		"nobody":          {share.Change{Kind: share.Left}, "someone left", true},
		"a long name":     {share.Change{Kind: share.Left, User: "a name of more than twenty cells"}, "a name of more than… left", true},
	} {
		if text, quiet := presence.Sentence(c.change); text != c.want || quiet != c.quiet {
			t.Errorf("%s: Sentence = %q, %v; want %q, %v", name, text, quiet, c.want, c.quiet)
		}
	}
}

func TestNobodySharesTheWindow(t *testing.T) {
	o := presence.Of(nil)
	done := make(chan any, 1)
	go func() { done <- o.Wait() }()
	select {
	case msg := <-done:
		if msg != nil || o.Shared() || o.Working() != "" || o.Refused() != nil || o.CountText() != "" || o.RollbackLines("x") != nil {
			t.Errorf("Wait = %v, others %+v", msg, o)
		}
	case <-time.After(time.Minute):
		t.Error("Wait waits for a window that nobody shares")
	}
}
