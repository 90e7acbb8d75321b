package tui

import (
	"image"

	tea "charm.land/bubbletea/v2"

	"winnow/tui/keymap"
	"winnow/tui/status"
)

// wheelStep is the number of lines per notch of the wheel.
const wheelStep = 3

// onMouse handles the mouse: the wheel scrolls, a click focuses, folds and picks, and
// dragging over the conversation selects text.
func (m *Model) onMouse(msg tea.MouseMsg) tea.Cmd {
	at := msg.Mouse()
	switch msg.(type) {
	case tea.MouseWheelMsg:
		return m.onWheel(at)
	case tea.MouseClickMsg:
		if m.overlay.Open() || !image.Pt(at.X, at.Y).In(m.layout.Chat) || at.Button != tea.MouseLeft {
			return m.onClick(at.X, at.Y)
		}
		m.conv.chat.SelectStart(m.conv.inChat(at))
	case tea.MouseMotionMsg:
		m.conv.chat.SelectTo(m.conv.inChat(at))
		return m.loadMissing()
	case tea.MouseReleaseMsg:
		return m.onRelease(at)
	}
	return nil
}

// onWheel scrolls what is under the pointer.
func (m *Model) onWheel(at tea.Mouse) tea.Cmd {
	m.conv.chat.EndJump()
	step, name := wheelStep, keymap.PaneDown
	if at.Button == tea.MouseWheelUp {
		step, name = -wheelStep, keymap.PaneUp
	}
	switch {
	case m.overlay.Open():
		m.overlay.Scroll(step)
	case image.Pt(at.X, at.Y).In(m.layout.Pane):
		cmds := make([]tea.Cmd, wheelStep)
		for i := range cmds {
			cmds[i] = m.perform(m.pane.Do(name))
		}
		return tea.Batch(cmds...)
	case image.Pt(at.X, at.Y).In(m.layout.HUD):
		return onHUD(func(p *status.ContextPanel) { p.Move(step) })(m)
	default:
		m.conv.chat.ScrollBy(step)
		return m.loadMissing()
	}
	return nil
}

// onRelease copies the selected text; without a selection, the release is a click.
func (m *Model) onRelease(at tea.Mouse) tea.Cmd {
	started, selected := m.conv.chat.SelectEnd()
	switch {
	case !started:
		return nil
	case !selected:
		return m.onClick(at.X, at.Y)
	}
	m.conv.copying = true
	return m.carryOut(m.conv.copySelection())
}

func (m *Model) onClick(x, y int) tea.Cmd {
	at := image.Pt(x, y)
	if m.overlay.Open() {
		return m.onOutcome(m.overlay.Click(x, y, m.width, m.height))
	}
	switch {
	case at.In(m.layout.Header):
		return m.do(m.bar.ActionAt(m.header(), x))
	case at.In(m.layout.Chat):
		cx, cy := m.conv.inChat(tea.Mouse{X: x, Y: y})
		if cy < 0 {
			m.conv.chat.ToQuestion()
			return m.loadMissing()
		}
		if i, ok := m.conv.chat.ChoiceAt(cx, cy); ok {
			return m.choose(i)
		}
		m.setMode(keymap.View)
		if action, ok := m.conv.chat.ActionAt(cx, cy); ok {
			return m.do(action)
		}
		m.conv.chat.Click(cy)
	case at.In(m.layout.Pane):
		m.setMode(keymap.Pane)
		return m.perform(m.pane.Click(x-m.layout.Pane.Min.X, y-m.layout.Pane.Min.Y))
	case at.In(m.layout.HUD):
		m.setMode(keymap.HUD)
		return onHUD(func(p *status.ContextPanel) { p.Click(y - m.layout.HUD.Min.Y) })(m)
	case at.In(m.layout.Input):
		switch {
		case m.sendButton(x, y):
			return m.send()
		case m.belowSign(x, y):
			m.conv.chat.Bottom()
			return m.loadMissing()
		}
		m.setMode(keymap.Input)
	case at.In(m.layout.Footer):
		return m.do(m.bar.ActionAt(m.footer(), x))
	}
	return nil
}
