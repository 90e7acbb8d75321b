package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"winnow/adapters/config"
	"winnow/tui/style"
)

// readmeSection compares a section of the README, between marks of its name, with
// what the program says; WINNOW_UPDATE=1 writes it.
func readmeSection(t *testing.T, name, want string) {
	t.Helper()
	const readme = "../../README.md"
	raw, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	begin, end := "<!-- "+name+" -->\n", "<!-- /"+name+" -->"
	before, rest, ok := strings.Cut(string(raw), begin)
	got, after, closed := strings.Cut(rest, end)
	switch {
	case !ok || !closed:
		t.Fatalf("the README has no section of %s", name)
	case got == want:
	case os.Getenv("WINNOW_UPDATE") == "":
		t.Errorf("the %s of the README are\n%s\nwant\n%s\nWINNOW_UPDATE=1 writes them", name, got, want)
	default:
		if err := os.WriteFile(readme, []byte(before+begin+want+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestReadmeListsEverySetting(t *testing.T) {
	var want strings.Builder
	want.WriteString("| setting | default | means |\n| --- | --- | --- |\n")
	for _, s := range config.All(style.Themes()) {
		std := ""
		if s.Default != "" {
			std = "`" + s.Default + "`"
		}
		fmt.Fprintf(&want, "| `%s` | %s | %s |\n", s.Key, std, s.Help)
	}
	readmeSection(t, "settings", want.String())
}

func TestReadmeListsEveryCommand(t *testing.T) {
	root := newRoot(newApp(t.Context(), strings.NewReader(""), io.Discard, io.Discard))
	var want strings.Builder
	want.WriteString("| command | does | flags of its own |\n| --- | --- | --- |\n")
	var add func(c *cobra.Command)
	add = func(c *cobra.Command) {
		var flags []string
		c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			if f.Name != "help" && f.Name != "version" {
				flags = append(flags, "`--"+f.Name+"`")
			}
		})
		if !c.HasSubCommands() || len(flags) > 0 {
			fmt.Fprintf(&want, "| `%s` | %s | %s |\n", strings.TrimSuffix(c.UseLine(), " [flags]"), c.Short, strings.Join(flags, " "))
		}
		for _, sub := range c.Commands() {
			add(sub)
		}
	}
	add(root)
	readmeSection(t, "commands", want.String())

	var flags strings.Builder
	flags.WriteString("| flag | means |\n| --- | --- |\n")
	root.PersistentFlags().VisitAll(func(f *pflag.Flag) {
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		fmt.Fprintf(&flags, "| `%s` | %s |\n", name, f.Usage)
	})
	readmeSection(t, "flags", flags.String())
}
