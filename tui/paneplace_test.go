package tui

import (
	"slices"
	"strings"
	"testing"

	"winnow/tui/overlay"
	"winnow/tui/tuitest"
)

// f7 puts the pane beside the chat, over the whole width and away, for the next start too. A
// pane over the whole width has the focus and gives it back; tab skips one that is away.
func TestThePaneIsWhereTheUserPutsIt(t *testing.T) {
	for name, c := range map[string]struct {
		w, h   int
		beside bool // chat and pane have room side by side
	}{"wide": {120, 32, true}, "narrow": {80, 24, false}, "small": {40, 12, false}} {
		t.Run(name, func(t *testing.T) {
			kept := make(chan string, 9)
			d := startProgram(t, setup{w: c.w, h: c.h, change: func(o *Options) {
				o.StoreSetting = func(key, value string) error { kept <- key + "=" + value; return nil }
			}})
			const pane = "›Rules" // the tab of a pane in the focus
			shown := func(mode, part string, there bool) {
				t.Helper()
				d.in(mode)
				d.Until(func(frame string) bool { return strings.Contains(frame, part) == there })
			}
			stored := func(want string) {
				t.Helper()
				if got := <-kept; got != "pane="+want {
					t.Errorf("stored %s, want %s", got, want)
				}
			}
			d.Type("a draft")
			shown("INPUT", " Models ", c.beside)
			d.Type(tuitest.Key("f7"))
			stored("full")
			shown("PANE", pane, true)
			if strings.Contains(d.Frame(), "│") {
				t.Errorf("the pane has not the whole width:\n%s", d.Frame())
			}
			d.Type(tuitest.Esc) // the chat has it in its turn
			shown("VIEW", pane, false)
			d.Type(tuitest.Tab)
			shown("PANE", pane, true)
			d.Type(tuitest.Key("f7"))
			stored("away")
			shown("INPUT", pane, false)
			d.box("a draft")
			for _, mode := range []string{"VIEW", "INPUT", "VIEW"} {
				d.Type(tuitest.Tab)
				shown(mode, pane, false)
			}
			d.palette("go to the rules") // a command still leads there
			d.Type(tuitest.Enter)
			shown("PANE", pane, true)
			d.Type(tuitest.Esc)
			shown("VIEW", pane, false)
			d.Type(tuitest.Key("f7"))
			stored("beside")
			shown("VIEW", " Models ", c.beside)
		})
	}
}

// The pane is where it was put from the first frame on.
func TestThePaneStartsWhereItWasPut(t *testing.T) {
	for place, c := range map[string]struct{ beside, skipped bool }{
		"": {true, false}, overlay.PaneBeside: {true, false}, overlay.PaneFull: {false, false}, overlay.PaneAway: {false, true},
	} {
		d := startProgram(t, setup{change: func(o *Options) { o.PanePlace = place }})
		d.Wait("What would you like to change?")
		if got := strings.Contains(d.Frame(), " Models "); got != c.beside {
			t.Errorf("%q: the pane is beside the chat: %v", place, got)
		}
		d.Type(tuitest.ShiftTab)
		d.Until(func(frame string) bool {
			return strings.Contains(frame, "›Rules") != c.skipped && strings.Contains(frame, " VIEW ") == c.skipped
		})
	}
	if got := slices.Collect(func(yield func(string) bool) {
		var s overlay.ScreenSettings
		for range 3 {
			if s.PanePlace = s.NextPane(); !yield(s.PanePlace) {
				return
			}
		}
	}); !slices.Equal(got, []string{"full", "away", "beside"}) {
		t.Errorf("the values in turn are %v", got)
	}
}
