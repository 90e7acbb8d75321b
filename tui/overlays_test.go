package tui

import (
	"context"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/history"
	"winnow/tui/keymap"
	"winnow/tui/overlay"
	"winnow/tui/pane"
	"winnow/tui/tuitest"
)

// opening is one overlay: how it is opened, searched, and what is chosen.
type opening struct {
	kind   overlay.Kind
	title  string
	modes  []string       // where its keys work; the mode of the key table
	before func(*fixture) // in INPUT, with an empty box
	keys   []any
	query  string // finds one entry by letters that do not stand together; "" is no list
	found  string // the entry
	other  string // one that the query leaves out
	take   []any  // what chooses, after the query
	taken  func(*testing.T, *fixture)
}

var everywhere = []string{"INPUT", "VIEW", "PANE"}

// openings are all overlays of the program.
var openings = []opening{
	{
		kind: overlay.Models, title: "Model", modes: everywhere, keys: []any{tuitest.Key("ctrl+l")},
		query: "ohr", found: "$2/$8", other: "64k │", take: []any{tuitest.Enter},
		taken: func(_ *testing.T, d *fixture) { d.Wait(" other · ") },
	},
	{
		kind: overlay.Checkpoints, title: "Checkpoints", modes: everywhere, before: deleteRule, keys: []any{tuitest.Key("ctrl+g")},
		query: "stopgpt", found: "stopped hiding", other: "current state", take: []any{tuitest.Enter},
		taken: func(t *testing.T, d *fixture) {
			t.Helper()
			d.says("rolled back")
			if got := d.rules(); got != "ignore gpt-3.5*, ignore o3*" {
				t.Errorf("the rules are %s", got)
			}
		},
	},
	{
		kind: overlay.Help, title: "Keys", modes: append(everywhere, "COMMAND"), keys: []any{tuitest.F1},
		query: "cntxthud", found: "context HUD", other: "", take: []any{tuitest.Enter},
		taken: func(_ *testing.T, d *fixture) { d.Wait("─ Context ─") },
	},
	{
		kind: overlay.Palette, title: "Commands", modes: everywhere, keys: []any{tuitest.CtrlP},
		query: "mousoff", found: "Mouse on or off", other: "Save the rules", take: []any{tuitest.Enter},
		taken: func(t *testing.T, d *fixture) {
			t.Helper()
			d.says("mouse on")
		},
	},
	{
		kind: overlay.Topics, title: "Topic of new messages", modes: everywhere, keys: []any{tuitest.Key("ctrl+t")},
		query: "agts", found: "AI > Agents", other: "Home", take: []any{tuitest.Enter},
		taken: func(t *testing.T, d *fixture) {
			t.Helper()
			d.says("new messages go to AI > Agents")
			if got := d.session.Topic(); got != "AI > Agents" {
				t.Errorf("the topic is %q", got)
			}
		},
	},
	{
		kind: overlay.TopicName, title: "New topic", modes: everywhere, keys: []any{tuitest.Key("ctrl+t"), tuitest.Key("alt+n")},
		take:  []any{"Home > Garden", tuitest.Enter},
		taken: func(_ *testing.T, d *fixture) { d.says("new messages go to Home > Garden") },
	},
	{
		kind: overlay.Sessions, title: "Sessions", modes: everywhere, keys: []any{tuitest.CtrlP, "Sessions", tuitest.Enter},
		query: "gtway", found: "at the gateway?", other: "/home/elsewhere", take: []any{tuitest.Enter},
		taken: func(_ *testing.T, d *fixture) { d.Wait("said at the gateway") },
	},
	{
		kind: overlay.Settings, title: "Settings", modes: everywhere, keys: []any{tuitest.CtrlP, "Settings", tuitest.Enter},
		query: "afterlong", found: "After a long answer", other: "Background", take: []any{tuitest.Enter},
		taken: func(_ *testing.T, d *fixture) {
			d.Until(func(frame string) bool {
				return strings.Contains(lineOf(frame, "›   After a long answer"), "top: its first line")
			})
			d.Type(tuitest.Esc)
		},
	},
	{kind: overlay.HUD, title: "Context", modes: append(everywhere, "COMMAND"), keys: []any{tuitest.F2}},
	{kind: overlay.Notices, title: "Notices", modes: append(everywhere, "COMMAND"), before: func(d *fixture) { d.Type(tuitest.F3) }, keys: []any{tuitest.Key("f4")}},
	{kind: overlay.Request, title: "the request that", modes: []string{"VIEW"}, keys: []any{"x"}},
	{
		kind: overlay.SaveSheet, title: "Save these changes?", modes: append(everywhere, "COMMAND"), before: deleteRule, keys: []any{tuitest.CtrlS},
		take: []any{"y"},
		taken: func(t *testing.T, d *fixture) {
			t.Helper()
			d.WaitGone(" unsaved")
			if want := strings.Replace(testEnv, "gpt-3.5*,o3*", "o3*", 1); d.env() != want {
				t.Errorf("the file says %q, want %q", d.env(), want)
			}
		},
	},
	{
		kind: overlay.Confirm, title: "Delete this message and its answer for good?", modes: []string{"VIEW"}, keys: []any{"d"}, take: []any{"y"},
		taken: func(_ *testing.T, d *fixture) { d.WaitGone("said here") },
	},
	{
		kind: overlay.Provider, title: "Provider", modes: []string{"PANE"}, keys: []any{"p"},
		query: "atrpc", found: "anthropic", other: "✓ openai", take: []any{tuitest.Enter},
		taken: func(_ *testing.T, d *fixture) { d.Wait("model filter · anthropic") },
	},
	{
		kind: overlay.Queued, title: "Queued: ", modes: everywhere, before: queueSecond, keys: []any{tuitest.Key("alt+q")}, take: []any{"e"},
		taken: func(_ *testing.T, d *fixture) {
			d.box("second")
			d.WaitGone("queued:")
		},
	},
}

