package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"winnow/adapters/config"
	"winnow/tui/style"
)

// TestReadmeListsEverySetting keeps the table of settings true.
func TestReadmeListsEverySetting(t *testing.T) {
	const readme, begin, end = "../../README.md", "<!-- settings -->\n", "<!-- /settings -->"
	raw, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(raw), begin)
	got, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatal("the README has no section of settings")
	}
	var want strings.Builder
	want.WriteString("| setting | default | means |\n| --- | --- | --- |\n")
	for _, s := range config.All(style.Themes()) {
		std := ""
		if s.Default != "" {
			std = "`" + s.Default + "`"
		}
		fmt.Fprintf(&want, "| `%s` | %s | %s |\n", s.Key, std, s.Help)
	}
	if got == want.String() {
		return
	}
	if os.Getenv("WINNOW_UPDATE") == "" {
		t.Fatalf("the settings of the README are\n%s\nwant\n%s\nWINNOW_UPDATE=1 writes them", got, want.String())
	}
	if err := os.WriteFile(readme, []byte(before+begin+want.String()+end+after), 0o644); err != nil {
		t.Fatal(err)
	}
}
