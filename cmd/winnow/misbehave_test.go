package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/llm"
)

// eventsOf decodes the output of ask --json; exactly one event must end the turn.
func eventsOf(t *testing.T, stdout string) []assistant.Event {
	t.Helper()
	var out []assistant.Event
	for line := range strings.Lines(stdout) {
		e, err := at.DecodeEvent(line)
		if err != nil {
			t.Fatalf("%v in line %q", err, line)
		}
		out = append(out, e)
	}
	ends := 0
	for _, e := range out {
		if at.Terminal(e) {
			ends++
		}
	}
	if ends != 1 || !at.Terminal(out[len(out)-1]) {
		t.Fatalf("%d events end the turn, want the last one alone:\n%s", ends, stdout)
	}
	return out
}

const addMini = `{"pattern":"*mini*"}`

// TestAskWithServersThatMisbehave runs the whole command against servers that misbehave on the wire as models do.
func TestAskWithServersThatMisbehave(t *testing.T) {
	add := func(id, pattern string) at.Call {
		return at.Call{ID: id, Name: "add_ignore_rule", Arguments: `{"pattern":"` + pattern + `"}`}
	}
	done := at.Text("Done.")
	bad := func(times int) []at.Reply { // this many calls that no schema accepts
		var replies []at.Reply
		for _, arguments := range []string{`{"wrong":1}`, `{`, `[]`, `"text"`, ``}[:times] {
			replies = append(replies, at.Calls(at.Call{Name: "add_ignore_rule", Arguments: arguments}))
		}
		return append(replies, done)
	}
	hundred := make([]at.Call, 100)
	for i := range hundred {
		hundred[i] = add("", fmt.Sprintf("p%03d", i))
	}
	type want struct {
		status           int
		completed, fails int // tool_complete events with and without success
		retrying         int
		code             string // code of the error that ends the turn; "" if it completes
		requests         int
	}
	for name, c := range map[string]struct {
		replies []at.Reply
		want    want
	}{
		"bad arguments once":       {bad(1), want{requests: 2}},
		"bad arguments twice":      {bad(2), want{retrying: 1, requests: 3}},
		"bad arguments three":      {bad(3), want{retrying: 2, requests: 4}},
		"bad arguments four times": {bad(4), want{status: 1, retrying: 2, code: assistant.CodeInvalidToolCalls, requests: 4}},
		"bad arguments five times": {bad(5), want{status: 1, retrying: 2, code: assistant.CodeInvalidToolCalls, requests: 4}},
		"an unknown tool":          {[]at.Reply{at.Calls(at.Call{Name: "add_ignore_rul", Arguments: addMini}), done}, want{requests: 2}},
		"the second of two fails": {
			[]at.Reply{at.Calls(add("a", "*mini*"), add("b", "*mini*"), add("c", "*nano*")), done},
			want{completed: 2, fails: 1, requests: 2},
		},
		"a hundred calls at once": {
			[]at.Reply{at.Calls(hundred...), done},
			want{completed: 64, requests: 2},
		},
		"an endless loop": {
			[]at.Reply{at.Calls(at.Call{Name: "get_models_matching_pattern", Arguments: addMini})},
			want{completed: 5, requests: 5},
		},
		"a cut after complete arguments": {
			[]at.Reply{at.CutAfter(at.CallEvent(0, "a", "add_ignore_rule", addMini))},
			want{status: 1, code: string(llm.KindInterrupted), requests: 1},
		},
		"stopped by its length": {
			[]at.Reply{at.Raw("text/event-stream", at.CallEvent(0, "a", "add_ignore_rule", addMini)+at.FinishEvent("length")+at.Done)},
			want{status: 1, code: assistant.CodeInterrupted, requests: 1},
		},
	} {
		t.Run(name, func(t *testing.T) {
			server := at.NewServer(t, c.replies...)
			status, stdout, stderr := inFolder(t, "OPENAI_API_KEY=sk-test-aaaaaaaaaaaaaaaa\n",
				"--base-url", server.URL, "-m", "model", "ask", "--json", "hide them")
			if status != c.want.status {
				t.Errorf("status %d, want %d; stderr:\n%s", status, c.want.status, stderr)
			}
			var got want
			for _, e := range eventsOf(t, stdout) {
				switch e := e.(type) {
				case assistant.ToolComplete:
					if e.Success {
						got.completed++
					} else {
						got.fails++
					}
				case assistant.Retrying:
					got.retrying++
				case assistant.Error:
					got.code = e.Code
				default:
				}
			}
			got.status, got.requests = status, len(server.Asked())
			if got != c.want {
				t.Errorf("got %+v\nwant %+v", got, c.want)
			}
			if c.want.completed == 0 && strings.Contains(stdout, "checkpoint_created") {
				t.Error("a checkpoint was made although nothing ran")
			}
		})
	}
}

// TestACutCallStagesNothing checks that the rules are unchanged after a connection was lost behind arguments that
// look complete.
func TestACutCallStagesNothing(t *testing.T) {
	server := at.NewServer(t, at.CutAfter(at.CallEvent(0, "a", "add_ignore_rule", addMini)))
	folder := t.TempDir()
	file := filepath.Join(folder, ".env")
	const before = "OPENAI_API_KEY=sk-test-aaaaaaaaaaaaaaaa\n"
	if err := os.WriteFile(file, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("WINNOW_LOCAL_SERVERS", "false")
	invoke := func(args ...string) (int, string) {
		var out, errs bytes.Buffer
		args = append([]string{"--home", filepath.Join(folder, "home"), "--env-file", file}, args...)
		return run(t.Context(), args, nil, &out, &errs), out.String()
	}
	if status, _ := invoke("--base-url", server.URL, "-m", "model", "ask", "--yes", "hide and save"); status != 1 {
		t.Errorf("status %d, want 1", status)
	}
	if status, out := invoke("rules", "diff"); status != 0 {
		t.Errorf("rules diff: status %d\n%s", status, out)
	}
	if after, err := os.ReadFile(file); err != nil || string(after) != before {
		t.Errorf("the file is %q, %v", after, err)
	}
}