// deleteRule leaves a change to save and to go back to.
func deleteRule(d *fixture) {
	d.goTo("PANE")
	d.Type("x")
	d.Wait(" unsaved")
	d.Type(tuitest.Tab)
	d.in("INPUT")
}

// queueSecond lets a turn stand still with a message that waits.
func queueSecond(d *fixture) {
	d.Type("first", tuitest.Send)
	d.Wait("half")
	d.Type("second", tuitest.Send)
	d.Wait("queued: second")
}

// lineOf is the line of a frame with this text.
func lineOf(frame, text string) string {
	for _, line := range strings.Split(frame, "\n") {
		if strings.Contains(line, text) {
			return line
		}
	}
	return ""
}

// begin furnishes a fixture on which everything can be opened.
func (o opening) begin(t *testing.T) *fixture {
	t.Helper()
	gate := at.NewGate()
	elsewhere := told("at the gateway?", "said at the gateway")
	elsewhere.Session = "gate"
	d := startProgram(t, setup{
		pairs:   []assistant.Pair{elsewhere, told("here?", "said here")},
		answers: []at.Answer{{at.Say("half"), at.Stop{At: gate}}},
		history: func(h history.Store) error {
			for _, topic := range []string{"AI > Agents", "Home"} {
				if err := h.CreateTopic(context.Background(), topic); err != nil {
					return err
				}
			}
			for id, folder := range map[string]string{"gate": "/home/gateway", "s1": "/home/elsewhere"} {
				if err := h.Touch(context.Background(), history.Session{ID: id, Folder: folder}); err != nil {
					return err
				}
			}
			return nil
		},
	})
	d.Wait("said here")
	if o.before != nil {
		o.before(d)
	}
	return d
}

// open opens it and waits until it can be answered.
func (o opening) open(d *fixture) {
	d.t.Helper()
	for _, key := range o.keys {
		d.Type(key)
		if key == tuitest.Enter { // of a list that leads here
			d.WaitGone("─ Commands ─")
		}
	}
	d.Wait(o.frame())
	d.clock.Advance(overlayGuard)
}

func (o opening) frame() string { return "─ " + o.title }

func TestEveryOverlay(t *testing.T) {
	const last = overlay.TopicName
	for kind := range last + 1 {
		found := false
		for _, o := range openings {
			found = found || o.kind == kind
		}
		if !found {
			t.Errorf("nothing opens the overlay %d", kind)
		}
	}
	for _, o := range openings {
		for _, mode := range o.modes {
			t.Run(o.title+" in "+mode, func(t *testing.T) {
				t.Parallel()
				o.prove(t, mode)
			})
		}
	}
}

