package tui

import (
	"os"
	"strings"
	"testing"
	"time"

	"winnow/assistant"
	"winnow/tui/style"
	"winnow/tui/tuitest"
	"winnow/tui/usecase"
)

// When another program has changed the same rules in another way, a save asks once, with
// both sides, and one key answers.
func TestAConflictIsResolvedByOneAnswer(t *testing.T) {
	for key, want := range map[string]string{
		"y": "ignore o3*, ignore theirs*, ignore mine*", "t": "ignore o3*, ignore theirs*", "n": "ignore o3*, ignore mine*",
	} {
		t.Run(key, func(t *testing.T) {
			d := startProgram(t, setup{})
			d.goTo("PANE")
			d.Type("x") // gpt-3.5*
			d.hold("the deletion", func() bool { return d.rules() == "ignore o3*" })
			d.Type("i", "/hide mine*", tuitest.Send)
			d.hold("the new rule", func() bool { return d.rules() == "ignore o3*, ignore mine*" })
			theirs := strings.Replace(testEnv, "gpt-3.5*,o3*", "o3*,theirs*", 1)
			if err := os.WriteFile(d.file, []byte(theirs), 0o600); err != nil {
				t.Fatal(err)
			}
			d.Type(tuitest.CtrlS)
			for _, line := range []string{"was changed by another program", "hid theirs* on openai", "hid mine* on openai"} {
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

// Changes of other variables and of other rules are merged before the plan is shown.
func TestAForeignChangeOfOtherRulesAsksNothing(t *testing.T) {
	for name, theirs := range map[string]string{
		"another variable": testEnv + "OTHER=1\n", "another rule of the list": strings.Replace(testEnv, "o3*", "o3*,theirs*", 1),
	} {
		t.Run(name, func(t *testing.T) {
			d := startProgram(t, setup{})
			d.goTo("PANE")
			d.Type("x")
			d.hold("the deletion", func() bool { return d.rules() == "ignore o3*" })
			if err := os.WriteFile(d.file, []byte(theirs), 0o600); err != nil {
				t.Fatal(err)
			}
			d.Type(tuitest.CtrlS)
			d.Wait("Save these changes?")
			d.clock.Advance(overlayGuard)
			d.Type("y")
			d.hold("the file", func() bool { return d.env() == strings.Replace(theirs, "gpt-3.5*,", "", 1) })
		})
	}
}

// What went wrong after the file was written is shown, and does not go with the program.
func TestAWarningOfASaveIsShown(t *testing.T) {
	saved := usecase.Saved{Saved: assistant.Saved{Message: "Saved 1 rule.", Warning: "It is not yet durable."}}
	for _, quits := range []bool{false, true} {
		s := newStill(t, style.Options{}, 100, 24)
		s.saving = saving{step: writing, quits: quits}
		s.do(s.carryOut(s.saving.on(saved, s.wording())))
		if got := s.text(); !strings.Contains(got, "saved, but: It is not yet durable.") || s.ending != 0 {
			t.Errorf("with quits %v the program ends: %v, and shows\n%s", quits, s.ending != 0, got)
		}
	}
}

// 3: the window that was changed by somebody else is shown, with a notice.
func TestAChangeOfTheFileIsShown(t *testing.T) {
	changes := make(chan assistant.SavedChange, 1)
	d := startProgram(t, setup{change: func(o *Options) { o.Changes = changes }})
	changes <- assistant.SavedChange{Refreshed: assistant.Refreshed{Changed: true}}
	d.says("another program changed the file")
	changes <- assistant.SavedChange{Conflict: &assistant.Conflict{}}
	d.says("conflict with yours")
	changes <- assistant.SavedChange{Refreshed: assistant.Refreshed{Path: "/a/.env", Changed: true, Deleted: true}}
	d.says(".env was deleted: what is shown here is unsaved now")
	close(changes)
}

// A save merges what somebody else has changed beside the rules, and asks where the
// same rules were changed.
func TestASaveMergesOrAsks(t *testing.T) {
	for name, c := range map[string]struct {
		theirs, shows, answer, want string
	}{
		"another key": {testEnv + "OTHER=1\n", "Save these changes?", "y", "OTHER=1"},
		"the same rules": {
			strings.Replace(testEnv, "gpt-3.5*", "theirs*", 1), "load their version and re-apply mine", "t", "IGNORE_MODELS_OPENAI=theirs*,o3*\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := startProgram(t, setup{})
			d.goTo("PANE")
			d.Type("x")
			d.says("deleted ignore rule")
			if name == "the same rules" { // which both sides replace
				d.Type("i", "/hide mine*", tuitest.Send)
				d.hold("the new rule", func() bool { return d.rules() == "ignore o3*, ignore mine*" })
			}
			if err := os.WriteFile(d.file, []byte(c.theirs), 0o600); err != nil {
				t.Fatal(err)
			}
			d.Type(tuitest.CtrlS)
			d.Wait(c.shows)
			d.clock.Advance(time.Second) // the question was read
			d.Type(c.answer)
			d.WaitGone(c.shows)
			d.hold("the file", func() bool { return strings.Contains(d.env(), c.want) })
			d.Wait("saved")
		})
	}
}

// TestTheQuitQuestionNamesTheUnsavedRules: who is asked knows what is at stake.
func TestTheQuitQuestionNamesTheUnsavedRules(t *testing.T) {
	d := startProgram(t, setup{})
	d.goTo("PANE")
	d.Type("x")
	d.says("deleted ignore rule")
	d.Type(tuitest.Key("ctrl+q"))
	d.Wait("There are unsaved rules")
	d.Wait("stopped hiding gpt-3.5* on openai")
}
