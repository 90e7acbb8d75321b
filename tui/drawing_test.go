package tui

import (
	"context"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	"winnow/assistant/history"
	"winnow/tui/keymap"
)

// noting remembers what is stored under the key of the drawing.
type noting struct {
	history.Store
	notes []string
}

func (n *noting) Set(ctx context.Context, key, value string) error {
	if key == "drawing" {
		n.notes = append(n.notes, value)
	}
	return n.Store.Set(ctx, key, value)
}

func TestAnAnswerThatKilledTheProgramOpensAsItsSource(t *testing.T) {
	long := strings.Repeat("**deep** text ", 2000)
	o, d := programOptions(t, setup{pairs: []assistant.Pair{told("question", long)}})
	store := &noting{Store: d.store}
	opens := func() *Model {
		o.Parts = partsOf(d.session, store, nil, d.clock.Now)
		m, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		m.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
		m.Update(loadStart(m.work)())
		if missing := m.conv.chat.Missing(); len(missing) > 0 {
			m.Update(m.conv.load(missing...)())
		}
		return m
	}
	raw := func(m *Model) bool { return strings.Contains(plainFrame(m.View().Content), "**deep**") }

	if m := opens(); raw(m) || !slices.Equal(store.notes, []string{"1", ""}) {
		t.Fatalf("drawing it stored %q, shown as source: %v", store.notes, raw(m))
	}
	m := opens()
	if err := m.work.SetDrawing(t.Context(), 1, true); err != nil { // and then the program dies
		t.Fatal(err)
	}
	m = opens()
	if !raw(m) {
		t.Fatalf("after the crash there is\n%s", plainFrame(m.View().Content))
	}
	if !strings.Contains(m.notice.Text, "raw text · v") {
		t.Errorf("the footer says %q", m.notice.Text)
	}
	if got := m.work.Drawing(t.Context()); !slices.Equal(got, []int64{1}) {
		t.Errorf("noted is %v before it has been drawn", got)
	}
	m.setMode(keymap.View)
	m.Update(tea.KeyPressMsg{Code: 'v', Text: "v"})
	if raw(m) {
		t.Errorf("v shows\n%s", plainFrame(m.View().Content))
	}
	if got := m.work.Drawing(t.Context()); len(got) > 0 {
		t.Errorf("noted is %v after it has been drawn", got)
	}
}

func TestTheButtonsOfAnErrorNameTheKeysAsBound(t *testing.T) {
	m, _ := newProgram(t, setup{pairs: []assistant.Pair{failed("broken")}, change: func(o *Options) {
		o.Rebinds = []keymap.Rebind{{Mode: "view", Action: "retry", Keys: []string{"ctrl+y"}}, {Mode: "view", Action: "delete-pair"}}
	}})
	m.Update(tea.WindowSizeMsg{Width: 120, Height: 32})
	m.Update(loadStart(m.work)())
	m.Update(m.conv.load(m.conv.chat.Missing()...)())
	if frame := plainFrame(m.View().Content); !strings.Contains(frame, "Retry · ctrl+y]") || !strings.Contains(frame, "Re-ask · e]") || !strings.Contains(frame, "Delete]") {
		t.Errorf("the buttons are in\n%s", frame)
	}
}
