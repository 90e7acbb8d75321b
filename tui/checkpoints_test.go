package tui

import (
	"strings"
	"testing"

	at "winnow/assistant/assistanttest"
	"winnow/tui/tuitest"
)

// Undo says how much of the conversation goes with it, and whose change it is.
func TestUndoSaysWhatLeaves(t *testing.T) {
	r := start(t, 80, 24, at.Answer{call("add_word", `{"word":"three"}`)}, say("added"), say("talk"), say("more talk"))
	for i, text := range []string{"add three", "and?", "so?"} {
		r.Type(text, tuitest.Send)
		r.answered(i + 1)
	}
	r.Type(tuitest.Esc, tuitest.Key("ctrl+z"))
	r.Wait("3 messages will be removed from the conversation")
	r.Type(tuitest.Esc, tuitest.Key("ctrl+n"))
	r.Wait("a new session")
	r.Type(tuitest.Esc, tuitest.Key("ctrl+z"))
	r.Wait("The change was made in another session.")
}

// A rollback to a step that is undone already says so, and what would change something.
func TestARollbackToAnUndoneStepSaysWhatWorks(t *testing.T) {
	d := startProgram(t, setup{w: 80, h: 24})
	d.Type(tuitest.ShiftTab, "x", tuitest.Key("ctrl+z"))
	d.says("ctrl+y brings it back")
	d.Type(tuitest.Key("ctrl+g"), tuitest.Down, tuitest.Enter)
	d.says("already undone; choose an older checkpoint · ctrl+y undoes the undo")
	d.Type(tuitest.Key("ctrl+y"))
	d.says("the rollback was undone")
}

// A change has one sentence: undo says it once, and the list of checkpoints shows all of one
// that its line cuts.
func TestAChangeIsNamedOnceAndInFull(t *testing.T) {
	d := startProgram(t, setup{w: 80, h: 24, answers: []at.Answer{
		{
			at.Call{Name: "add_ignore_rule", Arguments: `{"pattern":"gpt-4o-preview*"}`},
			at.Call{Name: "add_ignore_rule", Arguments: `{"pattern":"gpt-5-preview*"}`},
		},
		say("Both."),
	}})
	const first, second = "hid gpt-4o-preview* on openai (1 model)", "hid gpt-5-preview* on openai (1 model)"
	d.ask("hide both", "Both.")
	d.Type(tuitest.Key("ctrl+g"))
	d.Wait("before: " + first + "; hid")
	inFull := func(frame string) bool {
		return strings.Contains(strings.Join(strings.Fields(strings.ReplaceAll(frame, "│", "")), " "), second)
	}
	d.Until(func(frame string) bool { return !inFull(frame) })
	d.Type(tuitest.Down)
	d.Until(inFull)
	d.Type(tuitest.Esc, tuitest.Esc, tuitest.Key("ctrl+z"))
	d.Wait("Undo the assistant's change?")
	d.Wait("openai (1 model)")
	if frame := d.Frame(); strings.Count(frame, "hid gpt-4o-preview*") != 1 {
		t.Errorf("the change is not named once:\n%s", frame)
	}
}
