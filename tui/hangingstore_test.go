package tui

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/history"
	"winnow/assistant/history/historytest"
	"winnow/assistant/safetext"
	"winnow/tui/keymap"
)

// flows are what each action of the key table is tried after: in which mode, and with
// which keys before it.
var flows = map[string]struct {
	mode keymap.Mode
	keys string
}{
	"input": {mode: keymap.Input, keys: "words"}, "view": {mode: keymap.View, keys: "kk"}, "command": {mode: keymap.Command, keys: "s1"}, "pane": {mode: keymap.Pane, keys: "j"}, "hud": {mode: keymap.HUD, keys: "j"},
}

// program is a model in a bubble, with a history that reports its calls to before. One of
// its pairs takes several frames to lay out. Code is kept short: highlighting it for each
// action took minutes.
func program(t *testing.T, answers []at.Answer, wrap func(history.Store) history.Store) (bench, *fixture) {
	t.Helper()
	code := strings.Repeat("some **words**\n\n```go\nx := 1\n```\n\n", 20)
	long := told("a long question "+strings.Repeat("word ", 3000), code+strings.Repeat(strings.Repeat("word ", 200)+"\n\n", 40))
	long.Reasoning = safetext.Text(strings.Repeat("thought ", 3000))
	m, d := newProgram(t, setup{pairs: []assistant.Pair{told("one", "first"), long, failed("broken"), told("last", "answer")}, answers: answers, wrap: wrap})
	b := bench{Model: m, msgs: make(chan tea.Msg, 4096)}
	b.start(m.Init())
	b.start(m.resize(120, 40))
	b.settle()
	return b, d
}

// typed presses the keys of a text.
func (b *bench) typed(text string) {
	for _, r := range text {
		b.press(tea.KeyPressMsg{Code: r, Text: string(r)})
	}
}

// actionsIn are the actions whose keys work in a mode. One of the stars and one of the
// suggestions stand for all. What ends, stops or leaves the program is left out. With
// -short, as under the race detector, one in four stands for all.
func actionsIn(t *testing.T, mode keymap.Mode) (names []keymap.Action) {
	t.Helper()
	keys, err := keymap.New(false, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(allActions())) {
		a := keys.Named(name)
		alike := (strings.HasPrefix(string(name), "star-") || strings.HasPrefix(string(name), "choose-")) && !strings.HasSuffix(string(name), "-1")
		here := slices.Contains(a.Modes, mode) || len(a.Modes) == 0 && mode == keymap.Input // of the palette alone
		if here && !alike && !slices.Contains([]keymap.Action{keymap.Quit, keymap.Suspend, keymap.Editor}, name) {
			names = append(names, name)
		}
	}
	if testing.Short() {
		for i := range (len(names) + 3) / 4 {
			names[i] = names[4*i]
		}
		names = names[:(len(names)+3)/4]
	}
	return names
}

// Whatever key is pressed, neither Update nor View calls the history: commands do.
func TestNoKeyCallsTheHistoryFromTheUpdateLoop(t *testing.T) {
	t.Chdir(t.TempDir()) // for what is exported
	for name, flow := range flows {
		t.Run(name, func(t *testing.T) {
			counting := &historytest.Counting{Below: []string{"tui.(*Model).Update", "tui.(*Model).View", "tui.(*Model).do"}}
			for _, action := range actionsIn(t, flow.mode) {
				synctest.Test(t, func(t *testing.T) {
					b, _ := program(t, []at.Answer{say("**more**"), say("still more")}, func(s history.Store) history.Store { return &historytest.Hooked{Store: s, Before: counting.Before} })
					b.setMode(flow.mode)
					b.typed(flow.keys)
					b.update(action)
					b.settle()
					b.typed("a") // into what has opened
					b.press(tea.KeyPressMsg{Code: tea.KeyEnter})
					b.press(tea.KeyPressMsg{Code: tea.KeyEscape})
					time.Sleep(time.Minute) // the timers
					b.settle()
					time.Sleep(time.Hour) // the last ones, which nothing follows
					if calls := counting.Calls(); len(calls) > 0 {
						t.Errorf("%s: %v", action, slices.Compact(calls))
					}
				})
			}
		})
	}
}

// update lets the update loop do an action of the key table.
func (b *bench) update(action keymap.Action) {
	b.start(b.do(action))
	_, cmd := b.Update(nil)
	b.start(cmd)
}

// With a history whose calls never end the program draws and takes keys, and can be left.
func TestAHangingHistoryStopsNothing(t *testing.T) {
	for name, flow := range flows {
		t.Run(name, func(t *testing.T) {
			for _, action := range actionsIn(t, flow.mode) {
				synctest.Test(t, func(t *testing.T) { hangingHistory(t, flow.mode, action) })
			}
		})
	}
}

func hangingHistory(t *testing.T, mode keymap.Mode, action keymap.Action) {
	t.Helper()
	hanging := &historytest.Hanging{}
	b, _ := program(t, []at.Answer{say("**more**")}, func(s history.Store) history.Store { return &historytest.Hooked{Store: s, Before: hanging.Before} })
	hanging.Hang()
	b.setMode(mode)
	b.update(action)
	b.settle()
	b.press(tea.KeyPressMsg{Code: 'c', Mod: tea.ModCtrl}) // keys that wait for the history do no more
	for b.overlay.Open() {
		b.overlay.Pop()
	}
	b.setMode(keymap.Input)
	b.typed("typed")
	if got := plainFrame(b.View().Content); !strings.Contains(got, "typed") {
		t.Errorf("%s: what is typed is not in\n%s", action, got)
	}
	b.start(b.end())
	left := time.Now()
	for began := time.Now(); !b.hasQuit && time.Since(began) < quitTime; {
		time.Sleep(quitTime / 4)
		b.settle()
	}
	if !b.hasQuit {
		t.Errorf("%s: the program does not end", action)
	}
	if took := time.Since(left); took > quitTime {
		t.Errorf("%s: quitting takes %s, want %s at most", action, took, quitTime)
	}
	if err := b.StoreDraft(t.Context()); err == nil || !strings.Contains(err.Error(), "did not answer") || !strings.HasSuffix(b.Typed().Text, "typed") {
		t.Errorf("%s: the draft is not stored: %v, and %q is what to keep", action, err, b.Typed().Text)
	}
	hanging.Release()
	time.Sleep(time.Minute)
	b.settle()
	time.Sleep(time.Hour) // the last timers, which nothing follows
}
