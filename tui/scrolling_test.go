package tui

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"pgregory.net/rapid"

	"winnow/assistant"
	"winnow/tui/chat"
	"winnow/tui/keymap"
	"winnow/tui/overlay"
	"winnow/tui/tuitest"
)

// furnished is a program whose conversation, pane and docked HUD are longer than the screen.
func furnished(t *testing.T) *still {
	t.Helper()
	var rules []string
	for i := range 60 {
		rules = append(rules, fmt.Sprintf("rule-%02d*", i))
	}
	var pairs []assistant.Pair
	for i := range 50 {
		pairs = append(pairs, told(fmt.Sprint("question ", i), strings.Repeat(fmt.Sprint("answer ", i, "\n\n"), i%7+1)))
	}
	ended, end := context.WithCancel(t.Context())
	end() // nothing is waited for
	m, _ := newProgram(t, setup{env: "IGNORE_MODELS_OPENAI=" + strings.Join(rules, ",") + "\n", pairs: pairs, change: func(o *Options) { o.Context, o.HUD = ended, true }})
	s := &still{Model: m, t: t}
	s.do(loadStart(m.opts.Parts))
	s.do(s.resize(118, 16))
	s.View()
	return s
}

// scrolling is where keys scroll: what opens it, and the keys.
type scrolling struct {
	open func(*still)
	keys []tuitest.Key
}

// places are all kinds of what scrolls.
func places() map[string]scrolling {
	moves := []tuitest.Key{"up", "down", "pgup", "pgdown", "home", "end"}
	written := append([]tuitest.Key{"1", "backspace", "left"}, moves...)
	region := func(mode keymap.Mode) scrolling {
		return scrolling{func(s *still) {
			s.setMode(mode)
			s.Update(tuitest.Press("home"))
		}, moves}
	}
	above := func(kind overlay.Kind, keys []tuitest.Key, o func(s *still) overlay.Overlay) scrolling {
		return scrolling{func(s *still) { s.open(kind, o(s), nil) }, keys}
	}
	var lines []string
	var entries []overlay.Entry
	for i := range 70 {
		lines = append(lines, fmt.Sprint("line ", i, strings.Repeat(" long", i%40)))
		entries = append(entries, overlay.Entry{Value: fmt.Sprint(i), Text: fmt.Sprint("entry ", i), Group: fmt.Sprint("group ", i/9), Detail: strings.Repeat("more", i%2)})
	}
	body := `{"model":"m","messages":[{"role":"system","content":"` + strings.Join(lines, `\n`) + `"},{"role":"user","content":"` + strings.Join(lines, `\n`) + `"}]}`
	return map[string]scrolling{
		"conversation": region(keymap.View),
		"pane":         region(keymap.Pane),
		"HUD":          region(keymap.HUD),
		"help":         {func(s *still) { s.do(s.Model.do(keymap.Help)) }, written},
		"picker":       above(overlay.Topics, written, func(*still) overlay.Overlay { return overlay.NewPicker("Picker", entries, 30) }),
		"text":         above(overlay.Notices, moves, func(*still) overlay.Overlay { return overlay.NewText("Text", lines) }),
		"line":         above(overlay.TopicName, written, func(*still) overlay.Overlay { return overlay.NewLine("Line", strings.Join(lines, " ")[:300], "hint") }),
		"question": above(overlay.Confirm, moves, func(s *still) overlay.Overlay {
			return overlay.NewQuestion("Question", lines, []overlay.Answer{says(keymap.AnswerYes, "yes")}, keymap.AnswerNo, s.now)
		}),
		"request": above(overlay.Request, append([]tuitest.Key{"enter", "b", "z"}, moves...), func(*still) overlay.Overlay {
			return chat.NewRequestView("Request", []byte(body), func(s string) int { return len(s) }, true)
		}),
	}
}

// Keys that have waited scroll an overlay, a list or the conversation as keys do between
// which the screen is drawn.
func TestKeysThatWaitedScrollAsTheOthers(t *testing.T) {
	drawn, waited, all := furnished(t), furnished(t), places()
	names := slices.Sorted(maps.Keys(all))
	rapid.Check(t, func(r *rapid.T) {
		place := all[rapid.SampledFrom(names).Draw(r, "place")]
		for _, s := range []*still{drawn, waited} {
			s.overlay.Close()
			place.open(s)
		}
		for _, k := range rapid.SliceOfN(rapid.SampledFrom(place.keys), 1, 8).Draw(r, "keys") {
			drawn.View()
			drawn.Update(tuitest.Press(k))
			waited.queue.waiting = append(waited.queue.waiting, tuitest.Press(k))
		}
		waited.flushKeys()
		for _, s := range []*still{drawn, waited} {
			s.Update(tea.FocusMsg{}) // what follows each message
		}
		if want, got := drawn.frame(), waited.frame(); want != got {
			r.Errorf("the frame is\n%s\nwant\n%s", plainFrame(got), plainFrame(want))
		}
	})
}

// After G at a long answer k goes up in it.
func TestFromTheEndOneGoesUpLineByLine(t *testing.T) {
	var long strings.Builder
	for i := range 60 {
		long.WriteString("line " + strings.Repeat("i", i%7) + "\n\n")
	}
	long.WriteString("the last line")
	r := start(t, 80, 24, say(long.String()))
	r.Type("talk", tuitest.Send)
	r.answered(1)
	r.Type(tuitest.Esc, "G")
	r.Wait("▌ the last line")
	r.Type("kkkkk")
	r.WaitGone("the last line")
	if !strings.Contains(r.Frame(), "▌ line ") {
		t.Errorf("the focus is elsewhere:\n%s", r.Frame())
	}
}
