package tui

import (
	"testing"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	"winnow/tui/usecase"
)

// Commands run side by side: what was read before a change may arrive after what was
// read later. The screen shows what is, so a key never meets a pair that is gone.
func TestLateResultsAreNotShown(t *testing.T) {
	m, d := newProgram(t, setup{pairs: []assistant.Pair{told("first", "1"), told("second", "2"), told("third", "3")}})
	m.Update(tea.WindowSizeMsg{Width: 120, Height: 32})
	m.Update(loadStart(m.opts.Parts)())
	m.Update(m.conv.load(m.conv.chat.Missing()...)())
	refs := d.session.Visible()
	last := refs[len(refs)-1].Seq

	marked := m.conv.load(last)()
	star := 3
	if err := d.session.Mark(t.Context(), assistant.PairMark{Seq: last, Star: &star}); err != nil {
		t.Fatal(err)
	}
	m.Update(m.conv.load(last)())
	m.Update(marked)
	m.conv.chat.FocusLast()
	if p, ok := m.conv.chat.Focused(); !ok || p.Star != star {
		t.Errorf("after a late result the pair has %d stars, want %d", p.Star, star)
	}

	before := d.session.Shown() // an entry of the log
	if err := d.session.Delete(t.Context(), last); err != nil {
		t.Fatal(err)
	}
	m.Update(usecase.Refiltered{Reply: usecase.Reply{State: d.session.State()}})
	m.show(assistant.Update{State: assistant.State{Shown: &before}})
	if n := m.conv.chat.Len(); n != len(refs)-1 {
		t.Errorf("after a late result %d pairs are shown, want %d", n, len(refs)-1)
	}
}
