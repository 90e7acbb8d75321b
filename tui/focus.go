package tui

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"winnow/tui/overlay"
)

// onKey gives a key to whoever takes it, unless it has to wait or is part of a
// paste that came without brackets.
func (m *Model) onKey(k tea.KeyPressMsg) tea.Cmd {
	defer func() { m.lastKey = m.now() }()
	if len(m.queue.waiting) > 0 && m.enqueue(k) {
		return nil
	}
	if cmd, pasted := m.input.pasted(k, m.layout.small); pasted {
		return cmd
	}
	ended := m.input.endBurst()
	m.input.burst.first = ""
	if m.enqueue(k) {
		return ended
	}
	return tea.Batch(ended, m.actOnKey(k))
}

// actOnKey gives a key to the first who takes it: what works anywhere, the
// overlay, a text line, the mode's own table, the text that has the focus.
func (m *Model) actOnKey(k tea.KeyPressMsg) tea.Cmd {
	name, text := keyName(k), k.Text
	if name == "ctrl+enter" {
		m.kitty = true
	}
	m.conv.chat.EndJump()
	m.conv.chat.ClearSelection()
	a := m.keys.find(m.mode, name)
	switch {
	case m.layout.small:
		return m.blindKey(name, a)
	case a != nil && a.anywhere && !m.overlay.Open():
		return a.do(m)
	case m.overlay.Open():
		return m.overlayKey(k, a)
	case m.typingLine() && !lineAction(a):
		return m.lineKey(name, text)
	case m.conv.pending && m.mode == modeView:
		return m.conv.copyCodeBlock(name)
	case a != nil:
		m.notice.clear()
		return a.do(m)
	case m.mode == modeInput:
		return m.input.write(k)
	}
	return nil
}

// blindKey takes a key on a screen that is too small to show what it does: one
// can close, cancel and leave there, and nothing opens that nobody sees.
func (m *Model) blindKey(name string, a *action) tea.Cmd {
	switch {
	case name == "esc" && m.overlay.Open():
		return m.onOutcome(m.overlay.Key(name, ""))
	case a != nil && (a.name == "escape" && m.turn.running || a.name == "cancel" || a.name == "quit"):
		return a.do(m)
	}
	return nil
}

// overlayKey gives the topmost overlay a key. The keys that cancel and quit mean
// there what they mean everywhere, and the key that has opened a list of keys,
// numbers or notices closes it. What was typed before a question could be read
// goes on to the box that it was typed for.
func (m *Model) overlayKey(k tea.KeyPressMsg, a *action) tea.Cmd {
	name := keyName(k)
	_, kind, _ := m.overlay.Top()
	switch {
	case a == nil:
	case a.name == "quit":
		m.overlay = overlay.Stack{}
		return m.quit()
	case a.name == "cancel", a.opens != 0 && a.opens == kind:
		name = "esc"
	}
	out := m.overlay.Key(name, k.Text)
	if _, unread := out.(overlay.Unread); unread && m.mode == modeInput {
		return m.input.write(tea.KeyPressMsg{Text: k.Text})
	}
	return m.onOutcome(out)
}

// onPaste takes pasted text.
func (m *Model) onPaste(msg tea.PasteMsg) tea.Cmd {
	m.input.burst.off = true // this terminal marks its pastes
	if m.enqueue(msg) {
		return nil
	}
	return m.paste(msg.Content)
}

// paste puts text wherever the focus is. It never sends.
func (m *Model) paste(text string) tea.Cmd {
	switch {
	case m.overlay.Open() && !m.questionOver(modeInput): // a question takes no text: it is for the box behind it
		return m.onOutcome(m.overlay.Key("", text))
	case m.typingLine():
		return m.lineKey("", oneLine(text))
	}
	m.setMode(modeInput)
	return m.input.onPasted(m.input.draft.Paste(text))
}

// questionOver says whether a question stands over the box of a mode.
func (m *Model) questionOver(box mode) bool {
	_, kind, open := m.overlay.Top()
	return open && kind == overlay.Confirm && m.mode == box
}

// setMode moves the focus.
func (m *Model) setMode(to mode) {
	if m.mode == to {
		return
	}
	m.mode = to
	m.conv.pending = false
	if to == modeInput {
		m.input.draft.Focus()
	} else {
		m.input.draft.Blur()
	}
	m.pane.SetFocus(to == modePane)
	m.showPane = to == modePane
	m.arrange()
	if _, focused := m.conv.chat.Focused(); to == modeView && !focused && m.conv.chat.Len() > 0 {
		m.conv.chat.FocusLast()
	}
}

// toMode is the action that moves the focus.
func toMode(to mode) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		m.setMode(to)
		return nil
	}
}

// escape does the nearest of: close, clear, cancel, leave.
func (m *Model) escape() tea.Cmd {
	switch {
	case m.typingLine():
		return m.escapeLine()
	case m.input.completing():
		return m.input.closeFiles()
	case m.turn.running:
		return m.cancel()
	case m.mode == modeInput && !m.input.draft.Empty():
		return m.input.clear()
	case m.mode == modeView && m.ready:
		return m.openCommand(m.session.Filter())
	default:
		m.setMode(modeView)
	}
	return nil
}

