package tui

import (
	"os"
	"strings"
	"testing"

	"winnow/tui/keymap"
)

const readme = "../README.md"

// section is the part of the README between two marks.
func section(t *testing.T, name string) (before, body, after string) {
	t.Helper()
	raw, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	begin, end := "<!-- "+name+" -->\n", "<!-- /"+name+" -->"
	before, rest, ok := strings.Cut(string(raw), begin)
	body, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("the README has no section %q", name)
	}
	return before + begin, body, end + after
}

// hold compares a section with what the program says, or writes it.
func hold(t *testing.T, name, want string) {
	t.Helper()
	before, got, after := section(t, name)
	if got == want {
		return
	}
	if os.Getenv("WINNOW_UPDATE") == "" {
		t.Fatalf("section %q of the README is not what the program says; WINNOW_UPDATE=1 writes it.\ngot:\n%s\nwant:\n%s", name, got, want)
	}
	if err := os.WriteFile(readme, []byte(before+want+after), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestReadmeListsTheFirstKeys writes the keys that a newcomer needs; the others are in
// `winnow help keys`.
func TestReadmeListsTheFirstKeys(t *testing.T) {
	uses, err := keymap.Uses(false, nil)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("| key | where | does |\n| --- | --- | --- |\n")
	for _, name := range []string{
		"send", "escape", "jump-to-boundary", "filter", "undo", "save", "checkpoints", "palette", "help",
	} {
		var where []string
		var line [2]string
		for _, u := range uses {
			if u.Action == name {
				where, line = append(where, u.Mode), u.Line
			}
		}
		if len(where) == 0 {
			t.Fatalf("there is no action %s", name)
		}
		place := strings.Join(where, ", ")
		if len(where) == int(keymap.HUD)+1 { // the modes of the screen
			place = "anywhere"
		}
		b.WriteString("| " + line[0] + " | " + place + " | " + line[1] + " |\n")
	}
	hold(t, "keys", b.String())
}

// TestReadmeShowsTheExample holds an example of package assistant in the README, whole but
// for its imports.
func TestReadmeShowsTheExample(t *testing.T) {
	source, err := os.ReadFile("../assistant/example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	_, example, imports := strings.Cut(string(source), "\n)\n\n")
	if !imports {
		t.Fatal("the example imports nothing")
	}
	hold(t, "example", "```go\n"+example+"```\n")
}
