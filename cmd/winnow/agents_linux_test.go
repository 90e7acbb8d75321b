package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"winnow/assistant"
)

// agent connects an agent over SSH as a user.
func (s *team) agent(user string, args ...string) agent {
	s.t.Helper()
	cmd := exec.CommandContext(context.WithoutCancel(s.t.Context()), "ssh", s.sshArgs(user, append([]string{"winnow", "mcp"}, args...)...)...)
	cmd.Dir, cmd.Stderr = s.dir, os.Stderr
	c, err := sdk.NewClient(&sdk.Implementation{Name: "SSH Agent", Version: "1"}, nil).Connect(s.t.Context(), &sdk.CommandTransport{Command: cmd}, nil)
	s.must(err)
	s.t.Cleanup(func() { _ = c.Close() }) // the server may have ended the connection
	return agent{s.bench, c}
}

// httpAgent connects an agent to the address /mcp of a server.
func (s served) httpAgent(token string) agent {
	s.t.Helper()
	c, err := sdk.NewClient(&sdk.Implementation{Name: "HTTP Agent", Version: "1"}, nil).Connect(s.t.Context(),
		&sdk.StreamableClientTransport{Endpoint: s.url + "/mcp", HTTPClient: &http.Client{Transport: withToken(token)}}, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = c.Close() })
	return agent{s.bench, c}
}

type withToken string

func (token withToken) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(token))
	return http.DefaultTransport.RoundTrip(r)
}

// TestAgentsJoinTheHub lets agents on this machine, by token and by key edit the window that winnow serve has open,
// beside a person.
func TestAgentsJoinTheHub(t *testing.T) {
	t.Parallel()
	const each = 3
	s := serveSSH(t, "anna")
	here, there := s.connectTo(), s.agent("anna") // the first ends with the server
	byToken := s.running.httpAgent(s.running.token)
	id := s.running.open(`{}`)
	var calls sync.WaitGroup
	for name, a := range map[string]agent{"here": here, "there": there, "token": byToken} {
		calls.Go(func() {
			for i := range each {
				if got := a.call("add_ignore_rule", map[string]any{"pattern": fmt.Sprintf("%s-%d*", name, i)}); !got.Success {
					t.Errorf("%s %d: %+v", name, i, got)
				}
			}
		})
	}
	calls.Wait()
	window := s.running.call("GET", "/v1/window", "", "")
	for _, name := range []string{"here", "there", "token"} {
		for i := range each {
			if !strings.Contains(window, fmt.Sprintf("%s-%d*", name, i)) {
				t.Errorf("the window lacks the rule %d of %s", i, name)
			}
		}
	}
	s.must(os.WriteFile(s.file(".env"), []byte("OPENAI_API_KEY=sk-test-aaaaaaaaaaaaaaaa\nANTHROPIC_API_KEY=sk-test-bbbbbbbbbbbbbbbb\n"), 0o600))
	for !strings.Contains(s.running.call("GET", "/v1/window", "", ""), `"provider":"anthropic"`) { // until the server has read it
	}
	switched := func(a agent) bool {
		raw, err := json.Marshal(a.call("list_providers", nil).Data)
		s.must(err)
		return strings.Contains(string(raw), `"current_provider":"anthropic"`)
	}
	if got := there.call("switch_provider", map[string]any{"provider": "anthropic"}); !got.Success || !switched(there) {
		t.Errorf("switch_provider: %+v", got)
	}
	if got := s.running.call("POST", "/v1/window/edit", `{"session":"`+id+`","tool":"switch_provider","arguments":{"provider":"anthropic"}}`, ""); !strings.Contains(got, "is now anthropic") {
		t.Errorf("switch_provider: %s", got)
	}
	if own := s.running.call("GET", "/v1/window?session="+id, "", ""); !strings.Contains(own, `"current_provider":"anthropic"`) {
		t.Errorf("the window of the session: %.300s", own)
	}
	if window = s.running.call("GET", "/v1/window", "", ""); strings.Contains(window, `"current_provider":"anthropic"`) || switched(here) || switched(byToken) {
		t.Errorf("an agent and a program have moved what others see: %.300s", window)
	}
	var plan assistant.SavePlan
	s.must(json.Unmarshal([]byte(s.running.call("GET", "/v1/window/plan?session="+id, "", "")), &plan))
	by := map[string]int{}
	for _, c := range plan.Changes {
		by[c.By.User]++
	}
	if by["pipe-agent (mcp)"] != each || by["anna"] != each || len(plan.Changes) != 3*each {
		t.Errorf("the plan has %d changes by %v", len(plan.Changes), by)
	}
	if got := here.call("save_changes", nil); got.ErrorCode != assistant.CodeDeclined {
		t.Errorf("an agent on this machine saves without a question: %+v", got)
	}
	if got := there.call("save_changes", nil); !got.Success {
		t.Errorf("an agent whose key may save: %+v", got)
	}
	if got := s.envFile(); !strings.Contains(got, "here-0*") || !strings.Contains(got, "token-2*") {
		t.Errorf("the file is %s", got)
	}
	log := s.log()
	for _, want := range []string{`"mcp: request","user":"anna","kind":"tools/call","tool":"add_ignore_rule","outcome":"ok"`, `"user":"a local agent"`, `"ssh: command","remote":`, `"kind":"mcp"`, `"kind":"GET /v1/window"`} {
		if !strings.Contains(log, want) {
			t.Errorf("the log has no %s", want)
		}
	}
	if metrics := s.running.call("GET", "/metrics", "", ""); !strings.Contains(metrics, `winnow_requests_total{kind="tools/call",outcome="ok",server="mcp"}`) || !strings.Contains(metrics, `{kind="mcp",outcome="run",server="ssh"} 1`) {
		t.Errorf("the calls are not counted: %s", metrics)
	}
	_ = there.client.Close() // a server gives a command that runs over SSH ten seconds to end
	s.running.end()
	if _, err := here.client.CallTool(t.Context(), &sdk.CallToolParams{Name: "list_rules"}); err == nil {
		t.Error("the agent goes on after the server has ended")
	}
	if got := s.connect().call("list_rules", nil); !got.Success {
		t.Errorf("without a server: %+v", got)
	}
}

