package tui

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	"winnow/tui/keymap"
)

// After two starts in a row that were killed within ten seconds answers open as their
// source. A start that lasted, or ended in order, counts as a good one.
func TestAfterTwoKilledStartsAnswersOpenAsTheirSource(t *testing.T) {
	type end string
	const killed, left, lasted end = "killed", "left", "lasted"
	for _, c := range []struct {
		ends []end
		raw  bool
	}{
		{nil, false},
		{[]end{killed}, false},
		{[]end{killed, killed}, true},
		{[]end{killed, killed, killed}, true},
		{[]end{killed, left, killed}, false},
		{[]end{killed, lasted, killed}, false},
		{[]end{killed, killed, left}, false},
		{[]end{killed, killed, lasted}, false},
		{[]end{lasted, killed, killed}, true},
	} {
		t.Run(fmt.Sprint(c.ends), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o, d := programOptions(t, setup{pairs: []assistant.Pair{told("question", "some **bold** text")}})
				start := func() bench {
					o.Parts = partsOf(d.session, d.store, nil, d.clock.Now)
					m, err := New(o)
					if err != nil {
						t.Fatal(err)
					}
					b := bench{Model: m, msgs: make(chan tea.Msg, 64)}
					b.start(m.resize(80, 24))
					b.start(m.Init())
					b.settle()
					return b
				}
				for _, how := range c.ends {
					b := start()
					if how == lasted {
						d.clock.Advance(startLasts)
						b.take(tea.FocusMsg{})
						b.settle()
					}
					if how == left {
						if err := b.EndStart(t.Context()); err != nil {
							t.Fatal(err)
						}
					}
				}
				b := start()
				raw := func() bool { return strings.Contains(plainFrame(b.View().Content), "**bold**") }
				if said := strings.Contains(b.notice.Text, "raw text · v"); raw() != c.raw || said != c.raw {
					t.Fatalf("raw %v, and the footer says %q\n%s", raw(), b.notice.Text, plainFrame(b.View().Content))
				}
				if c.raw {
					b.setMode(keymap.View)
					if b.press(tea.KeyPressMsg{Code: 'v', Text: "v"}); raw() {
						t.Errorf("v shows\n%s", plainFrame(b.View().Content))
					}
				}
			})
		})
	}
}

func TestTheButtonsOfAnErrorNameTheKeysAsBound(t *testing.T) {
	m, _ := newProgram(t, setup{pairs: []assistant.Pair{failed("broken")}, change: func(o *Options) {
		o.Rebinds = []keymap.Rebind{{Mode: "view", Action: "retry", Keys: []string{"ctrl+y"}}, {Mode: "view", Action: "delete-pair"}}
	}})
	m.Update(tea.WindowSizeMsg{Width: 120, Height: 32})
	m.Update(loadStart(m.opts.Parts)())
	m.Update(m.load(m.conv.chat.Missing()...)())
	if frame := plainFrame(m.View().Content); !strings.Contains(frame, "Retry · ctrl+y]") || !strings.Contains(frame, "Re-ask · e]") || !strings.Contains(frame, "Delete]") {
		t.Errorf("the buttons are in\n%s", frame)
	}
}
