package config

import (
	"strings"
	"testing"
	"time"
)

func TestMCPServersAreRead(t *testing.T) {
	s, err := Load(Options{Path: write(t, `
after_save = ["docker", "compose", "restart", "it's here"]
[[mcp]]
name = "files"
command = ["files-server", "--root", "/srv"]
env = { TOKEN = "env:FILES_TOKEN" }
allowed_tools = ["read"]
timeout = "90s"
[[mcp]]
name = "docs"
url = "https://docs.example/mcp"
headers = { Authorization = "keyring:docs" }
`)})
	if err != nil {
		t.Fatal(err)
	}
	if len(s.AfterSave) != 4 || s.AfterSave[3] != "it's here" {
		t.Errorf("after_save = %q", s.AfterSave)
	}
	if words, err := SplitWords(s.AfterSave.String()); err != nil || strings.Join(words, "|") != strings.Join(s.AfterSave, "|") {
		t.Errorf("%s reads as %q, %v", s.AfterSave, words, err)
	}
	if len(s.MCPServers) != 2 || s.MCPServers[0].CallTimeout() != 90*time.Second || s.MCPServers[0].Line != 3 || s.MCPServers[1].Line != 9 {
		t.Errorf("MCPServers = %+v", s.MCPServers)
	}
	if names := strings.Join(s.KeyVariables(), " "); names != "FILES_TOKEN" {
		t.Errorf("KeyVariables = %s", names)
	}
}

func TestAfterSaveIsReadFromTheEnvironment(t *testing.T) {
	s, err := Load(Options{Environ: []string{"WINNOW_AFTER_SAVE=docker restart 'my proxy'"}})
	if err != nil || strings.Join(s.AfterSave, "|") != "docker|restart|my proxy" {
		t.Errorf("after_save = %q, %v", s.AfterSave, err)
	}
}

func TestErrorsInMCPServers(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"no name":         {"[[mcp]]\nurl = 'https://x'", ":1: mcp: name is missing"},
		"a name":          {"[[mcp]]\nname = 'a__b'\nurl = 'https://x'", ":1: mcp: the name \"a__b\" must consist of 1 to 24 letters"},
		"hidden name":     {"[[mcp]]\nname = \"a\u200bb\"\nurl = 'https://x'", "‹U+200B›"},
		"neither":         {"[[mcp]]\nname = 'a'", ":1: mcp a: it needs either command (a list of words) or url"},
		"both":            {"[[mcp]]\nname = 'a'\nurl = 'x'\ncommand = ['y']", "it needs either command"},
		"a shell line":    {"[[mcp]]\nname = 'a'\ncommand = 'run it'", ":3: a value of type string is not accepted here"},
		"env for a url":   {"[[mcp]]\nname = 'a'\nurl = 'x'\nenv = { A = 'b' }", "env is for a command"},
		"headers":         {"[[mcp]]\nname = 'a'\ncommand = ['x']\nheaders = { A = 'b' }", "headers are for a url"},
		"timeout":         {"[[mcp]]\nname = 'a'\nurl = 'x'\ntimeout = 'soon'", `timeout: "soon" is not a duration`},
		"unknown key":     {"[[mcp]]\nname = 'a'\ncomand = ['x']", `:3: "comand" is not a key of an MCP server; did you mean "command"?`},
		"twice":           {"[[mcp]]\nname='a'\nurl='x'\n[[mcp]]\nname='a'\nurl='y'", ":4: mcp a: the entry on line 1 has the same name"},
		"single brackets": {"[mcp]\nname = 'a'", ":1: mcp: write [[mcp]] with double brackets"},
		"no words":        {"after_save = [1]", ":1: after_save: is not a list of words"},
		"no program":      {"after_save = ['', 'x']", ":1: after_save: the first word, the program, is empty"},
	} {
		_, err := Load(Options{Path: write(t, c.text)})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want …%s…", name, err, c.want)
		}
	}
}
