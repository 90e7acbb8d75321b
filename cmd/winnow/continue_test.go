package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"winnow/assistant/assistanttest"
)

// TestContinueTellsWhatChangedMeanwhile checks that the first request of a continued session names the rules that
// another command has changed since the last message, but not those that the session itself has changed.
func TestContinueTellsWhatChangedMeanwhile(t *testing.T) {
	call := assistanttest.Call{Name: "add_ignore_rule", Arguments: `{"pattern":"*mini*","provider":"openai"}`}
	server := assistanttest.NewServer(t, assistanttest.Calls(call), assistanttest.Text("Done."))
	winnow := func(args ...string) {
		t.Helper()
		var out, fault bytes.Buffer
		if status := run(t.Context(), append([]string{"--base-url", server.URL, "-m", "model"}, args...), nil, &out, &fault); status != 0 && status != statusPending {
			t.Fatalf("winnow %v: status %d: %s", args, status, fault.String())
		}
	}
	changes := func() string {
		all := server.Asked()
		system := all[len(all)-1].Chat.Messages[0].Content
		_, list, ok := strings.Cut(system, `"changes_since_last_message":`)
		if !ok {
			t.Fatalf("the request has no changes: %s", system)
		}
		return list
	}
	inFolder(t, "OPENAI_API_KEY=sk-test-aaaaaaaaaaaaaaaa\n", "config")
	t.Setenv("WINNOW_HOME", filepath.Join(t.TempDir(), "home"))
	winnow("ask", "hide mini")
	winnow("ask", "--continue", "what else?")
	if got := changes(); !strings.HasPrefix(got, "[]") {
		t.Errorf("the session's own unsaved rule is listed as a change: %.300s", got)
	}
	winnow("rules", "add", "--provider", "openai", "--save", "o3*")
	winnow("ask", "--continue", "and now")
	list, _, _ := strings.Cut(changes(), "\n")
	if !strings.Contains(list, "o3*") || strings.Contains(list, "*mini*") {
		t.Errorf("after a rule was added elsewhere the changes are %.300s", list)
	}
	winnow("ask", "--continue", "and again")
	if got := changes(); !strings.HasPrefix(got, "[]") {
		t.Errorf("with no change since they are %.300s", got)
	}
}
