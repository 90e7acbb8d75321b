package tui

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	"winnow/assistant/history"
	"winnow/tui/overlay"
)

// onKey gives a key to whoever takes it, unless it is part of a paste that came
// without brackets.
func (m *Model) onKey(k tea.KeyPressMsg) tea.Cmd {
	defer func() { m.lastKey = m.now() }()
	if cmd, pasted := m.pasted(k); pasted {
		return cmd
	}
	ended := m.endBurst()
	m.burst.first = ""
	return tea.Batch(ended, m.inTurn(k))
}

// typed gives a key to the first who takes it: what works anywhere, the overlay,
// a text line, the mode's own table, the text that has the focus.
func (m *Model) typed(k tea.KeyPressMsg) tea.Cmd {
	name, text := keyName(k), k.Text
	if name == "ctrl+enter" {
		m.kitty = true
	}
	m.chat.Release()
	m.chat.ClearSelection()
	a := m.keys.find(m.mode, name)
	switch {
	case m.at.small:
		return m.blindKey(name, a)
	case a != nil && a.anywhere && !m.overlay.Open():
		return a.do(m)
	case m.overlay.Open():
		return m.overlayKey(name, text)
	case m.typingLine() && !lineAction(a):
		return m.lineKey(name, text)
	case m.pending != "" && m.mode == modeView:
		return m.secondKey(name)
	case a != nil:
		m.notice.clear()
		return a.do(m)
	case m.mode == modeInput:
		return m.write(k)
	}
	return nil
}

// blindKey takes a key on a screen that is too small to show what it does: one
// can close, cancel and leave there, and nothing opens that nobody sees.
func (m *Model) blindKey(name string, a *action) tea.Cmd {
	switch {
	case name == "esc" && m.overlay.Open():
		return m.overlayKey(name, "")
	case a != nil && (a.name == "escape" && m.turn.running || a.name == "cancel" || a.name == "quit"):
		return a.do(m)
	}
	return nil
}

// overlayKey gives the topmost overlay a key. ctrl+c and ctrl+q mean there
// what they mean everywhere. What was typed before a question could be read
// goes on to the box that it was typed for.
func (m *Model) overlayKey(name, text string) tea.Cmd {
	switch name {
	case "ctrl+c":
		name = "esc"
	case "ctrl+q":
		m.overlay = overlay.Stack{}
		return m.quit()
	}
	if _, kind, _ := m.overlay.Top(); name != "" && name == map[overlay.Kind]string{overlay.Help: "f1", overlay.HUD: "f2", overlay.Notices: "f4"}[kind] {
		name = "esc"
	}
	out := m.overlay.Key(name, text)
	if _, unread := out.(overlay.Unread); unread && m.mode == modeInput {
		return m.write(tea.KeyPressMsg{Text: text})
	}
	return m.onOutcome(out)
}

// onOutcome does what was chosen in an overlay.
func (m *Model) onOutcome(out overlay.Outcome) tea.Cmd {
	if search, ok := out.(overlay.Search); ok {
		return func() tea.Msg { return pickerSearchedMsg{search.Run()} }
	}
	c, chosen := out.(overlay.Chosen)
	if !chosen {
		return nil
	}
	do := m.then[c.Kind]
	if do == nil {
		return nil
	}
	return do(c)
}

// open puts an overlay on the screen; then says what a choice does.
func (m *Model) open(kind overlay.Kind, o overlay.Overlay, then func(overlay.Chosen) tea.Cmd) tea.Cmd {
	m.then[kind] = then
	m.overlay.Push(kind, o)
	return nil
}

// write gives the box a key and sees to it that the draft is kept.
func (m *Model) write(k tea.KeyPressMsg) tea.Cmd {
	m.draft.Key(k)
	m.burst.first = k.Text
	m.notice.clear()
	m.fitInput()
	return tea.Batch(m.draftChanged(), m.offerFiles())
}

// draftChanged sees to it that the draft is stored soon.
func (m *Model) draftChanged() tea.Cmd {
	if m.opts.History == nil || m.keep.due {
		return nil
	}
	m.keep.due = true
	return draftDue()
}

