package tuitest

import (
	"os"
	"strings"
	"testing"
)

func TestGoldenWritesComparesAndTells(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv(updateEnv, "0")
	frame := "\x1b[1mone\x1b[m  \n界 two\nthree"
	if said := record(t, func(r *recorder) { Golden(r, "x", frame) }); !strings.Contains(said, updateEnv) {
		t.Errorf("a missing file said %q", said)
	}
	t.Setenv(updateEnv, "1")
	if said := record(t, func(r *recorder) { Golden(r, "x", frame) }); said != "" {
		t.Fatalf("writing said %q", said)
	}
	if b, err := os.ReadFile("testdata/frames/x.txt"); err != nil || string(b) != "one\n界 two\nthree\n" {
		t.Fatalf("the file holds %q, %v", b, err)
	}
	t.Setenv(updateEnv, "")
	if said := record(t, func(r *recorder) { Golden(r, "x", "one\n界 two  \nthree") }); said != "" {
		t.Errorf("the same frame said %q", said)
	}
	said := record(t, func(r *recorder) { Golden(r, "x", "one\n界 tWo\nthree\nfour") })
	for _, want := range []string{"line 2\n  - 界 two\n  + 界 tWo\n        ^", "line 4\n", "  + four"} {
		if !strings.Contains(said, want) {
			t.Errorf("the difference lacks %q:\n%s", want, said)
		}
	}
	if said := record(t, func(r *recorder) { Golden(r, "../x", frame) }); !strings.Contains(said, "not a valid name") {
		t.Errorf("a name outside the folder said %q", said)
	}
}

func TestExactCountsCells(t *testing.T) {
	for name, c := range map[string]struct {
		frame string
		bad   bool
	}{
		"right":    {"\x1b[1m界 a\x1b[m\n    ", false},
		"short":    {"abc\n    ", true},
		"wide":     {"界界a\n    ", true},
		"one less": {"abcd", true},
		"one more": {"abcd\nabcd\n", true},
	} {
		if said := record(t, func(r *recorder) { Exact(r, c.frame, 4, 2) }); (said != "") != c.bad {
			t.Errorf("%s: Exact(%q) said %q", name, c.frame, said)
		}
	}
}
