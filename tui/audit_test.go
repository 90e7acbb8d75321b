package tui

import (
	"slices"
	"strings"
	"testing"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/tui/keymap"
	"winnow/tui/tuitest"
)

// harmless lists the actions that delete and replace nothing: they move, show, copy, open a list or a line, or add
// something next to what is there.
const harmless = ` send newline older-message newer-message undo-typing next-item previous-item next-message previous-message
	first-message last-message half-page-down half-page-up page-down page-up jump-to-boundary search next-hit previous-hit
	previous-checkpoint next-checkpoint fold fold-all enter previous-choice next-choice previous-answer next-answer branch
	copy-answer copy-pair copy-code raw exact-request next-request apply-filter older-filter newer-filter complete-filter
	complete-filter-back star-0 star-1 star-2 star-3 star flag topic pane-down pane-up pane-first pane-last pane-page-down
	pane-page-up pane-select pane-select-all pane-highlight provider pane-search sort-models previous-tab next-tab refresh-models
	why-model hud-down hud-up hud-first hud-last hud-page-down hud-page-up hud-show next-region previous-region input filter
	command-line export-shown star-shown flag-shown unflag-shown topic-shown save-filter all-pairs list-filters palette
	palette-colon help help-question models checkpoints topics editor hud dock-context place-pane mouse notices connect
	unfilter pane sessions title cost keep-cancelled ask-again settings suspend
	choose-1 choose-2 choose-3 choose-4 choose-5 choose-6 choose-7 choose-8 choose-9
	line-accept line-close line-up line-down line-page-up line-page-down list-first list-last favourite-model show-session
	new-topic rename-topic text-up text-down text-page-up text-page-down text-first text-last text-close fold-section
	fold-sections search-request next-found previous-found show-bytes copy-request older-request newer-request
	edit-left edit-right edit-up edit-down edit-word-left edit-word-right edit-start edit-end next-value previous-value `

// answering lists the actions that answer a question, which has said what they do.
const answering = ` answer-yes answer-no answer-save answer-keep answer-discard answer-theirs answer-edit answer-send
	answer-state-only answer-recover answer-safe answer-cancel answer-previous answer-next answer-marked `

// typing lists the actions that delete typed text; the box and every text line undo that.
const typing = ` edit-delete-before edit-delete-after edit-delete-word edit-delete-to-start edit-delete-to-end `

// wait is a text that the screen shows before the next key.
type wait string

