package doctor

import (
	"context"
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"winnow/adapters/endpoints"
	"winnow/assistant/assistanttest"
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

// An endpoint has as many models as the model picker lists: those that can chat.
func TestEndpointCountsWhatCanChat(t *testing.T) {
	for _, c := range []struct{ chat, state, detail, next string }{
		{"one-chat", OK, "(a test): 1 model", ""},
		{"tts-1", Warning, "(a test): 0 models", "load or pull a model"},
	} {
		server := assistanttest.NewServer(t).Models(assistanttest.ModelList("text-embedding-3-small", c.chat))
		got := Endpoint(t.Context(), &endpoints.Endpoint{Name: "local", BaseURL: server.URL, From: "a test"}, "")
		if len(got) != 1 {
			t.Fatalf("%d findings: %+v", len(got), got)
		}
		check(t, got[0], c.state, c.detail, c.next)
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
	check(t, Folder(dir), OK, "only you can read it", "")
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("the folder holds %v, %v afterwards", entries, err)
	}
	write(t, filepath.Join(dir, "open"), "", 0o644)
	check(t, Folder(dir), Warning, "open (0644)", "chmod go-rwx "+filepath.Join(dir, "open"))
}

func TestEnvFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), ".env")
	check(t, EnvFile(path), OK, "does not exist; saving rules creates it", "")
	write(t, path, "A=1\nB=2\n", 0o600)
	check(t, EnvFile(path), OK, "2 variables, mode 0600", "")
	write(t, path, "A=1\n=2\n", 0o600)
	check(t, EnvFile(path), Warning, path, "line 2")
	check(t, EnvFile(path), Warning, path, "winnow rules lint")
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
		check(t, found[i], Failed, name+" contains a key", "replace the key")
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
		"wrong":   {`printf 'off\nexternal\n1\n500\n256\n'`, Warning, "change these: extended-keys, set-clipboard, escape-time, client_termfeatures", "~/.tmux.conf"},
		"silent":  {`exit 1`, Failed, "does not report its settings", "tmux kill-server"},
		"no keys": {`test -z "$OPENAI_API_KEY$MINE" && printf 'on\non\non\n10\n'`, OK, "set-clipboard on", ""},
	} {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "tmux"), "#!/bin/sh\n"+c.script+"\n", 0o755)
		t.Setenv("PATH", dir)
		t.Run(name, func(t *testing.T) {
			check(t, Tmux(t.Context(), []string{"PATH=" + dir, "OPENAI_API_KEY=sk-secret", "MINE=x-sk-known-0123"}, safetext.NewRedactor([]string{"sk-known-0123"})), c.state, c.detail, c.next)
		})
	}
}

// Every kind of problem has a way out, which names what the finding is about.
func TestEveryProblemHasAWayOut(t *testing.T) {
	for kind, text := range Advice("EXAMPLE") {
		f := Problem("about", Warning, Kind(kind), "what\nis wrong", "EXAMPLE")
		if text == "" || f.Next != text || strings.Contains(text, "{") || strings.Contains(f.Detail, "\n") {
			t.Errorf("kind %d: %+v", kind, f)
		}
		lines := f.Lines("!", "→")
		if len(lines) < 2 || !strings.HasPrefix(lines[0], "! about     what; is wrong") || !strings.HasPrefix(lines[1], "  → ") {
			t.Errorf("kind %d: %q", kind, lines)
		}
	}
}

func TestAPathIsQuotedForAShell(t *testing.T) {
	for path, want := range map[string]string{"/a/b.c": "/a/b.c", "/a b": "'/a b'", "/it's": `'/it'\''s'`, "/a;rm": "'/a;rm'"} {
		if got := quoted(path); got != want {
			t.Errorf("quoted(%q) = %s, want %s", path, got, want)
		}
	}
}

// Checks run side by side and answer in their order; one that hangs is a finding.
func TestChecksRunSideBySide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		after := func(d time.Duration, about string) Check {
			return Check{about, func(ctx context.Context) []Finding {
				select {
				case <-time.After(d):
					return []Finding{Pass(about, "done")}
				case <-ctx.Done():
					return []Finding{Fail(about, NoAnswer, ctx.Err(), "there")}
				}
			}}
		}
		release := make(chan struct{})
		hangs := Check{"hangs", func(context.Context) []Finding { <-release; return nil }}
		begin := time.Now()
		found := Run(t.Context(), 10*time.Second, after(3*time.Second, "slow"), hangs, after(time.Minute, "obeys"), after(0, "quick"))
		if took := time.Since(begin); took > 11*time.Second {
			t.Errorf("it took %s", took)
		}
		var got []string
		for _, f := range found {
			got = append(got, f.About+" "+f.State)
		}
		if want := []string{"slow ok", "hangs failed", "obeys failed", "quick ok"}; !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
		close(release)
	})
}

// Several mistakes in the settings have a line each.
func TestJoinedErrorsHaveALineEach(t *testing.T) {
	f := Fail("settings", BadSettings, errors.Join(errors.New("config: a.toml:1: wrong"), errors.New("a.toml:2: also\nwrong")), "")
	want := []string{"✗ settings  a.toml:1: wrong", "            a.toml:2: also; wrong", "  → " + f.Next}
	if got := f.Lines("✗", "→"); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