// TestRolesOfAgentsOverSSH is the table role × act for ssh HOST winnow mcp; package api has the one for tokens.
func TestRolesOfAgentsOverSSH(t *testing.T) {
	t.Parallel()
	const yes, no, gone = "", assistant.CodeForbidden, "not offered"
	roles := []string{"read", "propose", "write", "save", "admin"}
	s := serveSSH(t, roles...)
	raw, err := os.ReadFile(s.file("team.keys"))
	s.must(err)
	var keys strings.Builder
	for line := range strings.Lines(string(raw)) {
		role := strings.TrimSpace(line[strings.LastIndex(line, " "):])
		fmt.Fprintf(&keys, "restrict,winnow-role=%q %s", role, line)
	}
	s.must(os.WriteFile(s.file("team.keys"), []byte(keys.String()), 0o600))
	for i, role := range roles {
		t.Run(role, func(t *testing.T) {
			own, s := *s.bench, *s
			own.t = t
			s.bench, s.running.bench = &own, &own
			a := s.agent(role)
			tools, err := a.client.ListTools(t.Context(), nil)
			s.must(err)
			act := func(tool string, args any, want ...string) {
				t.Helper()
				offered := slices.ContainsFunc(tools.Tools, func(o *sdk.Tool) bool { return o.Name == tool })
				if offered != (want[i] != gone) {
					t.Errorf("%s is offered: %v", tool, offered)
				} else if offered {
					if got := a.call(tool, args); got.ErrorCode != want[i] || got.Success != (want[i] == yes) {
						t.Errorf("%s = %+v, want %q", tool, got, want[i])
					}
				}
			}
			act("list_rules", nil, yes, yes, yes, yes, yes)
			act("plan_save", nil, yes, yes, yes, yes, yes)
			act("add_ignore_rule", map[string]any{"pattern": "by-" + role + "*"}, gone, yes, yes, yes, yes)
			if staged := strings.Contains(s.running.call("GET", "/v1/window", "", ""), "by-"+role+"*"); staged != (i >= 2) {
				t.Errorf("staged: %v", staged)
			}
			act("save_changes", nil, gone, no, no, yes, yes)
			if saved := strings.Contains(s.envFile(), "by-"+role+"*"); saved != (i >= 3) {
				t.Errorf("saved: %v", saved)
			}
		})
	}
}

// TestAgentsChooseTheirTools starts winnow mcp with --tools and --read-only, beside a server and without one.
func TestAgentsChooseTheirTools(t *testing.T) {
	b := newBench(t, "OPENAI_API_KEY=sk-test-aaaaaaaaaaaaaaaa\n")
	check := func(t *testing.T) {
		t.Helper()
		tools := func(args ...string) (names []string) {
			list, err := b.connect(args...).client.ListTools(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, tool := range list.Tools {
				names = append(names, tool.Name)
			}
			slices.Sort(names)
			return names
		}
		if got := tools("--tools", "list_rules,undo"); !slices.Equal(got, []string{"list_rules", "undo"}) {
			t.Errorf("--tools offers %q", got)
		}
		if got := tools("--read-only"); slices.Contains(got, "add_ignore_rule") || slices.Contains(got, "roll_back") || !slices.Contains(got, "list_providers") {
			t.Errorf("--read-only offers %q", got)
		}
		if out := string(b.run(2, "mcp", "--tools", "nonsense")); out != "" {
			t.Errorf("a tool that does not exist: %s", out)
		}
	}
	check(t)
	b.serve()
	check(t)
}
