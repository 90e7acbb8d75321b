package tui

import (
	"context"
	"errors"
	"strings"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant/history"
	"winnow/assistant/workspace"
	"winnow/tui/pane"
	"winnow/tui/style"
)

// The screen stands before anything is open: it has a box to write in and a
// frame without contents. Start opens the rest; sessionReadyMsg brings it. Keys
// that need it wait in the keyQueue, messages that were sent in the outbox.

// openParts opens the parts and loads what is shown of them first.
func openParts(open func() (Parts, error)) tea.Cmd {
	return func() tea.Msg {
		p, err := open()
		if err != nil {
			return sessionReadyMsg{err: err}
		}
		loaded, _ := loadStart(p.Work)().(startLoadedMsg)
		return sessionReadyMsg{parts: p, loaded: loaded}
	}
}

// onReady shows what has been opened. What was kept of an earlier run is offered
// behind what was typed since, and the keys that waited get their turn.
func (m *Model) onReady(msg sessionReadyMsg) tea.Cmd {
	if msg.err != nil {
		m.err = msg.err
		return tea.Quit
	}
	m.use(msg.parts)
	cmds := []tea.Cmd{m.onStart(msg.loaded), m.flushOutbox(), m.flushKeys(), waitSavedChange(msg.parts.Changes)}
	if msg.parts.Recovery != nil {
		m.askRecovery()
	}
	return tea.Batch(cmds...)
}

func (m *Model) onStart(msg startLoadedMsg) tea.Cmd {
	m.loading = false
	if msg.err != nil {
		m.fail(msg.err)
	}
	m.pickers.topics, m.command.saved, m.pickers.models = msg.recall.Topics, msg.recall.Filters, msg.models
	m.command.line.history = msg.recall.Lines
	m.input.draft.SetSent(append(msg.recall.Sent, m.input.sentEarly...))
	m.input.draft.SetStash(append(msg.draft.Stash, m.input.draft.Stash()...)) // keys may have been faster
	m.input.offerDraft(msg.draft.Text)
	m.conv.showSource(msg.drawing)
	m.conv.setBoundary(msg.boundary)
	if m.conv.chat.Len() > 0 {
		m.conv.chat.Bottom()
	}
	return m.conv.loadMissing()
}

// Typed is what would be lost when the program has ended before there was a
// store for it: the text, and what was put away, the newest last. It is called
// after the end; once the session was there it is empty.
func (m *Model) Typed() history.Draft {
	if m.ready {
		return history.Draft{}
	}
	m.input.endBurst()
	d := m.input.drafted()
	d.Stash = m.input.draft.Stash()
	texts := m.input.waitingTexts()
	if strings.TrimSpace(d.Text) != "" {
		texts = append(texts, d.Text)
	}
	d.Text = strings.Join(texts, "\n\n")
	return d
}

// KeepTyped stores what was Typed beside the draft of before, of which nothing is
// lost. An empty one changes nothing.
func KeepTyped(ctx context.Context, w *workspace.Workspace, typed history.Draft) error {
	if typed.Text == "" && len(typed.Stash) == 0 {
		return nil
	}
	d, err := w.Draft(ctx)
	if err != nil {
		return errors.Join(errors.New("what was typed could not be stored"), err)
	}
	if typed.Text != "" {
		if d.Text != "" {
			d.Stash = append(d.Stash, d.Text)
		}
		d.Text = typed.Text
	}
	d.Stash = append(d.Stash, typed.Stash...)
	return w.SaveDraft(ctx, d)
}

// emptyPane is the pane before there is a window: its border.
type emptyPane struct {
	pane.None
	st    style.Styles
	focus bool
}

// Lines implements pane.Pane.
func (f *emptyPane) Lines(w, h int) []string {
	if w < 2 || h < 2 {
		return f.None.Lines(w, h)
	}
	b, st := f.st.Border.Shape, f.st.Border.Idle
	if f.focus {
		b, st = f.st.Border.FocusedShape, f.st.Border.Focused
	}
	rows := []string{st.Render(b.TopLeft + strings.Repeat(b.Top, w-2) + b.TopRight)}
	between := st.Render(b.Left) + strings.Repeat(" ", w-2) + st.Render(b.Right)
	for range h - 2 {
		rows = append(rows, between)
	}
	return append(rows, st.Render(b.BottomLeft+strings.Repeat(b.Bottom, w-2)+b.BottomRight))
}

// SetStyles implements pane.Pane.
func (f *emptyPane) SetStyles(st style.Styles) { f.st = st }

// SetFocus implements pane.Pane.
func (f *emptyPane) SetFocus(on bool) { f.focus = on }
