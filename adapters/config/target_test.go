package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTargetsAreRead(t *testing.T) {
	s, err := Load(Options{Path: write(t, `
[[target]]
name = "staging"
env_file = "/srv/staging/.env"
[[target]]
name = "production"
url = "https://proxy.example"
token = "env:PRODUCTION_TOKEN"
`)})
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Targets) != 2 || s.Targets[0].EnvFile != "/srv/staging/.env" || s.Targets[0].Line != 2 || s.Targets[1].Line != 5 {
		t.Errorf("Targets = %+v", s.Targets)
	}
	if names := strings.Join(s.KeyVariables(), " "); names != "PRODUCTION_TOKEN" {
		t.Errorf("KeyVariables = %s", names)
	}
	if token, err := s.Targets[1].ReadToken(t.Context(), []string{"PRODUCTION_TOKEN=abc"}, nil); token != "abc" || err != nil {
		t.Errorf("the token is %q, %v", token, err)
	}
}

func TestErrorsInTargets(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"no name":       {"[[target]]\nurl = 'https://x'", ":1: target: name is missing"},
		"here":          {"[[target]]\nname = 'here'\nenv_file = '/x'", "is reserved for the folder's own .env"},
		"neither":       {"[[target]]\nname = 'a'", ":1: target a: it needs either env_file or url"},
		"both":          {"[[target]]\nname = 'a'\nurl = 'x'\nenv_file = '/y'", "it needs either env_file or url"},
		"relative":      {"[[target]]\nname = 'a'\nenv_file = 'y'", "env_file must be an absolute path"},
		"no token":      {"[[target]]\nname = 'a'\nurl = 'x'", "a url needs either token or token_file"},
		"inline token":  {"[[target]]\nname = 'a'\nurl = 'x'\ntoken = 'wnw_secret'", "token must be env:NAME"},
		"two tokens":    {"[[target]]\nname = 'a'\nurl = 'x'\ntoken = 'env:A'\ntoken_file = '/x'", "a url needs either token or token_file"},
		"file token":    {"[[target]]\nname = 'a'\nenv_file = '/x'\ntoken = 'env:A'", "token and token_file go with url, not env_file"},
		"relative file": {"[[target]]\nname = 'a'\nurl = 'x'\ntoken_file = 'x'", "token_file must be an absolute path"},
		"unknown key":   {"[[target]]\nname = 'a'\nenvfile = '/x'", `"envfile" is not a key of a target; did you mean "env_file"?`},
		"twice":         {"[[target]]\nname='a'\nenv_file='/x'\n[[target]]\nname='a'\nenv_file='/y'", ":4: target a: the entry on line 1 has the same name"},
	} {
		_, err := Load(Options{Path: write(t, c.text)})
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "wnw_secret") {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}

func TestATokenFileIsPrivate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	for _, c := range []struct {
		text string
		mode os.FileMode
		want string
	}{{"abc\n", 0o600, ""}, {"abc\n", 0o644, "other users have access to token_file"}, {"a b", 0o600, "does not contain a token"}, {"", 0o600, "does not contain a token"}} {
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, c.mode); err != nil {
			t.Fatal(err)
		}
		token, err := Target{TokenFile: path}.ReadToken(t.Context(), nil, nil)
		switch {
		case c.want == "" && (token != "abc" || err != nil):
			t.Errorf("the token is %q, %v", token, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%q with mode %o: %v, want %s", c.text, c.mode, err, c.want)
		}
	}
}
