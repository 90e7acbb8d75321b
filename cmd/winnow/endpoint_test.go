package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"winnow/assistant/assistanttest"
)

// stall is a server that stops in the middle of an answer.
type stall struct {
	url  string
	gate *assistanttest.Gate
}

func stalledServer(t *testing.T) stall {
	t.Helper()
	gate := assistanttest.NewGate()
	return stall{assistanttest.NewServer(t, assistanttest.Stalled(assistanttest.TextEvent("half"), gate, assistanttest.Done)).URL, gate}
}

// inFolder runs one command line in a new folder with this .env file.
func inFolder(t *testing.T, env string, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("WINNOW_HOME", filepath.Join(dir, "home"))
	t.Setenv("WINNOW_LOCAL_SERVERS", "false")
	if err := os.WriteFile(".env", []byte(env), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, fault bytes.Buffer
	status = run(t.Context(), args, nil, &out, &fault)
	return status, out.String(), fault.String()
}

// keysAt returns the distinct keys that a server has received.
func keysAt(s *assistanttest.Server) string {
	seen := map[string]bool{}
	var keys []string
	for _, x := range s.Asked() {
		if k := x.Header.Get("Authorization"); !seen[k] {
			seen[k] = true
			keys = append(keys, k)
		}
	}
	return strings.Join(keys, ", ")
}

func TestAKeyGoesToItsOwnOriginOnly(t *testing.T) {
	theirs := assistanttest.NewServer(t).Models(assistanttest.ModelList("m"))
	ours := assistanttest.NewServer(t).Models(assistanttest.ModelList("m"))
	t.Setenv("OPENAI_API_KEY", "sk-for-theirs-123")
	t.Setenv("OPENAI_BASE_URL", theirs.URL)
	if status, _, fault := inFolder(t, "PROXY_API_KEY=sk-for-proxy-123\n", "--base-url", ours.URL, "-m", "m", "ask", "hi"); status != 0 {
		t.Fatalf("status %d: %s", status, fault)
	}
	if got := keysAt(ours); got != "" {
		t.Errorf("another origin was sent %q, want no key", got)
	}
	// The key was entered for this origin, which --base-url names.
	if status, _, fault := inFolder(t, "", "--base-url", theirs.URL, "ask", "hi"); status != 0 {
		t.Fatalf("status %d: %s", status, fault)
	}
	if got := keysAt(theirs); got != "Bearer sk-for-theirs-123" {
		t.Errorf("its own origin was sent %q, want its key", got)
	}
}

func TestTheProxyOfTheFolderAnswersWhenItRuns(t *testing.T) {
	proxy := assistanttest.NewServer(t, assistanttest.Text("from the proxy")).Models(assistanttest.ModelList("openai/gpt-4o"))
	env := "PROXY_API_KEY=sk-for-proxy-123\nPROXY_BASE_URL=" + proxy.URL + "\n"
	status, out, fault := inFolder(t, env, "ask", "hi")
	if status != 0 || out != "from the proxy\n" || !strings.Contains(fault, "using proxy/openai/gpt-4o, the first model of proxy") {
		t.Errorf("status %d, %q, %q", status, out, fault)
	}
	if got := keysAt(proxy); got != "Bearer sk-for-proxy-123" {
		t.Errorf("the proxy was sent %q", got)
	}
	// If the proxy does not run, the offline model answers and says so.
	status, _, fault = inFolder(t, "PROXY_API_KEY=sk-for-proxy-123\nPROXY_BASE_URL="+refused+"\n", "ask", "what is hidden?")
	if status != 0 || !strings.Contains(fault, "no model connected: built-in rules answer") {
		t.Errorf("status %d, %q; want the offline model", status, fault)
	}
}

// Commands work on the models that a running proxy serves, as the screen does, and say so.
func TestCommandsUseTheModelsOfARunningProxy(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"models":     {[]string{"models"}, "from the proxy"},
		"rules test": {[]string{"rules", "test"}, "openai/only-the-proxy-has-it"},
		"rules add":  {[]string{"rules", "add", "only-the-proxy*"}, "1 model"},
		"ask":        {[]string{"-m", "offline/rules", "ask", "hide only-the-proxy-has-it"}, "only-the-proxy-has-it"},
	} {
		proxy := assistanttest.NewServer(t).Models(assistanttest.ModelList("openai/only-the-proxy-has-it", "openai/gpt-4o"))
		env := "OPENAI_API_KEY=sk-0123456789\nPROXY_API_KEY=sk-for-proxy-123\nPROXY_BASE_URL=" + proxy.URL + "\n"
		status, out, fault := inFolder(t, env, c.args...)
		if status != 0 || !strings.Contains(out+fault, c.want) || len(proxy.Asked()) == 0 {
			t.Errorf("%s: status %d after %d requests, %s%s", name, status, len(proxy.Asked()), out, fault)
		}
	}
}
