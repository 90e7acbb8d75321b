package tui

import (
	"fmt"
	"os"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/tui/terminal"
	"winnow/tui/tuitest"
)

// keyTable is the key table of spec §4 in its order: key and where it works, and what shows the row on the whole
// program. A row is added before its proof is written: one with nil fails the test.
var keyTable = []struct {
	row   string
	prove func(*testing.T)
}{
	{"ctrl+enter (also ctrl+j, alt+enter) · INPUT", proveSend},
	{"enter, shift+enter · INPUT", proveNewLine},
	{"esc · overlay open", proveEscOverlay},
	{"esc · a text line has the focus", proveEscLine},
	{"esc · turn running, any mode", proveEscTurn},
	{"esc · INPUT, draft not empty", proveEscDraft},
	{"esc · else", proveEscWalk},
	{"shift+o (also o) · VIEW", proveBoundaryKey},
	{"j k ↑ ↓, J K, g G, ctrl+d ctrl+u, pgup pgdown, / n N, { } · VIEW", proveMoving},
	{"enter · VIEW; COMMAND; PANE", proveEnter},
	{"space, z · VIEW", proveFolding},
	{"r / e / d · VIEW, error pair", proveErrorPair},
	{"r / e / d · VIEW, good pair", proveGoodPair},
	{"< >; B · VIEW", proveAnswersAndBranch},
	{"f; F · VIEW, PANE", proveFilterKeys},
	{"y / Y / c / v / x · VIEW", proveCopying},
	{"*, 0-3, a, t · VIEW", proveMarking},
	{"alt+1…9 · anywhere", proveChoosing},
	{"ctrl+p ctrl+n ↑ ↓; ↑ ↓ · COMMAND; INPUT on the first/last line", proveHistories},
	{"tab / shift+tab · INPUT, VIEW, PANE", proveRegions},
	{"j k g G, space, h a x, i, p, /, [ ], ctrl+r, D · PANE", provePane},
	{": / ? · VIEW, PANE", proveColonAndHelp},
	{"ctrl+p, ctrl+l, ctrl+g, ctrl+t, ctrl+n, ctrl+o · anywhere but COMMAND", proveAnywhereButCommand},
	{"ctrl+s, f1, f2, f3 · anywhere", proveAnywhere},
	{"f4, f5, f6, f7 · anywhere", proveFunctionKeys},
	{"ctrl+z · INPUT; VIEW, PANE", proveUndo},
	{"ctrl+c · anywhere", proveCtrlC},
	{"ctrl+q · anywhere", proveCtrlQ},
	// And the sentences below the table.
	{"↑ ↓ ctrl+p ctrl+n, enter · overlays", proveOverlayKeys},
	{"keys without bracketed paste · INPUT", proveBurst},
	{"the key that works here · footer and help", proveKeyThatWorksHere},
}

func TestEveryRowOfTheKeyTable(t *testing.T) {
	for _, r := range keyTable {
		t.Run(r.row, func(t *testing.T) {
			if r.prove == nil {
				t.Fatal("nothing shows this row")
			}
			r.prove(t)
		})
	}
}

func proveSend(t *testing.T) {
	t.Helper()
	for _, key := range []tuitest.Key{"ctrl+enter", "ctrl+j", "alt+enter"} {
		t.Run(string(key), func(t *testing.T) {
			t.Parallel()
			gate := at.NewGate()
			d := startProgram(t, setup{answers: []at.Answer{{at.Say("first answer"), at.Stop{At: gate}}, say("second answer")}})
			d.Type("first", key)
			gate.Wait(t)
			d.box("Type a message…")
			d.Type("second", key)
			d.Wait("queued: second")
			d.box("Type a message…")
			if n := len(d.script.Requests()); n != 1 {
				t.Errorf("%d requests went out while the turn ran, want 1", n)
			}
			gate.Open()
			d.Wait("second answer")
			if got := lastUser(d.script); got != "second" {
				t.Errorf("the last request asks %q", got)
			}
		})
	}
}

func proveNewLine(t *testing.T) {
	t.Helper()
	t.Run("break the line", func(t *testing.T) {
		t.Parallel()
		d := startProgram(t, setup{answers: []at.Answer{say("ok")}})
		d.Type("one", tuitest.Enter, "two", tuitest.Key("shift+enter"), "three")
		d.box("one|two|three")
		if n := len(d.script.Requests()); n != 0 {
			t.Errorf("%d requests went out", n)
		}
	})
	t.Run("send_key = enter", func(t *testing.T) {
		t.Parallel()
		d := startProgram(t, setup{answers: []at.Answer{say("the answer")}, change: func(o *Options) { o.EnterSends = true }})
		d.Type("a", tuitest.Key("ctrl+enter"), "b", tuitest.Key("ctrl+j"), "c", tuitest.Key("alt+enter"), "d", tuitest.Key("shift+enter"), "e")
		d.box("a|b|c|d|e")
		if n := len(d.script.Requests()); n != 0 {
			t.Errorf("%d requests went out before enter", n)
		}
		d.Type(tuitest.Enter)
		d.Wait("the answer")
		if got := lastUser(d.script); got != "a\nb\nc\nd\ne" {
			t.Errorf("enter sends %q", got)
		}
	})
}

func proveEscOverlay(t *testing.T) {
	t.Helper()
	t.Parallel()
	gate := at.NewGate()
	d := startProgram(t, setup{answers: []at.Answer{{at.Say("half"), at.Stop{At: gate}}}})
	d.Type("first", tuitest.Send)
	gate.Wait(t)
	d.Type("my draft", tuitest.F1)
	d.Wait("─ Keys ─")
	d.Type(tuitest.Esc)
	d.WaitGone("─ Keys ─")
	d.box("my draft")
	if !d.session.Busy() {
		t.Error("the Esc that closed help has cancelled the turn")
	}
}

