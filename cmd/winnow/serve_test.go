package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// served is a running winnow serve.
type served struct {
	*bench
	url, token, ssh string
	process         *exec.Cmd
}

// serve starts winnow serve with args on a free port. It ends with the test.
func (b *bench) serve(args ...string) served {
	b.t.Helper()
	cmd := exec.CommandContext(context.WithoutCancel(b.t.Context()), "winnow", append([]string{"serve", "--json", "-m", "offline/rules", "--http", "127.0.0.1:0"}, args...)...)
	cmd.Dir, cmd.Env, cmd.Stderr = b.dir, b.env, os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		b.t.Fatal(err)
	}
	s := served{bench: b, process: cmd}
	b.t.Cleanup(s.end)
	var head struct{ URL, Token, SSH string }
	if err := json.NewDecoder(out).Decode(&head); err != nil {
		b.t.Fatalf("winnow serve prints no address: %v", err)
	}
	s.url, s.token, s.ssh = head.URL, head.Token, head.SSH
	return s
}

// end ends the process as a service manager does. The test's cleanup calls it again.
func (s served) end() {
	if s.process.ProcessState != nil {
		return
	}
	_ = s.process.Process.Signal(syscall.SIGTERM)
	if err := s.process.Wait(); err != nil {
		s.t.Errorf("winnow serve: %v", err)
	}
}

// call makes a request and returns the lines of the answer, up to the first that contains until; "" reads all lines.
func (s served) call(method, path, body, until string) string {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+s.token)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	var text strings.Builder
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		fmt.Fprintln(&text, lines.Text())
		if until != "" && strings.Contains(lines.Text(), until) {
			break
		}
	}
	return text.String()
}

func (s served) open(body string) (id string) {
	s.t.Helper()
	var info struct{ ID string }
	if err := json.Unmarshal([]byte(s.call("POST", "/v1/sessions", body, "")), &info); err != nil || info.ID == "" {
		s.t.Fatalf("no session was opened: %v", err)
	}
	return info.ID
}

// TestReadmeServes runs the commands of the README.
func TestReadmeServes(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("curl is not installed")
	}
	raw, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(raw), "<!-- served -->")
	section, _, _ = strings.Cut(section, "<!-- /served -->")
	blocks := strings.Split(section, "```")
	if len(blocks) != 5 {
		t.Fatalf("the section has %d blocks", len(blocks)/2)
	}
	prepare, start, ok := strings.Cut(strings.TrimPrefix(blocks[1], "sh\n"), "winnow serve --http 127.0.0.1:7777 ")
	if !ok {
		t.Fatalf("the first command is %q", blocks[1])
	}
	b := newBench(t, "OPENAI_API_KEY=sk-test-aaaaaaaaaaaaaaaa\n")
	run := func(script string) []byte {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "sh", "-euc", script)
		cmd.Dir, cmd.Env = b.dir, b.env
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return out
	}
	run(prepare)
	s := b.serve(strings.Fields(start)...)
	out := run(strings.ReplaceAll(strings.TrimPrefix(blocks[3], "sh\n"), "http://127.0.0.1:7777", s.url))
	for _, want := range []string{`"type":"turn_started"`, `"tool":"add_ignore_rule"`, `"type":"checkpoint_created"`, `"type":"complete"`} {
		if !strings.Contains(string(out), want) {
			t.Errorf("the commands print no %s: %s", want, out)
		}
	}
	if open := s.call("GET", "/v1/sessions", "", ""); strings.Contains(open, "anna") {
		t.Errorf("the commands leave a session open: %s", open)
	}
}

// TestServeIsKilledInATurn kills the process while a turn waits for an answer. The next process has the rules that
// were shown, and the conversation.
func TestServeIsKilledInATurn(t *testing.T) {
	b := newBench(t, "OPENAI_API_KEY=sk-test-aaaaaaaaaaaaaaaa\n")
	s := b.serve()
	id := s.open(`{}`)
	s.call("POST", "/v1/sessions/"+id+"/messages", `{"text":"hide every mini model and save"}`, "confirm_request")
	if err := s.process.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = s.process.Wait() // always reports that the process was killed
	if strings.Contains(b.envFile(), "mini") {
		t.Errorf("the rules were saved without an answer: %s", b.envFile())
	}
	s = b.serve()
	if again := s.open(`{"session":"` + id + `"}`); again != id {
		t.Errorf("continued as %s", again)
	}
	pairs := s.call("GET", "/v1/sessions/"+id+"/pairs", "", "")
	if !strings.Contains(pairs, `"state":"error","error_code":"interrupted"`) || !strings.Contains(pairs, "hide every mini model and save") {
		t.Errorf("the pairs: %s", pairs)
	}
	if window := s.call("GET", "/v1/window", "", ""); !strings.Contains(window, `"unsaved":true`) || !strings.Contains(window, "*mini*") {
		t.Errorf("the window: %s", window)
	}
	var plan struct{ Digest string }
	if err := json.Unmarshal([]byte(s.call("GET", "/v1/window/plan?session="+id, "", "")), &plan); err != nil {
		t.Fatal(err)
	}
	if lost := s.call("POST", "/v1/window/discard", `{"session":"`+id+`","digest":"`+plan.Digest+`"}`, ""); !strings.Contains(lost, "*mini*") {
		t.Errorf("discarded: %s", lost)
	}
}

func TestServeRefusesWhatIsNotSafe(t *testing.T) {
	b := newBench(t, "OPENAI_API_KEY=sk-test-aaaaaaaaaaaaaaaa\n")
	write := func(name, text string, mode os.FileMode) {
		if err := os.WriteFile(filepath.Join(b.dir, name), []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	write("open", "a-token-that-others-read", 0o644)
	write("short", "abc", 0o600)
	for args, want := range map[string]string{
		"":                                        "specify where to listen",
		"--http 7777":                             "the address must be HOST:PORT",
		"--http 0.0.0.0:0":                        "requires TLS",
		"--http :0":                               "requires TLS",
		"--http 127.0.0.1:0 --cert x":             "must be used together",
		"--http 127.0.0.1:0 --public-url x":       "such as https://winnow.example",
		"--http :0 --trusted-proxy ten":           "not an address or a network",
		"--http 127.0.0.1:0 --cors *":             "such as https://tools.example",
		"--ssh :0 --authorized-keys k --cors x":   "require --http",
		"--http 127.0.0.1:0 --max-screen 80":      "COLUMNSxROWS",
		"--http 127.0.0.1:0 --max-logins 0":       "greater than 0",
		"--http 127.0.0.1:0 --metrics 9090":       "the address must be HOST:PORT",
		"--http 127.0.0.1:0 --token-file open":    "other users can read",
		"--http 127.0.0.1:0 --token-file short":   "shorter than 16",
		"--http 127.0.0.1:0 --token-file nowhere": "no such file",
	} {
		cmd := exec.CommandContext(t.Context(), "winnow", append([]string{"serve"}, strings.Fields(args)...)...)
		cmd.Dir, cmd.Env = b.dir, b.env
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), want) {
			t.Errorf("serve %s: %v, %s; want %s", args, err, out, want)
		}
	}
}
