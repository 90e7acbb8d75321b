package tui

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"winnow/tui/tuitest"
)

// sixty is what somebody may paste: sixty lines, tabs and CR LF in it.
var sixty = func() string {
	var b strings.Builder
	for i := range 60 {
		fmt.Fprintf(&b, "\tline %d with some words\r\n", i)
	}
	return b.String()
}()

// keysOf are the keys that a terminal without bracketed paste makes of a text.
func keysOf(text string) []tea.KeyPressMsg {
	var out []tea.KeyPressMsg
	for _, r := range text {
		k := tea.KeyPressMsg{Code: r, Text: string(r)}
		switch r {
		case '\r':
			k = tea.KeyPressMsg{Code: tea.KeyEnter}
		case '\n':
			k = tea.KeyPressMsg{Code: 'j', Mod: tea.ModCtrl}
		case '\t':
			k = tea.KeyPressMsg{Code: tea.KeyTab}
		case ' ':
			k = tea.KeyPressMsg{Code: tea.KeySpace, Text: " "}
		}
		out = append(out, k)
	}
	return out
}

// spaced is a text as a box without a chip shows it: with spaces for tabs.
func spaced(text string) string { return strings.ReplaceAll(text, "\t", "    ") }

// rest lets the time of the timers pass that look whether more of a paste comes.
func (l *ledger) rest() {
	for range 3 {
		time.Sleep(pasteGap)
		l.run(nil)
	}
}

func TestPasteWithoutBracketsIsOneEdit(t *testing.T) {
	for name, text := range map[string]string{
		"lines":              sixty[1:],
		"a line end first":   "\r\nand more",
		"a space first":      " x",
		"wide":               "漢字 and more",
		"two line ends only": "\r\r",
		"larger than a box":  strings.Repeat(sixty[1:], 6),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLedger(t, furniture{w: 80, h: 24})
				l.keys("t", "y", "p", "e", "d", "space")
				l.desk.clock.Advance(tuitest.KeyGap)
				for _, k := range keysOf(text) {
					_, cmd := l.Update(k) // the clock stands still
					l.start(cmd)
				}
				l.rest()
				want := "typed " + strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
				if got := l.input.draft.Text(); spaced(got) != spaced(want) {
					t.Errorf("the box holds %q, want %q", got, want)
				}
				for _, want := range []string{"typed ", ""} {
					l.keys("ctrl+z")
					if got := l.input.draft.Text(); got != want {
						t.Errorf("undo leaves %q, want %q", got, want)
					}
				}
				time.Sleep(time.Minute) // in the bubble: the timers of the draft
			})
		})
	}
}

func TestPasteWithoutBracketsCostsOneFrameAndFewCommands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLedger(t, furniture{w: 80, h: 24})
		before := l.View().Content
		var cmds []tea.Cmd
		for i, k := range keysOf("x" + sixty) {
			_, cmd := l.Update(k) // the clock stands still
			if cmd != nil {
				cmds = append(cmds, cmd)
				l.start(cmd)
			}
			if i > 1 && len(cmds) > 3 {
				t.Fatalf("%d commands after %d keys", len(cmds), i)
			}
			if now := l.View().Content; i > 1 && now != before {
				t.Fatalf("another frame after key %d", i)
			}
			before = l.View().Content
		}
		l.rest()
		want := "x" + strings.ReplaceAll(sixty, "\r\n", "\n")
		if got := l.input.draft.Text(); spaced(got) != spaced(want) {
			t.Fatalf("the box holds %q", got)
		}
		if l.View().Content == before {
			t.Error("what was pasted is not on the screen")
		}
		l.keys("ctrl+z")
		if got := l.input.draft.Text(); got != "" {
			t.Errorf("one undo leaves %q", got)
		}
		time.Sleep(time.Minute) // in the bubble: the timers of the draft
	})
}

func TestKeyThatIsNoTextEndsAPaste(t *testing.T) {
	d := furnish(t, furniture{})
	d.burst("abc", tuitest.Key("ctrl+z")) // nothing typed slowly: one edit, taken back
	d.box("Type a message…")
	d.clock.Advance(tuitest.KeyGap)
	d.burst("abc", tuitest.Esc)
	d.says("cleared")
	d.Type(tuitest.Up)
	d.box("abc")
}
