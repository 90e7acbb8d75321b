//go:build unix

package dotenv

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTree(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		".env":     "A=1\nB=main\nA=2\nBARE=1\nBARE\nREF=${A}-${LATE:-none}\n",
		"b.env":    "B=b\nLATE=x\nBARE=b\nREAL=file\nREF2=${A}${REAL}${B}\n",
		"a.env":    "LATE=a\nC=1\n",
		".z.env":   "C=z\n",
		"env":      "C=no\n",
		"x.env.nn": "C=no\n",
	} {
		put(t, filepath.Join(dir, name), text, 0o600)
	}
	if err := os.Mkdir(filepath.Join(dir, "dir.env"), 0o755); err != nil {
		t.Fatal(err)
	}
	tree, err := LoadTree(dir, []string{"REAL=world", "B="})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range tree.Files {
		names = append(names, filepath.Base(f.Path))
	}
	if got := fmt.Sprint(names); got != "[.env .z.env a.env b.env]" {
		t.Errorf("files %s", got)
	}
	for key, want := range map[string]string{
		"A":    ".env:3=2 shadows [.env:1]",
		"B":    "environment= shadows [.env:2 b.env:1]",
		"BARE": "b.env:3=b shadows [.env:5 .env:4]",
		"C":    ".z.env:1=z shadows [a.env:2]",
		"LATE": "a.env:1=a shadows [b.env:2]",
		"REAL": "environment=world shadows [b.env:4]",
		"REF":  ".env:6=2-none shadows []",
		"REF2": "b.env:5=2world shadows []",
	} {
		wins, shadowed, ok := tree.Lookup(key)
		if got := fmt.Sprintf("%v=%s shadows %v", wins, wins.Value, shadowed); got != want || !ok {
			t.Errorf("%s: %s, want %s", key, got, want)
		}
	}
	if _, _, ok := tree.Lookup("NONE"); ok {
		t.Error("a missing key is found")
	}
	if got := strings.Join(tree.Keys(), " "); got != "A B BARE C LATE REAL REF REF2" {
		t.Errorf("keys %s", got)
	}
}

func TestTreeDisabled(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, ".env"), "A=1\nPYTHON_DOTENV_DISABLED=Yes\n", 0o600)
	put(t, filepath.Join(dir, "b.env"), "B=1\n", 0o600)
	tree, err := LoadTree(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, _, a := tree.Lookup("A")
	_, _, b := tree.Lookup("B")
	if !a || b || !tree.Files[1].Skipped {
		t.Errorf("A found %v, B found %v, b.env skipped %v", a, b, tree.Files[1].Skipped)
	}
}