func (o opening) prove(t *testing.T, mode string) {
	t.Helper()
	d := o.begin(t)
	d.goTo(mode)
	o.open(d)
	if _, _, shown := d.Cursor(); shown != (o.query != "" || o.kind == overlay.TopicName) {
		t.Errorf("the cursor is shown: %v", shown)
	}
	if o.query != "" {
		d.Wait(o.other)
		d.Type(o.query)
		if o.other != "" {
			d.WaitGone(o.other)
		}
		d.Wait(o.found)
	}
	rules, env, texts := d.rules(), d.env(), d.texts()
	d.Type(tuitest.Esc)
	d.WaitGone(o.frame())
	d.in(mode)
	if d.rules() != rules || d.env() != env || d.texts() != texts || d.session.Model() != "test/script" || d.session.Topic() != "" {
		t.Error("Esc has done something")
	}
	if o.kind == overlay.TopicName { // below it stands nothing
		d.WaitGone("─ Topic")
	}
	if o.take == nil {
		return
	}
	o.open(d)
	d.Type(o.query)
	d.Type(o.take...)
	if o.kind != overlay.Settings { // which stays for the next change
		d.WaitGone(o.frame())
	}
	o.taken(t, d)
}

// Overlays take the keys of the settings, and their hints name them; the key that cancels
// closes them all the same.
func TestOverlaysTakeTheKeysOfTheSettings(t *testing.T) {
	d := startProgram(t, setup{w: 100, h: 30, pairs: []assistant.Pair{told("question", "answer")}, change: func(o *Options) {
		o.Rebinds = []keymap.Rebind{
			{Mode: "line", Action: "line-close", Keys: []string{"f7"}},
			{Mode: "question", Action: "answer-yes", Keys: []string{"f8"}},
			{Mode: "editing", Action: "edit-delete-to-start", Keys: []string{"f9"}},
		}
	}})
	d.Type("gone", tuitest.Key("f9"))
	d.box(emptyBox)
	d.Type(tuitest.Key("ctrl+p"))
	d.Wait("enter runs it · f7 closes")
	d.Type(tuitest.Esc)
	d.Wait("enter runs it · f7 closes")
	d.Type(tuitest.Key("f7"))
	d.WaitGone("f7 closes")
	d.Type(tuitest.Key("ctrl+p"))
	d.Wait("f7 closes")
	d.Type(tuitest.Key("ctrl+c"))
	d.WaitGone("f7 closes")
	d.Type(tuitest.Tab, "d")
	d.Wait("f8 delete")
	d.clock.Advance(time.Second)
	d.Type(tuitest.Key("f8"))
	d.WaitGone("1/1")
}

// 28: help opens at the mode of now.
func TestHelpOpensAtTheModeOfNow(t *testing.T) {
	d := startProgram(t, setup{})
	d.goTo("PANE")
	d.Type(tuitest.F1)
	d.Until(func(frame string) bool {
		return strings.Contains(frame, "PANE") && strings.Contains(lineOf(frame, "› "), "next/previous line")
	})
}

// In the pane, the help begins with its keys and with what its signs mean; elsewhere the
// signs are found by a search. Choosing one repeats what it means.
func TestHelpExplainsTheSignsOfThePane(t *testing.T) {
	d := startProgram(t, setup{w: 120, h: 40})
	d.goTo("PANE")
	d.Type(tuitest.Key("?"))
	d.Wait("SIGNS")
	var legend []pane.Sign
	d.Look(func(m tea.Model) { legend = m.(*Model).pane.(pane.Legender).Legend() })
	for _, sign := range legend {
		if line := lineOf(d.Frame(), sign.Means); !strings.Contains(line, sign.Icon) {
			t.Errorf("the help does not say that %s marks %q:\n%s", sign.Icon, sign.Means, d.Frame())
		}
	}
	d.Type(tuitest.Esc)
	d.WaitGone("SIGNS")
	d.Type("i", tuitest.F1)
	d.Wait("─ Keys ─")
	if strings.Contains(d.Frame(), "SIGNS") {
		t.Error("the help of INPUT begins with signs")
	}
	d.Type("hidden model")
	d.Wait("a hidden model")
	d.Type(tuitest.Enter)
	d.says("· marks a hidden model")
}
