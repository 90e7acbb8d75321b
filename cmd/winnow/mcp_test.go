package main

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/pelletier/go-toml/v2"

	"winnow/assistant"
	"winnow/checkpoint"
)

// agent is a client of winnow mcp, which runs as a separate process.
type agent struct {
	*bench
	client *sdk.ClientSession
}

// newBench creates a folder with this .env file.
func newBench(t *testing.T, env string) *bench {
	t.Helper()
	b := &bench{t: t, dir: t.TempDir(), env: append(os.Environ(), "WINNOW_HOME="+t.TempDir(), "WINNOW_LOCAL_SERVERS=false", "PROXY_BASE_URL="+refused)}
	if err := os.WriteFile(filepath.Join(b.dir, ".env"), []byte(env), 0o600); err != nil {
		t.Fatal(err)
	}
	return b
}

// connect starts winnow mcp with args and connects to it through pipes. It must end without an error.
func (b *bench) connect(args ...string) agent {
	b.t.Helper()
	a := b.connectTo(args...)
	b.t.Cleanup(func() {
		if err := a.client.Close(); err != nil {
			b.t.Errorf("winnow mcp: %v", err)
		}
	})
	return a
}

// connectTo is connect without a look at how the process ends.
func (b *bench) connectTo(args ...string) agent {
	b.t.Helper()
	cmd := exec.CommandContext(context.WithoutCancel(b.t.Context()), "winnow", append([]string{"mcp"}, args...)...)
	cmd.Dir, cmd.Env = b.dir, b.env
	c, err := sdk.NewClient(&sdk.Implementation{Name: "Pipe Agent", Version: "1"}, nil).Connect(b.t.Context(), &sdk.CommandTransport{Command: cmd}, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { _ = c.Close() })
	return agent{b, c}
}

func (a agent) call(tool string, args any) assistant.ToolResult {
	a.t.Helper()
	res, err := a.client.CallTool(a.t.Context(), &sdk.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		a.t.Fatal(err)
	}
	var out assistant.ToolResult
	if err := json.Unmarshal([]byte(res.Content[0].(*sdk.TextContent).Text), &out); err != nil {
		a.t.Fatal(err)
	}
	return out
}

// envFile returns the content of the .env file.
func (b *bench) envFile() string {
	b.t.Helper()
	raw, err := os.ReadFile(filepath.Join(b.dir, ".env"))
	if err != nil {
		b.t.Fatal(err)
	}
	return string(raw)
}

func TestMCPOverPipes(t *testing.T) {
	const env = "OPENAI_API_KEY=sk-test-aaaaaaaaaaaaaaaa\nANTHROPIC_API_KEY=sk-test-bbbbbbbbbbbbbbbb\nIGNORE_MODELS_OPENAI=*-preview*\n"
	b := newBench(t, env)
	a := b.connect()
	list, err := a.client.ListTools(t.Context(), nil)
	if err != nil || len(list.Tools) != 23 {
		t.Fatalf("%d tools, %v", len(list.Tools), err)
	}
	for _, tool := range list.Tools {
		a := tool.Annotations
		if a.Title == "" || strings.Contains(a.Title, "_") || *a.OpenWorldHint != (tool.Name == "refresh_models") || a.IdempotentHint == (tool.Name == "undo") {
			t.Errorf("%s: annotations %+v", tool.Name, a)
		}
	}
	rule := map[string]any{"pattern": "*mini*"}
	for _, c := range []struct {
		tool string
		args any
		ok   bool
	}{
		{"get_models_matching_pattern", rule, true},
		{"get_model_details", nil, true},
		{"explain_model_status", map[string]any{"model": "gpt-5-mini"}, true},
		{"refresh_models", nil, false}, // there is no network
		{"add_ignore_rule", rule, true},
		{"add_ignore_rule", rule, false}, // the rule already exists
		{"add_ignore_rule", map[string]any{"patern": "*"}, false},
		{"add_whitelist_rule", map[string]any{"pattern": "gpt-5-mini"}, true},
		{"save_changes", nil, false}, // no user can be asked
		{"remove_whitelist_rule", map[string]any{"pattern": "gpt-5-mini"}, true},
		{"remove_ignore_rule", map[string]any{"pattern": "*-preview*"}, true},
		{"clear_all_ignore_rules", nil, true},
		{"clear_all_whitelist_rules", nil, true},
		{"switch_provider", map[string]any{"provider": "anthropic"}, true},
		{"import_rules", map[string]any{"mode": "merge", "ignore": []string{"*haiku*"}}, true},
		{"undo", nil, true},
		{"import_rules", map[string]any{"mode": "merge", "ignore": []string{"*opus*"}, "whitelist": nil}, true},
		{"list_rules", nil, true},
		{"plan_rules", map[string]any{"action": "hide", "models": []string{"nano", "price>10"}, "provider": "openai"}, true},
		{"plan_save", nil, true},
		{"propose_rules", map[string]any{"add_ignore": []string{"*sonnet*"}, "reasoning": "r"}, true},
		{"discard_changes", nil, false},
	} {
		if got := a.call(c.tool, c.args); got.Success != c.ok && c.tool != "refresh_models" {
			t.Errorf("%s(%v) = %+v", c.tool, c.args, got)
		}
	}
	if got := b.envFile(); got != env {
		t.Errorf("the file is now %s", got)
	}
	rules := string(b.run(0, "rules", "list"))
	if !strings.Contains(rules, "*opus*") || strings.Contains(rules, "*haiku*") || !strings.Contains(rules, "removal staged") {
		t.Errorf("rules list prints\n%s", rules)
	}
	type made struct {
		Checkpoints []struct{ ID, Session, Description string }
	}
	all := told[made](b, 0, "checkpoints", "list", "--session", "mcp-pipe-agent").Checkpoints
	i := slices.IndexFunc(all, func(c struct{ ID, Session, Description string }) bool {
		return strings.HasPrefix(c.Description, "hid ")
	})
	if i < 0 {
		t.Fatalf("checkpoints %+v", all)
	}
	b.run(0, "checkpoints", "rollback", all[i].ID) // while the agent is connected
	b.run(0, "rules", "diff")
	if got := a.call("get_model_details", nil); !strings.Contains(got.Message, "anthropic") {
		t.Errorf("the provider is no longer anthropic: %+v", got)
	}
}