// onDraftDue stores the draft a while after its first change, whether it is
// still being written or not.
func (m *Model) onDraftDue() tea.Cmd {
	m.keep.due = false
	if m.draft.Text() == m.saved {
		return nil
	}
	return m.keepDraft()
}

// keepDraft stores the draft, one after the other: an older one must not come
// last.
func (m *Model) keepDraft() tea.Cmd {
	if m.keep.running || m.opts.History == nil {
		m.keep.again = m.keep.running
		return nil
	}
	m.keep.running = true
	return keepDraft(m.opts.History, m.opts.Folder, m.drafted())
}

// drafted is what the box would lose.
func (m *Model) drafted() history.Draft {
	d := history.Draft{Text: m.draft.Text(), Stash: slices.Clone(m.draft.Stash())}
	for _, f := range m.reading { // on their way, but not there
		d.Stash = append(d.Stash, f.typed)
	}
	return d
}

func (m *Model) keepDraftNow() tea.Cmd {
	m.fitInput()
	return m.keepDraft()
}

func (m *Model) onDraftKept(msg draftKeptMsg) tea.Cmd {
	again := m.keep.again
	m.keep.running, m.keep.again = false, false
	if msg.err != nil {
		m.notice.bad("the draft could not be kept: " + sentence(msg.err))
		return nil
	}
	m.saved = msg.text
	if again {
		return m.keepDraft()
	}
	return nil
}

// newLine breaks the line.
func (m *Model) newLine() tea.Cmd {
	m.draft.NewLine()
	m.burst.first = "\r" // that a \n may follow
	m.fitInput()
	return m.draftChanged()
}

// onPaste takes pasted text wherever the focus is. It never sends.
func (m *Model) onPaste(text string) tea.Cmd {
	switch {
	case m.overlay.Open() && !m.asksOver(modeInput): // a question takes no text: it is for the box behind it
		return m.onOutcome(m.overlay.Paste(text))
	case m.typingLine():
		return m.lineKey("", oneLine(text))
	}
	m.setMode(modeInput)
	return m.wasPasted(m.draft.Paste(text))
}

// asksOver says whether a question stands over the box of a mode.
func (m *Model) asksOver(box mode) bool {
	_, kind, open := m.overlay.Top()
	return open && kind == overlay.Confirm && m.mode == box
}

// wasPasted shows the box after a paste from which characters were left out.
func (m *Model) wasPasted(hidden int) tea.Cmd {
	if hidden > 0 {
		m.notice.say(assistant.Counted(hidden, "invisible character") + " left out of the paste")
	}
	m.fitInput()
	return tea.Batch(m.draftChanged(), m.offerFiles())
}

func (m *Model) undoTyping() tea.Cmd {
	if !m.draft.Undo() {
		m.notice.say("nothing to undo")
	}
	m.fitInput()
	return m.draftChanged()
}

func (m *Model) older() tea.Cmd {
	if m.completing() {
		return m.moveFile(-1)
	}
	return m.recall("up", m.draft.AtFirstLine(), m.draft.Older)
}

func (m *Model) newer() tea.Cmd {
	if m.completing() {
		return m.moveFile(1)
	}
	return m.recall("down", m.draft.AtLastLine(), m.draft.Newer)
}

// recall walks through sent messages at the edge of the text, and moves the
// cursor inside it.
func (m *Model) recall(key string, edge bool, step func() bool) tea.Cmd {
	if !edge || !step() {
		code := tea.KeyUp
		if key == "down" {
			code = tea.KeyDown
		}
		m.draft.Key(tea.KeyPressMsg{Code: code})
	}
	m.fitInput()
	return nil
}

// fitInput gives the box the height that its text needs.
func (m *Model) fitInput() {
	if m.width > 0 {
		m.layOut()
	}
}

// setMode moves the focus.
func (m *Model) setMode(to mode) {
	if m.mode == to {
		return
	}
	m.mode = to
	m.pending = ""
	if to == modeInput {
		m.draft.Focus()
	} else {
		m.draft.Blur()
	}
	m.pane.SetFocus(to == modePane)
	m.showPane = to == modePane
	if m.width > 0 {
		m.layOut()
	}
}

