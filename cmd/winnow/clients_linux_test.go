package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"winnow/assistant/assistanttest"
)

// installTime is how long npm may take, so that a registry that does not answer holds up nothing.
const installTime = 40 * time.Second

// npmPackages installs packages into a folder of the test, or skips the test with the reason.
func npmPackages(t *testing.T, packages ...string) (dir string) {
	t.Helper()
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("left out: %s is not installed", program)
		}
	}
	dir = t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), installTime)
	defer cancel()
	install := exec.CommandContext(ctx, "npm", append([]string{"install", "--no-audit", "--no-fund", "--no-save", "--ignore-scripts", "--fetch-retries=0", "--prefix", dir}, packages...)...)
	install.Dir, install.WaitDelay = dir, time.Second
	if out, err := install.CombinedOutput(); err != nil {
		t.Skipf("left out: npm cannot install %s: %v %.200s", strings.Join(packages, " "), err, out)
	}
	return dir
}

// TestClientsOnNode connects third-party clients through pipes, over SSH and over HTTP, all to one window. It installs
// them from the network, so it runs only with WINNOW_SOAK.
func TestClientsOnNode(t *testing.T) {
	if assistanttest.Rounds(0, 1) == 0 {
		t.Skip("left out: it installs packages; run it with WINNOW_SOAK=1")
	}
	t.Parallel() // it waits for the registry
	s := serveSSH(t, "anna")
	// The newest version of the inspector's command line that runs on Node.js 20.
	dir := npmPackages(t, "@modelcontextprotocol/sdk", "@modelcontextprotocol/inspector-cli@0.21.0")
	t.Run("TypeScript SDK", func(t *testing.T) { s.typeScriptSDK(t, dir) })
	t.Run("MCP inspector", func(t *testing.T) { s.inspector(t, filepath.Join(dir, "node_modules")) })
}

// toWindow returns what a client needs to connect in each way.
func (s *team) toWindow(http ...string) map[string][]string {
	return map[string][]string{
		"pipe": {"winnow", "mcp"},
		"ssh":  append([]string{"ssh"}, s.sshArgs("anna", "winnow", "mcp")...),
		"http": append([]string{s.running.url + "/mcp"}, http...),
	}
}

// typeScriptSDK lists what is there and adds a rule, in all ways at the same time.
func (s *team) typeScriptSDK(t *testing.T, dir string) {
	t.Helper()
	script, err := os.ReadFile("testdata/clients/client.mjs")
	s.must(err)
	s.must(os.WriteFile(filepath.Join(dir, "client.mjs"), script, 0o600))
	kinds := s.toWindow(s.running.token)
	var clients sync.WaitGroup
	for kind, args := range kinds {
		clients.Go(func() {
			cmd := exec.CommandContext(t.Context(), "node", append([]string{filepath.Join(dir, "client.mjs"), kind}, args...)...)
			cmd.Dir, cmd.Env = s.dir, s.env
			var said bytes.Buffer
			cmd.Stderr = &said
			out, err := cmd.Output()
			var got struct {
				Tools   []string
				Prompts int
				Rules   string
				Added   struct{ Success bool }
				Refused bool
			}
			if err != nil || json.Unmarshal(out, &got) != nil {
				t.Errorf("%s: %v, %s%s", kind, err, out, said.String())
				return
			}
			if !slices.Contains(got.Tools, "add_ignore_rule") || got.Prompts == 0 || got.Rules != "application/json" || !got.Added.Success || !got.Refused {
				t.Errorf("%s: %s", kind, out)
			}
		})
	}
	clients.Wait()
	window := s.running.call("GET", "/v1/window", "", "")
	for kind := range kinds {
		if rule := fmt.Sprintf("ts-%s-*", kind); !strings.Contains(window, rule) {
			t.Errorf("the window lacks the rule %s", rule)
		}
	}
}

// inspector lists tools and prompts in one way and adds a rule in each.
func (s *team) inspector(t *testing.T, modules string) {
	t.Helper()
	// It names its version from a file of the package around it, which brings a browser's interface, too.
	s.must(os.WriteFile(filepath.Join(modules, "@modelcontextprotocol", "package.json"), []byte(`{"name":"inspector","version":"0.21.0"}`), 0o600))
	for kind, server := range s.toWindow("--transport", "http", "--header", "Authorization: Bearer "+s.running.token) {
		t.Run(kind, func(t *testing.T) {
			inspect := func(args ...string) string {
				t.Helper()
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				all := slices.Concat([]string{filepath.Join(modules, ".bin", "mcp-inspector-cli"), "--cli"}, server, args)
				cmd := exec.CommandContext(ctx, "node", all...)
				cmd.Dir, cmd.Env = s.dir, s.env
				var said bytes.Buffer
				cmd.Stderr = &said
				out, err := cmd.Output()
				if err != nil {
					t.Fatalf("%v: %v, %s%s", args, err, out, said.String())
				}
				return string(out)
			}
			if kind == "pipe" {
				if out := inspect("--method", "tools/list"); !strings.Contains(out, `"add_ignore_rule"`) {
					t.Errorf("the tools are %s", out)
				}
				if out := inspect("--method", "prompts/list"); !strings.Contains(out, `"review_rules"`) {
					t.Errorf("the prompts are %s", out)
				}
			}
			rule := "inspector-" + kind + "-*"
			if out := inspect("--method", "tools/call", "--tool-name", "add_ignore_rule", "--tool-arg", "provider=openai", "pattern="+rule); !strings.Contains(out, `"success": true`) {
				t.Errorf("adding a rule: %s", out)
			}
			if window := s.running.call("GET", "/v1/window", "", ""); !strings.Contains(window, rule) {
				t.Errorf("the window lacks the rule %s", rule)
			}
		})
	}
}