func TestMCPSavesWhereItIsAllowed(t *testing.T) {
	b := newBench(t, "OPENAI_API_KEY=sk-test-aaaaaaaaaaaaaaaa\n")
	a := b.connect("--allow-save")
	a.call("add_ignore_rule", map[string]any{"pattern": "*mini*"})
	if got := a.call("save_changes", nil); !got.Success {
		t.Errorf("save_changes = %+v", got)
	}
	if got := b.envFile(); !strings.Contains(got, "IGNORE_MODELS_OPENAI='*mini*'") {
		t.Errorf("the file is %s", got)
	}
	b.run(0, "rules", "diff")
}

// TestReadmeConnectsTheUsualAgents runs the command that the README gives for each agent, with the test's file.
func TestReadmeConnectsTheUsualAgents(t *testing.T) {
	raw, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(raw), "<!-- mcp -->")
	section, _, _ = strings.Cut(section, "<!-- /mcp -->")
	type server struct {
		Command any
		Args    []string
	}
	var commands [][]string
	add := func(s server) {
		words, listed := s.Command.([]any)
		if !listed {
			words = []any{s.Command}
		}
		var command []string
		for _, w := range words {
			command = append(command, w.(string))
		}
		commands = append(commands, append(command, s.Args...))
	}
	_, line, _ := strings.Cut(section, "claude mcp add winnow -- ")
	line, _, _ = strings.Cut(line, "\n")
	commands = append(commands, strings.Fields(line))
	for _, block := range regexp.MustCompile("(?s)```(json|toml)\n(.*?)```").FindAllStringSubmatch(section, -1) {
		var c struct {
			MCPServers map[string]server `json:"mcpServers" toml:"mcp_servers"`
			MCP        map[string]server `json:"mcp"`
		}
		decode := json.Unmarshal
		if block[1] == "toml" {
			decode = toml.Unmarshal
		}
		if err := decode([]byte(block[2]), &c); err != nil {
			t.Fatalf("%s: %v", block[2], err)
		}
		for _, s := range []map[string]server{c.MCPServers, c.MCP} {
			if s, ok := s["winnow"]; ok {
				add(s)
			}
		}
		if lines := strings.Count(block[2], "\n"); lines > 3 {
			t.Errorf("%d lines are too many: %s", lines, block[2])
		}
	}
	if len(commands) != 4 {
		t.Fatalf("%d agents, want 4: %q", len(commands), commands)
	}
	b := newBench(t, "OPENAI_API_KEY=sk-test-aaaaaaaaaaaaaaaa\n")
	for i, c := range commands {
		if !slices.Equal(c, commands[0]) {
			t.Errorf("agent %d runs %q, the first %q", i, c, commands[0])
		}
	}
	args := slices.Clone(commands[0][2:])
	args[len(args)-1] = filepath.Join(b.dir, ".env")
	if commands[0][0] != "winnow" || commands[0][1] != "mcp" {
		t.Fatalf("the command is %q", commands[0])
	}
	if got := b.connect(args...).call("get_model_details", nil); !got.Success {
		t.Errorf("get_model_details = %+v", got)
	}
}

// catchSignals lets a test send signals to a child. A child inherits ignored signals, which a test in the background
// of a shell may have, but not caught ones.
func catchSignals(t *testing.T) {
	t.Helper()
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, os.Interrupt, syscall.SIGHUP)
	t.Cleanup(func() { signal.Stop(caught) })
}

func TestLogFollows(t *testing.T) {
	t.Parallel()
	b := newBench(t, "OPENAI_API_KEY=sk-test-aaaaaaaaaaaaaaaa\n")
	catchSignals(t)
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), "winnow", "log", "-f", "--json")
	cmd.Dir, cmd.Env = b.dir, b.env
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for _, pattern := range []string{"*mini*", "*nano*"} {
		b.run(0, "rules", "add", pattern)
		var c checkpoint.Change
		if !lines.Scan() || json.Unmarshal(lines.Bytes(), &c) != nil {
			t.Fatalf("no line for %s: %q", pattern, lines.Text())
		}
		if c.User == "" || c.Kind != checkpoint.EditChange || len(c.Changed) != 1 || string(c.Changed[0].After) != `"`+pattern+`"` {
			t.Errorf("%s is logged as %+v", pattern, c)
		}
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("log -f ends with %v", err)
	}
}
