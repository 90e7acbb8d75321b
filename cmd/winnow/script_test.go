package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"winnow/assistant/assistanttest"
	"winnow/assistant/safetext"
)

func TestMain(m *testing.M) {
	assistanttest.UseMemory()
	if os.Getenv("GOGC") == "" {
		// Hundreds of processes start here, each of which would collect garbage three times before main.
		os.Setenv("GOGC", "400")
	}
	testscript.Main(inProcess{m}, map[string]func(){"winnow": main})
}

// inProcess runs the tests; testscript does not call it in the processes that run winnow.
type inProcess struct{ m *testing.M }

func (p inProcess) Run() int {
	debug.SetGCPercent(400) // a fifth of the time went into collecting garbage
	return p.m.Run()
}

// run executes one command line in this process.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return newApp(ctx, stdin, stdout, stderr).run(args)
}

// testApp returns an app with folders of its own.
func testApp(t *testing.T) *app {
	t.Helper()
	a := newApp(t.Context(), strings.NewReader(""), &strings.Builder{}, &strings.Builder{})
	a.flags.home = t.TempDir()
	t.Cleanup(func() {
		if err := a.close(); err != nil {
			t.Error(err)
		}
	})
	return a
}

// refused is an address on this machine where no program listens: port 1 is reserved for tcpmux.
const refused = "http://127.0.0.1:1/v1"

// TestScripts runs the scripts in testdata/script: the program as a user runs it, each command in its own process,
// against endpoints that work and endpoints that fail in many ways.
func TestScripts(t *testing.T) {
	call := assistanttest.Call{Name: "add_ignore_rule", Arguments: `{"pattern":"*mini*"}`}
	endpoints := map[string]string{
		"REFUSED_URL":    refused,
		"GOOD_URL":       assistanttest.NewServer(t, assistanttest.Text("Hello from the **server**.")).Models(assistanttest.ModelList("text-embedding-3-small", "first-chat", "second-chat")).URL,
		"DENIED_URL":     assistanttest.NewServer(t, assistanttest.Respond(401, `{"error":{"message":"Incorrect API key provided: sk-wrong-key-123","code":"invalid_api_key"}}`)).URL,
		"GONE_URL":       assistanttest.NewServer(t, assistanttest.Respond(404, `{"error":{"message":"The model does not exist","code":"model_not_found"}}`)).URL,
		"CUT_URL":        assistanttest.NewServer(t, assistanttest.CutAfter(assistanttest.TextEvent("half an ans"))).URL,
		"PAGE_URL":       assistanttest.NewServer(t, assistanttest.Respond(200, "<!DOCTYPE html><title>Welcome</title>")).URL,
		"ESCAPE_URL":     assistanttest.NewServer(t, assistanttest.Text("safe\x1b]52;c;aGk=\x07 \x1b[2Jtext\u202e")).URL,
		"PROXY_LIST_URL": assistanttest.NewServer(t).Models(assistanttest.ModelList("openai/gpt-4o", "openai/new-model")).URL,
		"LONG_URL":       assistanttest.NewServer(t, assistanttest.Text(strings.Repeat("a line\n", 50_000))).URL, // more than fits in a pipe
		"MCP_TOOL_URL":   assistanttest.NewServer(t, assistanttest.Calls(assistanttest.Call{Name: "rules__add_ignore_rule", Arguments: `{"pattern":"*mini*"}`}), assistanttest.Text("Done.")).URL,
		"MCP_READ_URL":   assistanttest.NewServer(t, assistanttest.Calls(assistanttest.Call{Name: "rules__explain_model_status", Arguments: `{"model":"gpt-4o"}`}), assistanttest.Text("Done.")).URL,
		"TOOL_URL":       assistanttest.NewServer(t, assistanttest.Calls(call), assistanttest.Text("Done.")).URL,
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			env.Setenv("GOGC", os.Getenv("GOGC"))
			env.Setenv("WINNOW_HOME", env.WorkDir+"/home")
			env.Setenv("WINNOW_LOCAL_SERVERS", "false") // ignore servers running on this machine
			env.Setenv("PROXY_BASE_URL", refused)
			for name, url := range endpoints {
				env.Setenv(name, url)
			}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"status": status,
			"events": events,
			"same":   same,
			"json":   isJSON,
		},
	})
}

