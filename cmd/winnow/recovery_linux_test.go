package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"winnow/assistant/assistanttest"
)

// TestTheRulesThatACrashLeftAreDiscarded checks that d in the question after a crash discards the unsaved rules, on
// the screen and in line mode.
func TestTheRulesThatACrashLeftAreDiscarded(t *testing.T) {
	for name, c := range map[string]struct {
		args                      []string
		question, answer, outcome string // outcome appears, or with "!" before it, disappears
	}{
		"screen": {nil, "stopped unexpectedly", "d", "!   1 unsaved"},
		"lines":  {[]string{"--plain"}, "keeps them:", "discard\r", "There are no unsaved changes."},
	} {
		t.Run(name, func(t *testing.T) {
			status, _, stderr := inFolder(t, "OPENAI_API_KEY=sk-test-aaaaaaaaaaaaaaaa\n", "rules", "add", "gpt-4o", "--provider", "openai")
			if status != statusDone {
				t.Fatal(stderr)
			}
			dir, err := os.Getwd()
			if err != nil {
				t.Fatal(err)
			}
			env := append(os.Environ(), "WINNOW_HOME="+filepath.Join(dir, "home"), "TMUX=")
			args := append([]string{"-m", "offline/rules"}, c.args...)
			crashed := startVterm(t, dir, env, args...)
			crashed.wait("unsaved")
			crashed.kill()
			v := startVterm(t, dir, env, args...)
			v.wait(c.question)
			v.rest(time.Second) // a question ignores keys typed before it could be read
			v.press(c.answer)
			v.until("the discarded rules", func(frame string) bool {
				gone, isGone := strings.CutPrefix(c.outcome, "!")
				return strings.Contains(frame, gone) != isGone
			})
			v.kill()
			if status := run(t.Context(), []string{"rules", "diff"}, nil, os.Stdout, os.Stderr); status != statusDone {
				t.Errorf("rules diff ends with %d: the rules are still staged", status)
			}
		})
	}
}

// TestTheModelOutlivesAKill starts again after a kill without flags: with the model of the session that was killed, or
// with the one that was chosen for the folder.
func TestTheModelOutlivesAKill(t *testing.T) {
	for name, c := range map[string]struct {
		args            []string
		text, key, says string
	}{
		"of the session": {[]string{"-m", "openai/m2"}, "hello", "\n", "test answer"},
		"of the folder":  {nil, "/model openai/m2", "\r", "openai/m2 is now in use"},
	} {
		t.Run(name, func(t *testing.T) {
			ownFolder(t)
			server := assistanttest.NewServer(t, assistanttest.Text("test answer")).Models(assistanttest.ModelList("m1", "m2"))
			dir, err := os.Getwd()
			if err != nil {
				t.Fatal(err)
			}
			env := append(os.Environ(), "OPENAI_BASE_URL="+server.URL, "TMUX=")
			killed := startVterm(t, dir, env, c.args...)
			killed.wait("INPUT")
			killed.paste(c.text)
			killed.wait(c.text)
			killed.press(c.key)
			killed.wait(c.says)
			killed.kill()
			v := startVterm(t, dir, env)
			v.until("the model m2", func(frame string) bool {
				header, _, _ := strings.Cut(frame, "\n")
				return strings.Contains(header, "m2")
			})
		})
	}
}
