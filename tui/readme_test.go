package tui

import (
	"os"
	"strings"
	"testing"
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

func TestReadmeListsEveryKey(t *testing.T) {
	k, err := newKeyMap(false, nil)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("| key | where | does |\n| --- | --- | --- |\n")
	for _, a := range k.actions {
		keys, help, ok := a.row(a.keys)
		if !ok {
			continue
		}
		where := make([]string, len(a.modes))
		for i, m := range a.modes {
			where[i] = m.String()
		}
		place := strings.Join(where, ", ")
		if len(a.modes) == len(inAll) {
			place = "anywhere"
		}
		b.WriteString("| " + strings.ReplaceAll(keys, "|", "\\|") + " | " + place + " | " + help + " |\n")
	}
	hold(t, "keys", b.String())
}

// TestReadmeShowsTheExample keeps the program in the README the one that is
// compiled and run as an example of package assistant.
func TestReadmeShowsTheExample(t *testing.T) {
	source, err := os.ReadFile("../assistant/example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	_, body, ok := strings.Cut(string(source), "package assistant_test\n")
	if !ok {
		t.Fatal("the example has another package")
	}
	body, _, _ = strings.Cut(body, "\t// Output:")
	body = "package main\n" + strings.Replace(strings.TrimRight(body, "\n")+"\n}\n", "func Example()", "func main()", 1)
	hold(t, "example", "\n```go\n"+body+"```\n\n")
}