// status N COMMAND… runs a command and checks that its exit status is N.
func status(ts *testscript.TestScript, neg bool, args []string) {
	want, err := strconv.Atoi(args[0])
	if neg || err != nil || len(args) < 2 {
		ts.Fatalf("usage: status N COMMAND…")
	}
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%s: %v", args[1], err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit status %d, want %d\n%s", got, want, ts.ReadFile("stderr"))
	}
}

// events FILE TYPE… checks that every line of a file is an event, that the named types occur, and that exactly one
// event ends the turn, the last one.
func events(ts *testscript.TestScript, neg bool, args []string) {
	seen := map[string]bool{}
	lines := strings.Split(strings.TrimRight(ts.ReadFile(args[0]), "\n"), "\n")
	for i, line := range lines {
		e, err := assistanttest.DecodeEvent(line)
		if err != nil {
			ts.Fatalf("line %d: %v: %s", i+1, err, line)
		}
		if assistanttest.Terminal(e) != (i == len(lines)-1) {
			ts.Fatalf("line %d of %d: %s", i+1, len(lines), line)
		}
		var head struct{ Type string }
		if err := json.Unmarshal([]byte(line), &head); err != nil {
			ts.Fatalf("line %d: %v", i+1, err)
		}
		seen[head.Type] = true
	}
	for _, want := range args[1:] {
		if !seen[want] {
			ts.Fatalf("there is no event %s", want)
		}
	}
}

// same FILE OTHER OLD NEW checks that a file equals another one except for one replaced text.
func same(ts *testscript.TestScript, neg bool, args []string) {
	got, before := ts.ReadFile(args[0]), ts.ReadFile(args[1])
	if strings.Count(before, args[2]) != 1 {
		ts.Fatalf("%s does not hold %q once", args[1], args[2])
	}
	if want := strings.Replace(before, args[2], args[3], 1); got != want {
		ts.Fatalf("%s is %q, want %q", args[0], got, want)
	}
}

// json FILE EXPECTED… checks that a file is one JSON value whose compact form contains the expected texts.
func isJSON(ts *testscript.TestScript, neg bool, args []string) {
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(ts.ReadFile(args[0]))); err != nil {
		ts.Fatalf("%s: %v", args[0], err)
	}
	for _, want := range args[1:] {
		if !strings.Contains(b.String(), want) {
			ts.Fatalf("%s: %s does not hold %s", args[0], b.String(), want)
		}
	}
}

func TestVisibleJSON(t *testing.T) {
	for in, want := range map[string]string{
		`{"a":"plain"}`:       `{"a":"plain"}`,
		`"grüße 日本 😀"`:        `"grüße 日本 😀"`,
		"\"\u202ebidi\"":      `"\u202ebidi"`,
		"\"\u009b31m\"":       `"\u009b31m"`,
		"\"tag \U000e0041\"":  `"tag \udb40\udc41"`,
		"\"zero\u200bwidth\"": `"zero\u200bwidth"`,
	} {
		got := string(safetext.JSON([]byte(in)))
		if got != want {
			t.Errorf("safetext.JSON(%s) = %s, want %s", in, got, want)
		}
		var a, b string
		if json.Unmarshal([]byte(in), &a) == nil && (json.Unmarshal([]byte(got), &b) != nil || a != b) {
			t.Errorf("safetext.JSON(%s) is another value: %q", in, b)
		}
	}
}

// FuzzVisibleJSON checks that the value stays the same and that nothing remains that a terminal interprets.
func FuzzVisibleJSON(f *testing.F) {
	for _, seed := range []string{"", "a", "\x1b[2J", "\u202e", "\u009b", "\U000e0041", "e\u0301", "👩‍👩‍👧", "\x7f"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		text, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		got := safetext.JSON(text)
		var before, after string
		if json.Unmarshal(text, &before) != nil || json.Unmarshal(got, &after) != nil || before != after {
			t.Fatalf("safetext.JSON(%q) = %q: %q became %q", text, got, before, after)
		}
		for _, r := range string(got) {
			if r < ' ' || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0xe0000 && r <= 0xe007f {
				t.Fatalf("safetext.JSON(%q) = %q holds %U", text, got, r)
			}
		}
	})
}