// escape does the nearest of: close, clear, cancel, leave.
func (m *Model) escape() tea.Cmd {
	switch {
	case m.typingLine():
		return m.lineEscape()
	case m.completing():
		return m.closeFiles()
	case m.turn.running:
		return m.cancel()
	case m.mode == modeInput && !m.draft.Empty():
		m.reask = 0
		m.draft.Clear()
		m.notice.say("cleared · ctrl+z brings it back")
		return m.keepDraftNow()
	case m.mode == modeInput:
		m.toView()
	case m.mode == modeView:
		return m.toCommand()
	case m.mode == modeCommand, m.mode == modePane:
		m.toView()
	}
	return nil
}

func (m *Model) toView() {
	m.setMode(modeView)
	if _, ok := m.chat.Focused(); !ok && m.chat.Len() > 0 {
		m.chat.FocusLast()
	}
}

func (m *Model) toInput() tea.Cmd {
	m.setMode(modeInput)
	return nil
}

// interrupt is ctrl+c: what Esc would cancel or clear; with nothing of that,
// twice within two seconds quits.
func (m *Model) interrupt() tea.Cmd {
	switch {
	case m.overlay.Open():
		return m.overlayKey("esc", "")
	case m.typingLine(), m.turn.running, m.mode == modeInput && !m.draft.Empty():
		return m.escape()
	case m.now().Sub(m.ctrlC) < doublePress:
		return m.quit()
	}
	m.ctrlC = m.now()
	m.notice.say(onceMore)
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

// doublePress is how close two ctrl+c must be to mean quit.
const doublePress = 2 * time.Second

// nextRegion and previousRegion walk INPUT, VIEW, PANE. While files are
// offered, the key of the next region takes one.
func (m *Model) nextRegion() tea.Cmd {
	switch {
	case m.completing():
		return m.takeFile()
	case m.listing():
		m.files.pending = true
		return nil
	}
	return m.region(1)
}

func (m *Model) previousRegion() tea.Cmd { return m.region(-1) }

func (m *Model) region(step int) tea.Cmd {
	order := []mode{modeInput, modeView, modePane}
	if m.plainChat() {
		order = order[:2]
	}
	for i, r := range order {
		if r != m.mode {
			continue
		}
		switch to := order[(i+step+len(order))%len(order)]; to {
		case modeView:
			m.toView()
		default:
			m.setMode(to)
		}
		return nil
	}
	return nil
}

// choose takes suggestion i of the newest answer.
func (m *Model) choose(i int) tea.Cmd {
	choices := m.chat.Choices()
	if m.welcomes() && i < len(m.opts.Examples) {
		m.draft.Set(m.opts.Examples[i])
		m.setMode(modeInput)
		m.fitInput()
		return m.draftChanged()
	}
	if i >= len(choices) {
		m.notice.say("there is no suggestion " + fmt.Sprint(i+1))
		return nil
	}
	c := choices[i]
	switch {
	case c.Do != "":
		m.chat.FocusLast()
		return m.keys.named(c.Do).do(m)
	case m.session.Busy():
		return m.complain(assistant.ErrBusy)
	case c.Payload != "":
		return m.decide(c.Payload, c.Accept)
	case c.Action == nil:
		return m.start(assistant.Prompt{Text: c.Value})
	case c.Action.Handler == "server":
		return m.start(assistant.ActionPrompt(*c.Action))
	}
	return m.clientAction(*c.Action)
}

// clientAction runs an action of this program that the model suggested. What
// the screen does not know itself is the pane's; a query in its data is typed
// into the line that the pane opens.
func (m *Model) clientAction(a assistant.SuggestedAction) tea.Cmd {
	name := strings.ReplaceAll(a.Action, "_", "-")
	if name == "open-save" {
		name = "save"
	}
	if known := m.keys.named(name); known != nil {
		return known.do(m)
	}
	cmd := m.carry(m.pane.Do(name))
	var data struct{ Query string }
	if json.Unmarshal(a.Data, &data) == nil && data.Query != "" && m.pane.Typing() {
		m.setMode(modePane)
		cmd = tea.Batch(cmd, m.carry(m.pane.Key("", oneLine(data.Query))))
	}
	return cmd
}
