package main

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"winnow/tui/keymap"
	"winnow/tui/tuitest"
)

func testPage(t *testing.T) *keyPage {
	t.Helper()
	table, err := keymap.Uses(false, nil)
	if err != nil {
		t.Fatal(err)
	}
	return newKeyPage(table, func(ctrlEnter bool) string {
		if ctrlEnter {
			return "ctrl+enter"
		}
		return "ctrl+j"
	})
}

func TestTheKeyPageTellsWhatArrives(t *testing.T) {
	s := tuitest.Start(t, testPage(t), 110, 40)
	s.Wait("ctrl+enter: not seen yet")
	s.Wait("ctrl+enter may arrive as enter; ctrl+j sends here")
	s.Type(tuitest.Key("ctrl+enter"))
	s.Wait("ctrl+enter: arrives")
	s.Wait("shift+enter: not seen yet")
	s.Wait("INPUT    send; while a turn runs: queue (send)")
	s.Type("O")
	s.Wait("VIEW     first message sent")
	s.Message(tea.KeyboardEnhancementsMsg{Flags: 1})
	s.Wait("different keys; ctrl+enter sends here")
	s.Paste("four")
	s.Wait("a paste of 4 characters")
}

func TestTheKeyPageFitsAnyScreen(t *testing.T) {
	p := testPage(t)
	for _, key := range []tea.KeyPressMsg{{Code: tea.KeyEnter}, {Code: 'x', Text: "x"}, {Code: '\u202e', Text: "\u202e"}} {
		p.Update(key)
	}
	for _, size := range []tea.WindowSizeMsg{{}, {Width: 1, Height: 1}, {Width: 40, Height: 3}, {Width: 80, Height: 24}, {Width: 500, Height: 200}} {
		p.Update(size)
		lines := strings.Split(p.View().Content, "\n")
		if len(lines) > max(size.Height, 1) {
			t.Errorf("%dx%d: %d lines", size.Width, size.Height, len(lines))
		}
		for _, line := range lines {
			if n := len([]rune(line)); n > max(size.Width, 1) || strings.ContainsRune(line, '\u202e') {
				t.Errorf("%dx%d: %q", size.Width, size.Height, line)
			}
		}
	}
	for range 3 * maxKeyLines {
		p.Update(tea.KeyPressMsg{Code: 'x', Text: "x"})
	}
	if len(p.lines) != maxKeyLines {
		t.Errorf("%d lines are stored, want %d", len(p.lines), maxKeyLines)
	}
}
