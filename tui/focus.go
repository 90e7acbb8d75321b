package tui

import (
	"cmp"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"winnow/assistant/safetext"
	"winnow/tui/keymap"

	"winnow/tui/overlay"
)

const doublePress = 2 * time.Second // maximum time between the two presses of the cancel key that quit

// onceMore returns the notice that names the key to press again in order to quit.
func (m *Model) onceMore() safetext.Text {
	return cmp.Or(m.hint("press %s again to quit", keymap.Cancel), "press the key again to quit")
}

// onInput handles a key, a paste or a mouse event, unless it has to wait.
func (m *Model) onInput(msg tea.Msg) tea.Cmd {
	if k, isKey := msg.(tea.KeyPressMsg); isKey {
		m.lastKey = m.now()
		text := safetext.CleanKey(k.Text)
		if text == "" && k.Text != "" {
			return nil
		}
		k.Text = string(text)
		msg = k
	}
	if m.enqueue(msg) {
		return nil
	}
	return m.handle(msg)
}

// handle handles a key, a paste or a mouse event now.
func (m *Model) handle(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		return m.onKey(msg)
	case tea.PasteMsg:
		return m.paste(msg.Content)
	case tea.MouseMsg:
		return m.onMouse(msg)
	}
	return nil
}

// onKey answers the question about enter, if it is open, and then passes the key on.
func (m *Model) onKey(k tea.KeyPressMsg) tea.Cmd {
	name := keyName(k)
	m.keys.Arrived(name)
	m.conv.chat.EndJump()
	m.conv.chat.ClearSelection()
	a := m.keys.Find(m.mode, name)
	dismissed, taken := m.dismissEnter(a)
	if taken {
		return dismissed
	}
	return tea.Batch(dismissed, m.giveKey(k, name, a))
}

// giveKey passes a key to the first of these that takes it: the overlay, an action that works
// anywhere, a text line, an action of the mode, the box. a is the action of the key in the
// mode, or nil.
func (m *Model) giveKey(k tea.KeyPressMsg, name keymap.Key, a *keymap.Row) tea.Cmd {
	switch {
	case m.layout.Small && (a == nil || a.Name != keymap.Cancel && a.Name != keymap.Quit && (a.Name != keymap.Escape || !m.turn.running)):
		return nil // nothing is opened on a screen that is too small, but a turn can still be cancelled
	case a != nil && a.Anywhere && !m.overlay.Open():
		return m.do(a.Name)
	case m.overlay.Open():
		return m.overlayKey(k, a)
	case m.typingLine() && (a == nil || !slices.Contains(a.Modes, keymap.Command)): // COMMAND is a text line too
		return m.lineKey(name, k.Text)
	case a != nil:
		m.notice.Clear()
		return m.do(a.Name)
	case m.mode == keymap.Input:
		return m.carryOut(m.input.write(k))
	}
	return nil
}

// overlayKey passes a key to the topmost overlay. Quit works as usual, cancel closes the
// overlay, and so does the key that opened it; see opens. Text typed in INPUT before the
// user could have read a question was meant for the box, and goes there.
func (m *Model) overlayKey(k tea.KeyPressMsg, a *keymap.Row) tea.Cmd {
	name := keyName(k)
	_, kind, _ := m.overlay.Top()
	switch {
	case a == nil:
	case a.Name == keymap.Quit:
		m.overlay.Close()
		return m.quit()
	case a.Name == keymap.Cancel, opens[a.Name] != 0 && opens[a.Name] == kind:
		return m.closeOverlay()
	case a.Name == keymap.DockContext && kind == overlay.HUD:
		m.overlay.Pop()
		return m.dockHUD()
	}
	out := m.overlay.Key(name, k.Text)
	if _, typedAhead := out.(overlay.TypedAhead); typedAhead && m.mode == keymap.Input {
		return m.carryOut(m.input.write(tea.KeyPressMsg{Text: k.Text}))
	}
	return m.onOutcome(out)
}

