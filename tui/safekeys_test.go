package tui

import (
	"testing"

	"winnow/assistant"
	"winnow/tui/tuitest"
)

// What is pressed "to be safe" changes nothing: Esc, any number of times and from everywhere,
// leaves rules, file, messages, session, filter and draft as they are, and rests in VIEW.
func TestEscapeChangesNothing(t *testing.T) {
	for name, from := range map[string][]any{
		"INPUT": {}, "VIEW": {tuitest.Tab}, "PANE": {tuitest.ShiftTab}, "COMMAND": {tuitest.Tab, "f"},
		"search": {tuitest.Tab, "/"}, "a pattern": {tuitest.ShiftTab, "h"}, "palette": {tuitest.Key("ctrl+p")},
		"models": {tuitest.Key("ctrl+l")}, "checkpoints": {tuitest.Key("ctrl+g")}, "topics": {tuitest.Key("ctrl+t")},
		"help": {tuitest.F1}, "HUD": {tuitest.F2}, "deleting": {tuitest.Tab, "d"}, "the request": {tuitest.Tab, "x"},
		"pane over the width": {tuitest.Key("f7")}, "pane away": {tuitest.Key("f7"), tuitest.Key("f7")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := startProgram(t, setup{pairs: []assistant.Pair{told("apples?", "about apples"), told("pears?", "about pears")}})
			d.Wait("about pears")
			state := func() [5]string { return [5]string{d.rules(), d.env(), d.texts(), d.session.ID(), d.session.Filter()} }
			before := state()
			d.Type(from...)
			for range 12 {
				d.Type(tuitest.Esc)
			}
			d.in("VIEW")
			d.Wait("about pears")
			if now := state(); now != before {
				t.Errorf("Esc has changed %v to %v", before, now)
			}
		})
	}
}
