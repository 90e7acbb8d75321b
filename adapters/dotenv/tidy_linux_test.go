package dotenv

import (
	"crypto/sha256"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTidy lays out what a save killed at each step leaves behind.
func TestTidy(t *testing.T) {
	const oldText, newText, theirs, later = "A=1\n", "A=2\n", "A=theirs\n", "A=later\n"
	sum := func(s string) string { return short(sha256.Sum256([]byte(s))) }
	swap := leftover + "X-" + sum(newText) + "-" + sum(oldText) + exchanging
	for name, test := range map[string]struct {
		target, ending, beside string
		want, aside, notice    string
	}{
		"half written":             {oldText, leftover + "X" + partial, "A=", oldText, "", ""},
		"before the exchange":      {oldText, swap, newText, oldText, "", ""},
		"after the exchange":       {newText, swap, oldText, newText, "", ""},
		"theirs came out":          {newText, swap, theirs, theirs, "", "their change is back"},
		"theirs came out, changed": {later, swap, theirs, later, theirs, "put aside"},
		"put aside before":         {oldText, leftover + "X" + kept, theirs, oldText, theirs, "put aside"},
	} {
		path := put(t, filepath.Join(t.TempDir(), ".env"), test.target, 0o600)
		put(t, path+test.ending, test.beside, 0o600)
		s := load(t, path)
		if got := string(s.File.Bytes()); got != test.want {
			t.Errorf("%s: loaded %q, want %q", name, got, test.want)
		}
		if got := strings.Join(s.Notices, "\n"); (test.notice == "") != (got == "") || !strings.Contains(got, test.notice) {
			t.Errorf("%s: notices %q, want %q", name, got, test.notice)
		}
		names, err := leftovers(path)
		if err != nil || (test.aside == "") != (len(names) == 0) {
			t.Fatalf("%s: beside the file lie %q, %v", name, names, err)
		}
		if test.aside != "" {
			if got, _ := os.ReadFile(names[0]); string(got) != test.aside {
				t.Errorf("%s: put aside %q, want %q", name, got, test.aside)
			}
		}
	}
}
