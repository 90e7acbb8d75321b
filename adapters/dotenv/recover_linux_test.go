package dotenv

import (
	"crypto/sha256"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRecover lays out what a save killed at each step leaves behind.
func TestRecover(t *testing.T) {
	const oldText, newText, theirs, later = "A=1\n", "A=2\n", "A=theirs\n", "A=later\n"
	sum := func(s string) string { return shortHash(sha256.Sum256([]byte(s))) }
	swap := saveInfix + "X-" + sum(newText) + "-" + sum(oldText) + swapSuffix
	for name, test := range map[string]struct {
		target, ending, beside string
		aside                  string // what must lie beside the file afterwards, with a notice
	}{
		"half written":             {oldText, saveInfix + "X" + partialSuffix, "A=", ""},
		"before the exchange":      {oldText, swap, newText, ""},
		"after the exchange":       {newText, swap, oldText, ""},
		"theirs came out":          {newText, swap, theirs, theirs},
		"theirs came out, changed": {later, swap, theirs, theirs},
		"displaced before":         {oldText, saveInfix + "X" + keptSuffix, theirs, theirs},
	} {
		path := put(t, filepath.Join(t.TempDir(), ".env"), test.target, 0o600)
		put(t, path+test.ending, test.beside, 0o600)
		s := load(t, path)
		if got := string(s.File.Bytes()); got != test.target {
			t.Errorf("%s: loaded %q, want %q", name, got, test.target)
		}
		notice := strings.Join(s.Notices, "\n")
		if (test.aside == "") != (notice == "") {
			t.Errorf("%s: notices %q", name, notice)
		}
		names, err := leftovers(path)
		if err != nil || (test.aside == "") != (len(names) == 0) {
			t.Fatalf("%s: beside the file lie %q, %v", name, names, err)
		}
		if test.aside != "" {
			if got, _ := os.ReadFile(names[0]); string(got) != test.aside || !strings.Contains(notice, filepath.Base(names[0])) {
				t.Errorf("%s: beside the file %q, want %q; notice %q", name, got, test.aside, notice)
			}
		}
	}
}
