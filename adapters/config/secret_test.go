package config

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"winnow/assistant/safetext"
)

func TestSecrets(t *testing.T) {
	environ := []string{"MINE=123", "MY_KEY=sk-123", "OTHER_API_KEY=sk-other", "PATH=" + os.Getenv("PATH")}
	for name, c := range map[string]struct {
		secret Secret
		want   string
		fault  string
	}{
		"plain":            {"sk-plain", "sk-plain", ""},
		"empty":            {"", "", ""},
		"variable":         {"env:MY_KEY", "sk-123", ""},
		"no variable":      {"env:NO_KEY", "", "NO_KEY is not set"},
		"command":          {`cmd:printf "sk %s\nsecond line" 'a b'`, "sk a b", ""},
		"no shell":         {"cmd:echo $HOME;ls", "$HOME;ls", ""},
		"no keys to child": {"cmd:env", "MINE=123", ""},
		"fails":            {"cmd:false", "", `"false" exited with status 1`},
		"not there":        {"cmd:no-such-command-here", "", `"no-such-command-here" could not be run`},
		"prints nothing":   {"cmd:true", "", `"true" printed nothing`},
		"names nothing":    {"cmd: ", "", "the command is missing"},
		"open quote":       {"cmd:echo 'a", "", "not closed"},
	} {
		got, err := c.secret.Resolve(t.Context(), environ, nil)
		if got != c.want || (err == nil) != (c.fault == "") || (err != nil && !strings.Contains(err.Error(), c.fault)) {
			t.Errorf("%s: Resolve = %q, %v; want %q, %q", name, got, err, c.want, c.fault)
		}
	}
	out, err := Secret("cmd:env").Resolve(t.Context(), environ[1:], nil)
	if err != nil || strings.Contains(out, "sk-other") {
		t.Errorf("a child got %q, %v; want no key", out, err)
	}
}

func TestASecretCommandEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Secret("cmd:sleep 600").Resolve(ctx, os.Environ(), nil); err == nil {
		t.Error("Resolve with an ended context = nil, want an error")
	}
}

func TestSecretsAreNotPrinted(t *testing.T) {
	p := Provider{APIKey: "sk-hidden-away", Headers: map[string]Secret{"A": "sk-hidden-too"}}
	body, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	for _, printed := range []string{fmt.Sprint(p), fmt.Sprintf("%+v %#v %q", p, p, p.APIKey), string(body), Secret("cmd:x --token sk-hidden").String()} {
		if strings.Contains(printed, "sk-hidden") {
			t.Errorf("printed %s, want no key", printed)
		}
	}
}

func TestDesktopKeyring(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("other systems have keyrings of their own")
	}
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	if _, err := Secret("keyring:mine").Resolve(t.Context(), nil, nil); err == nil || !strings.Contains(err.Error(), "secret-tool") {
		t.Errorf("Resolve without the tool = %v, want what to install", err)
	}
	script := "#!/bin/sh\n[ \"$*\" = 'lookup service winnow username mine' ] && echo sk-from-keyring\n"
	if err := os.WriteFile(filepath.Join(dir, "secret-tool"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	if got, err := Secret("keyring:mine").Resolve(t.Context(), nil, nil); got != "sk-from-keyring" || err != nil {
		t.Errorf("Resolve = %q, %v", got, err)
	}
	if _, err := Secret("keyring:other").Resolve(t.Context(), nil, nil); err == nil || !strings.Contains(err.Error(), `no key "other"`) {
		t.Errorf("Resolve of a name that is not there = %v", err)
	}
}

// A child process, such as the user's editor, gets no keys, whatever their names are; what
// it needs of a desktop it gets.
func TestAChildInheritsNoKeys(t *testing.T) {
	socket := write(t, "")
	stays := []string{"HOME=/h", "TERM=xterm", "PWD=" + filepath.Dir(socket), "SSH_AUTH_SOCK=" + socket, "DBUS_SESSION_BUS_ADDRESS=unix:path=/run/user/1000/bus", "XDG_SESSION_TYPE=wayland", "PASSWORD_STORE_DIR=" + filepath.Dir(socket), "NOTE=short"}
	keys := []string{
		"OPENAI_API_KEY=sk", "GEMINI_API_KEY_2=x", "GITHUB_TOKEN=y", "AWS_SESSION_TOKEN=z", "DB_PASSWORD=/not/a/file", "CREDENTIAL=x",
		"WORK=sk-known-0123456789", "ADDRESS=https://u:sk-known-0123456789@host", "ENCODED=c2sta25vd24tMDEyMzQ1Njc4OQ==", "LINES=a\nsk-known-0123456789",
	}
	if got := WithoutKeys(append(slices.Clone(keys), stays...), safetext.NewRedactor([]string{"sk-known-0123456789", "short"})); !slices.Equal(got, append([]string{}, stays...)) {
		t.Errorf("a child gets %q, want %q", got, stays)
	}
}

func TestAPasswordIsNeverShown(t *testing.T) {
	for written, want := range map[string]string{"env:PG_TEAM": "env:PG_TEAM", "cmd:pass show team": "cmd:…", "s3cret": "[key]", "": ""} {
		s, err := Load(Options{Path: write(t, `history_password = "`+written+`"`)})
		if err != nil {
			t.Fatal(err)
		}
		k, _ := find("history_password", nil)
		if got := k.Show(s); got != want || string(s.HistoryPassword) != written {
			t.Errorf("%s is shown as %q, want %q", written, got, want)
		}
	}
}
