//go:build unix

package dotenv

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// treeOf writes files into a folder and loads the tree of one of them.
func treeOf(t *testing.T, name string, files map[string]string, environ ...string) *Tree {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		put(t, filepath.Join(dir, name), text, 0o600)
	}
	if err := os.Mkdir(filepath.Join(dir, "dir.env"), 0o755); err != nil {
		t.Fatal(err)
	}
	return LoadTree(load(t, filepath.Join(dir, name)), environ)
}

func TestTree(t *testing.T) {
	tree := treeOf(t, ".env", map[string]string{
		".env":     "A=1\nB=main\nA=2\nBARE=1\nBARE\nREF=${A}-${LATE:-none}\n",
		"b.env":    "B=b\nLATE=x\nBARE=b\nREAL=file\nREF2=${A}${REAL}${B}\n",
		"a.env":    "LATE=a\nC=1\n",
		".z.env":   "C=z\n",
		"env":      "C=no\n",
		"x.env.nn": "C=no\n",
	}, "REAL=world", "B=")
	for key, want := range map[string]string{
		"A": ".env:3=2", "B": "the environment=", "BARE": "b.env:3=b", "C": ".z.env:1=z", "LATE": "a.env:1=a",
		"REAL": "the environment=world", "REF": ".env:6=2-none", "REF2": "b.env:5=2world",
	} {
		o, ok := tree.Lookup(key)
		if got := fmt.Sprintf("%v=%s", o, o.Value); got != want || !ok {
			t.Errorf("%s: %s, want %s", key, got, want)
		}
	}
	if _, ok := tree.Lookup("NONE"); ok {
		t.Error("a missing key is found")
	}
	if got := strings.Join(tree.Keys(), " "); got != "A B BARE REF C LATE REAL REF2" {
		t.Errorf("keys %s", got)
	}
}

// TestTreeOfAnotherName reads a file that the proxy was given by name: alone.
func TestTreeOfAnotherName(t *testing.T) {
	tree := treeOf(t, "b.env", map[string]string{".env": "A=1\n", "b.env": "B=1\n"})
	if got := strings.Join(tree.Keys(), " "); got != "B" {
		t.Errorf("keys %s, want B", got)
	}
}

func TestTreeTellsUnreadableFiles(t *testing.T) {
	tree := treeOf(t, ".env", map[string]string{".env": "A=1\n", "b.env": strings.Repeat("A=1\n", MaxSize/4+1)})
	if len(tree.Errors) != 1 || !strings.Contains(tree.Errors[0].Error(), "8 MiB") {
		t.Errorf("problems %v, want that b.env is too large", tree.Errors)
	}
}

func TestTreeDisabled(t *testing.T) {
	tree := treeOf(t, ".env", map[string]string{".env": "A=1\nPYTHON_DOTENV_DISABLED=Yes\n", "b.env": "B=1\n"})
	_, a := tree.Lookup("A")
	_, b := tree.Lookup("B")
	if !a || b {
		t.Errorf("A found %v, B found %v; want only A", a, b)
	}
}