// interrupt is the key that cancels what the escape key would cancel or clear;
// with nothing of that, twice within two seconds quits.
func (m *Model) interrupt() tea.Cmd {
	switch {
	case m.overlay.Open():
		return m.onOutcome(m.overlay.Key("esc", ""))
	case m.typingLine(), m.turn.running, m.mode == modeInput && !m.input.draft.Empty():
		return m.escape()
	case m.now().Sub(m.ctrlC) < doublePress:
		return m.quit()
	}
	m.ctrlC = m.now()
	m.notice.info(onceMore)
	return tea.Tick(doublePress, func(time.Time) tea.Msg { return onceMoreDueMsg{} })
}

const onceMore = "once more quits"

// onOnceMoreDue takes back what is true no longer.
func (m *Model) onOnceMoreDue() tea.Cmd {
	if m.notice.text == onceMore && m.now().Sub(m.ctrlC) >= doublePress {
		m.notice.clear()
	}
	return nil
}

// doublePress is how close two presses must be to mean quit.
const doublePress = 2 * time.Second

// regions are what the keys of the next and the previous region walk through.
func (m *Model) regions() []mode {
	if m.plainChat() {
		return []mode{modeInput, modeView}
	}
	return []mode{modeInput, modeView, modePane}
}

// neighbour is the region that is so many steps away from the focus.
func (m *Model) neighbour(step int) mode {
	order := m.regions()
	for i, r := range order {
		if r == m.mode {
			return order[(i+step+len(order))%len(order)]
		}
	}
	return m.mode
}

// nextRegion goes on to the next region; while files are offered it takes one.
func (m *Model) nextRegion() tea.Cmd {
	switch {
	case m.input.completing():
		return m.input.takeFile()
	case m.input.listing():
		m.input.files.pending = true
	default:
		m.setMode(m.neighbour(1))
	}
	return nil
}

func (m *Model) previousRegion() tea.Cmd {
	m.setMode(m.neighbour(-1))
	return nil
}

// typingLine says whether a text line has the focus.
func (m *Model) typingLine() bool {
	return m.mode == modeCommand || m.mode == modeView && m.conv.search.active || m.mode == modePane && m.pane.Typing()
}

// lineAction says whether an action works although a text line has the focus.
func lineAction(a *action) bool {
	if a == nil {
		return false
	}
	switch a.name {
	case "escape", "apply-filter", "older-filter", "newer-filter", "complete-filter", "complete-filter-back", "save", "help", "hud", "mouse", "notices":
		return true
	}
	return strings.HasPrefix(a.name, "choose-")
}

// lineKey gives the text line that has the focus a key.
func (m *Model) lineKey(name, text string) tea.Cmd {
	switch m.mode {
	case modePane:
		return m.perform(m.pane.Key(name, text))
	case modeCommand:
		if m.command.line.key(name, text) {
			return m.command.changed(m.pickers.topics)
		}
		return nil
	default:
		return m.conv.searchKey(name, text)
	}
}

// escapeLine closes the list of a text line, else clears the line, nothing
// applied, and the key for earlier lines brings it back; an empty one is left.
func (m *Model) escapeLine() tea.Cmd {
	switch {
	case m.mode == modePane:
		m.pane.Escape()
	case m.mode == modeView:
		m.conv.escapeSearch()
	case m.command.line.offers.open():
		return m.command.closeOffers(m.pickers.topics)
	case !m.command.line.Empty():
		m.command.line.clear()
		return m.command.changed(m.pickers.topics)
	default:
		m.setMode(modeView)
	}
	return nil
}

// resize lays the screen out anew.
func (m *Model) resize(w, h int) tea.Cmd {
	m.width, m.height = w, h
	m.arrange()
	if o, ok := m.overlay.Find(overlay.Help); ok {
		o.(*overlay.Picker).SetEntries(m.helpEntries()) // of so many keys as there is room for
	}
	if !m.ready {
		return nil
	}
	return m.conv.loadMissing()
}

// arrange gives the parts their places.
func (m *Model) arrange() {
	if m.width == 0 {
		return
	}
	m.input.draft.SetWidth(m.width)
	show := bothPanes
	switch {
	case m.plainChat():
		show = chatOnly
	case m.showPane:
		show = paneFirst
	}
	m.layout = arrange(m.width, m.height, m.input.draft.Rows(), show)
	m.conv.at = m.layout.chat
	if c := m.layout.chat; !c.Empty() {
		m.conv.chat.Resize(c.Dx()-2, c.Dy()-2) // without the border
	}
}

// fitInput gives the box the height that its text needs.
func (m *Model) fitInput() {
	if text := m.input.draft.Shown(); text != m.input.fitted {
		m.input.fitted = text
		m.arrange()
	}
}
