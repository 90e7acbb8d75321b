package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"winnow/tui/chat"
)

// pointer is what the left button does while it is down.
type pointer struct {
	selecting bool // it was pressed on text
	scrolling bool // a timer runs: it is held beyond the edge
	x, y      int  // in the chat
	clicks    int  // in a row on one cell
	pressed   time.Time
	copying   bool // the selection is copied when all its pairs are loaded
}

// multiClick is how close presses must be to be one double or triple click.
const multiClick = 400 * time.Millisecond

// onMouse: the wheel scrolls, a click focuses, folds and picks, dragging over
// the conversation selects its text.
func (m *Model) onMouse(msg tea.MouseMsg) tea.Cmd {
	at := msg.Mouse()
	switch msg.(type) {
	case tea.MouseWheelMsg:
		return m.onWheel(at)
	case tea.MouseClickMsg:
		return m.onPress(at)
	case tea.MouseMotionMsg:
		return m.onDrag(at)
	case tea.MouseReleaseMsg:
		return m.onRelease(at)
	}
	return nil
}

// wheelStep is how many lines a notch of the wheel moves.
const wheelStep = 3

// onWheel scrolls what is under the pointer.
func (m *Model) onWheel(at tea.Mouse) tea.Cmd {
	m.chat.Release()
	step, name := wheelStep, "pane-down"
	if at.Button == tea.MouseWheelUp {
		step, name = -wheelStep, "pane-up"
	}
	switch {
	case m.overlay.Open():
		m.overlay.Scroll(step)
	case inside(m.at.pane, at.X, at.Y):
		cmds := make([]tea.Cmd, wheelStep)
		for i := range cmds {
			cmds[i] = m.paneDo(name)
		}
		return tea.Batch(cmds...)
	default:
		return m.walk(func() { m.chat.ScrollBy(step) })
	}
	return nil
}

// onPress begins a selection on text; what is pressed elsewhere acts at once.
func (m *Model) onPress(at tea.Mouse) tea.Cmd {
	if m.overlay.Open() || !inside(m.at.chat, at.X, at.Y) || at.Button != tea.MouseLeft {
		return m.onClick(at.X, at.Y)
	}
	p := &m.pointer
	x, y := m.inChat(at)
	if now := m.now(); x != p.x || y != p.y || now.Sub(p.pressed) > multiClick {
		p.clicks = 0
	}
	units := [...]chat.Unit{chat.Character, chat.Word, chat.Line}
	p.clicks, p.pressed, p.x, p.y = p.clicks%len(units)+1, m.now(), x, y
	m.chat.ClearSelection()
	m.chat.SelectStart(x, y, units[p.clicks-1])
	p.selecting = true
	return nil
}

// inChat is a cell of the screen as one of the conversation.
func (m *Model) inChat(at tea.Mouse) (x, y int) {
	return at.X - m.at.chat.Min.X - 1, at.Y - m.at.chat.Min.Y - 1 // without the border
}

// onDrag takes the selection to the pointer, and scrolls while that is beyond
// the edge.
func (m *Model) onDrag(at tea.Mouse) tea.Cmd {
	p := &m.pointer
	if !p.selecting {
		return nil
	}
	p.x, p.y = m.inChat(at)
	m.chat.SelectTo(p.x, p.y)
	if p.scrolling || m.chat.SelectEdge(p.y) == 0 {
		return nil
	}
	p.scrolling = true
	return edgeDue()
}

// edgePause is how often the conversation scrolls while a selection is dragged
// beyond its edge.
const edgePause = 50 * time.Millisecond

func edgeDue() tea.Cmd {
	return tea.Tick(edgePause, func(time.Time) tea.Msg { return edgeDueMsg{} })
}

func (m *Model) onEdgeDue() tea.Cmd {
	p := &m.pointer
	n := m.chat.SelectEdge(p.y)
	if !p.selecting || n == 0 {
		p.scrolling = false
		return nil
	}
	m.chat.ScrollBy(n)
	m.chat.SelectTo(p.x, p.y)
	return tea.Batch(m.loadMissing(), edgeDue())
}

// onRelease copies what was selected; without a selection it was a click.
func (m *Model) onRelease(at tea.Mouse) tea.Cmd {
	p := &m.pointer
	if !p.selecting {
		return nil
	}
	p.selecting = false
	if !m.chat.HasSelection() {
		return m.onClick(at.X, at.Y)
	}
	p.copying = true
	return m.copySelection()
}

// copySelection copies the selected text, as soon as all of it is loaded.
func (m *Model) copySelection() tea.Cmd {
	if !m.pointer.copying {
		return nil
	}
	if missing := m.chat.SelectionMissing(); len(missing) > 0 {
		return loadPairs(m.session, missing)
	}
	m.pointer.copying = false
	return m.copyOut("the selection", m.chat.SelectionText(), true)
}

func (m *Model) onClick(x, y int) tea.Cmd {
	if m.overlay.Open() {
		return m.onOutcome(m.overlay.Click(x, y, m.width, m.height))
	}
	switch {
	case inside(m.at.header, x, y):
		if do := m.headerAt(x); do != nil {
			return do(m)
		}
	case inside(m.at.chat, x, y):
		cx, cy := m.inChat(tea.Mouse{X: x, Y: y})
		if i, ok := m.chat.ChoiceAt(cx, cy); ok {
			return m.choose(i)
		}
		m.setMode(modeView)
		m.chat.Click(cy)
	case inside(m.at.pane, x, y):
		m.setMode(modePane)
		return m.carry(m.pane.Click(x-m.at.pane.Min.X, y-m.at.pane.Min.Y))
	case inside(m.at.input, x, y):
		m.setMode(modeInput)
	}
	return nil
}