func proveEscLine(t *testing.T) {
	t.Helper()
	for name, c := range map[string]struct {
		open      []any  // from INPUT
		mode      string // that Esc leads back to
		typed     string
		untouched func(*fixture) string
	}{
		"COMMAND line": {[]any{tuitest.Tab, "f", tuitest.Key("ctrl+u")}, "VIEW", "c'zebra'", func(d *fixture) string { return d.session.Filter() }},
		"search":       {[]any{tuitest.Tab, "/"}, "VIEW", "zebra", func(*fixture) string { return "" }},
		"pattern":      {[]any{tuitest.ShiftTab, "h"}, "PANE", "gpt-5*", func(d *fixture) string { return d.rules() + d.env() }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := startProgram(t, setup{pairs: []assistant.Pair{told("apples?", "about apples"), told("pears?", "about pears")}})
			d.Wait("about pears")
			before := c.untouched(d)
			d.Type(c.open...)
			d.Type(c.typed)
			d.Wait(c.typed)
			d.Type(tuitest.Esc)
			d.WaitGone(c.typed)
			line := d.Frame()
			d.Type(tuitest.Esc)
			d.in(c.mode)
			d.Until(func(frame string) bool { return frame != line }) // the empty line has gone
			d.Wait("about pears")
			if now := c.untouched(d); now != before {
				t.Errorf("Esc has applied something: %q, was %q", now, before)
			}
		})
	}
}

func proveEscTurn(t *testing.T) {
	t.Helper()
	for mode, escs := range map[string]int{"INPUT": 1, "VIEW": 1, "PANE": 1, "COMMAND": 3} { // clear and leave the line first
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			gate := at.NewGate()
			d := startProgram(t, setup{answers: []at.Answer{{at.Say("half"), at.Stop{At: gate}}}})
			d.Type("first", tuitest.Send)
			gate.Wait(t)
			d.Wait("half")
			d.goTo(mode)
			for range escs {
				if !d.session.Busy() {
					t.Fatal("the turn was cancelled too early")
				}
				d.Type(tuitest.Esc)
			}
			d.Wait("cancelled")
			d.rest()
			d.WaitGone("half")
			d.box("first") // the text of the pair that has vanished
			if got := d.script.Cancelled(); got != 1 {
				t.Errorf("%d requests were broken off, want 1", got)
			}
		})
	}
	t.Run("INPUT with a draft", func(t *testing.T) {
		t.Parallel()
		gate := at.NewGate()
		d := startProgram(t, setup{answers: []at.Answer{{at.Say("half"), at.Stop{At: gate}}}})
		d.Type("first", tuitest.Send)
		gate.Wait(t)
		d.Type("my draft", tuitest.Esc)
		d.Wait("cancelled")
		d.rest()
		d.box("my draft")
		d.Type(tuitest.Up) // the message that was sent
		d.box("first")
	})
}

func proveEscDraft(t *testing.T) {
	t.Helper()
	for _, back := range []tuitest.Key{tuitest.CtrlZ, tuitest.Up} {
		t.Run("and "+string(back), func(t *testing.T) {
			t.Parallel()
			d := startProgram(t, setup{})
			d.Type("precious", tuitest.Enter, "words", tuitest.Esc)
			d.box("Type a message…")
			d.in("INPUT")
			d.Type(back)
			d.box("precious|words")
		})
	}
}

func proveEscWalk(t *testing.T) {
	t.Helper()
	t.Parallel()
	d := startProgram(t, setup{})
	for _, mode := range []string{"VIEW", "VIEW"} { // it rests there
		d.Type(tuitest.Esc)
		d.in(mode)
	}
	d.Type("f")
	for _, mode := range []string{"COMMAND", "VIEW", "VIEW"} { // the filter in the line is cleared once
		d.Type(tuitest.Esc)
		d.in(mode)
	}
	d.Type(tuitest.Tab)
	d.in("PANE")
	d.Type(tuitest.Esc)
	d.in("VIEW")
}

// proveBurst reads bytes that no hand has typed from a terminal that does not
// mark its pastes.
func proveBurst(t *testing.T) {
	t.Helper()
	for _, key := range []string{"\r", "\n"} {
		for _, sends := range []bool{false, true} {
			t.Run(fmt.Sprintf("%q, enter sends %v", key, sends), func(t *testing.T) {
				t.Parallel()
				from, to, err := os.Pipe()
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = to.Close() })
				d := startProgram(t, setup{
					answers: []at.Answer{say("sent")}, keys: terminal.NewKeyReader(from), change: func(o *Options) { o.EnterSends = sends },
				})
				if _, err := to.WriteString("one" + key + "two" + key); err != nil {
					t.Fatal(err)
				}
				d.box("one|two")
				if n := len(d.script.Requests()); n != 0 {
					t.Errorf("%d requests went out", n)
				}
				send := tuitest.Send
				if sends {
					send = tuitest.Enter
				}
				d.Type("!", send)
				d.Wait("sent")
			})
		}
	}
}

func proveKeyThatWorksHere(t *testing.T) {
	t.Helper()
	t.Parallel()
	d := startProgram(t, setup{})
	d.says("ctrl+j send")
	d.Message(tea.KeyboardEnhancementsMsg{Flags: 1}) // it tells keys apart
	d.says("ctrl+enter send")
	d.Type(tuitest.F1)
	d.Until(func(frame string) bool {
		i := strings.Index(frame, "send; while a turn runs: queue")
		return i > 0 && strings.Contains(frame[strings.LastIndexByte(frame[:i], '\n'):i], "ctrl+enter ctrl+j alt+enter")
	})
}
