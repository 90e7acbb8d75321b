package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestReadmeTasks runs the commands of the README in order, as a newcomer would in the folder of a proxy.
func TestReadmeTasks(t *testing.T) {
	raw, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, tasks, ok := strings.Cut(string(raw), "<!-- tasks -->\n```sh\n")
	tasks, _, closed := strings.Cut(tasks, "```\n<!-- /tasks -->")
	if !ok || !closed {
		t.Fatal("the README has no tasks")
	}
	b := newBench(t, "OPENAI_API_KEY=sk-test-aaaaaaaaaaaaaaaa\nIGNORE_MODELS_OPENAI=o3*\n")
	want := map[string]string{
		"ask \"which": "o3", "ask --yes": "hidden", "rules list": "*mini*", "rules test": "*mini*", "rules add": "gpt-4o-mini",
		"rules log": "allowed", "history": "mini", "doctor": "history", "help": "rules",
	}
	for line := range strings.Lines(tasks) {
		cmd := exec.CommandContext(t.Context(), "sh", "-c", line)
		cmd.Dir, cmd.Env = b.dir, b.env
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v: %s", line, err, out)
		}
		for begin, text := range want {
			if strings.HasPrefix(line, "winnow "+begin) {
				if !strings.Contains(strings.ToLower(string(out)), text) {
					t.Errorf("%s does not print %q: %s", line, text, out)
				}
				delete(want, begin)
			}
		}
	}
	if len(want) > 0 {
		t.Errorf("the README has no commands %v", want)
	}
	if env := b.envFile(); !strings.Contains(env, "o3*,*mini*") || !strings.Contains(env, "WHITELIST_MODELS_OPENAI") {
		t.Errorf("the .env is %s", env)
	}
	for _, file := range []string{"../../tui/testdata/screens/demo-dark.svg", "../../tui/testdata/screens/demo-light.svg"} {
		if !strings.Contains(string(raw), strings.TrimPrefix(filepath.ToSlash(file), "../../")) {
			t.Errorf("the README does not show %s", file)
		}
	}
	const most = 250
	if n := strings.Count(string(raw), "\n"); n > most {
		t.Errorf("the README has %d lines, want at most %d: winnow help TOPIC is for the rest", n, most)
	}
}

// TestReadmeNamesFilesThatExist checks the names in "How it is built": the packages in the picture and the files of
// the three walkthroughs.
func TestReadmeNamesFilesThatExist(t *testing.T) {
	raw, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(raw), "## How it is built")
	section, _, _ = strings.Cut(section, "\n## ")
	names := 0
	exists := func(path string) {
		names++
		if _, err := os.Stat(filepath.Join("..", "..", path)); err != nil {
			t.Error(err)
		}
	}
	for _, m := range regexp.MustCompile("`((?:tui|assistant|adapters)/[a-z/.]+)`").FindAllStringSubmatch(section, -1) {
		exists(m[1])
	}
	top := ""
	for _, m := range regexp.MustCompile(`(?m)^    (  )?([a-z/]+(?:, [a-z]+)*)  `).FindAllStringSubmatch(section, -1) {
		for name := range strings.SplitSeq(m[2], ", ") {
			if m[1] == "" {
				top = name
				exists(top)
			} else {
				exists(filepath.Join(top, name))
			}
		}
	}
	const fewest = 25
	if names < fewest {
		t.Errorf("%d names are found", names)
	}
}
