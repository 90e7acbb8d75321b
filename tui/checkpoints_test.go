package tui

import (
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
	r.Wait("3 messages are removed from the chat")
	r.Type(tuitest.Esc, tuitest.Key("ctrl+n"))
	r.Wait("a new session")
	r.Type(tuitest.Esc, tuitest.Key("ctrl+z"))
	r.Wait("It was made in another session.")
}