// audited is how the screen protects what an action deletes or replaces: it asks first, or its footer names the key
// that undoes it.
var audited = map[keymap.Action]struct {
	keys []any  // do it, from INPUT of a conversation with a rule
	says string // what the screen then shows
}{
	keymap.Escape:      {[]any{"draft", tuitest.Esc}, "cleared · ctrl+z brings the text back"},
	keymap.Cancel:      {[]any{"draft", tuitest.CtrlC}, "cleared · ctrl+z brings the text back"},
	keymap.Retry:       {[]any{tuitest.Tab, "r"}, "‹2/2›"}, // the old answer stays
	keymap.ReAsk:       {[]any{tuitest.Tab, "e"}, "sent as a new one"},
	keymap.DeletePair:  {[]any{tuitest.Tab, "d"}, "Delete this message and its answer for good?"},
	keymap.DeleteRule:  {[]any{tuitest.ShiftTab, "x"}, "ctrl+z undoes it"},
	keymap.AddIgnore:   {[]any{tuitest.ShiftTab, "h", "gpt-9*", tuitest.Enter}, "ctrl+z undoes it"},
	keymap.AddAllow:    {[]any{tuitest.ShiftTab, "a", "gpt-9*", tuitest.Enter}, "ctrl+z undoes it"},
	keymap.Discard:     {[]any{tuitest.ShiftTab, "x", "D"}, "─ Discard"},
	keymap.Undo:        {[]any{tuitest.ShiftTab, "x", tuitest.Key("ctrl+z")}, "brings it back"},
	keymap.NewSession:  {[]any{tuitest.ShiftTab, "x", tuitest.Key("ctrl+n")}, "Start a new session?"},
	keymap.Save:        {[]any{tuitest.ShiftTab, "x", tuitest.Key("ctrl+s")}, "Save these changes?"},
	keymap.Quit:        {[]any{tuitest.ShiftTab, "x", tuitest.Key("ctrl+q")}, "unsaved"},
	keymap.DeleteShown: {[]any{tuitest.Tab, "f", tuitest.Key("ctrl+u"), "x :delete", tuitest.Enter}, "Delete"},

	keymap.ImportRules:          {[]any{tuitest.ShiftTab, "I", "gpt-5*,o3*", tuitest.Enter}, "─ Import into"},
	keymap.UndoRollback:         {[]any{tuitest.ShiftTab, "x", tuitest.Key("ctrl+z"), "hgpt-9*", tuitest.Enter, tuitest.Key("ctrl+y")}, "Undoing the rollback loses these later steps"},
	keymap.UndoPairs:            {[]any{tuitest.Tab, "f", tuitest.Key("ctrl+u"), "x :star 3", tuitest.Enter, "u"}, "undone: 1 message now has 3 stars"},
	keymap.Queued:               {[]any{"slow", tuitest.Send, wait("half"), "next", tuitest.Send, wait("queued: next"), tuitest.Key("alt+q")}, "─ Queued: sent after"},
	keymap.RollBackState:        {[]any{tuitest.ShiftTab, "x", tuitest.Key("ctrl+g"), tuitest.Down, tuitest.Key("alt+r")}, "rolled back · ctrl+y brings it back"},
	keymap.RollBackConversation: {[]any{"hide", tuitest.Send, wait("hidden now"), wait("1 checkpoint"), tuitest.Key("ctrl+g"), tuitest.Down, tuitest.Key("alt+c")}, "rolled back · ctrl+y in VIEW brings it back"},
	keymap.DeleteTopic:          {[]any{tuitest.Key("ctrl+t"), tuitest.Key("alt+n"), "work", tuitest.Enter, wait("new messages go to work"), tuitest.Key("ctrl+t"), "work", tuitest.Key("alt+d")}, "Delete the topic work?"},
	keymap.ForgetFilter:         {[]any{tuitest.Tab, "f", tuitest.Key("ctrl+u"), "x :save mine", tuitest.Enter, ":saved", tuitest.Enter, tuitest.Key("alt+x")}, "is forgotten · u undoes it"},
}

func inList(list string, name keymap.Action) bool {
	return slices.Contains(strings.Fields(list), string(name))
}

// Every action of the key table and every slash command is classified: what deletes or replaces something asks, or can
// be undone with what the footer names.
func TestWhatDeletesAsksOrCanBeUndone(t *testing.T) {
	k := keyMap(t)
	names := map[keymap.Action]bool{}
	for _, e := range k.Palette(false) {
		names[e.Action] = true
	}
	for m := keymap.Input; m <= keymap.Editing; m++ {
		for _, a := range k.In(m) {
			names[a.Name] = true
		}
	}
	for _, c := range keymap.CommandTable() {
		names[c.Action] = true
	}
	delete(names, "")
	for name := range names {
		classes := 0
		_, byTest := audited[name]
		for _, in := range []bool{byTest, inList(harmless, name), inList(answering, name), inList(typing, name)} {
			if in {
				classes++
			}
		}
		if classes != 1 {
			t.Errorf("the action %s is in %d classes, want 1: does it delete or replace something?", name, classes)
		}
	}
	for name, row := range audited {
		t.Run(string(name), func(t *testing.T) {
			t.Parallel()
			gate := at.NewGate()
			defer gate.Open()
			answers := []at.Answer{say("again")}
			if name == keymap.Queued {
				answers = []at.Answer{{at.Say("half of it"), at.Stop{At: gate}}}
			} else if name == keymap.RollBackConversation {
				answers = []at.Answer{{call("add_ignore_rule", `{"pattern":"gpt-5*"}`)}, say("hidden now")}
			}
			d := startProgram(t, setup{pairs: []assistant.Pair{told("apples?", "about apples")}, answers: answers})
			d.Wait("about apples")
			for _, key := range row.keys {
				if shown, ok := key.(wait); ok {
					d.Wait(string(shown))
				} else {
					d.Type(key)
				}
			}
			d.Wait(row.says)
		})
	}
}
