package tui

import (
	"os"
	"strings"
	"testing"

	"winnow/tui/tuitest"
)

// 25: when another program has changed the rules that are unsaved here, a save
// asks once, with both sides, and one key answers.
func TestAConflictIsResolvedByOneAnswer(t *testing.T) {
	for key, want := range map[string]string{
		"y": "ignore o3*, ignore theirs*", "t": "ignore gpt-3.5*, ignore o3*, ignore theirs*", "n": "ignore o3*",
	} {
		t.Run(key, func(t *testing.T) {
			d := startProgram(t, setup{})
			d.goTo("PANE")
			d.Type("x") // gpt-3.5*
			d.hold("the deletion", func() bool { return d.rules() == "ignore o3*" })
			theirs := strings.Replace(testEnv, "o3*", "o3*,theirs*", 1)
			if err := os.WriteFile(d.file, []byte(theirs), 0o600); err != nil {
				t.Fatal(err)
			}
			d.Type(tuitest.CtrlS)
			for _, line := range []string{"was changed by another program", "+ IGNORE_MODELS_OPENAI theirs*", "- openai ignore gpt-3.5*"} {
				d.Wait(line)
			}
			d.clock.Advance(overlayGuard)
			d.Type(tuitest.Key(key))
			d.hold("the rules", func() bool { return d.rules() == want })
			if got := d.env(); got != theirs {
				t.Errorf("the file was written: %q", got)
			}
		})
	}
}

// A change of other variables is merged without a question.
func TestAForeignChangeOfOtherVariablesAsksNothing(t *testing.T) {
	d := startProgram(t, setup{})
	d.goTo("PANE")
	d.Type("x")
	d.hold("the deletion", func() bool { return d.rules() == "ignore o3*" })
	if err := os.WriteFile(d.file, []byte(testEnv+"OTHER=1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d.Type(tuitest.CtrlS)
	d.Wait("Save these changes?")
	d.clock.Advance(overlayGuard)
	d.Type("y")
	d.hold("the file", func() bool {
		return d.env() == strings.Replace(testEnv, "gpt-3.5*,", "", 1)+"OTHER=1\n"
	})
}