// keyName returns the name of a key in the key table.
func keyName(k tea.KeyPressMsg) keymap.Key { return keymap.Key(k.String()) }

// opens maps actions to the overlays that they open. In such an overlay, the same key closes
// it.
var opens = map[keymap.Action]overlay.Kind{keymap.Help: overlay.Help, keymap.ContextHUD: overlay.HUD, keymap.Notices: overlay.Notices, keymap.Connect: overlay.Connect}

// closeOverlay closes the topmost overlay or goes back one step in it, regardless of which
// key the overlay uses for this.
func (m *Model) closeOverlay() tea.Cmd { return m.onOutcome(m.overlay.Escape()) }

// paste inserts text where the focus is. A question takes no text: in INPUT, the text goes to
// the box.
func (m *Model) paste(text string) tea.Cmd {
	_, kind, open := m.overlay.Top()
	switch {
	case open && (kind != overlay.Confirm || m.mode != keymap.Input):
		return m.onOutcome(m.overlay.Key("", text))
	case m.typingLine():
		return m.lineKey("", string(oneLine(text)))
	}
	m.setMode(keymap.Input)
	return m.carryOut(m.input.paste(text))
}

// setMode moves the focus.
func (m *Model) setMode(to keymap.Mode) {
	if m.mode == to {
		return
	}
	m.mode = to
	if to == keymap.Input {
		m.input.draft.Focus()
	} else {
		m.input.draft.Blur()
	}
	m.pane.SetFocus(to == keymap.Pane)
	m.showPane = to == keymap.Pane
	m.arrange()
	if _, focused := m.conv.chat.Focused(); to == keymap.View && !focused && m.conv.chat.Len() > 0 {
		m.conv.chat.FocusLast()
	}
}

// escape does the first of these that applies: it closes or clears a text line, closes the
// completions, cancels the turn, stops sending a message again, cancels applying a save,
// clears the draft, ends the search of the pane, or moves the focus to VIEW.
func (m *Model) escape() tea.Cmd {
	switch {
	case m.typingLine():
		return m.escapeLine()
	case m.input.completing():
		m.input.list.Close()
	case m.turn.running:
		return m.cancel()
	case m.resend != nil:
		return m.stopResend()
	case m.applying != 0:
		m.commands.CancelApplied()
	case m.mode == keymap.Input && !m.input.draft.Empty():
		return m.carryOut(m.input.clear())
	case m.mode == keymap.Pane && m.pane.Escape():
	default:
		m.setMode(keymap.View)
	}
	return nil
}

// interrupt cancels or clears like escape. If there is nothing to cancel or clear, pressing
// the key twice within doublePress quits.
func (m *Model) interrupt() tea.Cmd {
	switch {
	case m.overlay.Open():
		return m.closeOverlay()
	case m.typingLine(), m.turn.running, m.applying != 0, m.mode == keymap.Input && !m.input.draft.Empty(), m.searchesPane():
		return m.escape()
	case m.now().Sub(m.ctrlC) < doublePress:
		return m.quit()
	}
	m.ctrlC = m.now()
	m.notice.Info(m.onceMore())
	return tick(doublePress, onceMoreDueMsg{})
}

// searchesPane reports whether the focused pane shows only what a search finds.
func (m *Model) searchesPane() bool { return m.mode == keymap.Pane && m.pane.Status().Searching }

// onOnceMoreDue clears the notice of interrupt when the time for the second press is over.
func (m *Model) onOnceMoreDue() tea.Cmd {
	if m.notice.Text == m.onceMore() && m.now().Sub(m.ctrlC) >= doublePress {
		m.notice.Clear()
	}
	return nil
}

// neighbour returns the region that is step regions after the focus; after the last region
// comes the first.
func (m *Model) neighbour(step int) keymap.Mode {
	regions := []keymap.Mode{keymap.Input, keymap.View, keymap.Pane}
	if m.plainChat() || m.opts.PanePlace == overlay.PaneAway && m.mode != keymap.Pane {
		regions = regions[:2]
	}
	if m.opts.HUD {
		regions = append(regions, keymap.HUD)
	}
	if i := slices.Index(regions, m.mode); i >= 0 {
		return regions[(i+step+len(regions))%len(regions)]
	}
	return m.mode
}

