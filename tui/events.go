package tui

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"time"

	"winnow/tui/overlay"

	tea "charm.land/bubbletea/v2"

	"winnow/tui/pane"
)

// resize lays the screen out anew.
func (m *Model) resize(w, h int) tea.Cmd {
	m.width, m.height = w, h
	m.layOut()
	if o, ok := m.overlay.Find(overlay.Help); ok {
		o.(*overlay.Picker).SetEntries(m.helpEntries()) // of so many keys as there is room for
	}
	return m.loadMissing()
}

// layOut gives the parts their places.
func (m *Model) layOut() {
	m.draft.SetWidth(m.width)
	show := bothPanes
	switch {
	case m.plainChat():
		show = chatOnly
	case m.showPane:
		show = paneFirst
	}
	m.at = arrange(m.width, m.height, m.draft.Rows(), show)
	if c := m.at.chat; !c.Empty() {
		m.chat.Resize(c.Dx()-2, c.Dy()-2) // without the border
	}
}

// plainChat says that the session has no window to show.
func (m *Model) plainChat() bool {
	_, none := m.pane.(pane.None)
	return none
}

// onBackground follows the terminal between dark and light.
func (m *Model) onBackground(msg tea.BackgroundColorMsg) tea.Cmd {
	if dark := isDark(msg.Color); dark != m.styleOpts.Dark && !m.opts.Fixed {
		o := m.styleOpts
		o.Dark = dark
		m.restyle(o)
	}
	return nil
}

func (m *Model) switchTheme() tea.Cmd {
	o := m.styleOpts
	o.Dark = !o.Dark
	m.opts.Fixed = true
	m.restyle(o)
	m.notice.say("background: " + m.background())
	return nil
}

// onNoticed shows what came out beside the screen, and the model that may be
// another one now.
func (m *Model) onNoticed(msg Noticed) tea.Cmd {
	switch {
	case msg.Text == "":
	case msg.Bad:
		m.notice.bad(msg.Text)
	default:
		m.notice.say(msg.Text)
	}
	return computeBoundary(m.session)
}

// onEnhancements learns that this terminal reports ctrl+enter.
func (m *Model) onEnhancements(msg tea.KeyboardEnhancementsMsg) tea.Cmd {
	m.kitty = m.kitty || msg.SupportsKeyDisambiguation()
	return nil
}

func (m *Model) onStart(msg startLoadedMsg) tea.Cmd {
	m.starting = false
	if msg.err != nil {
		m.complain(msg.err)
	}
	m.names = known{topics: msg.topics, recent: msg.recent, favourites: msg.favourites, saved: msg.saved}
	m.line.history = msg.lines
	m.draft.SetSent(msg.sent)
	m.draft.SetStash(append(msg.stash, m.draft.Stash()...)) // keys may have been faster
	m.offerDraft(msg.draft)
	m.showView()
	if m.chat.Len() > 0 {
		m.chat.Bottom()
	}
	return m.loadMissing()
}

// offerDraft puts the draft of before into an empty box. Where something was
// typed already it is an older text, which comes back as those do.
func (m *Model) offerDraft(kept string) {
	switch {
	case kept == "":
	case m.draft.Empty():
		m.draft.Set(kept)
		m.saved = kept
		m.fitInput()
	default:
		m.draft.SetStash(append(m.draft.Stash(), kept))
	}
}

// tick starts the animation, once.
func (m *Model) tick() tea.Cmd {
	if m.turn.ticking {
		return nil
	}
	m.turn.ticking = true
	return ticks()
}

// onTick moves what is animated; when nothing is, the timer ends.
func (m *Model) onTick() tea.Cmd {
	spins := m.chat.Tick()
	if !m.turn.running || (!spins && m.turn.status == "") {
		m.turn.ticking = false
		if m.turn.running {
			m.turn.ticking = true
			return ticks()
		}
		return nil
	}
	return ticks()
}

func (m *Model) toggleMouse() tea.Cmd {
	m.mouse = !m.mouse
	if m.mouse {
		m.notice.say("mouse on: wheel scrolls, click focuses and picks, drag copies · f3 turns it off")
	} else {
		m.notice.say("mouse off: the terminal selects text")
	}
	return nil
}

// waitIdle looks, a while after an answer, whether the user wants to read it.
func (m *Model) waitIdle(seq int64) tea.Cmd {
	if m.opts.Stay || seq == 0 {
		return nil
	}
	turn := m.turn.n
	return tea.Tick(idlePause, func(time.Time) tea.Msg { return idleMsg{turn, seq} })
}

// idlePause is how long no key must have come before the focus moves by itself.
const idlePause = 2 * time.Second

// onIdle moves to a long answer when nobody is typing.
func (m *Model) onIdle(msg idleMsg) tea.Cmd {
	quiet := m.now().Sub(m.lastKey) >= idlePause
	if msg.turn != m.turn.n || m.mode != modeInput || !m.draft.Empty() || m.overlay.Open() || !quiet || !m.chat.Longer() {
		return nil
	}
	m.setMode(modeView)
	m.chat.Show(msg.seq, false)
	return nil
}

// notifyEnd tells, when the terminal is not looked at, that a long turn ended.
func (m *Model) notifyEnd(t turnState) tea.Cmd {
	if !m.opts.Notify || m.focused || m.now().Sub(t.began) < longTurn {
		return nil
	}
	return tea.Raw("\x1b]9;winnow: the answer is there\a")
}

// longTurn is from when on one may have looked away.
const longTurn = 10 * time.Second

// openEditor edits the draft in the user's editor.
func (m *Model) openEditor() tea.Cmd {
	if len(m.opts.Editor) == 0 {
		m.notice.say("no editor: set VISUAL or EDITOR")
		return nil
	}
	return writeForEditor(m.draft.Text())
}

// writeForEditor puts the draft into a file that only the user can read.
func writeForEditor(text string) tea.Cmd {
	return func() tea.Msg {
		file, err := os.CreateTemp("", "winnow-*.md")
		if err != nil {
			return editorClosedMsg{err: err}
		}
		_, err = file.WriteString(text)
		if closed := file.Close(); err == nil {
			err = closed
		}
		return editorReadyMsg{path: file.Name(), err: err}
	}
}

// onEditorReady hands the terminal to the editor.
func (m *Model) onEditorReady(msg editorReadyMsg) tea.Cmd {
	if msg.err != nil {
		return m.complain(msg.err)
	}
	args := append(slices.Clone(m.opts.Editor[1:]), msg.path)
	cmd := exec.CommandContext(context.Background(), m.opts.Editor[0], args...)
	return tea.ExecProcess(cmd, func(err error) tea.Msg {
		defer os.Remove(msg.path) // a leftover temporary file harms nobody
		if err != nil {
			return editorClosedMsg{err: err}
		}
		text, err := os.ReadFile(msg.path)
		return editorClosedMsg{text: string(text), err: err}
	})
}

func (m *Model) onEditor(msg editorClosedMsg) tea.Cmd {
	if msg.err != nil {
		return m.complain(msg.err)
	}
	m.draft.Set(trimEnd(msg.text))
	m.setMode(modeInput)
	m.fitInput()
	return m.draftChanged()
}

func (m *Model) suspend() tea.Cmd { return tea.Suspend }
