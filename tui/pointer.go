package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"
)

// pointer is what the left button does while it is down.
type pointer struct {
	selecting bool // it was pressed on text
	scrolling bool // a timer runs: it is held beyond the edge
	x, y      int  // in the chat
	copying   bool // the selection is copied when all its pairs are loaded
}

const (
	edgePause = 50 * time.Millisecond // between the lines that scroll beyond the edge
	wheelStep = 3                     // lines that a notch of the wheel moves
)

// onMouse handles the mouse, unless it has to wait.
func (m *Model) onMouse(msg tea.MouseMsg) tea.Cmd {
	if m.enqueue(msg) {
		return nil
	}
	return m.pointAt(msg)
}

// pointAt handles the mouse: the wheel scrolls, a click focuses, folds and picks,
// dragging over the conversation selects its text.
func (m *Model) pointAt(msg tea.MouseMsg) tea.Cmd {
	at := msg.Mouse()
	switch msg.(type) {
	case tea.MouseWheelMsg:
		return m.onWheel(at)
	case tea.MouseClickMsg:
		if m.overlay.Open() || !inside(m.layout.chat, at.X, at.Y) || at.Button != tea.MouseLeft {
			return m.onClick(at.X, at.Y)
		}
		m.conv.press(at)
	case tea.MouseMotionMsg:
		return m.conv.onDrag(at)
	case tea.MouseReleaseMsg:
		return m.onRelease(at)
	}
	return nil
}

// onWheel scrolls what is under the pointer.
func (m *Model) onWheel(at tea.Mouse) tea.Cmd {
	m.conv.chat.EndJump()
	step, name := wheelStep, "pane-down"
	if at.Button == tea.MouseWheelUp {
		step, name = -wheelStep, "pane-up"
	}
	switch {
	case m.overlay.Open():
		m.overlay.Scroll(step)
	case inside(m.layout.pane, at.X, at.Y):
		cmds := make([]tea.Cmd, wheelStep)
		for i := range cmds {
			cmds[i] = m.perform(m.pane.Do(name))
		}
		return tea.Batch(cmds...)
	default:
		m.conv.chat.ScrollBy(step)
		return m.conv.loadMissing()
	}
	return nil
}

// press begins a selection at text.
func (c *conversation) press(at tea.Mouse) {
	p := &c.pointer
	p.x, p.y = c.inChat(at)
	c.chat.SelectStart(p.x, p.y)
	p.selecting = true
}

// inChat is a cell of the screen as one of the conversation.
func (c *conversation) inChat(at tea.Mouse) (x, y int) {
	return at.X - c.at.Min.X - 1, at.Y - c.at.Min.Y - 1 // without the border
}

// onDrag takes the selection to the pointer, and scrolls while that is beyond
// the edge.
func (c *conversation) onDrag(at tea.Mouse) tea.Cmd {
	p := &c.pointer
	if !p.selecting {
		return nil
	}
	p.x, p.y = c.inChat(at)
	c.chat.SelectTo(p.x, p.y)
	if p.scrolling || c.chat.SelectEdge(p.y) == 0 {
		return nil
	}
	p.scrolling = true
	return after(edgePause, c.onEdgeDue)
}

// onEdgeDue scrolls while a selection is dragged beyond the edge.
func (c *conversation) onEdgeDue() tea.Cmd {
	p := &c.pointer
	n := c.chat.SelectEdge(p.y)
	if !p.selecting || n == 0 {
		p.scrolling = false
		return nil
	}
	c.chat.ScrollBy(n)
	c.chat.SelectTo(p.x, p.y)
	return tea.Batch(c.loadMissing(), after(edgePause, c.onEdgeDue))
}

// onRelease copies what was selected; without a selection it was a click.
func (m *Model) onRelease(at tea.Mouse) tea.Cmd {
	p := &m.conv.pointer
	if !p.selecting {
		return nil
	}
	p.selecting = false
	if !m.conv.chat.HasSelection() {
		return m.onClick(at.X, at.Y)
	}
	p.copying = true
	return m.conv.copySelection()
}

// copySelection copies the selected text, as soon as all of it is loaded.
func (c *conversation) copySelection() tea.Cmd {
	if !c.pointer.copying {
		return nil
	}
	if missing := c.chat.SelectionMissing(); len(missing) > 0 {
		return loadPairs(c.session, 0, missing...)
	}
	c.pointer.copying = false
	return c.copyOut("the selection", c.chat.SelectionText())
}

func (m *Model) onClick(x, y int) tea.Cmd {
	if m.overlay.Open() {
		return m.onOutcome(m.overlay.Click(x, y, m.width, m.height))
	}
	switch {
	case inside(m.layout.header, x, y):
		return m.run(bars{m}.headerAt(x))
	case inside(m.layout.chat, x, y):
		cx, cy := m.conv.inChat(tea.Mouse{X: x, Y: y})
		if i, ok := m.conv.chat.ChoiceAt(cx, cy); ok {
			return m.choose(i)
		}
		m.setMode(modeView)
		if action, ok := m.conv.chat.ActionAt(cx, cy); ok {
			return m.run(m.keys.named(action).do)
		}
		m.conv.chat.Click(cy)
	case inside(m.layout.pane, x, y):
		m.setMode(modePane)
		return m.perform(m.pane.Click(x-m.layout.pane.Min.X, y-m.layout.pane.Min.Y))
	case inside(m.layout.input, x, y):
		if m.sendButton(x, y) {
			return m.send()
		}
		m.setMode(modeInput)
	case inside(m.layout.footer, x, y):
		return m.run(bars{m}.hintAt(x))
	}
	return nil
}

// run performs an action; nil does nothing.
func (m *Model) run(do func(*Model) tea.Cmd) tea.Cmd {
	if do == nil {
		return nil
	}
	return do(m)
}