// nextRegion moves the focus to the next region or, if a list is open, accepts an entry of
// the list.
func (m *Model) nextRegion() tea.Cmd {
	switch {
	case m.input.listing():
		m.input.list.AcceptFirst()
	case m.input.completing():
		return m.carryOut(m.input.acceptEntry())
	default:
		m.setMode(m.neighbour(1))
	}
	return nil
}

// typingLine reports whether a text line has the focus.
func (m *Model) typingLine() bool {
	return m.mode == keymap.Command || m.mode == keymap.View && m.conv.search.Active || m.mode == keymap.Pane && m.pane.Typing()
}

// lineKey passes a key to the focused text line.
func (m *Model) lineKey(name keymap.Key, text string) tea.Cmd {
	edit := m.keys.Action(keymap.Editing, name)
	a := cmp.Or(m.keys.Action(keymap.Line, name), edit)
	switch m.mode {
	case keymap.Pane:
		return m.perform(m.pane.Key(a, text))
	case keymap.Command:
		return m.carryOut(m.command.edit(edit, text))
	default:
		return m.carryOut(m.conv.searchKey(a, text))
	}
}

// escapeLine closes the list of a text line. If no list is open, it clears the line; if the
// line is empty, it leaves the line. Nothing is applied. The key for earlier lines restores
// a cleared line.
func (m *Model) escapeLine() tea.Cmd {
	switch m.mode {
	case keymap.Pane:
		m.pane.Escape()
	case keymap.View:
		m.conv.escapeSearch()
	default:
		do, empty := m.command.escape()
		if empty {
			m.setMode(keymap.View)
		}
		return m.carryOut(do)
	}
	return nil
}

// resize lays out the screen for a new size.
func (m *Model) resize(w, h int) tea.Cmd {
	m.width, m.height = w, h
	m.arrange()
	m.refreshKeys()
	if !m.ready {
		return nil
	}
	return tea.Batch(m.loadMissing(), resetMargins())
}

// resetMargins makes the whole screen scroll again and redraws it. A frame that scrolls
// rows ends by setting scroll margins for the screen height known to the renderer. If these
// margins reach the terminal after it has grown, they stay, and later frames scroll only
// within them.
func resetMargins() tea.Cmd {
	const margins = ansi.SaveCursor + "\x1b[r" + ansi.RestoreCursor // the sequence between save and restore moves the cursor
	return tea.Sequence(tea.Raw(margins), tea.ClearScreen)
}

// refreshKeys updates an open help and an open palette: which keys work depends on the
// terminal, and how many keys the help shows depends on the screen width.
func (m *Model) refreshKeys() {
	if o, ok := m.overlay.Find(overlay.Help); ok {
		o.(*overlay.Picker).SetEntries(m.helpEntries())
	}
	if o, ok := m.overlay.Find(overlay.Palette); ok {
		o.(*overlay.Picker).SetEntries(m.paletteEntries())
	}
}

// arrange lays out the parts.
func (m *Model) arrange() {
	if m.width == 0 {
		return
	}
	m.input.draft.SetWidth(m.width)
	m.layout = arrange(m.width, m.height, m.input.draft.Rows(), m.panesShown(), hudAs(m.opts.HUD, m.mode == keymap.HUD))
	m.hud.Resize(m.layout.HUD.Dy(), m.mode == keymap.HUD)
	m.conv.area = m.layout.Chat
	if c := m.layout.Chat; !c.Empty() {
		m.conv.chat.Resize(c.Dx(), c.Dy()-chatHead)
	}
}

// fitInput gives the box the height that its text needs.
func (m *Model) fitInput() {
	if text := m.input.draft.Shown(); text != m.input.fitted {
		m.input.fitted = text
		m.arrange()
	}
}
