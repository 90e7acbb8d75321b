package doctor

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"winnow/assistant/safetext"
)

func check(t *testing.T, got Finding, state, detail, next string) {
	t.Helper()
	if got.State != state || !strings.Contains(got.Detail, detail) || !strings.Contains(got.Next, next) || next == "" && got.Next != "" {
		t.Errorf("%+v; want %s, %q, %q", got, state, detail, next)
	}
}

func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

func TestFolder(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes say nothing here")
	}
	dir := filepath.Join(t.TempDir(), "data")
	check(t, Folder(dir), OK, "does not exist yet", "")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	check(t, Folder(dir), OK, "readable by you alone", "")
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("the folder holds %v, %v afterwards", entries, err)
	}
	write(t, filepath.Join(dir, "open"), "", 0o644)
	check(t, Folder(dir), Warning, "open (0644)", "chmod go-rwx")
}

func TestEnvFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), ".env")
	check(t, EnvFile(path), OK, "does not exist; saving rules creates it", "")
	write(t, path, "A=1\nB=2\n", 0o600)
	check(t, EnvFile(path), OK, "2 keys, mode 0600", "")
	write(t, path, "A=1\n=2\n", 0o600)
	check(t, EnvFile(path), Warning, path, "line 2")
	check(t, EnvFile(filepath.Dir(path)), Failed, "", "--env-file")
}

func TestSecrets(t *testing.T) {
	const key = "sk-very-secret-0123456789"
	redactor := &safetext.Redactor{}
	redactor.Add(key)
	clean, leaky := t.TempDir(), t.TempDir()
	write(t, filepath.Join(clean, "log"), "nothing", 0o600)
	found := Secrets(t.Context(), redactor, clean, filepath.Join(clean, "missing"))
	if len(found) != 1 {
		t.Fatalf("%+v", found)
	}
	check(t, found[0], OK, "no known key in 1 file", "")
	write(t, filepath.Join(leaky, "plain"), "x"+key+"x", 0o600)
	write(t, filepath.Join(leaky, "encoded"), base64.StdEncoding.EncodeToString([]byte(key)), 0o600)
	found = Secrets(t.Context(), redactor, clean, leaky)
	if len(found) != 2 {
		t.Fatalf("%+v", found)
	}
	for i, name := range []string{"encoded", "plain"} {
		check(t, found[i], Failed, name+" holds a key", "replace the key")
		if strings.Contains(found[i].Detail, key) {
			t.Errorf("the finding shows the key: %s", found[i].Detail)
		}
	}
}

// A program that stands in for tmux prints the values, one a line.
func TestTmux(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no shell")
	}
	for name, c := range map[string]struct{ script, state, detail, next string }{
		"right":   {`printf 'on\non\non\n10\n256,extkeys\n'`, OK, "escape-time 10", ""},
		"wrong":   {`printf 'off\nexternal\n1\n500\n256\n'`, Warning, "to be changed: extended-keys, set-clipboard, escape-time, client_termfeatures", "~/.tmux.conf"},
		"silent":  {`exit 1`, Failed, "does not tell its settings", "~/.tmux.conf"},
		"no keys": {`test -z "$OPENAI_API_KEY" && printf 'on\non\non\n10\n'`, OK, "set-clipboard on", ""},
	} {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "tmux"), "#!/bin/sh\n"+c.script+"\n", 0o755)
		t.Setenv("PATH", dir)
		t.Run(name, func(t *testing.T) {
			check(t, Tmux(t.Context(), []string{"PATH=" + dir, "OPENAI_API_KEY=sk-secret"}), c.state, c.detail, c.next)
		})
	}
}
